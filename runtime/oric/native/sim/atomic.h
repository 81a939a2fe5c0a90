/* Read, combine, write: what atomics, bulk and tensor reductions do with one element. */
#ifndef ORIC_SIM_ATOMIC_H
#define ORIC_SIM_ATOMIC_H
#include "sim/ops.h"

/* How the bits of an element are taken. */
enum { SIM_UNSIGNED, SIM_SIGNED, SIM_F32, SIM_F32_FTZ, SIM_F64, SIM_F16, SIM_BF16 };

/* Operand of an atomic: `count` elements of `bytes` bytes. bytes = 0: the type is not known. */
typedef struct {
    uint8_t bytes, count, kind;
} sim_element;

/* Of a value of a `type` modifier. */
sim_element sim_element_of(unsigned type);

/* old OP x; a fault when the operation is not one of that type. */
uint64_t sim_combine(sim_warp *w, uint32_t lane, unsigned op, sim_element e, uint64_t old, uint64_t x);

/* memory = memory OP operand for all elements of an operand of e.bytes * e.count bytes. 0 after a fault. */
int sim_combine_at(sim_warp *w, uint32_t lane, unsigned op, sim_element e, uint8_t *memory, const uint8_t *operand);
#endif
