/* What may still be going on at a point of the code: the checker's state, and how states of several paths are joined. */
#ifndef ORIC_CHECK_STATE_H
#define ORIC_CHECK_STATE_H
#include "check/check.h"
#include "sass/schedule.h"

enum {
    ORIC_T_FIXED = 0, /* result of a known time */
    ORIC_T_WRITE = 1, /* result that a scoreboard tells */
    ORIC_T_READ = 2   /* sources that are read late */
};
enum {
    ORIC_AGE_MOST = 127,      /* ages end here: no distance is longer */
    ORIC_TOKENS_MOST = 6000,  /* pending operations of a state: every register of real code has a few */
    ORIC_LATER_MOST = 63,
    ORIC_NO_INSN = -1
};

/* One register of one pending operation. Guards: 0 = none or no longer known, else as oric_guard_code says. */
typedef struct {
    int32_t insn;
    int32_t age;      /* cycles since it was issued, the least over all paths; while a block is walked: minus the clock */
    uint16_t unit;
    uint8_t kind;     /* ORIC_T_* */
    uint8_t boards;   /* any of these, waited for, ends it */
    uint8_t row;      /* of the distance table */
    uint8_t guard;
    uint8_t queue;    /* in-order queue, 0 = none */
    uint8_t board;    /* scoreboard that counts it, ORIC_SCOREBOARDS = none */
    uint8_t later;    /* how often that was used since, the least over all paths, up to ORIC_LATER_MOST */
    uint8_t limit;    /* age at which it is over, of ORIC_T_FIXED */
} oric_token;

typedef struct {
    oric_token *tokens; /* between blocks: sorted */
    int32_t n, room;
    int32_t board_insn[ORIC_COUNTERS]; /* last to set each scoreboard and last of a group, ORIC_NO_INSN = none of late */
    int32_t board_age[ORIC_COUNTERS];
    uint16_t regions;   /* convergence barriers that are set on every path */
    uint8_t stack_known;
    uint8_t overflow;   /* tokens were left out */
    int32_t stack;      /* bytes that R1 has moved since the entry, when known */
} oric_state;

/* Add a token; -1 when memory ran out. Beyond ORIC_TOKENS_MOST it is left out and `overflow` says so. */
int oric_state_add(oric_state *s, oric_token token);

/* Bring tokens into order, equal ones together. */
void oric_state_sort(oric_state *s);

/* Copy; -1 when memory ran out. */
int oric_state_copy(oric_state *to, const oric_state *from);

/* Join `from` into `into`, both sorted: 1 when `into` changed, 0 when not, -1 when memory ran out. */
int oric_state_join(oric_state *into, const oric_state *from);
#endif
