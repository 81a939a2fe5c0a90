#include "alloc/verify_code.h"
#include "support/bitvec.h"

#include <stdlib.h>
#include <string.h>

/* --- the state within a block */

static int test_bit(const uint64_t *sets, const verifier *v, int32_t block, int32_t bit) {
    return sets[(size_t)block * v->words + ((uint32_t)bit >> 6)] >> (bit & 63) & 1;
}

static void see_value(verifier *v, int32_t value) {
    if (v->value_seen[value] == v->stamp) return;
    v->value_seen[value] = v->stamp;
    v->last_version[value] = 0;
    v->defined[value] = v->value_bit[value] >= 0 && test_bit(v->defined_in, v, v->block, v->value_bit[value]);
    v->touched_values[v->touched_value_count++] = value;
}

static void see_place(verifier *v, int32_t place) {
    if (v->place_seen[place] == v->stamp) return;
    v->place_seen[place] = v->stamp;
    v->content[place] = 0;
    v->touched_places[v->touched_place_count++] = place;
}

static void see_carrier(verifier *v, int32_t carrier) {
    if (v->carrier_seen[carrier] == v->stamp) return;
    see_value(v, v->value_of[carrier]);
    see_place(v, v->place_of[carrier]);
    v->carrier_seen[carrier] = v->stamp;
    v->touched_carriers[v->touched_carrier_count++] = carrier;
    int invalid = v->carrier_bit[carrier] >= 0 && test_bit(v->invalid_in, v, v->block, v->carrier_bit[carrier]);
    v->has_version[carrier] = 0;
    v->has_content[carrier] = invalid ? -1 : 0;
    v->halves[carrier].when = 0;
}

static int intact(const verifier *v, int32_t carrier) { return v->has_content[carrier] == v->content[v->place_of[carrier]]; }

/* Whether a carrier has a version of its value; any content will do for one that nothing has defined. */
static int readable(verifier *v, int32_t carrier, int32_t version) {
    see_carrier(v, carrier);
    if (!version && !v->defined[v->value_of[carrier]]) return 1;
    return v->has_version[carrier] == version && intact(v, carrier);
}

/* The version that a carrier has, -1 for none. */
static int32_t version_in(verifier *v, int32_t carrier) {
    see_carrier(v, carrier);
    if (intact(v, carrier)) return v->has_version[carrier];
    return v->defined[v->value_of[carrier]] ? -1 : 0;
}

enum { CLEARED = 2 };                     /* `when` of a shared bit that is 0 */
enum { UNKNOWN_GUARD = -1, NEVER = -2 }; /* guards that are no values: see guard_of */

/* Whether a carrier that was seen is a shared bit that is known to be 0. */
static int is_cleared(const verifier *v, int32_t carrier) { return v->halves[carrier].when == CLEARED && intact(v, carrier); }

/* The version that it has where a guard holds (1) or does not (-1); -1 for none. */
static int32_t half_version(verifier *v, int32_t carrier, int when, int32_t guard, int32_t guard_version) {
    const half *h = &v->halves[carrier];
    see_carrier(v, carrier);
    return h->when == when && guard != UNKNOWN_GUARD && h->guard == guard && h->guard_version == guard_version && intact(v, carrier) ? h->version : -1;
}

/* Whether it has a version where a guard holds, under which it had the one before when an instruction under another guard defined that. */
static int has_under(const verifier *v, int32_t carrier, int32_t version, int32_t guard, int32_t guard_version) {
    const half *h = &v->halves[carrier];
    return h->when == 1 && h->version == version && h->also && h->also == guard && h->also_version == guard_version && intact(v, carrier);
}

static void fill(verifier *v, int32_t carrier, int32_t version) {
    see_carrier(v, carrier);
    v->has_version[carrier] = version;
    v->has_content[carrier] = v->content[v->place_of[carrier]];
    v->halves[carrier].when = 0;
}

/* What a carrier has, to be given to another one once the place of that is overwritten. */
typedef struct {
    int32_t version;
    half part;
} having;

