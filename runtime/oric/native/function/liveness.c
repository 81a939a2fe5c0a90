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

/* --- which writes end the life of a value: a walk through a block from its end
 *
 * A value that is read under one guard only is not needed where that guard does not hold: a write under the guard, with the
 * predicate as it is, ends its life as one without a guard does. At the beginning of a block it is needed, whatever reads it. */

enum { NOT_LIVE = 0, LIVE = 1 }; /* keys; larger ones are of guards: live where they hold */

typedef struct {
    uint32_t key;
    uint32_t state; /* of the predicate of the guard */
    int32_t block;  /* the rest is of this block, and nothing is known of others */
} need;

typedef struct {
    const oric_fn *fn;
    need *needs;
    uint32_t *states; /* those that predicates have, as their writes are counted */
    uint32_t writes;
    int32_t block;
    const uint64_t *out; /* live at the end of the block; NULL: nothing */
} walk;

static int walk_init(walk *w, const oric_fn *fn) {
    size_t units = (size_t)fn->unit_count + 1;
    *w = (walk){fn, malloc(units * sizeof *w->needs), calloc(units, sizeof *w->states), 0, -1, NULL};
    if (w->needs) memset(w->needs, 0xff, units * sizeof *w->needs);
    return w->needs && w->states ? 0 : -1;
}

static void walk_free(walk *w) { free(w->needs), free(w->states); }

static void walk_enter(walk *w, int32_t block, const uint64_t *out) { w->block = block, w->out = out; }

static need *need_of(const walk *w, uint32_t unit) {
    need *found = &w->needs[unit];
    if (found->block != w->block) {
        int32_t g = w->fn->global_of[unit];
        *found = (need){w->out && g >= 0 && has_bit(w->out, g) ? LIVE : NOT_LIVE, 0, w->block};
    }
    return found;
}

/* The key of what a node does under its guard: LIVE without one, and for one that never holds. */
static uint32_t key_of(const oric_fn *fn, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    for (; node->flags & ORIC_I_GUARDED && a < end; a++)
        if (a->flags & ORIC_A_GUARD) return 2 * a->unit + 2 + (a->flags & ORIC_A_NEGATED ? 1 : 0);
    return LIVE;
}

static int is_under(const walk *w, const need *n, uint32_t key) {
    return key != LIVE && n->key == key && n->state == w->states[key / 2 - 1];
}

/* Go from behind a node to before it, and say of its writes which end the life of what they write (KILL). */
static void walk_back(walk *w, const oric_node *node) {
    oric_access *a = &w->fn->accesses[node->access], *end = a + node->access_count;
    uint32_t key = key_of(w->fn, node);
    for (oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; p->flags & ORIC_A_DEF && u < p->unit + p->count; u++) w->states[u] = ++w->writes;
    for (oric_access *p = a; p < end; p++) {
        if (!(p->flags & ORIC_A_DEF)) continue;
        int kills = 1;
        for (uint32_t u = p->unit; node->flags & ORIC_I_GUARDED && u < p->unit + p->count; u++) {
            const need *n = need_of(w, u);
            kills &= n->key == NOT_LIVE || is_under(w, n, key);
        }
        p->flags = (uint8_t)(kills ? p->flags | ORIC_A_KILL : p->flags & ~ORIC_A_KILL);
        for (uint32_t u = p->unit; kills && u < p->unit + p->count; u++) need_of(w, u)->key = NOT_LIVE;
    }
    for (oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++) {
            need *n = need_of(w, u);
            if (is_under(w, n, key) && !(p->flags & ORIC_A_GUARD)) continue;
            n->key = n->key == NOT_LIVE && !(p->flags & ORIC_A_GUARD) ? key : LIVE;
            n->state = n->key == LIVE ? 0 : w->states[key / 2 - 1];
        }
}

/* The sets of a function while its liveness is found: for each block `words` words. Few of them are not 0 where there are many, so
 * only those wait to be looked at: word w of block b is the number b * words + w. */
typedef struct {
    oric_fn *fn;
    uint64_t *in, *out;     /* live; `in` begins as what a block reads before it writes it */
    uint64_t *kill;         /* what it writes without a guard */
    uint64_t *written;      /* what it writes */
    uint64_t *reached;      /* live at its entry and written on some way there */
    uint8_t *guarded;       /* whether it has writes under guards */
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
static void note_block(sets *s, walk *w, int32_t b) {
    const oric_fn *fn = s->fn;
    size_t row = (size_t)b * fn->words;
    uint64_t *in = s->in + row, *kill = s->kill + row, *written = s->written + row;
    walk_enter(w, b, NULL);
    for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        walk_back(w, &fn->nodes[i]);
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; p->flags & ORIC_A_DEF && u < p->unit + p->count; u++) {
                int32_t g = fn->global_of[u];
                if (g < 0) continue;
                set_bit(written, g);
                if (p->flags & ORIC_A_KILL) clear_bit(in, g);
                if (fn->nodes[i].flags & ORIC_I_GUARDED) s->guarded[b] = 1;
                else set_bit(kill, g);
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

/* A write kills, too, when nothing that is needed was there before. */
static void mark_fresh(oric_fn *fn, const uint64_t *live_in, int32_t *stamp, int32_t b) {
    for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
        oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++) {
            if (!(a->flags & ORIC_A_DEF)) continue;
            int fresh = 1;
            for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
                int32_t g = fn->global_of[u];
                if (stamp[u] == b + 1 || (g >= 0 && has_bit(live_in, g))) fresh = 0;
                stamp[u] = b + 1;
            }
            if (fresh) a->flags |= ORIC_A_KILL;
        }
    }
}

/* Where no write has a guard all of them were found to kill when the block was noted. */
static void mark_kills(sets *s, walk *w, int32_t *stamp) {
    oric_fn *fn = s->fn;
    for (int32_t b = 0; b < fn->block_count; b++) {
        if (!s->guarded[b]) continue;
        walk_enter(w, b + fn->block_count, s->out + (size_t)b * fn->words);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) walk_back(w, &fn->nodes[i]);
        mark_fresh(fn, s->in + (size_t)b * fn->words, stamp, b);
    }
}

int oric_liveness(oric_fn *fn) {
    free(fn->global_of), free(fn->unit_of), free(fn->live_in), free(fn->live_out);
    fn->global_of = fn->unit_of = NULL;
    fn->live_in = fn->live_out = NULL;
    if (find_globals(fn)) return -1;
    size_t words = (size_t)fn->block_count * fn->words + 1;
    sets s = {.fn = fn, .in = calloc(words, 8), .out = calloc(words, 8), .kill = calloc(words, 8), .written = calloc(words, 8),
              .reached = calloc(words, 8), .guarded = calloc((size_t)fn->block_count + 1, 1), .waits = calloc(words, 1)};
    walk w;
    int32_t *stamp = calloc((size_t)fn->unit_count + 1, sizeof *stamp);
    fn->live_in = s.in, fn->live_out = s.out;
    s.failed = walk_init(&w, fn) || !s.in || !s.out || !s.kill || !s.written || !s.reached || !s.guarded || !s.waits || !stamp;
    if (!s.failed) {
        for (int32_t b = 0; b < fn->block_count; b++) note_block(&s, &w, b);
        solve_live(&s);
        solve_reached(&s);
        mark_kills(&s, &w, stamp);
    }
    walk_free(&w);
    free(s.kill), free(s.written), free(s.reached), free(s.guarded), free(s.waits), free(s.stack), free(stamp);
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
