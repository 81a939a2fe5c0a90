#include "check/walk.h"

#include <stdlib.h>
#include <string.h>

#include "sass/control.h"
#include "sass/schedule.h"
#include "tables/registers.h"
#include "tables/slots.h"

_Static_assert(ORIC_READER_GROUPS <= 64, "a set of reader groups is a 64-bit word");

/* One instruction with what the tables say of it. */
typedef struct {
    int32_t i;
    const oric_insn *insn;
    oric_schedule s;
    const oric_class *klass;
    const oric_register_use *use, *end;
    uint8_t guard;         /* code of its guard */
    uint8_t sets_predicate;
} current;

/* 0: no guard; else 1 + (uniform, number, negated). */
static uint8_t guard_code(const oric_insn *insn) {
    if (insn->guard >= ORIC_INSN_PT) return 0;
    int uniform = insn->op < ORIC_SLOT_OPS && oric_flows[insn->op].uniform_guard;
    return (uint8_t)(1 + (uniform << 4 | insn->guard << 1 | (insn->guard_neg != 0)));
}

static uint8_t opposite(uint8_t guard) { return guard ? (uint8_t)(1 + ((guard - 1) ^ 1)) : 0; }

static uint16_t guard_unit(uint8_t guard) { return oric_unit((guard - 1) >> 4 ? ORIC_FILE_UP : ORIC_FILE_P, (guard - 1) >> 1 & 7); }

void oric_report(oric_findings *out, oric_finding finding) {
    if (!out || out->failed) return;
    if (out->n == out->room) {
        int32_t room = out->room ? 2 * out->room : 64;
        oric_finding *list = realloc(out->list, (size_t)room * sizeof *list);
        if (!list) {
            out->failed = 1;
            return;
        }
        out->list = list, out->room = room;
    }
    out->list[out->n++] = finding;
}

static void report(oric_walker *w, uint8_t kind, uint16_t unit, int32_t first, int32_t second, int32_t had, int32_t needed) {
    if (!w->findings) return;
    oric_report(w->findings, (oric_finding){kind, oric_unit_file(unit), oric_unit_number(unit), first, second, had, needed});
}

void oric_walk_begin(oric_walker *w) {
    int isa = w->code->isa;
    for (int row = 0; row < ORIC_RESULT_ROWS; row++) {
        w->limit[row] = w->evidence ? ORIC_AGE_MOST : oric_row_longest(isa, (uint8_t)row);
        w->quick[row] = oric_row_shortest(isa, (uint8_t)row);
    }
}

/* -- what an instruction is and touches -- */

static current look_at(const oric_walker *w, int32_t i) {
    const oric_insn *insn = &w->code->insns[i];
    current c = {.i = i, .insn = insn, .s = oric_schedule_of(w->code->isa, insn)};
    c.klass = c.s.klass;
    c.use = w->uses + w->first_use[i], c.end = w->uses + w->first_use[i + 1];
    c.guard = guard_code(insn);
    if (c.s.left > ORIC_LATER_MOST) c.s.left = ORIC_LATER_MOST;
    return c;
}

static void mark(oric_walker *w, current *c) {
    w->stamp++;
    for (const oric_register_use *use = c->use; use < c->end; use++) {
        for (int k = 0; k < use->count; k++) {
            uint16_t unit = oric_unit(use->file, use->number + (unsigned)k);
            if (unit >= ORIC_UNITS || (use->file == ORIC_FILE_R && use->number + k >= ORIC_INSN_RZ)) break;
            if (use->writes) {
                w->write_stamp[unit] = w->stamp;
                w->row[unit] = oric_result_row(w->code->isa, c->insn, use->file, k);
                c->sets_predicate |= use->file == ORIC_FILE_P || use->file == ORIC_FILE_UP;
                continue;
            }
            if (w->read_stamp[unit] != w->stamp) w->groups[unit] = 0;
            w->read_stamp[unit] = w->stamp;
            w->groups[unit] |= 1ull << oric_source_group(&c->s, use, k);
            if (oric_source_is_late(&c->s, use)) w->late_stamp[unit] = w->stamp;
        }
    }
}

