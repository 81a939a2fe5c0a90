/*
 * mbarrier objects. Their bits follow from the words that mbarrier.init makes, and from what mbarrier.pending_count and the
 * tests take out of a state. Counts are stored negated, so that an arrival is an addition:
 *
 *   sm_90 and up: 1-20 expected arrivals, 21-42 transaction count, 43-62 pending arrivals, 63 phase.
 *     Where in 21-42 hardware has the transaction count does not show; bit 0 is 0.
 *   sm_80 to sm_89: 0-29 expected arrivals (above them 01, or the carry of 0), 32-62 pending arrivals, 63 phase.
 */
#include "sim/mbarrier.h"

#include "sim/async.h"
#include "sim/clock.h"
#include "sim/lanes.h"
#include "sim/memcheck.h"

enum { EXPECTED = 1, TRANSACTIONS = 21, PENDING = 43, PHASE = 63, COUNT_BITS = 20, TRANSACTION_BITS = 22 };
enum { MAX_COUNT = (1 << COUNT_BITS) - 1, PLAIN_EXPECTED = 0x40000000, PLAIN_PENDING = 0x7fffffff };

static uint64_t field(uint64_t word, int at, int bits) { return word >> at & ((1ull << bits) - 1); }

static uint32_t count_at(uint64_t word, int at) { return (uint32_t)(-field(word, at, COUNT_BITS) & MAX_COUNT); }

static uint64_t count_bits(uint32_t count, int at) { return (-(uint64_t)count & MAX_COUNT) << at; }

static int64_t transactions(uint64_t word)
{
    uint64_t bits = field(word, TRANSACTIONS, TRANSACTION_BITS), sign = 1ull << (TRANSACTION_BITS - 1);
    return (int64_t)(bits ^ sign) - (int64_t)sign;
}

static void no_room(sim_warp *w, uint32_t lane, const char *what) { sim_fault(w, ORIC_FAULT_ILLEGAL, lane, what); }

uint8_t *sim_mbarrier_place(sim_warp *w, uint32_t lane, uint64_t address)
{
    int fault = ORIC_FAULT_MISALIGNED;
    uint8_t *found = address & 7 ? NULL : sim_locate(w, lane, ORIC_MEM_CLUSTER, address, 8, SIM_WRITE, &fault);
    if (!found && w->shadow)
        sim_memcheck_access(w, lane, NULL, fault, ORIC_MEM_CLUSTER, address, 8, SIM_WRITE);
    else if (!found)
        sim_fault_access(w, fault, lane, ORIC_MEM_CLUSTER, address, 8, SIM_WRITE);
    sim_clock_arrive(w, found);
    return found;
}

void sim_mbarrier_update(sim_warp *w, uint32_t lane, uint8_t *word, sim_mbarrier_step step)
{
    uint64_t old;
    memcpy(&old, word, 8);
    uint32_t expected = count_at(old, EXPECTED), pending = count_at(old, PENDING);
    int64_t bytes = transactions(old) + step.bytes;
    uint64_t phase = old >> PHASE;
    if (old & 1)
        return no_room(w, lane, "no mbarrier at this address");
    if (step.arrivals > pending || (step.drop && step.arrivals > expected))
        return no_room(w, lane, "more arrivals at an mbarrier than it expects in a phase");
    if (bytes > MAX_COUNT || bytes < -MAX_COUNT)
        return no_room(w, lane, "transaction count of an mbarrier out of range");
    pending -= step.arrivals;
    expected -= step.drop ? step.arrivals : 0;
    if (pending == 0 && bytes == 0) {
        phase ^= 1;
        pending = expected;
    }
    uint64_t fresh = phase << PHASE | count_bits(pending, PENDING) | count_bits(expected, EXPECTED);
    fresh |= ((uint64_t)bytes & ((1ull << TRANSACTION_BITS) - 1)) << TRANSACTIONS;
    memcpy(word, &fresh, 8);
}

