/*
 * Matrices in shared memory that a matrix descriptor describes (PTX ISA 9.0, "Matrix Descriptor Format" of wgmma and of tcgen05).
 * Units of 16 bytes lie in core matrices of eight of them; the swizzle modes put the units of 32, 64 or 128 bytes side by side.
 */
#ifndef ORIC_SIM_DESCRIPTOR_H
#define ORIC_SIM_DESCRIPTOR_H
#include "sim/matrix.h"

typedef struct {
    uint32_t start;  /* byte addresses and distances */
    uint32_t lead;
    uint32_t stride;
    uint32_t span;   /* bytes that a swizzle mode keeps together; 16: none */
    uint32_t base;   /* rows by which the pattern of the swizzle is shifted */
    const sim_cta *cta; /* whose shared memory */
} sim_descriptor;

/* How elements lie in a unit of 16 bytes. */
typedef struct {
    uint32_t bits; /* of an element */
    uint32_t each; /* elements of a unit */
} sim_packing;

/* Of the warpgroup instructions (swizzle in bits 62-63) and of tensor memory (bits 61-63); 0 after a fault. */
int sim_descriptor_of_warpgroup(sim_warp *w, uint64_t bits, sim_descriptor *d);
int sim_descriptor_of_tensor(sim_warp *w, uint64_t bits, sim_descriptor *d);

/*
 * Elements of rows [first, first + rows) and of all k: out[row * k + i]. `by_row`: units run along the rows (the M or N dimension), not
 * along k. 0 after a fault.
 */
int sim_read_matrix(sim_warp *w, const sim_descriptor *d, sim_packing p, int by_row, uint32_t first, uint32_t rows, uint32_t k, uint32_t *out);
#endif
