/* Bulk copies and reductions: blocks of bytes between global memory and the shared memory of a cluster's CTAs. */
#include "sim/lanes.h"
#include "sim/mbarrier.h"
#include "sim/transfer.h"

enum { UNIT = 16, UNITS = 0xffff };

/* What a bulk operation gets from its uniform registers. */
typedef struct {
    int to_space, from_space;
    uint64_t to, from;
    uint32_t bytes, high; /* the upper half of the last operand: CTAs, or bytes that are written */
} request;

static uint64_t address_of(const sim_warp *w, sim_opd o, int space)
{
    uint64_t low = sim_uniform_word(w, o, 0);
    return space == GLOBAL ? low | (uint64_t)sim_uniform_word(w, o, 1) << 32 : low;
}

static request request_of(const sim_warp *w, unsigned to, unsigned from, sim_opd URb, sim_opd URa, sim_opd URc)
{
    request r = {.to_space = to == V_S ? CLUSTER : GLOBAL, .from_space = from == V_S ? CLUSTER : GLOBAL};
    uint32_t size = sim_uniform_word(w, URc, 0);
    r.to = address_of(w, URb, r.to_space);
    r.from = address_of(w, URa, r.from_space);
    r.bytes = (size & UNITS) * UNIT;
    r.high = size >> 16;
    return r;
}

/* Both blocks, in units: the places of neighbouring units need not be neighbours (stand-ins of the memory checker). */
static void add_block(sim_warp *w, uint32_t lane, sim_transfer *t, const request *r)
{
    int write = t->operation == SIM_COPIES ? SIM_WRITE : SIM_REDUCE;
    for (uint32_t at = 0; at < r->bytes && !w->sim->fault.code; at += UNIT) {
        const uint8_t *from = sim_address(w, lane, r->from_space, r->from + at, UNIT, 0);
        uint8_t *to = from ? sim_address(w, lane, r->to_space, r->to + at, UNIT, write) : NULL;
        if (to)
            sim_transfer_add(w, t, to, from, UNIT);
    }
}

/* To the shared memory of a CTA, whose mbarrier hears of the bytes. */
static void to_cta(sim_warp *w, uint32_t lane, sim_transfer t, const request *r, uint64_t mbarrier)
{
    t.mbarrier = sim_mbarrier_place(w, lane, mbarrier);
    if (!t.mbarrier)
        return;
    add_block(w, lane, &t, r);
    t.signal = r->bytes;
    sim_transfer_start(w, &t, sim_shared_owner(w, &mbarrier));
}

/* To shared memory: of one CTA, or to the same place in several. */
static void to_ctas(sim_warp *w, uint32_t lane, sim_transfer t, request r, uint64_t mbarrier, unsigned multicast)
{
    uint64_t to = r.to;
    for (uint32_t rank = 0; multicast && rank < ORIC_MAX_CLUSTER; rank++) {
        if (!(r.high >> rank & 1))
            continue;
        r.to = sim_in_cta(to, rank);
        to_cta(w, lane, t, &r, sim_in_cta(mbarrier, rank));
    }
    if (!multicast)
        to_cta(w, lane, t, &r, mbarrier);
}

static void start(sim_warp *w, uint32_t mask, sim_transfer t, request r, sim_opd URb, unsigned multicast)
{
    uint32_t lane = sim_first_lane(mask);
    if (r.to_space != GLOBAL) {
        to_ctas(w, lane, t, r, sim_uniform_word(w, URb, 1), multicast);
        return;
    }
    add_block(w, lane, &t, &r);
    sim_transfer_start(w, &t, NULL);
}

void sim_bulk_load(sim_warp *w, uint32_t lane, sim_load l, uint64_t from, uint32_t bytes)
{
    sim_transfer t = {.operation = SIM_COPIES, .byte_mask = SIM_ALL_BYTES};
    request r = {.to_space = CLUSTER, .from_space = GLOBAL, .to = l.to, .from = from, .bytes = bytes, .high = l.ctas};
    if (bytes % UNIT)
        sim_fault(w, ORIC_FAULT_ILLEGAL, lane, "bulk copy of bytes that are no multiple of 16");
    else if (bytes > UNITS * UNIT) /* more than any shared memory, and for the memory checker too many places to look at */
        sim_fault_access(w, ORIC_FAULT_OUT_OF_BOUNDS, lane, ORIC_MEM_CLUSTER, l.to, bytes, 1);
    else
        to_ctas(w, lane, t, r, l.mbarrier, l.multicast);
}

