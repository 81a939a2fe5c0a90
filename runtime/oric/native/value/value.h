/* cdef */
/*
 * What an operation of Ori computes of its operands (spec/values): constants fold by it, rules are proved by it, the interpreter
 * runs by it. It is the meaning of the machine's form, for one thread.
 */
#ifndef ORIC_VALUE_H
#define ORIC_VALUE_H
#include "tables/numbers.h"
#include <stdint.h>

/*
 * `op`: the operation's number (oric_tables.op). `mods`: its packed modifiers. `marks`: of each operand by its position (in the order of
 * oric_tables.ops, results included) ORIC_F_NEG, ORIC_F_ABS, ORIC_F_INV as they stand on it, and ORIC_F_IMM, ORIC_F_ABSENT. The marks
 * mean what they mean to the operation: -x of an integer or of a float, !p of a predicate.
 *
 * `in`: for each tuple ORIC_INSN_OPERANDS numbers, of each source by its position the bits that its registers hold (a pair: 64, the first
 * register below), 0 or 1 for a predicate. An immediate has the mark ORIC_F_IMM and its bits as the instruction has them: the
 * operation extends 32 bits to 64 as it does in the machine (by sign, by zeros, or they are the upper half of a double). A source that is
 * absent has the value that the machine gives it (0; PT or !PT). `out`: for each tuple as many, of each result by its position; what is no
 * result is not written. Narrow results are extended by zeros.
 *
 * Returns 1; or 0, with `out` undefined, where the operation has no value: it is opaque, or this variant (modifiers, operands that are
 * there) has no meaning. Whether that is so depends on op, mods and marks only.
 */
int oric_value(int64_t op, int64_t mods, const int64_t *marks, int64_t tuples, const int64_t *in, int64_t *out);
#endif
