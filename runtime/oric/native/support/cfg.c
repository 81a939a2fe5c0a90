#include "support/cfg.h"

#include <stdlib.h>
#include <string.h>

int64_t oric_cfg_rpo(int64_t n, const int64_t *succ_start, const int64_t *succs, int64_t *order, int64_t *number)
{
    for (int64_t b = 0; b < n; b++)
        number[b] = -1;
    if (n == 0)
        return 0;
    int64_t *stack = malloc((size_t)n * sizeof *stack);
    int64_t *at = malloc((size_t)n * sizeof *at); /* next successor to visit */
    if (!stack || !at) {
        free(stack);
        free(at);
        return -1;
    }
    int64_t depth = 0, place = n;
    stack[depth++] = 0;
    at[0] = succ_start[0];
    number[0] = -2; /* seen */
    while (depth) {
        int64_t b = stack[depth - 1];
        if (at[b] < succ_start[b + 1]) {
            int64_t s = succs[at[b]++];
            if (number[s] == -1) {
                number[s] = -2;
                at[s] = succ_start[s];
                stack[depth++] = s;
            }
        } else {
            depth--;
            order[--place] = b;
        }
    }
    int64_t reachable = n - place;
    memmove(order, order + place, (size_t)reachable * sizeof *order);
    for (int64_t i = 0; i < reachable; i++)
        number[order[i]] = i;
    free(stack);
    free(at);
    return reachable;
}

void oric_cfg_preds(int64_t n, const int64_t *succ_start, const int64_t *succs, int64_t *pred_start, int64_t *preds)
{
    memset(pred_start, 0, (size_t)(n + 1) * sizeof *pred_start);
    int64_t edges = n ? succ_start[n] : 0;
    for (int64_t e = 0; e < edges; e++)
        pred_start[succs[e] + 1]++;
    for (int64_t b = 0; b < n; b++)
        pred_start[b + 1] += pred_start[b];
    for (int64_t b = 0; b < n; b++)
        for (int64_t e = succ_start[b]; e < succ_start[b + 1]; e++)
            preds[pred_start[succs[e]]++] = b;
    for (int64_t b = n; b > 0; b--)
        pred_start[b] = pred_start[b - 1];
    pred_start[0] = 0;
}

/* The graph with every edge turned around; node n is the virtual exit, from which the new edges start. */
static void reverse_graph(int64_t n, const int64_t *succ_start, const int64_t *succs, const int64_t *exits, int64_t *start, int64_t *to)
{
    int64_t place = 0;
    oric_cfg_preds(n, succ_start, succs, start, to);
    place = start[n];
    for (int64_t b = 0; b < n; b++)
        if (exits[b])
            to[place++] = b;
    start[n + 1] = place;
}

int64_t oric_cfg_postdominators(int64_t n, const int64_t *succ_start, const int64_t *succs, const int64_t *exits, int64_t *ipdom)
{
    size_t nodes = (size_t)n + 1, edges = (size_t)(n ? succ_start[n] : 0) + (size_t)n;
    int64_t *memory = malloc((nodes * 4 + 3 + edges * 3) * sizeof *memory);
    if (!memory)
        return -1;
    int64_t *start = memory, *swapped_start = start + nodes + 1, *back_start = swapped_start + nodes + 1, *idom = back_start + nodes + 1;
    int64_t *to = idom + nodes, *swapped = to + edges, *back = swapped + edges, place = 0;
    reverse_graph(n, succ_start, succs, exits, start, to);
    /* depth first search starts at node 0: swap the names of 0 and n */
    for (int64_t v = 0; v <= n; v++) {
        int64_t old = v == 0 ? n : v == n ? 0 : v;
        swapped_start[v] = place;
        for (int64_t e = start[old]; e < start[old + 1]; e++)
            swapped[place++] = to[e] == 0 ? n : to[e];
    }
    swapped_start[n + 1] = place;
    oric_cfg_preds(n + 1, swapped_start, swapped, back_start, back);
    int64_t failed = oric_cfg_dominators(n + 1, swapped_start, swapped, back_start, back, idom);
    for (int64_t b = 0; !failed && b < n; b++) {
        int64_t up = idom[b == 0 ? n : b];
        ipdom[b] = up < 0 ? -1 : up == 0 ? n : up == n ? 0 : up;
    }
    free(memory);
    return failed;
}

