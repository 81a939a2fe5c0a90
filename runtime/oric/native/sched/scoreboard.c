#include "sched/scoreboard.h"

#include <stdlib.h>
#include <string.h>

#include "tables/latency.h"
#include "tables/knobs.h"

/* Threads that are elsewhere in the same stretch may write a uniform register as soon as these threads let them run: in another block,
 * or in the same one, to which they come later. */
static void find_contested(const oric_fn *fn, oric_places *places) {
    memset(places->contested, 0, sizeof places->contested);
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->block_first[b]; fn->apart[b] && i < fn->block_first[b + 1]; i++) {
            const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
            for (; a < end; a++)
                for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u >= ORIC_U_UR && u < ORIC_U_MEMORY && u < a->unit + a->count; u++)
                    places->contested[places->of[u]] = 1;
        }
}

void oric_places_find(const oric_fn *fn, oric_places *places) {
    uint8_t used[ORIC_PHYSICAL_UNITS] = {0};
    used[ORIC_U_MEMORY] = 1;
    for (int32_t i = 0; i < fn->access_count; i++) memset(used + fn->accesses[i].unit, 1, fn->accesses[i].count);
    places->count = 0;
    for (int u = 0; u < ORIC_PHYSICAL_UNITS; u++) {
        places->of[u] = (uint16_t)places->count;
        places->count += used[u];
    }
    places->memory = places->of[ORIC_U_MEMORY];
    find_contested(fn, places);
}

static int class_has(const oric_fn *fn, const oric_node *node, uint16_t flag) { return (oric_classes[fn->isa][node->klass].flags & flag) != 0; }

static void clear_boards(oric_pending *state, int32_t count, uint8_t mask) {
    uint8_t keep = (uint8_t)~mask;
    for (int32_t u = 0; u < count; u++) state->write[u] &= keep;
    for (int32_t u = 0; u < count; u++) state->read[u] &= keep;
}

static uint8_t all_boards(const oric_pending *state, int32_t count) {
    uint8_t mask = 0;
    for (int32_t u = 0; u < count; u++) mask |= state->write[u] | state->read[u];
    return mask;
}

void oric_pending_load(oric_pending *state, const uint8_t *entries, const oric_places *places, int32_t b) {
    size_t count = (size_t)places->count;
    const uint8_t *entry = entries + ORIC_PENDING * (size_t)b * count;
    memcpy(state->write, entry, count);
    memcpy(state->read, entry + count, count);
    memcpy(state->queue, entry + 2 * count, count);
}

static uint8_t wait_mask(const oric_pending *state, const oric_fn *fn, const oric_places *places, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    uint8_t mask = node->flags & ORIC_I_DRAIN ? all_boards(state, places->count) : 0;
    mask |= state->write[places->memory]; /* of an instruction that all wait for */
    for (uint32_t u = places->of[ORIC_U_UR]; node->flags & ORIC_I_PARTS && u < places->of[ORIC_U_MEMORY]; u++)
        if (places->contested[u]) mask |= state->write[u] | state->read[u];
    for (uint32_t u = places->of[ORIC_U_R]; class_has(fn, node, ORIC_C_RELEASES) && u < places->of[ORIC_U_P]; u++) mask |= state->write[u] | state->read[u];
    if (oric_touches_memory(node) || node->flags & ORIC_I_COMPLETES) mask |= state->read[places->memory];
    for (; a < end; a++)
        for (uint32_t u = places->of[a->unit], stop = u + a->count; u < stop; u++)
            mask |= state->write[u] | (a->flags & ORIC_A_DEF && !oric_follows_in_queue(fn, node, state->queue[u]) ? state->read[u] : 0);
    return mask;
}

static void note_read(oric_pending *state, uint32_t u, uint8_t read, uint8_t queue) {
    state->queue[u] = !state->read[u] || state->queue[u] == queue ? queue : ORIC_NO_QUEUE;
    state->read[u] |= read;
}

