/* Loads of an allocated function move up in their order and into registers that are free there: what comes late is asked for as early as
 * there is a register for it, but not earlier than it takes. */
#include <stdlib.h>
#include <string.h>

#include "function/liveset.h"
#include "sched/depgraph.h"
#include "tables/latency.h"

enum { FURTHEST = 96, MASKS = 4, READS = 1 }; /* instructions that one moves over; 64 registers each; what a load does to memory */

typedef struct {
    uint64_t bits[MASKS];
} registers; /* of the general file */

typedef struct {
    oric_fn *fn;
    int32_t limit; /* of the general file */
    int32_t *assigned;
    uint8_t *sole; /* per unit: nothing else was coalesced with its register */
    int32_t *total; /* per unit: its accesses */
    int32_t *block_of, *here, *first, *last; /* per unit: the block of these: accesses, the first and the last node */
    oric_depgraph graph;
    oric_liveset live;
    int32_t *first_edge, *from; /* by node, the nodes that come before it */
    int32_t edge_room;
    int32_t *place; /* node -> where it stands now */
    int32_t *order; /* place -> node */
    registers *used; /* place -> registers that are in use in front of it, behind it, or for what it makes */
    int32_t *reader; /* node -> the first node that reads its result, -1 */
    oric_node *moved;
} hoister;

static int allocate_scratch(hoister *h, const int32_t *leader) {
    const oric_fn *fn = h->fn;
    size_t longest = 1, units = (size_t)fn->unit_count + 1;
    for (int32_t b = 0; b < fn->block_count; b++)
        if (fn->block_first[b + 1] - fn->block_first[b] > longest) longest = fn->block_first[b + 1] - fn->block_first[b];
    longest += 2;
    h->first_edge = malloc(longest * sizeof(int32_t)), h->place = malloc(longest * sizeof(int32_t));
    h->order = malloc(longest * sizeof(int32_t)), h->used = malloc(longest * sizeof(registers));
    h->reader = malloc(longest * sizeof(int32_t)), h->moved = malloc(longest * sizeof(oric_node));
    h->sole = malloc(units), h->total = calloc(units, sizeof(int32_t)), h->block_of = malloc(units * sizeof(int32_t));
    h->here = malloc(units * sizeof(int32_t)), h->first = malloc(units * sizeof(int32_t)), h->last = malloc(units * sizeof(int32_t));
    if (!h->first_edge || !h->place || !h->order || !h->used || !h->reader || !h->moved) return -1;
    if (!h->sole || !h->total || !h->block_of || !h->here || !h->first || !h->last) return -1;
    memset(h->sole, 1, units), memset(h->block_of, 0xff, units * sizeof(int32_t));
    for (int32_t u = 0; u < fn->unit_count; u++) {
        int32_t other = leader[u];
        if (fn->unit_register[other] != fn->unit_register[u]) h->sole[u] = h->sole[other] = 0;
    }
    for (int32_t i = 0; i < fn->insn_count; i++) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++)
            for (uint32_t u = a->unit; u < a->unit + a->count; u++) h->total[u]++;
    }
    if (oric_liveset_init(&h->live, fn)) return memset(&h->live, 0, sizeof h->live), -1;
    return oric_depgraph_init(&h->graph, fn);
}

static void free_scratch(hoister *h) {
    free(h->first_edge), free(h->from), free(h->place), free(h->order), free(h->used), free(h->reader), free(h->moved);
    free(h->sole), free(h->total), free(h->block_of), free(h->here), free(h->first), free(h->last);
    oric_liveset_free(&h->live);
    oric_depgraph_free(&h->graph);
}

