/* What the latency tables say of a decoded instruction: checker and simulator read them here. */
#ifndef ORIC_SCHEDULE_H
#define ORIC_SCHEDULE_H
#include "sass/access.h"
#include "tables/latency.h"
#include "tables/numbers.h"
#include "tables/registers.h"

/* Warp-group instructions have no scoreboard: what counts their groups stands behind the scoreboards. */
enum { ORIC_GROUP = ORIC_SCOREBOARDS, ORIC_BOARD_GROUP = 1 << ORIC_GROUP, ORIC_COUNTERS = ORIC_GROUP + 1 };

typedef struct {
    const oric_op_schedule *op;
    const oric_class *klass;
    uint8_t stall, write_board, read_board; /* from ORIC_SCOREBOARDS on: none */
    uint8_t waits;         /* scoreboards that it waits for by its mask, a modifier or an operand, and ORIC_BOARD_GROUP, as bits */
    uint8_t counted, left; /* scoreboard that it waits for until `left` uses are outstanding; ORIC_SCOREBOARDS: none */
    uint8_t never;         /* its guard is off for all threads */
} oric_schedule;

/* How a result comes. */
enum {
    ORIC_COMES_UNKNOWN = 0, /* nothing is known, or it is no result of this instruction's alone */
    ORIC_COMES_LATER = 1,   /* after the cycles of its row of the distance table */
    ORIC_COMES_TOLD = 2     /* any of its scoreboards, waited for, makes sure of it */
};
typedef struct {
    uint8_t comes;  /* ORIC_COMES_* */
    uint8_t row;    /* ORIC_NO_ROW: none */
    uint8_t boards; /* as bits, with ORIC_BOARD_GROUP */
} oric_result;

oric_schedule oric_schedule_of(int isa, const oric_insn *insn);

/* The row of the k-th register that an instruction writes in a register file (ORIC_FILE_*). */
uint8_t oric_result_row(int isa, const oric_insn *insn, uint8_t file, int k);
/* How the k-th register of a result comes. */
oric_result oric_result_of(int isa, const oric_insn *insn, const oric_schedule *s, uint8_t file, int k);

/* Reader group of the k-th register of a source or guard. */
uint8_t oric_source_group(const oric_schedule *s, const oric_register_use *use, int k);
/* Whether a source is read some time after issue; never so a guard. */
int oric_source_is_late(const oric_schedule *s, const oric_register_use *use);
/* Scoreboards that, waited for, make sure that late sources have been read, as bits. */
uint8_t oric_read_ends(const oric_schedule *s);

/* Longest distance of a row: behind it nobody is too early. Shortest one to any reader. */
uint8_t oric_row_longest(int isa, uint8_t row);
uint8_t oric_row_shortest(int isa, uint8_t row);
/* Cycles that must pass between a result of known time (with the row's shortest distance) and the next one in its register: one of a
   row, or (ORIC_NO_ROW, or a class without fixed results) one whose time is not known. */
int32_t oric_rewrite_distance(int isa, uint8_t first_row, uint8_t shortest, const oric_class *second, uint8_t second_row);
/* Least cycles between the use of a scoreboard, or an instruction of a group, and a wait for it, by the figures of both classes. */
static inline uint8_t oric_settle_between(uint8_t use, uint8_t wait) { return use < wait ? use : wait; }

/* Registers of all files have one number here. */
enum { ORIC_UNITS = 1024, ORIC_UNITS_UNIFORM = 256, ORIC_UNITS_REST = 512, ORIC_UNITS_A_FILE = 32 };
static inline uint16_t oric_unit(uint8_t file, unsigned number) {
    unsigned first = file == ORIC_FILE_R ? 0 : file == ORIC_FILE_UR ? ORIC_UNITS_UNIFORM : ORIC_UNITS_REST + file * ORIC_UNITS_A_FILE;
    return (uint16_t)(first + number);
}
static inline uint8_t oric_unit_file(uint16_t unit) {
    if (unit < ORIC_UNITS_UNIFORM) return ORIC_FILE_R;
    return unit < ORIC_UNITS_REST ? ORIC_FILE_UR : (uint8_t)((unit - ORIC_UNITS_REST) / ORIC_UNITS_A_FILE);
}
static inline uint16_t oric_unit_number(uint16_t unit) { return unit < ORIC_UNITS_REST ? unit & 255 : unit & (ORIC_UNITS_A_FILE - 1); }
#endif
