#include "alloc/regalloc.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/clique.h"
#include "alloc/interference.h"
#include "function/liveness.h"
#include "function/late.h"
#include "tables/knobs.h"

/* An object is a virtual register: consecutive units. Coalescing puts objects into groups; a group is a frame of as many
 * registers as its widest member, with every member at an offset that keeps the member's own alignment; or it lies around an object whose
 * register is fixed. */
typedef struct {
    uint32_t unit;   /* first unit */
    int32_t next;    /* next member of the group, -1 = last */
    int32_t group;
    uint16_t size;
    uint16_t offset; /* in the frame */
} object;

typedef struct {
    int32_t head;     /* first member */
    int32_t tail;
    int32_t members;
    uint32_t degree;  /* constraints of all members */
    uint32_t start;   /* first position in the code */
    uint32_t end;     /* last position */
    uint8_t late;     /* what is there reads it long after its issue, or writes it */
    int32_t base;     /* assigned register, -1 = none */
    int32_t most;     /* registers that there are wherever a member lives */
    int32_t fixed;    /* the register that the frame has to begin at, -1: any */
    uint16_t frame;   /* registers */
    uint8_t align;    /* its first is a multiple of that */
    uint8_t file;
} group;

typedef struct {
    const oric_fn *fn;
    const oric_regalloc_options *options;
    int32_t spread;          /* of the options, less what was given up */
    oric_constraints constraints;
    object *objects;
    group *groups;
    int32_t object_count;
    int32_t *object_of;      /* unit -> object */
    int32_t *order;
    int32_t *place;          /* unit -> its register in this round, -1 = none yet */
    int32_t *bases;          /* best assignment so far, per group */
    uint32_t *copies;        /* positions of copies, innermost loops first */
    int32_t copy_count;
    int32_t primary[ORIC_FAT_POINTS];
    int32_t secondary[ORIC_FAT_POINTS];
    int32_t vacated[ORIC_FILES][ORIC_FAT_POINTS]; /* last position at which the register is in use so far, -1 = never */
    int32_t quiet[ORIC_FILES][ORIC_FAT_POINTS];   /* for how many instructions behind that it is better left alone */
    int32_t roomy[ORIC_FILES]; /* up to this many registers a fresh one is better than one that was in use just before */
    int32_t fixed_end[ORIC_FILES]; /* behind the last register that is fixed */
    int32_t *most;           /* unit -> registers that there are wherever it lives; NULL: no matter where */
} allocator;

enum { TAKEN = 1 << 20 }; /* pressure on a register that cannot be had */

/* Registers that nothing else may have where one of `size` lies. */
static uint16_t frame_size(uint32_t size) { return (uint16_t)(size == 3 ? 4 : size); }

static int make_objects(allocator *al) {
    const oric_fn *fn = al->fn;
    al->object_of = malloc(((size_t)fn->unit_count + 1) * sizeof(int32_t));
    al->objects = malloc(((size_t)fn->unit_count + 1) * sizeof(object));
    al->groups = malloc(((size_t)fn->unit_count + 1) * sizeof(group));
    if (!al->object_of || !al->objects || !al->groups) return -1;
    int32_t count = 0;
    for (int32_t u = 0; u < fn->unit_count; u++) {
        if (u && fn->unit_register[u] == fn->unit_register[u - 1] && fn->unit_register[u] >= 0) {
            al->objects[count - 1].size++;
        } else {
            al->objects[count] = (object){.unit = (uint32_t)u, .next = -1, .group = count, .size = 1};
            count++;
        }
        al->object_of[u] = count - 1;
    }
    al->object_count = count;
    memset(al->fixed_end, 0, sizeof al->fixed_end);
    for (int32_t o = 0; o < count; o++) {
        object *obj = &al->objects[o];
        int32_t *fixed_end = &al->fixed_end[fn->unit_file[obj->unit]];
        int32_t fixed = al->options->fixed ? al->options->fixed[obj->unit] : -1;
        al->groups[o] = (group){.head = o, .tail = o, .members = 1, .start = UINT32_MAX, .base = -1, .most = INT32_MAX, .fixed = fixed,
                                .frame = fixed < 0 ? frame_size(obj->size) : obj->size,
                                .align = fixed < 0 ? oric_align_of_words[obj->size] : 1, .file = fn->unit_file[obj->unit],
                                .degree = al->constraints.first[obj->unit + obj->size] - al->constraints.first[obj->unit]};
        if (fixed >= 0 && fixed + (int32_t)obj->size > *fixed_end) *fixed_end = fixed + (int32_t)obj->size;
    }
    for (int32_t i = 0; i < fn->insn_count; i++) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++) {
            group *g = &al->groups[al->object_of[a->unit]];
            if (g->start == UINT32_MAX) g->start = (uint32_t)i;
            g->late = (g->end == (uint32_t)i && g->late) || (!(a->flags & ORIC_A_DEF) && oric_reads_late(fn, &fn->nodes[i], a->unit));
            g->end = (uint32_t)i;
        }
    }
    for (int32_t u = 0; al->most && u < fn->unit_count; u++) {
        group *g = &al->groups[al->object_of[u]];
        if (al->most[u] < g->most) g->most = al->most[u];
    }
    return 0;
}