/* Who comes before each node, and who reads what it makes first. */
static int analyse(hoister *h, int32_t block, int32_t count) {
    oric_depgraph *g = &h->graph;
    if (oric_depgraph_build(g, block)) return -1;
    if (g->edge_count > h->edge_room) {
        free(h->from);
        h->edge_room = g->edge_count + g->edge_count / 2;
        h->from = malloc((size_t)h->edge_room * sizeof(int32_t));
        if (!h->from) return h->edge_room = 0, -1;
    }
    memset(h->first_edge, 0, ((size_t)count + 2) * sizeof(int32_t));
    for (int32_t i = 0; i < count; i++) h->reader[i] = -1;
    for (int32_t e = 0; e < g->edge_count; e++) {
        const oric_edge *edge = &g->edges[e];
        h->first_edge[edge->to + 1]++;
        int32_t *reader = &h->reader[edge->from];
        if (edge->kind == ORIC_E_READ && (*reader < 0 || (int32_t)edge->to < *reader)) *reader = (int32_t)edge->to;
    }
    for (int32_t i = 0; i < count; i++) h->first_edge[i + 1] += h->first_edge[i];
    for (int32_t e = 0; e < g->edge_count; e++) h->from[--h->first_edge[g->edges[e].to + 1]] = (int32_t)g->edges[e].from;
    memmove(h->first_edge, h->first_edge + 1, (size_t)count * sizeof(int32_t));
    h->first_edge[count] = g->edge_count;
    return 0;
}

static void take(const hoister *h, registers *set, const oric_liveset *live) {
    for (int32_t k = 0; k < live->count[ORIC_FILE_R]; k++) {
        int32_t r = h->assigned[live->items[ORIC_FILE_R][k]];
        if (r >= 0) set->bits[r >> 6] |= (uint64_t)1 << (r & 63);
    }
}

/* Registers in use at every place. */
static void find_used(hoister *h, int32_t block) {
    const oric_fn *fn = h->fn;
    uint32_t first = fn->block_first[block];
    oric_liveset_enter(&h->live, fn, block);
    for (uint32_t i = fn->block_first[block + 1]; i-- > first;) {
        registers *used = &h->used[i - first];
        memset(used, 0, sizeof *used);
        oric_liveset_define(&h->live, fn, &fn->nodes[i]);
        take(h, used, &h->live);
        oric_liveset_step(&h->live, fn, &fn->nodes[i]);
        take(h, used, &h->live);
    }
}

/* The accesses of units in a block: how many there are, the first and the last node. */
static void find_accesses(hoister *h, int32_t block, int32_t count) {
    const oric_fn *fn = h->fn;
    const oric_node *nodes = &fn->nodes[fn->block_first[block]];
    for (int32_t i = 0; i < count; i++) {
        const oric_access *a = &fn->accesses[nodes[i].access], *end = a + nodes[i].access_count;
        for (; a < end; a++)
            for (uint32_t u = a->unit; u < a->unit + a->count; u++) {
                if (h->block_of[u] != block) h->block_of[u] = block, h->here[u] = 0, h->first[u] = i;
                h->here[u]++, h->last[u] = i;
            }
    }
}

/* The register that a load makes: its first unit, and the words; 0 for what is no load, or whose register is not its own alone. */
static int32_t loaded(const hoister *h, const oric_node *node, int32_t number, uint32_t *unit, int32_t *last) {
    const oric_fn *fn = h->fn;
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    int32_t words = 0;
    *last = -1;
    if (!(node->flags & ORIC_I_VARIABLE) || node->flags & ORIC_I_GUARDED) return 0;
    if (oric_classes[fn->isa][node->klass].does != READS) return 0;
    for (; a < end; a++) {
        if (!(a->flags & ORIC_A_DEF)) continue;
        if (fn->unit_file[a->unit] != ORIC_FILE_R || (words && a->unit != *unit + (uint32_t)words)) return 0;
        if (!words) *unit = a->unit;
        words += a->count;
    }
    for (uint32_t u = *unit; words && u < *unit + (uint32_t)words; u++) {
        if (!h->sole[u] || h->assigned[u] < 0 || fn->unit_register[u] != fn->unit_register[*unit]) return 0;
        if (fn->global_of[u] >= 0 || h->first[u] != number || h->here[u] != h->total[u]) return 0; /* it lives elsewhere, too */
        if (h->last[u] > *last) *last = h->last[u];
    }
    if (words && *unit && fn->unit_register[*unit - 1] == fn->unit_register[*unit]) return 0; /* a part of a wider one */
    if (words && fn->unit_register[*unit + (uint32_t)words] == fn->unit_register[*unit]) return 0;
    return words;
}

static int is_free(const registers *used, int32_t first, int32_t words) {
    for (int32_t r = first; r < first + words; r++)
        if (used->bits[r >> 6] >> (r & 63) & 1) return 0;
    return 1;
}

/* The register that a result has already, if that is free on the way, another one that is free until its last reader, or -1.
 * `way`: in use on the way; `all`: until the last reader, its own included. */
