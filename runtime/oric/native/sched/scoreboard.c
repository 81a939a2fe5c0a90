#include "sched/scoreboard.h"

#include <stdlib.h>
#include <string.h>

#include "tables/latency.h"
#include "tables/thresholds.h"

static void clear_boards(oric_pending *state, uint8_t mask) {
    uint8_t keep = (uint8_t)~mask;
    for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) state->write[u] &= keep;
    for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) state->read[u] &= keep;
}

static uint8_t all_boards(const oric_pending *state) {
    uint8_t mask = 0;
    for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) mask |= state->write[u] | state->read[u];
    return mask;
}

static uint8_t wait_mask(const oric_pending *state, const oric_fn *fn, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    uint8_t mask = node->flags & ORIC_I_DRAIN ? all_boards(state) : 0;
    if (oric_touches_memory(node) || node->flags & ORIC_I_COMPLETES) mask |= state->read[ORIC_U_MEMORY];
    for (; a < end; a++)
        for (uint32_t u = a->unit; u < a->unit + a->count; u++) mask |= state->write[u] | (a->flags & ORIC_A_DEF ? state->read[u] : 0);
    return mask;
}

static void set_boards(oric_pending *state, const oric_fn *fn, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    uint8_t write = node->write_barrier < ORIC_SCOREBOARDS ? (uint8_t)(1 << node->write_barrier) : 0;
    uint8_t read = node->read_barrier < ORIC_SCOREBOARDS ? (uint8_t)(1 << node->read_barrier) : 0;
    if (node->flags & ORIC_I_COMPLETES) state->read[ORIC_U_MEMORY] |= read;
    for (; a < end; a++)
        for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
            if (a->flags & ORIC_A_DEF) state->write[u] |= write;
            else if (oric_is_late(fn, node, a)) state->read[u] |= read;
        }
}

uint8_t oric_pending_step(oric_pending *state, const oric_fn *fn, const oric_node *node) {
    uint8_t mask = wait_mask(state, fn, node);
    if (mask) clear_boards(state, mask);
    if (node->write_barrier < ORIC_SCOREBOARDS || node->read_barrier < ORIC_SCOREBOARDS) set_boards(state, fn, node);
    return mask;
}

/* -- assignment -- */

typedef struct {
    int32_t access[ORIC_PHYSICAL_UNITS]; /* next position that reads or writes the unit */
    int32_t write[ORIC_PHYSICAL_UNITS];
} next_use;

typedef struct {
    int32_t wait; /* position of the first wait for it, when it is in use */
    int32_t done; /* expected time of completion */
    int32_t last; /* position of the last use */
} board;

/* Units that some later instruction may write, at the exit of each block: a late read of a register that nobody
 * writes any more needs no barrier. */
static uint8_t *written_later(const oric_fn *fn) {
    size_t blocks = (size_t)fn->block_count;
    uint8_t *later = calloc(2 * blocks + 1, ORIC_PHYSICAL_UNITS), *in = later + blocks * ORIC_PHYSICAL_UNITS;
    if (!later) return NULL;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t b = fn->block_count; b-- > 0;) {
            uint8_t *out = later + (size_t)b * ORIC_PHYSICAL_UNITS, before[ORIC_PHYSICAL_UNITS];
            uint8_t *entry = in + (size_t)b * ORIC_PHYSICAL_UNITS;
            for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++)
                for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) out[u] |= in[(size_t)fn->succs[s] * ORIC_PHYSICAL_UNITS + u];
            memcpy(before, entry, sizeof before);
            for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) entry[u] |= out[u];
            for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
                const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
                for (; a < end; a++)
                    for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++) entry[u] = 1;
                if (oric_touches_memory(&fn->nodes[i]) || fn->nodes[i].flags & ORIC_I_COMPLETES) entry[ORIC_U_MEMORY] = 1;
            }
            changed |= memcmp(before, entry, sizeof before) != 0;
        }
    }
    return later;
}

static int32_t nearest(int32_t a, int32_t b) { return a < b ? a : b; }

