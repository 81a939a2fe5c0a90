/* Control flow of a warp: groups of threads with a common program counter, convergence, CTA and cluster barriers. */
#include "sim/clock.h"
#include "sim/memcheck.h"

/*
 * A loop that yields may wait for what threads do behind the convergence barrier at which they wait for the loop (a lock whose
 * holder is to release it there). After so many turns of such a loop these go on without it.
 */
#define PATIENCE (1u << 14)

static sim_group *current(sim_warp *w) { return &w->groups[w->current]; }

/* A new group; there is always room: groups are disjoint and not empty. */
static sim_group *add_group(sim_warp *w, uint64_t pc, uint32_t mask)
{
    sim_group *g = &w->groups[w->ngroups++];
    g->pc = pc;
    g->from = g->to = 0;
    g->mask = mask;
    g->wait = 0;
    g->state = SIM_READY;
    g->index = 0;
    return g;
}

static void remove_group(sim_warp *w, uint32_t index)
{
    uint32_t last = --w->ngroups;
    if (w->current == index)
        w->current = 0; /* any group: the caller looks for a ready one */
    else if (w->current == last)
        w->current = index;
    if (index != last)
        w->groups[index] = w->groups[last];
}

/* Make a ready group the current one, the next in turn after the current. 0: no group is ready. */
int sim_pick_group(sim_warp *w)
{
    w->since_switch = 0;
    for (uint32_t step = 1; step <= w->ngroups; step++) {
        uint32_t index = (w->current + step) % w->ngroups;
        if (w->groups[index].state == SIM_READY) {
            w->current = index;
            return 1;
        }
    }
    return 0;
}

static void send(const sim_warp *w, sim_group *g, uint64_t target)
{
    g->pc = g->to = target;
    g->from = w->pc;
}

/* Send the lanes of mask to target; the other lanes of the group go on behind the instruction. */
void sim_goto(sim_warp *w, uint32_t mask, uint64_t target)
{
    sim_group *g = current(w);
    uint32_t rest = g->mask & ~mask;
    w->moved = 1;
    w->sim->stats.branches++;
    w->sim->stats.divergent_branches += rest && mask;
    if (mask == 0) {
        g->pc += ORIC_INSN_BYTES;
        return;
    }
    if (rest) {
        g->mask = rest;
        g->pc = w->pc + ORIC_INSN_BYTES;
        send(w, add_group(w, target, mask), target);
    } else {
        send(w, g, target);
    }
}

void sim_goto_each(sim_warp *w, uint32_t mask, const uint64_t *targets)
{
    uint32_t left = mask, parted = 0;
    w->sim->stats.branches++;
    w->moved = 1;
    while (left) {
        uint64_t target = targets[sim_first_lane(left)];
        uint32_t same = 0;
        for (uint32_t l = 0; l < SIM_LANES; l++)
            if ((left >> l & 1) && targets[l] == target)
                same |= 1u << l;
        left &= ~same;
        if (same == current(w)->mask) {
            send(w, current(w), target);
            w->sim->stats.divergent_branches += parted;
            return;
        }
        current(w)->mask &= ~same;
        send(w, add_group(w, target, same), target);
        parted = 1;
    }
    current(w)->pc = w->pc + ORIC_INSN_BYTES;
    w->sim->stats.divergent_branches += parted;
}

/* Participants of a convergence barrier that still live, as the first lane of mask sees them. */
static uint32_t participants(const sim_warp *w, uint32_t mask, uint32_t breg)
{
    return w->B[breg][sim_first_lane(mask)] & ~w->dead;
}

/* Whether a group waits for the same as g: at the same barrier, not at the one of that number of another depth of recursion. */
static int waits_with(const sim_warp *w, const sim_group *g, const sim_group *other, uint32_t wanted)
{
    if (g->state == SIM_AT_COLLECTIVE)
        return other->state == g->state && other->wait == g->wait;
    if (other->state != g->state || other->index != g->index || other->pc != g->pc || !(other->mask & (wanted | g->mask)))
        return 0;
    return g->state != SIM_AT_BSYNC || other == g || (participants(w, other->mask, g->index) & g->mask) != 0;
}

