/* cdef */
/* Whether an allocation keeps what a function does: the values that every instruction reads, before and after, over all paths.
 *
 * A carrier of a value (a word of a virtual register as the function was) is a place that may have it: a word of a virtual register
 * of the function as it is, in its hardware register, or a word of memory that a spill uses. A carrier loses its value when
 * something else is written to its place, or the value is defined through another carrier. Source: Ori IR, "Operand Kinds" (the ten
 * problems).
 */
#ifndef ORIC_VERIFY_H
#define ORIC_VERIFY_H
#include "function/load.h"

typedef struct oric_before oric_before;

typedef struct {
    int32_t kind;  /* ORIC_V_* */
    int32_t insn;  /* the instruction at which it shows */
    int32_t slot;  /* its operand, 255 = guard, -1 = none */
    int32_t value; /* word of the virtual register that is concerned, as the function was; -1 = none */
    int32_t other; /* the instruction that writes to its place, -1 = none */
} oric_problem;

/* What the code looks like that waits and brings back. */
typedef struct {
    int32_t load_op, store_op, test_op, select_op, move_op, read_op, constant_op, to_uniform_op;
    int64_t load_mods[5], store_mods[5]; /* by number of words */
    int64_t test_mods, select_mods;
    int64_t test_source, select_first, select_second; /* operands: what is compared with; what is chosen from */
    int32_t logic_op; /* on one bit of a register that several predicates share: an immediate */
    int64_t bit_clear_mods, bit_set_mods, bit_test_mods;
    int32_t base;        /* word of the register with the top of the stack, -1 = none */
    int64_t base_source; /* the operand that it is copied from, ... */
    int64_t base_bank, base_offset; /* ... and those of a load of it */
    int32_t lowest, highest; /* bytes of the stack that belong to spills, from its top; highest is the first behind them */
    int32_t limit[5];    /* hardware registers of each file */
    uint8_t stable[256]; /* special registers that hold the same whenever they are read */
} oric_spill_code;

/* The function as it is, for oric_verify; NULL without memory. It keeps nothing of what the arrays are lent from. */
oric_before *oric_before_new(const oric_function *function);
void oric_before_free(oric_before *image);

/* Compares an image with the function that it was taken of, allocated: `fn` is its view on virtual registers in its final order,
 * with copies of a register to itself; the numbers of registers are those of `physical`. Returns the number of problems, of which
 * the first `most` are in `problems`, or -1 without memory. */
int32_t oric_verify(const oric_before *image, const oric_function *function, const oric_fn *fn, const oric_spill_code *code,
                    oric_problem *problems, int32_t most);
#endif