/* Positions of the first wait for the results (*wait) and of the first overwriting of a late source that no wait for
 * the results comes before (*overwrite); `end` = behind the block, INT32_MAX = never. */
static void find_uses(const oric_fn *fn, const oric_node *node, const next_use *next, const uint8_t *later, int32_t end,
                      int32_t *wait, int32_t *overwrite) {
    const oric_access *first = &fn->accesses[node->access], *stop = first + node->access_count;
    int results = 0;
    *wait = end, *overwrite = INT32_MAX;
    for (const oric_access *a = first; a < stop; a++)
        for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++) results = 1, *wait = nearest(*wait, next->access[u]);
    if (!(node->flags & ORIC_I_VARIABLE) || !results) *wait = INT32_MAX;
    for (const oric_access *a = first; a < stop; a++) {
        if (!oric_is_late(fn, node, a)) continue;
        for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
            if (next->write[u] < end) *overwrite = nearest(*overwrite, next->write[u]);
            else if (later[u]) *overwrite = nearest(*overwrite, end);
        }
    }
    if (node->flags & ORIC_I_COMPLETES) {
        if (next->write[ORIC_U_MEMORY] < end) *overwrite = next->write[ORIC_U_MEMORY];
        else if (later[ORIC_U_MEMORY]) *overwrite = end;
    } else if (*wait < end && *wait <= *overwrite) {
        *overwrite = INT32_MAX; /* the results are waited for first */
    }
}

static void note_uses(const oric_fn *fn, const oric_node *node, int32_t i, next_use *next) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    for (; a < end; a++)
        for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
            next->access[u] = i;
            if (a->flags & ORIC_A_DEF) next->write[u] = i;
        }
    if (oric_touches_memory(node) || node->flags & ORIC_I_COMPLETES) next->write[ORIC_U_MEMORY] = i;
}

/* How many cycles somebody waits for nothing when the scoreboard takes one more. */
static int32_t sharing_cost(const board *b, int32_t wait, int32_t done) {
    int32_t first = nearest(b->wait, wait), at = first * ORIC_BOARD_PACE;
    int32_t theirs = wait < b->wait && b->done > at ? b->done - at : 0;
    int32_t mine = b->wait < wait && done > at ? done - at : 0;
    return theirs + mine;
}

/* A scoreboard for something that is waited for at `wait` and done at about `done`. */
static uint8_t take_board(board *boards, int32_t i, int32_t wait, int32_t done) {
    int best = 0;
    int64_t best_cost = INT64_MAX;
    for (int s = 0; s < ORIC_SCOREBOARDS; s++) {
        int64_t cost;
        if (boards[s].wait <= i) cost = 1 + ORIC_SCOREBOARDS + boards[s].last; /* idle: the one that has been so for longest */
        else if (boards[s].wait == wait && abs(boards[s].done - done) < ORIC_BOARD_SIMILAR) cost = 0;
        else cost = ((int64_t)1 << 32) + sharing_cost(&boards[s], wait, done);
        if (cost < best_cost) best = s, best_cost = cost;
    }
    if (boards[best].wait > i) {
        boards[best].wait = nearest(boards[best].wait, wait);
        if (done > boards[best].done) boards[best].done = done;
    } else {
        boards[best].wait = wait, boards[best].done = done;
    }
    boards[best].last = i;
    return (uint8_t)best;
}

static void assign_block(oric_fn *fn, int32_t b, const uint8_t *later, int32_t *wait, int32_t *overwrite) {
    int32_t count = (int32_t)(fn->block_first[b + 1] - fn->block_first[b]);
    oric_node *nodes = &fn->nodes[fn->block_first[b]];
    int32_t read_delay = oric_models[fn->isa].late_read + oric_models[fn->isa].settle;
    next_use next;
    board boards[ORIC_SCOREBOARDS];
    for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) next.access[u] = next.write[u] = count;
    for (int s = 0; s < ORIC_SCOREBOARDS; s++) boards[s] = (board){-1, 0, s - ORIC_SCOREBOARDS};
    for (int32_t i = count; i-- > 0;) {
        find_uses(fn, &nodes[i], &next, later, count, &wait[i], &overwrite[i]);
        note_uses(fn, &nodes[i], i, &next);
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t now = i * ORIC_BOARD_PACE;
        nodes[i].write_barrier = nodes[i].read_barrier = ORIC_NO_SCOREBOARD;
        if (wait[i] != INT32_MAX) nodes[i].write_barrier = take_board(boards, i, wait[i], now + oric_classes[fn->isa][nodes[i].klass].estimate);
        if (overwrite[i] != INT32_MAX) nodes[i].read_barrier = take_board(boards, i, overwrite[i], now + read_delay);
    }
}

