/* Stall counts, yield bits and wait masks of the final order. Distances between an instruction of fixed latency and its
 * readers are kept by stall counts; what has no known latency is waited for by scoreboard. Times are cycles from the
 * first issue of the block; what is not over at its end goes to the successors that follow, and is waited for before
 * successors that were done earlier (loops) could see it. */
#include <stdlib.h>
#include <string.h>

#include "sass/control.h"
#include "sass/schedule.h"
#include "sched/sched.h"
#include "sched/scoreboard.h"
#include "tables/latency.h"

enum { FAR = -1000 };

typedef struct {
    int32_t time; /* of the last write of fixed latency */
    int32_t floor; /* from here on older values are safe to read */
    int32_t read; /* last read by an instruction that reads at issue */
    int32_t slow; /* last read, without a barrier, by one that does not */
    uint8_t row;
} unit_state;

typedef struct {
    oric_fn *fn;
    const oric_model *model;
    oric_places places;
    unit_state units[ORIC_PHYSICAL_UNITS]; /* by place */
    int32_t busy[ORIC_PHYSICAL_UNITS];     /* at the end of a block: until when a unit is not safe for every access */
    oric_pending pending;
    int32_t pipe[ORIC_PIPES];
    int32_t board[ORIC_SCOREBOARDS]; /* time of the last instruction that uses it ... */
    uint8_t settle[ORIC_SCOREBOARDS]; /* ... and from when on its use is seen */
    int32_t group;                   /* from when on a wait sees the last instruction of a group */
    int32_t now;                     /* issue of the previous instruction */
    int32_t minimum;                 /* its smallest stall */
    int32_t previous;                /* its position, -1 at the start of a block */
    int32_t block;
    uint8_t *entry;                  /* per block and place: cycles that are left at its entry */
    int32_t *wait;                   /* per block: cycles that pass before its first instruction */
    uint8_t *first;                  /* per block and place: time of the first access, or the length of the block */
    int64_t cycles;
} control;

static void need(int32_t *time, int32_t at) {
    if (at > *time) *time = at;
}

static uint8_t *row_of(const control *c, uint8_t *rows, int32_t b) { return rows + (size_t)b * (size_t)c->places.count; }

static void enter_block(control *c, int32_t b, const uint8_t *entries) {
    const uint8_t *left = row_of(c, c->entry, b);
    for (int32_t u = 0; u < c->places.count; u++) c->units[u] = (unit_state){FAR, left[u], FAR, FAR, ORIC_NO_ROW};
    for (int p = 0; p < ORIC_PIPES; p++) c->pipe[p] = FAR;
    for (int s = 0; s < ORIC_SCOREBOARDS; s++) c->board[s] = FAR;
    oric_pending_load(&c->pending, entries, &c->places, b);
    c->now = 0, c->minimum = 0, c->previous = -1, c->group = FAR, c->block = b;
}

/* From when on a result is safe for whoever comes. */
static int32_t longest(const oric_fn *fn, uint8_t row) {
    const uint8_t *distance = oric_distance[fn->isa][row];
    return distance[ORIC_G_REWRITE] > distance[ORIC_G_OTHER] ? distance[ORIC_G_REWRITE] : distance[ORIC_G_OTHER];
}

/* Earliest issue by the registers of fixed latency. */
static void wait_for_registers(const control *c, const oric_node *node, int32_t *time) {
    const oric_fn *fn = c->fn;
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    int variable = (node->flags & ORIC_I_VARIABLE) != 0;
    for (; a < end; a++)
        for (uint32_t u = c->places.of[a->unit], stop = u + a->count; u < stop; u++) {
            const unit_state *s = &c->units[u];
            int write = a->flags & ORIC_A_DEF;
            uint8_t group = !write ? a->group : variable ? ORIC_G_REWRITE : oric_classes[fn->isa][node->klass].own;
            need(time, s->floor);
            if (s->row != ORIC_NO_ROW) need(time, s->time + oric_distance[fn->isa][s->row][group]);
            if (!write) continue;
            need(time, s->slow + c->model->over_read_late);
            need(time, s->read + (variable ? c->model->over_read_variable : c->model->over_read));
        }
}

static void note_registers(control *c, const oric_node *node, int32_t time) {
    const oric_fn *fn = c->fn;
    const oric_access *first = &fn->accesses[node->access], *end = first + node->access_count;
    for (const oric_access *a = first; a < end; a++)
        for (uint32_t u = c->places.of[a->unit], stop = u + a->count; !(a->flags & ORIC_A_DEF) && u < stop; u++) {
            if (node->flags & ORIC_I_LATE_READ) c->units[u].slow = time;
            else c->units[u].read = time;
        }
    for (const oric_access *a = first; a < end; a++)
        for (uint32_t u = c->places.of[a->unit], stop = u + a->count; a->flags & ORIC_A_DEF && u < stop; u++) {
            unit_state *s = &c->units[u];
            /* a guarded write leaves the old value to some threads */
            if (node->flags & ORIC_I_GUARDED && s->row != ORIC_NO_ROW) need(&s->floor, s->time + longest(fn, s->row));
            s->time = time;
            s->row = node->flags & ORIC_I_VARIABLE ? ORIC_NO_ROW : a->group;
        }
}

