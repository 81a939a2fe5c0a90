/* Uniform registers that threads on different ways would overwrite for one another. */
#ifndef ORIC_APART_H
#define ORIC_APART_H
#include "alloc/spans.h"

/* Call `pair` for every two words of uniform registers that do not overlap in their spans but must not share a register: one is there where
 * threads may let others of the warp run, the other is written on a way that these may be on. Returns 0, or -1 without
 * memory. */
int oric_apart_pairs(const oric_fn *fn, const oric_span *spans, void (*pair)(void *to, uint32_t a, uint32_t b), void *to);
#endif
