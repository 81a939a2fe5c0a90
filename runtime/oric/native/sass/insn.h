/* cdef */
/* The machine instruction in memory: what the encoder takes, what the decoder gives, what the simulator runs. */
#ifndef ORIC_INSN_H
#define ORIC_INSN_H
#include "tables/numbers.h"
#include <stdint.h>

typedef struct {
    uint8_t kind;       /* ORIC_K_* */
    uint8_t flags;      /* ORIC_F_* */
    uint16_t reg;
    uint32_t aux;
    int64_t value;
} oric_operand;

/* Control bits are packed as in the word from bit ORIC_CONTROL_AT on; sass/control.h takes them apart. */
typedef struct {
    uint16_t op;        /* dense operation number (oric_tables.ops) */
    uint16_t form;      /* dense form number of this SM, filled by the decoder */
    uint8_t guard;      /* 0..6, 7 = always */
    uint8_t guard_neg;
    uint8_t nops;
    uint8_t reserved;
    uint32_t control;
    uint64_t mods;      /* modifier values, packed in the operation's layout */
    uint64_t residue[2];/* bits of the word that no field explains and that differ from the form's default (decoder; encoder xors them in) */
    oric_operand ops[12]; /* ORIC_INSN_OPERANDS */
} oric_insn;
#endif
