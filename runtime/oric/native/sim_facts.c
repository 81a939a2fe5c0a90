/* The tables of sass_access.h and oric_latency.h, laid out for one look at each instruction. */
#include "sim_facts.h"

#include <stdlib.h>

#include "oric_registers.h"
#include "oric_slots.h"
#include "result_row.h"
#include "sass_access.h"

enum { ALWAYS = 7, ZERO = 255, NO_PLACE = 255 };

static uint8_t board_of(uint32_t control, unsigned at)
{
    uint8_t board = control >> at & 7;
    return board < SIM_BOARDS ? board : SIM_BOARDS;
}

static uint8_t bit_of(uint8_t board) { return board < SIM_BOARDS ? (uint8_t)(1 << board) : 0; }

/* Longest distance of a row: behind it nobody is too early. */
static uint8_t limit_of(int isa, uint8_t row)
{
    uint8_t most = 1;
    for (int g = 0; g < ORIC_READER_GROUPS; g++)
        if (oric_least[isa][row][g] > most)
            most = oric_least[isa][row][g];
    for (int second = 0; second < ORIC_RESULT_ROWS; second++)
        if (oric_least_over[isa][row][second] > most)
            most = oric_least_over[isa][row][second];
    return most;
}

/* Shortest distance of a row to any reader. */
static int32_t quickest(int isa, uint8_t row)
{
    int32_t least = 127;
    for (int g = 0; g < ORIC_READER_GROUPS; g++)
        if (g != ORIC_G_OTHER && g != ORIC_G_REWRITE && oric_least[isa][row][g] < least)
            least = oric_least[isa][row][g];
    return least;
}

int32_t sim_rewrite_distance(int isa, uint8_t first_row, const sim_insn_facts *second, const sim_result *result)
{
    int fixed = second->klass->result == ORIC_RESULT_FIXED && result->row != SIM_NO_ROW;
    int32_t seen = fixed ? oric_least_over[isa][first_row][result->row] : oric_least[isa][first_row][ORIC_G_REWRITE];
    /* Seen less often than a reader, so that less can be enough: then the latencies say how much. */
    int32_t enough = quickest(isa, first_row) + (fixed ? 1 - oric_least[isa][result->row][second->klass->own] : 2);
    return enough < seen ? enough : seen;
}

/* Scoreboards that an instruction waits for by its mask, by a modifier, by an operand. */
static void find_waits(const oric_insn *in, sim_insn_facts *f)
{
    f->waits = in->control >> 11 & 63;
    f->counted = SIM_BOARDS;
    if (f->klass->async == ORIC_ASYNC_WAIT)
        f->waits |= 1 << SIM_BOARD_GROUP;
    if (in->op >= ORIC_SLOT_OPS)
        return;
    const oric_flow *flow = &oric_flows[in->op];
    f->waits |= (uint8_t)(in->mods >> flow->boards_shift & ((1u << flow->boards_width) - 1));
    if (flow->board >= in->nops || flow->left >= in->nops)
        return;
    const oric_operand *board = &in->ops[flow->board], *left = &in->ops[flow->left];
    if (board->kind != ORIC_K_SB || board->reg >= SIM_BOARDS || left->value < 0)
        return;
    f->counted = (uint8_t)board->reg;
    f->left = left->value < 255 ? (uint8_t)left->value : 255;
    if (!f->left)
        f->waits |= bit_of(f->counted); /* nothing outstanding: as a wait, for what is to be read too */
}

static int reads_late(const sim_insn_facts *f, const oric_register_use *use)
{
    if (use->file == ORIC_FILE_UR)
        return (f->klass->flags & ORIC_C_LATE_UNIFORM) != 0;
    if (use->file != ORIC_FILE_R)
        return 0;
    if (f->klass->result == ORIC_RESULT_UNKNOWN)
        return f->read_board < SIM_BOARDS;
    return (f->klass->flags & ORIC_C_LATE) != 0 || f->klass->async == ORIC_ASYNC_GROUP;
}

static sim_result result_of(int isa, const oric_insn *in, const sim_insn_facts *f, const oric_register_use *use, int k)
{
    sim_result r = {.unit = sim_unit(use->file, use->number + (unsigned)k), .row = oric_result_row(isa, in, use->file, k)};
    if (f->klass->async == ORIC_ASYNC_GROUP) {
        r.kind = SIM_RESULT_VARIABLE, r.boards = 1 << SIM_BOARD_GROUP;
    } else if (f->klass->result == ORIC_RESULT_FIXED && r.row != SIM_NO_ROW) {
        r.kind = SIM_RESULT_FIXED, r.limit = limit_of(isa, r.row);
    } else if (f->klass->result == ORIC_RESULT_VARIABLE || (f->klass->result == ORIC_RESULT_UNKNOWN && f->write_board < SIM_BOARDS)) {
        r.kind = SIM_RESULT_VARIABLE, r.boards = bit_of(f->write_board);
        if (f->klass->flags & ORIC_C_EARLY_PREDICATE && use->file == ORIC_FILE_P)
            r.boards |= bit_of(f->read_board);
    }
    return r;
}