static having had(verifier *v, int32_t carrier) {
    having found = {version_in(v, carrier), {0}};
    if (intact(v, carrier)) found.part = v->halves[carrier];
    return found;
}

static void give(verifier *v, int32_t carrier, having found) {
    fill(v, carrier, found.version);
    v->halves[carrier] = found.part;
}

static void overwrite(verifier *v, int32_t place) {
    see_place(v, place);
    v->content[place] = ++v->counter;
}

/* The guard of an instruction: its value and sign, and the version of that. 0 = none, NEVER = one that never holds, UNKNOWN_GUARD =
 * a register that carries nothing, which is no other guard. */
static int32_t guard_of(verifier *v, const oric_node *node, int32_t *version) {
    const oric_access *a = oric_v_accesses(v->fn, node);
    *version = 0;
    if (!(node->flags & ORIC_I_GUARDED)) return 0;
    for (int k = 0; k < node->access_count; k++) {
        if (!(a[k].flags & ORIC_A_GUARD)) continue;
        if (v->value_of[a[k].unit] < 0) return UNKNOWN_GUARD;
        *version = version_in(v, (int32_t)a[k].unit);
        return 2 * v->value_of[a[k].unit] + 1 + oric_operand_negate((uint64_t)v->f->guard[node->index]);
    }
    return NEVER;
}

/* A version is defined through a carrier. Under a guard the carriers that had the one before have this one where the guard does not
 * hold; so has this carrier (`old`), or it has the version only where the guard holds, and where that of the instruction before did by
 * which it had the one before (`part`). */
static void define(verifier *v, int32_t carrier, int32_t now, int32_t before, int32_t guard, int32_t guard_version, int old, half part) {
    int32_t value = v->value_of[carrier];
    see_carrier(v, carrier);
    for (int32_t c = guard ? v->first_carrier[value] : -1; c >= 0; c = v->next_carrier[c])
        if (c != carrier && readable(v, c, before) && !is_cleared(v, c))
            v->halves[c] = (half){.when = -1, .version = now, .guard = guard, .guard_version = guard_version, .before = before}, v->has_content[c] = v->content[v->place_of[c]];
    fill(v, carrier, !guard || old ? now : -1);
    if (!guard || old) return;
    v->halves[carrier] = (half){.when = 1, .version = now, .guard = guard, .guard_version = guard_version, .before = before};
    if (part.when == 1 && part.version == before && part.guard > 0 && part.guard != guard) v->halves[carrier].also = part.guard, v->halves[carrier].also_version = part.guard_version;
}

/* --- what is wrong with a read */

/* A new or another instruction that writes to the place of a carrier, and not its value; -1 for none. */
static int32_t intruder(const verifier *v, int32_t carrier) {
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_node *node = &v->fn->nodes[n];
        const oric_access *a = oric_v_accesses(v->fn, node);
        for (int k = 0; k < node->access_count; k++)
            for (uint32_t u = a[k].unit; a[k].flags & ORIC_A_DEF && u < a[k].unit + a[k].count; u++)
                if (v->place_of[u] == v->place_of[carrier] && v->value_of[u] != v->value_of[carrier]) return (int32_t)node->index;
    }
    return -1;
}

static int is_refilled(const verifier *v, int32_t unit, int kind) {
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_access *a = oric_v_accesses(v->fn, &v->fn->nodes[n]);
        for (int k = 0; k < v->fn->nodes[n].access_count; k++)
            if (v->kinds[n] == kind && a[k].flags & ORIC_A_DEF && a[k].unit <= (uint32_t)unit && (uint32_t)unit < a[k].unit + a[k].count)
                return 1;
    }
    return 0;
}

/* Whether some other value is stored to a word. */
static int is_shared(const verifier *v, int32_t carrier) {
    int32_t at = carrier - v->units, word = v->cells[at].word;
    if (at && v->cells[at - 1].word == word && v->stored[at - 1]) return 1;
    return at + 1 < v->cell_count && v->cells[at + 1].word == word && v->stored[at + 1];
}

