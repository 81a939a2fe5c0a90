#include "alloc/apart.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 8192, NOWHERE = 0, LASTS = -1 };

typedef struct {
    const oric_fn *fn;
    size_t words;      /* of a set of blocks */
    int32_t *order;    /* blocks, each in front of those that it leads to, but round loops */
    int32_t *place;    /* of each block in it */
    uint64_t *behind;  /* by block: those that it leads to, itself among them; nothing where there are too many blocks */
    uint64_t *before;  /* and those that lead to it */
    uint32_t count;    /* of uniform units */
    uint32_t *unit;    /* each of them */
    uint32_t *row;     /* by unit: which one it is */
    int32_t *home;     /* by row: the only part of the code that names the unit, or LASTS */
    uint64_t *there;   /* by row: blocks in which it is there where threads are apart, if it lasts */
    uint64_t *written; /* by row: blocks that write it where threads are apart */
    uint64_t *others;  /* by row: blocks on other ways than those in which it is there */
} apart;

static inline void put(uint64_t *set, int32_t b) { set[b / 64] |= (uint64_t)1 << b % 64; }

static inline uint64_t *of(uint64_t *sets, const apart *a, size_t n) { return sets + n * a->words; }

static int meets(const uint64_t *x, const uint64_t *y, size_t words) {
    for (size_t w = 0; w < words; w++)
        if (x[w] & y[w]) return 1;
    return 0;
}

/* Depth first; blocks that nothing leads to come first. */
static int find_order(apart *a) {
    const oric_fn *fn = a->fn;
    int32_t count = fn->block_count, at = count, depth = 0;
    int32_t *stack = malloc(((size_t)count + 1) * sizeof *stack);
    uint32_t *next = malloc(((size_t)count + 1) * sizeof *next);
    if (!stack || !next) return free(stack), free(next), -1;
    for (int32_t b = 0; b < count; b++) a->place[b] = -2; /* not seen; -1: on the way */
    for (int32_t root = 0; root < count; root++) {
        if (a->place[root] != -2) continue;
        stack[depth++] = root, next[root] = fn->succ_first[root], a->place[root] = -1;
        while (depth) {
            int32_t b = stack[depth - 1];
            if (next[b] == fn->succ_first[b + 1]) {
                a->place[b] = --at, a->order[at] = b, depth--;
                continue;
            }
            int32_t to = fn->succs[next[b]++];
            if (a->place[to] == -2) stack[depth++] = to, next[to] = fn->succ_first[to], a->place[to] = -1;
        }
    }
    free(stack), free(next);
    return 0;
}

static void find_ways(apart *a) {
    const oric_fn *fn = a->fn;
    for (int32_t n = fn->block_count; n-- > 0;) {
        int32_t b = a->order[n];
        uint64_t *set = of(a->behind, a, (size_t)b);
        put(set, b);
        for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++)
            for (size_t w = 0; a->place[fn->succs[s]] > n && w < a->words; w++) set[w] |= of(a->behind, a, (size_t)fn->succs[s])[w];
    }
    for (int32_t n = 0; n < fn->block_count; n++) {
        int32_t b = a->order[n];
        uint64_t *set = of(a->before, a, (size_t)b);
        put(set, b);
        for (uint32_t p = fn->pred_first[b]; p < fn->pred_first[b + 1]; p++)
            for (size_t w = 0; a->place[fn->preds[p]] < n && w < a->words; w++) set[w] |= of(a->before, a, (size_t)fn->preds[p])[w];
    }
}

/* Note that a unit is named in a part of the code: in several its value lasts. */
static void name(apart *a, uint32_t row, int32_t part) { a->home[row] = a->home[row] == NOWHERE || a->home[row] == part ? part : LASTS; }

/* At a branch, where threads meet or wait for one another; no access of memory does, though it keeps its place. */
static int lets_others_run(const oric_node *node) {
    return node->flags & (ORIC_I_FENCE | ORIC_I_DRAIN) || (node->flags & ORIC_I_ORDERED && !node->space && !(node->flags & ORIC_I_LATE_READ));
}

/* Which units last, and which blocks write them. Other threads run where parts of the code end, and not in between: a part is a block, or
 * what is between two of its fences and barriers. */
static void walk(apart *a) {
    const oric_fn *fn = a->fn;
    int32_t part = 0;
    for (int32_t b = 0; b < fn->block_count; b++) {
        part++;
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            const oric_access *x = &fn->accesses[fn->nodes[i].access], *end = x + fn->nodes[i].access_count;
            int waits = lets_others_run(&fn->nodes[i]); /* what it makes is there when it has waited */
            for (; x < end; x++)
                for (uint32_t u = x->unit; u < x->unit + x->count; u++) {
                    if (!oric_is_uniform(fn, u)) continue;
                    name(a, a->row[u], part + (waits && x->flags & ORIC_A_DEF));
                    if (!fn->apart[b]) continue;
                    put(of(a->there, a, a->row[u]), b);
                    if (x->flags & ORIC_A_DEF) put(of(a->written, a, a->row[u]), b);
                }
            part += waits;
        }
    }
}

