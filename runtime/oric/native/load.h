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
#endif