static void find_places(int isa, const oric_insn *in, const oric_register_use *uses, int n, sim_insn_facts *f)
{
    uint8_t operand[SIM_REUSE_PLACES];
    oric_reuse_places(isa, in, operand);
    for (int k = 0; k < SIM_REUSE_PLACES; k++) {
        f->place[k] = SIM_UNITS;
        for (int u = 0; u < n && operand[k] != NO_PLACE; u++) {
            if (uses[u].writes || uses[u].operand != operand[k])
                continue;
            f->place[k] = sim_unit(uses[u].file, uses[u].number);
            f->place_count[k] = (uint8_t)uses[u].count;
            if (in->ops[operand[k]].flags & ORIC_F_REUSE)
                f->keeps |= (uint8_t)(1 << k);
        }
    }
}

/* The facts of one instruction; its registers are stored from sources[f->first_source] and results[f->first_result] on unless
   these are NULL, and counted. */
static void look_at(int isa, const oric_insn *in, sim_insn_facts *f, sim_source *sources, sim_result *results)
{
    const oric_op_schedule *schedule = &oric_op_schedules[in->op < ORIC_SCHEDULED_OPERATIONS ? in->op : 0];
    oric_register_use uses[ORIC_MOST_USES];
    int n = oric_accesses(in, uses);
    f->klass = &oric_classes[isa][schedule->klass];
    f->guard = SIM_UNITS;
    f->stall = in->control & 15, f->write_board = board_of(in->control, 5), f->read_board = board_of(in->control, 8);
    f->never = in->guard >= ALWAYS && in->guard_neg;
    find_waits(in, f);
    f->read_ends = bit_of(f->read_board);
    if (f->klass->result == ORIC_RESULT_VARIABLE)
        f->read_ends |= bit_of(f->write_board);
    if (f->klass->async == ORIC_ASYNC_GROUP)
        f->read_ends |= 1 << SIM_BOARD_GROUP;
    uint32_t effects = in->op < ORIC_SLOT_OPS ? oric_flows[in->op].effects : 0;
    f->again = !(effects & ~(uint32_t)(ORIC_DOES_LOAD | ORIC_DOES_STORE | ORIC_DOES_SHARED | ORIC_DOES_LOCAL | ORIC_DOES_CONSTANT));
    for (int u = 0; u < n; u++) {
        const oric_register_use *use = &uses[u];
        if (use->operand == ORIC_BY_GUARD) {
            f->guard = sim_unit(use->file, use->number);
            f->guard_group = use->file == ORIC_FILE_UP ? ORIC_G_UGUARD : ORIC_G_GUARD;
            continue;
        }
        for (int k = 0; k < use->count && use->number + k < ZERO; k++) {
            uint8_t group = use->operand < schedule->operands ? schedule->reader[use->operand][k > 0] : ORIC_G_OTHER;
            if (use->writes) {
                if (results)
                    results[f->first_result + f->results] = result_of(isa, in, f, use, k);
                f->results++;
            } else {
                if (sources)
                    sources[f->first_source + f->sources] =
                        (sim_source){sim_unit(use->file, use->number + (unsigned)k), group, (uint8_t)reads_late(f, use)};
                f->sources++;
            }
        }
    }
    find_places(isa, in, uses, n, f);
}

int sim_facts_make(int isa, sim_code *code)
{
    uint64_t n = code->size / 16;
    uint32_t sources = 0, results = 0;
    if (code->facts)
        return 1;
    struct sim_facts *facts = calloc(1, sizeof *facts);
    code->facts = facts;
    if (!facts)
        return 0;
    facts->insns = calloc(n + 1, sizeof *facts->insns);
    for (uint64_t i = 0; facts->insns && i < n; i++) {
        sim_insn_facts f = {0};
        look_at(isa, &code->insns[i], &f, NULL, NULL);
        facts->insns[i].first_source = sources, facts->insns[i].first_result = results;
        sources += f.sources, results += f.results;
    }
    facts->sources = malloc((sources + 1u) * sizeof *facts->sources);
    facts->results = malloc((results + 1u) * sizeof *facts->results);
    if (!facts->insns || !facts->sources || !facts->results) {
        sim_facts_free(code);
        return 0;
    }
    for (uint64_t i = 0; i < n; i++)
        look_at(isa, &code->insns[i], &facts->insns[i], facts->sources, facts->results);
    return 1;
}

void sim_facts_free(sim_code *code)
{
    if (!code->facts)
        return;
    free(code->facts->insns);
    free(code->facts->sources);
    free(code->facts->results);
    free(code->facts);
    code->facts = NULL;
}
