#include "load.h"

#include <stdlib.h>
#include <string.h>

#include "oric_insn.h"
#include "oric_latency.h"
#include "oric_operands.h"

static uint64_t operand_at(const oric_image *image, const oric_instruction *insn, uint32_t slot) {
    if (slot < 9) return (uint64_t)insn->operands[2 * slot] | (uint64_t)insn->operands[2 * slot + 1] << 32;
    return image->overflow[(uint32_t)insn->overflow + slot - 9];
}

static int file_of(int32_t reg_type) { return oric_file_of_type[reg_type]; }

static int32_t registers_of(const oric_register *reg) { return reg->size ? reg->size : 1; }

static const int32_t physical_first[ORIC_FILES] = {ORIC_U_R, ORIC_U_P, ORIC_U_B, ORIC_U_UR, ORIC_U_UP};
static const int32_t physical_room[ORIC_FILES] = {512, 7, 16, 63, 7};

/* Number the components of all registers, R, P and B before UR and UP; returns their number. */
static int32_t number_units(oric_image *image, int32_t *main_units) {
    static const int order[ORIC_FILES] = {ORIC_FILE_R, ORIC_FILE_P, ORIC_FILE_B, ORIC_FILE_UR, ORIC_FILE_UP};
    int32_t unit = 0;
    for (int i = 0; i < ORIC_FILES; i++) {
        if (order[i] == ORIC_FILE_UR) *main_units = unit;
        for (int32_t r = 0; r < image->register_count; r++) {
            oric_register *reg = &image->registers[r];
            if (reg->id < 0 || file_of(reg->reg_type) != order[i]) continue;
            reg->liveness_start = unit;
            unit += registers_of(reg);
        }
    }
    return unit;
}

static void describe_units(oric_fn *fn, const oric_image *image, int physical) {
    if (physical) {
        for (int f = 0; f < ORIC_FILES; f++)
            for (int32_t u = physical_first[f]; u < (f + 1 < ORIC_FILES ? physical_first[f + 1] : ORIC_PHYSICAL_UNITS); u++)
                fn->unit_file[u] = (uint8_t)f, fn->unit_register[u] = -1;
        fn->main_units = ORIC_U_UR;
        return;
    }
    for (int32_t r = 0; r < image->register_count; r++) {
        const oric_register *reg = &image->registers[r];
        for (int32_t c = 0; reg->id >= 0 && c < registers_of(reg); c++) {
            fn->unit_file[reg->liveness_start + c] = (uint8_t)file_of(reg->reg_type);
            fn->unit_register[reg->liveness_start + c] = r;
        }
    }
}

typedef struct {
    oric_fn *fn;
    const oric_image *image;
    int physical;
    int32_t next; /* next free access */
} loader;

static void fail(oric_fn *fn, int error, uint32_t at) {
    if (fn->error) return;
    fn->error = error;
    fn->error_at = (int32_t)at;
}

static void add_access(loader *ld, oric_node *node, uint32_t unit, uint32_t count, int flags, uint32_t slot, uint8_t group) {
    ld->fn->accesses[ld->next++] =
        (oric_access){.unit = unit, .count = (uint8_t)count, .flags = (uint8_t)flags, .slot = (uint8_t)slot, .group = group};
    node->access_count++;
}

