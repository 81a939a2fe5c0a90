/* cdef */
/* The registers that a decoded instruction reads and writes. */
#ifndef ORIC_SASS_ACCESS_H
#define ORIC_SASS_ACCESS_H
#include "sass/insn.h"

/* Which operand an access belongs to, besides its index. */
enum { ORIC_BY_GUARD = 255, ORIC_BY_IMPLICIT = 254 };

/* Consecutive registers of one file. Zero registers and always-true predicates are no accesses. */
typedef struct {
    uint8_t file;     /* ORIC_FILE_* */
    uint8_t writes;   /* 0 = reads, 1 = writes */
    uint8_t operand;  /* index in oric_insn.ops, ORIC_BY_GUARD, ORIC_BY_IMPLICIT */
    uint8_t align;    /* the number should be a multiple of this */
    uint16_t number;  /* first register */
    uint16_t count;   /* 32-bit registers, or predicates */
} oric_register_use;

enum { ORIC_MOST_USES = 32 }; /* accesses of one instruction */

/* Fill `uses` (room for ORIC_MOST_USES) with the accesses of a decoded instruction, operands first, in their order, then
   implicit ones, then the guard; returns their number. Nothing for operation 0 or one that does not exist. */
int oric_accesses(const oric_insn *insn, oric_register_use *uses);

/* ORIC_E_OK, or ORIC_E_ALIGN with the first operand whose register does not stand at a multiple of its alignment. */
int oric_aligned(const oric_insn *insn);

/* The same as oric_accesses for n instructions: the accesses of instruction i are uses[first[i]] to uses[first[i + 1] - 1]. `first` has n + 1
   entries, `uses` room for `room`; returns the number that there are, of which at most `room` are stored. */
long oric_accesses_all(const oric_insn *insns, long n, oric_register_use *uses, long room, int32_t *first);

/* Places of reuse flags: operand[k] is the operand whose flag is the k-th of the word, 255 where the form has none.
   Returns the flags that the word sets although the form has none there (bit k). */
int oric_reuse_places(int isa, const oric_insn *insn, uint8_t operand[4]);

/* The operand that has a sign (negation, complement) although another one of those has it of which the hardware takes one
   (`one_sign` of spec/encoding), else -1. */
int oric_two_signs(const oric_insn *insn);
#endif