/* The cell that a refill takes the value of a register from, -1 when no refill does. */
static int32_t cell_of(const verifier *v, int32_t unit) {
    uint32_t first;
    int32_t word;
    int count;
    for (int32_t n = 0; n < v->fn->insn_count; n++) {
        const oric_node *node = &v->fn->nodes[n];
        if (v->kinds[n] != REFILL || !oric_v_data(v, node, 0, &first, &count) || !oric_v_address(v, node, count, &word)) continue;
        if (first <= (uint32_t)unit && (uint32_t)unit < first + (uint32_t)count)
            return oric_v_cell(v, word + unit - (int32_t)first, v->value_of[unit]);
    }
    return -1;
}

/* By which of the problems to call a bad read; `other` is the instruction that is in the way. */
static int called(verifier *v, int32_t carrier, int32_t *other) {
    int32_t value = v->value_of[carrier], cell = carrier < v->was->fn->unit_count ? -1 : cell_of(v, carrier);
    int whole = intact(v, carrier), version = v->has_version[carrier];
    *other = -1;
    if (v->lost[value]) return ORIC_V_DISAPPEARED;
    if (whole && (version > 0 || (version == 0 && v->defined[value]))) return *other = version - 1, ORIC_V_ORDER;
    if (v->origin[value] >= 0 && !is_refilled(v, carrier, REMADE)) return ORIC_V_REMAT;
    if (whole && cell >= 0) return v->stored[cell - v->units] && !is_shared(v, cell) ? ORIC_V_UNINITIALIZED_MEMORY : ORIC_V_NO_SPILL;
    int by = is_refilled(v, carrier, BIT_REFILL) ? ORIC_V_P2R_PATTERN : is_refilled(v, carrier, SHARED_TEST) ? ORIC_V_BIT_PATTERN : 0;
    if (carrier >= v->was->fn->unit_count && cell < 0 && !by) return ORIC_V_UNINITIALIZED;
    if (whole && by) return by;
    *other = intruder(v, carrier);
    return *other >= 0 ? ORIC_V_EXTRA : ORIC_V_UNINITIALIZED;
}

/* A carrier is read that need not have the version of its value. */
static void bad_read(verifier *v, const oric_node *node, int slot, int32_t carrier, int32_t version) {
    v->doubts |= v->quiet;
    if (v->quiet) return;
    int32_t other, kind = called(v, carrier, &other);
    oric_v_problem(v, kind, node, slot, v->value_of[carrier], other);
    fill(v, carrier, version); /* said once */
}

/* --- one instruction */

static void write_place(verifier *v, int32_t unit) { overwrite(v, v->place_of[unit]); }

/* Whether a node copies a place to itself. */
static int is_idle(const verifier *v, const oric_node *node) {
    const oric_access *a = oric_v_accesses(v->fn, node);
    return node->flags & ORIC_I_COPY && v->place_of[a[0].unit] == v->place_of[a[1].unit];
}

/* Every node of the image has its words in the same order. What it reads need be there only where its guard holds. */
static void step_original(verifier *v, const oric_node *node) {
    const oric_access *a = oric_v_accesses(v->fn, node);
    uint32_t first = v->first_word[v->was->node_of[node->index]], word = first;
    int32_t guard_version, guard = guard_of(v, node, &guard_version), now = (int32_t)node->index + 1;
    for (int k = 0; k < node->access_count; k++)
        for (uint32_t u = a[k].unit; u < a[k].unit + a[k].count; u++, word++) {
            if (a[k].flags & ORIC_A_DEF || readable(v, (int32_t)u, v->expected[word])) continue;
            int there = guard && !(a[k].flags & ORIC_A_GUARD) &&
                        (half_version(v, (int32_t)u, 1, guard, guard_version) == v->expected[word] ||
                         has_under(v, (int32_t)u, v->expected[word], guard, guard_version));
            if (!there) bad_read(v, node, a[k].slot, (int32_t)u, v->expected[word]);
        }
    int stays = is_idle(v, node);
    word = first;
    for (int k = 0; k < node->access_count; k++)
        for (uint32_t u = a[k].unit; u < a[k].unit + a[k].count; u++, word++) {
            if (!(a[k].flags & ORIC_A_DEF)) continue;
            int old = guard && readable(v, (int32_t)u, v->expected[word]);
            half part = had(v, (int32_t)u).part;
            if (!stays) write_place(v, (int32_t)u);
            define(v, (int32_t)u, now, v->expected[word], guard, guard_version, old, part);
            if (v->leaves[word]) v->last_version[v->value_of[u]] = now;
        }
}

