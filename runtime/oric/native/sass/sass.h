/* cdef */
/* Machine words: encoder, decoder, text. Tables: build/c/tables/forms.h. */
#ifndef ORIC_SASS_H
#define ORIC_SASS_H
#include "sass/insn.h"

/* The modifiers of the compiler's instruction with what the model spells otherwise put in its own words (spellings of
   spec/formats.yaml). */
uint64_t oric_spelled(int isa, int op, uint64_t mods);

/* Encode one instruction: takes op, guard, control, mods, ops, residue; returns ORIC_E_OK or an error. Pairs and quads of
   registers must be aligned. */
int oric_encode(int isa, const oric_insn *insn, uint64_t *word);

/* Encode in the form insn->form and no other; operands have the kinds of that form or are left out. Alignment is not asked
   for: every word that was decoded comes back. */
int oric_encode_form(int isa, const oric_insn *insn, uint64_t *word);

/* Decode one word into op, form, guard, control, mods, residue and every operand of the operation (kind NONE where the
   form has none). Immediates of 32 bits are zero-extended, offsets sign-extended. */
int oric_decode(int isa, const uint64_t *word, oric_insn *insn);

/* Many at once; returns the number done, and the error of the first that fails in *error. */
long oric_encode_all(int isa, const oric_insn *insns, long n, uint64_t *words, int *error);
long oric_decode_all(int isa, const uint64_t *words, long n, oric_insn *insns, int *error);

/* Texts that stand for numbers: sorted addresses with the text to print for a branch to each. */
typedef struct {
    long n;
    const uint64_t *address;
    const char *const *text;
} oric_labels;

/* Print an instruction at byte address pc as the vendor's disassembler does, without the trailing " ;".
   labels may be NULL; immediate, when not NULL, is printed in place of the immediate operand (relocations).
   Returns the length, or -ORIC_E_SPACE. */
int oric_print(int isa, const oric_insn *insn, uint64_t pc, const oric_labels *labels, const char *immediate, char *out, int size);

/* Form table for tests: number of forms; their opcode mask, value and the fixed bits as real code has them. */
int oric_forms_of(int isa);
int oric_form_bits(int isa, int form, uint64_t *mask, uint64_t *value, uint64_t *fixed, uint64_t *known);
#endif
