/* Orders with few live registers, for blocks in which too many are live: from the end of a block back, of what may come last that
 * which leaves the fewest live in front of it. So values are made right in front of their readers. */
#include <stdlib.h>
#include <string.h>

#include "function/liveset.h"
#include "sched/depgraph.h"
#include "tables/knobs.h"

enum { FIRST = 1 << 20 };             /* more registers than there are */
enum { BY_USE = 1, SINKS_FIRST = 2, WAITS_FIRST = 4 }; /* ways to an order */

typedef struct {
    oric_fn *fn;
    const int32_t *fixed; /* by unit, 0 or more: it has a register of its own; NULL: none has */
    oric_depgraph graph;
    oric_liveset live;
    int32_t *first_edge, *from; /* by node, the nodes that come before it */
    int32_t edge_room;
    int32_t *waiting; /* by node, the nodes behind it that have no place yet */
    int32_t *since;   /* by node, when it could be placed */
    int32_t *ready;
    int32_t *order[2]; /* place -> node: the best so far, and the one under way */
    int32_t *seen;     /* unit -> the look at a node at which it was counted */
    int32_t look;
    int32_t limit;  /* of the block */
    int64_t beyond; /* live registers over the limit, counted in front of every node that is placed */
    oric_node *moved;
} lean;

static int allocate_scratch(lean *l) {
    const oric_fn *fn = l->fn;
    size_t longest = 1, units = (size_t)fn->unit_count + 1;
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->block_first[b + 1] - fn->block_first[b] > longest) longest = fn->block_first[b + 1] - fn->block_first[b];
    longest += 2;
    l->first_edge = malloc(longest * sizeof(int32_t)), l->waiting = malloc(longest * sizeof(int32_t));
    l->since = malloc(longest * sizeof(int32_t)), l->ready = malloc(longest * sizeof(int32_t));
    l->order[0] = malloc(longest * sizeof(int32_t)), l->order[1] = malloc(longest * sizeof(int32_t));
    l->moved = malloc(longest * sizeof(oric_node)), l->seen = calloc(units, sizeof(int32_t));
    if (!l->first_edge || !l->waiting || !l->since || !l->ready || !l->order[0] || !l->order[1] || !l->moved || !l->seen) return -1;
    if (oric_liveset_init(&l->live, fn)) return memset(&l->live, 0, sizeof l->live), -1;
    return oric_depgraph_init(&l->graph, fn);
}

static void free_scratch(lean *l) {
    free(l->first_edge), free(l->from), free(l->waiting), free(l->since), free(l->ready);
    free(l->order[0]), free(l->order[1]), free(l->moved), free(l->seen);
    oric_liveset_free(&l->live);
    oric_depgraph_free(&l->graph);
}

static int analyse(lean *l, int32_t block, int32_t count) {
    oric_depgraph *g = &l->graph;
    if (oric_depgraph_build(g, block)) return -1;
    if (g->edge_count > l->edge_room) {
        free(l->from);
        l->edge_room = g->edge_count + g->edge_count / 2;
        l->from = malloc((size_t)l->edge_room * sizeof(int32_t));
        if (!l->from) return l->edge_room = 0, -1;
    }
    memset(l->first_edge, 0, ((size_t)count + 2) * sizeof(int32_t));
    for (int32_t e = 0; e < g->edge_count; e++) l->first_edge[g->edges[e].to + 1]++;
    for (int32_t i = 0; i < count; i++) l->first_edge[i + 1] += l->first_edge[i];
    for (int32_t e = g->edge_count; e-- > 0;) l->from[--l->first_edge[g->edges[e].to + 1]] = (int32_t)g->edges[e].from;
    memmove(l->first_edge, l->first_edge + 1, (size_t)count * sizeof(int32_t));
    l->first_edge[count] = g->edge_count;
    return 0;
}

/* Place a node in front of what is placed; the largest number of general registers there. */
static int32_t place(lean *l, const oric_node *node, int32_t peak) {
    if (!(node->flags & ORIC_I_DRAIN)) oric_liveset_define(&l->live, l->fn, node);
    if (l->live.count[ORIC_FILE_R] > peak) peak = l->live.count[ORIC_FILE_R];
    oric_liveset_step(&l->live, l->fn, node);
    if (l->live.count[ORIC_FILE_R] > l->limit) l->beyond += l->live.count[ORIC_FILE_R] - l->limit;
    return l->live.count[ORIC_FILE_R] > peak ? l->live.count[ORIC_FILE_R] : peak;
}

static int32_t weight(const lean *l, uint32_t unit) {
    uint8_t file = l->fn->unit_file[unit];
    return file == ORIC_FILE_P ? (int32_t)l->fn->knobs[ORIC_KNOB_LEAN_PREDICATE_WEIGHT] : file == ORIC_FILE_R || file == ORIC_FILE_UR;
}

/* How many more registers are live in front of a node than behind it. A copy of what a fixed register holds comes first: others may
 * have that register then, and no more are live. */
static int32_t change(lean *l, const oric_node *node) {
    const oric_access *a = &l->fn->accesses[node->access], *end = a + node->access_count;
    int32_t total = 0;
    if (l->fixed && node->flags & ORIC_I_COPY && l->fixed[a[1].unit] >= 0 && l->fixed[a[0].unit] < 0) return FIRST;
    l->look++;
    for (const oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++) {
            if (l->seen[u] == l->look) continue;
            l->seen[u] = l->look;
            if (l->live.place[u] < 0) total += weight(l, u);
        }
    for (const oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; p->flags & ORIC_A_KILL && u < p->unit + p->count; u++)
            if (l->live.place[u] >= 0 && l->seen[u] != l->look) total -= weight(l, u);
    return total;
}

