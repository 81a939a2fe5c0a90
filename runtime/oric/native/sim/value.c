/* Operands of an instruction as arrays of lane values, and results back into registers. */
#include "sim/value.h"

static const uint32_t zero_row[SIM_LANES];
static const uint64_t zero_row64[SIM_LANES];

static void bad_register(sim_warp *w, uint32_t mask)
{
    sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "register beyond those of the kernel");
}

/* A pair of registers starts at an even one. */
static int odd_pair(sim_warp *w, uint32_t mask, const oric_operand *o)
{
    if (o->kind != ORIC_K_GPR || o->reg == ORIC_INSN_RZ || !(o->reg & 1))
        return 0;
    sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "register pair at an odd register");
    return 1;
}

static void bad_operand(sim_warp *w, uint32_t mask)
{
    sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "operand kind");
}

uint32_t *sim_row(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t index)
{
    if (o->reg == ORIC_INSN_RZ || o->kind == ORIC_K_NONE)
        return NULL;
    if (o->kind != ORIC_K_GPR) {
        bad_operand(w, mask);
        return NULL;
    }
    if (o->reg + index >= w->nregs) {
        bad_register(w, mask);
        return NULL;
    }
    return w->R[o->reg + index];
}

static uint32_t modified(uint32_t x, uint32_t flags, int as)
{
    switch (as) {
    case SIM_AS_INT:
        if ((flags & ORIC_F_ABS) && (x >> 31))
            x = 0u - x;
        if (flags & ORIC_F_INV)
            x = ~x;
        return flags & ORIC_F_NEG ? 0u - x : x;
    case SIM_AS_F32:
    case SIM_AS_H2: {
        uint32_t sign = as == SIM_AS_F32 ? 0x80000000u : 0x80008000u;
        if (flags & ORIC_F_ABS)
            x &= ~sign;
        return flags & ORIC_F_NEG ? x ^ sign : x;
    }
    default:
        return x;
    }
}

/* A value that is the same in every lane; 0 and no value for a GPR. */
static int uniform_value(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t word, uint32_t *value)
{
    const uint8_t *from;
    switch (o->kind) {
    case ORIC_K_NONE:
        *value = 0;
        return 1;
    case ORIC_K_IMM:
        *value = word ? (uint32_t)((uint64_t)o->value >> 32) : (uint32_t)o->value;
        return 1;
    case ORIC_K_UGPR:
        *value = o->reg >= 255 ? 0 : w->UR[(o->reg + word) & 255];
        return 1;
    case ORIC_K_CBANK:
        from = sim_constant(w, sim_first_lane(mask), o->reg, (uint64_t)o->value + word * 4ull, 4);
        *value = 0;
        if (from)
            memcpy(value, from, 4);
        return 1;
    case ORIC_K_GPR:
        return 0;
    default:
        bad_operand(w, mask);
        *value = 0;
        return 1;
    }
}

const uint32_t *sim_get32(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t *room, int as)
{
    uint32_t flags = o->flags & (ORIC_F_NEG | ORIC_F_ABS | ORIC_F_INV), value;
    if (o->kind == ORIC_K_GPR) {
        const uint32_t *row = sim_row(w, mask, o, 0);
        if (!row)
            row = zero_row;
        if (flags == 0 || as == SIM_AS_BITS)
            return row;
        for (int l = 0; l < SIM_LANES; l++)
            room[l] = modified(row[l], flags, as);
        return room;
    }
    uniform_value(w, mask, o, 0, &value);
    value = modified(value, flags, as);
    for (int l = 0; l < SIM_LANES; l++)
        room[l] = value;
    return room;
}

/* The raw 64-bit values: a register pair, two words of a bank; an immediate as it stands. */
static const uint64_t *raw64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room)
{
    if (o->kind == ORIC_K_GPR) {
        const uint32_t *low = sim_row(w, mask, o, 0), *high = sim_row(w, mask, o, 1);
        if (!low || !high || odd_pair(w, mask, o))
            return zero_row64;
        for (int l = 0; l < SIM_LANES; l++)
            room[l] = low[l] | (uint64_t)high[l] << 32;
        return room;
    }
    uint32_t low, high;
    uniform_value(w, mask, o, 0, &low);
    uniform_value(w, mask, o, 1, &high);
    for (int l = 0; l < SIM_LANES; l++)
        room[l] = low | (uint64_t)high << 32;
    return room;
}

