/* The queue of asynchronous copies: kept in the order of their start, done when a wait makes their end known. */
#include "sim/async.h"

#include <stdlib.h>

#include "sass/control.h"
#include "sim/memcheck.h"

enum { NO_BOARD = 255, WORD = 4, MBARRIER = 8 };

typedef struct {
    const uint8_t *from, *to;
    int writes;
} range;

struct sim_async {
    sim_async *next;
    sim_warp *warp; /* that started it */
    sim_cta *cta;   /* whose queue this is in */
    sim_land_fn land;
    const void *mbarrier; /* NULL: none */
    uint64_t pc, serial;
    uint32_t mask;
    int32_t later;  /* uses of its scoreboard since that of its own group */
    uint8_t by;
    uint8_t after;  /* of an arrival: what it comes after; SIM_BY_MBARRIER: nothing */
    uint8_t board;  /* that tells its end; NO_BOARD: its group is still open */
    uint8_t due;
    range *ranges;
    uint32_t nranges, room;
    const uint8_t *low, *high; /* all ranges lie between */
    _Alignas(16) unsigned char what[];
};

struct sim_async_queue {
    sim_async *first, **end;
    uint64_t serial;
    uint16_t *watched; /* for each word of shared memory how many ranges have a part of it */
    uint32_t elsewhere;/* copies with ranges in other memory */
};

static int strict(const sim_warp *w) { return (w->sim->launch.modes & ORIC_SIM_STRICT) != 0; }

static struct sim_async_queue *queue_of(sim_cta *cta)
{
    if (!cta->async) {
        cta->async = calloc(1, sizeof *cta->async);
        if (!cta->async)
            return NULL;
        cta->async->end = &cta->async->first;
        cta->async->watched = calloc(cta->sim->launch.shared_bytes / WORD + 1u, sizeof *cta->async->watched);
        if (!cta->async->watched) {
            free(cta->async);
            cta->async = NULL;
        }
    }
    return cta->async;
}

/* A new entry at the end of a CTA's queue; the work is done at once, and NULL, when there is to be no queue. */
static sim_async *enter(sim_warp *w, sim_cta *cta, int by, uint32_t mask, sim_land_fn land, void *what, size_t bytes)
{
    sim_async *fresh = NULL;
    if (strict(w)) {
        struct sim_async_queue *q = queue_of(cta), *own = queue_of(w->cta);
        fresh = q && own ? calloc(1, sizeof *fresh + bytes) : NULL;
        if (!fresh) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, sim_first_lane(mask ? mask : 1), "asynchronous copies");
            return NULL;
        }
        fresh->serial = own->serial++;
        *q->end = fresh;
        q->end = &fresh->next;
        fresh->warp = w, fresh->cta = cta, fresh->land = land, fresh->pc = w->pc, fresh->mask = mask;
        fresh->by = (uint8_t)by, fresh->after = SIM_BY_MBARRIER, fresh->board = NO_BOARD;
        memcpy(fresh->what, what, bytes);
        return fresh;
    }
    land(w, what);
    return NULL;
}

static void watch(sim_cta *cta, const range *r, int change)
{
    size_t first = (size_t)(r->from - cta->shared) / WORD, last = (size_t)(r->to - 1 - cta->shared) / WORD;
    for (size_t i = first; i <= last; i++)
        cta->async->watched[i] = (uint16_t)(cta->async->watched[i] + change);
}

static int in_shared(const sim_cta *cta, const uint8_t *at)
{
    return at >= cta->shared && at < cta->shared + cta->sim->launch.shared_bytes;
}

/* Some models have no instruction that tests an mbarrier: code reads it. */
static void watch_mbarrier(const sim_async *copy, int change)
{
    const uint8_t *at = copy->mbarrier;
    if (at && in_shared(copy->cta, at) && in_shared(copy->cta, at + MBARRIER - 1))
        watch(copy->cta, &(range){at, at + MBARRIER, 0}, change);
}

sim_async *sim_async_add(sim_warp *w, int by, uint32_t mask, sim_land_fn land, void *what, size_t bytes)
{
    return enter(w, w->cta, by, mask, land, what, bytes);
}