/* -- dependences -- */

static uint8_t smaller(uint8_t a, int32_t b) { return b < a ? (uint8_t)b : a; }

/* A result of known time is read. */
static void check_read(oric_walker *w, const current *c, const oric_token *t, int32_t age) {
    int32_t needed = 0;
    for (uint64_t rest = w->groups[t->unit]; rest; rest &= rest - 1) {
        int group = __builtin_ctzll(rest);
        int32_t least = oric_least[w->code->isa][t->row][group];
        if (least > needed) needed = least;
        if (w->findings && w->evidence) w->evidence->raw[t->row][group] = smaller(w->evidence->raw[t->row][group], age);
    }
    if (age < needed) report(w, ORIC_H_RAW, t->unit, t->insn, c->i, age, needed);
}

/* ... or its register written again. */
static void check_rewrite(oric_walker *w, const current *c, const oric_token *t, int32_t age) {
    uint8_t row = w->row[t->unit];
    int fixed = c->klass->result == ORIC_RESULT_FIXED && row != ORIC_NO_ROW;
    int32_t needed = oric_rewrite_distance(w->code->isa, t->row, w->quick[t->row], c->klass, row);
    if (w->findings && w->evidence) {
        uint8_t *seen = fixed ? &w->evidence->over[t->row][row] : &w->evidence->rewrite[t->row];
        *seen = smaller(*seen, age);
    }
    if (age < needed) report(w, ORIC_H_WAW, t->unit, t->insn, c->i, age, needed);
}

/* Check one pending operation against the instruction; returns whether it goes on being pending. */
static int meet(oric_walker *w, const current *c, oric_token *t) {
    if (t->boards & c->s.waits) return 0;
    if (c->s.left && t->board == c->s.counted && c->s.counted < ORIC_SCOREBOARDS && t->later >= c->s.left) return 0;
    int32_t age = w->clock + t->age;
    if (t->kind == ORIC_T_FIXED && (age >= t->limit || c->klass->flags & ORIC_C_FINISH)) return 0;
    if (t->kind == ORIC_T_READ && t->queue && c->klass->flags & ORIC_C_READS_OVER) return 0;
    int reads = w->read_stamp[t->unit] == w->stamp, writes = w->write_stamp[t->unit] == w->stamp;
    if (!reads && !writes) return 1;
    if (c->s.never || (t->guard && t->guard == opposite(c->guard))) return 1; /* other threads */
    int queued = t->queue && t->queue == c->klass->queue;
    if (t->kind == ORIC_T_FIXED) {
        if (reads) check_read(w, c, t, age);
        if (writes) check_rewrite(w, c, t, age);
    } else if (t->kind == ORIC_T_WRITE) {
        int chained = t->boards == ORIC_BOARD_GROUP && c->klass->async == ORIC_ASYNC_GROUP;
        if (reads && !chained) report(w, ORIC_H_RAW_WAIT, t->unit, t->insn, c->i, age, 0);
        else if (writes && !queued && !chained) report(w, ORIC_H_WAW_WAIT, t->unit, t->insn, c->i, age, 0);
    } else if (writes && !queued && !(t->boards == ORIC_BOARD_GROUP && c->klass->async == ORIC_ASYNC_GROUP)) {
        report(w, ORIC_H_WAR_WAIT, t->unit, t->insn, c->i, age, 0);
    }
    if (writes && (!c->guard || c->guard == t->guard)) return 0; /* what comes now replaces it */
    /* a later read of one queue is over after the earlier ones */
    return !(t->kind == ORIC_T_READ && queued && w->late_stamp[t->unit] == w->stamp && (!c->guard || c->guard == t->guard));
}

