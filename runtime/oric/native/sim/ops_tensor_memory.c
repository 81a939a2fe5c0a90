/* Tensor memory: allocation, loads, stores, copies from shared memory, arrivals when products are over. */
#include <stdlib.h>

#include "sim/async.h"
#include "sim/clock.h"
#include "sim/mbarrier.h"
#include "sim/memcheck.h"
#include "sim/tensor_memory.h"

#define POISON 0x7fbadbadu

static void illegal(sim_warp *w, const char *what) { sim_fault(w, ORIC_FAULT_ILLEGAL, 0, what); }

uint32_t *sim_tensor_cell(sim_warp *w, sim_cta *cta, uint32_t lane, uint32_t column)
{
    if (lane >= TENSOR_LANES || column >= TENSOR_COLUMNS || !(cta->tensor_used >> (column / TENSOR_GRANULE) & 1)) {
        illegal(w, "tensor memory that is not allocated");
        return NULL;
    }
    if (!cta->tensor) {
        cta->tensor = malloc(TENSOR_LANES * TENSOR_COLUMNS * 4);
        if (!cta->tensor) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, 0, "tensor memory");
            return NULL;
        }
        for (uint32_t i = 0; i < TENSOR_LANES * TENSOR_COLUMNS; i++)
            cta->tensor[i] = POISON;
    }
    return &cta->tensor[lane * TENSOR_COLUMNS + column];
}

uint32_t sim_tensor_ctas(sim_warp *w, int pair, sim_cta *ctas[2])
{
    ctas[0] = w->cta;
    if (!pair)
        return 1;
    ctas[0] = sim_cluster_cta(w->cta, w->cta->rank & ~1u);
    ctas[1] = sim_cluster_cta(w->cta, w->cta->rank | 1u);
    if (ctas[0] && ctas[1])
        return 2;
    illegal(w, "pair of CTAs outside a cluster");
    return 0;
}

/* Takes `count` granules in a row (aligned: at a multiple of their number), for a pair in both CTAs, and gives the first; the
   predicate says whether. */
SIM_OP(tmem_take, sim_opd UPd, sim_opd URd, sim_opd URb, unsigned align, unsigned pair)
{
    uint32_t count = sim_get_uniform(w, mask, URb), granules = TENSOR_COLUMNS / TENSOR_GRANULE, used = 0, room[SIM_LANES];
    sim_cta *ctas[2];
    uint32_t places = sim_tensor_ctas(w, (int)pair, ctas);
    if (!places)
        return;
    if (count == 0 || count > granules) {
        illegal(w, "number of columns of tensor memory");
        return;
    }
    for (uint32_t i = 0; i < places; i++)
        used |= ctas[i]->tensor_used;
    uint32_t bits = (1u << count) - 1, first = 0, step = align ? count : 1;
    while (first + count <= granules && (used >> first & bits))
        first += step;
    int found = first + count <= granules;
    for (uint32_t i = 0; i < places && found; i++)
        ctas[i]->tensor_used |= bits << first;
    for (int l = 0; l < SIM_LANES; l++)
        room[l] = found ? first : 0xffffffffu;
    sim_put32(w, mask, URd, room);
    sim_putp(w, mask, UPd, found ? SIM_FULL : 0);
}

/* Changes the bits of the granules in use; gives the old ones. */
SIM_OP(tmem_change, sim_opd URd, sim_opd URb, unsigned either)
{
    uint32_t old = w->cta->tensor_used, bits = sim_get_uniform(w, mask, URb), room[SIM_LANES];
    w->cta->tensor_used = (either ? old | bits : old & bits) & 0xffff;
    for (int l = 0; l < SIM_LANES; l++)
        room[l] = old;
    sim_put32(w, mask, URd, room);
}

static uint32_t repeats(unsigned count)
{
    switch (count) {
    case V_x2: return 2;
    case V_x4: return 4;
    case V_x8: return 8;
    case V_x16: return 16;
    case V_x32: return 32;
    case V_x64: return 64;
    case V_x128: return 128;
    default: return 1;
    }
}

/* How a warp's registers lie in its lanes of tensor memory. */
typedef struct {
    unsigned shape;
    uint32_t words; /* registers of a thread */
    uint32_t lane, column;
    int packed; /* halves of two columns in a register */
} tensor_view;