sim_async *sim_async_add_mbarrier(sim_warp *w, sim_cta *owner, const void *mbarrier, uint32_t mask, sim_land_fn land, void *what,
                                  size_t bytes)
{
    if (w->shadow)
        sim_memcheck_copies_arrive(w, mbarrier);
    sim_async *fresh = enter(w, owner, SIM_BY_MBARRIER, mask, land, what, bytes);
    if (fresh) {
        fresh->mbarrier = mbarrier;
        watch_mbarrier(fresh, 1);
    }
    return fresh;
}

void sim_async_arrive(sim_warp *w, int by, sim_cta *owner, const void *mbarrier, uint32_t mask, sim_land_fn arrive, void *what,
                      size_t bytes)
{
    sim_async *fresh = sim_async_add_mbarrier(w, owner, mbarrier, mask, arrive, what, bytes);
    if (fresh)
        fresh->after = (uint8_t)by;
}

/* -- the memory that copies touch -- */

/* Count a range in or out where it will be looked for. */
static void count_range(sim_async *copy, const range *r, int change)
{
    if (in_shared(copy->cta, r->from))
        watch(copy->cta, r, change);
    else
        copy->cta->async->elsewhere += (uint32_t)change;
}

void sim_async_covers(sim_warp *w, sim_async *copy, const uint8_t *at, uint64_t size, int writes)
{
    if (w->shadow && writes == SIM_WRITE)
        sim_memcheck_copied(w, at, size);
    if (!copy || !size)
        return;
    if (copy->nranges == copy->room) {
        uint32_t room = copy->room ? 2 * copy->room : SIM_LANES;
        range *more = realloc(copy->ranges, room * sizeof *more);
        if (!more) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, sim_first_lane(w->active), "asynchronous copies");
            return;
        }
        copy->ranges = more, copy->room = room;
    }
    range *r = &copy->ranges[copy->nranges++];
    *r = (range){at, at + size, writes};
    if (copy->nranges == 1 || r->from < copy->low)
        copy->low = r->from;
    if (copy->nranges == 1 || r->to > copy->high)
        copy->high = r->to;
    count_range(copy, r, 1);
}

/* Whether a copy reads or writes some of the bytes, of which at least one side writes, unless both combine. */
static int meets(const sim_async *copy, const uint8_t *at, uint32_t size, int write)
{
    if (at >= copy->high || at + size <= copy->low)
        return 0;
    for (uint32_t i = 0; i < copy->nranges; i++) {
        const range *r = &copy->ranges[i];
        int apart = write == SIM_REDUCE ? r->writes == SIM_REDUCE : !write && !r->writes;
        if (at < r->to && at + size > r->from && !apart)
            return 1;
    }
    return 0;
}

/* Who reads an mbarrier may be testing it. */
static void land_read_mbarrier(sim_warp *w, const uint8_t *at, uint32_t size)
{
    const struct sim_async_queue *q = w->cta->async;
    for (const sim_async *copy = q->first; copy; copy = copy->next) {
        const uint8_t *mbarrier = copy->mbarrier;
        if (mbarrier && at < mbarrier + MBARRIER && at + size > mbarrier) {
            sim_async_before_test(w, mbarrier);
            return;
        }
    }
}

void sim_async_touch(sim_warp *w, uint32_t lane, int space, uint64_t address, const uint8_t *at, uint32_t size, int write)
{
    const struct sim_async_queue *q = w->cta->async;
    uint32_t watched = 0;
    if (!q || !q->first || !size)
        return;
    if (in_shared(w->cta, at)) {
        size_t first = (size_t)(at - w->cta->shared) / WORD, last = (size_t)(at + size - 1 - w->cta->shared) / WORD;
        for (size_t i = first; i <= last; i++)
            watched |= q->watched[i];
    } else {
        watched = q->elsewhere;
    }
    if (watched && !write)
        land_read_mbarrier(w, at, size);
    for (const sim_async *copy = watched ? q->first : NULL; copy; copy = copy->next) {
        if (!meets(copy, at, size, write))
            continue;
        sim_report(w, lane, (oric_sim_report){.kind = ORIC_REPORT_ASYNC, .first = copy->pc, .second = w->pc, .had = -1, .space = space,
                                              .size = size, .write = write, .address = address});
    }
}

/* -- how copies end -- */

