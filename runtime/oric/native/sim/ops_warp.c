/* Operations between the lanes of a warp, special registers, predicates as a register. */
#include "sim/ops.h"

/* Shuffle: Rc is clamp in bits 0-4 and segment mask in bits 8-12. A source outside gives the own value, predicate false. */
SIM_OP(shuffle, sim_opd Rd, sim_opd Pd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned mode)
{
    uint32_t room_a[SIM_LANES], room_b[SIM_LANES], room_c[SIM_LANES], out[SIM_LANES], valid = 0;
    const uint32_t *a = sim_get32(w, mask, Ra, room_a, SIM_AS_BITS);
    const uint32_t *b = sim_get32(w, mask, Rb, room_b, SIM_AS_BITS);
    const uint32_t *c = sim_get32(w, mask, Rc, room_c, SIM_AS_BITS);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t segment = c[l] >> 8 & 31, clamp = c[l] & 31, by = b[l] & 31, from;
        uint32_t low = l & segment, high = low | (clamp & ~segment);
        int inside;
        switch (mode) {
        case V_UP:
            inside = (int32_t)(l - by) >= (int32_t)high;
            from = l - by;
            break;
        case V_DOWN:
            inside = l + by <= high;
            from = l + by;
            break;
        case V_BFLY:
            inside = (l ^ by) <= high;
            from = l ^ by;
            break;
        default:
            from = low | (by & ~segment);
            inside = from <= high;
        }
        from = inside ? from & 31 : l;
        out[l] = a[from];
        valid |= (uint32_t)inside << l;
    }
    sim_put32(w, mask, Rd, out);
    sim_putp(w, mask, Pd, valid);
}

static void put_everywhere(sim_warp *w, uint32_t mask, sim_opd o, uint32_t value)
{
    uint32_t values[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        values[l] = value;
    sim_put32(w, mask, o, values);
}

SIM_OP(vote, sim_opd Rd, sim_opd Pp, sim_opd Pd, unsigned op)
{
    uint32_t ballot = sim_getp(w, Pp, SIM_FULL) & mask;
    int yes = op == V_ALL ? ballot == mask : op == V_ANY ? ballot != 0 : ballot == 0 || ballot == mask;
    put_everywhere(w, mask, Rd, ballot);
    sim_putp(w, mask, Pd, yes ? SIM_FULL : 0);
}

SIM_OP(match, sim_opd Rd, sim_opd Ra, sim_opd Pd, unsigned mode, unsigned size)
{
    uint64_t values[SIM_LANES];
    uint32_t room[SIM_LANES], out[SIM_LANES], all;
    if (size == V_U64) {
        uint64_t wide[SIM_LANES];
        memcpy(values, sim_get64(w, mask, Ra, wide, 0), sizeof values);
    } else {
        const uint32_t *narrow = sim_get32(w, mask, Ra, room, SIM_AS_BITS);
        for (int l = 0; l < SIM_LANES; l++)
            values[l] = narrow[l];
    }
    for (int l = 0; l < SIM_LANES; l++) {
        out[l] = 0;
        for (int k = 0; k < SIM_LANES; k++)
            if ((mask >> k & 1) && values[k] == values[l])
                out[l] |= 1u << k;
    }
    all = out[sim_first_lane(mask)] == mask;
    if (mode == V_ALL)
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = all ? mask : 0;
    sim_put32(w, mask, Rd, out);
    sim_putp(w, mask, Pd, all ? SIM_FULL : 0);
}

static uint32_t combine(sim_warp *w, uint32_t lane, unsigned op, unsigned sign, uint32_t a, uint32_t b)
{
    switch (op) {
    case V_AND: return a & b;
    case V_OR: return a | b;
    case V_XOR: return a ^ b;
    case V_SUM: return a + b;
    case V_MIN: return imnmx(a, b, 1, sign);
    case V_MAX: return imnmx(a, b, 0, sign);
    default:
        sim_fault(w, ORIC_FAULT_NO_MEANING, lane, "reduction");
        return a;
    }
}

SIM_OP(reduce, sim_opd URd, sim_opd Ra, unsigned op, unsigned sign)
{
    uint32_t room[SIM_LANES], first = sim_first_lane(mask);
    const uint32_t *values = sim_get32(w, mask, Ra, room, SIM_AS_INT);
    uint32_t sum = values[first];
    for (uint32_t l = first + 1; l < SIM_LANES; l++)
        if (mask >> l & 1)
            sum = combine(w, l, op, sign, sum, values[l]);
    put_everywhere(w, mask, URd, sum);
}

/* Extremes, of floats also of their magnitudes; NaNs count only with `nan`, or when there is nothing else. */
SIM_OP(reduce_extreme, sim_opd URd, sim_opd Ra, unsigned op, unsigned type, unsigned nan)
{
    uint32_t room[SIM_LANES], first = sim_first_lane(mask);
    uint32_t keep = op == V_MAXABS || op == V_MINABS ? 0x7fffffffu : 0xffffffffu, min = op == V_MIN || op == V_MINABS;
    const uint32_t *values = sim_get32(w, mask, Ra, room, SIM_AS_BITS);
    uint32_t extreme = values[first] & keep;
    for (uint32_t l = first; l < SIM_LANES; l++)
        if (mask >> l & 1)
            extreme = type == V_F32 ? fmnmx(arith_f32(extreme), arith_f32(values[l] & keep), min, 0, nan, 0) : imnmx(extreme, values[l], min, type);
    put_everywhere(w, mask, URd, extreme);
}

/* The first lane for which the predicate holds: its number to URd, itself to Pd. */
SIM_OP(elect, sim_opd URd, sim_opd Pp, sim_opd Pd)
{
    uint32_t candidates = sim_getp(w, Pp, SIM_FULL) & mask;
    uint32_t leader = candidates ? sim_first_lane(candidates) : 0;
    put_everywhere(w, mask, URd, leader);
    sim_putp(w, mask, Pd, candidates ? 1u << leader : 0);
}

/* R2UR: the value of the first lane; Pu says which lanes have another one (with `also`: or had before). */
/* FILL brings back a uniform register that ptxas kept in a general one (MOV.SPILL): all lanes have its value, and what it
   would do otherwise is not known; nor is BROADCAST with several lanes: ptxas's code elects the lane that broadcasts. */
SIM_OP(to_uniform, sim_opd URd, sim_opd Ra, sim_opd Pu, unsigned also, unsigned fill)
{
    if (fill == V_BROADCAST && (mask & (mask - 1))) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "R2UR.BROADCAST of several lanes");
        return;
    }
    uint32_t room[SIM_LANES], first = sim_first_lane(mask), differs = also ? sim_getp(w, Pu, 0) : 0;
    const uint32_t *values = sim_get32(w, mask, Ra, room, SIM_AS_BITS);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        differs |= (uint32_t)(values[l] != values[first]) << l;
    }
    if (fill == V_FILL && differs) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, first, "R2UR.FILL of several values");
        return;
    }
    put_everywhere(w, mask, URd, values[first]);
    sim_putp(w, mask, Pu, differs);
}

