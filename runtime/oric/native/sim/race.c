/*
 * Races in shared memory: who has touched each word since it was written, and what orders the threads.
 *
 * Between warps, vector clocks: each warp has one, with an entry for every warp of the cluster and one for the
 * asynchronous copies of every warp. CTA barriers, the cluster's barrier, atomics on shared memory and mbarriers hand them on. All
 * threads of a warp share a clock; that can hide a race between warps of which only some lanes have synchronised, and never
 * makes one up.
 *
 * Within a warp, lanes are ordered that were together in one group at the earlier of two instructions (the compiler leaves a warp
 * barrier out where it knows that they are) or have met since. An atomic, an mbarrier or a CTA barrier orders all lanes of its warp.
 */
#include <stdlib.h>

#include "sass/access.h"
#include "sass/control.h"
#include "sim/shadow.h"
#include "tables/slots.h"

enum { WORD = 4, MBARRIER_BYTES = 8, KEY_BYTES = 8, CAS_BYTES = 16, NOT_TOGETHER = 0 };

int sim_race_begin(sim_cta *cta)
{
    sim_shadow *s = cta->shadow;
    const uint32_t *shape = cta->sim->launch.cluster;
    s->nall = cta->nwarps * shape[0] * shape[1] * shape[2];
    s->base = cta->nwarps * cta->rank;
    size_t n = s->nclocks = 2 * s->nall;
    s->clocks = calloc(n * cta->nwarps, sizeof *s->clocks);
    s->barrier_clocks = calloc(n * ORIC_CTA_BARRIERS, sizeof *s->barrier_clocks);
    s->key_clocks = calloc(n * SHADOW_KEYS, sizeof *s->key_clocks);
    s->exit_clock = calloc(n, sizeof *s->exit_clock);
    s->cluster_clock = calloc(n, sizeof *s->cluster_clock);
    s->cells = calloc(cta->sim->launch.shared_bytes / WORD + 3, sizeof *s->cells);
    if (!s->clocks || !s->barrier_clocks || !s->key_clocks || !s->exit_clock || !s->cluster_clock || !s->cells)
        return 0;
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        s->clocks[i * n + s->base + i] = 1;
        s->warps[i].stamp = 1;
        s->warps[i].board = ORIC_NO_SCOREBOARD;
    }
    return 1;
}

void sim_race_end(sim_shadow *s)
{
    free(s->clocks);
    free(s->barrier_clocks);
    free(s->key_clocks);
    free(s->exit_clock);
    free(s->cluster_clock);
    free(s->cells);
    free(s->bytes);
}

static uint32_t *clock_of(const sim_shadow *s, uint32_t warp) { return s->clocks + (size_t)warp * s->nclocks; }

static uint32_t *key_of(const sim_warp *w, const void *at)
{
    const sim_shadow *s = sim_cluster_shadow(w);
    return s->key_clocks + (uintptr_t)at / KEY_BYTES % SHADOW_KEYS * s->nclocks;
}

static void join(uint32_t *into, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        into[i] = into[i] < from[i] ? from[i] : into[i];
}

void sim_race_release(sim_shadow *s, uint32_t warp, uint32_t *into)
{
    join(into, clock_of(s, warp), s->nclocks);
    s->synced = 1;
}

void sim_race_acquire(sim_shadow *s, uint32_t warp, const uint32_t *from)
{
    join(clock_of(s, warp), from, s->nclocks);
}

/* The copies of a warp up to a clock are over. */
static void copies_done(sim_warp *w, uint32_t clock)
{
    uint32_t *known = &clock_of(w->shadow, w->id)[w->shadow->nall + sim_warp_name(w)];
    *known = *known < clock ? clock : *known;
}

/* Waits for the scoreboard of the groups of copies: DEPBAR for all but some, a wait mask for all. */
static void wait_for_groups(sim_warp *w, const oric_insn *in)
{
    const sim_warp_shadow *own = sim_shadow_of(w);
    const oric_flow *flow = &oric_flows[in->op < ORIC_SLOT_OPS ? in->op : 0];
    uint64_t left = SHADOW_GROUPS;
    if (flow->board < in->nops && flow->left < in->nops && in->ops[flow->board].reg == own->board)
        left = (uint64_t)in->ops[flow->left].value;
    uint64_t boards = oric_wait_mask_of(in->control) | (in->mods >> flow->boards_shift & ((1u << flow->boards_width) - 1));
    if (boards >> own->board & 1)
        left = 0;
    if (left < SHADOW_GROUPS && left < own->commits)
        copies_done(w, own->group[(own->commits - 1 - left) % SHADOW_GROUPS]);
}

