/* The set of live units during a backward walk over a block: one dense list per register file with positions, so that
 * insertion, removal and iteration over a file cost no more than the members. */
#ifndef ORIC_LIVESET_H
#define ORIC_LIVESET_H
#include <stdlib.h>
#include <string.h>

#include "function/backend.h"
#include "support/bitvec.h"

enum { ORIC_MOST_RESULTS = 512 }; /* units that one instruction writes: a call, all that its callee may change */

typedef struct {
    uint32_t *items[ORIC_FILES];
    int32_t count[ORIC_FILES];
    int32_t *place; /* unit -> position in its list, -1 = absent */
    uint32_t unused[ORIC_MOST_RESULTS]; /* results of the current instruction that nothing reads */
    int32_t unused_count;
} oric_liveset;

static inline void oric_liveset_free(oric_liveset *set) {
    for (int f = 0; f < ORIC_FILES; f++) free(set->items[f]);
    free(set->place);
}

static inline int oric_liveset_init(oric_liveset *set, const oric_fn *fn) {
    uint32_t size[ORIC_FILES] = {0};
    int failed = 0;
    for (int32_t u = 0; u < fn->unit_count; u++) size[fn->unit_file[u]]++;
    for (int f = 0; f < ORIC_FILES; f++) {
        set->items[f] = malloc(((size_t)size[f] + 1) * sizeof(uint32_t));
        set->count[f] = 0;
        failed |= !set->items[f];
    }
    set->unused_count = 0;
    set->place = malloc(((size_t)fn->unit_count + 1) * sizeof(int32_t));
    if (failed || !set->place) return oric_liveset_free(set), -1;
    memset(set->place, 0xff, (size_t)fn->unit_count * sizeof(int32_t));
    return 0;
}

static inline void oric_liveset_add(oric_liveset *set, const oric_fn *fn, uint32_t unit) {
    if (set->place[unit] >= 0) return;
    int f = fn->unit_file[unit];
    set->place[unit] = set->count[f];
    set->items[f][set->count[f]++] = unit;
}

static inline void oric_liveset_remove(oric_liveset *set, const oric_fn *fn, uint32_t unit) {
    int32_t at = set->place[unit];
    if (at < 0) return;
    int f = fn->unit_file[unit];
    uint32_t last = set->items[f][--set->count[f]];
    set->items[f][at] = last;
    set->place[last] = at;
    set->place[unit] = -1;
}

/* Start at the end of a block. */
static inline void oric_liveset_enter(oric_liveset *set, const oric_fn *fn, int32_t block) {
    for (int f = 0; f < ORIC_FILES; f++) {
        for (int32_t i = 0; i < set->count[f]; i++) set->place[set->items[f][i]] = -1;
        set->count[f] = 0;
    }
    const uint64_t *out = fn->live_out + (size_t)block * fn->words;
    uint32_t n = (uint32_t)fn->global_count;
    for (uint32_t g = oric_bv_next(out, n, 0); g < n; g = oric_bv_next(out, n, g + 1)) oric_liveset_add(set, fn, (uint32_t)fn->unit_of[g]);
}

/* All results of the instruction occupy registers at once, also unused ones. */
static inline void oric_liveset_define(oric_liveset *set, const oric_fn *fn, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    set->unused_count = 0;
    for (; a < end; a++)
        for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++) {
            if (set->place[u] < 0 && set->unused_count < ORIC_MOST_RESULTS) set->unused[set->unused_count++] = u;
            oric_liveset_add(set, fn, u);
        }
}

/* From after the instruction, where oric_liveset_define was called, to before it. */
static inline void oric_liveset_step(oric_liveset *set, const oric_fn *fn, const oric_node *node) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count;
    while (set->unused_count) oric_liveset_remove(set, fn, set->unused[--set->unused_count]);
    for (const oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; p->flags & ORIC_A_KILL && u < p->unit + p->count; u++) oric_liveset_remove(set, fn, u);
    for (const oric_access *p = a; p < end; p++)
        for (uint32_t u = p->unit; !(p->flags & ORIC_A_DEF) && u < p->unit + p->count; u++) oric_liveset_add(set, fn, u);
}

static inline void oric_liveset_peak(const oric_liveset *set, int32_t *peak) {
    for (int f = 0; f < ORIC_FILES; f++)
        if (set->count[f] > peak[f]) peak[f] = set->count[f];
}
#endif