/* One register operand: its units, and the groups of the distance table that it belongs to. */
static void add_register(loader *ld, oric_node *node, uint64_t operand, uint32_t slot, const oric_op_schedule *op,
                         const oric_class *klass) {
    uint32_t index = operand & 0xFFFFF;
    if (index == ORIC_SENTINEL_RZ || index == ORIC_SENTINEL_PT) return;
    if ((int32_t)index >= ld->image->register_count || ld->image->registers[index].id < 0)
        return fail(ld->fn, ORIC_LOAD_NO_REGISTER, node->index);
    const oric_register *reg = &ld->image->registers[index];
    int file = file_of(reg->reg_type), guard = slot == 255;
    uint32_t component = operand >> 20 & 3, width = operand >> 22 & 3, size = (uint32_t)registers_of(reg);
    uint32_t count = width == 3 ? size : 1u << width;
    int32_t base = ld->physical ? reg->physical_reg : reg->liveness_start;
    if (ld->physical && base >= 0 && base + (int32_t)size > physical_room[file]) base = -1;
    if (base < 0 || component + count > size) return fail(ld->fn, ORIC_LOAD_NO_REGISTER, node->index);
    uint32_t unit = (uint32_t)(base + (ld->physical ? physical_first[file] : 0)) + component;
    int writes = !guard && op->writes >> slot & 1;
    uint8_t low = ORIC_G_GUARD, high = ORIC_G_GUARD;
    if (writes) low = klass->rows[file][0], high = klass->rows[file][1];
    else if (!guard) low = op->reader[slot][0], high = op->reader[slot][1];
    else if (file == ORIC_FILE_UP) low = high = ORIC_G_UGUARD;
    if (writes && klass->result == ORIC_RESULT_FIXED && low == 255) fail(ld->fn, ORIC_LOAD_BAD_RESULT, node->index);
    int flags = writes ? ORIC_A_DEF : guard ? ORIC_A_GUARD : 0;
    if (!writes && (low == ORIC_G_MEM_ADDR || low == ORIC_G_MEM_UADDR)) flags |= ORIC_A_ADDRESS;
    if (low == high || count == 1) return add_access(ld, node, unit, count, flags, slot, low);
    add_access(ld, node, unit, 1, flags, slot, low);
    add_access(ld, node, unit + 1, count - 1, flags, slot, high);
}

/* A convergence barrier that was numbered before allocation. */
static void add_barrier(loader *ld, oric_node *node, uint64_t operand, uint32_t slot, const oric_op_schedule *op, const oric_class *klass) {
    uint32_t number = operand & 0xFFFFF;
    int writes = op->writes >> slot & 1;
    if (number >= (uint32_t)physical_room[ORIC_FILE_B]) return fail(ld->fn, ORIC_LOAD_NO_REGISTER, node->index);
    uint8_t group = writes ? klass->rows[ORIC_FILE_B][0] : op->reader[slot][0];
    add_access(ld, node, ORIC_U_B + number, 1, writes ? ORIC_A_DEF : 0, slot, group);
}

static int64_t immediate(const oric_image *image, uint64_t operand) {
    if ((operand >> 28 & 7) == ORIC_TYPE_POOL) return (int64_t)image->immediates[operand & 0xFFFFF];
    return (int64_t)(operand & 0xFFFFF);
}

/* Memory spaces, order and byte range of an access. */
static void describe_memory(loader *ld, oric_node *node, const oric_instruction *insn, const oric_op_schedule *op,
                            const oric_class *klass) {
    node->space = klass->spaces;
    if (klass->does & 1) node->flags |= ORIC_I_MEM_READ;
    if (klass->does & 2) node->flags |= ORIC_I_MEM_WRITE;
    if (op->order_width) {
        uint32_t value = (uint32_t)(insn->mods >> op->order_shift) & ((1u << op->order_width) - 1);
        uint32_t bit = value < 32 ? 1u << value : 0;
        if (op->order_free & bit) node->flags &= (uint16_t) ~(ORIC_I_MEM_READ | ORIC_I_MEM_WRITE), node->space = 0;
        else if (!(op->order_plain & bit)) node->flags |= ORIC_I_ORDERED;
    }
    if (insn->aux & ORIC_AUX_VOLATILE) node->flags |= ORIC_I_ORDERED;
    uint32_t bytes = 4;
    for (uint32_t i = 0; i < node->access_count; i++) {
        const oric_access *a = &ld->fn->accesses[node->access + i];
        if (!(a->flags & (ORIC_A_ADDRESS | ORIC_A_GUARD)) && 4u * a->count > bytes) bytes = 4u * a->count;
    }
    node->bytes = (int32_t)bytes;
    for (uint32_t s = 0; s < insn->operand_count && s < sizeof op->kind; s++) {
        uint64_t operand = operand_at(ld->image, insn, s);
        uint32_t type = operand >> 28 & 7;
        if (op->kind[s] == ORIC_K_IMM && (type == ORIC_TYPE_IMM || type == ORIC_TYPE_POOL)) {
            int64_t offset = immediate(ld->image, operand);
            node->offset = (int32_t)offset;
            if (offset != node->offset) node->bytes = 0;
            return;
        }
    }
}