int oric_assign_scoreboards(oric_fn *fn) {
    uint32_t longest = 1;
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->block_first[b + 1] - fn->block_first[b] > longest) longest = fn->block_first[b + 1] - fn->block_first[b];
    int32_t *wait = malloc(longest * sizeof *wait), *overwrite = malloc(longest * sizeof *overwrite);
    uint8_t *later = written_later(fn);
    int failed = !wait || !overwrite || !later;
    for (int32_t b = 0; !failed && b < fn->block_count; b++) assign_block(fn, b, later + (size_t)b * ORIC_PHYSICAL_UNITS, wait, overwrite);
    free(wait), free(overwrite), free(later);
    return failed ? -1 : 0;
}

/* -- what is pending at the boundaries -- */

typedef struct {
    oric_pending gen;
    uint8_t access[ORIC_PHYSICAL_UNITS]; /* units that the block reads or writes: a pending write is waited for */
    uint8_t write[ORIC_PHYSICAL_UNITS];  /* units that it writes: a pending read is waited for */
    uint8_t boards;                      /* scoreboards that it waits for in any case */
} transfer;

static void summarize(const oric_fn *fn, int32_t b, transfer *t) {
    memset(t, 0, sizeof *t);
    for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
        const oric_node *node = &fn->nodes[i];
        const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
        t->boards |= oric_pending_step(&t->gen, fn, node);
        if (node->flags & ORIC_I_DRAIN) t->boards |= (1 << ORIC_SCOREBOARDS) - 1;
        if (oric_touches_memory(node) || node->flags & ORIC_I_COMPLETES) t->write[ORIC_U_MEMORY] = 1;
        for (; a < end; a++)
            for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
                t->access[u] = 1;
                if (a->flags & ORIC_A_DEF) t->write[u] = 1;
            }
    }
}

/* target |= gen | (in without what the block waits for); returns whether target grew. */
static int flow(oric_pending *target, const oric_pending *in, const transfer *t) {
    uint8_t keep = (uint8_t)~t->boards, grown = 0;
    for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) {
        uint8_t write = t->gen.write[u] | (t->access[u] ? 0 : in->write[u] & keep);
        uint8_t read = t->gen.read[u] | (t->write[u] ? 0 : in->read[u] & keep);
        grown |= (write & ~target->write[u]) | (read & ~target->read[u]);
        target->write[u] |= write;
        target->read[u] |= read;
    }
    return grown != 0;
}

oric_pending *oric_pending_at_entries(const oric_fn *fn) {
    size_t blocks = (size_t)fn->block_count + 1;
    oric_pending *entries = calloc(blocks, sizeof *entries);
    transfer *transfers = malloc(blocks * sizeof *transfers);
    uint8_t *queued = calloc(blocks, 1);
    int32_t *queue = malloc(blocks * sizeof *queue), head = 0, count = fn->block_count;
    if (entries && transfers && queued && queue) {
        for (int32_t b = 0; b < fn->block_count; b++) summarize(fn, b, &transfers[b]), queue[b] = b, queued[b] = 1;
        while (count) {
            int32_t b = queue[head];
            head = (head + 1) % fn->block_count, count--, queued[b] = 0;
            for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) {
                int32_t to = fn->succs[s];
                if (flow(&entries[to], &entries[b], &transfers[b]) && !queued[to])
                    queue[(head + count++) % fn->block_count] = to, queued[to] = 1;
            }
        }
    } else {
        free(entries), entries = NULL;
    }
    free(transfers), free(queued), free(queue);
    return entries;
}
