#include "function/load.h"

#include <stdlib.h>
#include <string.h>

#include "sass/insn.h"
#include "tables/latency.h"
#include "tables/operand_fields.h"
#include "tables/operands.h"

static uint64_t operand_at(const oric_function *f, int64_t i, uint32_t slot) { return (uint64_t)f->operand[f->first[i] + slot]; }

static int file_of(int64_t reg_type) { return oric_file_of_type[reg_type]; }

static const int32_t physical_first[ORIC_FILES] = {ORIC_U_R, ORIC_U_P, ORIC_U_B, ORIC_U_UR, ORIC_U_UP};
static const int32_t physical_room[ORIC_FILES] = {ORIC_U_P, 7, 16, ORIC_U_UP - ORIC_U_UR, 7};

/* Registers of a file that the target has, as far as hardware registers are numbered. */
static int32_t room_of(const oric_function *f, int file) { return file == ORIC_FILE_UR ? f->uniform_registers : physical_room[file]; }

static void describe_units(oric_fn *fn, const oric_function *f, int physical) {
    if (physical) {
        for (int file = 0; file < ORIC_FILES; file++)
            for (int32_t u = physical_first[file]; u < (file + 1 < ORIC_FILES ? physical_first[file + 1] : ORIC_PHYSICAL_UNITS); u++)
                fn->unit_file[u] = (uint8_t)file, fn->unit_register[u] = -1;
        return;
    }
    for (int32_t r = 0; r < f->register_count; r++)
        for (int64_t c = 0; c < f->reg_size[r]; c++) {
            fn->unit_file[f->reg_word[r] + c] = (uint8_t)file_of(f->reg_type[r]);
            fn->unit_register[f->reg_word[r] + c] = r;
        }
}

