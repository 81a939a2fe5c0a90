/* cdef */
/* The hazard checker: does every dependence between machine instructions keep its distance or wait for a scoreboard, on every
   path? It knows the tables of tables/latency.h and nothing of how control bits are made. */
#ifndef ORIC_CHECK_H
#define ORIC_CHECK_H
#include "sass/insn.h"
#include "tables/latency.h"

/* `kind` is ORIC_H_*; `first` and `second` are instruction numbers (first -1: none), `number` a register of `file` or, for scoreboards, the board. */
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