/* Copies of innermost loops first; within a depth in the order of the code. */
static int find_copies(allocator *al) {
    const oric_fn *fn = al->fn;
    uint32_t first[258] = {0};
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++)
            if (fn->nodes[i].flags & ORIC_I_COPY) first[256 - fn->depth[b]]++, al->copy_count++;
    al->copies = malloc(((size_t)al->copy_count + 1) * sizeof *al->copies);
    if (!al->copies) return -1;
    for (int d = 1; d < 258; d++) first[d] += first[d - 1];
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++)
            if (fn->nodes[i].flags & ORIC_I_COPY) al->copies[first[255 - fn->depth[b]]++] = i;
    return 0;
}

/* Do two units of different groups, moved by `shift` within the larger frame, want the same register at one time?
 * Walks the constraints of the group that has fewer. */
static int conflict(const allocator *al, int32_t large, int32_t small, int shift) {
    int32_t walk = small, other = large, sign = 1;
    if (al->groups[large].degree < al->groups[small].degree) walk = large, other = small, sign = -1;
    for (int32_t o = al->groups[walk].head; o >= 0; o = al->objects[o].next)
        for (uint32_t c = 0; c < al->objects[o].size; c++) {
            uint32_t u = al->objects[o].unit + c;
            int place = al->objects[o].offset + (int)c + sign * shift;
            for (uint32_t k = al->constraints.first[u]; k < al->constraints.first[u + 1]; k++) {
                uint32_t v = al->constraints.list[k];
                const object *obj = &al->objects[al->object_of[v]];
                if (obj->group == other && obj->offset + (int)(v - obj->unit) == place) return 1;
            }
        }
    return 0;
}

/* Move the members of `from` into `into`, shifted; the lists are relabelled from the side with fewer members. */
static void merge(allocator *al, int32_t into, int32_t from, int shift) {
    group *a = &al->groups[into], *b = &al->groups[from];
    uint16_t frame = a->frame;
    uint8_t align = a->align > b->align ? a->align : b->align;
    int32_t fixed = a->fixed;
    for (int32_t o = b->head; o >= 0; o = al->objects[o].next) al->objects[o].offset = (uint16_t)(al->objects[o].offset + shift);
    if (a->members < b->members) {
        group *swap = a;
        a = b, b = swap;
        int32_t id = into;
        into = from, from = id;
    }
    for (int32_t o = b->head; o >= 0; o = al->objects[o].next) al->objects[o].group = into;
    al->objects[a->tail].next = b->head;
    a->tail = b->tail;
    a->members += b->members;
    a->degree += b->degree;
    if (b->start < a->start) a->start = b->start;
    if (b->end > a->end) a->end = b->end;
    if (b->most < a->most) a->most = b->most;
    a->frame = frame, a->align = align, a->fixed = fixed;
    b->members = 0;
    b->head = b->tail = -1;
}

/* Try to give both registers of a copy the same place; 1 when they have it. */
static int coalesce(allocator *al, uint32_t target, uint32_t source) {
    const object *d = &al->objects[al->object_of[target]], *s = &al->objects[al->object_of[source]];
    int place_d = d->offset + (int)(target - d->unit), place_s = s->offset + (int)(source - s->unit);
    int32_t large = d->group, small = s->group;
    int shift = place_d - place_s;
    if (large == small) return shift == 0;
    if (al->groups[large].file != al->groups[small].file) return 0;
    int32_t fixed_large = al->groups[large].fixed, fixed_small = al->groups[small].fixed;
    if (fixed_large >= 0 && fixed_small >= 0) return 0;
    if (fixed_large < 0 && (fixed_small >= 0 || al->groups[large].frame < al->groups[small].frame)) large = s->group, small = d->group, shift = -shift;
    int step = al->groups[small].align;
    if (al->groups[large].fixed >= 0 && (al->groups[large].fixed + shift) % step) return 0;
    if (shift < 0 || shift % step || shift + al->groups[small].frame > al->groups[large].frame) return 0;
    if (conflict(al, large, small, shift)) return 0;
    merge(al, large, small, shift);
    return 1;
}

