/* The rules of the hazard checker, applied to one instruction after the other. */
#ifndef ORIC_CHECK_WALK_H
#define ORIC_CHECK_WALK_H
#include "check/state.h"
#include "sass/access.h"

typedef struct {
    oric_finding *list;
    int32_t n, room;
    int failed;          /* memory ran out */
} oric_findings;

/* What a source place of the operand cache holds. */
typedef struct {
    int32_t insn;        /* that set the reuse flag; ORIC_NO_INSN = nothing */
    uint16_t unit, count;
    int32_t stale;       /* instruction that overwrote it; ORIC_NO_INSN = none */
} oric_cached;

typedef struct {
    const oric_checked_code *code;
    const oric_register_use *uses; /* of all instructions */
    const int32_t *first_use;      /* n + 1 */
    oric_state state;              /* at the current instruction */
    int32_t clock;                 /* cycles since the block began */
    oric_findings *findings;       /* NULL while only states are computed */
    oric_check_evidence *evidence; /* may be NULL */
    oric_cached cache[4];
    uint8_t limit[ORIC_RESULT_ROWS]; /* longest distance of each row */
    uint8_t quick[ORIC_RESULT_ROWS]; /* shortest distance to any reader */
    uint32_t stamp;
    uint32_t read_stamp[ORIC_UNITS], write_stamp[ORIC_UNITS], late_stamp[ORIC_UNITS];
    uint64_t groups[ORIC_UNITS]; /* reader groups of what the instruction reads */
    uint8_t row[ORIC_UNITS];     /* rows of what it writes */
} oric_walker;

/* Set the limits of the rows. */
void oric_walk_begin(oric_walker *w);

/* Walk instructions first to end - 1 from `entry`; afterwards w->state is that behind them, sorted. -1 without memory. */
int oric_walk(oric_walker *w, const oric_state *entry, int32_t first, int32_t end);

/* Of all threads, only those for which the guard of a branch is (taken) or is not (not taken) true go on. */
void oric_walk_refine(oric_state *s, const oric_insn *branch, int taken);

/* What does not depend on paths: reuse flags, alignment, declared registers, smallest stall count, ends of regions. */
void oric_check_insn(const oric_walker *w, int32_t i);

void oric_report(oric_findings *out, oric_finding finding);
#endif