/* The stall of the previous instruction lets this one issue at `time`; longer waits than it can hold need NOPs. */
static void set_stall(control *c, oric_node *previous, oric_node *node, int32_t stall) {
    while (stall > ORIC_STALL_MASK && node) {
        node->pads++;
        stall -= ORIC_STALL_MASK;
        c->cycles += ORIC_STALL_MASK;
    }
    /* what the word calls yield is its opposite: the bit is set where the warp goes on */
    int goes_on = stall == 1 || previous->flags & (ORIC_I_VARIABLE | ORIC_I_LATE_READ) ||
                  oric_classes[c->fn->isa][previous->klass].async == ORIC_ASYNC_GROUP;
    int yield = !(ORIC_YIELDING_STALLS >> stall & 1) && goes_on;
    previous->control = oric_control((uint32_t)stall, (uint32_t)yield, oric_write_board_of(previous->control),
                                     oric_read_board_of(previous->control), oric_wait_mask_of(previous->control));
    c->cycles += stall;
}

static void use_board(control *c, uint8_t board, int32_t time, uint8_t settle) {
    if (board < ORIC_SCOREBOARDS) c->board[board] = time, c->settle[board] = settle;
}

static int32_t busy_until(const control *c, int32_t u);

/* Put off an instruction behind NOPs whose wait would leave the one in front of them less than it stalls in any case. */
static void leave_minimum(const control *c, int32_t *time) {
    int32_t stall = *time - c->now;
    while (stall > ORIC_STALL_MASK) stall -= ORIC_STALL_MASK;
    if (stall < c->minimum) *time += c->minimum - stall;
}

static void place(control *c, uint32_t position) {
    oric_node *node = &c->fn->nodes[position];
    const oric_class *klass = &oric_classes[c->fn->isa][node->klass];
    int32_t time = c->previous >= 0 ? c->now + c->minimum : c->wait[c->block];
    uint8_t mask = oric_pending_step(&c->pending, c->fn, &c->places, node);
    for (int s = 0; s < ORIC_SCOREBOARDS; s++)
        if (mask >> s & 1) need(&time, c->board[s] + oric_settle_between(c->settle[s], klass->settle));
    if (klass->async == ORIC_ASYNC_WAIT) need(&time, c->group);
    need(&time, c->pipe[klass->pipe]);
    wait_for_registers(c, node, &time);
    int leaves = node->flags & ORIC_I_DRAIN && !(node->flags & ORIC_I_ORDERED); /* other code goes on; what orders memory waits for that alone */
    for (int32_t u = 0; leaves && u < c->places.count; u++) need(&time, busy_until(c, u));
    node->pads = 0;
    if (c->previous >= 0) leave_minimum(c, &time);
    if (c->previous >= 0) set_stall(c, &c->fn->nodes[c->previous], node, time - c->now);
    else if (time > 0) node->pads = (uint8_t)((time + ORIC_STALL_MASK - 1) / ORIC_STALL_MASK);
    node->control = oric_control(0, 0, node->write_barrier, node->read_barrier, mask);
    use_board(c, node->write_barrier, time, klass->settle);
    use_board(c, node->read_barrier, time, klass->settle);
    note_registers(c, node, time);
    if (klass->async == ORIC_ASYNC_GROUP) c->group = time + klass->settle;
    c->pipe[klass->pipe] = time + klass->spacing;
    c->now = time, c->minimum = klass->stall, c->previous = (int32_t)position;
}

/* Until when the unit at a place is not safe for every access. */
static int32_t busy_until(const control *c, int32_t u) {
    const unit_state *s = &c->units[u];
    int32_t until = s->floor;
    if (s->row != ORIC_NO_ROW) need(&until, s->time + longest(c->fn, s->row));
    need(&until, s->slow + c->model->over_read_late);
    need(&until, s->read + c->model->over_read);
    need(&until, s->read + c->model->over_read_variable);
    return until;
}

/* The end of the block must be late enough for what a successor does first. */
static int32_t end_for(const control *c, int32_t b, int32_t to, int32_t end) {
    uint32_t at = c->fn->block_first[to];
    if (to <= b) {
        const uint8_t *first = row_of(c, c->first, to);
        for (int32_t u = 0; u < c->places.count; u++) need(&end, c->busy[u] - first[u]);
    } else if (at == c->fn->block_first[to + 1]) {
        for (int32_t u = 0; u < c->places.count; u++) need(&end, c->busy[u]);
    } else {
        const oric_node *node = &c->fn->nodes[at];
        const oric_access *a = &c->fn->accesses[node->access], *stop = a + node->access_count;
        for (; a < stop; a++)
            for (uint32_t u = c->places.of[a->unit], last = u + a->count; u < last; u++) need(&end, c->busy[u]);
    }
    return end;
}

