#include "function/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "function/liveset.h"
#include "support/bitvec.h"

/* Units that are read before a full definition in some block: only these can be live at a boundary. */
static int find_globals(oric_fn *fn) {
    int32_t *stamp = calloc((size_t)fn->unit_count + 1, sizeof *stamp);
    if (!stamp) return -1;
    fn->global_of = malloc(((size_t)fn->unit_count + 1) * sizeof *fn->global_of);
    fn->unit_of = malloc(((size_t)fn->unit_count + 1) * sizeof *fn->unit_of);
    if (!fn->global_of || !fn->unit_of) return free(stamp), -1;
    memset(fn->global_of, 0xff, (size_t)fn->unit_count * sizeof *fn->global_of);
    for (int32_t b = 0; b < fn->block_count; b++) {
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            const oric_node *node = &fn->nodes[i];
            const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
            for (const oric_access *p = a; p < end; p++)
                for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++)
                    if (stamp[u] != b + 1) fn->global_of[u] = 0;
            for (const oric_access *p = a; p < end; p++)
                for (uint32_t u = p->unit; (p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++) {
                    if (node->flags & ORIC_I_GUARDED && stamp[u] != b + 1) fn->global_of[u] = 0;
                    else stamp[u] = b + 1;
                }
        }
    }
    fn->global_count = 0;
    for (int32_t u = 0; u < fn->unit_count; u++)
        if (fn->global_of[u] == 0) {
            fn->unit_of[fn->global_count] = u;
            fn->global_of[u] = fn->global_count++;
        }
    fn->words = (uint32_t)(fn->global_count + 63) / 64;
    free(stamp);
    return 0;
}

static inline void set_bit(uint64_t *set, int32_t bit) { set[bit / 64] |= (uint64_t)1 << bit % 64; }
static inline void clear_bit(uint64_t *set, int32_t bit) { set[bit / 64] &= ~((uint64_t)1 << bit % 64); }
static inline int has_bit(const uint64_t *set, int32_t bit) { return set[bit / 64] >> bit % 64 & 1; }

/* Forward: reach[b] = union of reach | written over the predecessors. Worklist in block order. */
static void solve_reach(const oric_fn *fn, uint64_t *reach, const uint64_t *written, uint8_t *queued, int32_t *queue) {
    uint32_t n = (uint32_t)fn->global_count, w = fn->words;
    uint64_t *out = malloc((w ? w : 1) * sizeof *out);
    int32_t head = 0, count = fn->block_count;
    for (int32_t b = 0; b < fn->block_count; b++) queue[b] = b, queued[b] = 1;
    while (count && out) {
        int32_t b = queue[head];
        head = (head + 1) % fn->block_count, count--, queued[b] = 0;
        oric_bv_copy(out, reach + (size_t)b * w, n);
        oric_bv_or(out, written + (size_t)b * w, n);
        for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) {
            int32_t to = fn->succs[s];
            if (oric_bv_or(reach + (size_t)to * w, out, n) && !queued[to])
                queue[(head + count++) % fn->block_count] = to, queued[to] = 1;
        }
    }
    free(out);
}

/* A definition kills when it is unguarded or when nothing was there before. */
static void mark_kills(oric_fn *fn, const uint64_t *reach, int32_t *stamp) {
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
            for (; a < end; a++) {
                if (!(a->flags & ORIC_A_DEF)) continue;
                int fresh = 1;
                for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
                    int32_t g = fn->global_of[u];
                    if (stamp[u] == b + 1 || (g >= 0 && has_bit(reach + (size_t)b * fn->words, g))) fresh = 0;
                    stamp[u] = b + 1;
                }
                if (fresh || !(fn->nodes[i].flags & ORIC_I_GUARDED)) a->flags |= ORIC_A_KILL;
            }
        }
}

static void gen_kill(const oric_fn *fn, int32_t b, uint64_t *gen, uint64_t *kill) {
    for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; p->flags & ORIC_A_KILL && u < p->unit + p->count; u++)
                if (fn->global_of[u] >= 0) set_bit(kill, fn->global_of[u]), clear_bit(gen, fn->global_of[u]);
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++)
                if (fn->global_of[u] >= 0) set_bit(gen, fn->global_of[u]);
    }
}

