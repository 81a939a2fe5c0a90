/* State of the simulator: module, grid, CTAs, warps. Private to this floor. */
#ifndef ORIC_SIM_STATE_H
#define ORIC_SIM_STATE_H
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "sass/insn.h"
#include "sim/sim.h"
#include "tables/numbers.h"
#include "tables/registers.h"

#define SIM_LANES ORIC_LANES
#define SIM_FULL 0xffffffffu
#define SIM_BANKS 32
#define SIM_MOST_WORDS 256 /* of shared memory that an instruction of a warp accesses */

/* Why a group of threads does not run. */
enum { SIM_READY = 0, SIM_AT_BSYNC, SIM_AT_WARPSYNC, SIM_AT_BARRIER, SIM_AT_CLUSTER, SIM_AT_COLLECTIVE };

/* Threads of a warp that share a program counter. */
typedef struct {
    uint64_t pc;
    uint64_t from, to; /* the last branch: for messages about one that goes nowhere */
    uint32_t mask;
    uint32_t wait; /* lanes of a WARPSYNC or a collective; unused by the other states */
    uint8_t state;
    uint8_t index; /* convergence barrier or CTA barrier waited for */
} sim_group;

typedef struct {
    uint64_t base, size;
    oric_insn *insns; /* size / 16 of them */
    int in_order;     /* it has instructions whose result depends on the order of CTAs */
    struct sim_facts *facts; /* strict mode (sim/facts.c); NULL before */
} sim_code;

typedef struct {
    uint64_t base, size;
    uint8_t *data;
    int read_only;
    int heap; /* of malloc() in device code */
    uint8_t *written; /* memory checker: a bit for each byte that has been written; NULL: all of it counts as written */
} sim_alloc;

/* An allocation that is no more. Its addresses are not given out again. */
typedef struct {
    uint64_t base, size;
    uint64_t pc; /* of the instruction that freed it; 0: the host did */
} sim_freed;

typedef struct {
    uint8_t *data;
    uint64_t size;
} sim_bank;

struct sim_cta;

/* The memory access of a warp's last instruction that had one, until it is counted (sim/traffic.c). */
#define SIM_MOST_TRAFFIC 64u
typedef struct {
    uint64_t step; /* of the CTA */
    uint64_t address[SIM_MOST_TRAFFIC];
    uint32_t size[SIM_MOST_TRAFFIC];
    uint32_t count;
    int space;
} sim_traffic;

typedef struct sim_warp {
    oric_sim *sim;
    struct sim_cta *cta;
    const sim_code *code; /* the section of the current instruction */
    uint64_t pc;          /* address of the current instruction */
    uint32_t (*R)[SIM_LANES];
    uint32_t nregs;
    uint32_t *registers; /* its own, when it has got more than a warp starts with; NULL: a part of the CTA's */
    uint32_t active;  /* lanes of the current group, before the guard */
    uint32_t helpers; /* lanes of others that go along with it, from BMOV.PQUAD MACTIVE to BMOV MACTIVE */
    uint32_t dead;    /* lanes that have exited or never existed */
    uint32_t id;      /* warp of the CTA */
    uint32_t ngroups;
    uint32_t current; /* group that runs */
    uint32_t moved;   /* set when an instruction has updated the groups itself */
    uint32_t since_switch;
    uint32_t yields; /* since groups have joined */
    uint32_t result_value;           /* of the last BAR.RED, for B2R.RESULT */
    uint32_t result_pred;
    uint32_t P[8];                   /* a lane mask for each predicate; [7] = all */
    uint32_t UP[8];                  /* 0 or all ones; [7] = all ones */
    uint32_t UR[256];                /* [255] = 0 */
    uint64_t collective[SIM_LANES];  /* where each lane goes on behind a collective */
    uint32_t B[ORIC_CONVERGENCE_BARRIERS][SIM_LANES];/* convergence barriers: the participants, as each lane sees them */
    uint32_t scratch[2][SIM_LANES]; /* Rpc, low and high words */
    uint32_t arrived[ORIC_CTA_BARRIERS];
    uint32_t cluster_arrived; /* lanes that have arrived at the cluster's barrier in this phase ... */
    uint32_t cluster_passed;  /* ... and those that arrived in a phase that is over, and have not waited yet */
    sim_traffic traffic;
    uint32_t slice_steps;     /* instructions of the slice that runs, for the clock */
    sim_group groups[SIM_LANES];
    uint8_t *local; /* local_bytes for each lane; made on first use */
    struct sim_pending *pending; /* strict mode: results under way (sim/strict.c); NULL in other modes */
    uint32_t async_boards;       /* strict mode: scoreboards that tell the end of asynchronous copies (sim/async.c) */
    struct sim_clock *clock;     /* timing mode (sim/clock.c): its record; NULL without one */
    uint32_t lanes_seen;         /* words of shared memory that the current instruction accesses, in timing mode */
    uint64_t words_seen[SIM_MOST_WORDS];
    const uint8_t *word_read;    /* the first one that the current instruction reads, in timing mode */
    struct sim_shadow *shadow;   /* of the CTA, memory checker (sim/memcheck.c); NULL in other modes */
} sim_warp;