int64_t oric_cfg_intervals(int64_t n, const int64_t *parent, int64_t *first, int64_t *last)
{
    /* child lists: head of each parent, sibling links; roots hang below entry n */
    int64_t *head = malloc(((size_t)n * 3 + 2) * sizeof *head);
    if (!head)
        return -1;
    int64_t *sibling = head + n + 1, *stack = sibling + n;
    for (int64_t b = 0; b <= n; b++)
        head[b] = -1;
    for (int64_t b = n - 1; b >= 0; b--) {
        first[b] = 0;
        last[b] = -1;
        if (parent[b] == -1)
            continue;
        int64_t up = parent[b] == b || parent[b] < 0 || parent[b] >= n ? n : parent[b];
        sibling[b] = head[up];
        head[up] = b;
    }
    int64_t depth = 0, clock = 0;
    for (int64_t root = head[n]; root >= 0; root = sibling[root]) {
        stack[depth++] = root;
        first[root] = clock++;
        while (depth) {
            int64_t b = stack[depth - 1], child = head[b];
            if (child >= 0) {
                head[b] = sibling[child];
                first[child] = clock++;
                stack[depth++] = child;
            } else {
                last[b] = clock - 1;
                depth--;
            }
        }
    }
    free(head);
    return 0;
}

static int dominates(const int64_t *first, const int64_t *last, int64_t a, int64_t b)
{
    return first[a] <= first[b] && last[b] <= last[a];
}

/* Mark back edges; returns whether there are any. is_header[b] becomes 1 for targets of back edges. */
static int mark_back_edges(int64_t n, const int64_t *number, const int64_t *succ_start, const int64_t *succs, const int64_t *first,
                           const int64_t *last, int64_t *back, uint8_t *is_header)
{
    int found = 0;
    for (int64_t b = 0; b < n; b++)
        for (int64_t e = succ_start[b]; e < succ_start[b + 1]; e++) {
            back[e] = 0;
            if (number[b] < 0 || number[succs[e]] > number[b])
                continue;
            back[e] = dominates(first, last, succs[e], b) ? 1 : 2;
            if (back[e] == 1)
                is_header[succs[e]] = found = 1;
        }
    return found;
}

/* Give every block of the loop of `h` that has no loop yet this one; loops found earlier are inner ones and are skipped over. */
static void fill_loop(int64_t h, const int64_t *number, const int64_t *pred_start, const int64_t *preds, const int64_t *first,
                      const int64_t *last, int64_t *header, int64_t *outer, int64_t *stack)
{
    int64_t depth = 0;
    for (int64_t e = pred_start[h]; e < pred_start[h + 1]; e++)
        if (number[preds[e]] >= 0 && dominates(first, last, h, preds[e]))
            stack[depth++] = preds[e];
    header[h] = h;
    while (depth) {
        int64_t b = stack[--depth];
        if (b == h)
            continue;
        if (header[b] < 0) {
            header[b] = h;
        } else { /* climb to the outermost loop known so far */
            int64_t loop = header[b];
            while (outer[loop] >= 0 && loop != h)
                loop = outer[loop];
            if (loop == h)
                continue;
            outer[loop] = h;
            b = loop;
        }
        for (int64_t e = pred_start[b]; e < pred_start[b + 1]; e++)
            if (number[preds[e]] >= 0 && header[preds[e]] != h)
                stack[depth++] = preds[e];
    }
}

int64_t oric_cfg_loops(int64_t n, int64_t reachable, const int64_t *order, const int64_t *number, const int64_t *succ_start,
                       const int64_t *succs, const int64_t *pred_start, const int64_t *preds, const int64_t *first,
                       const int64_t *last, int64_t *back, int64_t *header, int64_t *outer, int64_t *depth,
                       int64_t *irreducible)
{
    for (int64_t b = 0; b < n; b++) {
        header[b] = outer[b] = -1;
        depth[b] = 0;
    }
    size_t edges = n ? (size_t)succ_start[n] : 0;
    uint8_t *is_header = calloc((size_t)n + 1, 1);
    int64_t *stack = malloc((2 * edges + 1) * sizeof *stack);
    if (!is_header || !stack) {
        free(is_header);
        free(stack);
        return -1;
    }
    int64_t loops = 0;
    *irreducible = 0;
    if (mark_back_edges(n, number, succ_start, succs, first, last, back, is_header))
        for (int64_t i = reachable - 1; i >= 0; i--)
            if (is_header[order[i]]) {
                loops++;
                fill_loop(order[i], number, pred_start, preds, first, last, header, outer, stack);
            }
    for (int64_t i = 0; loops && i < reachable; i++) {
        int64_t b = order[i], h = header[b];
        if (h >= 0)
            depth[b] = b == h ? (outer[b] >= 0 ? depth[outer[b]] : 0) + 1 : depth[h];
    }
    for (size_t e = 0; e < edges; e++)
        if (back[e] == 2)
            *irreducible = 1;
    free(is_header);
    free(stack);
    return loops;
}
