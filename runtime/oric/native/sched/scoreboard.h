/* Scoreboards: which one guards which instruction, and what may be outstanding at the block boundaries. */
#ifndef ORIC_SCOREBOARD_H
#define ORIC_SCOREBOARD_H
#include "function/late.h"
#include "tables/numbers.h"

/* The units that a function uses, ORIC_U_MEMORY among them, in places from 0 on; those of one access follow one another. */
typedef struct {
    int32_t count;
    int32_t memory; /* the place of ORIC_U_MEMORY */
    uint16_t of[ORIC_PHYSICAL_UNITS]; /* unit -> place */
    uint8_t contested[ORIC_PHYSICAL_UNITS]; /* by place: a uniform register that is written where threads are apart */
} oric_places;

enum { ORIC_NO_QUEUE = 0 }; /* or several */
enum { ORIC_PENDING = 3 };  /* rows of what is pending at the entry of a block: `write`, `read` and `queue` by place */

/* Per place the scoreboards (bits) that a pending write, or a pending late read, of the unit counts on, and the queue of all that read it. */
typedef struct {
    uint8_t write[ORIC_PHYSICAL_UNITS];
    uint8_t read[ORIC_PHYSICAL_UNITS];
    uint8_t queue[ORIC_PHYSICAL_UNITS];
} oric_pending;

/* Take over what is pending at the entry of a block. */
void oric_pending_load(oric_pending *state, const uint8_t *entries, const oric_places *places, int32_t b);

void oric_places_find(const oric_fn *fn, oric_places *places);

/* Does the node access memory in an order that a fence before it matters to? */
static inline int oric_touches_memory(const oric_node *node) { return (node->flags & (ORIC_I_MEM_READ | ORIC_I_MEM_WRITE)) != 0; }

/* Is this access one whose register is read after issue, so that a read barrier must guard it? */
static inline int oric_is_late(const oric_fn *fn, const oric_node *node, const oric_access *a) {
    return !(a->flags & (ORIC_A_DEF | ORIC_A_GUARD)) && oric_reads_late(fn, node, a->unit);
}

/* Wait mask that the instruction needs in this state; updates the state to after its issue. */
uint8_t oric_pending_step(oric_pending *state, const oric_fn *fn, const oric_places *places, const oric_node *node);

/* Give write and read barriers to all instructions, block by block. Returns 0 or -1 without memory. */
int oric_assign_scoreboards(oric_fn *fn, const oric_places *places);
/* What may be pending at the entry of each block, along any path: for each one the ORIC_PENDING
 * rows, to be freed; NULL without memory. */
uint8_t *oric_pending_at_entries(const oric_fn *fn, const oric_places *places);
#endif
