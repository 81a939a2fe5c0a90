/* cdef */
/* The text of many instructions at once. */
#ifndef ORIC_SASS_LIST_H
#define ORIC_SASS_LIST_H
#include "sass/sass.h"

/* Decoded code that lies at byte address pc. An instruction of operation 0 is a word that no form has (oric_decode_each). */
typedef struct {
    const uint64_t *words;          /* 2 * n */
    const oric_insn *insns;         /* n */
    long n;
    uint64_t pc;
    const oric_labels *labels;      /* texts of branch targets; NULL: addresses print as numbers */
    const oric_labels *immediates;  /* by address of the instruction: text in place of its immediate operand; may be NULL */
} oric_code;

/* Decode n words; where no form has a word, the operation becomes 0. Returns the number of such words, -ORIC_E_OPERATION for an
   ISA that does not exist. */
long oric_decode_each(int isa, const uint64_t *words, long n, oric_insn *insns);

/* Write the texts of instructions from number `from` on, each ended by a newline, as long as they fit into size bytes; a word that
   no form has prints as .word. Returns the number written, *used the bytes; -ORIC_E_SPACE when not even one fits. */
long oric_text_all(int isa, const oric_code *code, long from, char *out, long size, long *used);
#endif
