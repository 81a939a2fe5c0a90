/* Atomics and reductions of single threads, of every type. */
#include "sim/atomic.h"
#include "sim/lanes.h"
#include "sim/memcheck.h"

enum { MAX_WORDS = 4 };

static const oric_operand no_register;

sim_element sim_element_of(unsigned type)
{
    switch (type) {
    case V_32: return (sim_element){4, 1, SIM_UNSIGNED};
    case V_S32: return (sim_element){4, 1, SIM_SIGNED};
    case V_64: case V_U64: return (sim_element){8, 1, SIM_UNSIGNED};
    case V_S64: return (sim_element){8, 1, SIM_SIGNED};
    case V_128: return (sim_element){8, 2, SIM_UNSIGNED};
    case V_F16_RN: return (sim_element){2, 1, SIM_F16};
    case V_F16x2_RN: return (sim_element){2, 2, SIM_F16};
    case V_F16x4_RN: return (sim_element){2, 4, SIM_F16};
    case V_F16x8_RN: return (sim_element){2, 8, SIM_F16};
    case V_BF16_RN: return (sim_element){2, 1, SIM_BF16};
    case V_BF16x2_RN: return (sim_element){2, 2, SIM_BF16};
    case V_BF16x4_RN: return (sim_element){2, 4, SIM_BF16};
    case V_BF16x8_RN: return (sim_element){2, 8, SIM_BF16};
    case V_F32_RN: return (sim_element){4, 1, SIM_F32};
    case V_F32x2_RN: return (sim_element){4, 2, SIM_F32};
    case V_F32x4_RN: return (sim_element){4, 4, SIM_F32};
    case V_F32_FTZ_RN: return (sim_element){4, 1, SIM_F32_FTZ};
    case V_F32x2_FTZ_RN: return (sim_element){4, 2, SIM_F32_FTZ};
    case V_F32x4_FTZ_RN: return (sim_element){4, 4, SIM_F32_FTZ};
    case V_F64_RN: return (sim_element){8, 1, SIM_F64};
    default: return (sim_element){0, 0, 0};
    }
}

static uint64_t combine_integers(sim_warp *w, uint32_t lane, unsigned op, sim_element e, uint64_t old, uint64_t x)
{
    uint64_t flip = e.kind == SIM_SIGNED ? 1ull << (8 * e.bytes - 1) : 0;
    int less = (old ^ flip) < (x ^ flip);
    switch (op) {
    case V_ADD: return old + x;
    case V_MIN: return less ? old : x;
    case V_MAX: return less ? x : old;
    case V_INC: return old >= x ? 0 : old + 1;
    case V_DEC: return old == 0 || old > x ? x : old - 1;
    case V_AND: return old & x;
    case V_OR: return old | x;
    case V_XOR: return old ^ x;
    case V_EXCH: return x;
    default:
        sim_fault(w, ORIC_FAULT_NO_MEANING, lane, "atomic operation on integers");
        return old;
    }
}

static uint64_t combine_floats(unsigned op, sim_element e, uint64_t old, uint64_t x)
{
    int ftz = e.kind == SIM_F32_FTZ;
    if (e.kind == SIM_F64)
        return arith_bits64(dadd(arith_f64(old), arith_f64(x), V_RN));
    if (e.bytes == 2) {
        unsigned format = e.kind == SIM_F16 ? V_F16 : V_BF16;
        uint32_t a = (uint32_t)old, b = (uint32_t)x;
        return (op == V_ADD ? arith_half_add(a, b, format, 0, 0) : arith_half_minmax(a, b, format, op == V_MIN, 0, 0, 0)) & 0xffff;
    }
    float a = arith_f32((uint32_t)old), b = arith_f32((uint32_t)x);
    return op == V_ADD ? fadd(a, b, V_RN, (unsigned)ftz, 0) : fmnmx(a, b, op == V_MIN, (unsigned)ftz, 0, 0);
}

