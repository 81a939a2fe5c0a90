/* List scheduling of one block after another: cycle by cycle the ready instruction with the longest way to the end of
 * the block is issued; before allocation registers are counted, and where they run short those come first that free some. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/depgraph.h"
#include "support/bitvec.h"
#include "tables/latency.h"
#include "tables/thresholds.h"

typedef struct {
    int64_t key; /* smallest first */
    int32_t node;
} heap_item;

typedef struct {
    heap_item *items;
    int32_t count;
} heap;

typedef struct {
    oric_fn *fn;
    const oric_list_options *options;
    oric_depgraph graph;
    int32_t *first_edge; /* CSR of successors: edge numbers */
    int32_t *edge_list;
    int32_t edge_room;
    int32_t *height, *waiting, *before, *uses; /* waiting: predecessors that have not issued, before: all of them */
    int64_t *ready;
    uint8_t *done, *alive;
    heap available, pending, source;
    int32_t *room; /* by place in the block: predicates that may be live behind it beside those of the original order */
    oric_node *moved;
    int32_t live[ORIC_FILES];
    int32_t limit, reached; /* of the general file in this block: registers that may be live, that were */
    int64_t pipe_free[ORIC_PIPES];
    int32_t pressured;  /* count registers */
    int32_t ordered;    /* what frees nothing comes in the original order, whose predicates are counted ahead */
    int32_t block;
} scheduler;

static int before(heap_item a, heap_item b) { return a.key < b.key || (a.key == b.key && a.node < b.node); }

static void push(heap *h, int64_t key, int32_t node) {
    int32_t i = h->count++;
    heap_item item = {key, node};
    for (; i && before(item, h->items[(i - 1) / 2]); i = (i - 1) / 2) h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = item;
}

static heap_item pop(heap *h) {
    heap_item top = h->items[0], last = h->items[--h->count];
    int32_t i = 0, child;
    while ((child = 2 * i + 1) < h->count) {
        if (child + 1 < h->count && before(h->items[child + 1], h->items[child])) child++;
        if (!before(h->items[child], last)) break;
        h->items[i] = h->items[child];
        i = child;
    }
    if (h->count) h->items[i] = last;
    return top;
}

static int allocate_scratch(scheduler *s) {
    const oric_fn *fn = s->fn;
    size_t longest = 1, units = (size_t)fn->unit_count + 1;
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->block_first[b + 1] - fn->block_first[b] > longest) longest = fn->block_first[b + 1] - fn->block_first[b];
    longest += 2;
    s->first_edge = malloc(longest * sizeof(int32_t));
    s->height = malloc(longest * sizeof(int32_t));
    s->waiting = malloc(longest * sizeof(int32_t));
    s->before = malloc(longest * sizeof(int32_t));
    s->ready = malloc(longest * sizeof(int64_t));
    s->done = malloc(longest);
    s->moved = malloc(longest * sizeof(oric_node));
    s->available.items = malloc(longest * sizeof(heap_item));
    s->pending.items = malloc(longest * sizeof(heap_item));
    s->source.items = malloc(longest * sizeof(heap_item));
    s->room = malloc(longest * sizeof(int32_t));
    s->uses = calloc(units, sizeof(int32_t));
    s->alive = calloc(units, 1);
    int ok = s->first_edge && s->height && s->waiting && s->before && s->ready && s->done && s->moved && s->available.items && s->pending.items &&
             s->source.items && s->room && s->uses && s->alive;
    return ok && !oric_depgraph_init(&s->graph, fn) ? 0 : -1;
}

static void free_scratch(scheduler *s) {
    free(s->first_edge), free(s->edge_list), free(s->height), free(s->waiting), free(s->before), free(s->ready), free(s->done), free(s->moved);
    free(s->available.items), free(s->pending.items), free(s->source.items), free(s->room), free(s->uses), free(s->alive);
    oric_depgraph_free(&s->graph);
}