static int is_plain_copy(const oric_fn *fn, const oric_image *image, const oric_instruction *insn, const oric_node *node) {
    if (insn->operand_count != 2 || insn->mods || node->access_count < 2) return 0;
    const oric_access *a = &fn->accesses[node->access];
    uint64_t source = operand_at(image, insn, 1);
    int plain = (source >> 31 & 1) == 0 && (source >> 32 & 0xFC000000) == 0;
    return plain && a[0].flags & ORIC_A_DEF && !(a[1].flags & (ORIC_A_DEF | ORIC_A_GUARD)) && a[0].count == 1 && a[1].count == 1 &&
           fn->unit_file[a[0].unit] == fn->unit_file[a[1].unit];
}

/* The instruction at `position` of the image as node number `at`. */
static void load_instruction(loader *ld, uint32_t position, uint32_t at) {
    static const struct { uint8_t column; uint16_t flag; } columns[] = {
        {ORIC_C_ORDERED, ORIC_I_ORDERED}, {ORIC_C_FENCE, ORIC_I_FENCE}, {ORIC_C_LATE, ORIC_I_LATE_READ},
        {ORIC_C_DRAIN, ORIC_I_DRAIN}, {ORIC_C_COMPLETES, ORIC_I_COMPLETES}};
    const oric_instruction *insn = &ld->image->instructions[position];
    oric_node *node = &ld->fn->nodes[at];
    memset(node, 0, sizeof *node);
    node->index = position;
    node->access = (uint32_t)ld->next;
    node->op = insn->number;
    node->control = insn->control;
    if (insn->number == 0 || insn->number >= ORIC_SCHEDULED_OPERATIONS) return fail(ld->fn, ORIC_LOAD_BAD_OPERATION, position);
    const oric_op_schedule *op = &oric_op_schedules[insn->number];
    const oric_class *klass = &oric_classes[ld->image->isa][op->klass];
    node->klass = op->klass;
    if (klass->result == ORIC_RESULT_UNKNOWN || klass->flags & ORIC_C_REFUSED) fail(ld->fn, ORIC_LOAD_NO_FACTS, position);
    if (klass->result == ORIC_RESULT_VARIABLE) node->flags |= ORIC_I_VARIABLE;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (klass->flags & columns[i].column) node->flags |= columns[i].flag;
    if (node->flags & ORIC_I_COMPLETES && !(op->order_plain >> (insn->mods >> op->order_shift & ((1u << op->order_width) - 1)) & 1))
        node->flags &= (uint16_t)~ORIC_I_COMPLETES;
    for (uint32_t s = 0; s < insn->operand_count && s < sizeof op->kind; s++) {
        uint64_t operand = operand_at(ld->image, insn, s);
        uint32_t type = operand >> 28 & 7;
        if (type == ORIC_TYPE_REG) add_register(ld, node, operand, s, op, klass);
        if (type == ORIC_TYPE_SPECIAL && op->kind[s] == ORIC_K_BREG && ld->physical) add_barrier(ld, node, operand, s, op, klass);
        if (type == ORIC_TYPE_LABEL && klass->flags & ORIC_C_FENCE) node->flags |= ORIC_I_JUMP;
    }
    if (insn->guard) add_register(ld, node, insn->guard, 255, op, klass);
    if (insn->guard && ((insn->guard & 0xFFFFF) != ORIC_SENTINEL_PT || insn->guard >> 31 & 1)) node->flags |= ORIC_I_GUARDED;
    if (klass->spaces) describe_memory(ld, node, insn, op, klass);
    if (klass->flags & ORIC_C_COPY && is_plain_copy(ld->fn, ld->image, insn, node)) node->flags |= ORIC_I_COPY;
}