/* A scoreboard that a later instruction of an in-order queue sets covers the earlier ones. */
static void cover(const current *c, oric_token *t) {
    if (t->board < ORIC_SCOREBOARDS && t->later < ORIC_LATER_MOST && (t->board == c->s.write_board || t->board == c->s.read_board)) t->later++;
    if (!t->queue || t->queue != c->klass->queue) return;
    if (t->board == ORIC_SCOREBOARDS && c->s.write_board < ORIC_SCOREBOARDS) t->board = c->s.write_board, t->later = 0;
    if (c->s.write_board < ORIC_SCOREBOARDS) t->boards |= (uint8_t)(1 << c->s.write_board);
    if (c->s.read_board < ORIC_SCOREBOARDS && t->kind == ORIC_T_READ) t->boards |= (uint8_t)(1 << c->s.read_board);
}

static void meet_all(oric_walker *w, const current *c) {
    oric_state *s = &w->state;
    int32_t n = 0;
    for (int32_t k = 0; k < s->n; k++) {
        oric_token *t = &s->tokens[k];
        if (!meet(w, c, t)) continue;
        if (!c->s.never) cover(c, t);
        if (c->sets_predicate && t->guard && w->write_stamp[guard_unit(t->guard)] == w->stamp) t->guard = 0;
        s->tokens[n++] = *t;
    }
    s->n = n;
}

static int begin_write(oric_walker *w, const current *c, const oric_register_use *use, int k) {
    oric_token t = {.insn = c->i, .age = -w->clock, .unit = oric_unit(use->file, use->number + (unsigned)k), .guard = c->guard};
    if (c->sets_predicate && t.guard && w->write_stamp[guard_unit(t.guard)] == w->stamp) t.guard = 0;
    t.queue = c->klass->queue, t.board = c->s.write_board < ORIC_SCOREBOARDS ? c->s.write_board : ORIC_SCOREBOARDS;
    oric_result result = oric_result_of(w->code->isa, c->insn, &c->s, use->file, k);
    if (result.comes == ORIC_COMES_UNKNOWN) return 0;
    t.kind = result.comes == ORIC_COMES_LATER ? ORIC_T_FIXED : ORIC_T_WRITE, t.row = result.row, t.boards = result.boards;
    if (t.kind == ORIC_T_FIXED) t.limit = w->limit[t.row], t.queue = 0;
    return oric_state_add(&w->state, t);
}

static int begin_read(oric_walker *w, const current *c, const oric_register_use *use, int k) {
    oric_token t = {.insn = c->i, .age = -w->clock, .unit = oric_unit(use->file, use->number + (unsigned)k), .guard = c->guard};
    if (w->write_stamp[t.unit] == w->stamp) return 0; /* its own result comes after its sources */
    if (c->sets_predicate && t.guard && w->write_stamp[guard_unit(t.guard)] == w->stamp) t.guard = 0;
    t.kind = ORIC_T_READ, t.queue = c->klass->queue, t.board = c->s.write_board < ORIC_SCOREBOARDS ? c->s.write_board : ORIC_SCOREBOARDS;
    t.boards = oric_read_ends(&c->s);
    return oric_state_add(&w->state, t);
}

static int begin_all(oric_walker *w, const current *c) {
    for (const oric_register_use *use = c->use; use < c->end && !c->s.never; use++)
        for (int k = 0; k < use->count && use->number + k < ORIC_INSN_RZ; k++) {
            if (use->writes ? begin_write(w, c, use, k) : oric_source_is_late(&c->s, use) && begin_read(w, c, use, k)) return -1;
        }
    uint8_t boards[2] = {c->s.write_board, c->s.read_board};
    for (int k = 0; k < 2; k++)
        if (boards[k] < ORIC_SCOREBOARDS) w->state.board_insn[boards[k]] = c->i, w->state.board_age[boards[k]] = -w->clock;
    if (c->klass->async == ORIC_ASYNC_GROUP) w->state.board_insn[ORIC_GROUP] = c->i, w->state.board_age[ORIC_GROUP] = -w->clock;
    return 0;
}

/* -- scoreboards, regions, stack -- */