/* The place of register r of a thread, relative to the view; 0: the thread takes no part. */
static int place(const tensor_view *v, uint32_t l, uint32_t r, uint32_t *row, uint32_t *column)
{
    switch (v->shape) {
    case V_16dp64bit: *row = l / 4 + l % 2 * 8; *column = l / 2 % 2 + 2 * r; return 1;
    case V_16dp128bit: *row = l / 4 + r % 2 * 8; *column = l % 4 + r / 2 * 4; return 1;
    case V_16dp256bit: *row = l / 4 + r / 2 % 2 * 8; *column = r % 2 + l % 4 * 2 + r / 4 * 8; return 1;
    case V_16dp32bit_t0_t15: *row = l; *column = r; return l < 16;
    case V_16dp32bit_t16_t31: *row = l - 16; *column = r; return l >= 16;
    default: *row = l; *column = r; return 1;
    }
}

/* A warp reaches the 32 lanes of its place in the warp group. */
static int view_of(sim_warp *w, uint32_t mask, unsigned shape, unsigned count, sim_opd UR, sim_opd off, int packed, tensor_view *v)
{
    uint32_t at = sim_get_uniform(w, mask, UR) + (uint32_t)off->value, each = shape == V_16dp256bit ? 4 : shape == V_16dp128bit ? 2 : 1;
    v->shape = shape;
    v->words = repeats(count) * each;
    v->lane = at >> 16;
    v->column = at & 0xffff;
    v->packed = packed;
    if (!sim_whole_warp(w, mask))
        return 0;
    if (v->lane / 32 == w->id % 4 && v->lane % (shape == V_32dp32bit ? 32 : 16) == 0)
        return 1;
    illegal(w, "lanes of tensor memory that this warp cannot reach");
    return 0;
}

static uint32_t read_word(sim_warp *w, const tensor_view *v, uint32_t row, uint32_t column)
{
    uint32_t *low, *high;
    if (!v->packed) {
        low = sim_tensor_cell(w, w->cta, v->lane + row, v->column + column);
        return low ? *low : 0;
    }
    low = sim_tensor_cell(w, w->cta, v->lane + row, v->column + 2 * column);
    high = sim_tensor_cell(w, w->cta, v->lane + row, v->column + 2 * column + 1);
    return low && high ? (*low & 0xffff) | *high << 16 : 0;
}

static void load(sim_warp *w, const tensor_view *v, sim_opd Rd)
{
    for (uint32_t r = 0; r < v->words; r++) {
        uint32_t *to = sim_row(w, SIM_FULL, Rd, r), row, column;
        for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++)
            if (place(v, l, r, &row, &column)) {
                uint32_t word = read_word(w, v, row, column);
                if (to)
                    to[l] = word;
            }
    }
}

SIM_OP(tmem_load, sim_opd Rd, sim_opd URb, sim_opd off, unsigned shape, unsigned count, unsigned pack)
{
    tensor_view v;
    if (view_of(w, mask, shape, count, URb, off, (int)pack, &v))
        load(w, &v, Rd);
}

/* The least or greatest of two values; `ABS` operations take magnitudes first. */
static uint32_t chosen(uint32_t a, uint32_t b, unsigned op, unsigned type, unsigned nan)
{
    unsigned min = op == V_MIN || op == V_MINABS;
    if (type == V_F32)
        return fmnmx(arith_f32(a), arith_f32(b), min, 0, nan, 0);
    return imnmx(a, b, min, type);
}

SIM_OP(tmem_load_extreme, sim_opd Rv, sim_opd Rd, sim_opd URb, sim_opd off, unsigned shape, unsigned count, unsigned op, unsigned type, unsigned nan)
{
    tensor_view v;
    uint32_t best[SIM_LANES], row, column;
    unsigned magnitude = op == V_MAXABS || op == V_MINABS;
    if (magnitude && type != V_F32)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "magnitudes of integers");
    if (w->sim->fault.code || !view_of(w, mask, shape, count, URb, off, 0, &v))
        return;
    load(w, &v, Rd);
    for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++) {
        uint32_t *old = sim_row(w, SIM_FULL, Rv, 0);
        best[l] = old ? old[l] : 0;
        for (uint32_t r = 0; r < v.words; r++)
            if (place(&v, l, r, &row, &column)) {
                uint32_t word = read_word(w, &v, row, column);
                if (magnitude)
                    word &= 0x7fffffff;
                best[l] = r ? chosen(best[l], word, op, type, nan) : word;
            }
    }
    sim_put32(w, mask, Rv, best);
}

SIM_OP(tmem_store, sim_opd URc, sim_opd off, sim_opd Rb, unsigned shape, unsigned count, unsigned expand)
{
    tensor_view v;
    if (!view_of(w, mask, shape, count, URc, off, (int)expand, &v))
        return;
    for (uint32_t r = 0; r < v.words; r++) {
        const uint32_t *from = sim_row(w, SIM_FULL, Rb, r);
        for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++) {
            uint32_t row, column, word = from ? from[l] : 0;
            if (!place(&v, l, r, &row, &column))
                continue;
            for (uint32_t half = 0; half <= expand; half++) {
                uint32_t *cell = sim_tensor_cell(w, w->cta, v.lane + row, v.column + (expand ? 2 * column + half : column));
                if (cell)
                    *cell = expand ? word >> (16 * half) & 0xffff : word;
            }
        }
    }
}

