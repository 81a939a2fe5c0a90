#include "alloc/verify_code.h"

#include <stdlib.h>
#include <string.h>

/* --- what is there */

void oric_v_problem(verifier *v, int kind, const oric_node *node, int slot, int32_t value, int32_t other) {
    if (v->quiet) {
        v->doubts = 1;
        return;
    }
    if (v->found < v->most) v->problems[v->found] = (oric_problem){kind, node ? (int32_t)node->index : -1, slot, value, other};
    v->found++;
}

static int is_virtual(int64_t op) {
    uint32_t index = oric_operand_index((uint64_t)op);
    return oric_operand_type((uint64_t)op) == ORIC_TYPE_REG && index != ORIC_SENTINEL_RZ && index != ORIC_SENTINEL_PT;
}

/* The same but for the number of the register. */
static int alike(int64_t a, int64_t b) {
    uint64_t difference = (uint64_t)a ^ (uint64_t)b;
    return !difference || (is_virtual(a) && is_virtual(b) && difference == oric_operand_index(difference));
}

/* Whether an instruction of the image does what it did, on whatever registers. */
static int unchanged(const verifier *v, const oric_node *now, const oric_node *then) {
    const oric_before *was = v->was;
    int64_t i = now->index;
    if (v->f->op[i] != was->op[i] || v->f->mods[i] != was->mods[i] || v->f->count[i] != was->count[i]) return 0;
    if (!alike(v->f->guard[i], was->guard[i]) || now->access_count != then->access_count) return 0;
    for (int64_t s = 0; s < was->count[i]; s++)
        if (!alike(v->f->operand[v->f->first[i] + s], was->operand[was->first[i] + s])) return 0;
    const oric_access *a = oric_v_accesses(v->fn, now), *b = oric_v_accesses(was->fn, then);
    for (int k = 0; k < now->access_count; k++)
        if (a[k].count != b[k].count || a[k].slot != b[k].slot || ((a[k].flags ^ b[k].flags) & ~ORIC_A_KILL) ||
            v->fn->unit_file[a[k].unit] != was->fn->unit_file[b[k].unit])
            return 0;
    return 1;
}

/* The only access of a new instruction that defines, or reads as data, or addresses; NULL for none or several. */
static const oric_access *only(const verifier *v, const oric_node *node, int mask, int flags) {
    const oric_access *a = oric_v_accesses(v->fn, node), *found = NULL;
    for (int k = 0; k < node->access_count; k++) {
        if ((a[k].flags & mask) != flags || a[k].flags & ORIC_A_GUARD) continue;
        if (found) return NULL;
        found = &a[k];
    }
    return found;
}

const oric_access *oric_v_result(const verifier *v, const oric_node *node) { return only(v, node, ORIC_A_DEF, ORIC_A_DEF); }
const oric_access *oric_v_source(const verifier *v, const oric_node *node) { return only(v, node, ORIC_A_DEF | ORIC_A_ADDRESS, 0); }

/* The data of a load or store may be split over two accesses; from the operand. */
int oric_v_data(const verifier *v, const oric_node *node, int slot, uint32_t *unit, int *count) {
    const oric_access *a = oric_v_accesses(v->fn, node);
    *count = 0;
    for (int k = 0; k < node->access_count; k++) {
        if (a[k].slot != slot || a[k].flags & ORIC_A_GUARD) continue;
        if (!*count) *unit = a[k].unit;
        *count += a[k].count;
    }
    return *count > 0;
}

int oric_v_repeatable(const oric_spill_code *code, int32_t op, int64_t mods, int64_t count, const int64_t *operands) {
    if (op == code->constant_op)
        return count == 4 && operands[1] == code->test_source && oric_operand_type((uint64_t)operands[2]) == ORIC_TYPE_SYMBOL;
    if (count != 2 || mods) return 0;
    int64_t source = operands[1];
    int type = oric_operand_type((uint64_t)source);
    int64_t index = (int64_t)oric_operand_index((uint64_t)source);
    if (op == code->read_op) return type == ORIC_TYPE_SPECIAL && index >= 0 && index < 256 && code->stable[index];
    return op == code->move_op && type != ORIC_TYPE_REG && type != ORIC_TYPE_SPECIAL;
}