static void land_one(sim_warp *w, sim_async *copy)
{
    uint64_t pc = w->pc;
    for (uint32_t i = 0; i < copy->nranges; i++)
        count_range(copy, &copy->ranges[i], -1);
    watch_mbarrier(copy, -1);
    w->pc = copy->pc;
    if (!w->sim->fault.code)
        copy->land(w, copy->what);
    w->pc = pc;
    free(copy->ranges);
    free(copy);
}

/* End the entries of the queue that are due, in their order; w runs. */
static void land_due(sim_warp *w, sim_cta *cta)
{
    struct sim_async_queue *q = cta->async;
    sim_async *due = NULL, **due_end = &due, **at = &q->first;
    while (*at) {
        sim_async *copy = *at;
        if (!copy->due) {
            at = &copy->next;
            continue;
        }
        *at = copy->next;
        copy->next = NULL;
        *due_end = copy;
        due_end = &copy->next;
    }
    q->end = at;
    while (due) {
        sim_async *copy = due;
        due = due->next;
        land_one(w, copy);
    }
}

void sim_async_commit(sim_warp *w, int by)
{
    if (w->shadow && by == SIM_BY_COPY_GROUP)
        sim_memcheck_commit(w);
    if (!w->cta->async)
        return;
    /* LDGDEPBAR tells the end by its write barrier, UTMACMDFLUSH by its read barrier. */
    uint32_t control = (uint32_t)w->code->insns[(w->pc - w->code->base) / ORIC_INSN_BYTES].control, board = oric_write_board_of(control);
    if (board == ORIC_NO_SCOREBOARD)
        board = oric_read_board_of(control);
    for (sim_async *copy = w->cta->async->first; copy; copy = copy->next) {
        if (copy->warp != w || copy->by != by || copy->board != NO_BOARD)
            continue;
        copy->board = (uint8_t)board;
        copy->later = -1; /* this instruction's own use of the scoreboard is still to be counted */
        w->async_boards |= 1u << board;
    }
}

void sim_async_board_used(sim_warp *w, uint32_t board)
{
    if (!(w->async_boards >> board & 1))
        return;
    for (sim_async *copy = w->cta->async->first; copy; copy = copy->next)
        if (copy->warp == w && copy->board == board)
            copy->later++;
}

/* End what a scoreboard tells and has been used since at least `left` times. */
static void waited(sim_warp *w, uint32_t boards, int32_t left)
{
    uint32_t rest = 0;
    for (sim_async *copy = w->cta->async->first; copy; copy = copy->next) {
        if (copy->warp != w || copy->board == NO_BOARD)
            continue;
        copy->due = (boards >> copy->board & 1) && copy->later >= left;
        rest |= copy->due ? 0 : 1u << copy->board;
    }
    w->async_boards = rest;
    land_due(w, w->cta);
}

void sim_async_waited(sim_warp *w, uint32_t boards)
{
    if (w->async_boards & boards)
        waited(w, boards, 0);
}

void sim_async_counted(sim_warp *w, uint32_t board, uint32_t left)
{
    if (w->async_boards >> board & 1)
        waited(w, 1u << board, (int32_t)left);
}

/* What an arrival comes after ends. */
static void land_before(sim_warp *w, const sim_async *arrival)
{
    sim_cta *cta = arrival->warp->cta;
    for (sim_async *copy = cta->async->first; copy; copy = copy->next)
        copy->due = copy->warp == arrival->warp && copy->by == arrival->after && copy->serial < arrival->serial &&
                    (copy->mask & arrival->mask);
    land_due(w, cta);
}

void sim_async_before_test(sim_warp *w, const void *mbarrier)
{
    struct sim_async_queue *q = w->cta->async;
    if (w->shadow)
        sim_memcheck_sync(w, mbarrier);
    if (!q || !q->first)
        return;
    for (sim_async *copy = q->first; copy; copy = copy->next)
        if (copy->mbarrier == mbarrier && copy->after != SIM_BY_MBARRIER)
            land_before(w, copy); /* takes earlier entries only: this one and the next stay */
    for (sim_async *copy = q->first; copy; copy = copy->next)
        copy->due = copy->mbarrier == mbarrier;
    land_due(w, w->cta);
}

void sim_async_end(sim_cta *cta)
{
    struct sim_async_queue *q = cta->async;
    if (!q)
        return;
    for (sim_async *copy = q->first; copy; copy = copy->next)
        copy->due = 1;
    land_due(&cta->warps[0], cta);
    free(q->watched);
    free(q);
    cta->async = NULL;
}