/* Successor lists, longest ways to the end, numbers of predecessors. */
static int analyse(scheduler *s, int32_t count) {
    oric_depgraph *g = &s->graph;
    if (oric_depgraph_build(g, s->block)) return -1;
    if (g->edge_count > s->edge_room) {
        free(s->edge_list);
        s->edge_room = g->edge_count + g->edge_count / 2;
        s->edge_list = malloc((size_t)s->edge_room * sizeof(int32_t));
        if (!s->edge_list) return s->edge_room = 0, -1;
    }
    memset(s->first_edge, 0, ((size_t)count + 2) * sizeof(int32_t));
    memset(s->before, 0, ((size_t)count + 1) * sizeof(int32_t));
    for (int32_t e = 0; e < g->edge_count; e++) s->first_edge[g->edges[e].from + 1]++, s->before[g->edges[e].to]++;
    for (int32_t i = 0; i < count; i++) s->first_edge[i + 1] += s->first_edge[i];
    for (int32_t e = g->edge_count; e-- > 0;) s->edge_list[--s->first_edge[g->edges[e].from + 1]] = e;
    memmove(s->first_edge, s->first_edge + 1, ((size_t)count) * sizeof(int32_t));
    s->first_edge[count] = g->edge_count;
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    for (int32_t i = count; i-- > 0;) {
        const oric_class *klass = &oric_classes[s->fn->isa][nodes[i].klass];
        int32_t height = klass->stall;
        for (int32_t k = s->first_edge[i]; k < s->first_edge[i + 1]; k++) {
            const oric_edge *edge = &g->edges[s->edge_list[k]];
            int32_t way = edge->latency + s->height[edge->to];
            if (way > height) height = way;
        }
        s->height[i] = height;
    }
    return 0;
}

/* -- registers in use -- */

static void count_uses(scheduler *s, int32_t count) {
    const oric_fn *fn = s->fn;
    const oric_node *nodes = &fn->nodes[fn->block_first[s->block]];
    memset(s->live, 0, sizeof s->live);
    const uint64_t *in = fn->live_in + (size_t)s->block * fn->words, *out = fn->live_out + (size_t)s->block * fn->words;
    uint32_t n = (uint32_t)fn->global_count;
    for (int32_t i = 0; i < count; i++) {
        const oric_access *a = &fn->accesses[nodes[i].access], *end = a + nodes[i].access_count;
        for (; a < end; a++)
            for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
                s->alive[u] = 0;
                if (a->flags & ORIC_A_DEF) continue;
                s->uses[u]++;
            }
    }
    for (uint32_t g = oric_bv_next(in, n, 0); g < n; g = oric_bv_next(in, n, g + 1)) {
        s->alive[fn->unit_of[g]] = 1;
        s->live[fn->unit_file[fn->unit_of[g]]]++;
    }
    /* what leaves the block is used once more, behind its end */
    for (uint32_t g = oric_bv_next(out, n, 0); g < n; g = oric_bv_next(out, n, g + 1)) s->uses[fn->unit_of[g]]++;
}

static void forget_uses(scheduler *s) {
    const oric_fn *fn = s->fn;
    const uint64_t *out = fn->live_out + (size_t)s->block * fn->words;
    uint32_t n = (uint32_t)fn->global_count;
    for (uint32_t g = oric_bv_next(out, n, 0); g < n; g = oric_bv_next(out, n, g + 1)) s->uses[fn->unit_of[g]] = 0;
}

/* Change of the number of live registers per file when the instruction issues now; with `apply` it does. A unit that
 * is read more than once here, or written several times in the block, is only counted roughly. */
static void pressure_change(scheduler *s, const oric_node *node, int32_t *change, int apply) {
    const oric_fn *fn = s->fn;
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    memset(change, 0, ORIC_FILES * sizeof *change);
    for (const oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++) {
            if (s->uses[u] == 1 && s->alive[u]) {
                change[fn->unit_file[u]]--;
                if (apply) s->alive[u] = 0;
            }
            if (apply) s->uses[u]--;
        }
    for (const oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; p->flags & ORIC_A_DEF && u < p->unit + p->count; u++)
            if (!s->alive[u] && s->uses[u] > 0) {
                change[fn->unit_file[u]]++;
                if (apply) s->alive[u] = 1;
            }
    for (int f = 0; apply && f < ORIC_FILES; f++) s->live[f] += change[f];
}

