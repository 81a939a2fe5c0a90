/* Strict mode: results under way, and who touches them too early.

   The registers always hold the newest values. What is under way is kept beside them: for each register of an instruction a
   record with the lanes, the old value and what ends it, by the rules and the distances of the latency tables. Cycles are those
   of the stall counts alone: a warp never waits longer than it has to, so that nothing is there by luck. They are counted for the
   lanes that run: the results of a group of threads do not come nearer while other groups run. */
#include <stdlib.h>

#include "sass/control.h"
#include "sim/async.h"
#include "sim/modes.h"
#include "sim/pending.h"
#include "tables/registers.h"

enum { FIRST_RECORDS = 48, OUTSIDE_CYCLES = 1000 };

int sim_strict_start(oric_sim *sim)
{
    for (uint32_t i = 0; i < sim->ncodes; i++)
        if (!sim_facts_make(sim->isa, &sim->codes[i]))
            return 0;
    return 1;
}

int sim_strict_begin(sim_warp *w)
{
    struct sim_pending *p = w->pending = calloc(1, sizeof *p);
    if (!p)
        return 0;
    memset(p->head, 0xff, sizeof p->head);
    p->full = FIRST_RECORDS;
    for (int k = 0; k < ORIC_REUSE_PLACES; k++)
        p->cache[k].unit = ORIC_UNITS;
    return 1;
}

void sim_strict_end(sim_warp *w)
{
    if (!w->pending)
        return;
    free(w->pending->records);
    free(w->pending);
    w->pending = NULL;
}

static void report(sim_warp *w, int kind, uint32_t lanes, uint64_t first, uint16_t unit, int32_t had, int32_t needed)
{
    oric_sim_report r = {.kind = kind, .first = first, .second = w->pc, .had = had, .needed = needed};
    uint32_t lane = sim_first_lane(lanes);
    r.file = oric_unit_file(unit), r.number = oric_unit_number(unit);
    sim_thread_id(w, lane, r.other_tid);
    sim_report(w, lane, r);
}

static uint32_t lanes_of(uint16_t unit, uint32_t lanes) { return lanes && sim_unit_is_uniform(unit) ? SIM_FULL : lanes; }

/* -- waits -- */

/* The scoreboards whose wait counts: one that comes too soon after the use of the scoreboard sees nothing to wait for. */
static uint32_t effective_waits(sim_warp *w, const oric_insn *in, const sim_insn_facts *f)
{
    struct sim_pending *p = w->pending;
    uint32_t waits = f->s.waits, mask = oric_wait_mask_of(in->control) | (waits & ORIC_BOARD_GROUP);
    for (; mask; mask &= mask - 1) {
        int b = __builtin_ctz(mask);
        int32_t needed = oric_settle_between(p->board_settle[b], f->s.klass->least_settle);
        uint32_t lanes = p->board_lanes[b] & p->ran;
        if (!lanes || p->clock - p->board_issue[b] >= (uint64_t)needed)
            continue;
        oric_sim_report r = {.kind = ORIC_REPORT_SETTLE, .first = p->board_pc[b], .second = w->pc, .number = (uint32_t)b,
                             .had = (int32_t)(p->clock - p->board_issue[b]), .needed = needed};
        sim_report(w, sim_first_lane(lanes), r);
        waits &= ~(1u << b);
    }
    return waits;
}

/* End what the instruction waits for, and what is over when it issues. */
static void wait_for(sim_warp *w, const oric_insn *in, const sim_insn_facts *f)
{
    struct sim_pending *p = w->pending;
    int finish = f->s.klass->flags & ORIC_C_FINISH, reads_over = f->s.klass->flags & ORIC_C_READS_OVER;
    if (!f->s.waits && f->s.counted == ORIC_SCOREBOARDS && !finish && !reads_over)
        return;
    uint32_t waits = effective_waits(w, in, f);
    for (uint32_t i = 0; i < p->count; i++) {
        sim_record *r = &p->records[i];
        if ((r->boards & waits) || (r->board == f->s.counted && r->board < ORIC_SCOREBOARDS && r->later >= f->s.left) ||
            (finish && r->kind == SIM_P_FIXED) || (reads_over && r->kind == SIM_P_READ && r->queue))
            r->lanes &= ~lanes_of(r->unit, p->ran);
    }
    sim_async_waited(w, waits);
    if (f->s.counted < ORIC_SCOREBOARDS)
        sim_async_counted(w, f->s.counted, f->s.left);
}