/* The last instruction of a block is followed by `end`. What a stall count cannot hold passes in front of a jump; in front of another
 * one it would only put off its own result, so that the next block begins with it. Returns the end of the block. */
static int32_t stall_to(control *c, int32_t b, int32_t end) {
    const oric_fn *fn = c->fn;
    oric_node *last = &fn->nodes[c->previous];
    uint32_t s = fn->succ_first[b];
    int falls = fn->succ_first[b + 1] - s == 1 && fn->succs[s] == b + 1 && !(last->flags & ORIC_I_JUMP);
    int32_t stall = end - c->now, pads = stall > ORIC_STALL_MASK ? (stall - 1) / ORIC_STALL_MASK : 0;
    if (falls && pads) {
        need(&c->wait[b + 1], stall - ORIC_STALL_MASK);
        set_stall(c, last, NULL, ORIC_STALL_MASK);
        return c->now + ORIC_STALL_MASK;
    }
    last->pads = (uint8_t)(last->pads + pads);
    c->cycles += (int64_t)pads * ORIC_STALL_MASK;
    stall -= pads * ORIC_STALL_MASK;
    set_stall(c, last, NULL, pads && stall < c->minimum ? c->minimum : stall);
    return end;
}

static void leave_block(control *c, int32_t b) {
    const oric_fn *fn = c->fn;
    int32_t end = c->now + c->minimum;
    for (int32_t u = 0; u < c->places.count; u++) c->busy[u] = busy_until(c, u);
    if (c->previous < 0) {
        end = 0; /* its predecessors have waited for everything, or what is left goes on */
        if (c->wait[b]) need(&c->wait[b + 1], c->wait[b]);
    } else {
        oric_node *last = &fn->nodes[c->previous];
        if (last->write_barrier < ORIC_SCOREBOARDS || last->read_barrier < ORIC_SCOREBOARDS)
            need(&end, c->now + oric_classes[fn->isa][last->klass].settle);
        need(&end, c->group);
        for (int p = 0; p < ORIC_PIPES; p++) need(&end, c->pipe[p]);
        for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) end = end_for(c, b, fn->succs[s], end);
        end = stall_to(c, b, end);
    }
    for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) {
        int32_t to = fn->succs[s];
        uint8_t *left = row_of(c, c->entry, to);
        for (int32_t u = 0; to > b && u < c->places.count; u++) {
            int32_t rest = c->busy[u] - end;
            if (rest > left[u]) left[u] = (uint8_t)rest;
        }
    }
    uint8_t *first = row_of(c, c->first, b);
    for (int32_t u = 0; u < c->places.count; u++)
        if (first[u] == 255) first[u] = (uint8_t)(end < 254 ? end : 254);
}

static void note_first(control *c, int32_t b, const oric_node *node) {
    uint8_t *first = row_of(c, c->first, b);
    const oric_access *a = &c->fn->accesses[node->access], *end = a + node->access_count;
    for (; a < end; a++)
        for (uint32_t u = c->places.of[a->unit], stop = u + a->count; u < stop; u++)
            if (first[u] == 255) first[u] = (uint8_t)(c->now < 254 ? c->now : 254);
}

static void run(control *c, const uint8_t *entries) {
    oric_fn *fn = c->fn;
    for (int32_t b = 0; b < fn->block_count; b++) {
        enter_block(c, b, entries);
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            place(c, i);
            note_first(c, b, &fn->nodes[i]);
        }
        leave_block(c, b);
    }
}

int64_t oric_assign_control(oric_fn *fn) {
    control *c = calloc(1, sizeof *c);
    if (!c) return -1;
    c->fn = fn, c->model = &oric_models[fn->isa];
    oric_places_find(fn, &c->places);
    int64_t cycles = -1;
    if (!oric_assign_scoreboards(fn, &c->places)) {
        size_t size = ((size_t)fn->block_count + 1) * (size_t)c->places.count;
        uint8_t *entries = oric_pending_at_entries(fn, &c->places);
        c->entry = calloc(size, 1);
        c->first = malloc(size);
        c->wait = calloc((size_t)fn->block_count + 2, sizeof *c->wait);
        if (entries && c->entry && c->first && c->wait) {
            memset(c->first, 255, size);
            run(c, entries);
            cycles = c->cycles;
        }
        free(c->entry), free(c->first), free(c->wait), free(entries);
    }
    free(c);
    return cycles;
}