uint64_t sim_combine(sim_warp *w, uint32_t lane, unsigned op, sim_element e, uint64_t old, uint64_t x)
{
    if (e.kind == SIM_UNSIGNED || e.kind == SIM_SIGNED)
        return combine_integers(w, lane, op, e, old, x);
    if (op == V_ADD || (e.kind != SIM_F64 && (op == V_MIN || op == V_MAX)))
        return combine_floats(op, e, old, x);
    sim_fault(w, ORIC_FAULT_NO_MEANING, lane, "atomic operation on floats");
    return old;
}

int sim_combine_at(sim_warp *w, uint32_t lane, unsigned op, sim_element e, uint8_t *memory, const uint8_t *operand)
{
    sim_lock(w);
    for (uint32_t i = 0; i < e.count && !w->sim->fault.code; i++) {
        uint64_t old = 0, x = 0;
        memcpy(&old, memory + i * e.bytes, e.bytes);
        memcpy(&x, operand + i * e.bytes, e.bytes);
        uint64_t fresh = sim_combine(w, lane, op, e, old, x);
        if (!w->sim->fault.code)
            memcpy(memory + i * e.bytes, &fresh, e.bytes);
    }
    sim_unlock(w);
    return !w->sim->fault.code;
}

/* The words of a lane; rows that are NULL are zero. */
static void take_lane(uint32_t *const *from, uint32_t words, uint32_t lane, uint32_t *out)
{
    for (uint32_t i = 0; i < words; i++)
        out[i] = from[i] ? from[i][lane] : 0;
}

static void put_lane(uint32_t *const *to, uint32_t words, uint32_t lane, const uint32_t *values)
{
    for (uint32_t i = 0; i < words && to[i]; i++)
        to[i][lane] = values[i];
}

/* Words of an operand of this type; 0 and a fault when it is not known. */
static uint32_t words_of(sim_warp *w, uint32_t mask, sim_element e)
{
    if (!e.bytes)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "atomic operation of this type");
    return (uint32_t)e.bytes * e.count / 4;
}

/* Whether the hardware's unit does this in that space: code of ptxas has another way for the rest, chosen by the predicate. */
static int within_reach(int space, sim_element e, int exchange)
{
    int integer = e.kind == SIM_UNSIGNED || e.kind == SIM_SIGNED, word = integer && e.bytes == 4;
    switch (space) {
    case SHARED: return word || exchange;
    case LOCAL: return word;
    case CLUSTER: return e.kind != SIM_F32 && e.kind != SIM_F32_FTZ && e.kind != SIM_F64;
    default: return 1;
    }
}

/* The lanes for which an atomic is done; a predicate tells which. Without one it is done for all. */
static uint32_t reached(sim_warp *w, uint32_t mask, int space, const uint64_t *at, sim_opd Pd, sim_element e, int exchange)
{
    uint32_t done = 0;
    if (space != GENERIC || Pd->kind != ORIC_K_PRED || Pd->reg == ORIC_INSN_PT)
        return mask;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint64_t address = at[l];
        if (mask >> l & 1)
            done |= (uint32_t)within_reach(sim_generic_space(w, &address), e, exchange) << l;
    }
    sim_putp(w, mask, Pd, done);
    return done;
}

SIM_OP(atomic, int space, int how, sim_opd Pd, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, sim_opd Rb, unsigned op, unsigned type)
{
    uint64_t at[SIM_LANES];
    sim_element e = sim_element_of(type);
    uint32_t words = words_of(w, mask, e), *from[MAX_WORDS], *to[MAX_WORDS], old[MAX_WORDS], x[MAX_WORDS];
    if (!words)
        return;
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rb, words, from) || !rows(w, mask, Rd, words, to))
        return;
    if (w->shadow && op == V_EXCH)
        sim_memcheck_overwrites(w);
    uint32_t done = reached(w, mask, space, at, Pd, e, op == V_EXCH);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(done >> l & 1))
            continue;
        uint8_t *cell = place(w, l, space, at[l], words * 4, SIM_REDUCE);
        if (!cell)
            return;
        take_lane(from, words, l, x);
        memcpy(old, cell, words * 4);
        if (!sim_combine_at(w, l, op, e, cell, (const uint8_t *)x))
            return;
        put_lane(to, words, l, old);
    }
}