/* The place that the original order has come to: everything in front of it is issued, and so it is ready. */
static int32_t head(scheduler *s) {
    while (s->source.count && s->done[s->source.items[0].node]) pop(&s->source);
    return s->source.count ? s->source.items[0].node : INT32_MAX;
}

/* How much room the original order leaves for predicates, place by place. */
static void count_room(scheduler *s, int32_t count) {
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    int32_t change[ORIC_FILES];
    for (int32_t i = 0; i < count; i++) {
        pressure_change(s, &nodes[i], change, 1);
        s->room[i] = s->options->limit[ORIC_FILE_P] - s->live[ORIC_FILE_P];
    }
    forget_uses(s);
    count_uses(s, count);
}

/* Whether predicates that a node makes before its turn fit beside those that the original order has until then. */
static int has_room(scheduler *s, int32_t node, int32_t more) {
    for (int32_t i = head(s); i < node; i++)
        if (s->room[i] < more) return 0;
    return 1;
}

/* Files of which more registers would be live than may be, as bits. */
static uint32_t exceeds(scheduler *s, int32_t node, const int32_t *change) {
    uint32_t files = 0;
    for (int f = 0; f < ORIC_FILES; f++) {
        int32_t limit = f == ORIC_FILE_R ? s->limit : s->options->limit[f];
        if (change[f] > 0 && s->live[f] + change[f] > limit) files |= 1u << f;
    }
    if (change[ORIC_FILE_P] > 0 && s->ordered && !has_room(s, node, change[ORIC_FILE_P])) files |= 1u << ORIC_FILE_P;
    return files;
}

/* -- choice -- */

static int64_t priority(const scheduler *s, int32_t node) { return -(int64_t)s->height[node]; }

static void release(scheduler *s, int64_t cycle) {
    while (s->pending.count && s->pending.items[0].key <= cycle) {
        int32_t node = pop(&s->pending).node;
        if (!s->done[node]) push(&s->available, priority(s, node), node);
    }
}

/* The best available instruction whose pipe is free, else the best one. */
static int32_t choose_fast(scheduler *s, int64_t cycle) {
    heap_item aside[ORIC_LIST_LOOK];
    int32_t taken = 0, found = -1;
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    while (s->available.count && taken < ORIC_LIST_LOOK && found < 0) {
        heap_item item = pop(&s->available);
        if (s->done[item.node]) continue;
        if (s->pipe_free[oric_classes[s->fn->isa][nodes[item.node].klass].pipe] <= cycle) found = item.node;
        else aside[taken++] = item;
    }
    if (found < 0 && taken) found = aside[0].node;
    for (int32_t i = 0; i < taken; i++)
        if (aside[i].node != found) push(&s->available, aside[i].key, aside[i].node);
    return found;
}

static void scan(scheduler *s, const heap *h, const oric_node *nodes, uint32_t files, int32_t *best, int32_t *best_change) {
    static const int32_t weight[ORIC_FILES] = {[ORIC_FILE_R] = 1, [ORIC_FILE_P] = ORIC_LIST_PREDICATE_WEIGHT, [ORIC_FILE_UR] = 1};
    int32_t change[ORIC_FILES];
    for (int32_t i = 0; i < h->count && i < ORIC_LIST_SCAN; i++) {
        int32_t node = h->items[i].node;
        if (s->done[node]) continue;
        pressure_change(s, &nodes[node], change, 0);
        if (exceeds(s, node, change)) continue;
        int32_t total = 0;
        for (int f = 0; f < ORIC_FILES; f++) total += files >> f & 1 ? change[f] * weight[f] : 0;
        if (*best < 0 || total < *best_change || (total == *best_change && node < *best)) *best = node, *best_change = total;
    }
}

