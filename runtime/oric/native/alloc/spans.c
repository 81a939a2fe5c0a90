#include "alloc/spans.h"

#include <stdlib.h>

static void extend(oric_span *spans, uint32_t unit, int64_t at) {
    if (at < spans[unit].start) spans[unit].start = at;
    if (at > spans[unit].end) spans[unit].end = at;
}

int oric_compare_spans(const void *a, const void *b) {
    const oric_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Extend the spans of the members of a live set that are in `among`. */
static void extend_members(const oric_fn *fn, oric_span *spans, const uint64_t *live, const uint64_t *among, int64_t at) {
    for (uint32_t w = 0; w < fn->words; w++)
        for (uint64_t left = live[w] & among[w]; left; left &= left - 1)
            extend(spans, (uint32_t)fn->unit_of[64 * w + (uint32_t)__builtin_ctzll(left)], at);
}

oric_span *oric_uniform_spans(const oric_fn *fn) {
    oric_span *spans = malloc(((size_t)fn->unit_count + 1) * sizeof *spans);
    uint64_t *uniform = calloc((size_t)fn->words + 1, sizeof *uniform);
    if (!spans || !uniform) return free(spans), free(uniform), NULL;
    for (int32_t u = 0; u < fn->unit_count; u++) spans[u] = (oric_span){INT64_MAX, -1, (uint32_t)u};
    for (int32_t g = 0; g < fn->global_count; g++)
        if (oric_is_uniform(fn, (uint32_t)fn->unit_of[g])) uniform[g / 64] |= (uint64_t)1 << g % 64;
    for (int32_t b = 0; b < fn->block_count; b++) {
        extend_members(fn, spans, fn->live_in + (size_t)b * fn->words, uniform, 2 * (int64_t)fn->block_first[b]);
        extend_members(fn, spans, fn->live_out + (size_t)b * fn->words, uniform, 2 * (int64_t)fn->block_first[b + 1]);
    }
    free(uniform);
    for (int32_t i = 0; i < fn->insn_count; i++) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++)
            for (uint32_t u = a->unit; u < a->unit + a->count; u++)
                if (oric_is_uniform(fn, u)) extend(spans, u, 2 * (int64_t)i + (a->flags & ORIC_A_DEF ? 1 : 0));
    }
    return spans;
}