static void add_live(apart *a, const uint64_t *live, int32_t b) {
    const oric_fn *fn = a->fn;
    for (uint32_t w = 0; w < fn->words; w++)
        for (uint64_t left = live[w]; left; left &= left - 1) {
            uint32_t unit = (uint32_t)fn->unit_of[64 * w + (uint32_t)__builtin_ctzll(left)];
            if (!oric_is_uniform(fn, unit)) continue;
            a->home[a->row[unit]] = LASTS;
            if (fn->apart[b]) put(of(a->there, a, a->row[unit]), b);
        }
}

/* The blocks on other ways than each block in which a unit is there; all, where nobody has looked at the ways. */
static void find_others(apart *a, uint32_t row) {
    const oric_fn *fn = a->fn;
    const uint64_t *there = of(a->there, a, row);
    uint64_t *out = of(a->others, a, row);
    for (int32_t b = 0; b < fn->block_count; b++) {
        if (!(there[b / 64] >> b % 64 & 1)) continue;
        size_t known = fn->block_count > MOST_BLOCKS ? 0 : (size_t)b;
        const uint64_t *behind = of(a->behind, a, known), *before = of(a->before, a, known);
        for (size_t w = 0; w < a->words; w++) out[w] |= fn->block_count > MOST_BLOCKS ? UINT64_MAX : ~(behind[w] | before[w]);
    }
}

static void tell(const apart *a, const oric_span *spans, void (*pair)(void *to, uint32_t a, uint32_t b), void *to) {
    for (uint32_t x = 0; x < a->count; x++) {
        if (a->home[x] != LASTS) continue;
        for (uint32_t y = 0; y < a->count; y++) {
            const oric_span *one = &spans[a->unit[x]], *other = &spans[a->unit[y]];
            int lasts = a->home[y] == LASTS;
            if (y == x || a->home[y] == NOWHERE || (lasts && y < x) || a->fn->unit_file[a->unit[x]] != a->fn->unit_file[a->unit[y]]) continue;
            if (one->start <= other->end && other->start <= one->end) continue; /* known already */
            if (meets(a->others + x * a->words, a->written + y * a->words, a->words) ||
                (lasts && meets(a->others + y * a->words, a->written + x * a->words, a->words)))
                pair(to, a->unit[x], a->unit[y]);
        }
    }
}

static int is_apart(const oric_fn *fn) {
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->apart[b]) return 1;
    return 0;
}

int oric_apart_pairs(const oric_fn *fn, const oric_span *spans, void (*pair)(void *to, uint32_t a, uint32_t b), void *to) {
    if (!is_apart(fn)) return 0;
    size_t blocks = (size_t)fn->block_count, units = 0, words = (blocks + 63) / 64;
    for (int32_t u = 0; u < fn->unit_count; u++) units += oric_is_uniform(fn, (uint32_t)u);
    apart a = {.fn = fn, .words = words};
    a.unit = calloc(units + 1, sizeof *a.unit), a.row = calloc((size_t)fn->unit_count + 1, sizeof *a.row);
    a.order = calloc(blocks, sizeof *a.order), a.place = calloc(blocks, sizeof *a.place), a.home = calloc(units + 1, sizeof *a.home);
    size_t sets = fn->block_count > MOST_BLOCKS ? 1 : blocks;
    a.behind = calloc(sets * words, sizeof *a.behind), a.before = calloc(sets * words, sizeof *a.before);
    a.there = calloc(units * words + 1, sizeof *a.there), a.written = calloc(units * words + 1, sizeof *a.written);
    a.others = calloc(units * words + 1, sizeof *a.others);
    int failed = !a.unit || !a.row || !a.order || !a.place || !a.home || !a.behind || !a.before || !a.there || !a.written || !a.others || find_order(&a);
    if (!failed) {
        for (uint32_t u = 0; u < (uint32_t)fn->unit_count; u++)
            if (oric_is_uniform(fn, u)) a.unit[a.count] = u, a.row[u] = a.count++;
        if (fn->block_count <= MOST_BLOCKS) find_ways(&a);
        walk(&a);
        for (int32_t b = 0; b < fn->block_count; b++) {
            add_live(&a, fn->live_in + (size_t)b * fn->words, b);
            add_live(&a, fn->live_out + (size_t)b * fn->words, b);
        }
        for (uint32_t row = 0; row < a.count; row++)
            if (a.home[row] == LASTS) find_others(&a, row);
        tell(&a, spans, pair, to);
    }
    free(a.unit), free(a.row), free(a.order), free(a.place), free(a.home), free(a.behind), free(a.before), free(a.there), free(a.written), free(a.others);
    return failed ? -1 : 0;
}
