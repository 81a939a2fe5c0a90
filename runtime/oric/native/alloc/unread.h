/* cdef */
#ifndef ORIC_UNREAD_H
#define ORIC_UNREAD_H
#include "function/backend.h"

/* Take out the plain copies whose results nothing reads before they are written again. Before allocation; liveness must be known, and
 * is not known any more where some were taken out. Returns how many, or -1 without memory. */
int32_t oric_drop_unread(oric_fn *fn);
#endif
