/* What strict mode knows of each instruction: its registers one by one, with what the latency tables say of them. */
#ifndef ORIC_SIM_FACTS_H
#define ORIC_SIM_FACTS_H
#include <stddef.h>

#include "oric_latency.h"
#include "sim_state.h"

enum {
    SIM_UNITS = 1024,     /* registers of all files, numbered by sim_unit */
    SIM_BOARDS = 6,       /* scoreboards; as a number: none */
    SIM_BOARD_GROUP = 6,  /* bit of the wait of warp-group instructions, which have no scoreboard */
    SIM_REUSE_PLACES = 4, /* of the operand cache */
    SIM_NO_ROW = 255
};

/* How a result comes. */
enum { SIM_RESULT_OTHER = 0, SIM_RESULT_FIXED, SIM_RESULT_VARIABLE };

typedef struct {
    uint16_t unit;
    uint8_t group; /* reader group of the distance tables */
    uint8_t late;  /* read some time after issue */
} sim_source;

typedef struct {
    uint16_t unit;
    uint8_t kind;   /* SIM_RESULT_* */
    uint8_t row;    /* of the distance tables */
    uint8_t limit;  /* cycles after which a fixed result is there for everyone */
    uint8_t boards; /* any of these, waited for, makes sure of a variable one */
} sim_result;

typedef struct {
    const oric_class *klass;
    uint32_t first_source, first_result;
    uint16_t sources, results;
    uint16_t guard;  /* unit of the guard; SIM_UNITS: none */
    uint8_t guard_group;
    uint8_t stall, write_board, read_board; /* SIM_BOARDS: none */
    uint8_t waits;         /* scoreboards and SIM_BOARD_GROUP, as bits */
    uint8_t counted, left; /* scoreboard that it waits for until `left` uses are outstanding; SIM_BOARDS: none */
    uint8_t read_ends;     /* boards that make sure that its late sources have been read, as bits */
    uint8_t never;         /* its guard is off for all threads */
    uint8_t again;         /* executing it twice does no harm: it computes, or loads or stores plainly */
    uint8_t keeps;         /* places of the operand cache that it fills, as bits */
    uint16_t place[SIM_REUSE_PLACES]; /* first unit of the operand at each place; SIM_UNITS: none */
    uint8_t place_count[SIM_REUSE_PLACES];
} sim_insn_facts;

struct sim_facts {
    sim_insn_facts *insns; /* parallel to those of the section */
    sim_source *sources;
    sim_result *results;
};

static inline uint16_t sim_unit(uint32_t file, uint32_t number)
{
    return (uint16_t)((file == 0 ? 0 : file == 3 ? 256 : 512 + file * 32) + number);
}
static inline uint8_t sim_unit_file(uint32_t unit) { return (uint8_t)(unit < 256 ? 0 : unit < 512 ? 3 : (unit - 512) / 32); }
static inline uint32_t sim_unit_number(uint32_t unit) { return unit < 512 ? unit & 255 : unit & 31; }
/* Uniform registers and predicates: one value for the warp, not one for each lane. */
static inline int sim_unit_is_uniform(uint32_t unit) { return (unit >= 256 && unit < 512) || unit >= 640; }

/* Find out about all instructions of a section that have no facts yet; 0: no memory. */
int sim_facts_make(int isa, sim_code *code);
void sim_facts_free(sim_code *code);

/* Cycles that must pass between two results of fixed latency in one register, or before one whose time is not known. */
int32_t sim_rewrite_distance(int isa, uint8_t first_row, const sim_insn_facts *second, const sim_result *result);
#endif