/* The lanes that were together with `lane` are no more: they know of each other up to their last step. */
static void part(sim_lane_clocks *c, uint32_t lane)
{
    uint32_t old = c->together[lane], last = c->when[sim_first_lane(old)];
    for (uint32_t a = 0; a < SIM_LANES; a++) {
        if (!(old >> a & 1))
            continue;
        for (uint32_t b = 0; b < SIM_LANES; b++)
            if ((old >> b & 1) && c->known[a][b] < last)
                c->known[a][b] = last;
        c->together[a] = 1u << a;
        c->when[a] = last;
    }
}

/* The lanes of `mask` are together now: each knows what the others know. */
static void meet(sim_lane_clocks *c, uint32_t mask)
{
    uint32_t all[SIM_LANES] = {0};
    for (uint32_t a = 0; a < SIM_LANES; a++) {
        if (!(mask >> a & 1))
            continue;
        if (c->together[a] & (c->together[a] - 1))
            part(c, a);
        join(all, c->known[a], SIM_LANES);
        all[a] = c->when[a];
    }
    for (uint32_t a = 0; a < SIM_LANES; a++) {
        if (mask >> a & 1) {
            memcpy(c->known[a], all, sizeof all);
            c->together[a] = mask;
        }
    }
}

/* The group that runs is not the whole warp. */
static void follow_lanes(sim_warp *w)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    uint32_t first = sim_first_lane(w->active);
    if (!own->all && !own->lanes) {
        own->all = w->active; /* the first instruction */
        return;
    }
    if (!own->lanes) {
        own->lanes = calloc(1, sizeof *own->lanes);
        if (!own->lanes) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, first, "memory checker");
            return;
        }
        for (uint32_t a = 0; a < SIM_LANES; a++)
            own->lanes->together[a] = own->all >> a & 1 ? own->all : 1u << a;
        own->lanes->when[sim_first_lane(own->all)] = own->step - 1;
        own->all = NOT_TOGETHER;
    }
    if (own->lanes->together[first] != w->active)
        meet(own->lanes, w->active);
    own->lanes->when[first] = own->step;
}

static int lanes_ordered(const sim_warp_shadow *own, uint32_t before, uint32_t step, uint32_t now)
{
    const sim_lane_clocks *c = own->lanes;
    return !c || (c->together[now] >> before & 1) || c->known[now][before] >= step;
}

static int has_result(const oric_insn *in)
{
    oric_register_use uses[ORIC_MOST_USES];
    int n = oric_accesses(in, uses);
    while (n-- > 0)
        if (uses[n].writes)
            return 1;
    return 0;
}

void sim_race_before(sim_warp *w, const oric_insn *in)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    own->step++;
    if (w->active != own->all)
        follow_lanes(w);
    w->shadow->synced = 0;
    w->shadow->ncandidates = 0;
    w->shadow->arrives = 0;
    w->shadow->learns = w->shadow->atomic && has_result(in);
    if (own->commits && own->board != ORIC_NO_SCOREBOARD)
        wait_for_groups(w, in);
}

void sim_memcheck_commit(sim_warp *w)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    own->group[own->commits++ % SHADOW_GROUPS] = own->stamp++;
    own->board = oric_write_board_of(w->shadow->insn->control);
}

/* An atomic without a result tells the others, but learns nothing. */
static void sync_at(sim_warp *w, const void *at, int learns)
{
    uint32_t *key = key_of(w, at);
    if (learns)
        sim_race_acquire(w->shadow, w->id, key);
    sim_race_release(w->shadow, w->id, key);
}

/* What an atomic and a read of the same memory have in common; never 0. */
static uint64_t place_of(const sim_cta *owner, uint64_t address) { return ((uint64_t)owner->rank << 32 | address) / CAS_BYTES + 1; }

/* The CTA of the cluster that has the byte in its shared memory; NULL: it is elsewhere. */
static sim_cta *owner_of(const sim_warp *w, const uint8_t *at)
{
    const sim_cluster *cluster = w->cta->cluster;
    for (uint32_t i = 0; i < cluster->nctas; i++)
        if ((uintptr_t)at - (uintptr_t)cluster->ctas[i]->shared < w->sim->launch.shared_bytes)
            return cluster->ctas[i];
    return NULL;
}

/* Forget the reads there that waited for an explanation. */
static void forget_doubts(const sim_shadow *s, uint64_t place)
{
    for (uint32_t i = 0; i < s->nwarps; i++) {
        sim_warp_shadow *own = &s->warps[i];
        for (uint32_t lane = 0; own->ndoubts && lane < SIM_LANES; lane++)
            for (int k = 0; k < SHADOW_DOUBTS; k++)
                if (own->doubts[lane][k].place == place) {
                    own->doubts[lane][k].place = 0;
                    own->ndoubts--;
                }
    }
}

