/* Barriers that not all threads reach in the same way. */
#include "sim/shadow.h"

static void report(sim_warp *w, uint32_t lane, int kind, uint32_t index)
{
    const sim_shadow *s = w->shadow;
    oric_sim_report r = {0};
    r.kind = kind;
    r.second = w->pc;
    r.number = index;
    if (index < ORIC_CTA_BARRIERS && s->barrier_pc[index] && s->barrier_pc[index] != w->pc) {
        r.first = s->barrier_pc[index];
        memcpy(r.other_tid, s->barrier_tid[index], sizeof r.other_tid);
    }
    sim_report(w, lane, r);
}

/* Threads that arrive with a count, or in a way, that differs from who arrived before them in the same phase. */
static void compare_with_first(sim_warp *w, uint32_t mask, uint32_t index, uint32_t wanted, int reducing)
{
    sim_shadow *s = w->shadow;
    uint32_t all = w->cta->sim->threads;
    uint32_t threads = wanted ? wanted : (all + SIM_LANES - 1) / SIM_LANES * SIM_LANES;
    if (!s->barrier_pc[index]) {
        s->barrier_pc[index] = w->pc;
        s->barrier_threads[index] = threads;
        s->barrier_reducing[index] = (uint8_t)reducing;
        sim_thread_id(w, sim_first_lane(mask), s->barrier_tid[index]);
    } else if (s->barrier_threads[index] != threads || s->barrier_reducing[index] != reducing) {
        oric_sim_report r = {0};
        r.kind = ORIC_REPORT_BARRIER_MISMATCH;
        r.first = s->barrier_pc[index];
        memcpy(r.other_tid, s->barrier_tid[index], sizeof r.other_tid);
        r.second = w->pc;
        r.number = index;
        r.had = (int32_t)threads;
        r.needed = (int32_t)s->barrier_threads[index];
        sim_report(w, sim_first_lane(mask), r);
    }
}

void sim_memcheck_barrier(sim_warp *w, uint32_t mask, uint32_t index, uint32_t wanted, int wait, int reducing)
{
    sim_shadow *s = w->shadow;
    (void)wait;
    sim_race_settle(w, mask);
    if (~w->dead & ~mask)
        report(w, sim_first_lane(mask), ORIC_REPORT_DIVERGENT_BARRIER, index);
    else
        compare_with_first(w, mask, index, wanted, reducing);
    sim_race_release(s, w->id, s->barrier_clocks + (size_t)index * s->nclocks);
}

void sim_memcheck_barrier_left(sim_warp *w, uint32_t index)
{
    sim_shadow *s = w->shadow;
    sim_race_acquire(s, w->id, s->barrier_clocks + (size_t)index * s->nclocks);
    if (!w->cta->barriers[index].wanted) /* of all threads: those that have exited count as arrived */
        sim_race_acquire(s, w->id, s->exit_clock);
    sim_shadow_of(w)->synced = sim_shadow_of(w)->step;
}

void sim_memcheck_barrier_over(sim_cta *cta, uint32_t index)
{
    sim_shadow *s = cta->shadow;
    memset(s->barrier_clocks + (size_t)index * s->nclocks, 0, s->nclocks * sizeof *s->barrier_clocks);
    s->barrier_pc[index] = 0;
}

/* Arrivals of the next phase may be known too early: the clock of the cluster's barrier only grows. */
void sim_memcheck_cluster_arrive(sim_warp *w)
{
    sim_race_settle(w, w->active);
    sim_race_release(w->shadow, w->id, sim_cluster_shadow(w)->cluster_clock);
}

void sim_memcheck_cluster_passed(sim_warp *w)
{
    const sim_cluster *cluster = w->cta->cluster;
    sim_race_acquire(w->shadow, w->id, sim_cluster_shadow(w)->cluster_clock);
    for (uint32_t i = 0; i < cluster->nctas; i++)
        sim_race_acquire(w->shadow, w->id, cluster->ctas[i]->shadow->exit_clock);
    sim_shadow_of(w)->synced = sim_shadow_of(w)->step;
}

void sim_memcheck_exit(sim_warp *w, uint32_t mask)
{
    sim_race_settle(w, mask);
    sim_race_release(w->shadow, w->id, w->shadow->exit_clock);
}

void sim_memcheck_polls(sim_warp *w, uint32_t lanes, const void *at)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    own->poll_at = (uint64_t)((uintptr_t)at - (uintptr_t)w->cta->shared) & ~7ull;
    own->poll_pc = w->pc;
    own->poll_step = own->step;
    own->poll_lane = sim_first_lane(lanes);
}

void sim_memcheck_endless(sim_cta *cta)
{
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        sim_warp *w = &cta->warps[i];
        const sim_warp_shadow *own = sim_shadow_of(w);
        if (!w->ngroups || !own->poll_step || own->step - own->poll_step > SHADOW_POLLS)
            continue;
        uint64_t pc = w->pc;
        w->pc = own->poll_pc;
        sim_report(w, own->poll_lane, (oric_sim_report){.kind = ORIC_REPORT_BARRIER_MISMATCH, .second = w->pc, .space = ORIC_MEM_SHARED,
                                                        .address = own->poll_at, .number = ORIC_CTA_BARRIERS});
        w->pc = pc;
    }
}

/* Who waits for ever: with lanes of its own warp elsewhere it is divergent, otherwise the warps do not agree. */
void sim_memcheck_deadlock(sim_cta *cta)
{
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        sim_warp *w = &cta->warps[i];
        for (uint32_t k = 0; k < w->ngroups; k++) {
            const sim_group *g = &w->groups[k];
            uint32_t index = g->state == SIM_AT_BARRIER ? g->index : ORIC_CTA_BARRIERS;
            w->pc = g->pc;
            report(w, sim_first_lane(g->mask), w->ngroups > 1 ? ORIC_REPORT_DIVERGENT_BARRIER : ORIC_REPORT_BARRIER_MISMATCH, index);
        }
    }
}
