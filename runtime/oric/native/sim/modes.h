/* What the modes of a launch do around each instruction. Private to the engine and the modes. */
#ifndef ORIC_SIM_MODES_H
#define ORIC_SIM_MODES_H
#include "sim/state.h"

/* Strict mode (sim/strict.c). `start` looks at the code of a module, `begin` makes w->pending; 0 without memory. `before` sees an
   instruction that is about to execute for the lanes of mask (which may be empty: the guard is off, its wait mask still counts),
   puts the old values in place of those that are read too early, reports them, and keeps what begins; it returns the lanes
   that execute, which are others when the guard is read too early. `after` puts the values back that come later. */
int sim_strict_start(oric_sim *sim);
int sim_strict_begin(sim_warp *w);
uint32_t sim_strict_before(sim_warp *w, const oric_insn *in, uint32_t mask);
void sim_strict_after(sim_warp *w, const oric_insn *in, uint32_t mask);
void sim_strict_end(sim_warp *w);
/* Code that is not there (a function of the driver) has run for the lanes: every result of known time has come since. */
void sim_strict_outside(sim_warp *w, uint32_t lanes);

/* Keeps a step of the warp at w->pc (sim/steps.c). */
void sim_note_step(sim_warp *w, uint32_t active, uint32_t executed);
#endif
