/* cdef */
/* The back end's view of a function: instructions as lists of register accesses.
 *
 * A unit is one 32-bit register or one predicate. Before allocation the units are the words of the virtual registers
 * (`reg_word`); afterwards they are hardware registers (ORIC_U_*). RZ, PT and their uniform twins are no units: reading or
 * writing them is no access.
 */
#ifndef ORIC_BACKEND_H
#define ORIC_BACKEND_H
#include "tables/knobs.h"
#include "tables/numbers.h"
#include "tables/registers.h"
#include "tables/structs.h"
#include <stdint.h>

/* Physical units: first unit of each file. R goes up to 511, so that an allocation over the limit can be described. */
enum {
    ORIC_U_R = 0,
    ORIC_U_P = 512,
    ORIC_U_B = 520,
    ORIC_U_UR = 536,
    ORIC_U_UP = 792,
    ORIC_U_MEMORY = 799, /* no register: what a memory fence completes and later accesses wait for */
    ORIC_PHYSICAL_UNITS = 800
};

/* Access flags. */
enum {
    ORIC_A_DEF = 1,     /* written; otherwise read */
    ORIC_A_KILL = 2,    /* the old value does not survive: the instruction is unguarded, no value reaches it, or what reads it is under the same guard */
    ORIC_A_GUARD = 4,   /* the guard predicate */
    ORIC_A_ADDRESS = 8, /* address operand of a memory instruction */
    ORIC_A_NEGATED = 16 /* a guard that holds where the predicate does not */
};

/* Instruction flags. */
enum {
    ORIC_I_GUARDED = 1,
    ORIC_I_FENCE = 2,      /* leaves the block or reconverges: nothing moves across */
    ORIC_I_MEM_READ = 4,
    ORIC_I_MEM_WRITE = 8,
    ORIC_I_ORDERED = 16,   /* barrier, memory fence, volatile or clock access: keeps its place among these and memory */
    ORIC_I_COPY = 32,      /* plain register copy: first access DEF, second its source */
    ORIC_I_LATE_READ = 64, /* register sources are read some time after issue */
    ORIC_I_VARIABLE = 128, /* results come at an unknown time */
    ORIC_I_RELAXED = 256,  /* an ordered load: other loads pass it, but for those of the same place */
    ORIC_I_JUMP = 512,     /* may transfer control to a successor block */
    ORIC_I_DRAIN = 1024,   /* waits for everything outstanding */
    ORIC_I_COMPLETES = 2048,/* later memory accesses wait for it */
    ORIC_I_PARTS = 4096    /* a fence where other threads of the warp may run other code */
};

/* Operands behind those of the machine: registers that other code reads by the calling convention, and then those that it writes. */
enum { ORIC_CALL_READS = 3 };

typedef struct {
    uint32_t unit;
    uint8_t count; /* consecutive units */
    uint8_t flags;
    uint8_t slot;  /* operand position; 255 = guard */
    uint8_t group; /* reads: reader group; writes: producer group of the latency tables */
} oric_access;

typedef struct {
    uint32_t access;
    uint16_t access_count;
    uint16_t op;       /* dense operation number */
    uint16_t flags;
    uint8_t klass;     /* scheduling class */
    uint8_t space;     /* memory space bits: two accesses may meet when they share one */
    uint32_t index;    /* the instruction */
    uint32_t control;
    int32_t offset;    /* byte offset of a memory access relative to its address registers */
    int32_t bytes;     /* number of bytes accessed, 0 = unknown */
    uint8_t write_barrier; /* scoreboard 0 .. 5, 7 = none */
    uint8_t read_barrier;
    uint8_t pads;      /* NOPs in front, where a wait is longer than one stall count; each stalls 15 cycles */
    uint8_t scale;         /* what a memory access multiplies its address register by, as the modifier says it; 0 = nothing */
} oric_node;

typedef struct {
    int32_t insn_count;
    int32_t block_count;
    int32_t unit_count;
    int32_t access_count;
    int32_t isa;
    const int64_t *knobs;  /* numbers of all knobs, at ORIC_KNOB_*; the caller's, or the defaults */
    const int32_t *extra;  /* by operation, cycles that results are expected later; NULL: none are */
    oric_node *nodes;
    oric_access *accesses;
    uint32_t *block_first; /* block_count + 1 positions */
    uint8_t *depth;        /* loop depth of each block */
    int32_t *apart;        /* stretch of blocks in which threads of a warp may be apart, 0 = together */
    uint32_t *succ_first;  /* block_count + 1 */
    int32_t *succs;
    uint32_t *pred_first;  /* block_count + 1 */
    int32_t *preds;
    uint8_t *unit_file;    /* file of each unit */
    int32_t *unit_register;/* virtual register of each unit, -1 for physical ones */
    /* liveness, see function/liveness.h: sets of "global" units, those that are read before they are written in some block */
    int32_t global_count;
    int32_t *global_of;    /* unit -> bit or -1 */
    int32_t *unit_of;      /* bit -> unit */
    uint32_t words;        /* 64-bit words of a set */
    uint64_t *live_in;     /* block_count sets */
    uint64_t *live_out;
    int32_t error;         /* ORIC_LOAD_* */
    int32_t error_at;      /* the instruction */
} oric_fn;

/* An empty function with arrays of these sizes, all zero; NULL without memory. For tests and for oric_fn_load. */
oric_fn *oric_fn_new(int32_t insns, int32_t blocks, int32_t units, int32_t accesses, int32_t succs);
void oric_fn_free(oric_fn *fn);
/* Predecessor lists from the successor lists, once those are filled. Returns 0, or -1 without memory. */
int oric_fn_connect(oric_fn *fn);
#endif
