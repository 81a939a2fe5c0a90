/* cdef */
#ifndef ORIC_LOAD_H
#define ORIC_LOAD_H
#include "function/backend.h"

/* Index the register accesses of a function. physical: 0 = units are the words of virtual registers, 1 = units are the
 * hardware registers of `physical`. Returns NULL without memory. fn->error is 0, or ORIC_LOAD_* with fn->error_at = the
 * instruction. */
enum {
    ORIC_LOAD_OK = 0,
    ORIC_LOAD_NO_FACTS = 1,      /* no scheduling facts for the operation */
    ORIC_LOAD_NO_REGISTER = 2,   /* a register without (physical) number, or out of its file */
    ORIC_LOAD_BAD_OPERATION = 3, /* operation number out of range */
    ORIC_LOAD_BAD_RESULT = 4     /* an operation of fixed latency writes a file for which its class has no row */
};
oric_fn *oric_fn_load(const oric_function *function, int physical);

/* The function of `virtual_fn` (loaded from the same arrays, its nodes in whatever order) on the hardware registers that the
 * arrays now hold; copies of a register to itself are left out. Errors as above. */
oric_fn *oric_fn_on_registers(const oric_function *function, const oric_fn *virtual_fn);

/* Enter an allocation (see oric_regalloc) into `physical` and `parent`. */
void oric_fn_publish(const oric_function *function, const oric_fn *fn, const int32_t *assigned, const int32_t *leader);

/* Link the instructions of every block in the order of the nodes, with their control bits; what is no node is taken out. */
void oric_fn_link(const oric_function *function, const oric_fn *fn);

/* The first of the hardware units of a file. */
int32_t oric_fn_first_unit(int32_t file);

/* Instruction of every node, in order, into out (insn_count entries). */
void oric_fn_order(const oric_fn *fn, uint32_t *out);
#endif
