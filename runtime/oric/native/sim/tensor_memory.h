/*
 * Tensor memory (tcgen05): 128 lanes of 512 columns of 32 bits for each CTA. An address is the lane in its upper and the column in its
 * lower half. Columns are allocated in granules of 32; the bits of those in use are what UTCATOMSWS changes.
 */
#ifndef ORIC_SIM_TENSOR_MEMORY_H
#define ORIC_SIM_TENSOR_MEMORY_H
#include "sim/descriptor.h"

#define TENSOR_LANES 128u
#define TENSOR_COLUMNS 512u
#define TENSOR_GRANULE 32u

/* The cell of a CTA at (lane, column); NULL after a fault: outside, not allocated, or no memory. */
uint32_t *sim_tensor_cell(sim_warp *w, sim_cta *cta, uint32_t lane, uint32_t column);

/* The CTAs that an instruction of one CTA, or of a pair of them (rank even and odd), works on; 0 after a fault. */
uint32_t sim_tensor_ctas(sim_warp *w, int pair, sim_cta *ctas[2]);
#endif
