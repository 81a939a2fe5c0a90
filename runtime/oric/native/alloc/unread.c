/* Copies that nobody reads: a register that is written several times has readers, but not behind each write. A copy of a word of a
 * wide register that an order puts late keeps that alive. */
#include "alloc/unread.h"

#include "function/liveset.h"

static int is_unread(const oric_fn *fn, const oric_liveset *live, const oric_node *node) {
    return node->flags & ORIC_I_COPY && live->place[fn->accesses[node->access].unit] < 0;
}

/* What stays of a block, from its end back, comes to the end of its place; returns where that begins. */
static uint32_t sift(oric_fn *fn, oric_liveset *live, int32_t block) {
    uint32_t end = fn->block_first[block + 1];
    oric_liveset_enter(live, fn, block);
    for (uint32_t i = end; i-- > fn->block_first[block];) {
        if (is_unread(fn, live, &fn->nodes[i])) continue;
        oric_liveset_define(live, fn, &fn->nodes[i]);
        oric_liveset_step(live, fn, &fn->nodes[i]);
        fn->nodes[--end] = fn->nodes[i];
    }
    return end;
}

int32_t oric_drop_unread(oric_fn *fn) {
    oric_liveset live;
    uint32_t to = 0, first = 0;
    if (!fn->live_in || oric_liveset_init(&live, fn)) return -1;
    for (int32_t b = 0; b < fn->block_count; b++) {
        uint32_t from = sift(fn, &live, b), end = fn->block_first[b + 1]; /* of the next block nothing has changed yet */
        fn->block_first[b] = to;
        memmove(&fn->nodes[to], &fn->nodes[from], (end - from) * sizeof *fn->nodes);
        to += end - from, first = end;
    }
    fn->block_first[fn->block_count] = to;
    fn->insn_count = (int32_t)to;
    oric_liveset_free(&live);
    return (int32_t)(first - to);
}
