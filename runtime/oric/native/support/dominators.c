/* Immediate dominators by semidominators and nearest common ancestors: L. Georgiadis, "Linear-time algorithms for dominators
 * and related problems", 2005 (SNCA). Iterating over the blocks until nothing changes takes quadratic time in deep nests of
 * loops and in chains of blocks that can all leave for the same one. */
#include <stdlib.h>

#include "support/cfg.h"

typedef struct {
    int64_t *vertex; /* preorder number -> block; blocks have numbers from 0 in the depth-first tree */
    int64_t *number; /* block -> preorder number, -1 = unreachable */
    int64_t *parent; /* of a number in the tree; paths are compressed as they are used */
    int64_t *semi;   /* number of the semidominator */
    int64_t *label;  /* the number with the least semidominator on the compressed path */
    int64_t *stack;
} forest;

/* Number the blocks depth first from block 0; returns how many there are. */
static int64_t search(int64_t n, const int64_t *succ_start, const int64_t *succs, forest *t)
{
    int64_t count = 0, depth = 0, *at = t->semi; /* next successor to visit; semi is not needed yet */
    for (int64_t b = 0; b < n; b++)
        t->number[b] = -1;
    t->number[0] = count;
    t->vertex[count++] = 0;
    t->parent[0] = 0;
    at[0] = succ_start[0];
    t->stack[depth++] = 0;
    while (depth) {
        int64_t b = t->stack[depth - 1];
        if (at[b] == succ_start[b + 1]) {
            depth--;
            continue;
        }
        int64_t s = succs[at[b]++];
        if (t->number[s] < 0) {
            t->parent[count] = t->number[b];
            t->number[s] = count;
            t->vertex[count++] = s;
            at[s] = succ_start[s];
            t->stack[depth++] = s;
        }
    }
    return count;
}

/* The number with the least semidominator on the path from v up to the last one that is `linked`. */
static int64_t least(forest *t, int64_t v, int64_t linked)
{
    if (t->parent[v] < linked)
        return t->label[v];
    int64_t depth = 0;
    do {
        t->stack[depth++] = v;
        v = t->parent[v];
    } while (t->parent[v] >= linked);
    int64_t top = v, best = t->label[v];
    do {
        v = t->stack[--depth];
        t->parent[v] = t->parent[top];
        if (t->semi[best] < t->semi[t->label[v]])
            t->label[v] = best;
        else
            best = t->label[v];
        top = v;
    } while (depth);
    return best;
}

int64_t oric_cfg_dominators(int64_t n, const int64_t *succ_start, const int64_t *succs, const int64_t *pred_start,
                            const int64_t *preds, int64_t *idom)
{
    for (int64_t b = 0; b < n; b++)
        idom[b] = -1;
    if (n == 0)
        return 0;
    int64_t *memory = malloc((size_t)n * 7 * sizeof *memory);
    if (!memory)
        return -1;
    forest t = {memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, memory + 5 * n};
    int64_t *near = memory + 6 * n; /* number -> number of the immediate dominator */
    int64_t count = search(n, succ_start, succs, &t);
    for (int64_t v = 0; v < count; v++) {
        t.semi[v] = t.label[v] = v;
        near[v] = t.parent[v];
    }
    for (int64_t v = count - 1; v > 0; v--) {
        int64_t b = t.vertex[v];
        t.semi[v] = near[v];
        for (int64_t e = pred_start[b]; e < pred_start[b + 1]; e++) {
            int64_t from = t.number[preds[e]];
            if (from < 0)
                continue;
            int64_t reached = t.semi[least(&t, from, v + 1)];
            if (reached < t.semi[v])
                t.semi[v] = reached;
        }
    }
    for (int64_t v = 1; v < count; v++) {
        while (near[v] > t.semi[v])
            near[v] = near[near[v]];
        idom[t.vertex[v]] = t.vertex[near[v]];
    }
    idom[0] = 0;
    free(memory);
    return 0;
}
