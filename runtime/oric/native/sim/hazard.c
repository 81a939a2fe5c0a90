/* What a hazard does to values: old ones are read, results land in the wrong order, sources are read too late. */
#include "sim/pending.h"

static sim_saved *find(sim_saved *list, uint32_t n, uint16_t unit)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].unit == unit)
            return &list[i];
    return NULL;
}

static sim_saved *saved(sim_saved *list, uint32_t *n, uint16_t unit)
{
    sim_saved *known = find(list, *n, unit);
    if (known)
        return known;
    if (*n == SIM_SAVED_MOST)
        return NULL; /* it is reported all the same */
    sim_saved *fresh = &list[(*n)++];
    fresh->unit = unit;
    fresh->lanes = 0;
    return fresh;
}

void sim_hazard_early(sim_warp *w, uint16_t unit, uint32_t lanes, const uint32_t old[SIM_LANES])
{
    sim_saved *entry = saved(w->pending->swapped, &w->pending->nswapped, unit);
    if (!entry)
        return;
    if (!entry->lanes)
        sim_pending_get(w, unit, entry->value);
    lanes &= ~entry->lanes; /* newer results come first: what is older than the old value does not matter */
    sim_pending_put(w, unit, lanes, old);
    entry->lanes |= lanes;
}

void sim_hazard_late_result(sim_warp *w, uint16_t unit, uint32_t lanes)
{
    sim_saved *entry = saved(w->pending->landing, &w->pending->nlanding, unit);
    if (!entry)
        return;
    if (!entry->lanes) {
        const sim_saved *early = find(w->pending->swapped, w->pending->nswapped, unit);
        if (early)
            memcpy(entry->value, early->value, sizeof entry->value);
        else
            sim_pending_get(w, unit, entry->value);
    }
    entry->lanes |= lanes;
}

/* Whether what an instruction has written is still under way for the lanes, so that it may be written again. */
static int still_writes(const sim_warp *w, const sim_record *reader, uint32_t lanes)
{
    const struct sim_pending *p = w->pending;
    const struct sim_facts *facts = w->code->facts;
    if (reader->pc - w->code->base >= w->code->size)
        return 0;
    const sim_insn_facts *f = &facts->insns[(reader->pc - w->code->base) >> 4];
    for (uint32_t k = 0; k < f->results; k++) {
        uint32_t at = p->head[facts->results[f->first_result + k].unit];
        while (at != SIM_NONE && !(p->records[at].pc == reader->pc && p->records[at].kind == SIM_P_WRITE))
            at = p->records[at].next;
        if (at == SIM_NONE || (p->records[at].lanes & lanes) != lanes)
            return 0;
    }
    return 1;
}

void sim_hazard_late_reader(sim_warp *w, const sim_record *reader, uint32_t lanes)
{
    struct sim_pending *p = w->pending;
    if (!reader->again || !still_writes(w, reader, lanes))
        return;
    for (uint32_t i = 0; i < p->nagain; i++) {
        if (p->again[i].pc == reader->pc) {
            p->again[i].lanes |= lanes;
            return;
        }
    }
    if (p->nagain < SIM_AGAIN_MOST)
        p->again[p->nagain++] = (sim_late_reader){reader->insn, reader->pc, lanes};
}

/* Execute a reader once more, now that its sources have changed. An address that is wrong now is no fault: the hazard is reported. */
static void execute_again(sim_warp *w, const sim_late_reader *reader)
{
    uint64_t pc = w->pc;
    if (w->sim->fault.code || reader->insn->op >= sim_op_count || !sim_exec_table[reader->insn->op])
        return;
    w->pc = reader->pc;
    sim_exec_table[reader->insn->op](w, reader->insn, reader->lanes);
    w->pc = pc;
    w->sim->fault.code = ORIC_FAULT_NONE;
}

static int writes(const struct sim_facts *facts, const sim_insn_facts *f, uint16_t unit)
{
    for (uint32_t k = 0; k < f->results; k++)
        if (facts->results[f->first_result + k].unit == unit)
            return 1;
    return 0;
}

void sim_hazard_settle(sim_warp *w, const sim_insn_facts *f, uint32_t mask)
{
    struct sim_pending *p = w->pending;
    for (uint32_t i = 0; i < p->nswapped; i++) {
        sim_saved *s = &p->swapped[i];
        uint32_t written = mask && writes(w->code->facts, f, s->unit) ? (sim_unit_is_uniform(s->unit) ? SIM_FULL : mask) : 0;
        sim_pending_put(w, s->unit, s->lanes & ~written, s->value);
    }
    for (uint32_t i = 0; i < p->nlanding; i++)
        sim_pending_put(w, p->landing[i].unit, p->landing[i].lanes, p->landing[i].value);
    for (uint32_t i = 0; i < p->nagain; i++)
        execute_again(w, &p->again[i]);
    p->nswapped = p->nlanding = p->nagain = 0;
}
