/* Loads, stores, atomics. Values are little-endian in memory; the host is taken to be little-endian too. */
#include "sim_async.h"
#include "sim_ops.h"

static unsigned scale_of(unsigned scale)
{
    return scale == V_X4 ? 4 : scale == V_X8 ? 8 : scale == V_X16 ? 16 : 1;
}

static void addresses(sim_warp *w, uint32_t mask, int how, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, uint64_t *out)
{
    uint64_t room[SIM_LANES], add = (uint64_t)off->value;
    uint32_t room32[SIM_LANES];
    if (URa->kind == ORIC_K_UGPR && URa->reg < 255)
        add += how == A32 ? w->UR[URa->reg] : w->UR[URa->reg] | (uint64_t)w->UR[(URa->reg + 1) & 255] << 32;
    if (how == A64) {
        const uint64_t *base = sim_get64(w, mask, Ra, room, 0);
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = base[l] + add;
        return;
    }
    const uint32_t *base = sim_get32(w, mask, Ra, room32, SIM_AS_BITS);
    uint32_t factor = scale_of(scale);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = how == A32 ? (uint32_t)(base[l] * factor + (uint32_t)add) : base[l] + add;
}

static uint8_t *place(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    if (space == GENERIC)
        space = sim_generic_space(w, &address);
    return sim_address(w, lane, space, address, size, write);
}

static uint32_t bytes_of(unsigned size)
{
    switch (size) {
    case V_U8: case V_S8: return 1;
    case V_U16: case V_S16: return 2;
    case V_64: return 8;
    case V_128: return 16;
    default: return 4;
    }
}

/* Rows of a register operand of `words` words; 0 after a fault. NULL rows are RZ. */
static int rows(sim_warp *w, uint32_t mask, sim_opd o, uint32_t words, uint32_t **out)
{
    for (uint32_t i = 0; i < words; i++)
        out[i] = sim_row(w, mask, o, i);
    if (o->kind == ORIC_K_GPR && o->reg != SIM_RZ && (o->reg & (words - 1)))
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "register group is not aligned to its size");
    return w->sim->fault.code == 0;
}

static void extend(const uint8_t *from, unsigned size, uint32_t *to)
{
    uint16_t half;
    switch (size) {
    case V_U8: *to = from[0]; return;
    case V_S8: *to = (uint32_t)(int32_t)(int8_t)from[0]; return;
    case V_U16: memcpy(&half, from, 2); *to = half; return;
    case V_S16: memcpy(&half, from, 2); *to = (uint32_t)(int32_t)(int16_t)half; return;
    default: memcpy(to, from, 4);
    }
}

SIM_OP(load, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, unsigned size)
{
    uint64_t at[SIM_LANES];
    uint32_t bytes = bytes_of(size), words = (bytes + 3) / 4, *to[4];
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rd, words, to))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        const uint8_t *from = place(w, l, space, at[l], bytes, 0);
        if (!from)
            return;
        if (!to[0])
            continue;
        if (words == 1)
            extend(from, size, &to[0][l]);
        else
            for (uint32_t i = 0; i < words; i++)
                memcpy(&to[i][l], from + 4 * i, 4);
    }
}

SIM_OP(store, int space, int how, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, sim_opd Rb, unsigned size)
{
    uint64_t at[SIM_LANES];
    uint32_t bytes = bytes_of(size), words = (bytes + 3) / 4, *from[4], zero[4] = {0, 0, 0, 0};
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rb, words, from))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *to = place(w, l, space, at[l], bytes, 1);
        if (!to)
            return;
        if (!from[0])
            memcpy(to, zero, bytes);
        else if (words == 1)
            memcpy(to, &from[0][l], bytes);
        else
            for (uint32_t i = 0; i < words; i++)
                memcpy(to + 4 * i, &from[i][l], 4);
    }
}

SIM_OP(load_constant, sim_opd Rd, sim_opd Ra, sim_opd cb, sim_opd off, unsigned size)
{
    uint32_t room[SIM_LANES], values[2][SIM_LANES], bytes = bytes_of(size);
    const uint32_t *base = sim_get32(w, mask, Ra, room, SIM_AS_BITS);
    memset(values, 0, sizeof values);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint32_t offset = base[l] + (uint32_t)off->value;
        const uint8_t *from = sim_constant(w, l, (uint32_t)cb->reg, offset, bytes);
        if (!from)
            return;
        extend(from, size, &values[0][l]);
        if (bytes == 8)
            memcpy(&values[1][l], from + 4, 4);
    }
    if (bytes < 8) {
        sim_put32(w, mask, Rd, values[0]);
        return;
    }
    uint64_t wide[SIM_LANES];
    for (uint32_t l = 0; l < SIM_LANES; l++)
        wide[l] = values[0][l] | (uint64_t)values[1][l] << 32;
    sim_put64(w, mask, Rd, wide);
}