/* Let the waiting groups go whose barrier is complete, joined into one group for each barrier. */
static void reconverge(sim_warp *w)
{
    for (uint32_t i = 0; i < w->ngroups; i++) {
        sim_group *g = &w->groups[i];
        if (g->state != SIM_AT_BSYNC && g->state != SIM_AT_WARPSYNC && g->state != SIM_AT_COLLECTIVE)
            continue;
        uint32_t wanted = g->state == SIM_AT_BSYNC ? participants(w, g->mask, g->index) : g->wait & ~w->dead;
        uint32_t here = 0;
        for (uint32_t k = 0; k < w->ngroups; k++) {
            const sim_group *other = &w->groups[k];
            if (waits_with(w, g, other, wanted))
                here |= other->mask;
        }
        if (wanted & ~here)
            continue;
        for (uint32_t k = w->ngroups; k-- > 0;) {
            sim_group *other = &w->groups[k];
            int place = g->state == SIM_AT_COLLECTIVE ? other->wait == g->wait : other->pc == g->pc;
            if (k != i && other->state == g->state && other->index == g->index && place && (other->mask & here)) {
                g->mask |= other->mask;
                other->mask = 0;
            }
        }
        g->state = SIM_READY;
        g->pc += ORIC_INSN_BYTES;
        w->yields = 0;
        for (uint32_t k = w->ngroups; k-- > 0;)
            if (w->groups[k].mask == 0)
                remove_group(w, k);
        i = (uint32_t)-1; /* the groups moved: look again from the first */
    }
}

/* The current group waits at the current instruction in a state. */
static void wait_here(sim_warp *w, uint32_t mask, uint8_t state, uint8_t index, uint32_t wait)
{
    sim_group *g = current(w);
    uint32_t rest = g->mask & ~mask;
    if (rest) {
        g->mask = rest;
        g->pc = w->pc + ORIC_INSN_BYTES;
        g = add_group(w, w->pc, mask);
    }
    g->pc = w->pc;
    g->state = state;
    g->index = index;
    g->wait = wait;
    w->moved = 1;
}

void sim_bssy(sim_warp *w, uint32_t mask, uint32_t breg)
{
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            w->B[breg][l] = mask;
}

/*
 * Lanes wait for the participants that each of them sees: those that WARPSYNC has brought together may have begun the region at
 * different times.
 */
void sim_bsync(sim_warp *w, uint32_t mask, uint32_t breg)
{
    uint32_t left = mask;
    while (left) {
        uint32_t set = participants(w, left, breg), same = 0;
        for (uint32_t l = 0; l < SIM_LANES; l++)
            if ((left >> l & 1) && (w->B[breg][l] & ~w->dead) == set)
                same |= 1u << l;
        left &= ~same;
        if (left) {
            current(w)->mask &= ~same;
            sim_group *g = add_group(w, w->pc, same);
            g->state = SIM_AT_BSYNC;
            g->index = (uint8_t)breg;
            g->wait = 0;
        } else {
            wait_here(w, same, SIM_AT_BSYNC, (uint8_t)breg, 0);
        }
    }
    reconverge(w);
}

/* The lanes of mask leave the barrier, for every participant. */
static void leave(sim_warp *w, uint32_t mask, uint32_t breg)
{
    uint32_t members = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            members |= w->B[breg][l];
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if ((members | mask) >> l & 1)
            w->B[breg][l] &= ~mask;
}

void sim_break(sim_warp *w, uint32_t mask, uint32_t breg)
{
    leave(w, mask, breg);
    current(w)->pc += ORIC_INSN_BYTES;
    w->moved = 1;
    reconverge(w);
}

/* The lanes wait here in a state, apart where they name different masks. */
static void wait_for_masks(sim_warp *w, uint32_t mask, const uint32_t *wanted, uint8_t state)
{
    uint32_t left = mask;
    while (left) {
        uint32_t want = wanted[sim_first_lane(left)], same = 0;
        for (uint32_t l = 0; l < SIM_LANES; l++)
            if ((left >> l & 1) && wanted[l] == want)
                same |= 1u << l;
        left &= ~same;
        if (left) {
            current(w)->mask &= ~same;
            sim_group *g = add_group(w, w->pc, same);
            g->state = state;
            g->wait = want;
        } else {
            wait_here(w, same, state, 0, want);
        }
    }
    reconverge(w);
}