/* Whether a new instruction moves a word between the general file and that of uniform registers. */
static int moves_uniform(const verifier *v, const oric_node *node, int to_file, int from_file) {
    const oric_access *to = oric_v_result(v, node), *from = oric_v_source(v, node);
    if (!to || !from || to->count != 1 || from->count != 1 || node->flags & ORIC_I_GUARDED) return 0;
    if (v->f->count[node->index] != 2 || v->f->mods[node->index] || from->slot != 1) return 0;
    return v->fn->unit_file[to->unit] == to_file && v->fn->unit_file[from->unit] == from_file;
}

static int kind_of_move(const verifier *v, const oric_node *node) {
    if (moves_uniform(v, node, ORIC_FILE_R, ORIC_FILE_UR)) return UNIFORM_SPILL;
    const oric_access *to = oric_v_result(v, node);
    const int64_t *operands = &v->f->operand[v->f->first[node->index]];
    int64_t from = operands[1], count = v->f->count[node->index], mods = v->f->mods[node->index];
    if (!to) return UNKNOWN;
    if ((int32_t)to->unit == v->code->base) {
        int copied = node->op == v->code->move_op && count == 2 && from == v->code->base_source;
        int loaded = node->op == v->code->constant_op && count == 4 && from == v->code->test_source &&
                     operands[2] == v->code->base_bank && operands[3] == v->code->base_offset;
        return (copied || loaded) && !mods && to->count == 1 && !(node->flags & ORIC_I_GUARDED) ? BASE : UNKNOWN;
    }
    if (oric_v_repeatable(v->code, node->op, mods, count, operands)) return REMADE;
    if (to->count != 1 || count != 2 || mods) return UNKNOWN;
    return oric_operand_type((uint64_t)from) == ORIC_TYPE_REG && oric_operand_index((uint64_t)from) == ORIC_SENTINEL_RZ ? CLEAR : UNKNOWN;
}

int32_t oric_v_guard(const verifier *v, const oric_node *node) {
    const oric_access *a = oric_v_accesses(v->fn, node);
    for (int k = 0; k < node->access_count; k++)
        if (a[k].flags & ORIC_A_GUARD) return (int32_t)a[k].unit;
    return -1;
}

/* The bit that an instruction on one bit of a register names, as a number; -1 when it is no single bit. */
static int64_t bit_of(const verifier *v, const oric_node *node) {
    const oric_access *from = oric_v_source(v, node);
    int64_t mask = oric_v_operand(v, node, 2);
    uint32_t bits = oric_operand_index((uint64_t)mask);
    if (!from || from->count != 1 || oric_operand_type((uint64_t)mask) != ORIC_TYPE_IMM || !bits || bits & (bits - 1)) return -1;
    int bit = 0;
    while (bits >> bit != 1) bit++;
    return 32 * (int64_t)from->unit + bit;
}

static int kind_of_logic(const verifier *v, const oric_node *node) {
    const oric_spill_code *code = v->code;
    const oric_access *to = oric_v_result(v, node), *from = oric_v_source(v, node);
    int64_t mods = v->f->mods[node->index], count = v->f->count[node->index];
    int guarded = node->flags & ORIC_I_GUARDED;
    if (count < 4 || !to || to->count != 1 || !from || from->slot != 1 || bit_of(v, node) < 0) return UNKNOWN;
    if (oric_v_operand(v, node, 3) != code->test_source) return UNKNOWN;
    if (mods == code->bit_test_mods && count == 5 && !guarded)
        return to->slot == 4 && oric_v_operand(v, node, 0) == code->test_source ? SHARED_TEST : UNKNOWN;
    if (count != 4 || to->unit != from->unit) return UNKNOWN;
    if (mods == code->bit_clear_mods && !guarded) return SHARED_CLEAR;
    return mods == code->bit_set_mods && oric_v_guard(v, node) >= 0 ? SHARED_SET : UNKNOWN;
}