typedef struct {
    uint32_t arrived; /* threads, counted in whole warps */
    uint32_t wanted;  /* 0: all threads of the CTA */
    uint32_t popc, any, all_but;
    uint32_t reducing;
} sim_barrier;

struct sim_cluster;

typedef struct sim_cta {
    oric_sim *sim;
    struct sim_cluster *cluster;
    uint32_t rank;     /* in the cluster */
    uint32_t ctaid[3];
    uint32_t nwarps, live_warps;
    uint32_t next_warp;
    uint64_t steps;    /* warp instructions so far */
    sim_barrier barriers[ORIC_CTA_BARRIERS];
    uint8_t *shared;
    uint32_t *tensor;     /* tensor memory, made on first use (sim/ops_tensor_memory.c) */
    uint32_t tensor_used; /* its granules in use */
    sim_warp *warps;
    uint32_t *registers;
    uint32_t spare_registers; /* of a thread, that warps have given back */
    struct sim_async_queue *async; /* copies under way (sim/async.c); NULL while there are none and in other modes than strict */
    struct sim_shadow *shadow; /* memory checker; NULL in other modes */
} sim_cta;

/* CTAs that run together and see each other's shared memory; without clusters one CTA. */
typedef struct sim_cluster {
    struct sim_cluster *next; /* ring of resident clusters */
    uint64_t number;
    uint32_t nctas, live_ctas;
    uint32_t next_cta;
    uint32_t live, arrived; /* threads: those that have not exited, and those of them at the barrier */
    sim_cta *ctas[ORIC_MAX_CLUSTER];
} sim_cluster;

struct oric_sim {
    int isa;
    sim_code *codes;
    uint32_t ncodes;
    sim_alloc *allocs; /* sorted by base */
    uint32_t nallocs, room_allocs;
    uint32_t last_alloc;
    uint64_t next_address;
    sim_freed *freed; /* the latest, sorted by base */
    uint32_t nfreed, room_freed;
    sim_bank banks[SIM_BANKS];
    oric_sim_launch launch;
    oric_sim_stats stats;
    oric_sim_fault fault;
    uint64_t next_cluster, num_clusters;
    oric_sim *shared;  /* of a worker: the simulator that it works for, which has next_cluster; else itself */
    struct sim_team *team; /* the workers of the launch (sim/workers.c); NULL while one host thread does it all */
    uint32_t resident;
    sim_cluster *ring; /* the cluster whose turn it is */
    uint32_t threads;
    oric_sim_report *reports;
    uint32_t nreports, room_reports;
    uint64_t *op_counts; /* by operation; one more for words that are none */
    oric_sim_texture *textures; /* by handle (sim/texture.c) */
    uint32_t ntextures;
    struct sim_clock_state *clock; /* timing mode */
    oric_sim_step *steps;
    uint64_t nsteps, room_steps;
    int steps_failed; /* no memory for them */
    char *printed; /* by printf() of the device */
    uint64_t nprinted, room_printed;
    uint64_t heap_used;
    uint8_t **graves; /* memory that device code has freed while copies may still be on their way into it */
    uint32_t ngraves, room_graves;
};

