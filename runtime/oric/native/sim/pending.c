/* The store of operations under way. */
#include "sim/pending.h"

#include <stdlib.h>

#include "tables/registers.h"

enum { FEW = 48 };

static int over(const struct sim_pending *p, const sim_record *r)
{
    return !r->lanes || (r->kind == SIM_P_FIXED && p->clock >= r->issue + r->limit);
}

/* Drop the records that are over. */
static void sweep(struct sim_pending *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++)
        p->head[p->records[i].unit] = SIM_NONE;
    for (uint32_t i = 0; i < p->count; i++) {
        if (over(p, &p->records[i]))
            continue;
        if (kept != i)
            p->records[kept] = p->records[i];
        sim_record *r = &p->records[kept];
        r->next = p->head[r->unit];
        p->head[r->unit] = kept++;
    }
    p->count = kept;
    p->full = kept * 2 > FEW ? kept * 2 : FEW;
}

sim_record *sim_pending_add(struct sim_pending *p, uint16_t unit)
{
    if (p->count >= p->full)
        sweep(p);
    if (p->count == p->room) {
        uint32_t room = p->room ? 2 * p->room : 2 * FEW;
        sim_record *more = realloc(p->records, room * sizeof *more);
        if (!more)
            return NULL;
        p->records = more, p->room = room;
    }
    sim_record *r = &p->records[p->count];
    memset(r, 0, offsetof(sim_record, old));
    r->unit = unit;
    r->next = p->head[unit];
    p->head[unit] = p->count++;
    return r;
}

/* Where a register's values are, and how many words; NULL: the launch does not have it. */
static uint32_t *words_of(const sim_warp *w, uint16_t unit, uint32_t *n)
{
    sim_warp *own = (sim_warp *)w;
    uint32_t number = oric_unit_number(unit);
    *n = 1;
    switch (oric_unit_file(unit)) {
    case ORIC_FILE_R:
        *n = SIM_LANES;
        return number < w->nregs ? own->R[number] : NULL;
    case ORIC_FILE_B:
        *n = SIM_LANES;
        return number < ORIC_CONVERGENCE_BARRIERS ? own->B[number] : NULL;
    case ORIC_FILE_UR: return number < ORIC_INSN_RZ ? &own->UR[number] : NULL;
    case ORIC_FILE_P: return number < ORIC_INSN_PT ? &own->P[number] : NULL;
    default: return number < ORIC_INSN_PT ? &own->UP[number] : NULL;
    }
}

void sim_pending_get(const sim_warp *w, uint16_t unit, uint32_t value[SIM_LANES])
{
    uint32_t n;
    const uint32_t *words = words_of(w, unit, &n);
    if (words)
        memcpy(value, words, n * sizeof *value);
    else
        value[0] = 0;
}

void sim_pending_put(sim_warp *w, uint16_t unit, uint32_t lanes, const uint32_t value[SIM_LANES])
{
    uint32_t n;
    uint32_t *words = words_of(w, unit, &n);
    if (!words || !lanes)
        return;
    if (n == SIM_LANES) {
        for (uint32_t l = 0; l < SIM_LANES; l++)
            if (lanes >> l & 1)
                words[l] = value[l];
    } else if (sim_unit_is_uniform(unit)) {
        *words = *value;
    } else {
        *words = (*words & ~lanes) | (*value & lanes);
    }
}
