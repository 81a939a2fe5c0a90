/* cdef */
#ifndef ORIC_EMIT_H
#define ORIC_EMIT_H
#include "function/backend.h"

typedef struct {
    uint32_t word;     /* position of the machine word */
    uint32_t index;    /* the instruction */
    uint8_t mark;      /* of the table given to oric_emit */
} oric_mark;

enum {
    ORIC_EMIT_ALIGN = 8,        /* words: code is a multiple of 128 bytes long */
    ORIC_EMIT_BAD_OPERAND = 64, /* an operand that is no machine operand */
    ORIC_EMIT_NO_MEMORY = 65
};

/* Number of machine words of the function, with padding, behind `lead` words of another maker. */
int32_t oric_emit_size(const oric_fn *fn, int32_t lead);

/* Encode a function on hardware registers with control bits. words: two 64-bit halves per instruction, oric_emit_size of
 * them, of which the first `lead` are there already; block_words: per block the word that it begins at (block_count + 1 entries). nop and bra are operation numbers,
 * marks a byte per operation number: instructions of a marked operation are listed in out_marks (room for insn_count).
 * Returns the number of marks. On failure -1, with the encoder's (or this file's) error in error[0] and the
 * instruction in error[1]. */
int32_t oric_emit(const oric_fn *fn, const oric_function *f, int32_t nop, int32_t bra, const uint8_t *marks, int32_t lead,
                  uint64_t *words, uint32_t *block_words, oric_mark *out_marks, int32_t *error);

/* Where the origin of the code (oric_function.line) changes: out_words gets the machine word, out_origins the origin from there on
 * (room for insn_count), the first instruction being at word `first`. Returns the number of changes. */
int32_t oric_emit_origins(const oric_fn *fn, const oric_function *f, uint32_t first, uint32_t *out_words, int64_t *out_origins);
#endif
