/*
 * CTAs on host threads. Each worker has a simulator of its own that shares code, memory and constant banks with the launch's;
 * clusters are given out by number. Only kernels whose result cannot depend on the order of CTAs run like this, in no mode that
 * watches them. What goes wrong may depend on the order: then memory becomes what it was, and one thread does it all again.
 */
#include <stdlib.h>

#include "sim/state.h"

#define MOST_WORKERS 64u
#define WORKER_SLICE (1u << 16)      /* instructions between two looks at what the others do */
#define MOST_SAVED (1ull << 30)      /* bytes of memory that are saved; with more there is one thread */

typedef struct sim_team {
    uint32_t count;
    int stop; /* somebody has made a fault */
    uint64_t steps;
    pthread_mutex_t lock;
    uint8_t **saved; /* what the writable allocations were before */
    uint32_t nsaved;
    oric_sim workers[];
} sim_team;

void sim_lock(sim_warp *w)
{
    if (w->sim->shared != w->sim)
        pthread_mutex_lock(&w->sim->shared->team->lock);
}

void sim_unlock(sim_warp *w)
{
    if (w->sim->shared != w->sim)
        pthread_mutex_unlock(&w->sim->shared->team->lock);
}

static int runs_in_order(const oric_sim *sim)
{
    for (uint32_t i = 0; i < sim->ncodes; i++)
        if (sim->launch.entry - sim->codes[i].base < sim->codes[i].size)
            return sim->codes[i].in_order;
    return 1;
}

int sim_wants_team(const oric_sim *sim)
{
    if (sim->team)
        return 1;
    int plain = (sim->launch.modes & ~(uint32_t)ORIC_SIM_PERTURB) == 0;
    return plain && sim->launch.workers > 1 && sim->num_clusters > 1 && sim->next_cluster == 0 && !sim->launch.cooperative && !sim->fault.code &&
           !runs_in_order(sim);
}

static void drop_saved(sim_team *team)
{
    for (uint32_t i = 0; i < team->nsaved; i++)
        free(team->saved[i]);
    free(team->saved);
    team->saved = NULL;
    team->nsaved = 0;
}

/* 0: too much memory. */
static int save_memory(const oric_sim *sim, sim_team *team)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sim->nallocs; i++)
        bytes += sim->allocs[i].read_only ? 0 : sim->allocs[i].size;
    team->saved = bytes <= MOST_SAVED ? calloc(sim->nallocs + 1u, sizeof *team->saved) : NULL;
    if (!team->saved)
        return 0;
    team->nsaved = sim->nallocs;
    for (uint32_t i = 0; i < sim->nallocs; i++) {
        const sim_alloc *a = &sim->allocs[i];
        if (a->read_only)
            continue;
        team->saved[i] = malloc(a->size + 1);
        if (!team->saved[i])
            return 0;
        memcpy(team->saved[i], a->data, a->size);
    }
    return 1;
}

static void restore_memory(oric_sim *sim, const sim_team *team)
{
    for (uint32_t i = 0; i < team->nsaved; i++)
        if (team->saved[i])
            memcpy(sim->allocs[i].data, team->saved[i], sim->allocs[i].size);
}

/* 0: no memory. */
static int make_worker(oric_sim *worker, oric_sim *sim)
{
    *worker = *sim;
    worker->shared = sim;
    worker->team = NULL;
    worker->ring = NULL;
    worker->resident = 0;
    worker->last_alloc = 0;
    worker->reports = NULL;
    worker->nreports = worker->room_reports = 0;
    worker->printed = NULL;
    worker->nprinted = worker->room_printed = 0;
    worker->graves = NULL;
    worker->ngraves = worker->room_graves = 0;
    worker->op_counts = calloc(sim_op_count + 1u, sizeof *worker->op_counts);
    return worker->op_counts != NULL;
}

static void free_team(sim_team *team)
{
    for (uint32_t i = 0; i < team->count; i++) {
        sim_stop_grid(&team->workers[i]);
        free(team->workers[i].reports);
        free(team->workers[i].graves);
        free(team->workers[i].op_counts);
    }
    drop_saved(team);
    free(team);
}

static sim_team *new_team(oric_sim *sim)
{
    uint32_t wanted = sim->launch.workers < MOST_WORKERS ? sim->launch.workers : MOST_WORKERS;
    if (wanted > sim->num_clusters)
        wanted = (uint32_t)sim->num_clusters;
    sim_team *team = calloc(1, sizeof *team + wanted * sizeof team->workers[0]);
    int made = team && save_memory(sim, team);
    for (; made && team->count < wanted; team->count++)
        made = make_worker(&team->workers[team->count], sim);
    if (made && pthread_mutex_init(&team->lock, NULL) == 0)
        return team;
    if (team)
        free_team(team);
    return NULL;
}

void sim_end_team(oric_sim *sim)
{
    sim_team *team = sim->team;
    if (!team)
        return;
    sim->team = NULL;
    pthread_mutex_destroy(&team->lock);
    free_team(team);
}

static void *work(void *argument)
{
    oric_sim *worker = argument;
    sim_team *team = worker->shared->team;
    uint64_t until = worker->stats.warp_instructions + team->steps;
    int state = ORIC_SIM_PAUSED;
    while (state == ORIC_SIM_PAUSED && worker->stats.warp_instructions < until && !__atomic_load_n(&team->stop, __ATOMIC_RELAXED))
        state = sim_run_slice(worker, WORKER_SLICE);
    if (state == ORIC_SIM_FAULT)
        __atomic_store_n(&team->stop, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* All workers run for `steps` instructions each; the first one on this thread. */
static void run_workers(sim_team *team, uint64_t steps)
{
    pthread_t threads[MOST_WORKERS];
    int made[MOST_WORKERS] = {0};
    team->steps = steps;
    for (uint32_t i = 1; i < team->count; i++)
        made[i] = pthread_create(&threads[i], NULL, work, &team->workers[i]) == 0;
    work(&team->workers[0]);
    for (uint32_t i = 1; i < team->count; i++) {
        if (made[i])
            pthread_join(threads[i], NULL);
        else
            work(&team->workers[i]);
    }
}

static int add_up(oric_sim *sim)
{
    const sim_team *team = sim->team;
    int busy = 0;
    memset(&sim->stats, 0, sizeof sim->stats);
    memset(sim->op_counts, 0, (sim_op_count + 1u) * sizeof *sim->op_counts);
    for (uint32_t i = 0; i < team->count; i++) {
        sim_add_stats(&sim->stats, &team->workers[i].stats);
        for (uint32_t op = 0; op < sim_op_count; op++)
            sim->op_counts[op] += team->workers[i].op_counts[op];
        busy |= team->workers[i].ring != NULL;
    }
    return busy || sim->next_cluster < sim->num_clusters;
}

int sim_run_team(oric_sim *sim, uint64_t steps)
{
    if (!sim->team)
        sim->team = new_team(sim);
    if (!sim->team) {
        sim->launch.workers = 1;
        return sim_run_slice(sim, steps);
    }
    run_workers(sim->team, steps);
    int busy = add_up(sim);
    if (sim->team->stop || sim->stats.warp_instructions > sim->launch.max_steps) {
        restore_memory(sim, sim->team);
        sim_end_team(sim);
        sim->launch.workers = 1;
        sim_begin_grid(sim);
        return ORIC_SIM_PAUSED;
    }
    if (busy)
        return ORIC_SIM_PAUSED;
    sim_end_team(sim);
    return ORIC_SIM_DONE;
}