/* The words of an mbarrier are marked: some models test it with a plain load, even before they first arrive there. */
void sim_memcheck_sync(sim_warp *w, const void *at)
{
    const sim_cluster *cluster = w->cta->cluster;
    const sim_cta *owner = owner_of(w, at);
    uint64_t place = owner ? (uint64_t)((const uint8_t *)at - owner->shared) : 0;
    for (uint32_t i = 0; owner && i < MBARRIER_BYTES; i += WORD) {
        sim_cell *cell = &owner->shadow->cells[(place + i) / WORD];
        for (uint32_t k = 0; !cell->mbarrier && k < cluster->nctas; k++)
            forget_doubts(cluster->ctas[k]->shadow, place_of(owner, place + i));
        cell->mbarrier = 1;
    }
    sync_at(w, at, 1);
}

void sim_memcheck_copies_arrive(sim_warp *w, const void *mbarrier)
{
    sim_shadow *s = w->shadow;
    s->arrives = 1;
    key_of(w, mbarrier)[s->nall + sim_warp_name(w)] = sim_shadow_of(w)->stamp++;
    if (s->atomic) /* a reduction touches memory as the thread, not as a copy */
        sim_race_release(s, w->id, key_of(w, mbarrier));
}

static int ordered(const sim_warp *w, uint32_t lane, const sim_touch *before)
{
    const sim_shadow *s = w->shadow;
    const uint32_t *known = clock_of(s, w->id);
    if (before->access == ORIC_ACCESS_COPY)
        return before->clock <= known[s->nall + before->warp];
    if (before->warp != sim_warp_name(w))
        return before->clock <= known[before->warp];
    const sim_warp_shadow *own = &s->warps[w->id];
    return before->lane == lane || before->step <= own->synced || lanes_ordered(own, before->lane, before->step, lane);
}

/* The warp of the cluster with that number. */
static sim_warp *named(const sim_warp *w, uint32_t name)
{
    uint32_t nwarps = w->shadow->nwarps;
    return &w->cta->cluster->ctas[name / nwarps]->warps[name % nwarps];
}

static void report(sim_warp *w, uint32_t lane, const sim_cta *owner, const sim_touch *first, int access, uint64_t address, uint32_t size,
                   uint64_t pc)
{
    oric_sim_report r = {0};
    const sim_warp *other = named(w, first->warp);
    r.kind = ORIC_REPORT_RACE;
    r.first = pc >> 36 << 36 | (uint64_t)first->pc << 4;
    r.second = pc;
    r.space = owner == w->cta ? ORIC_MEM_SHARED : ORIC_MEM_CLUSTER;
    r.address = owner == w->cta ? address : (uint64_t)owner->rank << ORIC_RANK_SHIFT | address;
    r.size = size;
    r.write = access != ORIC_ACCESS_READ;
    r.first_access = first->access;
    r.second_access = access;
    sim_thread_id(other, first->lane, r.other_tid);
    memcpy(r.other_ctaid, other->cta->ctaid, sizeof r.other_ctaid);
    sim_report(w, lane, r);
}

static int is_explained(const sim_shadow *s, uint32_t pc)
{
    for (uint32_t i = 0; i < s->nexplained; i++)
        if (s->explained[i] == pc)
            return 1;
    return 0;
}

/* What a lane's reads have left open: those at `place` are explained, or (0) all of them are races. */
static void settle(sim_warp *w, uint32_t lane, uint64_t place)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    for (int i = 0; own->ndoubts && i < SHADOW_DOUBTS; i++) {
        sim_doubt *d = &own->doubts[lane][i];
        if (!d->place || (place && d->place != place))
            continue;
        if (!place && !is_explained(w->shadow, d->reader))
            report(named(w, d->warp), d->lane, d->owner, &d->first, d->access, d->address, d->size, d->pc);
        d->place = 0;
        own->ndoubts--;
    }
}

/* An atomic of the lane: what it read there just before is part of it. */
static void explain(sim_warp *w, uint32_t lane, uint64_t place)
{
    sim_shadow *s = w->shadow;
    const sim_last_read *last = &sim_shadow_of(w)->last[lane];
    settle(w, lane, place);
    if (last->place == place && s->nexplained < SHADOW_EXPLAINED && !is_explained(s, last->pc))
        s->explained[s->nexplained++] = last->pc;
}

