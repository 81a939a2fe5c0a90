/* Tensor copies: tiles, im2col columns and gathered rows between a tensor in global memory and boxes in shared memory. */
#include "sim/lanes.h"
#include "sim/mbarrier.h"
#include "sim/tensor.h"

enum { HALF = 16 };

static unsigned rank_of(unsigned dim)
{
    return dim == V_1D ? 1 : dim == V_2D ? 2 : dim == V_3D ? 3 : dim == V_4D ? 4 : 5;
}

/* Coordinates from register `first` of URb on. */
static void take_coordinates(const sim_warp *w, sim_opd URb, uint32_t first, unsigned rank, sim_box *box)
{
    uint32_t count = box->gathers ? 5 : rank;
    for (uint32_t i = 0; i < count; i++) {
        int32_t value = (int32_t)sim_uniform_word(w, URb, first + i);
        if (box->gathers && i)
            box->rows[i - 1] = value;
        else
            box->at[i] = value;
    }
}

/* The offsets of im2col share 16 bits: one, two or three of them. */
static void take_offsets(uint32_t packed, unsigned rank, sim_box *box)
{
    uint32_t bits = rank == 3 ? 16 : rank == 4 ? 8 : 5;
    for (unsigned i = 0; i + 2 < rank; i++)
        box->shift[i] = packed >> (i * bits) & ((1u << bits) - 1);
}

static int describe(sim_warp *w, uint32_t lane, sim_opd URa, sim_opd URb, uint32_t first, unsigned dim, unsigned mode, sim_box *box)
{
    uint64_t address = sim_uniform_word(w, URa, 0) | (uint64_t)sim_uniform_word(w, URa, 1) << 32;
    unsigned rank = rank_of(dim);
    if (!sim_tensor_read(w, lane, address, rank, mode == V_IM2COL ? ORIC_MAP_IM2COL : ORIC_MAP_TILED, box))
        return 0;
    box->gathers = mode == V_GATHER4 || mode == V_SCATTER4;
    if (box->gathers && (rank != 2 || box->tensor.box[1] != 1)) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, lane, "gather and scatter need a tensor map of rank 2 and a box of one row");
        return 0;
    }
    box->shared = sim_uniform_word(w, URb, 0);
    take_coordinates(w, URb, first, rank, box);
    return 1;
}

static void load_box(sim_warp *w, uint32_t lane, const sim_box *box, uint64_t mbarrier)
{
    sim_transfer t = {.operation = SIM_COPIES, .byte_mask = SIM_ALL_BYTES};
    t.mbarrier = sim_mbarrier_place(w, lane, mbarrier);
    if (!t.mbarrier)
        return;
    t.signal = sim_tensor_walk(w, lane, box, &t);
    sim_transfer_start(w, &t, sim_shared_owner(w, &mbarrier));
}

/*
 * With multicast the box goes to the same place in several CTAs. Each of them, or with `pair` the one of its pair of CTAs whose
 * rank is as odd or even as that of the mbarrier's CTA, has an mbarrier at the place given.
 */
static void load_boxes(sim_warp *w, uint32_t lane, sim_box *box, sim_load l, int pair)
{
    uint32_t odd = l.mbarrier >> ORIC_RANK_SHIFT & 1;
    box->shared = l.to;
    if (!l.multicast)
        load_box(w, lane, box, l.mbarrier);
    for (uint32_t rank = 0; l.multicast && rank < ORIC_MAX_CLUSTER; rank++) {
        if (!(l.ctas >> rank & 1))
            continue;
        box->shared = sim_in_cta(l.to, rank);
        load_box(w, lane, box, sim_in_cta(l.mbarrier, pair ? (rank & ~1u) | odd : rank));
    }
}

void sim_tensor_load(sim_warp *w, uint32_t lane, sim_load l, uint64_t map, unsigned rank, int mode, sim_box *box)
{
    if (sim_tensor_read(w, lane, map, rank, mode, box))
        load_boxes(w, lane, box, l, 0);
}

SIM_OP(tensor_load, sim_opd URb, sim_opd URa, sim_opd URc, unsigned dim, unsigned mode, int multicast, int pair)
{
    uint32_t lane = sim_first_lane(mask), more = sim_uniform_word(w, URc, 0);
    sim_box box = {.stores = 0};
    if (!describe(w, lane, URa, URb, 2, dim, mode, &box))
        return;
    if (mode == V_IM2COL)
        take_offsets(more & 0xffff, rank_of(dim), &box);
    load_boxes(w, lane, &box, (sim_load){box.shared, sim_uniform_word(w, URb, 1), more >> HALF, (unsigned)multicast}, pair);
}

static void store_box(sim_warp *w, uint32_t mask, sim_transfer t, sim_opd URb, sim_opd URa, unsigned dim, unsigned mode)
{
    uint32_t lane = sim_first_lane(mask);
    sim_box box = {.stores = t.operation == SIM_COPIES ? SIM_WRITE : SIM_REDUCE};
    if (!describe(w, lane, URa, URb, 1, dim, mode, &box))
        return;
    t.element = sim_tensor_element(&box);
    sim_tensor_walk(w, lane, &box, &t);
    sim_transfer_start(w, &t, NULL);
}

SIM_OP(tensor_store, sim_opd URb, sim_opd URa, unsigned dim, unsigned mode)
{
    store_box(w, mask, (sim_transfer){.operation = SIM_COPIES, .byte_mask = SIM_ALL_BYTES}, URb, URa, dim, mode);
}

SIM_OP(tensor_reduce, sim_opd URb, sim_opd URa, unsigned dim, unsigned mode, unsigned op)
{
    store_box(w, mask, (sim_transfer){.operation = (int)op}, URb, URa, dim, mode);
}
