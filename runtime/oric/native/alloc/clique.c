#include "alloc/clique.h"

#include <stdlib.h>
#include <string.h>

#include "function/liveset.h"

/* The R units that are live where they are most beyond what there is, and which of them interfere: rows of bits. */
typedef struct {
    const oric_fn *fn;
    int32_t count;
    int32_t room;     /* registers that there are at that point */
    uint32_t *units;
    int32_t *index;   /* unit -> its number among them, -1: none of them */
    uint64_t *rows;
    uint32_t words;   /* of a row */
} crowd;

static void look(crowd *c, const oric_liveset *live, int32_t room) {
    int32_t count = live->count[ORIC_FILE_R];
    if (count - room <= c->count - c->room) return;
    c->count = count, c->room = room;
    memcpy(c->units, live->items[ORIC_FILE_R], (size_t)count * sizeof *c->units);
}

/* The points are those at which live units are counted elsewhere. */
static void find_crowd(crowd *c, oric_liveset *live, int32_t limit, const int32_t *most) {
    const oric_fn *fn = c->fn;
    for (int32_t b = 0; b < fn->block_count; b++) {
        int32_t room = most && most[b] < limit ? most[b] : limit;
        oric_liveset_enter(live, fn, b);
        look(c, live, room);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
            if (!(fn->nodes[i].flags & ORIC_I_DRAIN)) {
                oric_liveset_define(live, fn, &fn->nodes[i]);
                look(c, live, room);
            }
            oric_liveset_step(live, fn, &fn->nodes[i]);
            look(c, live, room);
        }
    }
}

static void meet(crowd *c, int32_t x, int32_t y) {
    c->rows[(size_t)x * c->words + (uint32_t)y / 64] |= 1ull << y % 64;
    c->rows[(size_t)y * c->words + (uint32_t)x / 64] |= 1ull << x % 64;
}

/* As interference has it: a definition meets what is live behind it, but not the source of a copy. */
static void at_definition(crowd *c, const oric_liveset *live, const oric_node *node) {
    const oric_access *a = &c->fn->accesses[node->access], *end = a + node->access_count;
    uint32_t source = node->flags & ORIC_I_COPY && node->access_count > 1 ? a[1].unit : UINT32_MAX;
    for (; a < end; a++)
        for (uint32_t u = a->unit; a->flags & ORIC_A_DEF && u < a->unit + a->count; u++) {
            if (c->index[u] < 0) continue;
            for (int32_t i = 0; i < live->count[ORIC_FILE_R]; i++) {
                uint32_t other = live->items[ORIC_FILE_R][i];
                if (c->index[other] >= 0 && other != u && other != source) meet(c, c->index[u], c->index[other]);
            }
        }
}

static void find_meetings(crowd *c, oric_liveset *live) {
    const oric_fn *fn = c->fn;
    for (int32_t b = 0; b < fn->block_count; b++) {
        oric_liveset_enter(live, fn, b);
        for (uint32_t i = fn->block_first[b + 1]; i-- > fn->block_first[b];) {
            if (!(fn->nodes[i].flags & ORIC_I_DRAIN)) oric_liveset_define(live, fn, &fn->nodes[i]);
            at_definition(c, live, &fn->nodes[i]);
            oric_liveset_step(live, fn, &fn->nodes[i]);
        }
    }
}

/* Units each two of which interfere, as many as one walk finds: a unit that meets all those chosen so far is chosen. `common`: who
 * meets all that are chosen. */
static int32_t choose(const crowd *c, uint64_t *common) {
    int32_t chosen = 0;
    memset(common, 0xff, (size_t)c->words * sizeof *common);
    for (int32_t x = 0; x < c->count; x++) {
        if (!(common[x / 64] >> x % 64 & 1)) continue;
        chosen++;
        for (uint32_t w = 0; w < c->words; w++) common[w] &= c->rows[(size_t)x * c->words + w];
    }
    return chosen;
}

static int judge(crowd *c, oric_liveset *live, int32_t limit, const int32_t *most) {
    c->room = INT32_MAX / 2;
    find_crowd(c, live, limit, most);
    if (c->count <= c->room) return 0;
    c->words = (uint32_t)c->count / 64 + 1;
    c->rows = calloc((size_t)(c->count + 1) * c->words, sizeof *c->rows); /* one more, for the choice */
    if (!c->rows) return -1;
    for (int32_t x = 0; x < c->count; x++) c->index[c->units[x]] = x;
    find_meetings(c, live);
    return choose(c, c->rows + (size_t)c->count * c->words) > c->room;
}

int oric_surely_crowded(const oric_fn *fn, int32_t limit, const int32_t *most) {
    oric_liveset live;
    size_t units = (size_t)fn->unit_count + 1;
    if (oric_liveset_init(&live, fn)) return -1;
    crowd c = {.fn = fn, .units = malloc(units * sizeof *c.units), .index = malloc(units * sizeof *c.index)};
    if (c.index) memset(c.index, 0xff, units * sizeof *c.index);
    int status = c.units && c.index ? judge(&c, &live, limit, most) : -1;
    oric_liveset_free(&live);
    free(c.units), free(c.index), free(c.rows);
    return status;
}
