/* The memory checker as the engine sees it. Everything but the first three is called only where w->shadow (cta->shadow) is set. */
#ifndef ORIC_SIM_MEMCHECK_H
#define ORIC_SIM_MEMCHECK_H
#include "sim/state.h"

/* Allocations (sim/memcheck.c): what is kept in every mode, so that a checked launch knows of earlier ones. */
void sim_remember_freed(oric_sim *sim, const sim_alloc *gone, uint64_t pc);
void sim_mark_written(oric_sim *sim, uint64_t address, uint64_t size);
void sim_memcheck_launch(oric_sim *sim);
const sim_freed *sim_find_freed(const oric_sim *sim, uint64_t address);

/* Shadow memory of a CTA; 0 without memory. */
int sim_memcheck_begin(sim_cta *cta);
void sim_memcheck_end(sim_cta *cta);

/* Around each instruction. */
void sim_memcheck_before(sim_warp *w, const oric_insn *in);
void sim_memcheck_after(sim_warp *w);

/* An access of the current instruction that lies at `found`, or (NULL) that is a fault: then it is reported, and what is returned
   are bytes with a pattern that the instruction may read or write without consequences. NULL: a fault that stops the launch. */
uint8_t *sim_memcheck_access(sim_warp *w, uint32_t lane, uint8_t *found, int fault, int space, uint64_t address, uint32_t size, int write);

/* Order among threads (sim/race.c); sim/async.c calls what concerns copies. Pointers are host addresses. */
void sim_memcheck_commit(sim_warp *w); /* the asynchronous copies of the warp so far are a group */
void sim_memcheck_copied(sim_warp *w, const uint8_t *to, uint64_t size); /* the current instruction starts a copy to these bytes */
/* The copies so far, with that of the current instruction, will be seen by whoever waits at the mbarrier. */
void sim_memcheck_copies_arrive(sim_warp *w, const void *mbarrier);
/* The accesses of the current instruction are of mbarriers: they order threads, and tests with plain loads do too. */
void sim_memcheck_mbarrier(sim_warp *w);
/* The current instruction does not need what it overwrites, unless it has a result: an atomic exchange. */
void sim_memcheck_overwrites(sim_warp *w);
/* The current instruction is a load or store that others may make at the same time (relaxed, acquire, release, volatile). */
void sim_memcheck_strong(sim_warp *w, int store);
/* Whoever passes here knows what everybody knew who passed before: atomics and mbarriers at that address. */
void sim_memcheck_sync(sim_warp *w, const void *at);

/* The lanes have found a phase of the mbarrier not over, and will ask again. */
void sim_memcheck_polls(sim_warp *w, uint32_t lanes, const void *at);

/* Barriers of the CTA (sim/syncheck.c). */
void sim_memcheck_barrier(sim_warp *w, uint32_t mask, uint32_t index, uint32_t wanted, int wait, int reducing);
void sim_memcheck_barrier_left(sim_warp *w, uint32_t index);
void sim_memcheck_barrier_over(sim_cta *cta, uint32_t index);
void sim_memcheck_cluster_arrive(sim_warp *w);
void sim_memcheck_cluster_passed(sim_warp *w);
void sim_memcheck_exit(sim_warp *w, uint32_t mask);
void sim_memcheck_deadlock(sim_cta *cta);
void sim_memcheck_endless(sim_cta *cta); /* the launch has been stopped: who polls an mbarrier waits for it */
#endif
