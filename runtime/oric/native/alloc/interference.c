#include "alloc/interference.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/regalloc.h"
#include "function/liveset.h"

typedef struct {
    uint32_t *pairs;
    size_t count, room;
    int failed;
} pair_list;

static void add_pair(pair_list *list, uint32_t a, uint32_t b) {
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 4096;
        uint32_t *grown = realloc(list->pairs, room * 2 * sizeof *grown);
        if (!grown) {
            list->failed = 1;
            return;
        }
        list->pairs = grown, list->room = room;
    }
    list->pairs[2 * list->count] = a < b ? a : b;
    list->pairs[2 * list->count++ + 1] = a < b ? b : a;
}

static int is_uniform(const oric_fn *fn, uint32_t unit) {
    return fn->unit_file[unit] == ORIC_FILE_UR || fn->unit_file[unit] == ORIC_FILE_UP;
}

/* A definition meets everything that is live behind it, except the source of a copy, which holds the same value. */
static void at_definition(const oric_fn *fn, const oric_liveset *live, const oric_node *node, pair_list *list) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    uint32_t source = node->flags & ORIC_I_COPY && node->access_count > 1 ? a[1].unit : UINT32_MAX;
    for (; a < end; a++)
        for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++) {
            int f = fn->unit_file[u];
            if (is_uniform(fn, u)) continue;
            for (int32_t i = 0; i < live->count[f]; i++) {
                uint32_t other = live->items[f][i];
                if (other != u && other != source) add_pair(list, u, other);
            }
        }
}

typedef struct {
    int64_t start, end;
    uint32_t unit;
} span;

static void extend(span *spans, uint32_t unit, int64_t at) {
    if (at < spans[unit].start) spans[unit].start = at;
    if (at > spans[unit].end) spans[unit].end = at;
}

static int compare_spans(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Extend the spans of the members of a live set that are in `among`. */
static void extend_members(const oric_fn *fn, span *spans, const uint64_t *live, const uint64_t *among, int64_t at) {
    for (uint32_t w = 0; w < fn->words; w++)
        for (uint64_t left = live[w] & among[w]; left; left &= left - 1)
            extend(spans, (uint32_t)fn->unit_of[64 * w + (uint32_t)__builtin_ctzll(left)], at);
}

/* Uniform registers belong to the warp, whose threads may take turns on divergent paths: a value keeps its register
 * over the whole stretch of code from its first to its last place. Times: 2 * position reads, 2 * position + 1 writes. */
static span *uniform_spans(const oric_fn *fn) {
    span *spans = malloc(((size_t)fn->unit_count + 1) * sizeof *spans);
    if (!spans) return NULL;
    for (int32_t u = 0; u < fn->unit_count; u++) spans[u] = (span){INT64_MAX, -1, (uint32_t)u};
    uint64_t *uniform = calloc((size_t)fn->words + 1, sizeof *uniform);
    if (!uniform) return free(spans), NULL;
    for (int32_t g = 0; g < fn->global_count; g++)
        if (is_uniform(fn, (uint32_t)fn->unit_of[g])) uniform[g / 64] |= (uint64_t)1 << g % 64;
    for (int32_t b = 0; b < fn->block_count; b++) {
        extend_members(fn, spans, fn->live_in + (size_t)b * fn->words, uniform, 2 * (int64_t)fn->block_first[b]);
        extend_members(fn, spans, fn->live_out + (size_t)b * fn->words, uniform, 2 * (int64_t)fn->block_first[b + 1]);
    }
    free(uniform);
    for (int32_t i = 0; i < fn->insn_count; i++) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++)
            for (uint32_t u = a->unit; u < a->unit + a->count; u++)
                if (is_uniform(fn, u)) extend(spans, u, 2 * (int64_t)i + (a->flags & ORIC_A_DEF ? 1 : 0));
    }
    return spans;
}

static void uniform_pairs(const oric_fn *fn, pair_list *list) {
    int32_t count = 0, active_count = 0;
    int32_t uniform = 0;
    for (int32_t u = 0; u < fn->unit_count; u++) uniform += is_uniform(fn, (uint32_t)u);
    if (!uniform) return;
    span *spans = uniform_spans(fn), *active = malloc(((size_t)fn->unit_count + 1) * sizeof *active);
    if (!spans || !active) {
        list->failed = 1;
    } else {
        for (int32_t u = 0; u < fn->unit_count; u++)
            if (is_uniform(fn, (uint32_t)u) && spans[u].end >= 0) spans[count++] = spans[u];
        qsort(spans, (size_t)count, sizeof *spans, compare_spans);
        for (int32_t i = 0; i < count; i++) {
            int32_t kept = 0;
            for (int32_t k = 0; k < active_count; k++) {
                if (active[k].end < spans[i].start) continue;
                active[kept++] = active[k];
                if (fn->unit_file[active[k].unit] == fn->unit_file[spans[i].unit]) add_pair(list, active[k].unit, spans[i].unit);
            }
            active[kept] = spans[i];
            active_count = kept + 1;
        }
    }
    free(spans), free(active);
}

static int collect(const oric_fn *fn, pair_list *list) {
    oric_liveset live;
    if (oric_liveset_init(&live, fn)) return -1;
    for (int32_t b = 0; b < fn->block_count; b++) {
        oric_liveset_enter(&live, fn, b);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
            const oric_node *node = &fn->nodes[i];
            oric_liveset_define(&live, fn, node);
            at_definition(fn, &live, node, list);
            oric_liveset_step(&live, fn, node);
        }
    }
    oric_liveset_free(&live);
    uniform_pairs(fn, list);
    return list->failed ? -1 : 0;
}

int oric_constraints_build(const oric_fn *fn, oric_constraints *out) {
    pair_list list = {0};
    memset(out, 0, sizeof *out);
    if (collect(fn, &list)) return free(list.pairs), -1;
    out->pairs = (uint32_t)list.count;
    out->first = calloc((size_t)fn->unit_count + 2, sizeof *out->first);
    out->list = malloc((2 * list.count + 1) * sizeof *out->list);
    if (!out->first || !out->list) {
        free(list.pairs);
        return oric_constraints_free(out), -1;
    }
    for (size_t i = 0; i < 2 * list.count; i++) out->first[list.pairs[i] + 2]++;
    for (int32_t u = 0; u < fn->unit_count; u++) out->first[u + 2] += out->first[u + 1];
    for (size_t i = 0; i < list.count; i++) {
        uint32_t a = list.pairs[2 * i], b = list.pairs[2 * i + 1];
        out->list[out->first[a + 1]++] = b;
        out->list[out->first[b + 1]++] = a;
    }
    free(list.pairs);
    return 0;
}

void oric_constraints_free(oric_constraints *constraints) {
    free(constraints->first), free(constraints->list);
    constraints->first = constraints->list = NULL;
}

int32_t oric_interference(const oric_fn *fn, uint32_t *pairs, int32_t room) {
    pair_list list = {0};
    if (collect(fn, &list)) return free(list.pairs), -1;
    size_t copied = list.count < (size_t)room ? list.count : (size_t)room;
    if (copied) memcpy(pairs, list.pairs, copied * 2 * sizeof *pairs);
    free(list.pairs);
    return (int32_t)list.count;
}
