/* mbarrier objects: 64 bits of shared memory, in the layout that code of ptxas builds and takes apart. */
#ifndef ORIC_SIM_MBARRIER_H
#define ORIC_SIM_MBARRIER_H
#include "sim/state.h"

/* Where the mbarrier is that a copy engine will tell of its bytes: no access of the thread's own. NULL after a fault, which with the
   memory checker does not stop the launch: nobody hears of the bytes. */
uint8_t *sim_mbarrier_place(sim_warp *w, uint32_t lane, uint64_t address);

/* What happens to an mbarrier in one step. */
typedef struct {
    uint32_t arrivals;
    int64_t bytes; /* added to the transaction count: expected ones are positive, completed ones negative */
    int drop;      /* the arrivals are no longer expected in later phases */
} sim_mbarrier_step;

/*
 * The object of sm_90 and up (SYNCS). A phase ends when nothing is pending any more, neither arrivals nor bytes. `word` is a place
 * that sim_address gave for 8 bytes. A fault when it holds no mbarrier or when more arrives than the phase has room for.
 */
void sim_mbarrier_update(sim_warp *w, uint32_t lane, uint8_t *word, sim_mbarrier_step step);

/* One arrival at the object of sm_80 to sm_89 (ATOMS.ARRIVE), which has no transaction count. */
void sim_mbarrier_arrive_plain(sim_warp *w, uint32_t lane, uint8_t *word);
#endif