/* -- who comes too early -- */

/* A source: results of the register that are under way. Returns whether one was too early. */
static int check_source(sim_warp *w, const sim_insn_facts *f, uint16_t unit, uint8_t group, uint32_t lanes)
{
    struct sim_pending *p = w->pending;
    int early = 0;
    for (uint32_t at = p->head[unit]; at != SIM_NONE; at = p->records[at].next) {
        sim_record *r = &p->records[at];
        uint32_t hit = r->lanes & lanes_of(unit, lanes);
        if (!hit || r->kind == SIM_P_READ || (r->group && f->s.klass->async == ORIC_ASYNC_GROUP))
            continue;
        int32_t had = -1, needed = 0;
        if (r->kind == SIM_P_FIXED) {
            uint64_t age = p->clock - r->issue;
            needed = oric_least[w->sim->isa][r->row][group];
            if (age >= r->limit)
                r->lanes = 0;
            if (age >= (uint64_t)needed)
                continue;
            had = (int32_t)age;
        }
        report(w, ORIC_REPORT_RAW, hit & lanes ? hit & lanes : lanes, r->pc, unit, had, needed);
        sim_hazard_early(w, unit, hit, r->old);
        early = 1;
    }
    return early;
}

/* A result: what is under way in its register. */
static void check_result(sim_warp *w, const sim_insn_facts *f, const sim_result *result, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    for (uint32_t at = p->head[result->unit]; at != SIM_NONE; at = p->records[at].next) {
        sim_record *r = &p->records[at];
        uint32_t hit = r->lanes & lanes_of(result->unit, mask);
        if (!hit || (r->group && f->s.klass->async == ORIC_ASYNC_GROUP) || (r->queue && r->queue == f->s.klass->queue))
            continue;
        int32_t had = -1, needed = 0;
        if (r->kind == SIM_P_FIXED) {
            uint64_t age = p->clock - r->issue;
            needed = oric_rewrite_distance(w->sim->isa, r->row, oric_row_shortest(w->sim->isa, r->row), f->s.klass, result->row);
            if (age >= r->limit || (int64_t)age >= needed)
                continue;
            had = (int32_t)age;
        }
        report(w, r->kind == SIM_P_READ ? ORIC_REPORT_WAR : ORIC_REPORT_WAW, hit & mask ? hit & mask : mask, r->pc, result->unit, had, needed);
        if (r->kind == SIM_P_READ)
            sim_hazard_late_reader(w, r, hit);
        else
            sim_hazard_late_result(w, result->unit, hit);
    }
}

/* -- the operand cache -- */

static void check_cache(sim_warp *w, const sim_insn_facts *f, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    for (int k = 0; k < ORIC_REUSE_PLACES; k++) {
        sim_cached *c = &p->cache[k];
        if (w->pc != p->next_pc)
            c->unit = ORIC_UNITS;
        if (f->place[k] == ORIC_UNITS)
            continue;
        uint32_t stale = c->unit == f->place[k] ? c->stale & mask : 0;
        if (stale) {
            report(w, ORIC_REPORT_REUSE, stale, c->pc, c->unit, -1, 0);
            for (uint16_t i = 0; i < c->count && i < 4; i++)
                sim_hazard_early(w, (uint16_t)(c->unit + i), stale, c->value[i]);
        }
        c->unit = f->keeps >> k & 1 ? f->place[k] : ORIC_UNITS;
        c->count = f->place_count[k], c->stale = 0, c->pc = w->pc;
    }
    p->next_pc = w->pc + ORIC_INSN_BYTES;
}

/* The registers that a place of the cache holds are about to be written. */
static void spoil_cache(sim_warp *w, uint16_t unit, uint32_t mask)
{
    for (int k = 0; k < ORIC_REUSE_PLACES; k++) {
        sim_cached *c = &w->pending->cache[k];
        if (c->unit == ORIC_UNITS || unit < c->unit || unit >= c->unit + c->count)
            continue;
        if (!c->stale)
            for (uint16_t i = 0; i < c->count && i < 4; i++)
                sim_pending_get(w, (uint16_t)(c->unit + i), c->value[i]);
        c->stale |= mask;
    }
}

/* -- what begins -- */

/* Leave a record with the lanes that run; the others get one of their own, which is returned. NULL: there are none, or there is no room:
   then all stay together. */
