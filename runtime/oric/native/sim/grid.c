/* A launch: its clusters and CTAs, the round robin over them, limits. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/async.h"
#include "sim/clock.h"
#include "sim/memcheck.h"
#include "sim/modes.h"

#define WARP_SLICE 256u           /* instructions of a warp before the next one's turn */
#define CLUSTER_SLICE (1u << 20)  /* instructions of a cluster before one more becomes resident */
#define SHORT_SLICE (1u << 10)    /* ... in a cooperative launch */
#define RESIDENT_BYTES (1ull << 30)
#define POISON 0x7fbadbadu        /* registers start as a NaN that is no plausible index */

static void free_cta(sim_cta *cta)
{
    if (!cta)
        return;
    if (cta->warps)
        for (uint32_t i = 0; i < cta->nwarps; i++) {
            sim_strict_end(&cta->warps[i]);
            free(cta->warps[i].registers);
            free(cta->warps[i].local);
        }
    sim_memcheck_end(cta);
    free(cta->warps);
    free(cta->registers);
    free(cta->shared);
    free(cta->tensor);
    free(cta);
}

static void free_cluster(sim_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->nctas && cluster->ctas[i]; i++)
        sim_async_end(cluster->ctas[i]); /* copies may be on their way into each other's memory */
    for (uint32_t i = 0; i < cluster->nctas; i++)
        free_cta(cluster->ctas[i]);
    free(cluster);
}

/* 0: no memory. */
static int start_warp(sim_cta *cta, uint32_t id)
{
    oric_sim *sim = cta->sim;
    sim_warp *w = &cta->warps[id];
    uint32_t first = id * SIM_LANES;
    uint32_t left = sim->threads - first;
    uint32_t mask = left >= SIM_LANES ? SIM_FULL : (1u << left) - 1;
    w->sim = sim;
    w->cta = cta;
    w->shadow = cta->shadow;
    w->code = &sim->codes[0];
    w->id = id;
    w->nregs = sim->launch.num_regs;
    w->R = (uint32_t(*)[SIM_LANES])(cta->registers + (size_t)id * w->nregs * SIM_LANES);
    w->dead = ~mask;
    w->P[7] = w->UP[7] = SIM_FULL;
    for (uint32_t i = 0; i < 255; i++)
        w->UR[i] = POISON;
    w->ngroups = 1;
    w->groups[0].pc = sim->launch.entry;
    w->groups[0].mask = mask;
    return !(sim->launch.modes & ORIC_SIM_STRICT) || sim_strict_begin(w);
}

void sim_place_of(const oric_sim *sim, uint64_t number, uint32_t rank, uint32_t ctaid[3])
{
    for (int axis = 0; axis < 3; axis++) {
        uint32_t size = sim->launch.cluster[axis], clusters = sim->launch.grid[axis] / size;
        ctaid[axis] = (uint32_t)(number % clusters) * size + rank % size;
        number /= clusters;
        rank /= size;
    }
}

static sim_cta *new_cta(oric_sim *sim, sim_cluster *cluster, uint32_t rank)
{
    sim_cta *cta = calloc(1, sizeof *cta);
    if (!cta)
        return NULL;
    size_t words;
    cta->sim = sim;
    cta->cluster = cluster;
    cta->rank = rank;
    sim_place_of(sim, cluster->number, rank, cta->ctaid);
    cta->nwarps = cta->live_warps = (sim->threads + SIM_LANES - 1) / SIM_LANES;
    words = (size_t)cta->nwarps * sim->launch.num_regs * SIM_LANES;
    cta->warps = calloc(cta->nwarps, sizeof *cta->warps);
    cta->registers = malloc(words * 4 + 4);
    cta->shared = malloc(sim->launch.shared_bytes + 1u);
    if (!cta->warps || !cta->registers || !cta->shared) {
        free_cta(cta);
        return NULL;
    }
    for (size_t i = 0; i < words; i++)
        cta->registers[i] = POISON;
    memset(cta->shared, sim_fill(sim), sim->launch.shared_bytes);
    uint32_t system = sim->launch.shared_base < sim->launch.shared_bytes ? sim->launch.shared_base : sim->launch.shared_bytes;
    memset(cta->shared, 0, system);
    memcpy(cta->shared, sim->launch.system_first[rank & 1], system < sizeof sim->launch.system_first[0] ? system : sizeof sim->launch.system_first[0]);
    if ((sim->launch.modes & ORIC_SIM_MEMCHECK) && !sim_memcheck_begin(cta)) {
        free_cta(cta);
        return NULL;
    }
    if (sim->clock && !sim_clock_begin(cta)) {
        free_cta(cta);
        return NULL;
    }
    for (uint32_t i = 0; i < cta->nwarps; i++)
        if (!start_warp(cta, i)) {
            free_cta(cta);
            return NULL;
        }
    return cta;
}