/* What can issue while the next one of the original order waits: of those that take no predicate the one with the longest way to the
 * end; -1 without one. */
static int32_t choose_meanwhile(scheduler *s) {
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    int32_t best = -1, change[ORIC_FILES];
    for (int32_t i = 0; i < s->available.count && i < ORIC_LIST_SCAN; i++) {
        int32_t node = s->available.items[i].node;
        if (s->done[node] || (best >= 0 && s->height[node] <= s->height[best])) continue;
        pressure_change(s, &nodes[node], change, 0);
        if (change[ORIC_FILE_P] <= 0 && !exceeds(s, node, change)) best = node;
    }
    return best;
}

/* Registers of some files are short: whatever frees some of these, else the next one of the original order, whose demand is
 * known, or what the next reader waits for. A sum behind a load that frees other ones would only wait for it. Where predicates alone
 * are short, that one is not waited for long: a store that ends a chain, in front of loads whose guards are made already. */
static int32_t choose_frugal(scheduler *s, uint32_t files, int64_t cycle) {
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    int32_t best = -1, change = 0;
    scan(s, &s->available, nodes, files, &best, &change);
    scan(s, &s->pending, nodes, files, &best, &change);
    if (best >= 0 && change < 0) return best;
    int32_t next = head(s);
    if (next == INT32_MAX) return best;
    int32_t other = files == 1u << ORIC_FILE_P && s->ready[next] > cycle + ORIC_LIST_WAIT ? choose_meanwhile(s) : -1;
    return other >= 0 ? other : next;
}

static int32_t choose(scheduler *s, int64_t cycle) {
    int32_t change[ORIC_FILES], node = choose_fast(s, cycle);
    if (node < 0 || !s->pressured) return node;
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    pressure_change(s, &nodes[node], change, 0);
    uint32_t files = exceeds(s, node, change);
    if (!files) return node;
    push(&s->available, priority(s, node), node);
    return choose_frugal(s, s->options->by_use ? UINT32_MAX : files, cycle);
}

/* Position of the first instruction that depends on the node. */
static int32_t first_use(const scheduler *s, int32_t node) {
    int32_t first = INT32_MAX;
    for (int32_t k = s->first_edge[node]; k < s->first_edge[node + 1]; k++) {
        const oric_edge *edge = &s->graph.edges[s->edge_list[k]];
        if (edge->kind == ORIC_E_READ && (int32_t)edge->to < first) first = (int32_t)edge->to;
    }
    return first;
}

static void make_ready(scheduler *s, int32_t node) {
    push(&s->pending, s->ready[node], node);
    if (s->pressured) push(&s->source, s->options->by_use ? first_use(s, node) : node, node);
}

static int64_t issue(scheduler *s, int32_t node, int64_t cycle) {
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    const oric_class *klass = &oric_classes[s->fn->isa][nodes[node].klass];
    int32_t change[ORIC_FILES];
    if (s->ready[node] > cycle) cycle = s->ready[node];
    if (s->pipe_free[klass->pipe] > cycle) cycle = s->pipe_free[klass->pipe];
    s->done[node] = 1;
    s->pipe_free[klass->pipe] = cycle + klass->spacing;
    int32_t turn = s->ordered ? head(s) : node;
    if (s->pressured) pressure_change(s, &nodes[node], change, 1);
    if (s->live[ORIC_FILE_R] > s->reached) s->reached = s->live[ORIC_FILE_R];
    for (int32_t i = turn; i < node && change[ORIC_FILE_P]; i++) s->room[i] -= change[ORIC_FILE_P];
    for (int32_t k = s->first_edge[node]; k < s->first_edge[node + 1]; k++) {
        const oric_edge *edge = &s->graph.edges[s->edge_list[k]];
        if (cycle + edge->latency > s->ready[edge->to]) s->ready[edge->to] = cycle + edge->latency;
        if (--s->waiting[edge->to] == 0) make_ready(s, (int32_t)edge->to);
    }
    return cycle + klass->stall;
}