static sim_record *set_apart(struct sim_pending *p, uint32_t at)
{
    uint32_t others = p->records[at].lanes & ~p->ran;
    if (!others || sim_unit_is_uniform(p->records[at].unit))
        return NULL;
    if (p->count >= p->full)
        p->full *= 2; /* no record goes away here */
    sim_record *split = sim_pending_add(p, p->records[at].unit);
    if (!split)
        return NULL;
    uint32_t next = split->next;
    *split = p->records[at];
    split->next = next, split->lanes = others;
    p->records[at].lanes &= p->ran;
    return split;
}

/* A scoreboard that a later instruction of an in-order queue uses tells of the earlier ones as well, also where its guard is off. What
   other threads of the warp put into the queue does not help: they might have come earlier. */
static void cover(struct sim_pending *p, const sim_insn_facts *f)
{
    if (f->s.never || (f->s.write_board >= ORIC_SCOREBOARDS && f->s.read_board >= ORIC_SCOREBOARDS))
        return;
    for (uint32_t i = 0, n = p->count; i < n; i++) {
        const sim_record *known = &p->records[i];
        int counts = known->board < ORIC_SCOREBOARDS && (known->board == f->s.write_board || known->board == f->s.read_board);
        int covered = known->queue && known->queue == f->s.klass->queue;
        if (!(known->lanes & p->ran) || !(counts || covered))
            continue;
        set_apart(p, i);
        sim_record *r = &p->records[i];
        if (counts)
            r->later++;
        if (!covered)
            continue;
        if (f->s.write_board < ORIC_SCOREBOARDS) {
            if (r->board == ORIC_SCOREBOARDS)
                r->board = f->s.write_board, r->later = 0;
            r->boards |= (uint8_t)(1 << f->s.write_board);
        }
        if (f->s.read_board < ORIC_SCOREBOARDS && r->kind == SIM_P_READ)
            r->boards |= (uint8_t)(1 << f->s.read_board);
    }
}

static void end_records(struct sim_pending *p, uint16_t unit, uint32_t lanes)
{
    for (uint32_t at = p->head[unit]; at != SIM_NONE; at = p->records[at].next)
        p->records[at].lanes &= ~lanes;
}

static sim_record *begin(sim_warp *w, const oric_insn *in, const sim_insn_facts *f, uint16_t unit, uint32_t mask)
{
    sim_record *r = sim_pending_add(w->pending, unit);
    if (!r) {
        sim_fault(w, ORIC_FAULT_NO_MEMORY, sim_first_lane(mask), "results under way");
        return NULL;
    }
    r->lanes = lanes_of(unit, mask), r->issue = w->pending->clock, r->pc = w->pc, r->insn = in;
    r->board = f->s.write_board < ORIC_SCOREBOARDS ? f->s.write_board : ORIC_SCOREBOARDS, r->group = f->s.klass->async == ORIC_ASYNC_GROUP;
    return r;
}

static void begin_result(sim_warp *w, const oric_insn *in, const sim_insn_facts *f, const sim_result *result, uint32_t mask)
{
    end_records(w->pending, result->unit, lanes_of(result->unit, mask));
    if (result->comes == ORIC_COMES_UNKNOWN)
        return;
    sim_record *r = begin(w, in, f, result->unit, mask);
    if (!r)
        return;
    r->kind = result->comes == ORIC_COMES_LATER ? SIM_P_FIXED : SIM_P_WRITE;
    r->row = result->row, r->limit = result->limit, r->boards = result->boards;
    r->queue = result->comes == ORIC_COMES_LATER ? 0 : f->s.klass->queue;
    sim_pending_get(w, result->unit, r->old);
}

/* A later read of one queue is over after the earlier ones. */
static void begin_read(sim_warp *w, const oric_insn *in, const sim_insn_facts *f, const sim_source *source, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    const sim_result *results = &w->code->facts->results[f->first_result];
    for (uint32_t k = 0; k < f->results; k++)
        if (results[k].unit == source->unit)
            return; /* its own result comes after its sources */
    for (uint32_t at = p->head[source->unit]; at != SIM_NONE; at = p->records[at].next) {
        sim_record *r = &p->records[at];
        if (r->kind == SIM_P_READ && (r->pc == w->pc || (r->queue && r->queue == f->s.klass->queue)))
            r->lanes &= ~lanes_of(source->unit, mask);
    }
    sim_record *r = begin(w, in, f, source->unit, mask);
    if (!r)
        return;
    r->kind = SIM_P_READ, r->boards = f->read_ends, r->queue = f->s.klass->queue, r->again = f->again;
}