static void set_boards(oric_pending *state, const oric_fn *fn, const oric_places *places, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    uint8_t write = node->write_barrier < ORIC_SCOREBOARDS ? (uint8_t)(1 << node->write_barrier) : 0;
    uint8_t read = node->read_barrier < ORIC_SCOREBOARDS ? (uint8_t)(1 << node->read_barrier) : 0;
    uint8_t queue = oric_classes[fn->isa][node->klass].queue;
    if (node->flags & ORIC_I_COMPLETES) state->read[places->memory] |= read | write;
    if (class_has(fn, node, ORIC_C_RELEASES)) state->write[places->memory] |= write;
    for (; a < end; a++)
        for (uint32_t u = places->of[a->unit], stop = u + a->count; u < stop; u++) {
            if (a->flags & ORIC_A_DEF) state->write[u] |= write;
            else if (oric_is_late(fn, node, a)) note_read(state, u, read, fn->unit_file[a->unit] == ORIC_FILE_R ? queue : ORIC_NO_QUEUE);
        }
}

uint8_t oric_pending_step(oric_pending *state, const oric_fn *fn, const oric_places *places, const oric_node *node) {
    uint8_t mask = wait_mask(state, fn, places, node);
    if (mask) clear_boards(state, places->count, mask);
    if (node->write_barrier < ORIC_SCOREBOARDS || node->read_barrier < ORIC_SCOREBOARDS) set_boards(state, fn, places, node);
    return mask;
}

/* -- assignment -- */

typedef struct {
    int32_t access[ORIC_PHYSICAL_UNITS]; /* place -> next position that reads or writes the unit */
    int32_t write[ORIC_PHYSICAL_UNITS];
} next_use;

typedef struct {
    int32_t wait; /* position of the first wait for it, when it is in use */
    int32_t done; /* expected time of completion */
    int32_t last; /* position of the last use */
    int32_t before; /* blocks in front have left something in it, and this one has added nothing */
} board;

enum { WORDS = (ORIC_PHYSICAL_UNITS + 63) / 64 };
typedef struct {
    uint64_t words[WORDS];
} place_set;

typedef struct {
    board boards[ORIC_SCOREBOARDS];
    int first;     /* the first one that may be used freely */
    int32_t end;   /* position behind the block */
    int32_t clock; /* expected time at the position that is looked at */
    int32_t pace, scarce, similar; /* knobs: ORIC_KNOB_BOARD_* */
    place_set results[ORIC_SCOREBOARDS]; /* what is written by what each has got */
} board_state;

static inline void add_place(place_set *set, uint32_t place) { set->words[place / 64] |= (uint64_t)1 << place % 64; }
static inline int has_place(const place_set *set, uint32_t place) { return set->words[place / 64] >> place % 64 & 1; }

static void writes_of(const oric_fn *fn, const oric_places *places, int32_t b, place_set *out) {
    for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++)
            for (uint32_t u = places->of[a->unit], stop = u + a->count; a->flags & ORIC_A_DEF && u < stop; u++) add_place(out, u);
        if (oric_touches_memory(&fn->nodes[i]) || fn->nodes[i].flags & ORIC_I_COMPLETES) add_place(out, (uint32_t)places->memory);
        if (class_has(fn, &fn->nodes[i], ORIC_C_RELEASES))
            for (uint32_t u = places->of[ORIC_U_R]; u < places->of[ORIC_U_P]; u++) add_place(out, u);
    }
}

/* Places of units that some later instruction may write, at the exit of each block: a late read of a register that nobody
 * writes any more needs no barrier. */