int oric_v_kind(const verifier *v, const oric_node *node) {
    const oric_spill_code *code = v->code;
    if (oric_v_original(v, node)) return NOT_NEW;
    uint32_t unit;
    int count;
    if (node->op == code->move_op || node->op == code->read_op || node->op == code->constant_op) return kind_of_move(v, node);
    if (node->op == code->load_op || node->op == code->store_op) {
        int load = node->op == code->load_op;
        if (v->f->count[node->index] != 3 || !oric_v_data(v, node, load ? 0 : 2, &unit, &count) || count > 4) return UNKNOWN;
        if (v->f->mods[node->index] != (load ? code->load_mods : code->store_mods)[count]) return UNKNOWN;
        if (load && node->flags & ORIC_I_GUARDED) return UNKNOWN;
        return load ? REFILL : SPILL;
    }
    if (node->op == code->to_uniform_op) return moves_uniform(v, node, ORIC_FILE_UR, ORIC_FILE_R) ? UNIFORM_REFILL : UNKNOWN;
    if (node->op == code->logic_op) return kind_of_logic(v, node);
    if (node->op == code->test_op) return BIT_REFILL;
    return node->op == code->select_op ? BIT_SPILL : UNKNOWN;
}

/* The byte, from the top of the stack, of a spill or refill; `node` counts words from there. */
int oric_v_address(const verifier *v, const oric_node *node, int count, int32_t *word) {
    int slot = node->op == v->code->load_op ? 1 : 0;
    int64_t offset = node->offset;
    const oric_access *a = oric_v_accesses(v->fn, node);
    int based = 0;
    for (int k = 0; k < node->access_count; k++) based |= a[k].slot == slot && (int32_t)a[k].unit == v->code->base && !(a[k].flags & ORIC_A_GUARD);
    *word = (int32_t)((offset - v->code->lowest) / 4);
    return based && offset >= v->code->lowest && offset + 4 * count <= v->code->highest && !(offset % (4 * count));
}

/* --- carriers */

int32_t oric_v_cell(const verifier *v, int32_t word, int32_t value) {
    int32_t low = 0, high = v->cell_count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        const cell *c = &v->cells[middle];
        if (c->word < word || (c->word == word && c->value < value)) low = middle + 1;
        else high = middle;
    }
    if (low < v->cell_count && v->cells[low].word == word && v->cells[low].value == value) return v->units + low;
    return -1;
}

static int compare_cells(const void *a, const void *b) {
    const cell *x = a, *y = b;
    if (x->word != y->word) return x->word < y->word ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Words of registers that are in place of others: what the instructions of the image read and wrote there. */
static void name_by_originals(verifier *v) {
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_node *now = &v->fn->nodes[n], *then = oric_v_original(v, now);
        if (!then || v->kinds[n] == OTHER) continue;
        if (!unchanged(v, now, then)) {
            oric_v_problem(v, ORIC_V_CHANGED, now, -1, -1, -1);
            v->kinds[n] = OTHER;
            continue;
        }
        const oric_access *a = oric_v_accesses(v->fn, now), *b = oric_v_accesses(v->was->fn, then);
        for (int k = 0; k < now->access_count; k++)
            for (uint32_t c = 0; c < a[k].count; c++) {
                int32_t unit = (int32_t)(a[k].unit + c), value = (int32_t)(b[k].unit + c);
                if (v->value_of[unit] < 0) v->value_of[unit] = value;
                else if (v->value_of[unit] != value) oric_v_problem(v, ORIC_V_EXTRA, now, a[k].slot, value, -1);
            }
    }
}

/* The value that a word of memory is stored from, when it is one; else -1. */
static int32_t stored_in(const verifier *v, int32_t word) {
    int32_t found = -1;
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_node *node = &v->fn->nodes[n];
        uint32_t unit;
        int count;
        int32_t first;
        if (v->kinds[n] != SPILL || !oric_v_data(v, node, 2, &unit, &count) || !oric_v_address(v, node, count, &first)) continue;
        if (word < first || word >= first + count) continue;
        int32_t value = v->value_of[unit + (uint32_t)(word - first)];
        if (value < 0) continue; /* it may be what was brought back from here */
        if (found >= 0 && value != found) return -1;
        found = value;
    }
    return found;
}

