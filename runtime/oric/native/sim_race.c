/*
 * Races in shared memory: who has touched each word since it was written, and what orders the threads.
 *
 * Between warps, vector clocks: each warp has one, with an entry for every warp and one for the asynchronous copies of every warp.
 * CTA barriers, atomics on shared memory and mbarriers hand them on. All threads of a warp share a clock; that can hide a race
 * between warps of which only some lanes have synchronised, and never makes one up.
 *
 * Within a warp, lanes are ordered that were together in one group when the earlier of two instructions was executed (the
 * compiler leaves a warp barrier out where it knows that they are), or that have met since: after BSYNC, WARPSYNC, a barrier, an atomic.
 */
#include <stdlib.h>

#include "sim_shadow.h"
#include "oric_slots.h"

enum { WORD = 4, KEY_BYTES = 8, NO_BOARD = 7 };

int sim_race_begin(sim_cta *cta)
{
    sim_shadow *s = cta->shadow;
    size_t n = s->nclocks = 2 * cta->nwarps;
    s->clocks = calloc(n * cta->nwarps, sizeof *s->clocks);
    s->barrier_clocks = calloc(n * SIM_CTA_BARRIERS, sizeof *s->barrier_clocks);
    s->key_clocks = calloc(n * SHADOW_KEYS, sizeof *s->key_clocks);
    s->exit_clock = calloc(n, sizeof *s->exit_clock);
    s->cells = calloc(cta->sim->launch.shared_bytes / WORD + 1, sizeof *s->cells);
    if (!s->clocks || !s->barrier_clocks || !s->key_clocks || !s->exit_clock || !s->cells)
        return 0;
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        s->clocks[i * n + i] = 1;
        s->warps[i].stamp = 1;
        s->warps[i].board = NO_BOARD;
    }
    return 1;
}

void sim_race_end(sim_shadow *s)
{
    free(s->clocks);
    free(s->barrier_clocks);
    free(s->key_clocks);
    free(s->exit_clock);
    free(s->cells);
    free(s->bytes);
}

static uint32_t *clock_of(const sim_shadow *s, uint32_t warp) { return s->clocks + (size_t)warp * s->nclocks; }

static uint32_t *key_of(const sim_shadow *s, const void *at)
{
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
    uint32_t *known = &clock_of(w->shadow, w->id)[w->shadow->nwarps + w->id];
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
    uint64_t boards = in->control >> 11 | (in->mods >> flow->boards_shift & ((1u << flow->boards_width) - 1));
    if (boards >> own->board & 1)
        left = 0;
    if (left < SHADOW_GROUPS && left < own->commits)
        copies_done(w, own->group[(own->commits - 1 - left) % SHADOW_GROUPS]);
}

void sim_race_before(sim_warp *w, const oric_insn *in)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    own->step++;
    w->shadow->synced = 0;
    w->shadow->ncandidates = 0;
    w->shadow->arrives = 0;
    if (own->commits && own->board != NO_BOARD)
        wait_for_groups(w, in);
}

void sim_memcheck_commit(sim_warp *w)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    own->group[own->commits++ % SHADOW_GROUPS] = own->stamp++;
    own->board = w->shadow->insn->control >> 5 & 7;
}

void sim_memcheck_sync(sim_warp *w, const void *at)
{
    uint32_t *key = key_of(w->shadow, at);
    sim_race_acquire(w->shadow, w->id, key);
    sim_race_release(w->shadow, w->id, key);
}

void sim_memcheck_copies_arrive(sim_warp *w, const sim_cta *owner, const void *mbarrier)
{
    sim_shadow *s = w->shadow;
    s->arrives = owner == w->cta ? SHADOW_ARRIVES : SHADOW_ARRIVES_ELSEWHERE;
    key_of(s, mbarrier)[s->nwarps + w->id] = sim_shadow_of(w)->stamp++;
}

void sim_memcheck_converged(sim_warp *w) { sim_shadow_of(w)->synced = sim_shadow_of(w)->step; }

static int ordered(const sim_warp *w, uint32_t lane, const sim_touch *before)
{
    const sim_shadow *s = w->shadow;
    const uint32_t *known = clock_of(s, w->id);
    if (before->access == ORIC_ACCESS_COPY)
        return before->clock <= known[s->nwarps + before->warp];
    if (before->warp != w->id)
        return before->clock <= known[before->warp];
    return before->lane == lane || before->step <= s->warps[w->id].synced || (before->mask >> lane & 1);
}

static void report(sim_warp *w, uint32_t lane, const sim_touch *first, int access, uint64_t address, uint32_t size)
{
    oric_sim_report r = {0};
    const uint32_t *block = w->sim->launch.block;
    uint32_t flat = first->warp * SIM_LANES + first->lane;
    r.kind = ORIC_REPORT_RACE;
    r.first = w->pc >> 36 << 36 | (uint64_t)first->pc << 4;
    r.second = w->pc;
    r.space = ORIC_MEM_SHARED;
    r.address = address;
    r.size = size;
    r.write = access != ORIC_ACCESS_READ;
    r.first_access = first->access;
    r.second_access = access;
    r.other_tid[0] = flat % block[0];
    r.other_tid[1] = flat / block[0] % block[1];
    r.other_tid[2] = flat / block[0] / block[1];
    sim_report(w, lane, r);
}