/* Backward: live_in |= live_out & ~kill, live_out = union of the successors' live_in. live_in begins as what a block reads first. */
static void solve_live(oric_fn *fn, const uint64_t *kill, uint8_t *queued, int32_t *queue) {
    uint32_t n = (uint32_t)fn->global_count, w = fn->words;
    int32_t head = 0, count = fn->block_count;
    for (int32_t b = 0; b < fn->block_count; b++) queue[b] = fn->block_count - 1 - b, queued[b] = 1;
    while (count) {
        int32_t b = queue[head];
        head = (head + 1) % fn->block_count, count--, queued[b] = 0;
        uint64_t *out = fn->live_out + (size_t)b * w, *in = fn->live_in + (size_t)b * w;
        for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) oric_bv_or(out, fn->live_in + (size_t)fn->succs[s] * w, n);
        if (!oric_bv_transfer(in, in, out, kill + (size_t)b * w, n)) continue;
        for (uint32_t p = fn->pred_first[b]; p < fn->pred_first[b + 1]; p++) {
            int32_t from = fn->preds[p];
            if (!queued[from]) queue[(head + count++) % fn->block_count] = from, queued[from] = 1;
        }
    }
}

static void restrict_to_reached(oric_fn *fn, const uint64_t *reached, const uint64_t *written) {
    uint32_t n = (uint32_t)fn->global_count, w = fn->words;
    for (int32_t b = 0; b < fn->block_count; b++) {
        uint64_t *out = fn->live_out + (size_t)b * w, *in = fn->live_in + (size_t)b * w;
        const uint64_t *reach = reached + (size_t)b * w;
        oric_bv_and(in, reach, n);
        for (uint32_t i = 0; i < w; i++) out[i] &= reach[i] | written[(size_t)b * w + i];
    }
}

int oric_liveness(oric_fn *fn) {
    free(fn->global_of), free(fn->unit_of), free(fn->live_in), free(fn->live_out);
    fn->global_of = fn->unit_of = NULL;
    fn->live_in = fn->live_out = NULL;
    if (find_globals(fn)) return -1;
    size_t words = (size_t)fn->block_count * fn->words + 1, blocks = (size_t)fn->block_count + 1;
    uint64_t *reach = calloc(words, 8), *kill = calloc(words, 8), *written = calloc(words, 8);
    uint8_t *queued = calloc(blocks, 1);
    int32_t *queue = calloc(blocks, sizeof *queue), *stamp = calloc((size_t)fn->unit_count + 1, sizeof *stamp);
    fn->live_in = calloc(words, 8), fn->live_out = calloc(words, 8);
    int failed = !reach || !kill || !written || !queued || !queue || !stamp || !fn->live_in || !fn->live_out;
    if (!failed) {
        for (int32_t b = 0; b < fn->block_count; b++)
            for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
                const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
                for (; a < end; a++)
                    for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++)
                        if (fn->global_of[u] >= 0) set_bit(written + (size_t)b * fn->words, fn->global_of[u]);
            }
        for (int32_t i = 0; i < fn->access_count; i++) fn->accesses[i].flags &= (uint8_t)~ORIC_A_KILL;
        solve_reach(fn, reach, written, queued, queue);
        mark_kills(fn, reach, stamp);
        for (int32_t b = 0; b < fn->block_count; b++) gen_kill(fn, b, fn->live_in + (size_t)b * fn->words, kill + (size_t)b * fn->words);
        solve_live(fn, kill, queued, queue);
        restrict_to_reached(fn, reach, written);
    }
    free(reach), free(kill), free(written), free(queued), free(queue), free(stamp);
    return failed ? -1 : 0;
}

static int compare_units(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int32_t members(const oric_fn *fn, const uint64_t *set, uint32_t *out) {
    uint32_t n = (uint32_t)fn->global_count, count = oric_bv_members(set, n, out);
    for (uint32_t i = 0; i < count; i++) out[i] = (uint32_t)fn->unit_of[out[i]];
    qsort(out, count, sizeof *out, compare_units);
    return (int32_t)count;
}

int32_t oric_live_in(const oric_fn *fn, int32_t block, uint32_t *out) { return members(fn, fn->live_in + (size_t)block * fn->words, out); }

int32_t oric_live_out(const oric_fn *fn, int32_t block, uint32_t *out) { return members(fn, fn->live_out + (size_t)block * fn->words, out); }

int oric_pressure(const oric_fn *fn, int32_t *peak) {
    oric_liveset live;
    memset(peak, 0, ORIC_FILES * sizeof *peak);
    if (oric_liveset_init(&live, fn)) return -1;
    for (int32_t b = 0; b < fn->block_count; b++) {
        oric_liveset_enter(&live, fn, b);
        oric_liveset_peak(&live, peak);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
            oric_liveset_define(&live, fn, &fn->nodes[i]);
            oric_liveset_peak(&live, peak);
            oric_liveset_step(&live, fn, &fn->nodes[i]);
            oric_liveset_peak(&live, peak);
        }
    }
    oric_liveset_free(&live);
    return 0;
}
