/* cdef */
/* The functional simulator as Python sees it: a module's code and memory, and launches that run in slices. */
#ifndef ORIC_SIM_H
#define ORIC_SIM_H
#include "tables/numbers.h"
#include <stdint.h>

typedef struct oric_sim oric_sim;

/* One report. `first` is the earlier instruction (0: none), `second` the one that found it. */
typedef struct {
    int32_t kind;          /* ORIC_REPORT_* */
    uint32_t ctaid[3];
    uint32_t tid[3];
    uint32_t other_tid[3]; /* thread of `first` */
    uint32_t other_ctaid[3]; /* its CTA, for races */
    uint64_t first;        /* code addresses */
    uint64_t second;
    int32_t file;          /* ORIC_FILE_*, strict */
    uint32_t number;       /* register, strict */
    int32_t had;           /* cycles, strict; -1: a wait is missing */
    int32_t needed;
    int32_t space;         /* ORIC_MEM_*, memcheck */
    uint32_t size;
    int32_t write;
    uint32_t repeats;      /* further reports of the same pair of instructions and kind */
    uint64_t address;
    int32_t first_access;  /* ORIC_ACCESS_* of `first` and of `second`, memcheck */
    int32_t second_access;
} oric_sim_report;

typedef struct {
    int32_t code;     /* ORIC_FAULT_* */
    uint32_t ctaid[3];
    uint32_t tid[3];
    uint32_t warp;
    uint32_t lane;
    int32_t space;
    uint64_t pc;      /* code address of the instruction */
    uint64_t address; /* data address, or the wrong target of a branch */
    uint32_t size;    /* bytes of the access */
    int32_t write;
    char detail[1024];
} oric_sim_fault;

/* The GPU of timing mode. Latencies in cycles, bandwidths in bytes a cycle of one SM. */
typedef struct {
    uint32_t sms, blocks; /* SMs; blocks of the launch that an SM holds at once */
    uint32_t l1_bytes;
    double l1_latency, l2_latency, dram_latency, shared_latency;
    double l2_bytes, dram_bytes;
} oric_sim_machine;

/* What timing mode found for the SM that has most to do. */
typedef struct {
    uint64_t cycles;
    uint32_t blocks, resident, warps; /* blocks that it runs; at once; warps of these */
} oric_sim_timing;

typedef struct {
    uint64_t pc, cycle;
    uint32_t slot, block;
} oric_sim_issue;

/* A warp of that SM: the cycles at which its block came, and at which it ended. */
typedef struct {
    uint64_t start, end;
    uint32_t block, warp; /* number among the SM's blocks; in the block */
} oric_sim_span;

/* Cycles that warps waited before an instruction, by reason, summed. */
typedef struct {
    uint64_t pc, issued;
    uint64_t scoreboard, barrier, pipe; /* pipe: also other warps that issued instead */
} oric_sim_stalls;

enum { ORIC_SIM_SYSTEM_WORDS = 256 };

typedef struct {
    uint32_t grid[3];
    uint32_t block[3];
    uint64_t entry;         /* code address of the kernel */
    uint32_t num_regs;
    uint32_t shared_base;   /* first shared address of the program */
    uint32_t shared_bytes;  /* end of shared memory: base + static + dynamic */
    uint32_t dynamic_bytes; /* dynamic part of it */
    uint32_t local_bytes;   /* local memory of one thread */
    uint32_t max_warps;     /* warps that an SM of the target holds */
    uint64_t shared_window; /* generic addresses of the windows */
    uint64_t local_window;
    uint64_t max_steps;     /* warp instructions of the whole launch */
    uint32_t modes;         /* ORIC_SIM_* */
    uint32_t workers;       /* host threads that run CTAs; 0 and 1: this one */
    uint32_t cluster[3];    /* CTAs of a cluster; 1, 1, 1 without clusters */
    uint32_t seed;          /* of ORIC_SIM_PERTURB */
    oric_sim_machine machine; /* of ORIC_SIM_TIMING */
    uint32_t system_words;  /* shared addresses below shared_base that code may use: [system_words, system_end) */
    uint32_t system_end;
    uint32_t system_first[2][ORIC_SIM_SYSTEM_WORDS]; /* what shared memory starts with in CTAs of even and odd rank */
    uint64_t heap_bytes;    /* what malloc() of the device can give away */
    uint32_t cooperative;   /* CTAs wait for each other: all are resident, and take short turns */
    uint32_t fill;          /* byte that shared and local memory start with; 0: 0xcd */
} oric_sim_launch;

/* Sums over the launch. An access is one warp instruction's; it takes as many transactions as 32-byte sectors that it touches, in
   shared memory as turns that the 32 banks need. */
typedef struct {
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t ctas;
    uint64_t branches;           /* executed jumps, calls and returns ... */
    uint64_t divergent_branches; /* ... at which threads parted */
    uint64_t accesses[ORIC_MEMORY_SPACES]; /* by ORIC_MEM_* */
    uint64_t transactions[ORIC_MEMORY_SPACES];
    uint64_t bytes[ORIC_MEMORY_SPACES];
} oric_sim_stats;

