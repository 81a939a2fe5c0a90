#include "sched/depgraph.h"

#include <stdlib.h>
#include <string.h>

#include "function/late.h"
#include "tables/latency.h"
#include "tables/knobs.h"

typedef struct {
    int32_t node, version, offset, bytes;
    uint32_t base; /* unit of the address register, UINT32_MAX = none */
    uint8_t scale; /* that it is multiplied by */
    uint8_t strong; /* a load that stores keep their order with, wherever they are */
} access_place;

typedef struct {
    int32_t floor; /* everything after it has to come after it */
    access_place stores[ORIC_MOST_MEMORY_WINDOW], loads[ORIC_MOST_MEMORY_WINDOW];
    int32_t store_count, load_count;
} memory_state;

int oric_depgraph_init(oric_depgraph *g, const oric_fn *fn) {
    size_t units = (size_t)fn->unit_count + 1;
    memset(g, 0, sizeof *g);
    g->fn = fn;
    g->stamp = calloc(units, sizeof *g->stamp);
    g->last_def = malloc(units * sizeof *g->last_def);
    g->def_row = malloc(units);
    g->readers = malloc(units * sizeof *g->readers);
    g->version = calloc(units, sizeof *g->version);
    size_t reads = 1;
    for (int32_t i = 0; i < fn->access_count; i++) reads += fn->accesses[i].count;
    g->pool = malloc(reads * sizeof *g->pool);
    if (g->stamp && g->last_def && g->def_row && g->readers && g->version && g->pool) return 0;
    oric_depgraph_free(g);
    return -1;
}

void oric_depgraph_free(oric_depgraph *g) {
    free(g->stamp), free(g->last_def), free(g->def_row), free(g->readers), free(g->version), free(g->pool), free(g->edges);
    memset(g, 0, sizeof *g);
}

static void add_edge(oric_depgraph *g, int32_t from, int32_t to, int latency, int kind) {
    if (from < 0 || from == to || g->failed) return;
    if (g->edge_count == g->edge_room) {
        int32_t room = g->edge_room ? g->edge_room * 2 : 1024;
        oric_edge *grown = realloc(g->edges, (size_t)room * sizeof *grown);
        if (!grown) {
            g->failed = 1;
            return;
        }
        g->edges = grown, g->edge_room = room;
    }
    g->edges[g->edge_count++] = (oric_edge){(uint32_t)from, (uint32_t)to, (uint16_t)latency, (uint8_t)kind};
}

static void fresh(oric_depgraph *g, int32_t block, uint32_t unit) {
    if (g->stamp[unit] == block + 1) return;
    g->stamp[unit] = block + 1;
    g->last_def[unit] = g->readers[unit] = -1;
}

static const oric_node *node_at(const oric_depgraph *g, int32_t block, int32_t i) { return &g->fn->nodes[g->fn->block_first[block] + (uint32_t)i]; }

static int result_latency(const oric_depgraph *g, const oric_node *producer, uint8_t row, uint8_t group) {
    int known = row == ORIC_NO_ROW ? 1 : oric_distance[g->fn->isa][row][group];
    if (producer->flags & ORIC_I_VARIABLE) known = oric_classes[g->fn->isa][producer->klass].estimate;
    if (!g->fn->extra) return known;
    int expected = known + g->fn->extra[producer->op];
    return expected < 1 ? 1 : expected > UINT16_MAX ? UINT16_MAX : expected;
}

static void read_unit(oric_depgraph *g, int32_t block, int32_t i, uint32_t unit, uint8_t group, int32_t *pool_used) {
    fresh(g, block, unit);
    int32_t def = g->last_def[unit];
    if (def >= 0) add_edge(g, def, i, result_latency(g, node_at(g, block, def), g->def_row[unit], group), ORIC_E_READ);
    g->pool[*pool_used] = (oric_reader){i, g->readers[unit], group};
    g->readers[unit] = (*pool_used)++;
}

