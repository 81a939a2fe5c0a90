/* Asynchronous copies and reductions: what an instruction starts and what ends some time after it.

   Without strict mode everything is done when it is issued. In strict mode it is put in a queue and done as late as the rules
   allow: when a wait makes its end known. Whoever touches the memory in between is reported (ORIC_REPORT_ASYNC). An instruction
   that starts something resolves its addresses (sim_address, which checks them) and puts host pointers into `what`: memory of
   a launch stays where it is until the launch ends, that of a CTA until all CTAs of its cluster have been retired. */
#ifndef ORIC_SIM_ASYNC_H
#define ORIC_SIM_ASYNC_H
#include <stddef.h>

#include "sim/state.h"

/* What makes the end known. */
enum {
    SIM_BY_COPY_GROUP = 0, /* copies of threads (LDGSTS): LDGDEPBAR closes a group, and a scoreboard tells its end */
    SIM_BY_BULK_GROUP = 1, /* bulk stores and reductions: the same with UTMACMDFLUSH */
    SIM_BY_TENSOR = 2,     /* tensor memory: an arrival that sim_async_arrive has tied to it (UTCBAR) */
    SIM_BY_MBARRIER = 3    /* a phase of an mbarrier */
};

/* Does the work. `what` is what sim_async_add was given, or a copy of it; w is the warp that runs (its CTA is that
   which owns the mbarrier, or which issued the copy), w->pc the address of the instruction that started it. */
typedef void (*sim_land_fn)(sim_warp *w, void *what);

typedef struct sim_async sim_async;

/* Start something whose end does not depend on an mbarrier of its own: `by` is not SIM_BY_MBARRIER. `what` has `bytes`
   bytes. Returns NULL when it is done already: not in strict mode, or after a fault for want of memory. */
sim_async *sim_async_add(sim_warp *w, int by, uint32_t mask, sim_land_fn land, void *what, size_t bytes);

/* The same when an mbarrier in the shared memory of `owner` tells: `land` also does the arrival or counts the bytes. */
sim_async *sim_async_add_mbarrier(sim_warp *w, sim_cta *owner, const void *mbarrier, uint32_t mask, sim_land_fn land, void *what,
                                  size_t bytes);

/* An arrival when everything of kind `by` is over that the lanes of mask have started until now (ARRIVES.LDGSTSBAR, UTCBAR). */
void sim_async_arrive(sim_warp *w, int by, sim_cta *owner, const void *mbarrier, uint32_t mask, sim_land_fn arrive, void *what,
                      size_t bytes);

/* Memory that `copy` (NULL is allowed) reads or writes, for reports: host bytes as sim_address gives them. */
void sim_async_covers(sim_warp *w, sim_async *copy, const uint8_t *at, uint64_t size, int writes);

/* The current instruction closes the group of what this warp has started since the last time; its write scoreboard tells
   the end (LDGDEPBAR, UTMACMDFLUSH). */
void sim_async_commit(sim_warp *w, int by);

/* To be called before an mbarrier is tested (SYNCS.PHASECHK): what counts on it ends now at the latest. */
void sim_async_before_test(sim_warp *w, const void *mbarrier);

/* Strict mode: scoreboards of `boards` (bit mask) have been waited for, or `board` until `left` uses of it are outstanding; the
   current instruction uses `board` once more. sim/strict.c calls these. */
void sim_async_waited(sim_warp *w, uint32_t boards);
void sim_async_counted(sim_warp *w, uint32_t board, uint32_t left);
void sim_async_board_used(sim_warp *w, uint32_t board);

/* Memory is touched: reports a copy under way that touches it too. sim/memory.c calls this when the CTA has a queue. */
void sim_async_touch(sim_warp *w, uint32_t lane, int space, uint64_t address, const uint8_t *at, uint32_t size, int write);

/* A CTA is over: what it has in its queue ends. For a cluster: before the memory of any of its CTAs is freed, for each of them. */
void sim_async_end(sim_cta *cta);
#endif