void sim_mbarrier_arrive_plain(sim_warp *w, uint32_t lane, uint8_t *word)
{
    uint32_t half[2];
    memcpy(half, word, 8);
    uint32_t expected = PLAIN_EXPECTED - half[0];
    if (expected > MAX_COUNT)
        return no_room(w, lane, "no mbarrier at this address");
    half[1]++;
    if ((half[1] & PLAIN_PENDING) == 0)
        half[1] |= -expected & PLAIN_PENDING; /* the carry has turned the phase */
    memcpy(word, half, 8);
}

/* Places of the lanes' mbarriers; 0 after a fault. */
static int places(sim_warp *w, uint32_t mask, int space, const uint64_t *at, int write, uint8_t **out)
{
    if (w->shadow)
        sim_memcheck_mbarrier(w);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        out[l] = place(w, l, space, at[l], 8, write);
        if (!out[l])
            return 0;
    }
    return 1;
}

static void put_pair(uint32_t *const *to, uint32_t lane, uint32_t low, uint32_t high)
{
    if (!to[0])
        return;
    to[0][lane] = low;
    to[1][lane] = high;
}

/* Exchange of the word at a uniform address: how mbarriers are initialised. */
SIM_OP(mbarrier_exchange, sim_opd URd, sim_opd URa, sim_opd off, sim_opd URb)
{
    uint32_t first = sim_first_lane(mask);
    uint64_t room[SIM_LANES], old, value = sim_get64(w, mask, URb, room, 0)[first];
    if (w->shadow)
        sim_memcheck_overwrites(w);
    uint8_t *word = place(w, first, CLUSTER, (uint32_t)(sim_get_uniform(w, mask, URa) + (uint32_t)off->value), 8, 1);
    if (!word)
        return;
    memcpy(&old, word, 8);
    memcpy(word, &value, 8);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        room[l] = old;
    sim_put64(w, mask, URd, room);
}

/* Arrivals and bytes of a lane as the modifier `tx` says. */
static sim_mbarrier_step step_of(unsigned tx, uint32_t value, unsigned drop)
{
    int64_t bytes = (int32_t)value;
    switch (tx) {
    case V_A1T0: return (sim_mbarrier_step){1, 0, drop != 0};
    case V_A0T1: return (sim_mbarrier_step){0, 1, 0};
    case V_A0TR: return (sim_mbarrier_step){0, bytes, 0};
    case V_A0TX: return (sim_mbarrier_step){0, -bytes, 0};
    case V_ART0: return (sim_mbarrier_step){value, 0, drop != 0};
    default: return (sim_mbarrier_step){1, bytes, drop != 0};
    }
}

/*
 * Every lane gets the state before what any lane does (seen on an H100). With TMASK the lanes that do the same get the state before all of them, in the
 * upper word, and their mask in the lower one.
 */
SIM_OP(mbarrier_arrive, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned tx, unsigned drop, unsigned together)
{
    uint64_t at[SIM_LANES];
    uint32_t room[SIM_LANES], *to[2], state[2], before[SIM_LANES][2];
    uint8_t *words[SIM_LANES];
    addresses(w, mask, A32, Ra, off, URa, V_X1, at);
    const uint32_t *values = sim_get32(w, mask, Rb, room, SIM_AS_BITS);
    if (!rows(w, mask, Rd, 2, to) || !places(w, mask, CLUSTER, at, 1, words))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            memcpy(before[l], words[l], 8);
    for (uint32_t left = mask; left;) {
        uint32_t first = sim_first_lane(left), group = 0;
        for (uint32_t l = first; l < SIM_LANES; l++)
            if ((left >> l & 1) && (l == first || (together && words[l] == words[first] && values[l] == values[first])))
                group |= 1u << l;
        left &= ~group;
        memcpy(state, words[first], 8);
        sim_mbarrier_step step = step_of(tx, values[first], drop);
        step.arrivals *= (uint32_t)__builtin_popcount(group);
        step.bytes *= __builtin_popcount(group);
        sim_mbarrier_update(w, first, words[first], step);
        if (w->sim->fault.code)
            return;
        sim_clock_arrive(w, words[first]);
        for (uint32_t l = first; l < SIM_LANES; l++)
            if (group >> l & 1)
                put_pair(to, l, together ? group : before[l][0], together ? state[1] : before[l][1]);
    }
}

