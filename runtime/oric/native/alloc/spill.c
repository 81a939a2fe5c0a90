#include "alloc/spill.h"

#include <stdlib.h>

#include "function/liveset.h"

enum { LOOP_SHIFT = 3, DEEPEST = 5 }; /* an instruction in a loop counts eight times one outside, down to this depth */

typedef struct {
    const oric_fn *fn;
    const uint8_t *fixed;
    int32_t file, limit;
    oric_liveset live;
    int64_t *crowded; /* per unit: points over the limit at which it is live */
    int64_t *cost;    /* per unit: instructions that name it, by depth of loops */
    int64_t *named;   /* per unit: the last point at which an instruction needs it in a register */
    uint8_t *away;    /* per unit: chosen */
    uint32_t *chosen;
    int32_t count;
    int64_t point;
} spiller;

typedef void visit(spiller *s);

static void note(spiller *s, const oric_node *node, int definitions) {
    const oric_access *a = &s->fn->accesses[node->access], *end = a + node->access_count;
    s->point++;
    for (; a < end; a++)
        for (uint32_t u = a->unit; (a->flags & ORIC_A_DEF || !definitions) && u < a->unit + a->count; u++) s->named[u] = s->point;
}

/* Every point of the code at which more units are live than there are registers: behind the results of an instruction, where these
 * are named, and in front of it, where all that it accesses is. */
static void walk(spiller *s, visit *crowd) {
    const oric_fn *fn = s->fn;
    for (int32_t b = 0; b < fn->block_count; b++) {
        oric_liveset_enter(&s->live, fn, b);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
            const oric_node *node = &fn->nodes[i];
            oric_liveset_define(&s->live, fn, node);
            if (s->live.count[s->file] > s->limit) note(s, node, 1), crowd(s);
            oric_liveset_step(&s->live, fn, node);
            if (s->live.count[s->file] > s->limit) note(s, node, 0), crowd(s);
        }
    }
}

static void count_crowd(spiller *s) {
    for (int32_t k = 0; k < s->live.count[s->file]; k++) s->crowded[s->live.items[s->file][k]]++;
}

/* More relief for its cost; of two alike the first. */
static int better(const spiller *s, uint32_t u, uint32_t v) {
    int64_t x = s->crowded[u] * s->cost[v], y = s->crowded[v] * s->cost[u];
    return x != y ? x > y : u < v;
}

static void relieve(spiller *s) {
    const uint32_t *items = s->live.items[s->file];
    int32_t n = s->live.count[s->file], held = 0;
    for (int32_t k = 0; k < n; k++) held += !s->away[items[k]] || s->named[items[k]] == s->point;
    for (; held > s->limit; held--) {
        int32_t best = -1;
        for (int32_t k = 0; k < n; k++) {
            uint32_t u = items[k];
            if (s->away[u] || s->fixed[u] || s->named[u] == s->point) continue;
            if (best < 0 || better(s, u, (uint32_t)best)) best = (int32_t)u;
        }
        if (best < 0) return;
        s->away[best] = 1;
        s->chosen[s->count++] = (uint32_t)best;
    }
}

static void add_costs(spiller *s) {
    const oric_fn *fn = s->fn;
    for (int32_t b = 0; b < fn->block_count; b++) {
        int depth = fn->depth[b] < DEEPEST ? fn->depth[b] : DEEPEST;
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
            for (; a < end; a++)
                for (uint32_t u = a->unit; u < a->unit + a->count; u++) s->cost[u] += (int64_t)1 << LOOP_SHIFT * depth;
        }
    }
}

int32_t oric_spill_choose(const oric_fn *fn, const uint8_t *fixed, int32_t file, int32_t limit, uint32_t *chosen) {
    size_t units = (size_t)fn->unit_count + 1;
    spiller s = {.fn = fn, .fixed = fixed, .file = file, .limit = limit, .chosen = chosen};
    if (oric_liveset_init(&s.live, fn)) return -1;
    s.crowded = calloc(units, sizeof *s.crowded), s.cost = calloc(units, sizeof *s.cost);
    s.named = calloc(units, sizeof *s.named), s.away = calloc(units, 1);
    int failed = !s.crowded || !s.cost || !s.named || !s.away;
    if (!failed) {
        add_costs(&s);
        walk(&s, count_crowd);
        walk(&s, relieve);
    }
    oric_liveset_free(&s.live);
    free(s.crowded), free(s.cost), free(s.named), free(s.away);
    return failed ? -1 : s.count;
}
