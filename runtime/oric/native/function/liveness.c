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

/* The sets of a function while its liveness is found: for each block `words` words. Few of them are not 0 where there are many, so
 * only those wait to be looked at: word w of block b is the number b * words + w. */
typedef struct {
    oric_fn *fn;
    uint64_t *in, *out;     /* live; `in` begins as what a block reads before it writes it */
    uint64_t *kill;         /* what it writes whatever its guards say */
    uint64_t *written;      /* what it writes */
    uint64_t *reached;      /* live at its entry and written on some way there */
    uint8_t *waits;
    size_t *stack;
    size_t count, room;
    int failed;
} sets;

static void push(sets *s, size_t word) {
    if (s->waits[word]) return;
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 256;
        size_t *grown = realloc(s->stack, room * sizeof *grown);
        if (!grown) {
            s->failed = 1;
            return;
        }
        s->stack = grown, s->room = room;
    }
    s->waits[word] = 1;
    s->stack[s->count++] = word;
}

static size_t pop(sets *s) {
    size_t word = s->stack[--s->count];
    s->waits[word] = 0;
    return word;
}

/* Note what a block reads first and what it writes. */
static void note_block(sets *s, int32_t b) {
    const oric_fn *fn = s->fn;
    size_t row = (size_t)b * fn->words;
    uint64_t *in = s->in + row, *kill = s->kill + row, *written = s->written + row;
    for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; p->flags & ORIC_A_DEF && u < p->unit + p->count; u++) {
                int32_t g = fn->global_of[u];
                if (g < 0) continue;
                set_bit(written, g);
                if (!(fn->nodes[i].flags & ORIC_I_GUARDED)) set_bit(kill, g), clear_bit(in, g);
            }
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++)
                if (fn->global_of[u] >= 0) set_bit(in, fn->global_of[u]);
    }
}

/* Backward: in |= out & ~kill, out = union of the successors' in. */
static void solve_live(sets *s) {
    const oric_fn *fn = s->fn;
    for (size_t word = 0; word < (size_t)fn->block_count * fn->words; word++)
        if (s->in[word]) push(s, word);
    while (s->count) {
        size_t word = pop(s), b = word / fn->words, w = word % fn->words;
        for (uint32_t p = fn->pred_first[b]; p < fn->pred_first[b + 1]; p++) {
            size_t from = (size_t)fn->preds[p] * fn->words + w;
            s->out[from] |= s->in[word];
            uint64_t fresh = s->out[from] & ~s->kill[from] & ~s->in[from];
            s->in[from] |= fresh;
            if (fresh) push(s, from);
        }
    }
}

/* Forward: what is live at an entry counts only where some value comes. A value that is written on a way and live at its end is
 * live from where it is written last on that way, so it is enough to follow what is live. */
static void solve_reached(sets *s) {
    const oric_fn *fn = s->fn;
    for (size_t word = 0; word < (size_t)fn->block_count * fn->words; word++)
        if (s->written[word] & s->out[word]) push(s, word);
    while (s->count) {
        size_t word = pop(s), b = word / fn->words, w = word % fn->words;
        for (uint32_t e = fn->succ_first[b]; e < fn->succ_first[b + 1]; e++) {
            size_t to = (size_t)fn->succs[e] * fn->words + w;
            uint64_t fresh = (s->written[word] | s->reached[word]) & s->in[to] & ~s->reached[to];
            s->reached[to] |= fresh;
            if (fresh) push(s, to);
        }
    }
    for (size_t word = 0; word < (size_t)fn->block_count * fn->words; word++) {
        s->in[word] &= s->reached[word];
        s->out[word] &= s->reached[word] | s->written[word];
    }
}

/* A definition kills when it is unguarded or when nothing that is needed was there before. */
static void mark_kills(oric_fn *fn, const uint64_t *live_in, int32_t *stamp) {
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
            for (; a < end; a++) {
                a->flags &= (uint8_t)~ORIC_A_KILL;
                if (!(a->flags & ORIC_A_DEF)) continue;
                int fresh = 1;
                for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
                    int32_t g = fn->global_of[u];
                    if (stamp[u] == b + 1 || (g >= 0 && has_bit(live_in + (size_t)b * fn->words, g))) fresh = 0;
                    stamp[u] = b + 1;
                }
                if (fresh || !(fn->nodes[i].flags & ORIC_I_GUARDED)) a->flags |= ORIC_A_KILL;
            }
        }
}

int oric_liveness(oric_fn *fn) {
    free(fn->global_of), free(fn->unit_of), free(fn->live_in), free(fn->live_out);
    fn->global_of = fn->unit_of = NULL;
    fn->live_in = fn->live_out = NULL;
    if (find_globals(fn)) return -1;
    size_t words = (size_t)fn->block_count * fn->words + 1;
    sets s = {.fn = fn, .in = calloc(words, 8), .out = calloc(words, 8), .kill = calloc(words, 8), .written = calloc(words, 8),
              .reached = calloc(words, 8), .waits = calloc(words, 1)};
    int32_t *stamp = calloc((size_t)fn->unit_count + 1, sizeof *stamp);
    fn->live_in = s.in, fn->live_out = s.out;
    s.failed = !s.in || !s.out || !s.kill || !s.written || !s.reached || !s.waits || !stamp;
    if (!s.failed) {
        for (int32_t b = 0; b < fn->block_count; b++) note_block(&s, b);
        solve_live(&s);
        solve_reached(&s);
        mark_kills(fn, s.in, stamp);
    }
    free(s.kill), free(s.written), free(s.reached), free(s.waits), free(s.stack), free(stamp);
    return s.failed ? -1 : 0;
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
            if (!(fn->nodes[i].flags & ORIC_I_DRAIN)) { /* what a callee may change is in use by none of what is here */
                oric_liveset_define(&live, fn, &fn->nodes[i]);
                oric_liveset_peak(&live, peak);
            }
            oric_liveset_step(&live, fn, &fn->nodes[i]);
            oric_liveset_peak(&live, peak);
        }
    }
    oric_liveset_free(&live);
    return 0;
}
