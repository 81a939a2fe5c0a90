/* Scoreboards: which one guards which instruction, and what may be outstanding at the block boundaries. */
#ifndef ORIC_SCOREBOARD_H
#define ORIC_SCOREBOARD_H
#include "sched/late.h"
#include "tables/numbers.h"

/* Per unit the scoreboards (bits) that a pending write, or a pending late read, of it counts on. */
typedef struct {
    uint8_t write[ORIC_PHYSICAL_UNITS];
    uint8_t read[ORIC_PHYSICAL_UNITS];
} oric_pending;

/* Does the node access memory in an order that a fence before it matters to? */
static inline int oric_touches_memory(const oric_node *node) { return (node->flags & (ORIC_I_MEM_READ | ORIC_I_MEM_WRITE)) != 0; }

/* Is this access one whose register is read after issue, so that a read barrier must guard it? */
static inline int oric_is_late(const oric_fn *fn, const oric_node *node, const oric_access *a) {
    return !(a->flags & (ORIC_A_DEF | ORIC_A_GUARD)) && oric_reads_late(fn, node, a->unit);
}

/* Wait mask that the instruction needs in this state; updates the state to after its issue. */
uint8_t oric_pending_step(oric_pending *state, const oric_fn *fn, const oric_node *node);

/* Give write and read barriers to all instructions, block by block. Returns 0 or -1 without memory. */
int oric_assign_scoreboards(oric_fn *fn);
/* What may be pending at the entry of each block, along any path: block_count states, to be freed; NULL without memory. */
oric_pending *oric_pending_at_entries(const oric_fn *fn);
#endif