/* Whether a new instruction has the sources of one of the image. */
static int is_as(const verifier *v, const oric_node *node, int32_t from) {
    int64_t count = v->f->count[node->index];
    if (v->was->op[from] != node->op || v->was->count[from] != count || v->was->mods[from] != v->f->mods[node->index]) return 0;
    for (int slot = 1; slot < count; slot++)
        if (v->was->operand[v->was->first[from] + slot] != oric_v_operand(v, node, slot)) return 0;
    return 1;
}

static void step_remade(verifier *v, const oric_node *node) {
    const oric_access *to = oric_v_result(v, node);
    for (int32_t unit = (int32_t)to->unit; unit < (int32_t)(to->unit + to->count); unit++) {
        int32_t value = v->value_of[unit], from = value < 0 ? -1 : v->origin[value];
        int same = from >= 0 && !(node->flags & ORIC_I_GUARDED) && is_as(v, node, from);
        write_place(v, unit);
        if (value < 0) continue;
        if (!same) oric_v_problem(v, ORIC_V_REMAT, node, 0, value, from);
        fill(v, unit, same || !v->quiet ? 0 : -1);
    }
}

static int base_is_there(verifier *v, const oric_node *node, int count, int32_t *word) {
    if (oric_v_address(v, node, count, word) && readable(v, v->code->base, 0)) return 1;
    oric_v_problem(v, ORIC_V_NO_SPILL, node, node->op == v->code->load_op ? 1 : 0, -1, -1);
    return 0;
}

/* Some words of a refill may be nobody's any more, and then have not been kept: whoever reads one is told. */
static void step_refill(verifier *v, const oric_node *node) {
    uint32_t unit = 0;
    having found[4] = {{0, {0}}};
    int32_t word, lost = -1;
    int count, there = 0;
    oric_v_data(v, node, 0, &unit, &count);
    int based = base_is_there(v, node, count, &word);
    for (int c = 0; c < count; c++) {
        int32_t value = v->value_of[unit + (uint32_t)c], carrier = based && value >= 0 ? oric_v_cell(v, word + c, value) : -1;
        found[c].version = -1;
        if (carrier >= 0) found[c] = had(v, carrier);
        there |= found[c].version >= 0 || found[c].part.when;
        if (carrier < 0 || found[c].version >= 0 || found[c].part.when) continue;
        if (!v->stored[carrier - v->units] || is_shared(v, carrier)) oric_v_problem(v, ORIC_V_NO_SPILL, node, 0, value, -1);
        else if (lost < 0) lost = value;
    }
    if (lost >= 0 && !there) oric_v_problem(v, ORIC_V_UNINITIALIZED_MEMORY, node, 0, lost, -1);
    for (int c = 0; c < count; c++) write_place(v, (int32_t)unit + c);
    for (int c = 0; c < count; c++)
        if (v->value_of[unit + (uint32_t)c] >= 0) give(v, (int32_t)unit + c, found[c]);
}

static void step_spill(verifier *v, const oric_node *node) {
    uint32_t unit = 0;
    int32_t word, guard_version, guard = guard_of(v, node, &guard_version);
    int count;
    oric_v_data(v, node, 2, &unit, &count);
    if (!base_is_there(v, node, count, &word)) return;
    for (int c = 0; c < count; c++) {
        int32_t from = (int32_t)unit + c, value = v->value_of[from], to = value < 0 ? -1 : oric_v_cell(v, word + c, value);
        having found = {-1, {.when = 0}};
        if (value >= 0) found = had(v, from);
        if (guard && value >= 0) {
            int32_t part = half_version(v, from, 1, guard, guard_version), there = half_version(v, to, -1, guard, guard_version);
            int rest = part >= 0 && readable(v, to, found.part.before); /* the old version, which may have been defined meanwhile */
            if (found.version < 0) found.version = part;
            if (found.version >= 0 && !rest && there != found.version && !readable(v, to, found.version)) found.version = -1;
            found.part.when = 0;
        }
        overwrite(v, ORIC_PHYSICAL_UNITS + word + c);
        if (value >= 0) give(v, to, found);
    }
}