static void check_settled(oric_walker *w, const current *c) {
    for (int b = 0; b < ORIC_COUNTERS; b++) {
        int32_t setter = w->state.board_insn[b];
        if (!((oric_wait_mask_of(c->insn->control) | (c->s.waits & ORIC_BOARD_GROUP)) >> b & 1) || setter == ORIC_NO_INSN) continue;
        uint16_t op = w->code->insns[setter].op;
        const oric_class *klass = &oric_classes[w->code->isa][oric_op_schedules[op].klass];
        int32_t age = w->clock + w->state.board_age[b];
        if (w->findings && w->evidence) {
            uint8_t *seen = &w->evidence->settle[oric_op_schedules[op].klass];
            *seen = smaller(*seen, age);
        }
        int32_t needed = oric_settle_between(klass->least_settle, c->klass->least_settle);
        if (age < needed && w->findings)
            oric_report(w->findings, (oric_finding){ORIC_H_SETTLE, 0, (uint16_t)b, setter, c->i, age, needed});
    }
}

static void walk_regions(oric_walker *w, const current *c) {
    uint8_t does = c->insn->op < ORIC_SLOT_OPS ? oric_flows[c->insn->op].region : 0;
    for (const oric_register_use *use = c->use; use < c->end; use++) {
        if (use->file != ORIC_FILE_B) continue;
        uint16_t bit = (uint16_t)(1 << use->number);
        if (use->writes) {
            w->state.regions |= bit;
        } else if (does == ORIC_REGION_SYNC || does == ORIC_REGION_LEAVE) {
            if (!(w->state.regions & bit)) report(w, ORIC_H_REGION, oric_unit(use->file, use->number), ORIC_NO_INSN, c->i, 0, 0);
            if (does == ORIC_REGION_SYNC && !c->guard) w->state.regions &= (uint16_t)~bit;
        }
    }
}

/* The amount that the instruction adds to R1, in *by; 0 when it is no such sum. */
static int moves_stack(const current *c, int32_t *by) {
    uint16_t adds = c->insn->op < ORIC_SLOT_OPS ? oric_flows[c->insn->op].adds : 0;
    int pointers = 0;
    uint32_t sum = 0;
    if (!adds || c->insn->mods || c->guard) return 0;
    for (unsigned k = 0; k < c->insn->nops; k++) {
        const oric_operand *o = &c->insn->ops[k];
        if (!(adds >> k & 1)) continue;
        if (o->kind == ORIC_K_IMM && !o->flags) sum += (uint32_t)o->value;
        else if (o->kind == ORIC_K_GPR && o->reg == ORIC_STACK_POINTER && !(o->flags & ~ORIC_F_REUSE)) pointers++;
        else if ((o->kind != ORIC_K_GPR && o->kind != ORIC_K_UGPR) || o->reg != ORIC_INSN_RZ) return 0;
    }
    *by = (int32_t)sum;
    return pointers == 1;
}

static void walk_stack(oric_walker *w, const current *c) {
    if (w->write_stamp[ORIC_STACK_POINTER] != w->stamp || c->s.never) return;
    int32_t by = 0;
    if (moves_stack(c, &by)) w->state.stack = (int32_t)((uint32_t)w->state.stack + (uint32_t)by);
    else w->state.stack_known = 0;
}

/* -- the operand cache -- */

static void walk_cache(oric_walker *w, const current *c) {
    uint8_t operand[4];
    oric_reuse_places(w->code->isa, c->insn, operand);
    for (const oric_register_use *use = c->use; use < c->end; use++) {
        for (int k = 0; k < 4 && !use->writes; k++) {
            if (operand[k] == ORIC_BY_GUARD || use->operand != operand[k]) continue; /* 255: the form has no such place */
            oric_cached *cached = &w->cache[k];
            uint16_t unit = oric_unit(use->file, use->number);
            if (cached->insn != ORIC_NO_INSN && cached->unit == unit && cached->stale != ORIC_NO_INSN)
                report(w, ORIC_H_REUSE, unit, cached->insn, c->i, 0, 0);
            cached->insn = c->insn->ops[operand[k]].flags & ORIC_F_REUSE ? c->i : ORIC_NO_INSN;
            cached->unit = unit, cached->count = use->count, cached->stale = ORIC_NO_INSN;
        }
    }
    for (const oric_register_use *use = c->use; use < c->end; use++)
        for (int k = 0; k < 4 && use->writes; k++) {
            uint16_t unit = oric_unit(use->file, use->number);
            if (w->cache[k].insn != ORIC_NO_INSN && unit < w->cache[k].unit + w->cache[k].count && w->cache[k].unit < unit + use->count)
                w->cache[k].stale = c->i;
        }
}

