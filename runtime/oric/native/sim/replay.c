/*
 * Plays recorded warps through a model of an SM: four schedulers that issue one instruction a cycle each, stall counts, scoreboards,
 * pipes, shared memory, an L1 cache, a share of L2 and DRAM. docs/clock.md says what it leaves out.
 */
#include <stdlib.h>

#include "sass/control.h"
#include "sim/clock.h"
#include "tables/latency.h"

#define SCHEDULERS 4u
#define DEPTH 16u        /* completions that a scoreboard remembers */
#define WAYS 4u
#define SECTORS_A_TURN 4u
#define LONG_QUEUE 32.0  /* cycles of work before the memory pipe takes no more */
#define MOST_ISSUES (1u << 20)
#define NEVER 1e300
#define QUEUES 32u /* more than there are in spec/latency */

typedef struct {
    const sim_record *record;
    uint64_t at;
    oric_sim_span *span;
    double next, barrier_since;
    double done[ORIC_SCOREBOARDS][DEPTH];
    uint32_t uses[ORIC_SCOREBOARDS];
    double copies; /* when what has no scoreboard is over */
    double unmarked[QUEUES]; /* when the results of each in-order queue are there that have none */
    uint8_t barrier, running;
} warp_state;

typedef struct {
    oric_sim *sim;
    const oric_sim_machine *m;
    warp_state *warps; /* resident, in slots */
    uint32_t slots, per_block, next_record, left;
    double read_cycles; /* until a scoreboard tells that an instruction has read its sources */
    double pipe_free[SCHEDULERS][ORIC_PIPES], memory_free, l2_free, dram_free, end;
    uint64_t *tags;
    uint32_t sets, turn;
    uint32_t last[SCHEDULERS];
    double share; /* of the sectors new to this SM that are new to the GPU */
    double *signals; /* when each arrival at an mbarrier is made */
} replay;

/* 1: the sector was in L1; it is now. */
static int cached(replay *p, uint64_t sector)
{
    uint64_t *set = &p->tags[(sector / 4 % p->sets) * WAYS * 4 + sector % 4 * WAYS];
    uint32_t k = 0;
    while (k < WAYS && set[k] != sector + 1)
        k++;
    int hit = k < WAYS;
    for (k = hit ? k : WAYS - 1; k > 0; k--)
        set[k] = set[k - 1];
    set[0] = sector + 1;
    return hit;
}

static int from_dram(const replay *p, uint64_t sector)
{
    return (double)(sector * 0x9e3779b97f4a7c15ull >> 40) / (double)(1 << 24) < p->share;
}

/* When an access of global memory that starts at `start` is over. */
static double global_access(replay *p, const sim_record *r, const sim_event *e, double start, int reads)
{
    uint64_t line = 0;
    double done = start + p->m->l1_latency;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < e->sectors; i++) {
        uint64_t sector = r->sectors[e->first_sector + i];
        lines += sector / 4 + 1 != line;
        line = sector / 4 + 1;
        int hit = cached(p, sector);
        if (hit && reads)
            continue;
        double at = p->l2_free = (p->l2_free > start ? p->l2_free : start) + 32 / p->m->l2_bytes;
        at += p->m->l2_latency;
        if (!hit && from_dram(p, sector)) {
            p->dram_free = (p->dram_free > start ? p->dram_free : start) + 32 / p->m->dram_bytes;
            at = p->dram_free + p->m->dram_latency;
        }
        done = at > done ? at : done;
    }
    uint32_t turns = (e->sectors + SECTORS_A_TURN - 1) / SECTORS_A_TURN;
    p->memory_free = start + (lines > turns ? lines : turns);
    return reads ? done : p->memory_free + p->read_cycles;
}

static void use_board(warp_state *w, uint32_t board, double done)
{
    if (board >= ORIC_SCOREBOARDS)
        return;
    double before = w->uses[board] ? w->done[board][(w->uses[board] - 1) % DEPTH] : 0;
    w->done[board][w->uses[board]++ % DEPTH] = done > before ? done : before;
}