static place_set *written_later(const oric_fn *fn, const oric_places *places) {
    size_t blocks = (size_t)fn->block_count;
    place_set *later = calloc(2 * blocks + 1, sizeof *later), *in = later + blocks;
    int32_t words = (places->count + 63) / 64;
    if (!later) return NULL;
    for (int32_t b = 0; b < fn->block_count; b++) writes_of(fn, places, b, &in[b]);
    for (int32_t u = 0; u < places->count; u++)
        for (int32_t b = 0; places->contested[u] && b < fn->block_count; b++) add_place(&later[b], (uint32_t)u);
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t b = fn->block_count; b-- > 0;)
            for (int32_t w = 0; w < words; w++) {
                uint64_t out = later[b].words[w];
                for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) out |= in[fn->succs[s]].words[w];
                changed |= (out & ~in[b].words[w]) != 0;
                later[b].words[w] = out;
                in[b].words[w] |= out;
            }
    }
    return later;
}

static int32_t nearest(int32_t a, int32_t b) { return a < b ? a : b; }

/* Whether an instruction writes what it reads, so that who overwrites it waits for its result. */
static int writes_itself(const oric_access *first, const oric_access *stop, uint32_t unit) {
    for (const oric_access *a = first; a < stop; a++)
        if (a->flags & ORIC_A_DEF && a->unit <= unit && unit < a->unit + a->count) return 1;
    return 0;
}

/* Whether the instruction so many places behind this one overwrites what it reads without a wait. */
static int follows(const oric_fn *fn, const oric_node *node, const oric_access *a, int32_t distance) {
    return fn->unit_file[a->unit] == ORIC_FILE_R && oric_follows_in_queue(fn, node + distance, oric_classes[fn->isa][node->klass].queue);
}

/* Positions of the first wait for the results (*wait) and of the first overwriting of a late source that no wait for
 * the results comes before (*overwrite); `end` = behind the block, INT32_MAX = never. */
static void find_uses(const oric_fn *fn, const oric_places *places, const oric_node *node, int32_t i, const next_use *next,
                      const place_set *later, int32_t end, int32_t *wait, int32_t *overwrite) {
    const oric_access *first = &fn->accesses[node->access], *stop = first + node->access_count;
    int results = 0;
    *wait = end, *overwrite = INT32_MAX;
    for (const oric_access *a = first; a < stop; a++)
        for (uint32_t u = places->of[a->unit], last = u + a->count; a->flags & ORIC_A_DEF && u < last; u++)
            results = 1, *wait = nearest(*wait, next->access[u]);
    if (!(node->flags & ORIC_I_VARIABLE) || !results) *wait = INT32_MAX;
    for (const oric_access *a = first; a < stop; a++) {
        if (!oric_is_late(fn, node, a)) continue;
        for (uint32_t unit = a->unit, u = places->of[unit], last = u + a->count; u < last; u++, unit++) {
            if (*wait != INT32_MAX && writes_itself(first, stop, unit)) continue;
            if (next->write[u] < end) *overwrite = follows(fn, node, a, next->write[u] - i) ? *overwrite : nearest(*overwrite, next->write[u]);
            else if (has_place(later, u)) *overwrite = nearest(*overwrite, end);
        }
    }
    if (node->flags & ORIC_I_COMPLETES) {
        if (next->write[places->memory] < end) *overwrite = next->write[places->memory];
        else if (has_place(later, (uint32_t)places->memory)) *overwrite = end;
    } else if (*wait < end && *wait <= *overwrite) {
        *overwrite = INT32_MAX; /* the results are waited for first */
    }
}

static void note_uses(const oric_fn *fn, const oric_places *places, const oric_node *node, int32_t i, next_use *next) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    for (; a < end; a++)
        for (uint32_t u = places->of[a->unit], last = u + a->count; u < last; u++) {
            next->access[u] = i;
            if (a->flags & ORIC_A_DEF) next->write[u] = i;
        }
    if (oric_touches_memory(node) || node->flags & ORIC_I_COMPLETES) next->write[places->memory] = i;
    for (uint32_t u = places->of[ORIC_U_UR]; node->flags & ORIC_I_PARTS && u < places->of[ORIC_U_MEMORY]; u++)
        if (places->contested[u]) next->access[u] = next->write[u] = i;
    for (uint32_t u = places->of[ORIC_U_R]; class_has(fn, node, ORIC_C_RELEASES) && u < places->of[ORIC_U_P]; u++) next->access[u] = next->write[u] = i;
}

