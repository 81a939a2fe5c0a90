/* cdef */
#ifndef ORIC_SPILL_H
#define ORIC_SPILL_H
#include "function/backend.h"

/* Units of a file to be kept elsewhere so that no more than `limit` of that file are in registers at any point, into
 * chosen (unit_count entries at most); returns their number, or -1 without memory. One that is kept elsewhere is in a register
 * only around the instructions that name it. Liveness must be known. fixed: per unit, 1 when it has to stay.
 * Points at which too many are fixed or named stay over the limit. */
int32_t oric_spill_choose(const oric_fn *fn, const uint8_t *fixed, int32_t file, int32_t limit, uint32_t *chosen);
#endif