typedef struct {
    uint8_t *to[SIM_LANES];
    const uint8_t *from[SIM_LANES]; /* NULL: zeros */
    uint8_t zeros[SIM_LANES];       /* at the end */
    uint32_t mask, bytes;
} lane_copies;

static void land_copies(sim_warp *w, void *what)
{
    const lane_copies *c = what;
    (void)w;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(c->mask >> l & 1))
            continue;
        memset(c->to[l], 0, c->bytes);
        if (c->from[l])
            memcpy(c->to[l], c->from[l], c->bytes - c->zeros[l]);
    }
}

/*
 * Asynchronous copy from global to shared memory. With zfill the lower bits of the global address say how many of the
 * last bytes are zeros instead, and without its predicate all are.
 */
SIM_OP(copy_async, sim_opd Rs, sim_opd offs, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Pr, unsigned size, unsigned zfill)
{
    static const oric_operand none;
    uint64_t from_at[SIM_LANES], to_at[SIM_LANES];
    uint32_t bytes = bytes_of(size), wanted = sim_getp(w, Pr, SIM_FULL);
    if (!zfill && (mask & ~wanted)) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask & ~wanted), "copy without its predicate");
        return;
    }
    addresses(w, mask, A64, Ra, off, URa, V_X1, from_at);
    addresses(w, mask, A32, Rs, offs, &none, V_X1, to_at);
    lane_copies c = {.mask = mask, .bytes = bytes};
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        c.zeros[l] = zfill ? (uint8_t)(from_at[l] & (bytes - 1)) : 0;
        c.to[l] = sim_address(w, l, SHARED, to_at[l], bytes, 1);
        if (c.to[l] && (wanted >> l & 1))
            c.from[l] = sim_address_part(w, l, GLOBAL, from_at[l] - c.zeros[l], bytes, bytes - c.zeros[l]);
        if (w->sim->fault.code)
            return;
    }
    sim_async *copy = sim_async_add(w, SIM_BY_COPY_GROUP, mask, land_copies, &c, sizeof c);
    for (uint32_t l = 0; copy && l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        sim_async_covers(w, copy, c.to[l], bytes, 1);
        if (c.from[l])
            sim_async_covers(w, copy, c.from[l], bytes - c.zeros[l], 0);
    }
}

SIM_OP(close_copies, int by)
{
    (void)mask;
    sim_async_commit(w, by);
}

static uint64_t atomic_integer(sim_warp *w, uint32_t lane, unsigned op, uint64_t old, uint64_t x, unsigned bits, int is_signed)
{
    uint64_t top = 1ull << (bits - 1), flip = is_signed ? top : 0;
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
        sim_fault(w, ORIC_FAULT_NO_MEANING, lane, "atomic operation");
        return old;
    }
}

static uint64_t atomic_half2(unsigned op, uint64_t old, uint64_t x, unsigned format)
{
    uint32_t a = (uint32_t)old, b = (uint32_t)x;
    if (op == V_ADD)
        return sim_half_add(a, b, format, 0, 0);
    return sim_half_minmax(a, b, format, op == V_MIN, 0, 0);
}

/* Words of the operand of an atomic, 0: not known here. */
static uint32_t atomic_words(unsigned type)
{
    switch (type) {
    case V_32: case V_S32: case V_F32_FTZ_RN: case V_F32_RN: case V_F16x2_RN: case V_BF16x2_RN: return 1;
    case V_64: case V_S64: case V_F64_RN: case V_F16x4_RN: case V_BF16x4_RN: case V_F32x2_RN: case V_F32x2_FTZ_RN: return 2;
    default: return 0;
    }
}