static sim_cluster *new_cluster(oric_sim *sim, uint64_t number)
{
    const uint32_t *size = sim->launch.cluster;
    sim_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return NULL;
    cluster->number = number;
    cluster->nctas = cluster->live_ctas = size[0] * size[1] * size[2];
    cluster->live = cluster->nctas * sim->threads;
    for (uint32_t rank = 0; rank < cluster->nctas; rank++) {
        cluster->ctas[rank] = new_cta(sim, cluster, rank);
        if (!cluster->ctas[rank]) {
            cluster->nctas = rank;
            free_cluster(cluster);
            return NULL;
        }
    }
    return cluster;
}

static int more_clusters(const oric_sim *sim)
{
    return __atomic_load_n(&sim->shared->next_cluster, __ATOMIC_RELAXED) < sim->num_clusters;
}

/* Bring the next cluster of the grid in, behind the others. 0: no memory; another worker may have had the last one. */
static int admit_cluster(oric_sim *sim)
{
    uint64_t number = __atomic_fetch_add(&sim->shared->next_cluster, 1, __ATOMIC_RELAXED);
    if (number >= sim->num_clusters)
        return 1;
    sim_cluster *cluster = new_cluster(sim, number);
    if (!cluster) {
        sim->fault.code = ORIC_FAULT_NO_MEMORY;
        return 0;
    }
    sim->resident++;
    if (sim->ring) {
        cluster->next = sim->ring->next;
        sim->ring->next = cluster;
    } else {
        cluster->next = cluster;
    }
    sim->ring = cluster;
    return 1;
}

static void retire_cluster(oric_sim *sim)
{
    sim_cluster *cluster = sim->ring, *before = cluster;
    while (before->next != cluster)
        before = before->next;
    before->next = cluster->next;
    sim->ring = before == cluster ? NULL : cluster->next;
    sim->resident--;
    sim->stats.ctas += cluster->nctas;
    free_cluster(cluster);
}

/* Whether the sizes are possible; fills in what follows from them. */
static int take_sizes(oric_sim *sim)
{
    oric_sim_launch *launch = &sim->launch;
    uint64_t threads = 1, clusters = 1, size = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (launch->cluster[axis] == 0)
            launch->cluster[axis] = 1;
        if (launch->block[axis] == 0 || launch->block[axis] > 1024 || launch->cluster[axis] > ORIC_MAX_CLUSTER)
            return 0;
        if (launch->grid[axis] == 0 || launch->grid[axis] % launch->cluster[axis])
            return 0;
        threads *= launch->block[axis];
        size *= launch->cluster[axis];
        uint64_t count = launch->grid[axis] / launch->cluster[axis];
        if (clusters > UINT64_MAX / count)
            return 0;
        clusters *= count;
    }
    sim->threads = (uint32_t)threads;
    sim->num_clusters = clusters;
    return threads <= 1024 && size <= ORIC_MAX_CLUSTER;
}

/* From the first cluster on. */
void sim_begin_grid(oric_sim *sim)
{
    sim->next_cluster = 0;
    memset(&sim->stats, 0, sizeof sim->stats);
    memset(sim->op_counts, 0, (sim_op_count + 1u) * sizeof *sim->op_counts);
    memset(&sim->fault, 0, sizeof sim->fault);
}

int oric_sim_start(oric_sim *sim, const oric_sim_launch *launch)
{
    sim_stop_grid(sim);
    sim->launch = *launch;
    if (launch->num_regs > 255 || !sim->ncodes || !take_sizes(sim)) {
        sim->num_clusters = 0;
        return -1;
    }
    if ((launch->modes & ORIC_SIM_STRICT) && !sim_strict_start(sim)) {
        sim->num_clusters = 0;
        return -1;
    }
    sim_begin_grid(sim);
    sim->nreports = 0;
    sim->nprinted = 0;
    sim->nsteps = 0;
    sim->steps_failed = 0;
    sim_memcheck_launch(sim);
    sim_clock_free(sim);
    if (launch->modes & ORIC_SIM_TIMING && !sim_clock_start(sim)) {
        sim->num_clusters = 0;
        return -1;
    }
    return 0;
}

void sim_stop_grid(oric_sim *sim)
{
    while (sim->ring)
        retire_cluster(sim);
    sim_end_team(sim);
    while (sim->ngraves)
        free(sim->graves[--sim->ngraves]);
    sim->num_clusters = sim->next_cluster = 0;
}

void oric_sim_stop(oric_sim *sim) { sim_stop_grid(sim); }

/* A warp of the cluster that has not ended; there is one. */
static sim_warp *live_warp(sim_cluster *cluster)
{
    for (uint32_t k = 0; k < cluster->nctas; k++)
        for (uint32_t i = 0; i < cluster->ctas[k]->nwarps; i++)
            if (cluster->ctas[k]->warps[i].ngroups)
                return &cluster->ctas[k]->warps[i];
    return NULL;
}

