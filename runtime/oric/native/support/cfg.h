/* cdef */
/* Control-flow analyses on successor lists: block b's successors are succs[succ_start[b] .. succ_start[b + 1] - 1]. */
#ifndef ORIC_CFG_H
#define ORIC_CFG_H
#include <stdint.h>

/* Reverse post-order from block 0, depth first, successors in order, with an explicit stack.
   order[0..reachable-1] receives block indices, number[b] the position of b in it (-1 = unreachable).
   Returns the number of reachable blocks, -1 when memory ran out. */
int64_t oric_cfg_rpo(int64_t n, const int64_t *succ_start, const int64_t *succs, int64_t *order, int64_t *number);

/* Predecessor lists in the same form; pred_start has n + 1 entries, preds as many as succs. Predecessors ascend. */
void oric_cfg_preds(int64_t n, const int64_t *succ_start, const int64_t *succs, int64_t *pred_start, int64_t *preds);

/* Immediate dominators of the reachable blocks (block 0: itself; unreachable: -1). Returns 0, -1 when memory ran out. */
int64_t oric_cfg_dominators(int64_t n, const int64_t *succ_start, const int64_t *succs, const int64_t *pred_start,
                            const int64_t *preds, int64_t *idom);

/* Immediate post-dominators: exits[b] != 0 gives b an edge to a virtual exit, which is numbered n. ipdom[b] = n: only the
   virtual exit post-dominates b; -1: b cannot reach the virtual exit. Returns 0, -1 when memory ran out. */
int64_t oric_cfg_postdominators(int64_t n, const int64_t *succ_start, const int64_t *succs, const int64_t *exits, int64_t *ipdom);

/* Preorder interval of each block in the (post-)dominator tree `parent` (root: parent[r] == r or any value outside
   0..n-1; absent: -1): a is an ancestor of b iff first[a] <= first[b] && last[b] <= last[a]. Absent blocks get 0, -1.
   Returns 0, -1 when memory ran out. */
int64_t oric_cfg_intervals(int64_t n, const int64_t *parent, int64_t *first, int64_t *last);

/* Natural loops. An edge to a dominator is a back edge (back[e] = 1, parallel to succs), its target a loop header; an edge
   that goes back in reverse post-order to a block that does not dominate makes the graph irreducible (back[e] = 2).
   header[b]: header of the innermost loop around b, -1 = none (a header is in its own loop). outer[b], for a header b:
   header of the loop around that loop. depth[b]: number of loops around b.
   first, last: intervals of the dominator tree. *irreducible: whether some back[e] is 2. Returns the number of loops, -1 when memory ran out. */
int64_t oric_cfg_loops(int64_t n, int64_t reachable, const int64_t *order, const int64_t *number, const int64_t *succ_start,
                       const int64_t *succs, const int64_t *pred_start, const int64_t *preds, const int64_t *first,
                       const int64_t *last, int64_t *back, int64_t *header, int64_t *outer, int64_t *depth,
                       int64_t *irreducible);
#endif
