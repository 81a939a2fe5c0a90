/* Timing mode: records what the warps of one SM execute. */
#include "sim/clock.h"

#include <stdlib.h>

#define SECTOR_SHIFT 5
#define BANK_BYTES 4u
#define BANKS 32u
#define LONGEST_ROUND 16u /* instructions of a loop that asks for a word, of an mbarrier or another */
#define MOST_EVENTS (1ull << 26)

/* Room for one more element. */
static int grow(void **array, uint64_t count, uint64_t *room, size_t size)
{
    if (count < *room)
        return 1;
    uint64_t more = *room ? *room * 2 : 64;
    void *bigger = realloc(*array, more * size);
    if (!bigger)
        return 0;
    *array = bigger;
    *room = more;
    return 1;
}

int sim_clock_start(oric_sim *sim)
{
    sim_clock_free(sim);
    sim->clock = calloc(1, sizeof *sim->clock);
    return sim->clock != NULL;
}

void sim_clock_free(oric_sim *sim)
{
    sim_clock_state *c = sim->clock;
    if (!c)
        return;
    for (uint32_t i = 0; i < c->nrecords; i++) {
        free(c->records[i]->events);
        free(c->records[i]->sectors);
        free(c->records[i]);
    }
    free(c->records);
    free(c->arrivals);
    free(c->touched);
    free(c->issues);
    free(c->stalls);
    free(c->spans);
    free(c);
    sim->clock = NULL;
}

static uint32_t sm_of(const sim_cta *cta)
{
    uint32_t sms = cta->sim->launch.machine.sms;
    return (uint32_t)(cta->cluster->number % (sms ? sms : 1));
}

int sim_clock_begin(sim_cta *cta)
{
    sim_clock_state *c = cta->sim->clock;
    if (sm_of(cta) != 0)
        return 1;
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        uint64_t room = c->room_records;
        if (!grow((void **)&c->records, c->nrecords, &room, sizeof *c->records))
            return 0;
        c->room_records = (uint32_t)room;
        sim_record *r = calloc(1, sizeof *r);
        if (!r)
            return 0;
        r->block = c->blocks;
        r->last = i + 1 == cta->nwarps;
        c->records[c->nrecords++] = cta->warps[i].clock = r;
    }
    c->blocks++;
    return 1;
}

/* Whether the events from the first one to `end`, which asks again, do nothing but ask. */
static int is_idle(const sim_record *r, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        const sim_event *e = &r->events[i];
        if (e->signal || (i > first && (e->sectors || e->turns)) || e->barrier != SIM_NO_BARRIER)
            return 0;
    }
    return 1;
}

/* The events from one on have not been; nor what was noted of them. */
static void forget_from(sim_record *r, uint64_t first)
{
    r->nevents = first;
    r->failed = r->failed > first ? 0 : r->failed;
    r->read = r->read > first ? 0 : r->read;
}

/* A warp that asks an mbarrier again: the round before is forgotten, when it did nothing but ask. */
static void forget_round(sim_record *r, uint64_t pc)
{
    uint64_t first = r->failed - 1;
    if (r->nevents - first <= LONGEST_ROUND && r->events[first].pc != pc)
        return;
    r->failed = 0;
    if (r->events[first].pc == pc && !r->events[first].sectors && is_idle(r, first, r->nevents))
        forget_from(r, first);
}

void sim_clock_before(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    sim_record *r = w->clock;
    w->lanes_seen = 0;
    w->word_read = NULL;
    if (!r || w->sim->clock->failed)
        return;
    if (r->failed)
        forget_round(r, w->pc);
    if (r->nevents >= MOST_EVENTS || !grow((void **)&r->events, r->nevents, &r->room_events, sizeof *r->events)) {
        w->sim->clock->failed = 1;
        return;
    }
    r->events[r->nevents++] =
        (sim_event){.pc = w->pc, .in = in, .barrier = SIM_NO_BARRIER, .first_sector = (uint32_t)r->nsectors, .off = !mask};
}