/* The order of a block that is analysed, into `moved`; returns its cycles. limit: registers of the general file. */
static int64_t order_block(scheduler *s, int32_t count, int32_t limit) {
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    int64_t cycle = 0;
    s->available.count = s->pending.count = s->source.count = 0;
    s->limit = s->options->most && s->options->most[s->block] < limit ? s->options->most[s->block] : limit;
    memcpy(s->waiting, s->before, (size_t)count * sizeof(int32_t));
    memset(s->done, 0, (size_t)count);
    memset(s->ready, 0, (size_t)count * sizeof(int64_t));
    memset(s->pipe_free, 0, sizeof s->pipe_free);
    if (s->pressured) count_uses(s, count);
    s->reached = s->live[ORIC_FILE_R];
    if (s->ordered) count_room(s, count);
    for (int32_t i = 0; i < count; i++)
        if (!s->waiting[i]) make_ready(s, i);
    for (int32_t placed = 0; placed < count; placed++) {
        release(s, cycle);
        int32_t node = choose(s, cycle);
        if (node < 0) { /* nothing is ready: go on to when something is */
            while (s->pending.count && s->done[s->pending.items[0].node]) pop(&s->pending);
            cycle = s->pending.items[0].key;
            placed--;
            continue;
        }
        cycle = issue(s, node, cycle);
        s->moved[placed] = nodes[node];
    }
    if (s->pressured) forget_uses(s);
    return cycle;
}

static int64_t schedule_block(scheduler *s, int32_t count) {
    if (analyse(s, count)) return -1;
    int64_t cycles = order_block(s, count, s->options->limit[ORIC_FILE_R]);
    memcpy(&s->fn->nodes[s->fn->block_first[s->block]], s->moved, (size_t)count * sizeof *s->moved);
    return cycles;
}

static int prepare(scheduler *s) {
    for (int f = 0; f < ORIC_FILES; f++) s->pressured |= s->options->limit[f] < INT32_MAX;
    s->ordered = s->options->careful && !s->options->by_use && s->pressured;
    if (s->pressured && !s->fn->live_in) return -1;
    return allocate_scratch(s);
}

static int32_t length(const scheduler *s) { return (int32_t)(s->fn->block_first[s->block + 1] - s->fn->block_first[s->block]); }

int64_t oric_list_schedule(oric_fn *fn, const oric_list_options *options) {
    scheduler s = {.fn = fn, .options = options};
    int64_t total = prepare(&s);
    for (s.block = 0; total >= 0 && s.block < fn->block_count; s.block++) {
        int32_t count = length(&s);
        int64_t cycles = count ? schedule_block(&s, count) : 0;
        total = cycles < 0 ? -1 : total + cycles;
    }
    free_scratch(&s);
    return total;
}

/* A limit that an order has stayed below would not change it: so the largest comes first. */
static int32_t measure_block(scheduler *s, const int32_t *limits, int32_t limit_count, int64_t often, int64_t *spent, int32_t *reached) {
    int32_t count = length(s);
    int64_t cycles = 0;
    if (!count) return 0;
    if (analyse(s, count)) return -1;
    for (int32_t k = limit_count; k-- > 0;) {
        if (k + 1 == limit_count || s->reached > limits[k]) cycles = order_block(s, count, limits[k]);
        spent[k] += often * cycles;
        if (s->reached > reached[k]) reached[k] = s->reached;
    }
    return 0;
}

int32_t oric_list_measure(oric_fn *fn, const oric_list_options *options, const int32_t *limits, int32_t count, const int64_t *often,
                          int64_t *spent, int32_t *reached) {
    scheduler s = {.fn = fn, .options = options};
    int32_t failed = prepare(&s);
    memset(spent, 0, (size_t)count * sizeof *spent);
    memset(reached, 0, (size_t)count * sizeof *reached);
    for (s.block = 0; !failed && s.block < fn->block_count; s.block++)
        failed = measure_block(&s, limits, count, often[s.block], spent, reached);
    free_scratch(&s);
    return failed;
}