static void write_unit(oric_depgraph *g, int32_t block, int32_t i, uint32_t unit, uint8_t row) {
    fresh(g, block, unit);
    const oric_node *node = node_at(g, block, i);
    int32_t def = g->last_def[unit];
    if (def >= 0) {
        uint8_t group = node->flags & ORIC_I_VARIABLE ? ORIC_G_REWRITE : oric_classes[g->fn->isa][node->klass].own;
        add_edge(g, def, i, result_latency(g, node_at(g, block, def), g->def_row[unit], group), ORIC_E_OUTPUT);
    }
    const oric_model *model = &oric_models[g->fn->isa];
    for (int32_t r = g->readers[unit]; r >= 0; r = g->pool[r].next) {
        const oric_node *reader = node_at(g, block, g->pool[r].node);
        int late = oric_reads_late(g->fn, reader, unit);
        if (late && g->fn->unit_file[unit] == ORIC_FILE_R) late = !oric_follows_in_queue(g->fn, node, oric_classes[g->fn->isa][reader->klass].queue);
        add_edge(g, g->pool[r].node, i, late ? model->late_read : model->over_read, ORIC_E_ANTI);
    }
    g->readers[unit] = -1;
    g->last_def[unit] = i;
    g->def_row[unit] = row;
    g->version[unit]++;
}

/* The address as (register, its version and scale, offset, size). */
static access_place place_of(const oric_depgraph *g, const oric_node *node, int32_t i) {
    access_place place = {i, 0, node->offset, node->bytes, UINT32_MAX, node->scale, (node->flags & ORIC_I_ORDERED) != 0};
    int bases = 0;
    for (uint32_t k = 0; k < node->access_count; k++) {
        const oric_access *a = &g->fn->accesses[node->access + k];
        if (!(a->flags & ORIC_A_ADDRESS)) continue;
        bases++;
        place.base = a->unit;
        place.version = g->version[a->unit] + (a->count > 1 ? g->version[a->unit + 1] : 0);
    }
    if (bases > 1) place.bytes = 0;
    return place;
}

/* Offsets from one register value, multiplied alike, tell accesses apart, unless the sum may wrap around. */
static int may_meet(const access_place *a, const access_place *b) {
    if (a->bytes == 0 || b->bytes == 0 || a->base != b->base || a->version != b->version || a->scale != b->scale) return 1;
    int64_t x = a->offset, y = b->offset;
    return x < y + b->bytes && y < x + a->bytes;
}

/* Loads keep their order where it is known that they read the same place and one of them is strong. */
static int read_alike(const access_place *a, const access_place *b) {
    return (a->strong || b->strong) && a->bytes && b->bytes && a->base == b->base && may_meet(a, b);
}

/* Accesses keep their order; some have to end before the next one, and some wait for all that have not ended. */
static void follow(oric_depgraph *g, int32_t from, int32_t to) {
    if (from < 0) return;
    const oric_node *node = node_at(g, g->block, from);
    int ends = node->flags & ORIC_I_COMPLETES || (node->flags & ORIC_I_VARIABLE && node_at(g, g->block, to)->flags & ORIC_I_DRAIN);
    add_edge(g, from, to, ends ? oric_classes[g->fn->isa][node->klass].estimate : 1, ORIC_E_MEMORY);
}

static void settle(oric_depgraph *g, memory_state *m, int32_t i) {
    follow(g, m->floor, i);
    for (int32_t k = 0; k < m->store_count; k++) follow(g, m->stores[k].node, i);
    for (int32_t k = 0; k < m->load_count; k++) follow(g, m->loads[k].node, i);
    m->store_count = m->load_count = 0;
    m->floor = i;
}

