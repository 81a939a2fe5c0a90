/* cdef */
#ifndef ORIC_LOAD_H
#define ORIC_LOAD_H
#include "backend.h"

/* Read a flattened function into the back end's form. physical: 0 = units are components of virtual registers (their
 * numbers go into oric_register.liveness_start), 1 = units are the hardware registers of physical_reg.
 * Returns NULL without memory. fn->error is 0, or ORIC_LOAD_* with fn->error_at = position of the instruction. */
enum {
    ORIC_LOAD_OK = 0,
    ORIC_LOAD_NO_FACTS = 1,      /* no scheduling facts for the operation */
    ORIC_LOAD_NO_REGISTER = 2,   /* a register without (physical) number, or out of its file */
    ORIC_LOAD_BAD_OPERATION = 3, /* operation number out of range */
    ORIC_LOAD_BAD_RESULT = 4     /* an operation of fixed latency writes a file for which its class has no row */
};
oric_fn *oric_fn_load(oric_image *image, int physical);

/* The function of `virtual_fn` (loaded from the same image, its nodes in whatever order) on the hardware registers that the
 * image now holds; copies of a register to itself are left out. Errors as above. */
oric_fn *oric_fn_on_registers(oric_image *image, const oric_fn *virtual_fn);

/* Enter an allocation (see oric_regalloc) into the register descriptors of the image. */
void oric_fn_publish(oric_image *image, const oric_fn *fn, const int32_t *assigned, const int32_t *leader);

/* Position in the image of every node, in order, into out (insn_count entries). */
void oric_fn_order(const oric_fn *fn, uint32_t *out);
/* The control bits of every node, in order. */
void oric_fn_controls(const oric_fn *fn, uint32_t *out);
#endif