static void use_boards(sim_warp *w, const sim_insn_facts *f)
{
    struct sim_pending *p = w->pending;
    uint8_t group = f->s.klass->async == ORIC_ASYNC_GROUP ? ORIC_GROUP : ORIC_COUNTERS;
    uint8_t boards[3] = {f->s.write_board, f->s.read_board, group};
    for (int k = 0; k < 3; k++) {
        uint8_t b = boards[k];
        if (b >= (k < 2 ? ORIC_SCOREBOARDS : ORIC_COUNTERS))
            continue;
        p->board_issue[b] = p->clock, p->board_pc[b] = w->pc, p->board_lanes[b] = p->ran, p->board_settle[b] = f->s.klass->least_settle;
        if (k < 2 && !f->s.never && (k == 0 || b != boards[0]))
            sim_async_board_used(w, b);
    }
}

/* -- around an instruction -- */

static uint32_t check_guard(sim_warp *w, const oric_insn *in, const sim_insn_facts *f, uint32_t mask)
{
    uint32_t bits[SIM_LANES];
    if (f->guard == ORIC_UNITS || w->pending->head[f->guard] == SIM_NONE || !check_source(w, f, f->guard, f->guard_group, w->pending->ran))
        return mask;
    sim_pending_get(w, f->guard, bits);
    return w->pending->ran & (in->guard_neg ? ~bits[0] : bits[0]);
}

static void check_operands(sim_warp *w, const oric_insn *in, const sim_insn_facts *f, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    const sim_source *sources = &w->code->facts->sources[f->first_source];
    const sim_result *results = &w->code->facts->results[f->first_result];
    for (uint32_t k = 0; k < f->sources; k++)
        if (p->head[sources[k].unit] != SIM_NONE)
            check_source(w, f, sources[k].unit, sources[k].group, mask);
    for (uint32_t k = 0; k < f->results; k++)
        if (p->head[results[k].unit] != SIM_NONE)
            check_result(w, f, &results[k], mask);
    cover(p, f);
    for (uint32_t k = 0; k < f->sources; k++)
        if (sources[k].late)
            begin_read(w, in, f, &sources[k], mask);
    for (uint32_t k = 0; k < f->results; k++) {
        spoil_cache(w, results[k].unit, mask);
        begin_result(w, in, f, &results[k], mask);
    }
}

uint32_t sim_strict_before(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    const sim_insn_facts *f = &w->code->facts->insns[in - w->code->insns];
    p->ran = w->active;
    if (f->s.stall < f->s.klass->least_stall)
        report(w, ORIC_REPORT_STALL, p->ran, 0, 0, f->s.stall, f->s.klass->least_stall);
    wait_for(w, in, f);
    mask = check_guard(w, in, f, mask);
    check_cache(w, f, mask);
    if (mask)
        check_operands(w, in, f, mask);
    else
        cover(p, f);
    return mask;
}

/* The clock of groups of threads that do not run stands still: results under way there are as far away as before. */
static void hold_others(sim_warp *w, uint32_t cycles)
{
    struct sim_pending *p = w->pending;
    for (uint32_t i = 0, n = p->count; i < n; i++) {
        sim_record *r = &p->records[i];
        if (r->kind != SIM_P_FIXED || !(r->lanes & ~p->ran) || sim_unit_is_uniform(r->unit))
            continue;
        if (r->lanes & p->ran)
            r = set_apart(p, i);
        if (r)
            r->issue += cycles; /* without room they grow old with the others */
    }
    for (int b = 0; b < ORIC_COUNTERS; b++)
        if (p->board_lanes[b] && !(p->board_lanes[b] & p->ran))
            p->board_issue[b] += cycles;
}

void sim_strict_outside(sim_warp *w, uint32_t lanes)
{
    w->pending->ran = lanes;
    if (~(lanes | w->dead))
        hold_others(w, OUTSIDE_CYCLES);
    w->pending->clock += OUTSIDE_CYCLES;
}

void sim_strict_after(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    const sim_insn_facts *f = &w->code->facts->insns[in - w->code->insns];
    if (p->nswapped || p->nlanding || p->nagain)
        sim_hazard_settle(w, f, mask);
    use_boards(w, f);
    if (~(p->ran | w->dead))
        hold_others(w, f->s.stall);
    p->clock += f->s.stall;
}