/* Results that come in order: a scoreboard of a later one tells of those before it that have none. */
static double in_order(warp_state *w, const oric_class *klass, uint32_t board, double done)
{
    double *before = &w->unmarked[klass->queue % QUEUES];
    if (!klass->queue || !(klass->does & 1) || klass->result != ORIC_RESULT_VARIABLE)
        return done;
    done = done > *before ? done : *before;
    *before = board >= ORIC_SCOREBOARDS ? done : 0;
    return done;
}

static double board_time(const warp_state *w, uint32_t board)
{
    return w->uses[board] ? w->done[board][(w->uses[board] - 1) % DEPTH] : 0;
}

static const oric_class *class_of(const oric_sim *sim, const oric_insn *in)
{
    return &oric_classes[sim->isa][oric_op_schedules[in->op < ORIC_SCHEDULED_OPERATIONS ? in->op : 0].klass];
}

static const sim_event *event_of(const warp_state *w) { return &w->record->events[w->at]; }

/* When the scoreboards let the next instruction go. */
static double boards_free(const warp_state *w, const sim_event *e)
{
    double when = 0;
    uint32_t mask = oric_wait_mask_of(e->in->control);
    for (uint32_t b = 0; b < ORIC_SCOREBOARDS; b++)
        if (mask >> b & 1 && board_time(w, b) > when)
            when = board_time(w, b);
    return when;
}

static double ready_at(const replay *p, uint32_t slot, const warp_state *w)
{
    if (!w->running || w->barrier != SIM_NO_BARRIER)
        return NEVER;
    const sim_event *e = event_of(w);
    const oric_class *klass = class_of(p->sim, e->in);
    double when = w->next, boards = boards_free(w, e), pipe = p->pipe_free[slot % SCHEDULERS][klass->pipe];
    when = boards > when ? boards : when;
    when = pipe > when ? pipe : when;
    if ((e->sectors || e->turns) && p->memory_free - LONG_QUEUE > when)
        when = p->memory_free - LONG_QUEUE;
    if (e->after && p->signals[e->after - 1] > when)
        when = p->signals[e->after - 1];
    return when;
}

static void count_stalls(replay *p, const warp_state *w, const sim_event *e, double now)
{
    oric_sim_stalls *s = NULL;
    uint64_t first = 0;
    for (uint32_t i = 0; i < p->sim->ncodes && !s; i++) {
        const sim_code *code = &p->sim->codes[i];
        if (e->pc - code->base < code->size)
            s = &p->sim->clock->stalls[first + ((e->pc - code->base) >> 4)];
        first += code->size >> 4;
    }
    if (!s)
        return;
    double boards = boards_free(w, e), since = w->next;
    s->pc = e->pc;
    s->issued++;
    s->barrier += (uint64_t)(w->barrier_since > 0 ? w->next - w->barrier_since : 0);
    s->scoreboard += (uint64_t)(boards > since ? boards - since : 0);
    since = boards > since ? boards : since;
    if (e->after && p->signals[e->after - 1] > since) {
        s->barrier += (uint64_t)(p->signals[e->after - 1] - since);
        since = p->signals[e->after - 1];
    }
    s->pipe += (uint64_t)(now > since ? now - since : 0);
}

static void note_issue(replay *p, uint32_t slot, const warp_state *w, const sim_event *e, double now)
{
    sim_clock_state *c = p->sim->clock;
    if (c->nissues >= MOST_ISSUES)
        return;
    if (c->nissues == c->room_issues) {
        uint64_t room = c->room_issues ? 2 * c->room_issues : 1024;
        oric_sim_issue *bigger = realloc(c->issues, room * sizeof *bigger);
        if (!bigger)
            return;
        c->issues = bigger, c->room_issues = room;
    }
    c->issues[c->nissues++] = (oric_sim_issue){.pc = e->pc, .cycle = (uint64_t)now, .slot = slot, .block = w->record->block};
}

