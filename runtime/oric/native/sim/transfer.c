/* Transfers of copy engines: lists of pieces that land together. */
#include "sim/transfer.h"

#include <stdlib.h>

#include "sim/mbarrier.h"

/* What the queue keeps: the transfer without room to grow, its pieces behind it. */
typedef struct {
    sim_transfer head;
    sim_piece pieces[];
} landing;

void sim_transfer_add(sim_warp *w, sim_transfer *t, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (t->count) {
        sim_piece *last = &t->pieces[t->count - 1];
        if (last->to + last->bytes == to && last->from + last->bytes == from) {
            last->bytes += bytes;
            return;
        }
    }
    if (t->count == t->room) {
        uint32_t room = t->room ? 2 * t->room : 64;
        sim_piece *more = realloc(t->pieces, room * sizeof *more);
        if (!more)
            return sim_fault(w, ORIC_FAULT_NO_MEMORY, sim_first_lane(w->active), "asynchronous copies");
        t->pieces = more;
        t->room = room;
    }
    t->pieces[t->count++] = (sim_piece){to, from, bytes};
}

static void copy_piece(const sim_piece *p, uint32_t byte_mask)
{
    if (byte_mask == SIM_ALL_BYTES) {
        memmove(p->to, p->from, p->bytes);
        return;
    }
    for (uint32_t i = 0; i < p->bytes; i++)
        if (byte_mask >> i % SIM_PIECE & 1)
            p->to[i] = p->from[i];
}

static void land(sim_warp *w, void *what)
{
    const landing *l = what;
    uint32_t lane = sim_first_lane(w->active ? w->active : 1);
    for (uint32_t k = 0; k < l->head.count; k++) {
        const sim_piece *p = &l->pieces[k];
        if (l->head.operation == SIM_COPIES) {
            copy_piece(p, l->head.byte_mask);
            continue;
        }
        for (uint32_t i = 0; i < p->bytes; i += l->head.element.bytes)
            if (!sim_combine_at(w, lane, (unsigned)l->head.operation, l->head.element, p->to + i, p->from + i))
                return;
    }
    if (l->head.mbarrier)
        sim_mbarrier_update(w, lane, l->head.mbarrier, (sim_mbarrier_step){0, -(int64_t)l->head.signal, 0});
}

static void tell_ranges(sim_warp *w, sim_async *copy, const sim_transfer *t)
{
    for (uint32_t i = 0; (copy || w->shadow) && i < t->count; i++) {
        sim_async_covers(w, copy, t->pieces[i].to, t->pieces[i].bytes, t->operation == SIM_COPIES ? SIM_WRITE : SIM_REDUCE);
        sim_async_covers(w, copy, t->pieces[i].from, t->pieces[i].bytes, SIM_READ);
    }
}

void sim_transfer_start(sim_warp *w, sim_transfer *t, sim_cta *owner)
{
    size_t bytes = sizeof(landing) + t->count * sizeof(sim_piece);
    landing *l = w->sim->fault.code ? NULL : malloc(bytes);
    if (l) {
        l->head = *t;
        l->head.pieces = NULL;
        if (t->count)
            memcpy(l->pieces, t->pieces, t->count * sizeof(sim_piece));
        sim_async *copy = owner ? sim_async_add_mbarrier(w, owner, t->mbarrier, w->active, land, l, bytes)
                                : sim_async_add(w, SIM_BY_BULK_GROUP, w->active, land, l, bytes);
        tell_ranges(w, copy, t);
        free(l);
    } else {
        sim_fault(w, ORIC_FAULT_NO_MEMORY, sim_first_lane(w->active), "asynchronous copies");
    }
    free(t->pieces);
    t->pieces = NULL;
    t->count = t->room = 0;
}