/*
 * A collective: the lanes of a mask meet wherever each of them has one, go through the code of one of these places together and
 * part at its end (ENDCOLLECTIVE), each to the target of its own place. (Code of ptxas has the same registers at all places.)
 */
void sim_collective(sim_warp *w, uint32_t mask, const uint32_t *wanted, uint64_t target)
{
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            w->collective[l] = target;
    wait_for_masks(w, mask, wanted, SIM_AT_COLLECTIVE);
}

void sim_warpsync(sim_warp *w, uint32_t mask, const uint32_t *wanted, int exclusive)
{
    uint32_t missing = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            missing |= wanted[l] & ~w->dead & ~mask;
    if (!missing && !exclusive) {
        current(w)->pc += ORIC_INSN_BYTES; /* all are here: the group stays together */
        w->moved = 1;
        return;
    }
    wait_for_masks(w, mask, wanted, SIM_AT_WARPSYNC);
}

/* Let the groups go on that wait at a convergence barrier for lanes of mask; they leave the barrier. */
static void release_waiting(sim_warp *w, uint32_t mask)
{
    for (uint32_t i = 0; i < w->ngroups; i++) {
        sim_group *g = &w->groups[i];
        if (g->state != SIM_AT_BSYNC || !(participants(w, g->mask, g->index) & mask))
            continue;
        leave(w, g->mask, g->index);
        g->state = SIM_READY;
        g->pc += ORIC_INSN_BYTES;
    }
}

void sim_yield(sim_warp *w)
{
    current(w)->pc += ORIC_INSN_BYTES;
    w->moved = 1;
    if (w->ngroups > 1 && ++w->yields >= PATIENCE) {
        release_waiting(w, current(w)->mask);
        w->yields = 0;
    }
    sim_pick_group(w);
}

/* Release the threads that wait at a CTA barrier, and start its next phase. */
static void release_barrier(sim_cta *cta, uint32_t index)
{
    sim_barrier *b = &cta->barriers[index];
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        sim_warp *w = &cta->warps[i];
        for (uint32_t k = 0; k < w->ngroups; k++) {
            sim_group *g = &w->groups[k];
            if (g->state != SIM_AT_BARRIER || g->index != index)
                continue;
            if (w->shadow)
                sim_memcheck_barrier_left(w, index);
            g->state = SIM_READY;
            g->pc += ORIC_INSN_BYTES;
            if (b->reducing) {
                w->result_value = b->popc;
                w->result_pred = b->reducing == 1 ? b->popc != 0 : b->reducing == 2 ? !b->all_but : b->any;
            }
        }
    }
    if (cta->shadow)
        sim_memcheck_barrier_over(cta, index);
    memset(b, 0, sizeof *b);
}

static void check_barrier(sim_cta *cta, uint32_t index)
{
    sim_barrier *b = &cta->barriers[index];
    uint32_t wanted = b->wanted ? b->wanted : cta->live_warps * SIM_LANES;
    if (b->arrived && b->arrived >= wanted)
        release_barrier(cta, index);
}

/* Count a warp in as soon as all of its live lanes have arrived. */
static void count_warp(sim_warp *w, uint32_t index)
{
    if (w->arrived[index] && (w->arrived[index] | w->dead) == SIM_FULL) {
        w->arrived[index] = 0;
        w->cta->barriers[index].arrived += SIM_LANES;
    }
}

/*
 * The lanes of mask arrive at a CTA barrier. wanted: threads, 0 for all; wait: not for BAR.ARV;
 * reducing: 0, 1 count, 2 and, 3 or of the lanes' predicate bits.
 */