/* The shape of the instructions that move one predicate to a register and back. */
static int is_bit_move(const verifier *v, const oric_node *node, int spill) {
    const oric_spill_code *code = v->code;
    const oric_access *to = oric_v_result(v, node), *from = oric_v_source(v, node);
    if (!to || !from || to->count != 1 || from->count != 1 || node->flags & ORIC_I_GUARDED) return 0;
    if (v->f->mods[node->index] != (spill ? code->select_mods : code->test_mods)) return 0;
    if (v->fn->unit_file[to->unit] != (spill ? ORIC_FILE_R : ORIC_FILE_P)) return 0;
    if (!spill) return v->f->count[node->index] == 3 && from->slot == 1 && oric_v_operand(v, node, 2) == code->test_source;
    return v->f->count[node->index] == 4 && from->slot == 3 && oric_v_operand(v, node, 1) == code->select_first &&
           oric_v_operand(v, node, 2) == code->select_second && oric_operand_negate((uint64_t)oric_v_operand(v, node, 3));
}

static void step_bit(verifier *v, const oric_node *node, int spill) {
    const oric_access *to = oric_v_result(v, node), *from = oric_v_source(v, node);
    int32_t value = from ? v->value_of[from->unit] : -1;
    if (!is_bit_move(v, node, spill) || value < 0 || v->value_of[to->unit] != value) {
        oric_v_problem(v, ORIC_V_P2R_PATTERN, node, -1, value, -1);
        if (to) write_place(v, (int32_t)to->unit);
        return;
    }
    having found = had(v, (int32_t)from->unit);
    int32_t other = -1;
    if (found.version < 0 && !found.part.when && !spill) {
        other = v->quiet ? -1 : intruder(v, (int32_t)from->unit);
        oric_v_problem(v, other >= 0 ? ORIC_V_P2R_BASE : ORIC_V_P2R_PATTERN, node, from->slot, value, other);
    }
    write_place(v, (int32_t)to->unit);
    give(v, (int32_t)to->unit, found);
}

/* A word of a uniform register goes to a general one, or comes back. */
static void step_uniform(verifier *v, const oric_node *node, int refill) {
    const oric_access *to = oric_v_result(v, node), *from = oric_v_source(v, node);
    int32_t value = v->value_of[from->unit];
    having found = {-1, {.when = 0}};
    if (value >= 0 && v->value_of[to->unit] == value) found = had(v, (int32_t)from->unit);
    if (refill && found.version < 0 && !found.part.when)
        oric_v_problem(v, ORIC_V_NO_SPILL, node, from->slot, value, v->quiet ? -1 : intruder(v, (int32_t)from->unit));
    write_place(v, (int32_t)to->unit);
    if (v->value_of[to->unit] >= 0) give(v, (int32_t)to->unit, found);
}

/* A predicate comes back from its bit of a register. */
static void step_shared_test(verifier *v, const oric_node *node) {
    int32_t unit, to = (int32_t)oric_v_result(v, node)->unit, value = v->value_of[to], bit = oric_v_shared_bit(v, node, &unit);
    having found = {-1, {.when = 0}};
    if (value < 0 || v->value_of[bit] != value) oric_v_problem(v, ORIC_V_BIT_PATTERN, node, -1, value, -1);
    else found = had(v, bit);
    if (value >= 0 && v->value_of[bit] == value && found.version < 0 && !found.part.when) {
        int32_t other = v->quiet ? -1 : intruder(v, unit);
        oric_v_problem(v, other >= 0 ? ORIC_V_BIT_BASE : ORIC_V_BIT_PATTERN, node, 1, value, other);
    }
    write_place(v, to);
    if (value >= 0) give(v, to, found);
}