/* Fill the slots of a block that has ended, or of the beginning, with the next recorded block. */
static void admit(replay *p, uint32_t slot, double now)
{
    const sim_clock_state *c = p->sim->clock;
    for (uint32_t i = 0; i < p->per_block && p->next_record < c->nrecords; i++) {
        warp_state *w = &p->warps[slot + i];
        memset(w, 0, sizeof *w);
        w->span = &c->spans[p->next_record];
        w->record = c->records[p->next_record++];
        *w->span = (oric_sim_span){.start = (uint64_t)now, .end = (uint64_t)now, .block = w->record->block, .warp = i};
        w->next = now;
        w->barrier = SIM_NO_BARRIER;
        w->running = w->record->nevents > 0;
        p->left += w->running;
    }
}

/* Let the warps of a block go that wait at a barrier where all have arrived. */
static void pass_barrier(replay *p, uint32_t slot, double now)
{
    uint32_t first = slot / p->per_block * p->per_block, live = 0, here = 0;
    const warp_state *w = &p->warps[slot];
    uint32_t needed = event_of(w)[-1].warps;
    for (uint32_t i = first; i < first + p->per_block; i++) {
        live += p->warps[i].running;
        here += p->warps[i].running && p->warps[i].barrier == w->barrier;
    }
    if (here < (needed && needed < live ? needed : live))
        return;
    uint8_t index = w->barrier;
    for (uint32_t i = first; i < first + p->per_block; i++)
        if (p->warps[i].running && p->warps[i].barrier == index) {
            p->warps[i].barrier = SIM_NO_BARRIER;
            p->warps[i].next = now + oric_models[p->sim->isa].block_barrier;
        }
}

static void end_warp(replay *p, uint32_t slot, double now)
{
    warp_state *w = &p->warps[slot];
    uint32_t first = slot / p->per_block * p->per_block;
    w->running = 0;
    w->span->end = (uint64_t)now;
    p->left--;
    p->end = now > p->end ? now : p->end;
    for (uint32_t i = first; i < first + p->per_block; i++)
        if (p->warps[i].running) {
            if (p->warps[i].barrier != SIM_NO_BARRIER)
                pass_barrier(p, i, now);
            return;
        }
    admit(p, first, now);
}

static void issue(replay *p, uint32_t slot, double now)
{
    warp_state *w = &p->warps[slot];
    const sim_event *e = event_of(w);
    const oric_class *klass = class_of(p->sim, e->in);
    uint32_t control = e->in->control, stall = oric_stall_of(control);
    count_stalls(p, w, e, now);
    note_issue(p, slot, w, e, now);
    p->pipe_free[slot % SCHEDULERS][klass->pipe] = now + (klass->spacing ? klass->spacing : 1);
    double start = now > p->memory_free ? now : p->memory_free, done = now + (e->off ? p->read_cycles : klass->estimate);
    if (e->turns) {
        p->memory_free = start + e->turns;
        done = p->memory_free + p->m->shared_latency;
    }
    if (e->sectors)
        done = global_access(p, w->record, e, start, klass->does != 2);
    if (!e->off)
        done = in_order(w, klass, oric_write_board_of(control), done);
    if (klass->async == ORIC_ASYNC_GROUP || (e->sectors && oric_write_board_of(control) >= ORIC_SCOREBOARDS))
        w->copies = done > w->copies ? done : w->copies;
    else if (!e->sectors && !e->turns && klass->flags & ORIC_C_DRAIN)
        done = w->copies > done ? w->copies : done;
    if (e->signal)
        p->signals[e->signal - 1] = done;
    use_board(w, oric_write_board_of(control), done);
    use_board(w, oric_read_board_of(control), (e->sectors || e->turns ? p->memory_free : now) + p->read_cycles);
    w->next = now + (stall ? stall : 1);
    w->barrier_since = 0;
    w->at++;
    if (w->at == w->record->nevents) {
        end_warp(p, slot, now + 1);
    } else if (e->barrier != SIM_NO_BARRIER && e->waits) {
        w->barrier = e->barrier;
        w->barrier_since = now;
        pass_barrier(p, slot, now);
    }
}

/* One cycle of a scheduler; the time of its next possible issue. The warp that issued last goes on, else the oldest one. */
static double step(replay *p, uint32_t scheduler, double now)
{
    double soonest = NEVER;
    uint32_t best = UINT32_MAX;
    for (uint32_t slot = scheduler; slot < p->slots; slot += SCHEDULERS) {
        double when = ready_at(p, slot, &p->warps[slot]);
        if (when <= now && (best == UINT32_MAX || slot == p->last[scheduler]))
            best = slot;
        soonest = when < soonest ? when : soonest;
    }
    if (best == UINT32_MAX)
        return soonest;
    p->last[scheduler] = best;
    issue(p, best, now);
    return now + 1;
}