/* True for a lane when the phase whose parity is in bit 31 of Rb is over. Who has to try again gives way to other threads. */
SIM_OP(mbarrier_test, sim_opd Pd, sim_opd Ra, sim_opd off, sim_opd URa, sim_opd Rb, unsigned trywait)
{
    uint64_t at[SIM_LANES];
    uint32_t room[SIM_LANES], over = 0;
    uint8_t *words[SIM_LANES];
    addresses(w, mask, A32, Ra, off, URa, V_X1, at);
    const uint32_t *parity = sim_get32(w, mask, Rb, room, SIM_AS_BITS);
    if (!places(w, mask, CLUSTER, at, 0, words))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint64_t word;
        if (!(mask >> l & 1))
            continue;
        sim_async_before_test(w, words[l]);
        memcpy(&word, words[l], 8);
        if (word & 1)
            return no_room(w, l, "no mbarrier at this address");
        over |= (uint32_t)(word >> PHASE != parity[l] >> 31) << l;
    }
    sim_putp(w, mask, Pd, over);
    sim_clock_tested(w, words[sim_first_lane(mask)], over != 0);
    if (w->shadow && (mask & ~over))
        sim_memcheck_polls(w, mask & ~over, words[sim_first_lane(mask & ~over)]);
    if (trywait && over != mask)
        sim_yield(w);
}

/* Arrivals of sm_80 to sm_89, one after the other. */
SIM_OP(mbarrier_arrive_plain, int space, int how, sim_opd Rd, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale)
{
    uint64_t at[SIM_LANES];
    uint32_t *to[2], state[2];
    uint8_t *words[SIM_LANES];
    addresses(w, mask, how, Ra, off, URa, scale, at);
    if (!rows(w, mask, Rd, 2, to) || !places(w, mask, space, at, 1, words))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        memcpy(state, words[l], 8);
        sim_mbarrier_arrive_plain(w, l, words[l]);
        if (w->sim->fault.code)
            return;
        put_pair(to, l, state[0], state[1]);
    }
}

typedef struct {
    uint8_t *word;
    uint32_t lanes;
    unsigned count;
} copy_arrival;

static void land_arrivals(sim_warp *w, void *what)
{
    const copy_arrival *a = what;
    uint32_t lane = sim_first_lane(a->lanes);
    int64_t lanes = __builtin_popcount(a->lanes);
    if (a->count == V_ARVCNT)
        return sim_mbarrier_update(w, lane, a->word, (sim_mbarrier_step){(uint32_t)lanes, 0, 0});
    if (a->count == V_TRANSCNT)
        return sim_mbarrier_update(w, lane, a->word, (sim_mbarrier_step){0, -lanes, 0});
    for (; lanes && !w->sim->fault.code; lanes--)
        sim_mbarrier_arrive_plain(w, lane, a->word);
}

/* The mbarrier hears of the end of what the lanes have copied with LDGSTS: as an arrival or as a transaction. */
SIM_OP(mbarrier_follow_copies, sim_opd Ra, sim_opd off, sim_opd URa, unsigned count)
{
    uint64_t at[SIM_LANES];
    uint8_t *words[SIM_LANES];
    addresses(w, mask, A32, Ra, off, URa, V_X1, at);
    if (!places(w, mask, SHARED, at, 1, words))
        return;
    for (uint32_t left = mask; left;) {
        copy_arrival arrival = {words[sim_first_lane(left)], 0, count};
        for (uint32_t l = 0; l < SIM_LANES; l++)
            if ((left >> l & 1) && words[l] == arrival.word)
                arrival.lanes |= 1u << l;
        left &= ~arrival.lanes;
        sim_clock_arrive(w, arrival.word);
        sim_async_arrive(w, SIM_BY_COPY_GROUP, w->cta, arrival.word, arrival.lanes, land_arrivals, &arrival, sizeof arrival);
    }
}
