/* Loads, stores, copies. Values are little-endian in memory; the host is taken to be little-endian too. */
#include "sim/async.h"
#include "sim/atomic.h"
#include "sim/lanes.h"
#include "sim/memcheck.h"

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

/* U.128 of sm_75 is as wide as 128. */
static unsigned plain(unsigned size) { return size == V_U_128 ? V_128 : size; }

SIM_OP(load, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, unsigned size)
{
    uint64_t at[SIM_LANES], base;
    size = plain(size);
    uint32_t bytes = bytes_of(size), words = (bytes + 3) / 4, *to[4];
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rd, words, to))
        return;
    const uint8_t *together = sim_address_warp(w, mask, space, at, bytes, 0, &base);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        const uint8_t *from = together ? together + (at[l] - base) : place(w, l, space, at[l], bytes, 0);
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
    uint64_t at[SIM_LANES], base;
    uint32_t bytes = bytes_of(size), words = (bytes + 3) / 4, *from[4], zero[4] = {0, 0, 0, 0};
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rb, words, from))
        return;
    uint8_t *together = sim_address_warp(w, mask, space, at, bytes, 1, &base);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *to = together ? together + (at[l] - base) : place(w, l, space, at[l], bytes, 1);
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

/* Registers of a group of which the lower four bits say what is loaded. */
static uint32_t group_of(unsigned words)
{
    int count = __builtin_popcount(words & 15);
    return count == 3 ? 4 : count ? (uint32_t)count : 1;
}

/*
 * 32 bytes into two groups of four registers, the lower 16 into Rd. Words that the mask leaves out are not loaded; those that it
 * has are packed at the front of their group.
 */
SIM_OP(load_256, int how, sim_opd Rv, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned words)
{
    uint64_t at[SIM_LANES];
    uint32_t *to[8];
    addresses(w, mask, how, Ra, off, URa, V_X1, at);
    if (!rows(w, mask, Rd, group_of(words), to) || !rows(w, mask, Rv, group_of(words >> 4), to + 4))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        const uint8_t *from = sim_address(w, l, GLOBAL, at[l], 32, 0);
        if (!from)
            return;
        for (uint32_t i = 0, next[2] = {0, 4}; i < 8; i++)
            if ((words >> i & 1) && to[i & 4])
                memcpy(&to[next[i >> 2]++][l], from + 4 * i, 4);
    }
}

SIM_OP(store_256, int how, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, sim_opd Rc)
{
    uint64_t at[SIM_LANES];
    uint32_t *from[8];
    addresses(w, mask, how, Ra, off, URa, V_X1, at);
    if (!rows(w, mask, Rb, 4, from) || !rows(w, mask, Rc, 4, from + 4))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t *to = sim_address(w, l, GLOBAL, at[l], 32, 1);
        if (!to)
            return;
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t value = from[i] ? from[i][l] : 0;
            memcpy(to + 4 * i, &value, 4);
        }
    }
}

/* Generic addresses alone come with an order that shared memory knows; stronger ones are no race (PTX manual, "Data Races"). */
static int is_strong(unsigned order)
{
    static const unsigned strong[] = {V_STRONG_CTA, V_STRONG_CTA_PRIVATE, V_STRONG_SM, V_STRONG_SM_PRIVATE, V_STRONG_GPU,
                                      V_STRONG_GPU_PRIVATE, V_STRONG_SYS, V_STRONG_SYS_PRIVATE};
    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++)
        if (order == strong[i])
            return 1;
    return 0;
}

SIM_OP(load_generic, unsigned order, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned size)
{
    if (w->shadow && is_strong(order))
        sim_memcheck_strong(w, 0);
    sim_do_load(w, mask, GENERIC, how, Rd, Ra, off, URa, V_X1, size);
}

SIM_OP(store_generic, unsigned order, int how, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned size)
{
    if (w->shadow && is_strong(order))
        sim_memcheck_strong(w, 1);
    sim_do_store(w, mask, GENERIC, how, Ra, off, URa, V_X1, Rb, size);
}

/* A place in a bank of 64 KiB; the upper half of it is reached by negative displacements as well (observed: code of ptxas 13.0.88). */
static uint32_t place_in_bank(uint32_t base, int64_t displacement)
{
    uint32_t at = base + (uint32_t)displacement;
    return at >= 0xffff8000u ? at & 0xffff : at;
}