/* Words of one register are words of one register: what no instruction of the image names is named by its neighbour. */
static int name_by_neighbours(verifier *v) {
    const oric_fn *fn = v->fn, *was = v->was->fn;
    int found = 0;
    for (int32_t u = 0; u < v->units; u++) {
        if (v->value_of[u] >= 0 || fn->unit_register[u] < 0) continue;
        for (int step = -1; step <= 1; step += 2) {
            int32_t next = u + step, value = next >= 0 && next < v->units && fn->unit_register[next] == fn->unit_register[u] ? v->value_of[next] : -1;
            if (value < 0 || value - step < 0 || value - step >= was->unit_count || was->unit_register[value - step] != was->unit_register[value]) continue;
            v->value_of[u] = value - step;
            found = 1;
            break;
        }
    }
    return found;
}

/* One step of finding out what registers carry that only moves of single predicates and of uniform words name; whether something was found. */
static int name_by_moves(verifier *v) {
    int found = 0;
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        if (v->kinds[n] < BIT_REFILL || v->kinds[n] > UNIFORM_SPILL) continue;
        const oric_access *to = oric_v_result(v, &v->fn->nodes[n]), *from = oric_v_source(v, &v->fn->nodes[n]);
        if (!to || !from) continue;
        int32_t *a = &v->value_of[to->unit], *b = &v->value_of[from->unit];
        if ((*a < 0) == (*b < 0)) continue;
        *(*a < 0 ? a : b) = *a < 0 ? *b : *a;
        found = 1;
    }
    return found;
}

/* The same for what only refills name: last, when all that is stored has its name, as several values may share a word. */
static int name_by_refills(verifier *v) {
    int found = 0, count;
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_node *node = &v->fn->nodes[n];
        uint32_t unit;
        int32_t word;
        if (v->kinds[n] != REFILL || !oric_v_data(v, node, 0, &unit, &count) || !oric_v_address(v, node, count, &word)) continue;
        for (int c = 0; c < count; c++) {
            if (v->value_of[unit + (uint32_t)c] >= 0) continue;
            v->value_of[unit + (uint32_t)c] = stored_in(v, word + c);
            found |= v->value_of[unit + (uint32_t)c] >= 0;
        }
    }
    return found;
}

static void add_cells(verifier *v, int collect) {
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_node *node = &v->fn->nodes[n];
        int kind = v->kinds[n], count;
        uint32_t unit;
        int32_t word;
        if (kind != SPILL && kind != REFILL) continue;
        if (!oric_v_data(v, node, kind == SPILL ? 2 : 0, &unit, &count) || !oric_v_address(v, node, count, &word)) continue;
        for (int c = 0; c < count; c++) {
            int32_t value = v->value_of[unit + (uint32_t)c];
            if (value < 0) continue;
            if (collect) v->cells[v->cell_count] = (cell){word + c, value};
            else if (kind == SPILL) v->stored[oric_v_cell(v, word + c, value) - v->units] = 1;
            v->cell_count += collect;
        }
    }
}

static int32_t hardware_place(const verifier *v, int32_t unit) {
    int32_t reg = v->fn->unit_register[unit], file = v->fn->unit_file[unit];
    int64_t number = v->f->physical[reg] + unit - v->f->reg_word[reg];
    return v->f->physical[reg] < 0 || number >= v->code->limit[file] ? -1 : oric_fn_first_unit(file) + (int32_t)number;
}

static int compare_bits(const void *a, const void *b) {
    int64_t x = ((const shared_bit *)a)->place, y = ((const shared_bit *)b)->place;
    return x < y ? -1 : x > y;
}

static shared_bit *shared_bit_of(const verifier *v, const oric_node *node) {
    shared_bit sought = {bit_of(v, node), -1};
    return bsearch(&sought, v->bits_shared, (size_t)v->bit_count, sizeof sought, compare_bits);
}

int32_t oric_v_shared_bit(const verifier *v, const oric_node *node, int32_t *unit) {
    const shared_bit *found = shared_bit_of(v, node);
    *unit = (int32_t)(found->place / 32);
    return v->units + v->cell_count + (int32_t)(found - v->bits_shared);
}

