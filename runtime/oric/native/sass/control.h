/* The control bits of an instruction, taken apart. Places are those of formats.yaml. */
#ifndef ORIC_CONTROL_H
#define ORIC_CONTROL_H
#include <stdint.h>

#include "tables/numbers.h"

static inline uint8_t oric_stall_of(uint32_t control) { return control >> ORIC_STALL_SHIFT & ORIC_STALL_MASK; }
static inline uint8_t oric_yield_of(uint32_t control) { return control >> ORIC_YIELD_SHIFT & ORIC_YIELD_MASK; }
/* Scoreboards that the instruction sets; from ORIC_SCOREBOARDS on: none. */
static inline uint8_t oric_write_board_of(uint32_t control) { return control >> ORIC_WRITE_BARRIER_SHIFT & ORIC_WRITE_BARRIER_MASK; }
static inline uint8_t oric_read_board_of(uint32_t control) { return control >> ORIC_READ_BARRIER_SHIFT & ORIC_READ_BARRIER_MASK; }
/* Scoreboards that it waits for, a bit each. */
static inline uint8_t oric_wait_mask_of(uint32_t control) { return control >> ORIC_WAIT_SHIFT & ORIC_WAIT_MASK; }

static inline uint32_t oric_control(uint32_t stall, uint32_t yield, uint32_t write_board, uint32_t read_board, uint32_t waits) {
    return stall << ORIC_STALL_SHIFT | yield << ORIC_YIELD_SHIFT | write_board << ORIC_WRITE_BARRIER_SHIFT |
           read_board << ORIC_READ_BARRIER_SHIFT | waits << ORIC_WAIT_SHIFT;
}

/* A scoreboard as a bit; 0 for none. */
static inline uint8_t oric_board_bit(uint8_t board) { return board < ORIC_SCOREBOARDS ? (uint8_t)(1 << board) : 0; }
#endif