/* -- a block -- */

static int step(oric_walker *w, int32_t i) {
    current c = look_at(w, i);
    mark(w, &c);
    check_settled(w, &c);
    meet_all(w, &c);
    walk_regions(w, &c);
    walk_stack(w, &c);
    if (w->findings) walk_cache(w, &c);
    if (begin_all(w, &c)) return -1;
    w->clock += c.s.stall;
    return 0;
}

int oric_walk(oric_walker *w, const oric_state *entry, int32_t first, int32_t end) {
    if (oric_state_copy(&w->state, entry)) return -1;
    w->clock = 0;
    for (int k = 0; k < 4; k++) w->cache[k].insn = ORIC_NO_INSN;
    for (int32_t i = first; i < end; i++)
        if (step(w, i)) return -1;
    oric_state *s = &w->state;
    for (int32_t k = 0; k < s->n; k++) {
        int32_t age = s->tokens[k].age + w->clock;
        s->tokens[k].age = age < ORIC_AGE_MOST ? age : ORIC_AGE_MOST;
    }
    for (int b = 0; b < ORIC_COUNTERS; b++) {
        int32_t age = s->board_age[b] + w->clock;
        if (age >= ORIC_AGE_MOST) s->board_insn[b] = ORIC_NO_INSN, age = ORIC_AGE_MOST;
        s->board_age[b] = age;
    }
    oric_state_sort(s);
    return 0;
}

void oric_walk_refine(oric_state *s, const oric_insn *branch, int taken) {
    uint8_t guard = guard_code(branch), absent = taken ? opposite(guard) : guard;
    int32_t n = 0;
    if (!guard) return;
    for (int32_t k = 0; k < s->n; k++)
        if (s->tokens[k].guard != absent) s->tokens[n++] = s->tokens[k];
    s->n = n;
}

/* -- what does not depend on paths -- */

static void check_registers(const oric_walker *w, const current *c) {
    for (const oric_register_use *use = c->use; use < c->end; use++) {
        int32_t end = use->number + use->count;
        if (use->number % use->align)
            oric_report(w->findings, (oric_finding){ORIC_H_ALIGN, use->file, use->number, ORIC_NO_INSN, c->i, use->number % use->align, use->align});
        if (use->file == ORIC_FILE_R && w->code->registers && end > w->code->registers)
            oric_report(w->findings, (oric_finding){ORIC_H_BEYOND, use->file, use->number, ORIC_NO_INSN, c->i, w->code->registers, end});
    }
}

void oric_check_insn(const oric_walker *w, int32_t i) {
    current c = look_at(w, i);
    uint8_t operand[4];
    int odd = oric_reuse_places(w->code->isa, c.insn, operand);
    for (int k = 0; k < 4; k++)
        if (odd >> k & 1 && !oric_flows[c.insn->op].hidden_reuse) oric_report(w->findings, (oric_finding){ORIC_H_REUSE_PLACE, 0, (uint16_t)k, ORIC_NO_INSN, i, 0, 0});
    check_registers(w, &c);
    if (w->evidence) {
        uint8_t *seen = &w->evidence->stall[c.s.op->klass];
        *seen = smaller(*seen, c.s.stall);
    }
    if (c.s.stall < c.klass->least_stall)
        oric_report(w->findings, (oric_finding){ORIC_H_STALL, 0, 0, ORIC_NO_INSN, i, c.s.stall, c.klass->least_stall});
}
