/* List scheduling of one block after another: cycle by cycle the ready instruction with the longest way to the end of
 * the block is issued; before allocation registers are counted, and where they run short those come first that free some. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/depgraph.h"
#include "support/bitvec.h"
#include "tables/latency.h"
#include "tables/knobs.h"

/* Smallest first: a key in front of the node's place in the block, in one number. */
typedef int64_t heap_item;

enum { NODE_BITS = 28, NODE_MASK = (1 << NODE_BITS) - 1 };

typedef struct {
    heap_item *items;
    int32_t count;
} heap;

/* A unit that an instruction reads or writes, with its file in the low bits. */
typedef uint32_t unit_ref;

enum { FILE_BITS = 3, FILE_MASK = (1 << FILE_BITS) - 1, LIVE = 1, USE = 2 };

typedef struct {
    uint32_t first_read, first_write; /* in `refs`; the writes end where the next one's reads begin */
} demand;

/* What is known of a unit in front of an instruction. */
typedef struct {
    int32_t state;  /* LIVE, and a USE for each read to come; what leaves the block is used once more, behind its end */
    uint32_t users; /* the sum of the places of these, and so the place of the last one */
} unit_facts;

typedef struct {
    oric_fn *fn;
    const oric_list_options *options;
    oric_depgraph graph;
    int32_t *first_edge; /* CSR of successors: edge numbers */
    int32_t *edge_list;
    int32_t edge_room;
    int32_t *height, *waiting, *before; /* waiting: predecessors that have not issued, before: all of them */
    int64_t *ready;
    uint8_t *done;
    heap available, pending, source; /* source: of what is ready in the order of the next use; where that is the original order, `next` */
    int32_t next;                    /* everything in front of it is issued */
    int32_t count;                   /* instructions of the block */
    unit_ref *refs;                  /* of the block, one instruction's behind the other's */
    uint32_t ref_room;
    demand *demands;
    unit_facts *facts, *at_entry;    /* by unit; of those that the block names, in front of it */
    int32_t *seen;                   /* by unit: the last block that names it, and 1 */
    int32_t *touched, touched_count; /* units that the block names */
    int32_t weight[ORIC_FILES];      /* how many general registers one of a file counts as */
    int32_t *frees;                  /* by place: the most that it frees now, in units by their weight */
    int32_t *room; /* by place in the block: predicates that may be live behind it beside those of the original order */
    oric_node *moved;
    int32_t live[ORIC_FILES], live_in[ORIC_FILES];
    int32_t limit[ORIC_FILES]; /* registers that may be live in this block */
    int32_t reached;           /* of the general file: registers that were */
    int64_t pipe_free[ORIC_PIPES];
    int32_t pressured;  /* count registers */
    int32_t ordered;    /* what frees nothing comes in the original order, whose predicates are counted ahead */
    int32_t block;
} scheduler;

static heap_item item_of(int64_t key, int32_t node) { return key * ((int64_t)1 << NODE_BITS) + node; }

static int32_t node_of(heap_item item) { return (int32_t)(item & NODE_MASK); }

static int64_t key_of(heap_item item) { return (item - node_of(item)) / ((int64_t)1 << NODE_BITS); }

static void push(heap *h, heap_item item) {
    int32_t i = h->count++;
    for (; i && item < h->items[(i - 1) / 2]; i = (i - 1) / 2) h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = item;
}

static heap_item pop(heap *h) {
    heap_item *items = h->items, top = items[0], last = items[--h->count];
    int32_t i = 0, child, count = h->count;
    items[count] = INT64_MAX; /* the sibling that the last child may lack */
    while ((child = 2 * i + 1) < count) {
        child += items[child + 1] < items[child];
        if (items[child] >= last) break;
        items[i] = items[child];
        i = child;
    }
    if (count) items[i] = last;
    return top;
}

static int allocate_scratch(scheduler *s) {
    const oric_fn *fn = s->fn;
    size_t longest = 1, units = (size_t)fn->unit_count + 1;
    s->weight[ORIC_FILE_R] = s->weight[ORIC_FILE_UR] = 1;
    s->weight[ORIC_FILE_P] = (int32_t)fn->knobs[ORIC_KNOB_LIST_PREDICATE_WEIGHT];
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->block_first[b + 1] - fn->block_first[b] > longest) longest = fn->block_first[b + 1] - fn->block_first[b];
    longest += 2;
    if (longest > NODE_MASK) return -1;
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
    s->demands = malloc(longest * sizeof(demand));
    s->frees = malloc(longest * sizeof(int32_t));
    s->facts = malloc(units * sizeof(unit_facts));
    s->at_entry = malloc(units * sizeof(unit_facts));
    s->seen = calloc(units, sizeof(int32_t));
    s->touched = malloc(units * sizeof(int32_t));
    int ok = s->first_edge && s->height && s->waiting && s->before && s->ready && s->done && s->moved && s->available.items && s->pending.items &&
             s->source.items && s->room && s->demands && s->frees && s->facts && s->at_entry && s->seen && s->touched;
    return ok && !oric_depgraph_init(&s->graph, fn) ? 0 : -1;
}