static void coalesce_all(allocator *al, oric_regalloc_result *result) {
    result->copies = al->copy_count;
    for (int32_t i = 0; i < al->copy_count; i++) {
        const oric_access *a = &al->fn->accesses[al->fn->nodes[al->copies[i]].access];
        result->coalesced += coalesce(al, a[0].unit, a[1].unit);
    }
}

/* The last source of an instruction that is as wide as its result, of so many registers that others of the size hardly find a place
 * between: what is added up. NULL: none. */
static const oric_access *addend_of(const oric_fn *fn, const oric_node *node, const oric_access *result) {
    const oric_access *a = &fn->accesses[node->access], *end = a + node->access_count, *found = NULL;
    for (; a < end; a++)
        if (!(a->flags & (ORIC_A_DEF | ORIC_A_ADDRESS)) && a->count == result->count) found = a;
    return found;
}

/* Let sums have the place of what they are added to where that ends there: a chain of them has one place then, and not one after the
 * other that others find free. For tries that are to fit: elsewhere values move on and leave the registers time. */
static void coalesce_sums(allocator *al) {
    const oric_fn *fn = al->fn;
    for (int32_t i = 0; i < fn->insn_count; i++) {
        const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
        for (; a < end; a++) {
            if (!(a->flags & ORIC_A_DEF) || a->count < fn->knobs[ORIC_KNOB_ALLOCATION_WIDE]) continue;
            const oric_access *addend = addend_of(fn, &fn->nodes[i], a);
            if (addend) coalesce(al, a->unit, addend->unit);
        }
    }
}

int32_t oric_fatpoint_choose(const int32_t *primary, const int32_t *secondary, int32_t limit, int32_t size, int32_t stride,
                             int32_t threshold) {
    int32_t best = -1;
    for (int32_t slot = 0; slot + size <= limit; slot += stride) {
        if (primary[slot] > threshold) continue;
        if (best < 0 || primary[slot] + secondary[slot] < primary[best] + secondary[best]) best = slot;
    }
    return best;
}

/* Walk the constraint lists of a group: every neighbour that has a register makes one base impossible. */
static void add_costs(allocator *al, const group *g) {
    const uint32_t *list = al->constraints.list;
    const int32_t *place = al->place;
    int32_t *primary = al->primary;
    for (int32_t o = g->head; o >= 0; o = al->objects[o].next)
        for (uint32_t c = 0; c < al->objects[o].size; c++) {
            uint32_t u = al->objects[o].unit + c;
            int32_t shift = al->objects[o].offset + (int32_t)c;
            const uint32_t *end = list + al->constraints.first[u + 1];
            for (const uint32_t *v = list + al->constraints.first[u]; v < end; v++) {
                int32_t base = place[*v] - shift; /* below 0, too, where the neighbour has none */
                if (base >= 0) primary[base] = TAKEN;
            }
        }
}

/* A register that was in use shortly before is under pressure: it makes the new value wait for its last reader, or the scheduler
 * keep the order. Tie-breaking: a fresh one costs occupancy once there are many. */
static void add_preferences(allocator *al, const group *g, int32_t slots) {
    const int64_t *knobs = al->fn->knobs;
    int32_t fresh = (int32_t)knobs[ORIC_KNOB_ALLOCATION_FRESH], crowded = (int32_t)knobs[ORIC_KNOB_ALLOCATION_CROWDED];
    int32_t rest = (int32_t)knobs[ORIC_KNOB_ALLOCATION_QUIET];
    for (int32_t slot = 0; slot < slots; slot++) {
        int32_t last = al->vacated[g->file][slot];
        int32_t gap = last < 0 ? 0 : (int32_t)g->start - last, quiet = al->quiet[g->file][slot];
        if (last < 0) al->secondary[slot] += slot < al->roomy[g->file] ? fresh : crowded + slot;
        else if (gap < quiet && gap > -rest) al->primary[slot] += quiet - (gap < 0 ? 0 : gap);
    }
}

/* How many slots count for a group: all that are in use or preferred, and room for its frame behind them. Of those further
 * on none is better than the first, unless some are dear. */
