/* Descriptions of tensors for the tensor memory accelerator, as oric.sim.tensor_map makes them, and the walk over a box. */
#ifndef ORIC_SIM_TENSOR_H
#define ORIC_SIM_TENSOR_H
#include "sim/transfer.h"

enum { SIM_TENSOR_BYTES = 128 };

/*
 * The 128 bytes. The first 64 are the hardware's, as far as the code shows that ptxas makes of tensormap.replace; with zeros behind
 * them they are a map of tiles that device code has made. The rest is ours (runtime/oric/sim/tensor.py packs it). Numbers are
 * little-endian, arrays begin with the innermost dimension.
 */
typedef struct {
    uint64_t address;
    uint32_t flags;        /* 4-6 rank minus one, 7-10 type, 11-12 interleaving, 13-14 swizzle, 15 fill, 16 TF32, 19-21 the swizzle's units,
                              22 swizzle of 96 bytes */
    uint32_t strides[4];   /* bits 4 to 35 of those of dimensions 1 to 4, in bytes */
    uint32_t strides_high; /* bits 36 to 39, four for each */
    uint32_t last[5];      /* size of each dimension minus one */
    uint32_t steps;        /* 0-14 element strides minus one, three bits each; 24-31 box[0] minus one */
    uint32_t box;          /* box[1] to box[4] minus one, a byte each */
    uint32_t unknown;
    uint64_t magic;
    uint16_t version;
    uint8_t mode, unused;
    uint16_t columns[2]; /* im2col: channels and pixels */
    int16_t lower[3], upper[3]; /* corners of the pixels' box */
    uint8_t rest[36];
} sim_tensor_bytes;

/* What they say. */
typedef struct {
    uint64_t address;
    uint64_t strides[4];
    uint32_t last[5];
    uint16_t box[5]; /* elements in space; in im2col mode box[0] channels and box[1] pixels */
    uint8_t steps[5];
    uint8_t rank, type, swizzle, fill, mode;
    int16_t lower[3], upper[3];
} sim_tensor;

/* Where a box of a tensor meets shared memory. */
typedef struct {
    sim_tensor tensor;
    uint32_t element;  /* bytes */
    uint64_t shared;   /* address of the box there (ORIC_MEM_CLUSTER) */
    int32_t at[5];     /* coordinates of the first element */
    uint32_t shift[3]; /* im2col: offsets of W, H, D */
    int32_t rows[4];   /* gather and scatter: coordinates of the rows */
    int gathers;
    int stores; /* shared memory is the source: SIM_WRITE or SIM_REDUCE */
} sim_box;

/* Reads and checks the description at a generic address; 0 after a fault. */
int sim_tensor_read(sim_warp *w, uint32_t lane, uint64_t address, unsigned rank, int mode, sim_box *box);

/* The kind of the tensor's elements for reductions. */
sim_element sim_tensor_element(const sim_box *box);

/* Loads a box, of which coordinates and offsets are given, with the description at a generic address. */
void sim_tensor_load(sim_warp *w, uint32_t lane, sim_load l, uint64_t map, unsigned rank, int mode, sim_box *box);

/* Adds the pieces of the box to a transfer; the bytes of it in shared memory. */
uint64_t sim_tensor_walk(sim_warp *w, uint32_t lane, const sim_box *box, sim_transfer *t);
#endif
