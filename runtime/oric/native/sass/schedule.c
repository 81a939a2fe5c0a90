#include "sass/schedule.h"

#include "sass/control.h"
#include "tables/registers.h"
#include "tables/slots.h"

static unsigned field(uint64_t mods, unsigned shift, unsigned width) { return (unsigned)(mods >> shift & ((1u << width) - 1)); }

/* The waits of instructions that wait by what they do, not by their mask. */
static void find_further_waits(const oric_insn *insn, oric_schedule *s) {
    s->counted = ORIC_SCOREBOARDS;
    if (s->klass->async == ORIC_ASYNC_WAIT) s->waits |= ORIC_BOARD_GROUP;
    if (insn->op >= ORIC_SLOT_OPS) return;
    const oric_flow *flow = &oric_flows[insn->op];
    s->waits |= (uint8_t)field(insn->mods, flow->boards_shift, flow->boards_width);
    if (flow->board >= insn->nops || flow->left >= insn->nops) return;
    const oric_operand *board = &insn->ops[flow->board], *left = &insn->ops[flow->left];
    if (board->kind != ORIC_K_SB || board->reg >= ORIC_SCOREBOARDS || left->value < 0) return;
    s->counted = (uint8_t)board->reg;
    s->left = left->value < UINT8_MAX ? (uint8_t)left->value : UINT8_MAX;
    if (!s->left) s->waits |= oric_board_bit(s->counted); /* nothing outstanding: as a wait, for what is to be read too */
}

oric_schedule oric_schedule_of(int isa, const oric_insn *insn) {
    const oric_op_schedule *op = &oric_op_schedules[insn->op < ORIC_SCHEDULED_OPERATIONS ? insn->op : 0];
    oric_schedule s = {.op = op, .klass = &oric_classes[isa][op->klass]};
    s.stall = oric_stall_of(insn->control);
    s.write_board = oric_write_board_of(insn->control), s.read_board = oric_read_board_of(insn->control);
    s.waits = oric_wait_mask_of(insn->control);
    s.never = insn->guard >= ORIC_INSN_PT && insn->guard_neg;
    find_further_waits(insn, &s);
    return s;
}

uint8_t oric_result_row(int isa, const oric_insn *insn, uint8_t file, int k) {
    const oric_op_schedule *op = &oric_op_schedules[insn->op < ORIC_SCHEDULED_OPERATIONS ? insn->op : 0];
    if (file == ORIC_FILE_R && op->variant_mods) {
        unsigned at = 0, shift = 0;
        for (unsigned i = 0; i < op->variant_mods; i++) {
            at |= field(insn->mods, op->variant_shift[i], op->variant_width[i]) << shift;
            shift += op->variant_width[i];
        }
        if (oric_variant_rows[op->variants + at] != ORIC_NO_ROW) return oric_variant_rows[op->variants + at];
    }
    return oric_classes[isa][op->klass].rows[file][k > 0];
}

oric_result oric_result_of(int isa, const oric_insn *insn, const oric_schedule *s, uint8_t file, int k) {
    oric_result r = {.row = oric_result_row(isa, insn, file, k)};
    if (s->klass->async == ORIC_ASYNC_GROUP) {
        r.comes = ORIC_COMES_TOLD, r.boards = ORIC_BOARD_GROUP;
    } else if (s->klass->result == ORIC_RESULT_FIXED && r.row != ORIC_NO_ROW) {
        r.comes = ORIC_COMES_LATER;
    } else if (s->klass->result == ORIC_RESULT_VARIABLE ||
               (s->klass->result == ORIC_RESULT_UNKNOWN && s->write_board < ORIC_SCOREBOARDS)) {
        r.comes = ORIC_COMES_TOLD, r.boards = oric_board_bit(s->write_board);
        if (s->klass->flags & ORIC_C_EARLY_PREDICATE && file == ORIC_FILE_P) r.boards |= oric_board_bit(s->read_board);
    }
    return r;
}

uint8_t oric_source_group(const oric_schedule *s, const oric_register_use *use, int k) {
    if (use->operand == ORIC_BY_GUARD) return use->file == ORIC_FILE_UP ? ORIC_G_UGUARD : ORIC_G_GUARD;
    if (use->operand >= s->op->operands) return ORIC_G_OTHER;
    return s->op->reader[use->operand][k > 0];
}

int oric_source_is_late(const oric_schedule *s, const oric_register_use *use) {
    if (use->operand == ORIC_BY_GUARD) return 0;
    if (use->file == ORIC_FILE_UR) return (s->klass->flags & ORIC_C_LATE_UNIFORM) != 0;
    if (use->file != ORIC_FILE_R) return 0;
    if (s->klass->result == ORIC_RESULT_UNKNOWN) return s->read_board < ORIC_SCOREBOARDS;
    return (s->klass->flags & ORIC_C_LATE) != 0 || s->klass->async == ORIC_ASYNC_GROUP;
}

uint8_t oric_read_ends(const oric_schedule *s) {
    uint8_t boards = oric_board_bit(s->read_board);
    if (s->klass->result == ORIC_RESULT_VARIABLE) boards |= oric_board_bit(s->write_board);
    if (s->klass->async == ORIC_ASYNC_GROUP) boards |= ORIC_BOARD_GROUP;
    return boards;
}

uint8_t oric_row_longest(int isa, uint8_t row) {
    uint8_t most = 1;
    for (int g = 0; g < ORIC_READER_GROUPS; g++)
        if (oric_least[isa][row][g] > most) most = oric_least[isa][row][g];
    for (int second = 0; second < ORIC_RESULT_ROWS; second++)
        if (oric_least_over[isa][row][second] > most) most = oric_least_over[isa][row][second];
    return most;
}

uint8_t oric_row_shortest(int isa, uint8_t row) {
    uint8_t least = INT8_MAX;
    for (int g = 0; g < ORIC_READER_GROUPS; g++)
        if (g != ORIC_G_OTHER && g != ORIC_G_REWRITE && oric_least[isa][row][g] < least) least = oric_least[isa][row][g];
    return least;
}

/* What is written again is seen less often than what is read, and the smallest distance seen can be larger than what is needed: the
   difference of the two latencies and one is enough, and two cycles beyond the first one's where the second has no known one. */
int32_t oric_rewrite_distance(int isa, uint8_t first_row, uint8_t shortest, const oric_class *second, uint8_t second_row) {
    int fixed = second->result == ORIC_RESULT_FIXED && second_row != ORIC_NO_ROW;
    int32_t seen = fixed ? oric_least_over[isa][first_row][second_row] : oric_least[isa][first_row][ORIC_G_REWRITE];
    int32_t enough = fixed ? shortest - oric_least[isa][second_row][second->own] + 1 : shortest + 2;
    return enough < seen ? enough : seen;
}