static int32_t slots_of(const allocator *al, const group *g, const int32_t *used) {
    if (al->options->dear) return ORIC_FAT_POINTS;
    int32_t slots = used[g->file] > al->roomy[g->file] ? used[g->file] : al->roomy[g->file];
    if (al->fixed_end[g->file] > slots) slots = al->fixed_end[g->file];
    slots += g->frame + g->align;
    return slots < ORIC_FAT_POINTS ? slots : ORIC_FAT_POINTS;
}

/* The best base of a group among `slots`; with `most` fewer, it must fit below that. -1: there is none. */
static int32_t choose(const allocator *al, const group *g, int32_t slots) {
    int32_t base = oric_fatpoint_choose(al->primary, al->secondary, slots, g->frame, g->align, al->options->threshold);
    return base < 0 ? oric_fatpoint_choose(al->primary, al->secondary, slots, g->frame, g->align, TAKEN - 1) : base; /* all that are free are congested */
}

/* One allocation round in the given order. Returns the number of R registers, or INT32_MAX when a group found none. A round that
 * takes more R registers than `most` is of no use: it ends there. */
static int32_t allocate_round(allocator *al, int32_t *used, int32_t most) {
    int failed = 0, beyond = 0;
    memset(used, 0, ORIC_FILES * sizeof *used);
    memset(al->vacated, 0xff, sizeof al->vacated);
    for (int32_t i = 0; i < al->object_count; i++) al->groups[i].base = -1;
    for (int32_t u = 0; u < al->fn->unit_count; u++) al->place[u] = -1;
    for (int32_t i = 0; i < al->object_count; i++) {
        group *g = &al->groups[al->order[i]];
        if (g->head < 0 || g->start == UINT32_MAX) continue;
        int32_t slots = slots_of(al, g, used);
        memset(al->primary, 0, (size_t)slots * sizeof *al->primary);
        memset(al->secondary, 0, (size_t)slots * sizeof *al->secondary);
        add_costs(al, g);
        if (al->options->dear && g->file == ORIC_FILE_R) memcpy(al->secondary, al->options->dear, (size_t)slots * sizeof *al->secondary);
        if (al->spread >> g->file & 1) add_preferences(al, g, slots);
        int32_t room = al->options->fixed && al->options->limit[g->file] < slots ? al->options->limit[g->file] : slots;
        int32_t base = g->fixed >= 0 ? g->fixed : choose(al, g, g->most < room ? g->most : room);
        if (base < 0 && room < slots && g->most >= room) base = choose(al, g, slots); /* beyond: the file has too few */
        if (base < 0) {
            failed = 1;
            beyond |= g->most < slots;
            if (g->most < slots) base = choose(al, g, slots); /* where it would be, for whoever spills */
        }
        if (base < 0) {
            used[g->file] = ORIC_FAT_POINTS + 1;
            if (used[ORIC_FILE_R] > most) break;
            continue;
        }
        g->base = base;
        for (int32_t o = g->head; o >= 0; o = al->objects[o].next) {
            int32_t first = base + al->objects[o].offset, top = first + al->objects[o].size;
            if (top > used[g->file] && g->fixed < 0) used[g->file] = top;
            for (int32_t c = 0; c < al->objects[o].size; c++) al->place[al->objects[o].unit + (uint32_t)c] = first + c;
            for (int32_t slot = first; slot < top; slot++)
                if ((int32_t)g->end > al->vacated[g->file][slot]) {
                    al->vacated[g->file][slot] = (int32_t)g->end;
                    al->quiet[g->file][slot] = (int32_t)al->fn->knobs[g->late ? ORIC_KNOB_ALLOCATION_QUIET_LATE : ORIC_KNOB_ALLOCATION_QUIET];
                }
        }
        if (used[ORIC_FILE_R] > most) break;
    }
    if (beyond) used[ORIC_FILE_R] = ORIC_FAT_POINTS + 1;
    return failed || used[ORIC_FILE_R] > most ? INT32_MAX : used[ORIC_FILE_R];
}