const uint64_t *sim_get64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room, int as_signed)
{
    const uint64_t *values = raw64(w, mask, o, room);
    uint32_t flags = o->flags & (ORIC_F_NEG | ORIC_F_ABS | ORIC_F_INV);
    if (o->kind == ORIC_K_IMM) {
        uint64_t value = as_signed ? (uint64_t)(int64_t)(int32_t)o->value : (uint32_t)o->value;
        for (int l = 0; l < SIM_LANES; l++)
            room[l] = value;
        values = room;
    }
    if (!flags)
        return values;
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t x = values[l];
        if ((flags & ORIC_F_ABS) && (x >> 63))
            x = 0 - x;
        if (flags & ORIC_F_INV)
            x = ~x;
        room[l] = flags & ORIC_F_NEG ? 0 - x : x;
    }
    return room;
}

const uint64_t *sim_get_bits64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room) { return raw64(w, mask, o, room); }

/* An immediate is the upper half of a double. */
const uint64_t *sim_get_f64(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room)
{
    const uint64_t *values = raw64(w, mask, o, room);
    uint32_t flags = o->flags & (ORIC_F_NEG | ORIC_F_ABS);
    if (o->kind == ORIC_K_IMM) {
        for (int l = 0; l < SIM_LANES; l++)
            room[l] = (uint64_t)(uint32_t)o->value << 32;
        values = room;
    }
    if (!flags)
        return values;
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t x = values[l];
        if (flags & ORIC_F_ABS)
            x &= ~(1ull << 63);
        room[l] = flags & ORIC_F_NEG ? x ^ (1ull << 63) : x;
    }
    return room;
}

const uint64_t *sim_get_addend(sim_warp *w, uint32_t mask, const oric_operand *o, uint64_t *room)
{
    uint32_t plain[SIM_LANES];
    oric_operand bare = *o;
    bare.flags = 0;
    const uint32_t *values = sim_get32(w, mask, &bare, plain, SIM_AS_BITS);
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t x = values[l];
        if (o->flags & ORIC_F_NEG)
            x = (uint64_t)(uint32_t)~values[l] + 1;
        else if (o->flags & ORIC_F_INV)
            x = (uint32_t)~values[l];
        room[l] = x;
    }
    return room;
}

uint32_t sim_getp(const sim_warp *w, const oric_operand *o, uint32_t missing)
{
    uint32_t bits;
    if (o->kind == ORIC_K_PRED)
        bits = w->P[o->reg & 7];
    else if (o->kind == ORIC_K_UPRED)
        bits = w->UP[o->reg & 7];
    else
        return missing;
    return o->flags & (ORIC_F_NEG | ORIC_F_INV) ? ~bits : bits;
}

uint32_t sim_get_uniform(sim_warp *w, uint32_t mask, const oric_operand *o)
{
    uint32_t room[SIM_LANES];
    return sim_get32(w, mask, o, room, SIM_AS_INT)[sim_first_lane(mask)];
}

void sim_put32(sim_warp *w, uint32_t mask, const oric_operand *o, const uint32_t *values)
{
    if (o->kind == ORIC_K_UGPR) {
        if (o->reg < 255)
            w->UR[o->reg] = values[sim_first_lane(mask)];
        return;
    }
    uint32_t *row = sim_row(w, mask, o, 0);
    if (!row)
        return;
    if (mask == SIM_FULL) {
        memcpy(row, values, SIM_LANES * 4);
        return;
    }
    for (int l = 0; l < SIM_LANES; l++)
        row[l] = mask >> l & 1 ? values[l] : row[l];
}

void sim_put64(sim_warp *w, uint32_t mask, const oric_operand *o, const uint64_t *values)
{
    if (o->kind == ORIC_K_UGPR) {
        uint64_t value = values[sim_first_lane(mask)];
        if (o->reg < 254) {
            w->UR[o->reg] = (uint32_t)value;
            w->UR[o->reg + 1] = (uint32_t)(value >> 32);
        }
        return;
    }
    uint32_t *low = sim_row(w, mask, o, 0), *high = sim_row(w, mask, o, 1);
    if (!low || !high || odd_pair(w, mask, o))
        return;
    for (int l = 0; l < SIM_LANES; l++) {
        if (mask >> l & 1) {
            low[l] = (uint32_t)values[l];
            high[l] = (uint32_t)(values[l] >> 32);
        }
    }
}

void sim_putp(sim_warp *w, uint32_t mask, const oric_operand *o, uint32_t bits)
{
    if (o->kind == ORIC_K_PRED && o->reg < 7)
        w->P[o->reg] = (w->P[o->reg] & ~mask) | (bits & mask);
    else if (o->kind == ORIC_K_UPRED && o->reg < 7)
        w->UP[o->reg] = bits >> sim_first_lane(mask) & 1 ? SIM_FULL : 0;
}
