/* What copy engines move: pieces of memory, copied or combined, and who is told of it. */
#ifndef ORIC_SIM_TRANSFER_H
#define ORIC_SIM_TRANSFER_H
#include "sim/async.h"
#include "sim/atomic.h"

enum { SIM_PIECE = 16, SIM_COPIES = -1 /* instead of an operation */, SIM_ALL_BYTES = 0xffff };

typedef struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
} sim_piece;

/* A transfer in the making. Errors are faults of the warp; then sim_transfer_start does nothing. */
typedef struct {
    int operation; /* SIM_COPIES, or V_ADD ... of elements */
    sim_element element;
    uint32_t byte_mask; /* of copies: which bytes of each 16 are written */
    uint64_t signal;    /* bytes of which the mbarrier hears */
    uint8_t *mbarrier;
    uint32_t count, room;
    sim_piece *pieces;
} sim_transfer;

void sim_transfer_add(sim_warp *w, sim_transfer *t, uint8_t *to, const uint8_t *from, uint32_t bytes);

/* Starts it: `owner` is the CTA that has the mbarrier; NULL: the next UTMACMDFLUSH closes the group. Frees the pieces. */
void sim_transfer_start(sim_warp *w, sim_transfer *t, sim_cta *owner);

/* Where in the shared memory of a cluster something goes, and the mbarrier that hears of it; with multicast in which CTAs. */
typedef struct {
    uint64_t to, mbarrier;
    uint32_t ctas;
    unsigned multicast;
} sim_load;

/* A block of global memory. */
void sim_bulk_load(sim_warp *w, uint32_t lane, sim_load l, uint64_t from, uint32_t bytes);
#endif