static void deadlock(sim_cluster *cluster)
{
    static const char *const names[] = {"", "BSYNC", "WARPSYNC", "BAR", "UCGABAR_WAIT", "WARPSYNC.COLLECTIVE"};
    sim_warp *w = live_warp(cluster);
    uint32_t waiting = 0;
    char text[100];
    for (uint32_t k = 0; k < cluster->nctas; k++) {
        waiting += cluster->ctas[k]->live_warps;
        if (cluster->ctas[k]->shadow)
            sim_memcheck_deadlock(cluster->ctas[k]);
    }
    const sim_group *g = &w->groups[0];
    w->pc = g->pc;
    snprintf(text, sizeof text, "%u warps wait for ever; this one at %s %u with lanes 0x%08x", waiting,
             names[g->state <= SIM_AT_COLLECTIVE ? g->state : 0], g->index, g->mask);
    sim_fault(w, ORIC_FAULT_DEADLOCK, sim_first_lane(g->mask), text);
}

/* Run a cluster for about `budget` instructions; returns how many it took. */
static uint64_t run_cluster(sim_cluster *cluster, uint64_t budget)
{
    const oric_sim *sim = cluster->ctas[0]->sim;
    uint64_t taken = 0;
    uint32_t idle = 0, warps = cluster->nctas * cluster->ctas[0]->nwarps;
    while (taken < budget && cluster->live_ctas) {
        sim_cta *cta = cluster->ctas[cluster->next_cta];
        uint32_t took = sim_run_warp(&cta->warps[cta->next_warp], budget == 1 ? 1 : WARP_SLICE);
        taken += took;
        if (sim->fault.code)
            return taken;
        if (++cta->next_warp == cta->nwarps) {
            cta->next_warp = 0;
            cluster->next_cta = cluster->next_cta + 1 == cluster->nctas ? 0 : cluster->next_cta + 1;
        }
        idle = took ? 0 : idle + 1;
        if (idle > warps) {
            deadlock(cluster);
            return taken;
        }
    }
    return taken;
}

static void step_limit(oric_sim *sim)
{
    sim_warp *w = live_warp(sim->ring);
    const sim_cluster *cluster = sim->ring;
    do
        for (uint32_t k = 0; k < cluster->nctas; k++)
            if (cluster->ctas[k]->shadow)
                sim_memcheck_endless(cluster->ctas[k]);
    while ((cluster = cluster->next) != sim->ring);
    w->pc = w->groups[w->current].pc;
    sim_fault(w, ORIC_FAULT_STEP_LIMIT, sim_first_lane(w->groups[w->current].mask), "");
}

/* Whether one more cluster may become resident: as many as a GPU could hold, within a bound on the host's memory. */
static int may_admit(const oric_sim *sim)
{
    const oric_sim_launch *launch = &sim->launch;
    uint64_t cta = sizeof(sim_cta) + launch->shared_bytes +
                   (uint64_t)sim->threads * (launch->num_regs * 4ull + launch->local_bytes) + 2048 * sim->threads / 32;
    uint64_t each = cta * launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    return more_clusters(sim) && (sim->resident == 0 || (sim->resident + 1) * each < RESIDENT_BYTES);
}

/* Run clusters for about `steps` instructions. */
int sim_run_slice(oric_sim *sim, uint64_t steps)
{
    uint64_t taken = 0, slice = sim->launch.cooperative ? SHORT_SLICE : CLUSTER_SLICE;
    slice = steps == 1 ? 1 : slice; /* somebody wants to see every step */
    if (sim->fault.code)
        return ORIC_SIM_FAULT;
    while (sim->ring || more_clusters(sim)) {
        if (!sim->ring && !admit_cluster(sim))
            return ORIC_SIM_FAULT;
        if (!sim->ring)
            break;
        if (sim->stats.warp_instructions >= sim->launch.max_steps)
            step_limit(sim);
        uint64_t left = sim->launch.max_steps - sim->stats.warp_instructions;
        if (!sim->fault.code)
            taken += run_cluster(sim->ring, left < slice ? left : slice);
        if (sim->fault.code)
            return ORIC_SIM_FAULT;
        if (sim->ring->live_ctas == 0) {
            retire_cluster(sim);
        } else if (may_admit(sim) && sim->stats.warp_instructions < sim->launch.max_steps) {
            if (!admit_cluster(sim)) /* it may be the one that this one waits for */
                return ORIC_SIM_FAULT;
        } else {
            sim->ring = sim->ring->next;
        }
        if (taken >= steps)
            break;
    }
    return sim->ring || more_clusters(sim) ? ORIC_SIM_PAUSED : ORIC_SIM_DONE;
}

int oric_sim_run(oric_sim *sim, uint64_t steps)
{
    return sim_wants_team(sim) ? sim_run_team(sim, steps) : sim_run_slice(sim, steps);
}
