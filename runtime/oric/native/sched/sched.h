/* cdef */
#ifndef ORIC_SCHED_H
#define ORIC_SCHED_H
#include "function/backend.h"

/* Why one instruction has to come before another. */
enum { ORIC_E_READ = 1, ORIC_E_ANTI = 2, ORIC_E_OUTPUT = 3, ORIC_E_MEMORY = 4, ORIC_E_ORDER = 5 };

typedef struct {
    uint32_t from; /* positions within the block */
    uint32_t to;
    uint16_t latency; /* expected cycles from issue to issue */
    uint8_t kind;
} oric_edge;

/* The dependence graph of a block. Edges that others imply are left out, so that their number grows with the number of
 * accesses. Returns the number of edges (at most room are stored), or -1 without memory. */
int32_t oric_dependences(const oric_fn *fn, int32_t block, oric_edge *edges, int32_t room);

typedef struct {
    int32_t limit[5]; /* registers of each file that should not be exceeded; INT32_MAX = do not look */
    int32_t by_use;   /* where they are: 0 = go on in the original order, 1 = with what is read first */
    /* what makes predicates comes before its turn only where they fit beside those of the original order until then */
    int32_t careful;
    const int32_t *most; /* the same of the general file by block, where that is less; NULL: nowhere */
} oric_list_options;

/* Reorder fn->nodes within each block: critical path first, as far as the limits allow. Before allocation liveness must
 * be known; after it pass no limits. Returns the sum of the expected cycles of all blocks, or -1 without memory. */
int64_t oric_list_schedule(oric_fn *fn, const oric_list_options *options);

/* What the orders that oric_list_schedule makes would cost with each of `count` limits of the general file, ascending, in place of
 * that of the options. often: by block, how often it runs; spent: by limit, expected cycles of all runs; reached: by limit, the
 * largest number of live general registers. The function stays as it is. Returns 0, or -1 without memory. */
int32_t oric_list_measure(oric_fn *fn, const oric_list_options *options, const int32_t *limits, int32_t count, const int64_t *often,
                          int64_t *spent, int32_t *reached);

/* Put blocks in which more than `limit` registers of the general file are live, or more than `most` of the block where that is not
 * NULL, in an order with fewer, where there is one. Before allocation; liveness must be known. fixed: by unit, the register that it has to get, -1: any; NULL: any for all.
 * Returns how many blocks have changed, or -1 without memory. */
int32_t oric_lean_order(oric_fn *fn, int32_t limit, const int32_t *most, const int32_t *fixed);

/* Move loads up within each block, each into a register of the general file, of `limit`, that is free from there on, until their results
 * are there when they are read; everything else keeps its order and its register. After allocation, which made `assigned` and `leader`
 * (alloc/regalloc.h), of a view on virtual registers; liveness must be known. Returns how many registers of the general file are
 * in use then, or -1 without memory. */
int32_t oric_hoist_loads(oric_fn *fn, int32_t limit, int32_t *assigned, const int32_t *leader);

/* Fill oric_node.control of every instruction of a function on hardware registers: stall counts, yield, barriers, wait
 * masks. Also correct along every path through the blocks. Returns the number of cycles of all stalls, or -1. */
int64_t oric_assign_control(oric_fn *fn);
#endif