/* One bit of a register becomes 0, or 1 where the guard holds: then it is the guard, if it was 0. The other bits stay. */
static void step_shared_change(verifier *v, const oric_node *node, int set) {
    int32_t unit, bit = oric_v_shared_bit(v, node, &unit), first = bit, guard = set ? oric_v_guard(v, node) : -1;
    int32_t base = v->units + v->cell_count;
    having stays[32], now = {-1, {.when = CLEARED}};
    while (first > base && v->bits_shared[first - 1 - base].place / 32 == unit) first--;
    int32_t last = first;
    for (; last < v->carriers && v->bits_shared[last - base].place / 32 == unit; last++)
        if (v->value_of[last] >= 0) stays[last - first] = had(v, last);
    if (set) {
        int known = v->value_of[bit] >= 0 && v->value_of[guard] == v->value_of[bit] && !oric_operand_negate((uint64_t)v->f->guard[node->index]);
        int clear = known && stays[bit - first].part.when == CLEARED;
        if (clear) now = had(v, guard);
        else now.part.when = 0, oric_v_problem(v, ORIC_V_BIT_PATTERN, node, -1, v->value_of[bit], -1);
    }
    overwrite(v, v->place_of[unit]);
    for (int32_t c = first; c < last; c++)
        if (v->value_of[c] >= 0) give(v, c, c == bit ? now : stays[c - first]);
}

static void step(verifier *v, int32_t n) {
    const oric_node *node = &v->fn->nodes[n];
    const oric_access *a = oric_v_accesses(v->fn, node);
    switch (v->kinds[n]) {
    case NOT_NEW: step_original(v, node); return;
    case REFILL: step_refill(v, node); return;
    case SPILL: step_spill(v, node); return;
    case BIT_REFILL: step_bit(v, node, 0); return;
    case BIT_SPILL: step_bit(v, node, 1); return;
    case UNIFORM_REFILL: step_uniform(v, node, 1); return;
    case UNIFORM_SPILL: step_uniform(v, node, 0); return;
    case SHARED_TEST: step_shared_test(v, node); return;
    case SHARED_CLEAR:
    case SHARED_SET: step_shared_change(v, node, v->kinds[n] == SHARED_SET); return;
    case REMADE: step_remade(v, node); return;
    case BASE:
        if (!is_idle(v, node)) write_place(v, v->code->base);
        fill(v, v->code->base, 0);
        return;
    case CLEAR:
        write_place(v, (int32_t)oric_v_result(v, node)->unit);
        if (v->value_of[oric_v_result(v, node)->unit] >= 0) fill(v, (int32_t)oric_v_result(v, node)->unit, -1);
        return;
    default:
        if (v->kinds[n] == UNKNOWN) oric_v_problem(v, ORIC_V_EXTRA, node, -1, -1, (int32_t)node->index);
        for (int k = 0; k < node->access_count; k++)
            for (uint32_t u = a[k].unit; a[k].flags & ORIC_A_DEF && u < a[k].unit + a[k].count; u++) write_place(v, (int32_t)u);
    }
}

/* --- over all paths */

static void enter(verifier *v, int32_t block) {
    v->stamp++;
    v->block = block;
    v->touched_value_count = v->touched_place_count = v->touched_carrier_count = 0;
}

static void note(verifier *v, int32_t carrier) {
    int32_t bit = v->carrier_bit[carrier];
    if (bit < 0) return;
    uint64_t *word = &v->invalid_out[bit >> 6], one = (uint64_t)1 << (bit & 63);
    *word = readable(v, carrier, v->last_version[v->value_of[carrier]]) ? *word & ~one : *word | one;
}

