/* cdef */
#ifndef ORIC_LIVENESS_H
#define ORIC_LIVENESS_H
#include "function/backend.h"

/* Which units hold a value that may still be read, at the block boundaries.
 *
 * A unit is live where a path leads to a read without a full definition in between and some definition reaches the
 * point. A guarded write is no full definition, since threads whose guard is false keep the old value, unless no
 * value reaches it, or what is read of it before the end of its block is read under the same guard. Fills fn->global_of .. fn->live_out and the KILL flags of the accesses.
 * Returns 0, or -1 without memory. */
int oric_liveness(oric_fn *fn);
/* Units live at the entry (exit) of a block into out, in order of unit; returns their number. */
int32_t oric_live_in(const oric_fn *fn, int32_t block, uint32_t *out);
int32_t oric_live_out(const oric_fn *fn, int32_t block, uint32_t *out);
/* Largest number of live units of each file at any point (the fat points): ORIC_FILES numbers. Returns 0 or -1. */
int oric_pressure(const oric_fn *fn, int32_t *peak);
#endif