/* The clock at position i: what is waited for there is done. */
static void arrive(board_state *state, int32_t i) {
    state->clock += state->pace;
    for (const board *b = state->boards; b < state->boards + ORIC_SCOREBOARDS; b++)
        if (b->wait == i && b->done > state->clock) state->clock = b->done;
}

/* The time at a position behind i, when all that is waited for before it is done. */
static int32_t time_at(const board_state *state, int32_t i, int32_t position) {
    int32_t time = state->clock + (position - i) * state->pace;
    for (const board *b = state->boards; b < state->boards + ORIC_SCOREBOARDS; b++)
        if (b->wait > i && b->wait < position && b->done > time) time = b->done;
    return time;
}

/* How many cycles somebody waits for nothing when the scoreboard takes one more: who waits first waits for both. */
static int32_t sharing_cost(const board_state *state, const board *b, int32_t i, int32_t wait, int32_t done) {
    int32_t own = wait < b->wait ? done : b->done, other = wait < b->wait ? b->done : done;
    if (wait == b->wait) { /* behind the block either may be waited for first */
        if (wait < state->end) return 0;
        own = nearest(done, b->done), other = done + b->done - own;
    }
    int32_t at = time_at(state, i, nearest(b->wait, wait));
    if (own > at) at = own;
    return other > at ? other - at : 0;
}

/* What it costs to give the scoreboard something that is waited for at `wait` and done at about `done`: cycles, and which of several is
 * better. */
static int64_t board_cost(const board_state *state, const board *b, int32_t i, int idle, int32_t wait, int32_t done) {
    if (b->wait <= i) /* idle: the one that has been so for longest */
        return ((int64_t)(state->scarce / (idle * idle)) << 32) + 1 + ORIC_SCOREBOARDS + b->last;
    if (b->wait == wait && abs(b->done - done) < state->similar) return 0;
    return ((int64_t)sharing_cost(state, b, i, wait, done) << 32) + INT32_MAX;
}

/* A scoreboard for something that is waited for at `wait` and done at about `done`. */
static uint8_t take_board(board_state *state, int32_t i, int32_t wait, int32_t done) {
    int best = state->first, idle = 0;
    int64_t best_cost = INT64_MAX;
    for (int s = state->first; s < ORIC_SCOREBOARDS; s++) idle += state->boards[s].wait <= i || state->boards[s].before;
    for (int s = state->first; s < ORIC_SCOREBOARDS; s++) {
        int64_t cost = board_cost(state, &state->boards[s], i, idle, wait, done);
        if (cost < best_cost) best = s, best_cost = cost;
    }
    board *b = &state->boards[best];
    if (b->wait <= i) {
        *b = (board){wait, done, i, 0};
        memset(&state->results[best], 0, sizeof *state->results);
    }
    b->before = 0;
    b->wait = nearest(b->wait, wait);
    if (done > b->done) b->done = done;
    b->last = i;
    return (uint8_t)best;
}

/* The first scoreboard that may be used freely: groups of copies are counted by scoreboard 0. */
static int first_board(const oric_fn *fn) {
    for (int32_t i = 0; i < fn->insn_count; i++)
        if (class_has(fn, &fn->nodes[i], ORIC_C_GROUP_MARK)) return 1;
    return 0;
}

/* What is under way where a block begins, by scoreboard: in how many cycles it is there, and where. */
typedef struct {
    int32_t left[ORIC_SCOREBOARDS];
    place_set results[ORIC_SCOREBOARDS];
} under_way;