/* Put a key into the set; 1: it was not there. */
static int insert(sim_clock_state *c, uint64_t key)
{
    if (2 * (c->ntouched + 1) > c->room_touched) {
        uint64_t old_room = c->room_touched, *old = c->touched;
        c->room_touched = old_room ? 2 * old_room : 4096;
        c->touched = calloc(c->room_touched, sizeof *c->touched);
        if (!c->touched) {
            c->touched = old, c->room_touched = old_room, c->failed = 1;
            return 0;
        }
        c->ntouched = 0;
        for (uint64_t i = 0; i < old_room; i++)
            if (old[i])
                (void)insert(c, old[i] - 1);
        free(old);
    }
    uint64_t at = (key * 0x9e3779b97f4a7c15ull >> 20) & (c->room_touched - 1);
    while (c->touched[at] && c->touched[at] != key + 1)
        at = (at + 1) & (c->room_touched - 1);
    if (c->touched[at])
        return 0;
    c->touched[at] = key + 1;
    c->ntouched++;
    return 1;
}

/* Note a sector for the instruction that the warp executes. */
static void touch(sim_warp *w, uint64_t sector)
{
    sim_clock_state *c = w->sim->clock;
    sim_record *r = w->clock;
    if (insert(c, sector << 9 | 0x1ff))
        c->somewhere++;
    if (insert(c, sector << 9 | (sm_of(w->cta) & 0xff)))
        c->everywhere++;
    if (!r || r->nevents == 0)
        return;
    sim_event *e = &r->events[r->nevents - 1];
    for (uint32_t k = 0; k < e->sectors; k++)
        if (r->sectors[e->first_sector + k] == sector)
            return;
    if (r->nsectors >= UINT32_MAX || !grow((void **)&r->sectors, r->nsectors, &r->room_sectors, sizeof *r->sectors)) {
        c->failed = 1;
        return;
    }
    r->sectors[r->nsectors++] = sector;
    e->sectors++;
}

static sim_arrival *arrival_at(sim_clock_state *c, const uint8_t *word)
{
    uint32_t at = (uint32_t)((uintptr_t)word * 0x9e3779b97f4a7c15ull >> 32) & (c->room_arrivals - 1);
    while (c->arrivals[at].word && c->arrivals[at].word != word)
        at = (at + 1) & (c->room_arrivals - 1);
    return &c->arrivals[at];
}

/* Room for one more mbarrier; 0: no memory. */
static int room_for_arrival(sim_clock_state *c)
{
    if (2 * (c->narrivals + 1) <= c->room_arrivals)
        return 1;
    sim_clock_state old = *c;
    c->room_arrivals = old.room_arrivals ? 2 * old.room_arrivals : 64;
    c->arrivals = calloc(c->room_arrivals, sizeof *c->arrivals);
    if (!c->arrivals) {
        *c = old;
        c->failed = 1;
        return 0;
    }
    for (uint32_t i = 0; i < old.room_arrivals; i++)
        if (old.arrivals[i].word)
            *arrival_at(c, old.arrivals[i].word) = old.arrivals[i];
    free(old.arrivals);
    return 1;
}

/* The word is one that is asked for; NULL: no memory. */
static sim_arrival *note_word(sim_clock_state *c, const uint8_t *word)
{
    if (!room_for_arrival(c))
        return NULL;
    sim_arrival *a = arrival_at(c, word);
    c->narrivals += !a->word;
    a->word = word;
    return a;
}

void sim_clock_arrive(sim_warp *w, const uint8_t *word)
{
    sim_clock_state *c = w->sim->clock;
    sim_record *r = w->clock;
    sim_arrival *a = r && word && !c->failed && r->nevents ? note_word(c, word) : NULL;
    if (!a)
        return;
    sim_event *e = &r->events[r->nevents - 1];
    if (!e->signal)
        e->signal = ++c->nsignals;
    *a = (sim_arrival){.word = word, .by = r, .signal = e->signal};
}

/* A write of a word that a loop asks for. */
static void note_write(sim_warp *w, const uint8_t *word)
{
    sim_clock_state *c = w->sim->clock;
    if (c->room_arrivals && arrival_at(c, word)->word)
        sim_clock_arrive(w, word);
}

void sim_clock_access(sim_warp *w, int space, uint64_t address, uint32_t size, const uint8_t *word, int write)
{
    sim_record *r = w->clock;
    if (w->sim->clock->failed || size == 0)
        return;
    if (r && write)
        note_write(w, word);
    else if (!w->word_read)
        w->word_read = word;
    if (space == ORIC_MEM_SHARED || space == ORIC_MEM_CLUSTER) {
        for (uint64_t k = address / BANK_BYTES; r && k <= (address + size - 1) / BANK_BYTES; k++)
            if (w->lanes_seen < SIM_MOST_WORDS)
                w->words_seen[w->lanes_seen++] = k;
        return;
    }
    if (space == ORIC_MEM_LOCAL) { /* threads of a warp lie next to each other there, word by word */
        uint64_t own = (1ull << 50) + ((uint64_t)w->id << 32);
        for (uint64_t k = address / BANK_BYTES; k <= (address + size - 1) / BANK_BYTES; k++)
            touch(w, (own + k * BANK_BYTES * SIM_LANES) >> SECTOR_SHIFT);
        return;
    }
    for (uint64_t sector = address >> SECTOR_SHIFT; sector <= (address + size - 1) >> SECTOR_SHIFT; sector++)
        touch(w, sector);
}

