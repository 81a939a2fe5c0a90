/* cdef */
/* The hazard checker: does every dependence between machine instructions keep its distance or wait for a scoreboard, on every
   path? It knows the tables of oric_latency.h and nothing of how control bits are made. */
#ifndef ORIC_CHECK_H
#define ORIC_CHECK_H
#include "oric_insn.h"
#include "oric_latency.h"

/* What is wrong. */
enum {
    ORIC_H_RAW = 1,        /* a result is read too early: distance `had`, `needed` */
    ORIC_H_RAW_WAIT = 2,   /* a result of unknown completion time is read without a wait */
    ORIC_H_WAW = 3,        /* a register is written again too early */
    ORIC_H_WAW_WAIT = 4,   /* ... while the first write may still come */
    ORIC_H_WAR_WAIT = 6,   /* a source is overwritten while it may still be read */
    ORIC_H_SETTLE = 7,     /* a scoreboard is waited for too soon after the instruction that sets it */
    ORIC_H_STALL = 8,      /* stall count below what the instruction needs */
    ORIC_H_REUSE = 9,      /* a reuse flag keeps a value that has been overwritten */
    ORIC_H_REUSE_PLACE = 10, /* a reuse flag where the instruction has none */
    ORIC_H_ALIGN = 11,     /* first register of a wide operand: `needed` is what it should be a multiple of */
    ORIC_H_BEYOND = 12,    /* a register beyond the declared count: `needed` are the registers it takes, `had` those declared */
    ORIC_H_REGION = 13,    /* a convergence barrier is waited for or left that no BSSY has set on some path */
    ORIC_H_REGION_END = 14,/* the place where a region meets again does not wait for its barrier */
    ORIC_H_STACK = 15,     /* the function returns with another stack pointer: `had` bytes off */
    ORIC_H_RETURN = 16,    /* a return outside of a function that is called */
    ORIC_H_TARGET = 17,    /* a branch to a place that is no instruction */
    ORIC_H_RUNS_OUT = 18,  /* control reaches the end of the section */
    ORIC_H_TOO_MUCH = 19,  /* more pending operations than the checker follows: the rest is not checked */
    ORIC_H_KINDS = 20
};

/* `first` and `second` are instruction numbers (first -1: none), `number` a register of `file` or, for scoreboards, the board. */
typedef struct {
    uint8_t kind;
    uint8_t file;
    uint16_t number;
    int32_t first;
    int32_t second;
    int32_t had;
    int32_t needed;
} oric_finding;

/* The code of one section. Lists of pairs are (instruction, instruction). */
typedef struct {
    int32_t isa;
    int32_t n;
    const oric_insn *insns;
    int32_t registers;          /* declared general registers; 0 = not known */
    int32_t n_roots;
    const int32_t *roots;       /* instructions where control enters: kernels and functions */
    const uint8_t *kernel;      /* parallel to roots: entered by a launch, so that nothing can return from it */
    int32_t n_jumps;
    const int32_t *jumps;       /* 2 * n_jumps: indirect branches and their targets */
    int32_t n_outside;
    const int32_t *outside;     /* calls whose target is not in the section (relocated), ascending */
} oric_checked_code;

/* Smallest distances met in the code instead of findings, 255 = never: what the tables are made from. */
typedef struct {
    uint8_t raw[ORIC_RESULT_ROWS][ORIC_READER_GROUPS];
    uint8_t over[ORIC_RESULT_ROWS][ORIC_RESULT_ROWS];
    uint8_t rewrite[ORIC_RESULT_ROWS];
    uint8_t stall[ORIC_CLASSES];
    uint8_t settle[ORIC_CLASSES];
} oric_check_evidence;

typedef struct {
    int64_t steps;     /* instructions looked at, again and again until nothing changes */
    int32_t reached;   /* instructions that control reaches */
    int32_t blocks;
    int32_t findings;  /* all, also those that had no room */
} oric_check_counts;

/* Check a section. Stores at most `room` findings, in the order of `second`; `evidence` may be NULL.
   Returns the number stored, -1 when memory ran out, -2 when the ISA does not exist. */
int32_t oric_check(const oric_checked_code *code, oric_finding *findings, int32_t room, oric_check_counts *counts,
                   oric_check_evidence *evidence);
#endif