typedef struct {
    oric_fn *fn;
    const oric_function *f;
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

/* The units of a register operand, `count` from `unit` on; 0: it names none, or the function is refused. */
static int units_of(loader *ld, const oric_node *node, uint64_t operand, uint32_t *unit, uint32_t *count) {
    uint32_t index = oric_operand_index(operand);
    if (index == ORIC_SENTINEL_RZ || index == ORIC_SENTINEL_PT) return 0;
    const oric_function *f = ld->f;
    if ((int32_t)index >= f->register_count || !f->reg_size[index]) return fail(ld->fn, ORIC_LOAD_NO_REGISTER, node->index), 0;
    int file = file_of(f->reg_type[index]);
    uint32_t component = oric_operand_first(operand), size = (uint32_t)f->reg_size[index];
    *count = oric_operand_span(operand) + 1;
    int64_t base = ld->physical ? f->physical[index] : f->reg_word[index];
    if (ld->physical && base >= 0 && base + (int32_t)size > room_of(f, file)) base = -1;
    if (base < 0 || component + *count > size) return fail(ld->fn, ORIC_LOAD_NO_REGISTER, node->index), 0;
    *unit = (uint32_t)base + (uint32_t)(ld->physical ? physical_first[file] : 0) + component;
    return 1;
}

/* One register operand: its units, and the groups of the distance table that it belongs to. */
static void add_register(loader *ld, oric_node *node, uint64_t operand, uint32_t slot, const oric_op_schedule *op,
                         const oric_class *klass) {
    uint32_t unit, count;
    if (!units_of(ld, node, operand, &unit, &count)) return;
    int file = file_of(ld->f->reg_type[oric_operand_index(operand)]), guard = slot == 255;
    int writes = !guard && op->writes >> slot & 1;
    uint8_t low = ORIC_G_GUARD, high = ORIC_G_GUARD;
    if (writes) low = klass->rows[file][0], high = klass->rows[file][1];
    else if (!guard) low = op->reader[slot][0], high = op->reader[slot][1];
    else if (file == ORIC_FILE_UP) low = high = ORIC_G_UGUARD;
    if (writes && klass->result == ORIC_RESULT_FIXED && low == 255) fail(ld->fn, ORIC_LOAD_BAD_RESULT, node->index);
    int flags = writes ? ORIC_A_DEF : !guard ? 0 : oric_operand_negate(operand) ? ORIC_A_GUARD | ORIC_A_NEGATED : ORIC_A_GUARD;
    if (!writes && (low == ORIC_G_MEM_ADDR || low == ORIC_G_MEM_UADDR)) flags |= ORIC_A_ADDRESS;
    if (low == high || count == 1) return add_access(ld, node, unit, count, flags, slot, low);
    add_access(ld, node, unit, 1, flags, slot, low);
    add_access(ld, node, unit + 1, count - 1, flags, slot, high);
}

/* What the calling convention says of registers at a call, at a return and where a function begins, behind the operands of the
 * machine: what other code reads, then what it has written. */
static void add_convention(loader *ld, oric_node *node, const oric_op_schedule *op) {
    int64_t i = node->index;
    for (uint32_t s = op->operands; s < ld->f->count[i]; s++) {
        uint64_t operand = operand_at(ld->f, i, s);
        uint32_t unit, count;
        if (oric_operand_type(operand) != ORIC_TYPE_REG || !units_of(ld, node, operand, &unit, &count)) continue;
        int writes = s >= (uint32_t)op->operands + ORIC_CALL_READS;
        add_access(ld, node, unit, count, writes ? ORIC_A_DEF : 0, s, writes ? ORIC_NO_ROW : ORIC_G_OTHER);
    }
}

/* A convergence barrier that was numbered before allocation; registers behind them are the state of the warp. */
static void add_barrier(loader *ld, oric_node *node, uint64_t operand, uint32_t slot, const oric_op_schedule *op, const oric_class *klass) {
    uint32_t number = oric_operand_index(operand);
    int writes = op->writes >> slot & 1;
    if (number >= (uint32_t)physical_room[ORIC_FILE_B]) return;
    uint8_t group = writes ? klass->rows[ORIC_FILE_B][0] : op->reader[slot][0];
    add_access(ld, node, ORIC_U_B + number, 1, writes ? ORIC_A_DEF : 0, slot, group);
}

static int64_t immediate(const oric_function *f, uint64_t operand) {
    uint32_t index = oric_operand_index(operand);
    return oric_operand_type(operand) == ORIC_TYPE_POOL ? f->immediates[index] : (int64_t)index;
}

/* An upper bound of the bytes that a thread accesses, told by the registers with the data; 0: nothing tells. RZ is as wide as the
 * widest of the others, and what is read or written in several pieces lies side by side. */
static int32_t bytes_of(const oric_function *f, int64_t i, const oric_op_schedule *op) {
    enum { WIDEST = 32 };
    uint32_t words = 0, pieces[2] = {0, 0}; /* read, written */
    for (uint32_t s = 0; s < f->count[i] && s < sizeof op->kind; s++) {
        uint64_t operand = operand_at(f, i, s);
        uint8_t group = op->reader[s][0];
        uint32_t writes = op->writes >> s & 1;
        int address = !writes && (group == ORIC_G_MEM_ADDR || group == ORIC_G_MEM_UADDR);
        if (op->kind[s] != ORIC_K_GPR || address || oric_operand_type(operand) != ORIC_TYPE_REG) continue;
        pieces[writes]++;
        uint32_t span = oric_operand_index(operand) == ORIC_SENTINEL_RZ ? 0 : (uint32_t)oric_operand_span(operand) + 1;
        if (span > words) words = span;
    }
    uint32_t most = pieces[0] > pieces[1] ? pieces[0] : pieces[1];
    return most && !words ? WIDEST : (int32_t)(4 * words * most);
}

/* Whether a strong access says nothing of others by itself. Of mbarriers up to sm_89 one is asked by a load of shared memory, or by
 * one that knows no space, and what stands behind has to be read behind it. */
static int is_global_load(const oric_class *klass) { return klass->does == 1 && klass->spaces == ORIC_SPACE_GLOBAL; }

/* Memory spaces, order and byte range of an access. */
static void describe_memory(loader *ld, oric_node *node, const oric_op_schedule *op, const oric_class *klass) {
    const oric_function *f = ld->f;
    int64_t i = node->index;
    node->space = klass->spaces;
    if (klass->does & 1) node->flags |= ORIC_I_MEM_READ;
    if (klass->does & 2) node->flags |= ORIC_I_MEM_WRITE;
    if (op->order_width) {
        uint32_t value = (uint32_t)(f->mods[i] >> op->order_shift) & ((1u << op->order_width) - 1);
        uint32_t bit = value < 32 ? 1u << value : 0;
        if (op->order_free & bit) node->flags &= (uint16_t) ~(ORIC_I_MEM_READ | ORIC_I_MEM_WRITE), node->space = 0;
        else if (!(op->order_plain & bit)) node->flags |= ORIC_I_ORDERED | (is_global_load(klass) ? ORIC_I_RELAXED : 0);
    }
    if (f->aux[i] & ORIC_AUX_VOLATILE) node->flags |= ORIC_I_ORDERED;
    node->bytes = bytes_of(f, i, op);
    node->scale = (uint8_t)((uint64_t)f->mods[i] >> op->scale_shift & ((1u << op->scale_width) - 1));
    for (uint32_t s = 0; s < f->count[i] && s < sizeof op->kind; s++) {
        uint64_t operand = operand_at(f, i, s);
        uint32_t type = oric_operand_type(operand);
        if (op->kind[s] == ORIC_K_IMM && (type == ORIC_TYPE_IMM || type == ORIC_TYPE_POOL)) {
            int64_t offset = immediate(f, operand);
            node->offset = (int32_t)offset;
            if (offset != node->offset) node->bytes = 0;
            return;
        }
    }
}

static int is_plain_copy(const oric_fn *fn, const oric_function *f, const oric_node *node) {
    int64_t i = node->index;
    if (f->count[i] != 2 || f->mods[i] || node->access_count < 2) return 0;
    const oric_access *a = &fn->accesses[node->access];
    uint64_t source = operand_at(f, i, 1);
    int plain = !(oric_operand_negate(source) | oric_operand_absolute(source) | oric_operand_complement(source) | oric_operand_reuse(source));
    return plain && a[0].flags & ORIC_A_DEF && !(a[1].flags & (ORIC_A_DEF | ORIC_A_GUARD)) && a[0].count == 1 && a[1].count == 1 &&
           fn->unit_file[a[0].unit] == fn->unit_file[a[1].unit];
}

/* Instruction `i` as node number `at`. */
static void load_instruction(loader *ld, int64_t i, uint32_t at) {
    static const struct { uint8_t column; uint16_t flag; } columns[] = {
        {ORIC_C_ORDERED, ORIC_I_ORDERED}, {ORIC_C_FENCE, ORIC_I_FENCE}, {ORIC_C_LATE, ORIC_I_LATE_READ},
        {ORIC_C_DRAIN, ORIC_I_DRAIN}, {ORIC_C_COMPLETES, ORIC_I_COMPLETES}};
    const oric_function *f = ld->f;
    oric_node *node = &ld->fn->nodes[at];
    memset(node, 0, sizeof *node);
    node->index = (uint32_t)i;
    node->access = (uint32_t)ld->next;
    node->op = (uint16_t)f->op[i];
    node->control = (uint32_t)f->control[i];
    if (f->op[i] <= 0 || f->op[i] >= ORIC_SCHEDULED_OPERATIONS) return fail(ld->fn, ORIC_LOAD_BAD_OPERATION, node->index);
    const oric_op_schedule *op = &oric_op_schedules[f->op[i]];
    const oric_class *klass = &oric_classes[f->isa][op->klass];
    node->klass = op->klass;
    if (klass->result == ORIC_RESULT_UNKNOWN || klass->flags & ORIC_C_REFUSED) fail(ld->fn, ORIC_LOAD_NO_FACTS, node->index);
    if (klass->result == ORIC_RESULT_VARIABLE) node->flags |= ORIC_I_VARIABLE;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        if (klass->flags & columns[c].column) node->flags |= columns[c].flag;
    if (f->aux[i] & ORIC_AUX_ALONE) node->flags &= (uint16_t)~ORIC_I_DRAIN;
    if (node->flags & ORIC_I_COMPLETES && !(op->order_plain >> ((uint64_t)f->mods[i] >> op->order_shift & ((1u << op->order_width) - 1)) & 1))
        node->flags &= (uint16_t)~ORIC_I_COMPLETES;
    for (uint32_t s = 0; s < f->count[i] && s < op->operands; s++) {
        uint64_t operand = operand_at(f, i, s);
        uint32_t type = oric_operand_type(operand);
        if (type == ORIC_TYPE_REG) add_register(ld, node, operand, s, op, klass);
        if (type == ORIC_TYPE_SPECIAL && op->kind[s] == ORIC_K_BREG && ld->physical) add_barrier(ld, node, operand, s, op, klass);
        if (type == ORIC_TYPE_LABEL && klass->flags & ORIC_C_FENCE) node->flags |= ORIC_I_JUMP;
    }
    if (node->flags & ORIC_I_FENCE && f->apart[f->block[i]]) node->flags |= ORIC_I_PARTS;
    add_convention(ld, node, op);
    uint64_t guard = (uint64_t)f->guard[i];
    if (guard) add_register(ld, node, guard, 255, op, klass);
    if (guard && (oric_operand_index(guard) != ORIC_SENTINEL_PT || oric_operand_negate(guard))) node->flags |= ORIC_I_GUARDED;
    if (klass->spaces) describe_memory(ld, node, op, klass);
    if (klass->flags & ORIC_C_COPY && is_plain_copy(ld->fn, f, node)) node->flags |= ORIC_I_COPY;
}

static void load_edges(oric_fn *fn, const oric_function *f) {
    for (int32_t b = 0; b < f->block_count; b++) {
        fn->depth[b] = (uint8_t)(f->depth[b] < 255 ? f->depth[b] : 255);
        fn->apart[b] = (int32_t)f->apart[b];
        fn->succ_first[b] = (uint32_t)f->succ_start[b];
    }
    fn->succ_first[f->block_count] = (uint32_t)f->succ_start[f->block_count];
    for (int32_t e = 0; e < f->succ_count; e++) fn->succs[e] = (int32_t)f->succ[e];
}

/* Number of instructions in blocks, and the most register accesses that they can have. */
static int32_t measure(const oric_function *f, int32_t *accesses) {
    int32_t count = 0;
    *accesses = 0;
    for (int32_t b = 0; b < f->block_count; b++)
        for (int64_t i = f->head[b]; i >= 0; i = f->next[i]) count++, *accesses += 2 * (int32_t)f->count[i] + 1;
    return count;
}

oric_fn *oric_fn_load(const oric_function *f, int physical) {
    int32_t accesses, count = measure(f, &accesses);
    oric_fn *fn = oric_fn_new(count, f->block_count, physical ? ORIC_PHYSICAL_UNITS : f->word_count, accesses, f->succ_count);
    if (!fn) return NULL;
    fn->isa = f->isa;
    describe_units(fn, f, physical);
    load_edges(fn, f);
    loader ld = {fn, f, physical, 0};
    uint32_t at = 0;
    for (int32_t b = 0; b < f->block_count; b++) {
        fn->block_first[b] = at;
        for (int64_t i = f->head[b]; i >= 0; i = f->next[i]) load_instruction(&ld, i, at++);
    }
    fn->block_first[f->block_count] = at;
    fn->access_count = ld.next;
    if (oric_fn_connect(fn)) return oric_fn_free(fn), NULL;
    return fn;
}

oric_fn *oric_fn_on_registers(const oric_function *f, const oric_fn *virtual_fn) {
    int32_t accesses, count = measure(f, &accesses);
    oric_fn *fn = oric_fn_new(count, f->block_count, ORIC_PHYSICAL_UNITS, accesses, f->succ_count);
    if (!fn) return NULL;
    fn->isa = f->isa;
    describe_units(fn, f, 1);
    load_edges(fn, f);
    loader ld = {fn, f, 1, 0};
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

int32_t oric_fn_first_unit(int32_t file) { return physical_first[file]; }

void oric_fn_order(const oric_fn *fn, uint32_t *out) {
    for (int32_t i = 0; i < fn->insn_count; i++) out[i] = fn->nodes[i].index;
}

void oric_fn_publish(const oric_function *f, const oric_fn *fn, const int32_t *assigned, const int32_t *leader) {
    for (int32_t r = 0; r < f->register_count; r++) {
        if (!f->reg_size[r]) continue;
        int64_t unit = f->reg_word[r];
        int32_t parent = fn->unit_register[leader[unit]];
        f->physical[r] = assigned[unit];
        f->parent[r] = parent == r ? -1 : parent;
    }
}

void oric_fn_link(const oric_function *f, const oric_fn *fn) {
    for (int32_t b = 0; b < f->block_count; b++)
        for (int64_t i = f->head[b], next; i >= 0; i = next) {
            next = f->next[i];
            f->block[i] = f->prev[i] = f->next[i] = -1;
        }
    for (int32_t b = 0; b < f->block_count; b++) {
        int64_t before = -1;
        f->head[b] = -1;
        for (uint32_t k = fn->block_first[b]; k < fn->block_first[b + 1]; k++) {
            int64_t i = fn->nodes[k].index;
            f->block[i] = b;
            f->prev[i] = before;
            f->control[i] = fn->nodes[k].control;
            if (before < 0) f->head[b] = i;
            else f->next[before] = i;
            before = i;
        }
        f->tail[b] = before;
    }
}
