/* Operands of an instruction as arrays of lane values, and results back into registers. */
#ifndef ORIC_SIM_VALUE_H
#define ORIC_SIM_VALUE_H
#include "arith/bits.h"
#include "sim/state.h"

/* How negation, magnitude and complement of an operand are meant. */
enum {
    SIM_AS_BITS = 0, /* no operand modifiers */
    SIM_AS_INT,      /* -x two's complement, ~x, |x| */
    SIM_AS_F32,      /* sign bit 31 */
    SIM_AS_H2        /* sign bits 15 and 31 */
};

/* Sources: 32 values; the result points into the register file or to `room`. Never NULL: a fault gives zeros. */
const uint32_t *sim_get32(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t *room, int as);
const uint64_t *sim_get64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room, int as_signed);
/* Without operand modifiers; an immediate has all of its 64 bits. */
const uint64_t *sim_get_bits64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room);
const uint64_t *sim_get_f64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room);
/* Addends of an addition with carry: -x as ~x + 1 in 33 bits, so that the carry is that of a subtraction. */
const uint64_t *sim_get_addend(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room);
/* A predicate as a lane mask; an operand that is left out has the value `missing` (0 or ~0). */
uint32_t sim_getp(const sim_warp *w, const oric_operand *o, uint32_t missing);
/* The value of an operand that is the same in all lanes (for a GPR: of the first lane of mask). */
uint32_t sim_get_uniform(sim_warp *w, uint32_t mask, const oric_operand *o);

/* Results, for the lanes of mask; into uniform registers and predicates: the first lane's. */
void sim_put32(sim_warp *w, uint32_t mask, const oric_operand *o, const uint32_t *values);
void sim_put64(sim_warp *w, uint32_t mask, const oric_operand *o, const uint64_t *values);
void sim_putp(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t bits);

/* Row of register `index` of an operand of several registers; NULL for RZ, a fault beyond the kernel's registers. */
uint32_t *sim_row(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t index);

#endif
