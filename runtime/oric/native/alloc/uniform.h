/* cdef */
#ifndef ORIC_UNIFORM_H
#define ORIC_UNIFORM_H
#include "function/backend.h"

/* Uniform registers to be kept elsewhere so that no more than `limit` words of them are in their file at any point: the first units
 * of these into chosen (unit_count entries at most); returns their number, or -1 without memory. Where too many are, what is named
 * last goes first. Liveness must be known. fixed: per unit, 1 when it has to stay. */
int32_t oric_uniform_choose(const oric_fn *fn, const uint8_t *fixed, int32_t limit, uint32_t *chosen);
#endif
