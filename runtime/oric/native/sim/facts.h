/* What strict mode knows of each instruction: its registers one by one, with what the latency tables say of them. */
#ifndef ORIC_SIM_FACTS_H
#define ORIC_SIM_FACTS_H
#include <stddef.h>

#include "sass/schedule.h"
#include "sim/state.h"

typedef struct {
    uint16_t unit;
    uint8_t group; /* reader group of the distance tables */
    uint8_t late;  /* read some time after issue */
} sim_source;

typedef struct {
    uint16_t unit;
    uint8_t comes;  /* ORIC_COMES_* */
    uint8_t row;    /* of the distance tables */
    uint8_t limit;  /* cycles after which a result of known time is there for everyone */
    uint8_t boards; /* any of these, waited for, makes sure of one that they tell */
} sim_result;

typedef struct {
    oric_schedule s;
    uint32_t first_source, first_result;
    uint16_t sources, results;
    uint16_t guard;  /* unit of the guard; ORIC_UNITS: none */
    uint8_t guard_group;
    uint8_t read_ends;     /* boards that make sure that its late sources have been read, as bits */
    uint8_t again;         /* executing it twice does no harm: it computes, or loads or stores plainly */
    uint8_t keeps;         /* places of the operand cache that it fills, as bits */
    uint16_t place[ORIC_REUSE_PLACES]; /* first unit of the operand at each place; ORIC_UNITS: none */
    uint8_t place_count[ORIC_REUSE_PLACES];
} sim_insn_facts;

struct sim_facts {
    sim_insn_facts *insns; /* parallel to those of the section */
    sim_source *sources;
    sim_result *results;
};

/* Uniform registers and predicates: one value for the warp, not one for each lane. */
static inline int sim_unit_is_uniform(uint16_t unit)
{
    uint8_t file = oric_unit_file(unit);
    return file == ORIC_FILE_UR || file == ORIC_FILE_UP;
}

/* Find out about all instructions of a section that have no facts yet; 0: no memory. */
int sim_facts_make(int isa, sim_code *code);
void sim_facts_free(sim_code *code);
#endif