static void load_blocks(oric_fn *fn, const oric_image *image) {
    uint32_t position = 0, edge = 0;
    for (int32_t b = 0; b < image->block_count; b++) {
        const oric_block *block = &image->blocks[b];
        fn->block_first[b] = position;
        fn->depth[b] = block->loop_depth;
        fn->succ_first[b] = edge;
        for (int32_t s = 0; s < block->succ_count; s++) fn->succs[edge++] = image->succs[block->succ_start + s];
        position += (uint32_t)block->count;
    }
    fn->block_first[image->block_count] = position;
    fn->succ_first[image->block_count] = edge;
}

static int32_t most_accesses(const oric_image *image) {
    int32_t accesses = 0;
    for (int32_t i = 0; i < image->instruction_count; i++) accesses += 2 * (int32_t)image->instructions[i].operand_count + 1;
    return accesses;
}

oric_fn *oric_fn_load(oric_image *image, int physical) {
    int32_t main_units = 0, units = ORIC_PHYSICAL_UNITS;
    if (!physical) units = number_units(image, &main_units);
    oric_fn *fn = oric_fn_new(image->instruction_count, image->block_count, units, most_accesses(image), image->succ_count);
    if (!fn) return NULL;
    fn->isa = image->isa;
    fn->main_units = main_units;
    describe_units(fn, image, physical);
    load_blocks(fn, image);
    loader ld = {fn, image, physical, 0};
    for (int32_t i = 0; i < image->instruction_count; i++) load_instruction(&ld, (uint32_t)i, (uint32_t)i);
    fn->access_count = ld.next;
    if (oric_fn_connect(fn)) return oric_fn_free(fn), NULL;
    return fn;
}

oric_fn *oric_fn_on_registers(oric_image *image, const oric_fn *virtual_fn) {
    oric_fn *fn = oric_fn_new(image->instruction_count, image->block_count, ORIC_PHYSICAL_UNITS, most_accesses(image), image->succ_count);
    if (!fn) return NULL;
    fn->isa = image->isa;
    describe_units(fn, image, 1);
    load_blocks(fn, image);
    loader ld = {fn, image, 1, 0};
    uint32_t at = 0;
    for (int32_t b = 0; b < fn->block_count; b++) {
        fn->block_first[b] = at;
        for (uint32_t i = virtual_fn->block_first[b]; i < virtual_fn->block_first[b + 1]; i++) {
            int32_t start = ld.next;
            load_instruction(&ld, virtual_fn->nodes[i].index, at);
            const oric_access *a = &fn->accesses[fn->nodes[at].access];
            if (fn->nodes[at].flags & ORIC_I_COPY && a[0].unit == a[1].unit) ld.next = start;
            else at++;
        }
    }
    fn->block_first[fn->block_count] = at;
    fn->insn_count = (int32_t)at;
    fn->access_count = ld.next;
    if (oric_fn_connect(fn)) return oric_fn_free(fn), NULL;
    return fn;
}

void oric_fn_order(const oric_fn *fn, uint32_t *out) {
    for (int32_t i = 0; i < fn->insn_count; i++) out[i] = fn->nodes[i].index;
}

void oric_fn_controls(const oric_fn *fn, uint32_t *out) {
    for (int32_t i = 0; i < fn->insn_count; i++) out[i] = fn->nodes[i].control;
}

void oric_fn_publish(oric_image *image, const oric_fn *fn, const int32_t *assigned, const int32_t *leader) {
    for (int32_t r = 0; r < image->register_count; r++) {
        oric_register *reg = &image->registers[r];
        if (reg->id < 0) continue;
        int32_t unit = reg->liveness_start, parent = fn->unit_register[leader[unit]];
        reg->physical_reg = assigned[unit];
        reg->alias_parent = parent == r ? -1 : parent;
    }
}
