/* State of the memory checker. Private to sim/memcheck.c, sim/race.c and sim/syncheck.c. */
#ifndef ORIC_SIM_SHADOW_H
#define ORIC_SIM_SHADOW_H
#include "sim/memcheck.h"

enum {
    SHADOW_KEYS = 64,        /* sets of addresses whose atomics and mbarriers order threads */
    SHADOW_GROUPS = 64,      /* groups of asynchronous copies that a warp remembers */
    SHADOW_DOUBTS = 4,       /* reads of a lane that the next atomics may explain */
    SHADOW_EXPLAINED = 64,   /* instructions known to be such reads */
    SHADOW_CANDIDATES = 128, /* overlapping writes of one instruction that are looked at when it is done */
    SHADOW_POLLS = 64,       /* instructions within which a thread that waits asks again */
    SHADOW_SCRATCH = 1024    /* bytes that stand in for memory that is not there */
};

/* Bytes that stand in for memory that is not there. Copies under way may still point to them: they last as long as the CTA. */
typedef struct sim_stand_in {
    struct sim_stand_in *next;
    uint32_t size;
    uint8_t bytes[];
} sim_stand_in;

/* Who touched a cell. clock 0: nobody. */
typedef struct {
    uint32_t clock; /* of the warp, or of its copies */
    uint32_t step;  /* instruction of the warp */
    uint32_t pc;    /* code address / 16, lower bits */
    uint16_t warp;  /* of the cluster: sim_warp_name */
    uint8_t lane, access; /* ORIC_ACCESS_* */
} sim_touch;

/* Four bytes of shared memory, or one. Of the readers since the last write two of different warps are kept. */
typedef struct {
    sim_touch write;   /* the last one that is no atomic */
    sim_touch atomic;  /* the last one since */
    sim_touch read[2];
    uint32_t split; /* 1 + index of the four cells of the bytes, 0: not split */
    uint32_t mbarrier; /* it is part of one */
} sim_cell;

/*
 * A plain read and an atomic that nothing orders. It is no race when the reader, or another thread after the same instruction, goes
 * on with an atomic there: a loop that ends when compare and swap finds what was read, or when the value needs no change.
 */
typedef struct {
    uint64_t place; /* what the atomic must touch, 0: nothing kept */
    sim_cta *owner; /* of the memory */
    sim_touch first;
    uint64_t pc, address;
    uint32_t size;
    uint32_t reader; /* pc as in sim_touch */
    uint16_t warp;
    uint8_t lane, access; /* who found it */
} sim_doubt;

typedef struct {
    uint64_t place;
    uint32_t pc;
} sim_last_read;

/* What the lanes of a warp know of each other. */
typedef struct {
    uint32_t together[SIM_LANES];        /* lanes of the group in which a lane was last */
    uint32_t when[SIM_LANES];            /* of the first lane of a group: its last step */
    uint32_t known[SIM_LANES][SIM_LANES];/* step up to which a lane knows of another one */
} sim_lane_clocks;

typedef struct {
    uint32_t step;    /* instructions so far */
    uint32_t synced;  /* the last one up to which all lanes of the warp are ordered */
    sim_lane_clocks *lanes; /* NULL: the lanes have been together all the time */
    uint32_t all;           /* those lanes */
    uint32_t stamp;   /* clock of the copies that are issued now */
    uint32_t commits; /* groups */
    uint32_t group[SHADOW_GROUPS]; /* clock up to which a group reaches */
    uint8_t board;    /* scoreboard of the groups, 7: none */
    uint8_t *local_written; /* bits for local memory, lane after lane */
    sim_doubt (*doubts)[SHADOW_DOUBTS]; /* of each lane as the reader; made on first use */
    uint32_t ndoubts;       /* in use, of all lanes */
    sim_last_read last[SIM_LANES];
    uint64_t poll_at, poll_pc; /* the last question to an mbarrier: its shared address, */
    uint32_t poll_step;        /* the step of the warp, 0: none; */
    uint32_t poll_lane;
} sim_warp_shadow;

/* A write over another one that nothing orders: a race when it changes what is there. */
typedef struct {
    sim_touch first;
    const sim_cta *owner;
    uint8_t *bytes;
    uint8_t before[4];
    uint32_t size, lane;
    uint64_t address;
} sim_candidate;

typedef struct sim_shadow {
    uint32_t nwarps;
    uint32_t nall;            /* warps of the cluster, */
    uint32_t base;            /* and the first one of this CTA among them */
    uint32_t nclocks;         /* of a vector clock: warps of the cluster, their copies */
    uint32_t *clocks;         /* vector clock of each warp, */
    uint32_t *barrier_clocks; /* each CTA barrier, */
    uint32_t *key_clocks;     /* each set of addresses (the cluster's: of the first CTA), */
    uint32_t *exit_clock;     /* the threads that have exited, */
    uint32_t *cluster_clock;  /* arrivals at the cluster's barrier (of the first CTA) */
    uint8_t *shared_written;  /* bits */
    sim_cell *cells;          /* of each word of shared memory */
    sim_cell *bytes;          /* of the bytes of split words */
    uint32_t nbytes, room_bytes;
    sim_warp_shadow *warps;
    const oric_insn *insn;    /* the current instruction */
    uint32_t explained[SHADOW_EXPLAINED]; /* reads that belong to an atomic */
    uint32_t nexplained;
    int atomic, learns, overwrites, mbarrier, strong_read, synced, arrives;
    sim_candidate candidates[SHADOW_CANDIDATES];
    uint32_t ncandidates;
    sim_stand_in *scratch[2]; /* for reads and for writes */
    uint32_t barrier_threads[ORIC_CTA_BARRIERS]; /* of the phase that goes on */
    uint64_t barrier_pc[ORIC_CTA_BARRIERS];      /* first arrival of it, 0: none */
    uint8_t barrier_reducing[ORIC_CTA_BARRIERS];
    uint32_t barrier_tid[ORIC_CTA_BARRIERS][3];
} sim_shadow;

int sim_race_begin(sim_cta *cta);
void sim_race_end(sim_shadow *s);
void sim_race_before(sim_warp *w, const oric_insn *in);
void sim_race_after(sim_warp *w);
/* The lane touches bytes of shared memory of a CTA of its cluster. */
void sim_race_access(sim_warp *w, uint32_t lane, sim_cta *owner, uint64_t address, uint32_t size, int access);
void sim_race_release(sim_shadow *s, uint32_t warp, uint32_t *into);
void sim_race_settle(sim_warp *w, uint32_t lanes); /* the lanes' reads have no explanation by now */
void sim_race_acquire(sim_shadow *s, uint32_t warp, const uint32_t *from);

/* Number of a warp among those of its cluster. */
static inline uint32_t sim_warp_name(const sim_warp *w) { return w->shadow->base + w->id; }

/* Shadow state that the CTAs of a cluster share. */
static inline sim_shadow *sim_cluster_shadow(const sim_warp *w) { return w->cta->cluster->ctas[0]->shadow; }

static inline sim_warp_shadow *sim_shadow_of(const sim_warp *w) { return &w->shadow->warps[w->id]; }
#endif
