#include "encode/emit.h"

#include <stdlib.h>
#include <string.h>

#include "tables/latency.h"
#include "tables/operand_fields.h"
#include "tables/operands.h"
#include "sass/access.h"
#include "sass/sass.h"

enum { WORD_BYTES = 16, NO_BARRIERS = 7 << 5 | 7 << 8, PAD_CONTROL = NO_BARRIERS | 15 };

typedef struct {
    const oric_fn *fn;
    const oric_function *f;
    const uint32_t *block_words;
} emitter;

static int32_t code_words(const oric_fn *fn) {
    int32_t count = fn->insn_count;
    for (int32_t i = 0; i < fn->insn_count; i++) count += fn->nodes[i].pads;
    return count;
}

int32_t oric_emit_size(const oric_fn *fn, int32_t lead) {
    return (lead + code_words(fn) + 1 + ORIC_EMIT_ALIGN - 1) / ORIC_EMIT_ALIGN * ORIC_EMIT_ALIGN;
}

static int put_register(const emitter *em, uint64_t operand, int slot_kind, oric_operand *out) {
    uint32_t index = oric_operand_index(operand);
    if (index == ORIC_SENTINEL_RZ || index == ORIC_SENTINEL_PT) {
        int uniform = slot_kind == ORIC_K_UGPR || slot_kind == ORIC_K_UPRED;
        if (index == ORIC_SENTINEL_RZ) out->kind = uniform ? ORIC_K_UGPR : ORIC_K_GPR, out->reg = ORIC_INSN_RZ;
        else out->kind = uniform ? ORIC_K_UPRED : ORIC_K_PRED, out->reg = ORIC_INSN_PT;
        return 0;
    }
    const oric_function *f = em->f;
    if ((int32_t)index >= f->register_count || !f->reg_size[index]) return ORIC_EMIT_BAD_OPERAND;
    out->kind = oric_kind_of_file[oric_file_of_type[f->reg_type[index]]];
    out->reg = (uint16_t)(f->physical[index] + oric_operand_first(operand));
    return f->physical[index] < 0 ? ORIC_EMIT_BAD_OPERAND : 0;
}

static uint8_t operand_flags(uint64_t operand) {
    uint8_t flags = 0;
    if (oric_operand_negate(operand)) flags |= ORIC_F_NEG;
    if (oric_operand_absolute(operand)) flags |= ORIC_F_ABS;
    if (oric_operand_complement(operand)) flags |= ORIC_F_INV;
    if (oric_operand_reuse(operand)) flags |= ORIC_F_REUSE;
    return flags;
}

/* `next` is the byte address of the following instruction. */
static int put_operand(const emitter *em, uint64_t operand, int slot_kind, int64_t next, oric_operand *out) {
    memset(out, 0, sizeof *out);
    out->flags = operand_flags(operand);
    uint32_t index = oric_operand_index(operand);
    switch (oric_operand_type(operand)) {
    case ORIC_TYPE_REG:
        return put_register(em, operand, slot_kind, out);
    case ORIC_TYPE_IMM: /* in place of a label: how far behind the next instruction it is */
        out->kind = slot_kind == ORIC_K_LABEL ? ORIC_K_LABEL : ORIC_K_IMM;
        out->value = (int64_t)index;
        return 0;
    case ORIC_TYPE_POOL:
        out->kind = slot_kind == ORIC_K_LABEL ? ORIC_K_LABEL : ORIC_K_IMM;
        out->value = em->f->immediates[index];
        return 0;
    case ORIC_TYPE_LABEL:
        out->kind = ORIC_K_LABEL;
        if ((int32_t)index >= em->fn->block_count) return ORIC_EMIT_BAD_OPERAND;
        out->value = (int64_t)em->block_words[index] * WORD_BYTES - next;
        return 0;
    case ORIC_TYPE_SYMBOL:
        if (!oric_operand_const_bank(operand)) return ORIC_EMIT_BAD_OPERAND;
        out->kind = ORIC_K_CBANK;
        out->reg = (uint16_t)oric_operand_aux(operand);
        out->value = (int64_t)index;
        return 0;
    case ORIC_TYPE_SPECIAL:
        out->kind = (uint8_t)slot_kind;
        out->reg = (uint16_t)index;
        out->value = (int64_t)index;
        return 0;
    case ORIC_TYPE_NONE:
        out->flags = 0;
        return 0;
    default:
        return ORIC_EMIT_BAD_OPERAND;
    }
}