/* What a block overwrites without looking has nothing any more that was defined. */
static void note_place(verifier *v, int32_t place) {
    const uint64_t *defined = v->defined_in + (size_t)v->block * v->words;
    int32_t bit = v->first_bit[place], end = v->first_bit[place + 1];
    while (bit < end) {
        int32_t count = 64 - (bit & 63) < end - bit ? 64 - (bit & 63) : end - bit;
        uint64_t mask = (count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << (bit & 63);
        v->invalid_out[bit >> 6] |= defined[bit >> 6] & mask;
        bit += count;
    }
}

/* What leaves the block that was gone through. */
static void leave(verifier *v) {
    memcpy(v->invalid_out, v->invalid_in + (size_t)v->block * v->words, v->words * sizeof(uint64_t));
    memcpy(v->defined_out, v->defined_in + (size_t)v->block * v->words, v->words * sizeof(uint64_t));
    for (int32_t k = 0; k < v->touched_place_count; k++)
        if (v->content[v->touched_places[k]]) note_place(v, v->touched_places[k]);
    int32_t values = v->touched_value_count; /* looking touches more places and carriers, which are as they came in */
    for (int32_t k = 0; k < values; k++) {
        int32_t value = v->touched_values[k];
        int made = v->last_version[value] || (v->origin[value] >= 0 && v->defined[value]);
        if (v->value_bit[value] < 0 || !made) continue;
        for (int32_t c = v->first_carrier[value]; c >= 0; c = v->next_carrier[c]) {
            v->defined_out[v->carrier_bit[c] >> 6] |= (uint64_t)1 << (v->carrier_bit[c] & 63);
            see_carrier(v, c);
        }
    }
    for (int32_t k = 0; k < v->touched_carrier_count; k++) note(v, v->touched_carriers[k]);
}

/* What is repeated where it is needed, and what this block defined: nothing has it when the block begins. */
static void begin_repeated(verifier *v) {
    for (int32_t n = v->repeated_first[v->block]; n < v->repeated_first[v->block + 1]; n++) {
        int32_t value = v->repeated[n];
        see_value(v, value);
        v->defined[value] = 1;
        for (int32_t c = v->first_carrier[value]; c >= 0; c = v->next_carrier[c]) see_carrier(v, c), v->has_content[c] = -1;
    }
}

static void go_through(verifier *v, int32_t block) {
    enter(v, block);
    if (block < v->was->fn->block_count) begin_repeated(v);
    for (uint32_t n = v->fn->block_first[block]; n < v->fn->block_first[block + 1]; n++) step(v, (int32_t)n);
}

/* Blocks that are reached, in queue order, until nothing changes; then once more, to speak of what is wrong. What a block begins with
 * only gets worse, so where the last walk through it found nothing, no walk did. */
int oric_v_follow(verifier *v) {
    const oric_fn *fn = v->fn;
    int32_t *queue = malloc(((size_t)fn->block_count + 1) * sizeof *queue);
    uint8_t *waits = calloc((size_t)fn->block_count + 1, 1), *reached = calloc((size_t)fn->block_count + 1, 1);
    if (!queue || !waits || !reached) return free(queue), free(waits), free(reached), -1;
    int32_t head = 0, count = fn->block_count > 0;
    if (count) queue[0] = 0, waits[0] = reached[0] = 1;
    v->quiet = 1;
    while (count) {
        int32_t b = queue[head];
        head = (head + 1) % fn->block_count, count--, waits[b] = 0;
        go_through(v, b);
        leave(v);
        for (uint32_t e = fn->succ_first[b]; e < fn->succ_first[b + 1]; e++) {
            int32_t s = fn->succs[e];
            int changed = oric_bv_or(v->invalid_in + (size_t)s * v->words, v->invalid_out, v->bits);
            changed |= oric_bv_or(v->defined_in + (size_t)s * v->words, v->defined_out, v->bits) || !reached[s];
            if (!changed || waits[s]) continue;
            reached[s] = waits[s] = 1;
            queue[(head + count++) % fn->block_count] = s;
        }
    }
    v->quiet = 0;
    for (int32_t b = 0; v->doubts && b < fn->block_count; b++)
        if (reached[b]) go_through(v, b);
    free(queue), free(waits), free(reached);
    return 0;
}
