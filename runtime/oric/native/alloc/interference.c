#include "alloc/interference.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/apart.h"
#include "alloc/regalloc.h"
#include "alloc/spans.h"
#include "function/liveset.h"

/* Pairs are counted by unit first, then each goes into the lists of both: from where the first were kept, or seen again when they
 * are more. */
typedef struct {
    uint32_t *next; /* by unit: pairs so far, then the place of the next one in the list */
    uint32_t *list; /* NULL while they are counted */
    uint32_t *kept; /* both units of the first KEPT pairs */
    uint64_t count;
    int failed;
} pair_sink;

enum { KEPT = 1 << 14 };

static inline void add_pair(pair_sink *sink, uint32_t a, uint32_t b) {
    if (sink->list) {
        sink->list[sink->next[a]++] = b;
        sink->list[sink->next[b]++] = a;
    } else {
        sink->next[a]++, sink->next[b]++;
        if (sink->count < KEPT) sink->kept[2 * sink->count] = a, sink->kept[2 * sink->count + 1] = b;
        sink->count++;
    }
}

/* A definition meets everything that is live behind it, except the source of a copy, which holds the same value. */
static void at_definition(const oric_fn *fn, const oric_liveset *live, const oric_node *node, pair_sink *sink) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    uint32_t source = node->flags & ORIC_I_COPY && node->access_count > 1 ? a[1].unit : UINT32_MAX;
    for (; a < end; a++)
        for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++) {
            int f = fn->unit_file[u];
            if (oric_is_uniform(fn, u)) continue;
            for (int32_t i = 0; i < live->count[f]; i++) {
                uint32_t other = live->items[f][i];
                if (other != u && other != source) add_pair(sink, u, other);
            }
        }
}

static void add_apart(void *to, uint32_t a, uint32_t b) { add_pair(to, a, b); }

static void uniform_pairs(const oric_fn *fn, pair_sink *sink) {
    int32_t count = 0, active_count = 0;
    int32_t uniform = 0;
    for (int32_t u = 0; u < fn->unit_count; u++) uniform += oric_is_uniform(fn, (uint32_t)u);
    if (!uniform) return;
    oric_span *spans = oric_uniform_spans(fn), *active = malloc(((size_t)fn->unit_count + 1) * sizeof *active);
    if (!spans || !active) {
        sink->failed = 1;
    } else {
        for (int32_t u = 0; u < fn->unit_count; u++)
            if (oric_is_uniform(fn, (uint32_t)u) && spans[u].end >= 0) spans[count++] = spans[u];
        qsort(spans, (size_t)count, sizeof *spans, oric_compare_spans);
        for (int32_t i = 0; i < count; i++) {
            int32_t kept = 0;
            for (int32_t k = 0; k < active_count; k++) {
                if (active[k].end < spans[i].start) continue;
                active[kept++] = active[k];
                if (fn->unit_file[active[k].unit] == fn->unit_file[spans[i].unit]) add_pair(sink, active[k].unit, spans[i].unit);
            }
            active[kept] = spans[i];
            active_count = kept + 1;
        }
        free(spans), spans = oric_uniform_spans(fn); /* by unit again */
        if (!spans || oric_apart_pairs(fn, spans, add_apart, sink)) sink->failed = 1;
    }
    free(spans), free(active);
}

static int collect(const oric_fn *fn, pair_sink *sink) {
    oric_liveset live;
    if (oric_liveset_init(&live, fn)) return -1;
    for (int32_t b = 0; b < fn->block_count; b++) {
        oric_liveset_enter(&live, fn, b);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
            const oric_node *node = &fn->nodes[i];
            /* of what a callee may change no two things are of interest to one another */
            if (!(node->flags & ORIC_I_DRAIN)) oric_liveset_define(&live, fn, node);
            at_definition(fn, &live, node, sink);
            oric_liveset_step(&live, fn, node);
        }
    }
    oric_liveset_free(&live);
    uniform_pairs(fn, sink);
    return sink->failed ? -1 : 0;
}

static int fill(const oric_fn *fn, pair_sink *sink) {
    if (sink->count > KEPT) return collect(fn, sink);
    for (uint64_t k = 0; k < sink->count; k++) add_pair(sink, sink->kept[2 * k], sink->kept[2 * k + 1]);
    return 0;
}

static int build(const oric_fn *fn, oric_constraints *out, pair_sink *sink) {
    uint32_t units = (uint32_t)fn->unit_count;
    if (!out->first || !sink->kept || collect(fn, sink) || 2 * sink->count > UINT32_MAX) return -1;
    out->pairs = (uint32_t)sink->count;
    out->list = malloc((2 * sink->count + 1) * sizeof *out->list);
    if (!out->list) return -1;
    uint32_t before = 0;
    for (uint32_t u = 1; u <= units; u++) { /* where each list begins; filling makes of it where it ends */
        uint32_t own = out->first[u];
        out->first[u] = before;
        before += own;
    }
    sink->list = out->list;
    return fill(fn, sink);
}

int oric_constraints_build(const oric_fn *fn, oric_constraints *out) {
    memset(out, 0, sizeof *out);
    out->first = calloc((size_t)fn->unit_count + 2, sizeof *out->first);
    pair_sink sink = {.next = out->first + 1, .kept = malloc(2 * KEPT * sizeof *sink.kept)};
    int status = build(fn, out, &sink);
    free(sink.kept);
    if (status) oric_constraints_free(out);
    return status;
}

void oric_constraints_free(oric_constraints *constraints) {
    free(constraints->first), free(constraints->list);
    constraints->first = constraints->list = NULL;
}

int32_t oric_interference(const oric_fn *fn, uint32_t *pairs, int32_t room) {
    oric_constraints constraints;
    if (oric_constraints_build(fn, &constraints)) return -1;
    int32_t count = 0;
    for (uint32_t u = 0; u < (uint32_t)fn->unit_count; u++)
        for (uint32_t k = constraints.first[u]; k < constraints.first[u + 1]; k++) {
            if (constraints.list[k] < u) continue;
            if (count < room) pairs[2 * count] = u, pairs[2 * count + 1] = constraints.list[k];
            count++;
        }
    oric_constraints_free(&constraints);
    return count;
}