/* Barriers that the record does not explain (warps that arrive in parts): let somebody go on. */
static void release_any(replay *p, double now)
{
    for (uint32_t i = 0; i < p->sim->clock->nsignals; i++)
        if (p->signals[i] >= NEVER)
            p->signals[i] = now;
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->warps[i].running && p->warps[i].barrier != SIM_NO_BARRIER) {
            p->warps[i].barrier = SIM_NO_BARRIER;
            p->warps[i].next = now;
        }
}

static void play(replay *p)
{
    double now = 0;
    for (uint32_t slot = 0; slot < p->slots; slot += p->per_block)
        admit(p, slot, 0);
    while (p->left) {
        double soonest = NEVER;
        for (uint32_t s = 0; s < SCHEDULERS; s++) {
            double when = step(p, s, now);
            soonest = when < soonest ? when : soonest;
        }
        if (soonest >= NEVER && p->left) {
            release_any(p, now);
            soonest = now + 1;
        }
        now = soonest > now + 1 ? (double)(uint64_t)(soonest + 0.999) : now + 1;
    }
    if (p->dram_free > p->end)
        p->end = p->dram_free;
    if (p->l2_free > p->end)
        p->end = p->l2_free;
}

const oric_sim_timing *oric_sim_time(oric_sim *sim)
{
    sim_clock_state *c = sim->clock;
    if (!c || c->failed || c->nrecords == 0)
        return NULL;
    const oric_model *model = &oric_models[sim->isa];
    replay p = {.sim = sim, .m = &sim->launch.machine, .read_cycles = model->late_read + model->settle};
    uint64_t words = 0;
    for (uint32_t i = 0; i < sim->ncodes; i++)
        words += sim->codes[i].size >> 4;
    p.per_block = c->nrecords / c->blocks;
    uint32_t resident = p.m->blocks < c->blocks ? p.m->blocks : c->blocks;
    p.slots = resident * p.per_block;
    p.sets = p.m->l1_bytes / (32 * WAYS * 4) + 1;
    p.share = c->everywhere ? (double)c->somewhere / (double)c->everywhere : 1;
    p.warps = calloc(p.slots + 1u, sizeof *p.warps);
    p.tags = calloc((uint64_t)p.sets * WAYS * 4, sizeof *p.tags);
    p.signals = malloc((c->nsignals + 1u) * sizeof *p.signals);
    free(c->stalls);
    free(c->spans);
    c->stalls = calloc(words + 1, sizeof *c->stalls);
    c->spans = calloc(c->nrecords, sizeof *c->spans);
    c->nstalls = words;
    c->nissues = 0;
    int good = p.warps && p.tags && p.signals && c->stalls && c->spans;
    for (uint32_t i = 0; good && i < c->nsignals; i++)
        p.signals[i] = NEVER;
    if (good)
        play(&p);
    c->result = (oric_sim_timing){.cycles = (uint64_t)p.end, .blocks = c->blocks, .resident = resident, .warps = p.slots};
    free(p.warps);
    free(p.tags);
    free(p.signals);
    return good ? &c->result : NULL;
}

const oric_sim_issue *oric_sim_issues(const oric_sim *sim, uint64_t *count)
{
    *count = sim->clock ? sim->clock->nissues : 0;
    return sim->clock ? sim->clock->issues : NULL;
}

const oric_sim_span *oric_sim_spans(const oric_sim *sim, uint64_t *count)
{
    *count = sim->clock && sim->clock->spans ? sim->clock->nrecords : 0;
    return sim->clock ? sim->clock->spans : NULL;
}

const oric_sim_stalls *oric_sim_stall_table(const oric_sim *sim, uint64_t *count)
{
    *count = sim->clock ? sim->clock->nstalls : 0;
    return sim->clock ? sim->clock->stalls : NULL;
}