void sim_barrier_arrive(sim_warp *w, uint32_t mask, uint32_t index, uint32_t wanted, int wait, int reducing, uint32_t pred)
{
    sim_barrier *b = &w->cta->barriers[index];
    if (w->shadow)
        sim_memcheck_barrier(w, mask, index, wanted, wait, reducing);
    if (w->clock)
        sim_clock_barrier(w, index, wanted, wait);
    b->wanted = wanted;
    if (reducing) {
        b->reducing = (uint32_t)reducing;
        b->popc += (uint32_t)__builtin_popcount(pred & mask);
        b->any |= (pred & mask) != 0;
        b->all_but |= (~pred & mask) != 0;
    }
    w->arrived[index] |= mask;
    if (wait)
        wait_here(w, mask, SIM_AT_BARRIER, (uint8_t)index, 0);
    count_warp(w, index);
    check_barrier(w->cta, index);
}

/* All live threads of the cluster have arrived: those that wait go on, the next phase begins. */
static void check_cluster(sim_cluster *cluster)
{
    if (cluster->arrived == 0 || cluster->arrived < cluster->live)
        return;
    cluster->arrived = 0;
    for (uint32_t k = 0; k < cluster->nctas; k++) {
        for (uint32_t i = 0; i < cluster->ctas[k]->nwarps; i++) {
            sim_warp *w = &cluster->ctas[k]->warps[i];
            w->cluster_passed |= w->cluster_arrived & ~w->dead;
            w->cluster_arrived = 0;
            for (uint32_t n = 0; n < w->ngroups; n++) {
                sim_group *g = &w->groups[n];
                if (g->state != SIM_AT_CLUSTER)
                    continue;
                g->state = SIM_READY;
                g->pc += ORIC_INSN_BYTES;
                w->cluster_passed &= ~g->mask;
                if (w->shadow)
                    sim_memcheck_cluster_passed(w);
            }
        }
    }
}

/* The lanes of mask arrive at the cluster's barrier and go on. */
void sim_cluster_arrive(sim_warp *w, uint32_t mask)
{
    sim_cluster *cluster = w->cta->cluster;
    if (mask & (w->cluster_arrived | w->cluster_passed)) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "second arrival at the cluster's barrier without a wait");
        return;
    }
    if (w->shadow)
        sim_memcheck_cluster_arrive(w);
    w->cluster_arrived |= mask;
    cluster->arrived += (uint32_t)__builtin_popcount(mask);
    current(w)->pc += ORIC_INSN_BYTES;
    w->moved = 1;
    check_cluster(cluster);
}

/* The lanes of mask wait for the end of the phase at which they arrived. */
void sim_cluster_wait(sim_warp *w, uint32_t mask)
{
    uint32_t passed = mask & w->cluster_passed, waiting = mask & ~passed;
    if (waiting & ~w->cluster_arrived) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(waiting & ~w->cluster_arrived), "wait at the cluster's barrier without an arrival");
        return;
    }
    w->cluster_passed &= ~passed;
    if (waiting) {
        wait_here(w, waiting, SIM_AT_CLUSTER, 0, 0);
        return;
    }
    if (w->shadow)
        sim_memcheck_cluster_passed(w);
    current(w)->pc += ORIC_INSN_BYTES;
    w->moved = 1;
}

void sim_exit(sim_warp *w, uint32_t mask)
{
    sim_group *g = current(w);
    if (w->shadow)
        sim_memcheck_exit(w, mask);
    w->moved = 1;
    sim_cluster *cluster = w->cta->cluster;
    cluster->live -= (uint32_t)__builtin_popcount(mask);
    cluster->arrived -= (uint32_t)__builtin_popcount(mask & w->cluster_arrived);
    w->cluster_arrived &= ~mask;
    w->dead |= mask;
    g->mask &= ~mask;
    g->pc = w->pc + ORIC_INSN_BYTES;
    if (g->mask == 0)
        remove_group(w, w->current);
    reconverge(w);
    if (w->ngroups == 0 && --w->cta->live_warps == 0)
        cluster->live_ctas--;
    for (uint32_t i = 0; i < ORIC_CTA_BARRIERS; i++) {
        count_warp(w, i);
        check_barrier(w->cta, i);
    }
    check_cluster(cluster);
}