static int32_t choose(const hoister *h, const registers *way, const registers *all, int32_t own, int32_t words) {
    int32_t step = words > 2 ? 4 : words;
    if (is_free(way, own, words)) return own;
    for (int32_t r = 0; r + words <= h->limit; r += step)
        if (is_free(all, r, words)) return r;
    return -1;
}

static void add(registers *set, const registers *more) {
    for (int m = 0; m < MASKS; m++) set->bits[m] |= more->bits[m];
}

static void mark(registers *set, int32_t first, int32_t words) {
    for (int32_t r = first; r < first + words; r++) set->bits[r >> 6] |= (uint64_t)1 << (r & 63);
}

static int32_t cycles_of(const hoister *h, const oric_node *nodes, int32_t place) {
    int32_t stall = oric_classes[h->fn->isa][nodes[h->order[place]].klass].stall;
    return stall > 1 ? stall : 1;
}

/* Move a node up from a place, until its result is there when it is read first, or no register is free on the whole way. */
static void hoist(hoister *h, const oric_node *nodes, int32_t at, uint32_t unit, int32_t words, int32_t last) {
    int32_t node = h->order[at], earliest = 0, to = at, left = oric_classes[h->fn->isa][nodes[node].klass].estimate;
    int32_t own = h->assigned[unit], end = h->place[last], chosen = own;
    registers way = {{0}}, all = {{0}};
    for (int32_t k = h->first_edge[node]; k < h->first_edge[node + 1]; k++)
        if (h->place[h->from[k]] >= earliest) earliest = h->place[h->from[k]] + 1;
    for (int32_t place = at; place < h->place[h->reader[node]] && left > 0; place++) left -= cycles_of(h, nodes, place);
    for (int32_t place = at + 1; place <= end && left > 0; place++) add(&all, &h->used[place]);
    while (to > earliest && left > 0 && at - to < FURTHEST) {
        add(&way, &h->used[to - 1]), add(&all, &h->used[to - 1]);
        int32_t found = choose(h, &way, &all, own, words);
        if (found < 0) break;
        chosen = found;
        to--;
        left -= cycles_of(h, nodes, to);
    }
    if (to == at) return;
    for (int32_t place = at + 1; place <= end; place++) mark(&h->used[place], chosen, words);
    for (int32_t place = at; place > to; place--) {
        h->order[place] = h->order[place - 1], h->place[h->order[place]] = place;
        h->used[place] = h->used[place - 1];
        mark(&h->used[place], chosen, words);
    }
    h->order[to] = node, h->place[node] = to;
    h->used[to] = h->used[to + 1];
    for (int32_t c = 0; c < words; c++) h->assigned[unit + (uint32_t)c] = chosen + c;
}

static int hoist_block(hoister *h, int32_t block) {
    oric_fn *fn = h->fn;
    oric_node *nodes = &fn->nodes[fn->block_first[block]];
    int32_t count = (int32_t)(fn->block_first[block + 1] - fn->block_first[block]);
    if (analyse(h, block, count)) return -1;
    find_used(h, block);
    find_accesses(h, block, count);
    for (int32_t i = 0; i < count; i++) h->order[i] = h->place[i] = i;
    for (int32_t i = 0; i < count; i++) {
        uint32_t unit = 0;
        int32_t last, words = loaded(h, &nodes[i], i, &unit, &last);
        if (words && h->reader[i] >= 0) hoist(h, nodes, h->place[i], unit, words, last);
    }
    for (int32_t i = 0; i < count; i++) h->moved[i] = nodes[h->order[i]];
    memcpy(nodes, h->moved, (size_t)count * sizeof *nodes);
    return 0;
}

int32_t oric_hoist_loads(oric_fn *fn, int32_t limit, int32_t *assigned, const int32_t *leader) {
    hoister h = {.fn = fn, .limit = limit, .assigned = assigned};
    int failed = allocate_scratch(&h, leader);
    for (int32_t b = 0; !failed && b < fn->block_count; b++) failed = hoist_block(&h, b);
    free_scratch(&h);
    int32_t count = 0;
    for (int32_t u = 0; u < fn->unit_count; u++)
        if (fn->unit_file[u] == ORIC_FILE_R && assigned[u] >= count) count = assigned[u] + 1;
    return failed ? -1 : count;
}