static void free_scratch(scheduler *s) {
    free(s->first_edge), free(s->edge_list), free(s->height), free(s->waiting), free(s->before), free(s->ready), free(s->done), free(s->moved);
    free(s->available.items), free(s->pending.items), free(s->source.items), free(s->room), free(s->refs), free(s->demands);
    free(s->frees), free(s->facts), free(s->at_entry), free(s->seen), free(s->touched);
    oric_depgraph_free(&s->graph);
}

/* -- registers in use -- */

static int make_room_for_refs(scheduler *s, const oric_node *nodes, int32_t count) {
    const oric_fn *fn = s->fn;
    uint32_t total = 0;
    for (int32_t i = 0; i < count; i++) {
        const oric_access *a = &fn->accesses[nodes[i].access], *end = a + nodes[i].access_count;
        for (; a < end; a++) total += a->count;
    }
    if (total <= s->ref_room) return 0;
    free(s->refs);
    s->ref_room = total + total / 2;
    s->refs = malloc((size_t)s->ref_room * sizeof(unit_ref));
    return s->refs ? 0 : (s->ref_room = 0, -1);
}

static void touch(scheduler *s, uint32_t unit) {
    if (s->seen[unit] == s->block + 1) return;
    s->seen[unit] = s->block + 1;
    s->facts[unit] = (unit_facts){0, 0};
    s->touched[s->touched_count++] = (int32_t)unit;
}

/* One more read of a unit, by the instruction of a place. */
static void add_use(scheduler *s, uint32_t unit, int32_t place) {
    s->facts[unit].state += USE;
    s->facts[unit].users += (uint32_t)place;
}

static uint32_t list_units(scheduler *s, const oric_node *nodes, int32_t place, uint32_t written, uint32_t at) {
    const oric_fn *fn = s->fn;
    const oric_node *node = &nodes[place];
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    for (; a < end; a++)
        for (uint32_t u = a->unit; (a->flags & ORIC_A_DEF) == written && u < a->unit + a->count; u++) {
            touch(s, u);
            if (!written) add_use(s, u, place);
            s->refs[at++] = u << FILE_BITS | (uint32_t)fn->unit_file[u];
        }
    return at;
}

/* What each instruction of the block reads and writes, and what is live and still to be read in front of the first one. */
static int count_uses(scheduler *s, int32_t count) {
    const oric_fn *fn = s->fn;
    const oric_node *nodes = &fn->nodes[fn->block_first[s->block]];
    const uint64_t *in = fn->live_in + (size_t)s->block * fn->words, *out = fn->live_out + (size_t)s->block * fn->words;
    uint32_t n = (uint32_t)fn->global_count, at = 0;
    if (make_room_for_refs(s, nodes, count)) return -1;
    s->touched_count = 0;
    for (int32_t i = 0; i < count; i++) {
        demand *d = &s->demands[i];
        d->first_read = at;
        d->first_write = at = list_units(s, nodes, i, 0, at);
        at = list_units(s, nodes, i, ORIC_A_DEF, at);
    }
    s->demands[count].first_read = at;
    memset(s->live_in, 0, sizeof s->live_in);
    for (uint32_t g = oric_bv_next(in, n, 0); g < n; g = oric_bv_next(in, n, g + 1)) {
        s->live_in[fn->unit_file[fn->unit_of[g]]]++;
        if (s->seen[fn->unit_of[g]] == s->block + 1) s->facts[fn->unit_of[g]].state |= LIVE;
    }
    for (uint32_t g = oric_bv_next(out, n, 0); g < n; g = oric_bv_next(out, n, g + 1))
        if (s->seen[fn->unit_of[g]] == s->block + 1) add_use(s, (uint32_t)fn->unit_of[g], count);
    for (int32_t k = 0; k < s->touched_count; k++) s->at_entry[k] = s->facts[s->touched[k]];
    return 0;
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
    s->count = count;
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
    return s->pressured ? count_uses(s, count) : 0;
}