/* The boards as the blocks in front leave them; `next`: the first accesses of the block. */
static void begin_boards(board_state *state, const under_way *in, const next_use *next, int32_t places) {
    memcpy(state->results, in->results, sizeof state->results);
    for (int s = 0; s < ORIC_SCOREBOARDS; s++) {
        board *b = &state->boards[s];
        *b = (board){-1, 0, s - ORIC_SCOREBOARDS, in->left[s] > 0};
        if (!in->left[s]) continue;
        b->wait = state->end, b->done = in->left[s];
        for (int32_t u = 0; u < places; u++)
            if (has_place(&in->results[s], (uint32_t)u)) b->wait = nearest(b->wait, next->access[u]);
    }
}

/* A scoreboard has got what an instruction writes. */
static void note_results(const oric_fn *fn, const oric_places *places, const oric_node *node, place_set *results) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    for (; a < end; a++)
        for (uint32_t u = places->of[a->unit], last = u + a->count; a->flags & ORIC_A_DEF && u < last; u++) add_place(results, u);
}

/* What is under way at the end of a block is so at the beginning of those that follow; of those that come later in the order. */
static void pass_on(const oric_fn *fn, int32_t b, const board_state *state, under_way *at) {
    for (uint32_t k = fn->succ_first[b]; k < fn->succ_first[b + 1]; k++) {
        under_way *to = &at[fn->succs[k]];
        for (int s = 0; (int32_t)fn->succs[k] > b && s < ORIC_SCOREBOARDS; s++) {
            const board *from = &state->boards[s];
            if (from->wait < state->end || from->done <= state->clock) continue;
            if (from->done - state->clock > to->left[s]) to->left[s] = from->done - state->clock;
            for (int w = 0; w < WORDS; w++) to->results[s].words[w] |= state->results[s].words[w];
        }
    }
}

static void assign_block(oric_fn *fn, const oric_places *places, int32_t b, int first, const place_set *later, int32_t *wait, int32_t *overwrite,
                         under_way *at) {
    int32_t count = (int32_t)(fn->block_first[b + 1] - fn->block_first[b]);
    oric_node *nodes = &fn->nodes[fn->block_first[b]];
    int32_t read_delay = oric_models[fn->isa].late_read + oric_models[fn->isa].settle;
    next_use next;
    const int64_t *knobs = fn->knobs;
    board_state state = {
        .first = first,
        .end = count,
        .pace = (int32_t)knobs[ORIC_KNOB_BOARD_PACE],
        .scarce = (int32_t)knobs[ORIC_KNOB_BOARD_SCARCE],
        .similar = (int32_t)knobs[ORIC_KNOB_BOARD_SIMILAR],
    };
    for (int32_t u = 0; u < places->count; u++) next.access[u] = next.write[u] = count;
    for (int32_t i = count; i-- > 0;) {
        find_uses(fn, places, &nodes[i], i, &next, later, count, &wait[i], &overwrite[i]);
        note_uses(fn, places, &nodes[i], i, &next);
    }
    begin_boards(&state, &at[b], &next, places->count);
    for (int32_t i = 0; i < count; i++) {
        arrive(&state, i);
        nodes[i].write_barrier = nodes[i].read_barrier = ORIC_NO_SCOREBOARD;
        if (class_has(fn, &nodes[i], ORIC_C_RELEASES)) wait[i] = i + 1;
        int32_t done = state.clock + oric_classes[fn->isa][nodes[i].klass].estimate;
        if (wait[i] != INT32_MAX) {
            nodes[i].write_barrier = take_board(&state, i, wait[i], done);
            note_results(fn, places, &nodes[i], &state.results[nodes[i].write_barrier]);
        }
        uint8_t *told = class_has(fn, &nodes[i], ORIC_C_BY_WRITE) ? &nodes[i].write_barrier : &nodes[i].read_barrier;
        if (overwrite[i] != INT32_MAX) *told = take_board(&state, i, overwrite[i], state.clock + read_delay);
        if (!class_has(fn, &nodes[i], ORIC_C_GROUP_MARK)) continue;
        if (class_has(fn, &nodes[i], ORIC_C_LATE)) nodes[i].read_barrier = 0;
        else nodes[i].write_barrier = 0;
    }
    pass_on(fn, b, &state, at);
}