/* Stores where memory has the expected value. `found` gets the old values, a word for each of `words`; returns who stored. */
static uint32_t swap_lanes(sim_warp *w, uint32_t mask, int space, const uint64_t *at, sim_opd Rb, sim_opd Rc, uint32_t words, uint32_t *const *found)
{
    uint32_t *compare[MAX_WORDS], *value[MAX_WORDS], old[MAX_WORDS], wanted[MAX_WORDS], fresh[MAX_WORDS], done = 0;
    if (!rows(w, mask, Rb, words, compare) || !rows(w, mask, Rc, words, value))
        return 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *cell = place(w, l, space, at[l], words * 4, SIM_REDUCE);
        if (!cell)
            return done;
        take_lane(compare, words, l, wanted);
        take_lane(value, words, l, fresh);
        memcpy(old, cell, words * 4);
        if (memcmp(old, wanted, words * 4) == 0) {
            memcpy(cell, fresh, words * 4);
            done |= 1u << l;
        }
        put_lane(found, words, l, old);
    }
    return done;
}

/* CAS gives the old value; CAST and CAST.SPIN give 1 when they have stored, else 0. */
SIM_OP(compare_and_swap, int space, int how, sim_opd Pd, sim_opd Rd, sim_opd Ra, sim_opd off, unsigned scale, sim_opd Rb, sim_opd Rc, unsigned type, unsigned op)
{
    uint64_t at[SIM_LANES];
    sim_element e = sim_element_of(type);
    uint32_t words = words_of(w, mask, e), *to[MAX_WORDS], *unused[MAX_WORDS] = {NULL, NULL, NULL, NULL};
    if (!words)
        return;
    addresses(w, mask, how, Ra, off, &no_register, scale, at);
    if (!rows(w, mask, Rd, words, to))
        return;
    uint32_t lanes = reached(w, mask, space, at, Pd, e, 1);
    uint32_t done = swap_lanes(w, lanes, space, at, Rb, Rc, words, op == V_CAS ? to : unused);
    if (op == V_CAS || w->sim->fault.code)
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        const uint32_t told[MAX_WORDS] = {done >> l & 1, 0, 0, 0};
        if (lanes >> l & 1)
            put_lane(to, words, l, told);
    }
}

/* The predicate says whether the lane has stored. */
SIM_OP(compare_and_swap_test, sim_opd Pd, sim_opd Ra, sim_opd off, unsigned scale, sim_opd Rb, sim_opd Rc, unsigned type)
{
    uint64_t at[SIM_LANES];
    uint32_t words = words_of(w, mask, sim_element_of(type)), *unused[MAX_WORDS] = {NULL, NULL, NULL, NULL};
    if (!words)
        return;
    addresses(w, mask, A32, Ra, off, &no_register, scale, at);
    uint32_t done = swap_lanes(w, mask, SHARED, at, Rb, Rc, words, unused);
    if (!w->sim->fault.code)
        sim_putp(w, mask, Pd, done);
}

/* Every lane adds one. */
SIM_OP(atomic_count, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale)
{
    uint64_t at[SIM_LANES];
    uint32_t *to[1];
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rd, 1, to))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *cell = place(w, l, space, at[l], 4, SIM_REDUCE);
        if (!cell)
            return;
        uint32_t old, fresh;
        memcpy(&old, cell, 4);
        fresh = old + 1;
        memcpy(cell, &fresh, 4);
        put_lane(to, 1, l, &old);
    }
}