typedef struct {
    uint64_t key;
    int32_t group;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* Orders: 0 by first place in the code; 1 wide frames first, then by place; 2 most constrained first. What is fixed comes before all. */
static int make_order(allocator *al, int round) {
    ranked *list = malloc(((size_t)al->object_count + 1) * sizeof *list);
    if (!list) return -1;
    for (int32_t i = 0; i < al->object_count; i++) {
        const group *g = &al->groups[i];
        uint64_t wide = g->frame > ORIC_WIDEST ? 0 : ORIC_WIDEST - g->frame;
        uint64_t key = g->fixed >= 0 ? 0 : round == 0 ? g->start : round == 1 ? wide << 32 | g->start : wide << 32 | (UINT32_MAX - g->degree);
        list[i] = (ranked){g->fixed >= 0 ? key : key + 1, i};
    }
    qsort(list, (size_t)al->object_count, sizeof *list, compare_ranked);
    for (int32_t i = 0; i < al->object_count; i++) al->order[i] = list[i].group;
    free(list);
    return 0;
}

static int fits(const allocator *al, const int32_t *used) {
    for (int f = 0; f < ORIC_FILES; f++)
        if (used[f] > al->options->limit[f]) return 0;
    return 1;
}

/* The most R registers with which a round is better than `best`. A try that is known to fail by then need not be finished: its other
 * rounds may fit, unless an early one is good enough already. */
static int32_t useful(const allocator *al, const int32_t *peak, int32_t best) {
    int32_t limit = al->options->limit[ORIC_FILE_R], most = best < 0 ? INT32_MAX : best - 1;
    return al->options->brief && peak[ORIC_FILE_R] <= limit && limit < most ? limit : most;
}

static int allocate(allocator *al, oric_regalloc_result *result) {
    int32_t best = -1, used[ORIC_FILES];
    for (int round = 0; round < al->options->rounds; round++) {
        if (make_order(al, round)) return -1;
        int32_t cost = allocate_round(al, used, useful(al, result->peak, best));
        if (best >= 0 && cost >= best) continue;
        best = cost;
        memcpy(result->used, used, sizeof used);
        for (int32_t i = 0; i < al->object_count; i++) al->bases[i] = al->groups[i].base;
        if (!al->spread && fits(al, used)) break;
        if (cost <= (result->peak[ORIC_FILE_R] > al->roomy[ORIC_FILE_R] ? result->peak[ORIC_FILE_R] : al->roomy[ORIC_FILE_R])) break; /* good enough */
    }
    return 0;
}

static void publish(const allocator *al, int32_t *assigned, int32_t *leader) {
    for (int32_t o = 0; o < al->object_count; o++) {
        const object *obj = &al->objects[o];
        int32_t base = al->bases[obj->group];
        for (uint32_t c = 0; c < obj->size; c++) {
            assigned[obj->unit + c] = base < 0 ? -1 : base + obj->offset + (int32_t)c;
            leader[obj->unit + c] = (int32_t)al->objects[al->groups[obj->group].head].unit;
        }
    }
}

/* Whether so many are live at once that no assignment is worth a try: its constraints would grow with the square of their number. */
static int is_hopeless(const allocator *al, const int32_t *peak) {
    for (int f = 0; f < ORIC_FILES; f++) {
        if (peak[f] > al->options->hopeless[f]) return 1;
        if (peak[f] > al->options->limit[f]) return 0; /* copies that are live at once may share a register */
    }
    return 0;
}

/* Whether an R unit has a place that is fixed behind the registers that there are somewhere. */
static int is_fixed_beyond(const allocator *al) {
    const oric_fn *fn = al->fn;
    int32_t least = al->options->limit[ORIC_FILE_R], first = 0;
    for (int32_t b = 0; al->options->most && b < fn->block_count; b++)
        if (al->options->most[b] < least) least = al->options->most[b];
    for (int32_t u = 0; al->options->fixed && u < fn->unit_count; u++) {
        if (!u || fn->unit_register[u] != fn->unit_register[u - 1]) first = u;
        if (fn->unit_file[u] == ORIC_FILE_R && al->options->fixed[u] >= 0 && al->options->fixed[u] + u - first >= least) return 1;
    }
    return 0;
}

/* Whether it is known in front that no assignment fits; -1 without memory. */
static int is_lost(const allocator *al, oric_regalloc_result *result) {
    const oric_regalloc_options *options = al->options;
    memcpy(result->used, result->peak, sizeof result->used);
    if (is_hopeless(al, result->peak)) return 1;
    if (!options->brief || (!options->most && result->peak[ORIC_FILE_R] <= options->limit[ORIC_FILE_R]) || is_fixed_beyond(al)) return 0;
    int crowded = oric_surely_crowded(al->fn, options->limit[ORIC_FILE_R], options->most);
    if (crowded) result->used[ORIC_FILE_R] = ORIC_FAT_POINTS + 1;
    return crowded;
}

static void not_above(allocator *al, uint32_t unit, int32_t most) {
    if (al->fn->unit_file[unit] == ORIC_FILE_R && most < al->most[unit]) al->most[unit] = most;
}

/* How many registers there are wherever a unit lives. Liveness must be known. */
static int find_most(allocator *al) {
    const oric_fn *fn = al->fn;
    if (!al->options->most) return 0;
    uint32_t *live = malloc(((size_t)fn->unit_count + 1) * sizeof *live);
    al->most = malloc(((size_t)fn->unit_count + 1) * sizeof *al->most);
    if (!live || !al->most) return free(live), -1;
    for (int32_t u = 0; u < fn->unit_count; u++) al->most[u] = INT32_MAX;
    for (int32_t b = 0; b < fn->block_count; b++) {
        int32_t most = al->options->most[b];
        for (int32_t k = oric_live_in(fn, b, live); k-- > 0;) not_above(al, live[k], most);
        for (int32_t k = oric_live_out(fn, b, live); k-- > 0;) not_above(al, live[k], most);
        for (uint32_t i = fn->block_first[b]; i < fn->block_first[b + 1]; i++) {
            const oric_access *a = &fn->accesses[fn->nodes[i].access], *end = a + fn->nodes[i].access_count;
            for (; a < end; a++)
                for (uint32_t u = a->unit; u < a->unit + a->count; u++) not_above(al, u, most);
        }
    }
    return free(live), 0;
}

static void find_roomy(allocator *al, const int32_t *peak) {
    memset(al->roomy, 0, sizeof al->roomy);
    for (int f = 0; f < ORIC_FILES; f++) {
        if (!(al->spread >> f & 1)) continue;
        int32_t roomy = peak[f] + al->options->spare[f];
        al->roomy[f] = roomy < al->options->roomy[f] ? roomy : al->options->roomy[f];
    }
}

static int32_t failed_file(const allocator *al, const int32_t *used) {
    for (int f = 0; f < ORIC_FILES; f++)
        if (used[f] > al->options->limit[f]) return f;
    return -1;
}

/* Give up that a file is spread which has too few registers, though no more are live than there are: they may fit then. */
static int come_closer(allocator *al, const oric_regalloc_result *result) {
    int32_t failed = failed_file(al, result->used), before = al->spread;
    if (!al->options->closer || failed < 0 || !before || result->peak[ORIC_FILE_R] > al->options->limit[ORIC_FILE_R]) return 0;
    al->spread = before >> failed & 1 ? before & ~(1 << failed) : 0;
    if (before & ~al->spread & 1 << ORIC_FILE_R && al->options->coalesce) coalesce_sums(al);
    return 1;
}

static int run(allocator *al, int32_t *assigned, int32_t *leader, oric_regalloc_result *result) {
    if (oric_pressure(al->fn, result->peak)) return -1;
    int lost = is_lost(al, result);
    if (lost < 0) return -1;
    if (lost) {
        for (int32_t u = 0; u < al->fn->unit_count; u++) assigned[u] = -1, leader[u] = u;
        return 0;
    }
    if (oric_constraints_build(al->fn, &al->constraints)) return -1;
    result->constraints = (int32_t)al->constraints.pairs;
    if (find_most(al) || make_objects(al) || find_copies(al)) return -1;
    al->order = malloc(((size_t)al->object_count + 1) * sizeof *al->order);
    al->bases = malloc(((size_t)al->object_count + 1) * sizeof *al->bases);
    al->place = malloc(((size_t)al->fn->unit_count + 1) * sizeof *al->place);
    if (!al->order || !al->bases || !al->place) return -1;
    if (al->options->coalesce) coalesce_all(al, result);
    if (al->options->coalesce && !(al->spread >> ORIC_FILE_R & 1)) coalesce_sums(al);
    do {
        find_roomy(al, result->peak);
        if (allocate(al, result)) return -1;
    } while (come_closer(al, result));
    publish(al, assigned, leader);
    return 0;
}

int oric_regalloc(const oric_fn *fn, const oric_regalloc_options *options, int32_t *assigned, int32_t *leader,
                  oric_regalloc_result *result) {
    allocator *al = calloc(1, sizeof *al);
    memset(result, 0, sizeof *result);
    result->failed_file = -1;
    if (!al) return -1;
    al->fn = fn, al->options = options, al->spread = options->spread;
    int status = run(al, assigned, leader, result);
    if (!status) result->failed_file = failed_file(al, result->used);
    oric_constraints_free(&al->constraints);
    free(al->object_of), free(al->objects), free(al->groups), free(al->order), free(al->bases), free(al->place), free(al->copies), free(al->most), free(al);
    return status;
}