/* Two writes that nothing orders; what is there is compared when the instruction is done. */
static void add_candidate(sim_warp *w, const sim_touch *first, const sim_touch *now, uint64_t address, uint32_t size)
{
    sim_shadow *s = w->shadow;
    if (s->ncandidates == SHADOW_CANDIDATES)
        return;
    sim_candidate *c = &s->candidates[s->ncandidates++];
    c->first = *first;
    c->lane = now->lane;
    c->address = address;
    c->size = size;
    c->bytes = w->cta->shared + address;
    memcpy(c->before, c->bytes, size);
}

void sim_race_after(sim_warp *w)
{
    sim_shadow *s = w->shadow;
    sim_warp_shadow *own = sim_shadow_of(w);
    for (uint32_t i = 0; i < s->ncandidates; i++) {
        const sim_candidate *c = &s->candidates[i];
        if (memcmp(c->before, c->bytes, c->size) != 0)
            report(w, c->lane, &c->first, ORIC_ACCESS_WRITE, c->address, c->size);
    }
    if (s->synced || s->atomic) {
        clock_of(s, w->id)[w->id]++;
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

static void touch_cell(sim_warp *w, sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size)
{
    const sim_touch *last = &c->write;
    int write = now->access != ORIC_ACCESS_READ;
    int atomics = last->access == ORIC_ACCESS_ATOMIC && now->access == ORIC_ACCESS_ATOMIC;
    int together = last->warp == now->warp && last->step == now->step && last->lane != now->lane;
    if (last->clock && !atomics && ((write && together) || !ordered(w, now->lane, last))) {
        if (write && now->access != ORIC_ACCESS_ATOMIC && last->access != ORIC_ACCESS_ATOMIC)
            add_candidate(w, last, now, address, size);
        else
            report(w, now->lane, last, now->access, address, size);
    }
    if (!write) {
        note_reader(c, now);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (c->read[i].clock && !ordered(w, now->lane, &c->read[i]))
            report(w, now->lane, &c->read[i], now->access, address, size);
    c->write = *now;
    c->read[0].clock = c->read[1].clock = 0;
}

/* The cells of the four bytes of a word, made on first use; NULL without memory. */
static sim_cell *split(sim_warp *w, uint32_t lane, sim_cell *word)
{
    sim_shadow *s = w->shadow;
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
typedef void (*cell_fn)(sim_warp *w, sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size);

static void for_cells(sim_warp *w, cell_fn each, const sim_touch *now, uint64_t address, uint64_t size)
{
    sim_shadow *s = w->shadow;
    for (uint64_t at = address; at < address + size;) {
        sim_cell *word = &s->cells[at / WORD];
        if (at % WORD == 0 && address + size - at >= WORD && !word->split) {
            each(w, word, now, at, WORD);
            at += WORD;
            continue;
        }
        sim_cell *bytes = split(w, now->lane, word);
        if (!bytes)
            return;
        do
            each(w, &bytes[at % WORD], now, at, 1);
        while (++at < address + size && at % WORD);
    }
}

static sim_touch touch_of(const sim_warp *w, uint32_t lane, int access)
{
    const sim_shadow *s = w->shadow;
    return (sim_touch){clock_of(s, w->id)[w->id], sim_shadow_of(w)->step, w->active, (uint32_t)(w->pc >> 4),
                       (uint8_t)w->id,            (uint8_t)lane,          (uint8_t)access};
}

void sim_race_access(sim_warp *w, uint32_t lane, uint64_t address, uint32_t size, int access)
{
    if (access == ORIC_ACCESS_ATOMIC)
        sim_memcheck_sync(w, w->cta->shared + address);
    sim_touch now = touch_of(w, lane, access);
    for_cells(w, touch_cell, &now, address, size);
}

/* A cell that the copy of the current instruction writes: from now on the copy is its writer, not the thread. */
static void copy_cell(sim_warp *w, sim_cell *c, const sim_touch *now, uint64_t address, uint32_t size)
{
    if (c->write.warp != now->warp || c->write.step != now->step)
        touch_cell(w, c, now, address, size);
    c->write.access = ORIC_ACCESS_COPY;
    c->write.clock = now->clock;
}

void sim_memcheck_copied(sim_warp *w, const uint8_t *to, uint64_t size)
{
    sim_shadow *s = w->shadow;
    uint64_t address = (uint64_t)((uintptr_t)to - (uintptr_t)w->cta->shared), end = w->sim->launch.shared_bytes;
    if (address >= end || end - address < size)
        return;
    sim_touch now = touch_of(w, sim_first_lane(w->active), ORIC_ACCESS_WRITE);
    now.clock = sim_shadow_of(w)->stamp - (s->arrives == SHADOW_ARRIVES);
    if (s->arrives == SHADOW_ARRIVES_ELSEWHERE)
        now.clock = 0; /* somebody else is told: nothing is known about the order */
    for_cells(w, copy_cell, &now, address, size);
}
