/* cdef */
/* Where the code of a section branches to. */
#ifndef ORIC_SASS_TARGETS_H
#define ORIC_SASS_TARGETS_H
#include "sass/insn.h"

/* Byte offsets that the operands of kind LABEL of n instructions name, in order of the instructions, from the start of the
   first one; may lie outside. source gets the offset of the instruction. Both take up to 2 * n. Returns their number. */
long oric_branch_targets(const oric_insn *insns, long n, int64_t *source, int64_t *target);
#endif
