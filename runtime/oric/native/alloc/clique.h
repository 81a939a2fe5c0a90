/* cdef */
#ifndef ORIC_CLIQUE_H
#define ORIC_CLIQUE_H
#include "function/backend.h"

/* Whether there are certainly too few R registers: at one point more units are live than there are, of which each two interfere.
 * `most`: R registers that there are in each block, NULL: `limit` everywhere. Liveness must be known. 0 says nothing: others may be
 * too many. Returns 0 or 1, -1 without memory. */
int oric_surely_crowded(const oric_fn *fn, int32_t limit, const int32_t *most);
#endif