/* Textures and surfaces: what a handle stands for. */
typedef struct {
    uint64_t data;     /* address of the first texel; rows, slices, faces, layers and levels follow each other without gaps */
    uint32_t size[3];  /* texels; 1 beyond the rank */
    uint32_t rank;     /* 1 to 3; 2 for a cube. 0: no such texture */
    uint32_t layers;
    uint32_t layered, cube;
    uint32_t levels;   /* of detail: each has half the size of the one before; 0: one */
    uint32_t channels, bytes; /* components of a texel, bytes of one */
    uint32_t kind;     /* ORIC_TEXTURE_* of a component */
    uint32_t address[3]; /* likewise: what lies outside */
    uint32_t linear, normalised; /* filter; coordinates from 0 to 1 */
    uint32_t read_normalised;    /* integers become floats of -1 to 1 */
    uint32_t border[4];
} oric_sim_texture;

oric_sim *oric_sim_new(int isa);
void oric_sim_delete(oric_sim *sim);

/* Code: a text section at an address (a multiple of 16); 0, or -1 without memory. */
int oric_sim_add_code(oric_sim *sim, uint64_t address, const uint8_t *text, uint64_t size);

/* Global memory. Addresses are multiples of 256 with unmapped gaps between allocations; 0 without memory. */
uint64_t oric_sim_alloc(oric_sim *sim, uint64_t size, int read_only);
int oric_sim_release(oric_sim *sim, uint64_t address);
/* The allocation has no contents yet: the memory checker reports reads of what has not been written. -1: no such allocation. */
int oric_sim_set_uninitialised(oric_sim *sim, uint64_t address);
/* Memory that device code has asked for with malloc(): what lives, and (freed) the latest of what it has given back. Fills `out`
   (room for `room`); returns how many there are. */
typedef struct {
    uint64_t address, size;
    int32_t freed;
} oric_sim_heap_block;
uint32_t oric_sim_heap(const oric_sim *sim, oric_sim_heap_block *out, uint32_t room);
int oric_sim_write(oric_sim *sim, uint64_t address, const uint8_t *data, uint64_t size);
int oric_sim_read(oric_sim *sim, uint64_t address, uint8_t *data, uint64_t size);

/* Constant bank: the contents of c[bank], copied; 0, or -1. */
int oric_sim_set_bank(oric_sim *sim, int bank, const uint8_t *data, uint64_t size);

/* The texture or surface of a handle; 0, or -1: its sizes are not possible, or no memory. */
int oric_sim_set_texture(oric_sim *sim, uint32_t number, const oric_sim_texture *texture);

/* A launch: start, run slices of warp instructions until done or fault, stop (frees what the launch holds). */
int oric_sim_start(oric_sim *sim, const oric_sim_launch *launch);
int oric_sim_run(oric_sim *sim, uint64_t steps); /* ORIC_SIM_DONE, _PAUSED or _FAULT */
void oric_sim_stop(oric_sim *sim);
const oric_sim_fault *oric_sim_fault_info(const oric_sim *sim);
const oric_sim_stats *oric_sim_statistics(const oric_sim *sim);

/* Warp instructions of an operation (its number in oric_tables.ops) in the last launch. */
uint64_t oric_sim_op_count(const oric_sim *sim, uint32_t op);

/* What printf() of the last launch has written so far; *size: its bytes. */
const char *oric_sim_printed(const oric_sim *sim, uint64_t *size);

/* Timing of the last launch, which had ORIC_SIM_TIMING: plays the records; NULL: no memory, or too much was executed. */
const oric_sim_timing *oric_sim_time(oric_sim *sim);
/* Then: the first million instructions that the SM issued, and the stalls of each instruction of the code (pc 0: not executed). */
const oric_sim_issue *oric_sim_issues(const oric_sim *sim, uint64_t *count);
const oric_sim_span *oric_sim_spans(const oric_sim *sim, uint64_t *count); /* of all warps of the SM */
const oric_sim_stalls *oric_sim_stall_table(const oric_sim *sim, uint64_t *count);

/* What the last launch executed, which had ORIC_SIM_STEPS, in the order in which it did: threads of one warp that are apart have
   steps of their own. Code that the driver provides is one step at its address. NULL: no memory for them. */
typedef struct {
    uint64_t pc;
    uint32_t cta, warp;        /* number of the CTA in the grid (x runs fastest), of the warp in it */
    uint32_t active, executed; /* lanes that came here; those of them whose guard held */
} oric_sim_step;
const oric_sim_step *oric_sim_steps(const oric_sim *sim, uint64_t *count);
/* What a debugger sees of the first thread that runs, between two slices: where it is, its general registers (ORIC_SIM_SEEN of
 * them), its predicates, a bit each, and its local memory, NULL before its first use. 0: there is no thread. */
enum { ORIC_SIM_SEEN = 255 };
typedef struct {
    uint64_t pc;
    uint32_t registers[255];
    uint32_t predicates;
    const uint8_t *local;
} oric_sim_seen;
int oric_sim_look(const oric_sim *sim, oric_sim_seen *out);

/* Reports of the last launch: one for each kind and pair of instructions, in the order of their first appearance. */
uint32_t oric_sim_report_count(const oric_sim *sim);
const oric_sim_report *oric_sim_report_at(const oric_sim *sim, uint32_t index);
#endif
