/* cdef */
#ifndef ORIC_REGALLOC_H
#define ORIC_REGALLOC_H
#include "function/backend.h"

enum { ORIC_FAT_POINTS = 512 }; /* entries of the cost arrays */

typedef struct {
    int32_t limit[5];  /* registers available per file (ORIC_FILE_*) */
    int32_t hopeless[5]; /* more live units per file than that, and nothing is assigned: the file has too few registers */
    int32_t threshold; /* a slot whose primary cost is above it is congested and not taken while there is another */
    int32_t coalesce;  /* 1: give copies one register */
    int32_t spread;    /* files, as bits, of which secondary costs keep a register out of use for a while where others are free */
    int32_t closer;    /* 1: where no more R units are live than there are and yet they do not fit, files that fail are not spread */
    int32_t roomy[5];  /* with spread: registers per file that may be used for that, ... */
    int32_t spare[5];  /* ... at most so many more than are live at once */
    int32_t brief;     /* 1: of a try that fails nobody needs more than the file, nor more than the peaks of the result */
    int32_t rounds;    /* allocation orders to try, 1 .. 3; the one with the fewest R registers is kept */
    const int32_t *most; /* R registers that there are in each block, at most limit; NULL: so many everywhere */
    const int32_t *fixed; /* by unit, the register that it has to get, -1: any; NULL: any for all. Such units do not count as used */
    const int32_t *dear; /* ORIC_FAT_POINTS numbers: what it costs to use each R register at all; NULL: nothing */
} oric_regalloc_options;

typedef struct {
    int32_t used[5];        /* highest register + 1 per file */
    int32_t peak[5];        /* largest number of live units per file */
    int32_t failed_file;    /* -1, or the first file whose limit is exceeded */
    int32_t copies;         /* copies seen */
    int32_t coalesced;      /* copies whose two registers became one */
    int32_t constraints;    /* pairs of units that may not share a register */
} oric_regalloc_result;

/* The slot of the lowest sum of primary and secondary cost among 0, stride, 2 * stride .. with `size` slots below limit whose
 * primary cost is at or under the threshold; -1 = none. The cost arrays have ORIC_FAT_POINTS entries. */
int32_t oric_fatpoint_choose(const int32_t *primary, const int32_t *secondary, int32_t limit, int32_t size, int32_t stride,
                             int32_t threshold);

/* Allocate all files. Liveness must be known. assigned: per unit its register within the file, -1 for units that
 * never occur. leader: per unit the first unit of the register that its register was merged into.
 * Returns 0, or -1 without memory; a file that needs more than its limit is reported in the result. */
int oric_regalloc(const oric_fn *fn, const oric_regalloc_options *options, int32_t *assigned, int32_t *leader,
                  oric_regalloc_result *result);

/* Pairs of units that interfere (lower unit first, each at least once) into pairs (2 * room entries); returns their
 * number, which may exceed room, or -1 without memory. */
int32_t oric_interference(const oric_fn *fn, uint32_t *pairs, int32_t room);
#endif
