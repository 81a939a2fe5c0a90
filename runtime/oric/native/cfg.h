/* cdef */
/* Control-flow analyses on successor lists: block b's successors are succs[succ_start[b] .. succ_start[b + 1] - 1]. */
#ifndef ORIC_CFG_H
#define ORIC_CFG_H
#include <stdint.h>

/* Reverse post-order from block 0, depth first, successors in order, with an explicit stack.
   order[0..reachable-1] receives block indices, number[b] the position of b in it (-1 = unreachable).
   Returns the number of reachable blocks, -1 when memory ran out. */
int32_t oric_cfg_rpo(int32_t n, const int32_t *succ_start, const int32_t *succs, int32_t *order, int32_t *number);

/* Predecessor lists in the same form; pred_start has n + 1 entries, preds as many as succs. Predecessors ascend. */
void oric_cfg_preds(int32_t n, const int32_t *succ_start, const int32_t *succs, int32_t *pred_start, int32_t *preds);

/* Immediate dominators of the reachable blocks (block 0: itself; unreachable: -1). */
void oric_cfg_dominators(int32_t reachable, const int32_t *order, const int32_t *number, const int32_t *pred_start,
                         const int32_t *preds, int32_t n, int32_t *idom);

/* Immediate post-dominators: exits[b] != 0 gives b an edge to a virtual exit, which is numbered n. ipdom[b] = n: only the
   virtual exit post-dominates b; -1: b cannot reach the virtual exit. Returns 0, -1 when memory ran out. */
int32_t oric_cfg_postdominators(int32_t n, const int32_t *succ_start, const int32_t *succs, const uint8_t *exits, int32_t *ipdom);

/* Preorder interval of each block in the (post-)dominator tree `parent` (root: parent[r] == r or any value outside
   0..n-1; absent: -1): a is an ancestor of b iff first[a] <= first[b] && last[b] <= last[a]. Absent blocks get 0, -1.
   Returns 0, -1 when memory ran out. */
int32_t oric_cfg_intervals(int32_t n, const int32_t *parent, int32_t *first, int32_t *last);

/* Natural loops. An edge to a dominator is a back edge (back[e] = 1, parallel to succs), its target a loop header; an edge
   that goes back in reverse post-order to a block that does not dominate makes the graph irreducible (back[e] = 2).
   header[b]: header of the innermost loop around b, -1 = none (a header is in its own loop). outer[b], for a header b:
   header of the loop around that loop. depth[b]: number of loops around b.
   first, last: intervals of the dominator tree. Returns the number of loops, -1 when memory ran out. */
int32_t oric_cfg_loops(int32_t n, int32_t reachable, const int32_t *order, const int32_t *number, const int32_t *succ_start,
                       const int32_t *succs, const int32_t *pred_start, const int32_t *preds, const int32_t *first,
                       const int32_t *last, uint8_t *back, int32_t *header, int32_t *outer, int32_t *depth);
#endif