/* Executes one instruction for the lanes of mask (never empty). */
typedef void (*sim_exec_fn)(sim_warp *w, const oric_insn *in, uint32_t mask);

/* Generated: one entry for each operation number; NULL: the spec gives no meaning. */
extern const sim_exec_fn sim_exec_table[];
extern const char *const sim_op_names[];
extern const uint8_t sim_op_uniform_guard[]; /* 1: the guard is a uniform predicate */
extern const unsigned sim_op_count;
/* Whether what an instruction does depends on the order in which CTAs run. */
int sim_in_order(const oric_insn *in);

/* Faults: the first one wins. Only the engine looks at it, between instructions. */
void sim_fault(sim_warp *w, int code, uint32_t lane, const char *detail);
void sim_fault_access(sim_warp *w, int code, uint32_t lane, int space, uint64_t address, uint32_t size, int write);

/* Keep a report; the same kind and instructions again only count. sim/report.c */
void sim_report(sim_warp *w, uint32_t lane, oric_sim_report report);

/* sim/memory.c */
/* The host bytes of an access when it is allowed, else NULL and in *fault the kind; nothing is reported. */
uint8_t *sim_locate(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write, int *fault);
const sim_alloc *sim_find_alloc(oric_sim *sim, uint64_t address);
/* Free an allocation, as the instruction at pc does (0: the host); -1: there is none. */
int sim_release_from(oric_sim *sim, uint64_t address, uint64_t pc);
uint8_t *sim_address(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write);
/* What an access does: `write` of the functions below. Reductions of the same memory do not disturb one another. */
enum { SIM_READ = 0, SIM_WRITE = 1, SIM_REDUCE = 2 };
/* The host place of *base, where all accesses of a warp lie in one allocation (or in own shared memory) and nothing looks at single
   ones; NULL: they have to be made lane by lane. */
uint8_t *sim_address_warp(sim_warp *w, uint32_t mask, int space, const uint64_t at[SIM_LANES], uint32_t bytes, int write, uint64_t *base);
/* As sim_address for `need` bytes at an address that is a multiple of `align`. */
uint8_t *sim_address_span(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t align, uint32_t need, int write);
/* As sim_address for `size` bytes (the alignment) of which only the first `need` are accessed. */
const uint8_t *sim_address_part(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, uint32_t need);
const uint8_t *sim_constant(sim_warp *w, uint32_t lane, uint32_t bank, uint64_t offset, uint32_t size);
uint8_t *sim_local(sim_warp *w, uint32_t lane);
int sim_generic_space(const sim_warp *w, uint64_t *address);
/* The CTA of the cluster with that rank; NULL when there is none. */
static inline sim_cta *sim_cluster_cta(const sim_cta *cta, uint32_t rank)
{
    return rank < cta->cluster->nctas ? cta->cluster->ctas[rank] : 0;
}
/* The CTA that an address of ORIC_MEM_CLUSTER belongs to, NULL when there is none; the address becomes an offset in its memory. */
static inline sim_cta *sim_shared_owner(const sim_warp *w, uint64_t *address)
{
    uint64_t rank = *address >> ORIC_RANK_SHIFT;
    *address &= (1u << ORIC_RANK_SHIFT) - 1;
    return rank < ORIC_MAX_CLUSTER ? sim_cluster_cta(w->cta, (uint32_t)rank) : 0;
}

