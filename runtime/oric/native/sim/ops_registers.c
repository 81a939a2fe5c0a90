/* Registers that warps of a CTA give back and take (setmaxnreg). They are counted for a thread, in units of 8. */
#include <stdlib.h>

#include "sim/ops.h"

enum { UNIT = 8, MOST = 256 };

#define POISON 0xdeadbeefu

static uint32_t held(const sim_warp *w) { return (w->nregs + UNIT - 1) / UNIT * UNIT; }

/* What is in the new ones is not defined. */
static int grow(sim_warp *w, uint32_t count)
{
    size_t words = (size_t)count * SIM_LANES, old = (size_t)w->nregs * SIM_LANES;
    uint32_t *fresh = malloc(words * sizeof *fresh);
    if (!fresh)
        return 0;
    memcpy(fresh, w->R, old * sizeof *fresh);
    for (size_t i = old; i < words; i++)
        fresh[i] = POISON;
    free(w->registers);
    w->registers = fresh;
    w->R = (uint32_t(*)[SIM_LANES])fresh;
    w->nregs = count;
    return 1;
}

/* The predicate says whether there were enough: who has to try again gives way to the warps that will give some back. */
SIM_OP(registers_take, sim_opd UPu, sim_opd URb)
{
    uint32_t count = sim_get_uniform(w, mask, URb), have = held(w);
    if (count > MOST || count % UNIT || count < w->nregs) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "number of registers");
        return;
    }
    int enough = count - have <= w->cta->spare_registers;
    if (enough && !grow(w, count)) {
        sim_fault(w, ORIC_FAULT_NO_MEMORY, sim_first_lane(mask), "registers");
        return;
    }
    if (enough)
        w->cta->spare_registers -= count - have;
    else
        sim_yield(w);
    sim_putp(w, mask, UPu, enough ? SIM_FULL : 0);
}

SIM_OP(registers_give, sim_opd URb)
{
    uint32_t count = sim_get_uniform(w, mask, URb), have = held(w);
    if (count == 0 || count % UNIT || count > have) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "number of registers");
        return;
    }
    w->cta->spare_registers += have - count;
    if (count < w->nregs)
        w->nregs = count;
}
