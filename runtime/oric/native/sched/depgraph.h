/* Building of dependence graphs, with the scratch memory for all blocks of a function. */
#ifndef ORIC_DEPGRAPH_H
#define ORIC_DEPGRAPH_H
#include "sched/sched.h"

typedef struct {
    int32_t node; /* position in the block */
    int32_t next;
    uint8_t group;
} oric_reader;

typedef struct {
    const oric_fn *fn;
    int32_t *stamp;      /* unit -> block + 1 that its entries are valid for */
    int32_t *last_def;   /* unit -> position of the last definition, -1 = none */
    uint8_t *def_row;    /* unit -> row of the distance table of that definition, 255 = variable */
    int32_t *readers;    /* unit -> first reader since then */
    int32_t *version;    /* unit -> number of definitions so far */
    oric_reader *pool;
    oric_edge *edges;
    int32_t edge_count, edge_room;
    int32_t block;       /* whose graph it is */
    int failed;
} oric_depgraph;

int oric_depgraph_init(oric_depgraph *graph, const oric_fn *fn);
void oric_depgraph_free(oric_depgraph *graph);
/* The edges of a block into graph->edges, ordered by nothing in particular but always from < to. Returns 0 or -1. */
int oric_depgraph_build(oric_depgraph *graph, int32_t block);
#endif