static uint64_t atomic_result(sim_warp *w, uint32_t lane, unsigned op, unsigned type, uint64_t old, uint64_t x)
{
    int ftz = type == V_F32_FTZ_RN;
    switch (type) {
    case V_F32_FTZ_RN: case V_F32_RN:
        if (op == V_ADD)
            return fadd(sim_f32((uint32_t)old), sim_f32((uint32_t)x), V_RN, ftz, 0);
        return fmnmx(sim_f32((uint32_t)old), sim_f32((uint32_t)x), op == V_MIN, ftz, 0, 0);
    case V_F64_RN:
        if (op != V_ADD)
            sim_fault(w, ORIC_FAULT_NO_MEANING, lane, "atomic operation on doubles");
        return sim_bits64(dadd(sim_f64(old), sim_f64(x), V_RN));
    case V_F16x2_RN: return atomic_half2(op, old, x, V_F16);
    case V_BF16x2_RN: return atomic_half2(op, old, x, V_BF16);
    case V_F16x4_RN: case V_BF16x4_RN: {
        unsigned format = type == V_F16x4_RN ? V_F16 : V_BF16;
        return atomic_half2(op, old, x, format) | atomic_half2(op, old >> 32, x >> 32, format) << 32;
    }
    case V_F32x2_RN: case V_F32x2_FTZ_RN: {
        unsigned part = type == V_F32x2_RN ? V_F32_RN : V_F32_FTZ_RN;
        uint64_t low = atomic_result(w, lane, op, part, (uint32_t)old, (uint32_t)x);
        return low | atomic_result(w, lane, op, part, old >> 32, x >> 32) << 32;
    }
    case V_32: case V_S32: return (uint32_t)atomic_integer(w, lane, op, old, x, 32, type == V_S32);
    default: return atomic_integer(w, lane, op, old, x, 64, type == V_S64);
    }
}

static uint64_t read_words(const uint8_t *from, uint32_t words)
{
    uint64_t value = 0;
    memcpy(&value, from, words * 4);
    return value;
}

static uint64_t lane_words(uint32_t *const *from, uint32_t words, uint32_t lane)
{
    uint64_t value = from[0] ? from[0][lane] : 0;
    return words == 2 && from[1] ? value | (uint64_t)from[1][lane] << 32 : value;
}

static void put_lane(uint32_t *const *to, uint32_t words, uint32_t lane, uint64_t value)
{
    if (!to[0])
        return;
    to[0][lane] = (uint32_t)value;
    if (words == 2)
        to[1][lane] = (uint32_t)(value >> 32);
}

SIM_OP(atomic, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, sim_opd Rb, unsigned op, unsigned type)
{
    uint64_t at[SIM_LANES];
    uint32_t words = atomic_words(type), *from[2], *to[2];
    if (!words) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "atomic operation of this type");
        return;
    }
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rb, words, from) || !rows(w, mask, Rd, words, to))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *cell = place(w, l, space, at[l], words * 4, 1);
        if (!cell)
            return;
        uint64_t old = read_words(cell, words), x = lane_words(from, words, l);
        uint64_t fresh = atomic_result(w, l, op, type, old, x);
        if (w->sim->fault.code)
            return;
        memcpy(cell, &fresh, words * 4);
        put_lane(to, words, l, old);
    }
}

/* CAS gives the old value; CAST and CAST.SPIN give 1 when they have stored, else 0. */
SIM_OP(compare_and_swap, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, unsigned scale, sim_opd Rb, sim_opd Rc, unsigned type, unsigned op)
{
    static const oric_operand none;
    uint64_t at[SIM_LANES];
    uint32_t words = type == V_64 ? 2 : type == V_32 || type == V_S32 ? 1 : 0, *compare[2], *value[2], *to[2];
    if (!words) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "compare and swap of this type");
        return;
    }
    addresses(w, mask, how, Ra, off, &none, scale, at);
    if (!rows(w, mask, Rb, words, compare) || !rows(w, mask, Rc, words, value))
        return;
    if (!rows(w, mask, Rd, words, to))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *cell = place(w, l, space, at[l], words * 4, 1);
        if (!cell)
            return;
        uint64_t old = read_words(cell, words), fresh = lane_words(value, words, l);
        int equal = old == lane_words(compare, words, l);
        if (equal)
            memcpy(cell, &fresh, words * 4);
        put_lane(to, words, l, op == V_CAS ? old : (uint64_t)equal);
    }
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
        uint8_t *cell = place(w, l, space, at[l], 4, 1);
        if (!cell)
            return;
        uint32_t old = (uint32_t)read_words(cell, 1), fresh = old + 1;
        memcpy(cell, &fresh, 4);
        put_lane(to, 1, l, old);
    }
}

SIM_OP(query_space, int how, sim_opd Pd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned space)
{
    uint64_t at[SIM_LANES];
    uint32_t bits = 0;
    int wanted = space == V_S ? ORIC_MEM_SHARED : space == V_L ? ORIC_MEM_LOCAL : ORIC_MEM_GLOBAL;
    addresses(w, mask, how, Ra, off, URa, V_X1, at);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        bits |= (uint32_t)(sim_generic_space(w, &at[l]) == wanted) << l;
    sim_putp(w, mask, Pd, bits);
}