static void access_space(oric_depgraph *g, memory_state *m, const oric_node *node, const access_place *place) {
    int32_t i = place->node;
    int writes = (node->flags & ORIC_I_MEM_WRITE) != 0;
    int32_t window = (int32_t)g->fn->knobs[ORIC_KNOB_MEMORY_WINDOW];
    if (m->store_count >= window && writes) return settle(g, m, i);
    if (m->load_count >= window && !writes) {
        /* with the oldest loads unknown to later stores, this load stands for them */
        int strong = 0;
        for (int32_t k = 0; k < m->load_count; k++) strong |= m->loads[k].strong, follow(g, m->loads[k].node, i);
        if (strong) return settle(g, m, i);
        m->load_count = 0;
        access_place all = *place;
        all.bytes = 0;
        for (int32_t k = 0; k < m->store_count; k++)
            if (place->strong || may_meet(&m->stores[k], place)) follow(g, m->stores[k].node, i);
        follow(g, m->floor, i);
        m->loads[m->load_count++] = all;
        return;
    }
    follow(g, m->floor, i);
    for (int32_t k = 0; k < m->store_count; k++)
        if (place->strong || may_meet(&m->stores[k], place)) follow(g, m->stores[k].node, i);
    for (int32_t k = 0; k < m->load_count; k++) {
        const access_place *load = &m->loads[k];
        if (writes ? load->strong || may_meet(load, place) : read_alike(load, place)) follow(g, load->node, i);
    }
    if (writes) m->stores[m->store_count++] = *place;
    else m->loads[m->load_count++] = *place;
}

/* Whether an ordered node is ordered with all memory: a fence is, and what more than its own accesses is in order with. */
static int orders_all(const oric_fn *fn, const oric_node *node) {
    uint16_t flags = oric_classes[fn->isa][node->klass].flags;
    return !node->space || (flags & ORIC_C_ORDERED && !(flags & ORIC_C_BY_SPACE));
}

/* `chain`: the last ordered node; these keep their order whatever they access. What a relaxed load says to others another
 * instruction behind it orders (PTX manual, "Memory Consistency Model"; observed: ptxas 13.0.88 moves weak loads over volatile ones). */
static void order_memory(oric_depgraph *g, memory_state *spaces, int32_t *chain, const oric_node *node, int32_t i) {
    if (node->flags & ORIC_I_ORDERED && !(node->flags & ORIC_I_RELAXED)) {
        for (int s = 0; s < ORIC_SPACES; s++)
            if (node->space >> s & 1 || orders_all(g->fn, node)) settle(g, &spaces[s], i);
        follow(g, *chain, i);
        *chain = i;
    } else if (node->flags & (ORIC_I_MEM_READ | ORIC_I_MEM_WRITE)) {
        access_place place = place_of(g, node, i);
        if (place.strong) follow(g, *chain, i), *chain = i;
        for (int s = 0; s < ORIC_SPACES; s++)
            if (node->space >> s & 1) access_space(g, &spaces[s], node, &place);
    }
}

int oric_depgraph_build(oric_depgraph *g, int32_t block) {
    memory_state spaces[ORIC_SPACES];
    const oric_fn *fn = g->fn;
    int32_t count = (int32_t)(fn->block_first[block + 1] - fn->block_first[block]), pool_used = 0, fence = -1, chain = -1;
    for (int s = 0; s < ORIC_SPACES; s++) { /* the places are many, and few of them come to be used */
        spaces[s].floor = -1;
        spaces[s].store_count = spaces[s].load_count = 0;
    }
    g->edge_count = 0;
    g->block = block;
    for (int32_t i = 0; i < count; i++) {
        const oric_node *node = node_at(g, block, i);
        const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
        order_memory(g, spaces, &chain, node, i);
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++) read_unit(g, block, i, u, p->group, &pool_used);
        for (const oric_access *p = a; p < end; p++)
            for (uint32_t u = p->unit; p->flags & ORIC_A_DEF && u < p->unit + p->count; u++) write_unit(g, block, i, u, p->group);
        if (fence >= 0) add_edge(g, fence, i, 1, ORIC_E_ORDER);
        if (node->flags & ORIC_I_FENCE) {
            for (int32_t k = fence + 1; k < i; k++) add_edge(g, k, i, 1, ORIC_E_ORDER);
            fence = i;
        }
    }
    return g->failed ? -1 : 0;
}

int32_t oric_dependences(const oric_fn *fn, int32_t block, oric_edge *edges, int32_t room) {
    oric_depgraph graph;
    if (oric_depgraph_init(&graph, fn)) return -1;
    int32_t count = oric_depgraph_build(&graph, block) ? -1 : graph.edge_count;
    if (count > 0 && room > 0) memcpy(edges, graph.edges, (size_t)(count < room ? count : room) * sizeof *edges);
    oric_depgraph_free(&graph);
    return count;
}