SIM_OP(load_constant, sim_opd Rd, sim_opd Ra, sim_opd cb, sim_opd off, unsigned size)
{
    uint32_t room[SIM_LANES], values[2][SIM_LANES], bytes = bytes_of(size);
    const uint32_t *base = sim_get32(w, mask, Ra, room, SIM_AS_BITS);
    memset(values, 0, sizeof values);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint32_t offset = place_in_bank(base[l], off->value);
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
 * last bytes are zeros instead; without its predicate all are.
 */
/* The first of the lanes that do the same copy as lane `l`: CUDA's headers let the lanes of a warp beyond the last element repeat it. */
static uint32_t first_alike(uint32_t mask, const uint64_t *from, const uint64_t *to, uint32_t l)
{
    uint32_t first = 0;
    while (first < l && !(mask >> first & 1 && from[first] == from[l] && to[first] == to[l]))
        first++;
    return first;
}

SIM_OP(copy_async, int how, sim_opd Rs, sim_opd offs, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Pr, unsigned size, unsigned zfill)
{
    static const oric_operand none;
    uint64_t from_at[SIM_LANES], to_at[SIM_LANES];
    uint32_t bytes = bytes_of(size), wanted = sim_getp(w, Pr, SIM_FULL);
    addresses(w, mask, how, Ra, off, URa, V_X1, from_at);
    addresses(w, mask, A32, Rs, offs, &none, V_X1, to_at);
    lane_copies c = {.mask = mask, .bytes = bytes};
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t alike = w->shadow ? first_alike(mask & wanted, from_at, to_at, l) : l;
        if (alike < l && (mask & wanted) >> l & 1) {
            c.to[l] = c.to[alike], c.from[l] = c.from[alike], c.zeros[l] = c.zeros[alike];
            continue;
        }
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
    for (uint32_t l = 0; (copy || w->shadow) && l < SIM_LANES; l++) {
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

SIM_OP(query_space, int how, sim_opd Pd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned space)
{
    uint64_t at[SIM_LANES];
    uint32_t bits = 0;
    int wanted = space == V_S ? ORIC_MEM_SHARED : space == V_L ? ORIC_MEM_LOCAL : space == V_D ? ORIC_MEM_CLUSTER : ORIC_MEM_GLOBAL;
    addresses(w, mask, how, Ra, off, URa, V_X1, at);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        int found = sim_generic_space(w, &at[l]);
        bits |= (uint32_t)(found == wanted || (space == V_D && found == ORIC_MEM_SHARED)) << l;
    }
    sim_putp(w, mask, Pd, bits);
}

/* One access for the warp, with address and value in uniform registers. */
static uint8_t *uniform_place(sim_warp *w, uint32_t lane, sim_opd URa, sim_opd off, uint32_t bytes)
{
    uint64_t address = sim_uniform_word(w, URa, 0) | (uint64_t)sim_uniform_word(w, URa, 1) << 32;
    return sim_address(w, lane, GLOBAL, address + (uint64_t)off->value, bytes, 1);
}

SIM_OP(uniform_store, sim_opd URa, sim_opd off, sim_opd URb, unsigned size)
{
    const uint32_t words[2] = {sim_uniform_word(w, URb, 0), sim_uniform_word(w, URb, 1)};
    uint8_t *to = uniform_place(w, sim_first_lane(mask), URa, off, bytes_of(size));
    if (to)
        memcpy(to, words, bytes_of(size));
}

SIM_OP(uniform_reduce, sim_opd URa, sim_opd off, sim_opd URb, unsigned op, unsigned type)
{
    const uint32_t lane = sim_first_lane(mask), words[2] = {sim_uniform_word(w, URb, 0), sim_uniform_word(w, URb, 1)};
    sim_element e = sim_element_of(type);
    uint8_t *to = uniform_place(w, lane, URa, off, e.bytes);
    if (to)
        sim_combine_at(w, lane, op, e, to, (const uint8_t *)words);
}

/* Zeros from an address in the block's shared memory on. */
SIM_OP(clear_shared, sim_opd URa, sim_opd off, sim_opd URc)
{
    enum { UNIT = 8, MOST = 1 << 21 };
    const uint32_t lane = sim_first_lane(mask), units = sim_uniform_word(w, URc, 0);
    const uint64_t at = (uint32_t)(sim_uniform_word(w, URa, 0) + (uint32_t)off->value);
    if (units > MOST) /* more than any shared memory, and for the memory checker too many places to look at */
        sim_fault_access(w, ORIC_FAULT_OUT_OF_BOUNDS, lane, SHARED, at, MOST * UNIT, 1);
    for (uint32_t i = 0; i < units && !w->sim->fault.code; i++) {
        uint8_t *to = sim_address(w, lane, SHARED, at + (uint64_t)i * UNIT, UNIT, SIM_WRITE);
        if (to)
            memset(to, 0, UNIT);
    }
}

SIM_OP(load_constant_uniform, sim_opd URd, sim_opd URa, sim_opd cb, sim_opd off, unsigned size)
{
    uint32_t lane = sim_first_lane(mask), bytes = bytes_of(size), offset = place_in_bank(sim_uniform_word(w, URa, 0), off->value), words[4];
    const uint8_t *from = sim_constant(w, lane, (uint32_t)cb->reg, offset, bytes);
    if (!from)
        return;
    if (bytes <= 4)
        extend(from, size, words);
    else
        memcpy(words, from, bytes);
    for (uint32_t i = 0; i < (bytes + 3) / 4; i++)
        if (URd->kind == ORIC_K_UGPR && URd->reg + i < 255)
            w->UR[URd->reg + i] = words[i];
}

/* Bytes of the values that LDGMC reduces. */
static uint32_t reduced_bytes(unsigned type)
{
    switch (type) {
    case V_E5M2x4_RN: case V_E4M3x4_RN: return 4;
    case V_E5M2x8_RN: case V_E4M3x8_RN: return 8;
    case V_E5M2x16_RN: case V_E4M3x16_RN: return 16;
    default: {
        sim_element e = sim_element_of(type);
        return (uint32_t)e.bytes * e.count;
    }
    }
}

/* The sum (minimum, ...) of what the devices of a multicast object have there: there is one device. */
SIM_OP(load_reduced, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned type)
{
    uint32_t bytes = reduced_bytes(type);
    if (!bytes) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "reduction of this type");
        return;
    }
    sim_do_load(w, mask, GLOBAL, how, Rd, Ra, off, URa, V_X1, bytes == 4 ? V_32 : bytes == 8 ? V_64 : V_128);
}
