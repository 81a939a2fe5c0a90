/* Operations under way in a warp: results that are not there yet, sources that have not been read yet. */
#ifndef ORIC_SIM_PENDING_H
#define ORIC_SIM_PENDING_H
#include "sim/facts.h"

enum { SIM_NONE = 0xffffffffu };

enum {
    SIM_P_FIXED, /* a result of known time */
    SIM_P_WRITE, /* a result that a scoreboard tells */
    SIM_P_READ   /* a source that is read late */
};

/* One register of one operation. */
typedef struct {
    uint32_t next;  /* older record of the same unit */
    uint32_t lanes; /* for which it is under way (uniform registers: all or none) */
    uint64_t issue; /* cycle; moved on while none of its lanes runs */
    uint64_t pc;
    const oric_insn *insn;
    uint16_t unit;
    uint8_t kind;   /* SIM_P_* */
    uint8_t row, limit;
    uint8_t boards; /* any of these, waited for, ends it */
    uint8_t board;  /* scoreboard that counts it; ORIC_SCOREBOARDS: none */
    uint8_t queue;  /* in-order queue; 0: none */
    uint8_t group;  /* of a warp-group instruction */
    uint8_t again;  /* the reader can be executed again */
    uint32_t later; /* how often its scoreboard has been used since */
    uint32_t old[SIM_LANES]; /* what was in the register before (results) */
} sim_record;

/* What a place of the operand cache holds. */
typedef struct {
    uint16_t unit, count;     /* unit ORIC_UNITS: nothing */
    uint32_t stale;           /* lanes for which a register has been overwritten since */
    uint64_t pc;              /* instruction that keeps it */
    uint32_t value[4][SIM_LANES]; /* what the stale ones were */
} sim_cached;

/* Values of a register that are to be put back. */
typedef struct {
    uint16_t unit;
    uint32_t lanes;
    uint32_t value[SIM_LANES];
} sim_saved;

enum { SIM_SAVED_MOST = 48, SIM_AGAIN_MOST = 8 };

typedef struct {
    const oric_insn *insn;
    uint64_t pc;
    uint32_t lanes;
} sim_late_reader;

struct sim_pending {
    uint64_t clock;     /* cycle at which the current instruction issues */
    uint64_t next_pc;   /* of the instruction behind the last one: anywhere else the operand cache is empty */
    uint32_t ran;       /* lanes of the group of the current instruction */
    uint32_t count, room, full; /* records; so many that those which are over should be dropped */
    sim_record *records;
    uint32_t head[ORIC_UNITS]; /* newest record of each unit */
    uint64_t board_issue[ORIC_COUNTERS], board_pc[ORIC_COUNTERS]; /* of the last use of each scoreboard, the last of a group */
    uint32_t board_lanes[ORIC_COUNTERS];
    uint8_t board_settle[ORIC_COUNTERS];
    sim_cached cache[ORIC_REUSE_PLACES];
    /* Of the current instruction: */
    uint32_t nswapped, nlanding, nagain;
    sim_saved swapped[SIM_SAVED_MOST];      /* new values of registers that hold old ones while it executes */
    sim_saved landing[SIM_SAVED_MOST];      /* results that land after those of the current instruction */
    sim_late_reader again[SIM_AGAIN_MOST];  /* readers that come after its results */
};

/* A new record of a unit, newer than its others; NULL without memory. Moves the records. */
sim_record *sim_pending_add(struct sim_pending *p, uint16_t unit);

/* The value of a register: a word for each lane, one for all (uniform registers), or a mask of lanes (predicates). Registers that
   the launch does not have have none. */
void sim_pending_get(const sim_warp *w, uint16_t unit, uint32_t value[SIM_LANES]);
void sim_pending_put(sim_warp *w, uint16_t unit, uint32_t lanes, const uint32_t value[SIM_LANES]);

/* What a hazard does to values (sim/hazard.c). The old value stands in the register while the current instruction executes; */
void sim_hazard_early(sim_warp *w, uint16_t unit, uint32_t lanes, const uint32_t old[SIM_LANES]);
/* what the register holds now lands after the result of the current instruction; */
void sim_hazard_late_result(sim_warp *w, uint16_t unit, uint32_t lanes);
/* the reader reads after it. */
void sim_hazard_late_reader(sim_warp *w, const sim_record *reader, uint32_t lanes);
/* All of this, after the instruction has executed for the lanes of mask. */
void sim_hazard_settle(sim_warp *w, const sim_insn_facts *facts, uint32_t mask);
#endif