SIM_OP(special, sim_opd Rd, sim_opd SR, unsigned words)
{
    uint64_t values[SIM_LANES] = {0};
    uint32_t low[SIM_LANES];
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        int known = 1;
        if (mask >> l & 1)
            values[l] = sim_special_register(w, l, (uint64_t)SR->value, &known);
        if (!known) {
            sim_fault(w, ORIC_FAULT_NO_MEANING, l, "special register");
            return;
        }
        low[l] = (uint32_t)values[l];
    }
    if (words == 2)
        sim_put64(w, mask, Rd, values);
    else
        sim_put32(w, mask, Rd, low);
}

static unsigned byte_shift(unsigned byte)
{
    return byte == V_B1 ? 8 : byte == V_B2 ? 16 : byte == V_B3 ? 24 : 0;
}

/* Predicates 0-6 of a lane as bits. */
static uint32_t predicate_bits(const uint32_t *predicates, uint32_t lane)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 7; i++)
        bits |= (predicates[i] >> lane & 1) << i;
    return bits;
}

/* Rd = Ra with the bits of Rb, in the chosen byte, replaced by predicates. */
SIM_OP(predicates_to_register, sim_opd Rd, sim_opd Ra, sim_opd Rb, unsigned byte, unsigned uniform)
{
    uint32_t room_a[SIM_LANES], room_b[SIM_LANES], out[SIM_LANES], shift = byte_shift(byte);
    const uint32_t *a = sim_get32(w, mask, Ra, room_a, SIM_AS_BITS), *b = sim_get32(w, mask, Rb, room_b, SIM_AS_BITS);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t select = (b[l] & 0xff) << shift;
        out[l] = (a[l] & ~select) | (predicate_bits(uniform ? w->UP : w->P, l) << shift & select);
    }
    sim_put32(w, mask, Rd, out);
}

SIM_OP(register_to_predicates, sim_opd Ra, sim_opd Rb, unsigned byte, unsigned uniform)
{
    uint32_t room_a[SIM_LANES], room_b[SIM_LANES], shift = byte_shift(byte);
    const uint32_t *a = sim_get32(w, mask, Ra, room_a, SIM_AS_BITS), *b = sim_get32(w, mask, Rb, room_b, SIM_AS_BITS);
    uint32_t *predicates = uniform ? w->UP : w->P;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        for (uint32_t i = 0; i < 7; i++) {
            if (!(mask >> l & 1) || !(b[l] >> i & 1))
                continue;
            uint32_t bit = a[l] >> (shift + i) & 1;
            uint32_t lanes = uniform ? SIM_FULL : 1u << l;
            predicates[i] = bit ? predicates[i] | lanes : predicates[i] & ~lanes;
        }
    }
}
