/* Textures and surfaces: what a handle stands for. The texels lie in global memory, rows densely packed. */
#ifndef ORIC_SIM_TEXTURE_H
#define ORIC_SIM_TEXTURE_H
#include "sim/ops.h"

#define SIM_TEXTURE_BITS 20 /* of a handle: the number of the texture; above them that of a sampler of its own */

/* What a handle stands for; NULL after a fault. */
const oric_sim_texture *sim_find_texture(sim_warp *w, uint32_t lane, uint32_t handle);
/* The handle of each lane: in a constant bank, in uniform registers, or in a register. 0 after a fault. */
int sim_texture_handles(sim_warp *w, uint32_t mask, sim_opd bank, sim_opd slot, sim_opd URa, sim_opd Rh, uint32_t *out);
#endif
