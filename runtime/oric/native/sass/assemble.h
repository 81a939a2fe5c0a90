/* cdef */
/* From text back to machine words: the templates that the printer runs, matched backwards. */
#ifndef ORIC_SASS_ASSEMBLE_H
#define ORIC_SASS_ASSEMBLE_H
#include "sass/sass.h"

enum { ORIC_WANT_BYTES = 512 };

/* Why a text is no instruction. */
typedef struct {
    int column;                 /* offset in the text of what does not fit */
    int error;                  /* ORIC_E_OPERATION: no such mnemonic; ORIC_E_WORD: text that no form has; else of the encoder */
    char want[ORIC_WANT_BYTES]; /* what was expected there, one a line; may be empty */
} oric_misfit;

/* The word of one instruction as oric_print writes it (white space is free; numbers may be decimal or hexadecimal), at byte address
   pc with these 17 control bits. labels: texts of branch targets in this text. immediate, when not NULL, is text that stands for
   the immediate operand 0 (relocations). Where several words print alike it is the one whose bits without meaning are as in real
   code, of the first such form. Returns ORIC_E_OK, or an error with *misfit filled. */
int oric_assemble(int isa, const char *text, uint64_t pc, uint32_t control, const oric_labels *labels, const char *immediate,
                  uint64_t *word, oric_misfit *misfit);

/* For n decoded instructions from address pc on: the bits in which the word differs from what its text assembles to (two words each;
   0 for an instruction of operation 0, all ones where the text does not assemble). Returns the number whose text does not. */
long oric_unseen_all(int isa, const uint64_t *words, const oric_insn *insns, long n, uint64_t pc, uint64_t *differ);

/* The mnemonics of an ISA in order of the alphabet: the number'th, NULL behind the last. The text ends at *length. */
const char *oric_mnemonic(int isa, long number, int *length);
#endif