void sim_race_settle(sim_warp *w, uint32_t lanes)
{
    for (uint32_t l = 0; l < SIM_LANES && sim_shadow_of(w)->ndoubts; l++)
        if (lanes >> l & 1)
            settle(w, l, 0);
}

/* A plain read of `reader` and an atomic: keep it until it is known what the reader does next. */
static void doubt(sim_warp *w, sim_cta *owner, const sim_touch *now, const sim_touch *first, const sim_touch *reader, uint64_t address, uint32_t size)
{
    sim_warp *by = named(w, reader->warp);
    sim_warp_shadow *own = sim_shadow_of(by);
    uint64_t place = place_of(owner, address);
    if (!own->doubts)
        own->doubts = calloc(SIM_LANES, sizeof *own->doubts);
    if (!own->doubts) {
        sim_fault(w, ORIC_FAULT_NO_MEMORY, now->lane, "memory checker");
        return;
    }
    sim_doubt *list = own->doubts[reader->lane], *room = NULL;
    for (int i = 0; i < SHADOW_DOUBTS; i++) {
        if (list[i].place == place)
            return;
        room = list[i].place ? room : &list[i];
    }
    if (!room) {
        settle(by, reader->lane, 0);
        room = list;
    }
    if (by->dead >> reader->lane & 1) { /* it does nothing more */
        if (!is_explained(w->shadow, reader->pc))
            report(w, now->lane, owner, first, now->access, address, size, w->pc);
        return;
    }
    *room = (sim_doubt){place, owner, *first, w->pc, address, size, reader->pc, now->warp, now->lane, now->access};
    own->ndoubts++;
}

/* Two writes that nothing orders; what is there is compared when the instruction is done. */
static void add_candidate(sim_warp *w, const sim_cta *owner, const sim_touch *first, const sim_touch *now, uint64_t address, uint32_t size)
{
    sim_shadow *s = w->shadow;
    if (s->ncandidates == SHADOW_CANDIDATES)
        return;
    sim_candidate *c = &s->candidates[s->ncandidates++];
    c->first = *first;
    c->owner = owner;
    c->lane = now->lane;
    c->address = address;
    c->size = size;
    c->bytes = owner->shared + address;
    memcpy(c->before, c->bytes, size);
}

void sim_race_after(sim_warp *w)
{
    sim_shadow *s = w->shadow;
    sim_warp_shadow *own = sim_shadow_of(w);
    for (uint32_t i = 0; i < s->ncandidates; i++) {
        const sim_candidate *c = &s->candidates[i];
        if (memcmp(c->before, c->bytes, c->size) != 0)
            report(w, c->lane, c->owner, &c->first, ORIC_ACCESS_WRITE, c->address, c->size, w->pc);
    }
    if (s->synced || s->atomic) {
        clock_of(s, w->id)[sim_warp_name(w)]++;
        own->synced = own->step;
    }
}

static void note_reader(sim_cell *c, const sim_touch *now)
{
    if (c->read[0].clock && c->read[0].warp != now->warp)
        c->read[1] = c->read[0];
    else if (c->read[0].clock && c->read[0].step == now->step)
        return; /* another lane of the same instruction */
    c->read[0] = *now;
}

/* An earlier write, plain or atomic, and the current access. */
static void after_write(sim_warp *w, sim_cta *owner, const sim_touch *last, const sim_touch *now, uint64_t address, uint32_t size)
{
    int together = last->warp == now->warp && last->step == now->step && last->lane != now->lane;
    int atomics = (last->access == ORIC_ACCESS_ATOMIC) + (now->access == ORIC_ACCESS_ATOMIC);
    int read = now->access == ORIC_ACCESS_READ;
    if (!last->clock || (!(together && !read) && ordered(w, now->lane, last)))
        return;
    if (read && atomics)
        doubt(w, owner, now, last, now, address, size);
    else if (read || atomics)
        report(w, now->lane, owner, last, now->access, address, size, w->pc);
    else
        add_candidate(w, owner, last, now, address, size);
}

static void after_reads(sim_warp *w, sim_cta *owner, const sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size)
{
    for (int i = 0; i < 2; i++) {
        if (!c->read[i].clock || ordered(w, now->lane, &c->read[i]))
            continue;
        if (now->access == ORIC_ACCESS_ATOMIC)
            doubt(w, owner, now, &c->read[i], &c->read[i], address, size);
        else
            report(w, now->lane, owner, &c->read[i], now->access, address, size, w->pc);
    }
}

