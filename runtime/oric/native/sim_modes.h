/* What the modes of a launch do around each instruction. Private to the engine and the modes. */
#ifndef ORIC_SIM_MODES_H
#define ORIC_SIM_MODES_H
#include "sim_state.h"

/* Strict mode (sim_strict.c). `begin` makes w->pending; 0 without memory. `before` sees an instruction that is about to execute for
   the lanes of mask (which may be empty: the guard is off, its wait mask still counts), puts the old values in place of those
   that are read too early and reports them; `after` puts them back and keeps the results as pending. */
int sim_strict_begin(sim_warp *w);
void sim_strict_before(sim_warp *w, const oric_insn *in, uint32_t mask);
void sim_strict_after(sim_warp *w, const oric_insn *in, uint32_t mask);
void sim_strict_end(sim_warp *w);
#endif
