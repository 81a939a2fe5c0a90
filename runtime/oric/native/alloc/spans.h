/* Stretches of code over which uniform registers keep their values. */
#ifndef ORIC_SPANS_H
#define ORIC_SPANS_H
#include "function/backend.h"

typedef struct {
    int64_t start, end; /* 2 * position reads, 2 * position + 1 writes; an end of -1: it never occurs */
    uint32_t unit;
} oric_span;

static inline int oric_is_uniform(const oric_fn *fn, uint32_t unit) {
    return fn->unit_file[unit] == ORIC_FILE_UR || fn->unit_file[unit] == ORIC_FILE_UP;
}

/* By unit. Uniform registers belong to the warp, whose threads may take turns on divergent paths: a value keeps its register
 * over the whole stretch of code from its first to its last place. NULL without memory. */
oric_span *oric_uniform_spans(const oric_fn *fn);

/* By start, then by unit; for qsort. */
int oric_compare_spans(const void *a, const void *b);
#endif
