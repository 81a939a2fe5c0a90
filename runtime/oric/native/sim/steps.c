/* What the warps of a launch executed, step by step. */
#include <stdlib.h>

#include "sim/modes.h"

enum { FIRST_ROOM = 4096 };

void sim_note_step(sim_warp *w, uint32_t active, uint32_t executed)
{
    oric_sim *sim = w->sim;
    if (sim->nsteps == sim->room_steps) {
        uint64_t room = sim->room_steps ? 2 * sim->room_steps : FIRST_ROOM;
        oric_sim_step *more = sim->steps_failed ? NULL : realloc(sim->steps, room * sizeof *more);
        if (!more) {
            sim->steps_failed = 1;
            return;
        }
        sim->steps = more, sim->room_steps = room;
    }
    const uint32_t *grid = sim->launch.grid, *id = w->cta->ctaid;
    uint32_t cta = (id[2] * grid[1] + id[1]) * grid[0] + id[0];
    sim->steps[sim->nsteps++] = (oric_sim_step){.pc = w->pc, .cta = cta, .warp = w->id, .active = active, .executed = executed};
}

const oric_sim_step *oric_sim_steps(const oric_sim *sim, uint64_t *count)
{
    *count = sim->steps_failed ? 0 : sim->nsteps;
    return sim->steps_failed ? NULL : sim->steps;
}

int oric_sim_look(const oric_sim *sim, oric_sim_seen *out)
{
    const sim_cta *cta = sim->ring ? sim->ring->ctas[0] : NULL;
    const sim_warp *w = cta && cta->live_warps ? &cta->warps[0] : NULL;
    for (uint32_t g = 0; w && g < w->ngroups; g++) {
        if (!(w->groups[g].mask & 1)) continue;
        *out = (oric_sim_seen){.pc = w->groups[g].pc, .local = w->local};
        for (uint32_t r = 0; r < ORIC_SIM_SEEN && r < w->nregs; r++) out->registers[r] = w->R[r][0];
        for (uint32_t p = 0; p < 7; p++) out->predicates |= (w->P[p] & 1) << p;
        return 1;
    }
    return 0;
}