/* Of all that the instructions of a warp can read but memory. */
static uint64_t state_of(const sim_warp *w)
{
    uint64_t sum = w->active;
    for (uint32_t i = 0; i < w->nregs; i++)
        for (uint32_t l = 0; l < SIM_LANES; l++)
            sum = (sum ^ w->R[i][l]) * 0x9e3779b97f4a7c15ull;
    for (uint32_t i = 0; i < 256; i++)
        sum = (sum ^ w->UR[i]) * 0x9e3779b97f4a7c15ull;
    for (uint32_t i = 0; i < 8; i++)
        sum = ((sum ^ w->P[i]) * 0x9e3779b97f4a7c15ull ^ w->UP[i]) * 0x9e3779b97f4a7c15ull;
    return sum ^ sum >> 32;
}

/* 1: the loop that the last event is in has been at this instruction a round ago. */
static int is_again(const sim_record *r)
{
    uint64_t last = r->nevents - 1;
    for (uint64_t k = 1; k <= LONGEST_ROUND && k <= last; k++)
        if (r->events[last - k].pc == r->events[last].pc)
            return 1;
    return 0;
}

/* The last event reads a word: when a loop asks for it, the rounds in which nothing has changed are forgotten. */
static void note_read(sim_warp *w)
{
    sim_clock_state *c = w->sim->clock;
    sim_record *r = w->clock;
    sim_arrival *a = c->room_arrivals ? arrival_at(c, w->word_read) : NULL;
    int again = is_again(r);
    if (!again && !(a && a->word))
        return;
    a = note_word(c, w->word_read);
    if (!a)
        return;
    uint64_t state = state_of(w), last = r->nevents - 1, first = r->read - 1;
    if (again && r->read && r->state == state && r->events[first].pc == r->events[last].pc && is_idle(r, first, last)) {
        r->events[first] = r->events[last];
        last = first;
        forget_from(r, first + 1);
    }
    r->read = last + 1;
    r->state = state;
    if (a->signal && a->by != r && a->by->block == r->block)
        r->events[last].after = a->signal;
}

/* Turns of the banks: the most different words that one of them has to give. */
void sim_clock_after(sim_warp *w)
{
    sim_record *r = w->clock;
    uint8_t counts[BANKS] = {0};
    uint32_t most = 0;
    if (!r || r->nevents == 0)
        return;
    for (uint32_t i = 0; i < w->lanes_seen; i++) {
        uint32_t k = 0;
        while (k < i && w->words_seen[k] != w->words_seen[i])
            k++;
        if (k < i)
            continue;
        uint8_t *count = &counts[w->words_seen[i] % BANKS];
        most = ++*count > most ? *count : most;
    }
    r->events[r->nevents - 1].turns = (uint16_t)most;
    if (w->word_read && !w->sim->clock->failed)
        note_read(w);
}

void sim_clock_barrier(sim_warp *w, uint32_t index, uint32_t wanted, int wait)
{
    sim_record *r = w->clock;
    if (!r || r->nevents == 0)
        return;
    sim_event *e = &r->events[r->nevents - 1];
    e->barrier = (uint8_t)index;
    e->waits = wait != 0;
    e->warps = (uint16_t)((wanted + SIM_LANES - 1) / SIM_LANES);
}

void sim_clock_tested(sim_warp *w, const uint8_t *word, int over)
{
    sim_clock_state *c = w->sim->clock;
    sim_record *r = w->clock;
    if (!r || c->failed || r->nevents == 0)
        return;
    if (!over) {
        r->failed = r->nevents;
        return;
    }
    if (!c->room_arrivals)
        return;
    const sim_arrival *a = arrival_at(c, word);
    if (a->signal && a->by != r && a->by->block == r->block) /* others may not be there yet when it is played */
        r->events[r->nevents - 1].after = a->signal;
}