/* sim/flow.c: program counters, convergence barriers, CTA barriers. */
void sim_goto(sim_warp *w, uint32_t mask, uint64_t target);
void sim_goto_each(sim_warp *w, uint32_t mask, const uint64_t *targets);
void sim_exit(sim_warp *w, uint32_t mask);
void sim_bssy(sim_warp *w, uint32_t mask, uint32_t breg);
void sim_bsync(sim_warp *w, uint32_t mask, uint32_t breg);
void sim_break(sim_warp *w, uint32_t mask, uint32_t breg);
void sim_warpsync(sim_warp *w, uint32_t mask, const uint32_t *wanted, int exclusive);
void sim_collective(sim_warp *w, uint32_t mask, const uint32_t *wanted, uint64_t target);
void sim_yield(sim_warp *w);
void sim_barrier_arrive(sim_warp *w, uint32_t mask, uint32_t index, uint32_t wanted, int wait, int reducing, uint32_t pred);
void sim_cluster_arrive(sim_warp *w, uint32_t mask);
void sim_cluster_wait(sim_warp *w, uint32_t mask);
int sim_pick_group(sim_warp *w);

/* sim/engine.c: decoding, one warp's instructions. */
uint32_t sim_run_warp(sim_warp *w, uint32_t budget);

/* sim/grid.c: clusters and CTAs of a launch. */
void sim_stop_grid(oric_sim *sim);
void sim_begin_grid(oric_sim *sim);
/* Place in the grid of a CTA of a cluster. */
void sim_place_of(const oric_sim *sim, uint64_t number, uint32_t rank, uint32_t ctaid[3]);
int sim_run_slice(oric_sim *sim, uint64_t steps);

/* What clocks count outside of timing mode: warp instructions of the CTA, so that the value is the same on every run. */
static inline uint64_t sim_clock(const sim_warp *w) { return w->cta->steps + w->slice_steps; }

/* sim/traffic.c: add the access that is not yet counted to the statistics. */
void sim_count_traffic(sim_warp *w);
/* Count an access of `bytes` bytes in each lane, between the addresses low and high. */
void sim_count_warp(sim_warp *w, int space, uint32_t mask, const uint64_t at[SIM_LANES], uint32_t bytes, uint64_t low, uint64_t high);

/* A lane's access in the current instruction. */
static inline void sim_note_traffic(sim_warp *w, int space, uint64_t address, uint32_t size)
{
    sim_traffic *t = &w->traffic;
    uint64_t step = sim_clock(w);
    if (t->count && (t->step != step || t->space != space || t->count == SIM_MOST_TRAFFIC))
        sim_count_traffic(w);
    t->step = step;
    t->space = space;
    t->address[t->count] = address;
    t->size[t->count++] = size;
}

/* sim/workers.c: host threads that run CTAs. */
int sim_wants_team(const oric_sim *sim);
int sim_run_team(oric_sim *sim, uint64_t steps);
void sim_end_team(oric_sim *sim);

static inline void sim_add_stats(oric_sim_stats *sum, const oric_sim_stats *part)
{
    sum->warp_instructions += part->warp_instructions;
    sum->thread_instructions += part->thread_instructions;
    sum->ctas += part->ctas;
    sum->branches += part->branches;
    sum->divergent_branches += part->divergent_branches;
    for (int i = 0; i < ORIC_MEMORY_SPACES; i++) {
        sum->accesses[i] += part->accesses[i];
        sum->transactions[i] += part->transactions[i];
        sum->bytes[i] += part->bytes[i];
    }
}

/* Around a read-modify-write of memory that CTAs on other host threads may see. */
void sim_lock(sim_warp *w);
void sim_unlock(sim_warp *w);

static inline int sim_fill(const oric_sim *sim) { return sim->launch.fill ? (int)(sim->launch.fill & 0xff) : 0xcd; }

static inline uint32_t sim_first_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

static inline void sim_thread_id(const sim_warp *w, uint32_t lane, uint32_t tid[3])
{
    const uint32_t *block = w->sim->launch.block;
    uint32_t flat = w->id * SIM_LANES + lane;
    tid[0] = flat % block[0];
    tid[1] = flat / block[0] % block[1];
    tid[2] = flat / block[0] / block[1];
}
#endif
