/*
 * Timing mode. While the launch runs, the warps of the blocks that one SM would get are recorded (sim/clock.c); then the records are
 * played through a model of that SM (sim/replay.c). What a launch computes does not depend on it.
 */
#ifndef ORIC_SIM_CLOCK_H
#define ORIC_SIM_CLOCK_H
#include "sim/state.h"

enum { SIM_NO_BARRIER = 255 };

/* An instruction of a warp. */
typedef struct {
    uint64_t pc;
    const oric_insn *in;
    uint32_t first_sector;  /* in the record's sectors */
    uint16_t sectors, turns; /* of global and local memory; of the banks of shared memory */
    uint8_t barrier;        /* CTA barrier that it arrives at */
    uint8_t waits;          /* ... and waits for */
    uint16_t warps;         /* that this barrier needs; 0: all */
    uint8_t off;            /* no thread executes it */
    uint32_t signal, after; /* 1 + number of the arrival at an mbarrier that it makes, or whose phase it finds over; 0: none */
} sim_event;

/* A warp of a recorded block. */
typedef struct sim_clock {
    sim_event *events;
    uint64_t *sectors;
    uint64_t nevents, room_events, nsectors, room_sectors;
    uint32_t block; /* number among the recorded ones */
    uint32_t last;  /* of its block */
    uint64_t failed; /* 1 + number of the event that last asked an mbarrier in vain; 0: none */
    uint64_t read, state; /* 1 + number of the event that last read a word that is asked for, 0: none; the warp's state behind it */
} sim_record;

/* The last arrival at an mbarrier, or write of a word that a loop asks for. */
typedef struct {
    const uint8_t *word; /* where it is; NULL: a free slot */
    const sim_record *by;
    uint32_t signal;
} sim_arrival;

typedef struct sim_clock_state {
    sim_record **records; /* in order of blocks and warps */
    uint32_t nrecords, room_records, blocks;
    uint64_t *touched;    /* set of sectors; of sectors and SMs */
    uint64_t ntouched, room_touched;
    uint64_t everywhere, somewhere; /* sectors touched by each SM, summed; sectors touched by any */
    int failed;           /* no memory */
    sim_arrival *arrivals; /* a hash table */
    uint32_t narrivals, room_arrivals, nsignals;
    oric_sim_timing result;
    oric_sim_issue *issues;
    uint64_t nissues, room_issues;
    oric_sim_span *spans; /* by record */
    oric_sim_stalls *stalls;
    uint64_t nstalls;
} sim_clock_state;

/* 0: no memory. */
int sim_clock_start(oric_sim *sim);
void sim_clock_free(oric_sim *sim);
/* A block begins: its warps get records when it belongs to the SM. 0: no memory. */
int sim_clock_begin(sim_cta *cta);
/* An instruction is about to execute; a lane accesses memory; a warp arrives at a barrier of its block. */
void sim_clock_before(sim_warp *w, const oric_insn *in, uint32_t mask);
void sim_clock_access(sim_warp *w, int space, uint64_t address, uint32_t size, const uint8_t *word, int write);
void sim_clock_after(sim_warp *w);
void sim_clock_barrier(sim_warp *w, uint32_t index, uint32_t wanted, int wait);
/* A warp has arrived at an mbarrier, or begun what will; it has asked whether a phase of one is over. */
void sim_clock_arrive(sim_warp *w, const uint8_t *word);
void sim_clock_tested(sim_warp *w, const uint8_t *word, int over);
#endif