SIM_OP(bulk_copy, unsigned to, unsigned from, sim_opd URb, sim_opd URa, sim_opd URc, unsigned multicast, int masked)
{
    request r = request_of(w, to, from, URb, URa, URc);
    sim_transfer t = {.operation = SIM_COPIES, .byte_mask = masked ? r.high : SIM_ALL_BYTES};
    if (to != V_S && from != V_S)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "bulk copy from global to global memory");
    else
        start(w, mask, t, r, URb, multicast);
}

SIM_OP(bulk_reduce, unsigned to, sim_opd URb, sim_opd URa, sim_opd URc, unsigned op, unsigned type)
{
    sim_transfer t = {.operation = (int)op, .element = sim_element_of(type)};
    if (!t.element.bytes || t.element.count != 1)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "bulk reduction of this type");
    else
        start(w, mask, t, request_of(w, to, V_S, URb, URa, URc), URb, 0);
}

/* A value of a lane on its way to the shared memory of a CTA of the cluster. */
typedef struct {
    uint8_t *to, *mbarrier;
    uint32_t words[4], bytes, lane;
    int operation; /* as in sim_transfer */
    sim_element element;
} parcel;

static void land_parcel(sim_warp *w, void *what)
{
    const parcel *p = what;
    if (p->operation == SIM_COPIES)
        memcpy(p->to, p->words, p->bytes);
    else if (!sim_combine_at(w, p->lane, (unsigned)p->operation, p->element, p->to, (const uint8_t *)p->words))
        return;
    sim_mbarrier_update(w, p->lane, p->mbarrier, (sim_mbarrier_step){0, -(int64_t)p->bytes, 0});
}

/* Ra is a pair: where the value goes, and the mbarrier that hears of its bytes. */
static void send(sim_warp *w, uint32_t mask, sim_opd Ra, sim_opd off, sim_opd Rb, parcel p)
{
    uint64_t room[SIM_LANES];
    uint32_t words = p.bytes / 4, *from[4];
    const uint64_t *at = sim_get64(w, mask, Ra, room, 0);
    if (!rows(w, mask, Rb, words, from))
        return;
    for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++) {
        if (!(mask >> l & 1))
            continue;
        uint64_t mbarrier = at[l] >> 32;
        int write = p.operation == SIM_COPIES ? SIM_WRITE : SIM_REDUCE;
        p.to = sim_address(w, l, CLUSTER, (uint32_t)(at[l] + (uint64_t)off->value), p.bytes, write);
        p.mbarrier = p.to ? sim_mbarrier_place(w, l, mbarrier) : NULL;
        if (!p.mbarrier)
            return;
        p.lane = l;
        for (uint32_t i = 0; i < words; i++)
            p.words[i] = from[i] ? from[i][l] : 0;
        sim_cta *owner = sim_shared_owner(w, &mbarrier);
        sim_async *copy = sim_async_add_mbarrier(w, owner ? owner : w->cta, p.mbarrier, 1u << l, land_parcel, &p, sizeof p);
        sim_async_covers(w, copy, p.to, p.bytes, write);
    }
}

SIM_OP(store_async, sim_opd Ra, sim_opd off, sim_opd Rb, unsigned size)
{
    send(w, mask, Ra, off, Rb, (parcel){.bytes = bytes_of(size), .operation = SIM_COPIES});
}

SIM_OP(reduce_async, sim_opd Ra, sim_opd off, sim_opd Rb, unsigned op, unsigned type)
{
    sim_element e = sim_element_of(type);
    if (!e.bytes)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "asynchronous reduction of this type");
    else
        send(w, mask, Ra, off, Rb, (parcel){.bytes = e.bytes, .operation = (int)op, .element = e});
}