static int build(const emitter *em, const oric_node *node, int64_t next, oric_insn *out) {
    const oric_function *f = em->f;
    int64_t i = node->index;
    const oric_op_schedule *op = &oric_op_schedules[f->op[i]];
    memset(out, 0, sizeof *out);
    out->op = (uint16_t)f->op[i];
    out->mods = oric_spelled(em->fn->isa, (int)f->op[i], (uint64_t)f->mods[i]);
    out->control = node->control;
    out->guard = ORIC_INSN_PT;
    int64_t count = f->count[i];
    /* the rest is what the convention says of registers, or those that an arrival of a warp group waits for */
    if (count > op->operands && (node->flags & ORIC_I_DRAIN || !op->operands)) count = op->operands;
    if (count > op->operands) return ORIC_EMIT_BAD_OPERAND;
    if (f->guard[i]) {
        oric_operand guard;
        if (put_operand(em, (uint64_t)f->guard[i], ORIC_K_PRED, next, &guard)) return ORIC_EMIT_BAD_OPERAND;
        out->guard = (uint8_t)guard.reg;
        out->guard_neg = guard.flags & ORIC_F_NEG;
    }
    out->nops = (uint8_t)count;
    for (uint32_t s = 0; s < count; s++) {
        int error = put_operand(em, (uint64_t)f->operand[f->first[i] + s], op->kind[s], next, &out->ops[s]);
        if (error) return error;
    }
    return 0;
}

static void place_blocks(const oric_fn *fn, uint32_t word, uint32_t *block_words) {
    for (int32_t b = 0; b < fn->block_count; b++) {
        block_words[b] = word;
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) word += 1u + fn->nodes[i].pads;
    }
    block_words[fn->block_count] = word;
}

static int put_plain(int isa, int32_t op, uint32_t control, int64_t target, uint64_t *word) {
    oric_insn insn;
    memset(&insn, 0, sizeof insn);
    insn.op = (uint16_t)op;
    insn.guard = 7;
    insn.control = control;
    if (target) insn.nops = 1, insn.ops[0].kind = ORIC_K_LABEL, insn.ops[0].value = target;
    return oric_encode(isa, &insn, word);
}

int32_t oric_emit(const oric_fn *fn, const oric_function *f, int32_t nop, int32_t bra, const uint8_t *marks, int32_t lead,
                  uint64_t *words, uint32_t *block_words, oric_mark *out_marks, int32_t *error) {
    emitter em = {fn, f, block_words};
    oric_insn insn;
    int32_t word = lead, marked = 0, size = oric_emit_size(fn, lead);
    place_blocks(fn, (uint32_t)lead, block_words);
    error[0] = error[1] = 0;
    for (int32_t i = 0; i < fn->insn_count && !error[0]; i++) {
        const oric_node *node = &fn->nodes[i];
        error[1] = (int32_t)node->index;
        for (int p = 0; p < node->pads && !error[0]; p++) error[0] = put_plain(fn->isa, nop, PAD_CONTROL, 0, &words[2 * word++]);
        if (!error[0]) error[0] = build(&em, node, ((int64_t)word + 1) * WORD_BYTES, &insn);
        if (!error[0] && oric_two_signs(&insn) >= 0) error[0] = ORIC_E_SIGN | oric_two_signs(&insn) << 8;
        if (!error[0]) error[0] = oric_encode(fn->isa, &insn, &words[2 * word]);
        if (marks[node->op]) out_marks[marked++] = (oric_mark){(uint32_t)word, node->index, marks[node->op]};
        word++;
    }
    /* a jump to itself, so that nothing runs on behind the end, then filling */
    if (!error[0]) error[0] = put_plain(fn->isa, bra, NO_BARRIERS, -WORD_BYTES, &words[2 * word++]);
    while (word < size && !error[0]) error[0] = put_plain(fn->isa, nop, NO_BARRIERS, 0, &words[2 * word++]);
    return error[0] ? -1 : marked;
}

int32_t oric_emit_origins(const oric_fn *fn, const oric_function *f, uint32_t first, uint32_t *out_words, int64_t *out_origins) {
    int32_t count = 0;
    uint32_t word = first;
    for (int32_t i = 0; i < fn->insn_count; i++) {
        int64_t origin = f->line[fn->nodes[i].index];
        if (!count || out_origins[count - 1] != origin) {
            out_words[count] = word;
            out_origins[count++] = origin;
        }
        word += (uint32_t)fn->nodes[i].pads + 1;
    }
    return count;
}