/* Back in front of the first instruction. */
static void start_over(scheduler *s) {
    const oric_fn *fn = s->fn;
    memset(s->frees, 0, ((size_t)s->count + 1) * sizeof(int32_t)); /* the last one: what leaves the block */
    for (int32_t k = 0; k < s->touched_count; k++) {
        int32_t unit = s->touched[k];
        s->facts[unit] = s->at_entry[k];
        if (s->at_entry[k].state / USE == 1) s->frees[s->at_entry[k].users] += s->weight[fn->unit_file[unit]];
    }
    memcpy(s->live, s->live_in, sizeof s->live);
}

/* Change of the number of live registers per file when the instruction issues now. A unit that is read more than once
 * here, or written several times in the block, is only counted roughly. */
static void pressure_change(const scheduler *s, int32_t node, int32_t *change) {
    const demand *d = &s->demands[node];
    const unit_ref *r = s->refs + d->first_read, *writes = s->refs + d->first_write, *end = s->refs + d[1].first_read;
    memset(change, 0, ORIC_FILES * sizeof *change);
    for (; r < writes; r++) change[*r & FILE_MASK] -= s->facts[*r >> FILE_BITS].state == (USE | LIVE);
    for (; r < end; r++) {
        int32_t state = s->facts[*r >> FILE_BITS].state;
        change[*r & FILE_MASK] += state >= USE && !(state & LIVE);
    }
}

/* The same when it does issue. */
static void change_pressure(scheduler *s, int32_t node, int32_t *change) {
    const demand *d = &s->demands[node];
    const unit_ref *r = s->refs + d->first_read, *writes = s->refs + d->first_write, *end = s->refs + d[1].first_read;
    memset(change, 0, ORIC_FILES * sizeof *change);
    for (; r < writes; r++) {
        unit_facts *facts = &s->facts[*r >> FILE_BITS];
        int32_t last = facts->state == (USE | LIVE);
        change[*r & FILE_MASK] -= last;
        facts->state -= last ? USE | LIVE : USE;
        facts->users -= (uint32_t)node;
        if (facts->state / USE == 1) s->frees[facts->users] += s->weight[*r & FILE_MASK];
    }
    for (; r < end; r++) {
        int32_t *state = &s->facts[*r >> FILE_BITS].state, born = *state >= USE && !(*state & LIVE);
        change[*r & FILE_MASK] += born;
        *state |= born; /* LIVE */
    }
    for (int f = 0; f < ORIC_FILES; f++) s->live[f] += change[f];
}

/* The place that the original order has come to: everything in front of it is issued, and so it is ready. */
static int32_t head(scheduler *s) {
    if (!s->options->by_use) {
        while (s->next < s->count && s->done[s->next]) s->next++;
        return s->next < s->count ? s->next : INT32_MAX;
    }
    while (s->source.count && s->done[node_of(s->source.items[0])]) pop(&s->source);
    return s->source.count ? node_of(s->source.items[0]) : INT32_MAX;
}

/* How much room the original order leaves for predicates, place by place. */
static void count_room(scheduler *s, int32_t count) {
    int32_t change[ORIC_FILES];
    for (int32_t i = 0; i < count; i++) {
        change_pressure(s, i, change);
        s->room[i] = s->limit[ORIC_FILE_P] - s->live[ORIC_FILE_P];
    }
    start_over(s);
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
    for (int f = 0; f < ORIC_FILES; f++) files |= (uint32_t)(change[f] > 0 && s->live[f] + change[f] > s->limit[f]) << f;
    if (change[ORIC_FILE_P] > 0 && s->ordered && !has_room(s, node, change[ORIC_FILE_P])) files |= 1u << ORIC_FILE_P;
    return files;
}

/* -- choice -- */

static void make_available(scheduler *s, int32_t node) { push(&s->available, item_of(-(int64_t)s->height[node], node)); }

static void release(scheduler *s, int64_t cycle) {
    heap_item end = item_of(cycle + 1, 0);
    while (s->pending.count && s->pending.items[0] < end) {
        int32_t node = node_of(pop(&s->pending));
        if (!s->done[node]) make_available(s, node);
    }
}

/* The best available instruction whose pipe is free, else the best one. */
static int32_t choose_fast(scheduler *s, int64_t cycle) {
    heap_item aside[ORIC_MOST_LIST_LOOK];
    int32_t taken = 0, found = -1, look = (int32_t)s->fn->knobs[ORIC_KNOB_LIST_LOOK];
    const oric_node *nodes = &s->fn->nodes[s->fn->block_first[s->block]];
    while (s->available.count && taken < look && found < 0) {
        heap_item item = pop(&s->available);
        int32_t node = node_of(item);
        if (s->done[node]) continue;
        if (s->pipe_free[oric_classes[s->fn->isa][nodes[node].klass].pipe] <= cycle) found = node;
        else aside[taken++] = item;
    }
    if (found < 0 && taken) found = node_of(aside[0]);
    for (int32_t i = 0; i < taken; i++)
        if (node_of(aside[i]) != found) push(&s->available, aside[i]);
    return found;
}