static void touch_cell(sim_warp *w, sim_cta *owner, sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size)
{
    if (c->mbarrier && now->access != ORIC_ACCESS_WRITE) {
        if (now->access == ORIC_ACCESS_READ)
            sim_memcheck_polls(w, 1u << now->lane, owner->shared + address);
        sync_at(w, owner->shared + address, 1);
        return;
    }
    c->mbarrier = 0;
    after_write(w, owner, &c->write, now, address, size);
    if (w->shadow->strong_read)
        return;
    if (now->access != ORIC_ACCESS_ATOMIC)
        after_write(w, owner, &c->atomic, now, address, size);
    if (now->access == ORIC_ACCESS_READ) {
        note_reader(c, now);
        return;
    }
    after_reads(w, owner, c, now, address, size);
    c->read[0].clock = c->read[1].clock = 0;
    if (now->access == ORIC_ACCESS_ATOMIC) {
        c->atomic = *now;
    } else {
        c->write = *now;
        c->atomic.clock = 0;
    }
}

/* The cells of the four bytes of a word, made on first use; NULL without memory. */
static sim_cell *split(sim_warp *w, sim_cta *owner, uint32_t lane, sim_cell *word)
{
    sim_shadow *s = owner->shadow;
    if (!word->split) {
        if (s->nbytes + WORD > s->room_bytes) {
            uint32_t room = s->room_bytes ? 2 * s->room_bytes : 256;
            sim_cell *more = realloc(s->bytes, room * sizeof *more);
            if (!more) {
                sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "memory checker");
                return NULL;
            }
            s->bytes = more;
            s->room_bytes = room;
        }
        for (uint32_t i = 0; i < WORD; i++)
            s->bytes[s->nbytes + i] = *word;
        word->split = s->nbytes + 1;
        s->nbytes += WORD;
    }
    return &s->bytes[word->split - 1];
}

/* Calls `each` for the cells of bytes [address, address + size). */
typedef void (*cell_fn)(sim_warp *w, sim_cta *owner, sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size);

static void for_cells(sim_warp *w, sim_cta *owner, cell_fn each, const sim_touch *now, uint64_t address, uint64_t size)
{
    sim_shadow *s = owner->shadow;
    for (uint64_t at = address; at < address + size;) {
        sim_cell *word = &s->cells[at / WORD];
        if (at % WORD == 0 && address + size - at >= WORD && !word->split) {
            each(w, owner, word, now, at, WORD);
            at += WORD;
            continue;
        }
        sim_cell *bytes = split(w, owner, now->lane, word);
        if (!bytes)
            return;
        do
            each(w, owner, &bytes[at % WORD], now, at, 1);
        while (++at < address + size && at % WORD);
    }
}

static sim_touch touch_of(const sim_warp *w, uint32_t lane, int access)
{
    const sim_shadow *s = w->shadow;
    uint32_t pc = (uint32_t)(w->pc >> 4);
    uint32_t name = sim_warp_name(w);
    return (sim_touch){clock_of(s, w->id)[name], sim_shadow_of(w)->step, pc, (uint16_t)name, (uint8_t)lane, (uint8_t)access};
}

void sim_race_access(sim_warp *w, uint32_t lane, sim_cta *owner, uint64_t address, uint32_t size, int access)
{
    if (access == ORIC_ACCESS_ATOMIC) {
        sync_at(w, owner->shared + address, w->shadow->learns);
        explain(w, lane, place_of(owner, address));
    } else if (w->shadow->strong_read) {
        sim_race_acquire(w->shadow, w->id, key_of(w, owner->shared + address));
    } else if (access == ORIC_ACCESS_READ) {
        sim_shadow_of(w)->last[lane] = (sim_last_read){place_of(owner, address), (uint32_t)(w->pc >> 4)};
    }
    sim_touch now = touch_of(w, lane, access);
    for_cells(w, owner, touch_cell, &now, address, size);
}

/* A cell that the copy of the current instruction writes: from now on the copy is its writer, not the thread. */
static void copy_cell(sim_warp *w, sim_cta *owner, sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size)
{
    if (c->write.warp != now->warp || c->write.step != now->step)
        touch_cell(w, owner, c, now, address, size);
    c->write.access = ORIC_ACCESS_COPY;
    c->write.clock = now->clock;
}

void sim_memcheck_copied(sim_warp *w, const uint8_t *to, uint64_t size)
{
    sim_cta *owner = owner_of(w, to);
    uint64_t address = owner ? (uint64_t)(to - owner->shared) : 0, end = w->sim->launch.shared_bytes;
    if (!owner || end - address < size)
        return;
    sim_touch now = touch_of(w, sim_first_lane(w->active), ORIC_ACCESS_WRITE);
    now.clock = sim_shadow_of(w)->stamp - (w->shadow->arrives != 0);
    for_cells(w, owner, copy_cell, &now, address, size);
}