/* Whether a node makes no register: it is there for what it does. */
static int is_sink(const lean *l, const oric_node *node) {
    const oric_access *a = &l->fn->accesses[node->access], *end = a + node->access_count;
    for (; a < end; a++)
        if (a->flags & ORIC_A_DEF) return 0;
    return 1;
}

/* An order of a block, from its end; of those alike what is read soonest comes first (BY_USE), or what stood last. With SINKS_FIRST
 * what makes no register counts as if it took none: loads wait for stores and barriers behind them, whose operands make more live.
 * With WAITS_FIRST what names no register at all comes last of all that may. Gives the largest number of registers. */
static int32_t find_order(lean *l, int32_t block, int32_t count, int32_t *order, int way) {
    const oric_node *nodes = &l->fn->nodes[l->fn->block_first[block]];
    int32_t ready = 0, peak;
    memset(l->waiting, 0, ((size_t)count + 1) * sizeof(int32_t));
    for (int32_t e = 0; e < l->first_edge[count]; e++) l->waiting[l->from[e]]++;
    for (int32_t i = 0; i < count; i++)
        if (!l->waiting[i]) l->since[i] = 0, l->ready[ready++] = i;
    oric_liveset_enter(&l->live, l->fn, block);
    peak = l->live.count[ORIC_FILE_R], l->beyond = 0;
    for (int32_t at = count; at-- > 0;) {
        int32_t best = 0, least = 0;
        for (int32_t k = 0; k < ready; k++) {
            int32_t node = l->ready[k], other = l->ready[best], more = change(l, &nodes[node]);
            if (way & SINKS_FIRST && more > 0 && more < FIRST && is_sink(l, &nodes[node])) more = 0;
            if (way & WAITS_FIRST && !nodes[node].access_count) more = -1;
            int later = way & BY_USE && l->since[node] != l->since[other] ? l->since[node] > l->since[other] : node > other;
            if (!k || more < least || (more == least && later)) best = k, least = more;
        }
        int32_t node = l->ready[best];
        l->ready[best] = l->ready[--ready];
        order[at] = node;
        peak = place(l, &nodes[node], peak);
        for (int32_t e = l->first_edge[node]; e < l->first_edge[node + 1]; e++)
            if (!--l->waiting[l->from[e]]) l->since[l->from[e]] = count - at, l->ready[ready++] = l->from[e];
    }
    return peak;
}

static int32_t peak_of(lean *l, int32_t block, int32_t count) {
    oric_liveset_enter(&l->live, l->fn, block);
    int32_t peak = l->live.count[ORIC_FILE_R];
    l->beyond = 0;
    for (int32_t i = count; i-- > 0;) peak = place(l, &l->fn->nodes[l->fn->block_first[block] + (uint32_t)i], peak);
    return peak;
}

/* Keep the order that was found last. */
static void keep(lean *l) {
    int32_t *swap = l->order[0];
    l->order[0] = l->order[1], l->order[1] = swap;
}

/* 1 when a block has got another order, -1 without memory. Where too many are live at its end no order has fewer at once, but one may
 * have them for a shorter time: others wait in memory meanwhile. */
static int order_block(lean *l, int32_t block, int32_t limit) {
    oric_node *nodes = &l->fn->nodes[l->fn->block_first[block]];
    int32_t count = (int32_t)(l->fn->block_first[block + 1] - l->fn->block_first[block]), found = 0;
    l->limit = limit;
    int32_t peak = peak_of(l, block, count);
    int64_t beyond = l->beyond;
    if (peak <= limit) return 0;
    if (analyse(l, block, count)) return -1;
    for (int way = 0; way <= (BY_USE | SINKS_FIRST); way++) {
        int32_t most = find_order(l, block, count, l->order[1], way);
        if (most < peak) keep(l), peak = most, found = 1;
    }
    oric_liveset_enter(&l->live, l->fn, block);
    int crowded = !found && l->live.count[ORIC_FILE_R] > limit;
    for (int way = 0; crowded && way <= (BY_USE | SINKS_FIRST | WAITS_FIRST); way++) {
        int32_t most = find_order(l, block, count, l->order[1], way);
        if (most <= peak && l->beyond < beyond) keep(l), beyond = l->beyond, found = 1;
    }
    for (int32_t i = 0; found && i < count; i++) l->moved[i] = nodes[l->order[0][i]];
    if (found) memcpy(nodes, l->moved, (size_t)count * sizeof *nodes);
    return found;
}

int32_t oric_lean_order(oric_fn *fn, int32_t limit, const int32_t *most, const int32_t *fixed) {
    lean l = {.fn = fn, .fixed = fixed};
    int32_t changed = 0;
    if (!fn->live_in) return -1;
    if (allocate_scratch(&l)) changed = -1;
    for (int32_t b = 0; changed >= 0 && b < fn->block_count; b++) {
        int found = order_block(&l, b, most ? most[b] : limit);
        changed = found < 0 ? -1 : changed + found;
    }
    free_scratch(&l);
    return changed;
}