int oric_assign_scoreboards(oric_fn *fn, const oric_places *places) {
    uint32_t longest = 1;
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->block_first[b + 1] - fn->block_first[b] > longest) longest = fn->block_first[b + 1] - fn->block_first[b];
    int32_t *wait = malloc(longest * sizeof *wait), *overwrite = malloc(longest * sizeof *overwrite);
    place_set *later = written_later(fn, places);
    under_way *at = calloc((size_t)fn->block_count + 1, sizeof *at);
    int failed = !wait || !overwrite || !later || !at, first = first_board(fn);
    for (int32_t b = 0; !failed && b < fn->block_count; b++) assign_block(fn, places, b, first, &later[b], wait, overwrite, at);
    free(wait), free(overwrite), free(later), free(at);
    return failed ? -1 : 0;
}

/* -- what is pending at the boundaries -- */

/* target |= boards; returns whether target grew. */
static int flow(uint8_t *target, const uint8_t *boards, size_t count) {
    uint8_t grown = 0;
    for (size_t u = 0; u < count; u++) {
        grown |= boards[u] & (uint8_t)~target[u];
        target[u] |= boards[u];
    }
    return grown != 0;
}

/* The same of late reads, whose queue is none where it is not the same on all ways. */
static int flow_reads(uint8_t *reads, uint8_t *queues, const oric_pending *state, size_t count) {
    int changed = 0;
    for (size_t u = 0; u < count; u++) {
        if (!state->read[u]) continue;
        uint8_t queue = !reads[u] || queues[u] == state->queue[u] ? state->queue[u] : ORIC_NO_QUEUE;
        changed |= queue != queues[u];
        queues[u] = queue;
    }
    return flow(reads, state->read, count) | changed;
}

/* Let what is pending flow from block to block until nothing grows. Every block is walked with all that is pending at its entry: the more
 * that is, the earlier some wait, which clears a scoreboard for what a later wait would have cleared it for, and leaves pending what
 * begins between the two. */
static void flow_all(const oric_fn *fn, const oric_places *places, oric_pending *state, uint8_t *entries, uint8_t *queued, int32_t *queue) {
    size_t count = (size_t)places->count;
    int32_t head = 0, waiting = fn->block_count;
    for (int32_t b = 0; b < fn->block_count; b++) queue[b] = b, queued[b] = 1;
    while (waiting) {
        int32_t b = queue[head];
        head = (head + 1) % fn->block_count, waiting--, queued[b] = 0;
        oric_pending_load(state, entries, places, b);
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) oric_pending_step(state, fn, places, &fn->nodes[i]);
        for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) {
            int32_t to = fn->succs[s];
            uint8_t *entry = entries + ORIC_PENDING * (size_t)to * count;
            int grown = flow(entry, state->write, count);
            grown |= flow_reads(entry + count, entry + 2 * count, state, count);
            if (grown && !queued[to]) queue[(head + waiting++) % fn->block_count] = to, queued[to] = 1;
        }
    }
}

uint8_t *oric_pending_at_entries(const oric_fn *fn, const oric_places *places) {
    size_t blocks = (size_t)fn->block_count + 1;
    uint8_t *entries = calloc(blocks, ORIC_PENDING * (size_t)places->count), *queued = calloc(blocks, 1);
    oric_pending *state = malloc(sizeof *state);
    int32_t *queue = malloc(blocks * sizeof *queue);
    if (entries && queued && state && queue) flow_all(fn, places, state, entries, queued, queue);
    else free(entries), entries = NULL;
    free(queued), free(state), free(queue);
    return entries;
}