/* A copy from shared memory: `rows` rows of `words` words, row r to the lanes that lanes_of gives. */
typedef struct {
    uint64_t descriptor;
    uint32_t at;
    unsigned shape;
    int pair;
} tensor_copy;

/* Lane of copy number `copy` of a row; 0 when there are no more. */
static int copied_to(unsigned shape, uint32_t row, uint32_t copy, uint32_t *lane)
{
    switch (shape) {
    case V_4dp256bit: *lane = 32 * row; return copy < 1;
    case V_2x64dp128bit_lw02_lw13: *lane = row + 64 * copy; return copy < 2;
    case V_2x64dp128bit_lw01_lw23: *lane = row / 32 * 64 + row % 32 + 32 * copy; return copy < 2;
    case V_4x32dp128bit: *lane = row + 32 * copy; return copy < 4;
    default: *lane = row; return copy < 1;
    }
}

static void land_copy(sim_warp *w, void *what)
{
    const tensor_copy *c = what;
    uint32_t rows = c->shape == V_4dp256bit ? 4 : c->shape == V_4x32dp128bit ? 32 : 64, data[TENSOR_LANES * 8];
    uint32_t words = c->shape == V_4dp256bit || c->shape == V_128dp256bit ? 8 : 4, lane;
    sim_cta *ctas[2];
    uint32_t count = sim_tensor_ctas(w, c->pair, ctas);
    if (c->shape == V_128dp256bit || c->shape == V_128dp128bit)
        rows = TENSOR_LANES;
    for (uint32_t i = 0; i < count; i++) {
        sim_descriptor d;
        if (!sim_descriptor_of_tensor(w, c->descriptor, &d))
            return;
        d.cta = ctas[i];
        if (!sim_read_matrix(w, &d, (sim_packing){32, 4}, 0, 0, rows, words, data))
            return;
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t copy = 0; copied_to(c->shape, row, copy, &lane); copy++)
                for (uint32_t word = 0; word < words; word++) {
                    uint32_t *cell = sim_tensor_cell(w, ctas[i], (c->at >> 16) + lane, (c->at & 0xffff) + word);
                    if (!cell)
                        return;
                    *cell = data[row * words + word];
                }
    }
}

SIM_OP(tmem_copy, sim_opd URa, sim_opd off, sim_opd URb, unsigned shape, unsigned pair)
{
    tensor_copy c = {0, sim_get_uniform(w, mask, URa) + (uint32_t)off->value, shape, (int)pair};
    c.descriptor = URb->reg < 254 ? w->UR[URb->reg] | (uint64_t)w->UR[URb->reg + 1] << 32 : 0;
    sim_async_add(w, SIM_BY_TENSOR, SIM_FULL, land_copy, &c, sizeof c);
}

typedef struct {
    uint8_t *mbarrier;
} tensor_arrival;

static void land_arrival(sim_warp *w, void *what)
{
    const tensor_arrival *a = what;
    sim_mbarrier_update(w, 0, a->mbarrier, (sim_mbarrier_step){1, 0, 0});
}

/* An arrival at the mbarrier of one CTA, or of all those of a mask at the same place, when what was started is over. */
SIM_OP(tmem_commit, sim_opd URa, sim_opd URb, sim_opd URc, unsigned multicast)
{
    uint32_t at = sim_get_uniform(w, mask, URa), to = multicast ? sim_get_uniform(w, mask, URc) & 0xffff : 1;
    if (URb->kind == ORIC_K_UGPR && URb->reg < 255)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "second operand of an arrival");
    for (uint32_t rank = 0; rank < ORIC_MAX_CLUSTER && !w->sim->fault.code; rank++) {
        if (!(to >> rank & 1))
            continue;
        uint64_t address = multicast ? (uint64_t)rank << ORIC_RANK_SHIFT | (at & ((1u << ORIC_RANK_SHIFT) - 1)) : at, offset = address;
        sim_cta *owner = sim_shared_owner(w, &offset);
        tensor_arrival a = {sim_address(w, sim_first_lane(mask), ORIC_MEM_CLUSTER, address, 8, 1)};
        if (a.mbarrier && w->shadow)
            sim_memcheck_sync(w, a.mbarrier); /* products read shared memory as the thread that issues them */
        sim_clock_arrive(w, a.mbarrier);
        if (a.mbarrier && owner)
            sim_async_arrive(w, SIM_BY_TENSOR, owner, a.mbarrier, SIM_FULL, land_arrival, &a, sizeof a);
    }
}