/* What frees most registers of some files, the first of these in the original order; -1 when nothing frees any. */
static void scan(scheduler *s, const heap *h, uint32_t files, int32_t *best, int32_t *best_change) {
    int32_t change[ORIC_FILES], most = (int32_t)s->fn->knobs[ORIC_KNOB_LIST_SCAN];
    for (int32_t i = 0; i < h->count && i < most; i++) {
        int32_t node = node_of(h->items[i]), total = 0;
        if (!s->frees[node] || -s->frees[node] > *best_change || s->done[node]) continue;
        pressure_change(s, node, change);
        for (int f = 0; f < ORIC_FILES; f++) total += files >> f & 1 ? change[f] * s->weight[f] : 0;
        if ((total < *best_change || (total == *best_change && node < *best)) && !exceeds(s, node, change)) *best = node, *best_change = total;
    }
}

/* What can issue while the next one of the original order waits: of those that take no predicate the one with the longest way to the
 * end; -1 without one. */
static int32_t choose_meanwhile(scheduler *s) {
    int32_t best = -1, change[ORIC_FILES], most = (int32_t)s->fn->knobs[ORIC_KNOB_LIST_SCAN];
    for (int32_t i = 0; i < s->available.count && i < most; i++) {
        int32_t node = node_of(s->available.items[i]);
        if (s->done[node] || (best >= 0 && s->height[node] <= s->height[best])) continue;
        pressure_change(s, node, change);
        if (change[ORIC_FILE_P] <= 0 && !exceeds(s, node, change)) best = node;
    }
    return best;
}

/* Registers of some files are short: whatever frees some of these, else the next one of the original order, whose demand is
 * known, or what the next reader waits for. A sum behind a load that frees other ones would only wait for it. Where predicates alone
 * are short, that one is not waited for long: a store that ends a chain, in front of loads whose guards are made already. */
static int32_t choose_frugal(scheduler *s, uint32_t files, int64_t cycle) {
    int32_t best = -1, change = 0;
    scan(s, &s->available, files, &best, &change);
    scan(s, &s->pending, files, &best, &change);
    if (best >= 0) return best;
    int32_t next = head(s);
    int32_t other = files == 1u << ORIC_FILE_P && s->ready[next] > cycle + s->fn->knobs[ORIC_KNOB_LIST_WAIT] ? choose_meanwhile(s) : -1;
    return other >= 0 ? other : next;
}

static int32_t choose(scheduler *s, int64_t cycle) {
    int32_t change[ORIC_FILES], node = choose_fast(s, cycle);
    if (node < 0 || !s->pressured) return node;
    pressure_change(s, node, change);
    uint32_t files = exceeds(s, node, change);
    if (!files) return node;
    make_available(s, node);
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
    push(&s->pending, item_of(s->ready[node], node));
    if (s->pressured && s->options->by_use) push(&s->source, item_of(first_use(s, node), node));
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
    if (s->pressured) change_pressure(s, node, change);
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
    s->next = 0;
    memcpy(s->limit, s->options->limit, sizeof s->limit);
    s->limit[ORIC_FILE_R] = s->options->most && s->options->most[s->block] < limit ? s->options->most[s->block] : limit;
    memcpy(s->waiting, s->before, (size_t)count * sizeof(int32_t));
    memset(s->done, 0, (size_t)count);
    memset(s->ready, 0, (size_t)count * sizeof(int64_t));
    memset(s->pipe_free, 0, sizeof s->pipe_free);
    if (s->pressured) start_over(s);
    s->reached = s->live[ORIC_FILE_R];
    if (s->ordered) count_room(s, count);
    for (int32_t i = 0; i < count; i++)
        if (!s->waiting[i]) make_ready(s, i);
    for (int32_t placed = 0; placed < count; placed++) {
        release(s, cycle);
        int32_t node = choose(s, cycle);
        if (node < 0) { /* nothing is ready: go on to when something is */
            while (s->pending.count && s->done[node_of(s->pending.items[0])]) pop(&s->pending);
            cycle = key_of(s->pending.items[0]);
            placed--;
            continue;
        }
        cycle = issue(s, node, cycle);
        s->moved[placed] = nodes[node];
    }
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