/* The bits of shared registers. */
static int find_shared_bits(verifier *v) {
    int32_t room = 0, kept = 0;
    for (int32_t n = 0; n < v->fn->insn_count; n++) room += v->kinds[n] >= SHARED_CLEAR && v->kinds[n] <= SHARED_TEST;
    v->bits_shared = calloc((size_t)room + 1, sizeof(shared_bit));
    if (!v->bits_shared) return -1;
    for (int32_t n = 0; n < v->fn->insn_count && room; n++)
        if (v->kinds[n] >= SHARED_CLEAR && v->kinds[n] <= SHARED_TEST) v->bits_shared[kept++] = (shared_bit){bit_of(v, &v->fn->nodes[n]), -1};
    qsort(v->bits_shared, (size_t)kept, sizeof(shared_bit), compare_bits);
    for (int32_t k = 0; k < kept; k++)
        if (!k || v->bits_shared[k].place != v->bits_shared[v->bit_count - 1].place) v->bits_shared[v->bit_count++] = v->bits_shared[k];
    return 0;
}

/* What shared bits carry: what guards the instruction that sets one, or what is made by a test of it; and the other way round. */
static int name_by_bits(verifier *v) {
    int found = 0;
    for (int32_t n = 0; n < v->fn->insn_count && v->bit_count; n++) {
        const oric_node *node = &v->fn->nodes[n];
        if (v->kinds[n] != SHARED_SET && v->kinds[n] != SHARED_TEST) continue;
        int32_t *bit = &shared_bit_of(v, node)->value;
        int32_t *other = &v->value_of[v->kinds[n] == SHARED_SET ? oric_v_guard(v, node) : (int32_t)oric_v_result(v, node)->unit];
        if ((*bit < 0) == (*other < 0)) continue;
        *(*bit < 0 ? bit : other) = *bit < 0 ? *other : *bit;
        found = 1;
    }
    return found;
}

int oric_v_find_cells(verifier *v) {
    name_by_originals(v);
    if (find_shared_bits(v)) return -1;
    while (name_by_moves(v) || name_by_bits(v) || name_by_neighbours(v) || name_by_refills(v)) {}
    int32_t room = 0;
    for (int32_t n = 0; n < v->fn->insn_count; n++) room += v->kinds[n] == SPILL || v->kinds[n] == REFILL ? 4 : 0;
    v->cells = malloc(((size_t)room + 1) * sizeof(cell));
    v->stored = calloc((size_t)room + 1, 1);
    if (!v->cells || !v->stored) return -1;
    add_cells(v, 1);
    qsort(v->cells, (size_t)v->cell_count, sizeof(cell), compare_cells);
    int32_t kept = 0;
    for (int32_t k = 0; k < v->cell_count; k++)
        if (!k || compare_cells(&v->cells[k - 1], &v->cells[k])) v->cells[kept++] = v->cells[k];
    v->cell_count = kept;
    add_cells(v, 0);
    return 0;
}

void oric_v_name_places(verifier *v) {
    const cell *cells = v->cells;
    for (int32_t c = 0; c < v->units; c++) {
        int32_t place = v->fn->unit_register[c] < 0 ? -1 : hardware_place(v, c);
        v->place_of[c] = place < 0 ? v->places - 1 : place;
    }
    for (int32_t k = 0, c = v->units; k < v->cell_count; k++, c++) v->place_of[c] = ORIC_PHYSICAL_UNITS + cells[k].word, v->value_of[c] = cells[k].value;
    for (int32_t k = 0, c = v->units + v->cell_count; k < v->bit_count; k++, c++) {
        v->place_of[c] = v->place_of[v->bits_shared[k].place / 32];
        v->value_of[c] = v->bits_shared[k].value;
    }
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_access *a = oric_v_accesses(v->fn, &v->fn->nodes[n]);
        for (int k = 0; k < v->fn->nodes[n].access_count; k++)
            for (uint32_t u = a[k].unit; u < a[k].unit + a[k].count; u++)
                if (v->place_of[u] == v->places - 1) oric_v_problem(v, ORIC_V_PLACE, &v->fn->nodes[n], a[k].slot, v->value_of[u], -1);
    }
}
