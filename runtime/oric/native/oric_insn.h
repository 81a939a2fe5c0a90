/* cdef */
/* The machine instruction in memory: what the encoder takes, what the decoder gives, what the simulator runs. */
#ifndef ORIC_INSN_H
#define ORIC_INSN_H
#include <stdint.h>

/* Operand kinds as the hardware sees them. */
enum {
    ORIC_K_NONE = 0,  /* operand left out: the form's default is encoded */
    ORIC_K_GPR = 1,   /* reg = 0..254, 255 = RZ */
    ORIC_K_UGPR = 2,  /* reg = 0..62 (or ..254), 255 = URZ on every SM */
    ORIC_K_PRED = 3,  /* reg = 0..6, 7 = PT */
    ORIC_K_UPRED = 4, /* reg = 0..6, 7 = UPT */
    ORIC_K_IMM = 5,   /* value: immediate bits, zero-extended (signed fields sign-extended); f32/f64-high/f16 as bits */
    ORIC_K_CBANK = 6, /* c[reg][value]: bank in reg, byte offset in value */
    ORIC_K_CBANKU = 7,/* cx[UR aux][value] */
    ORIC_K_LABEL = 8, /* value: byte offset relative to the NEXT instruction */
    ORIC_K_BREG = 9,  /* convergence barrier register B0..B15 */
    ORIC_K_SB = 10,   /* scoreboard SB0..SB5 */
    ORIC_K_SREG = 11  /* value: system register number */
};

/* Operand flags. */
enum {
    ORIC_F_NEG = 1,   /* -x; for predicates !p */
    ORIC_F_ABS = 2,   /* |x| */
    ORIC_F_INV = 4,   /* ~x */
    ORIC_F_REUSE = 8
};

typedef struct {
    uint8_t kind;
    uint8_t flags;
    uint16_t reg;
    uint32_t aux;
    int64_t value;
} oric_operand;

/* Control bits, packed as in the word from bit 105 on: stall 0-3, yield 4, write barrier 5-7, read barrier 8-10, wait mask 11-16. */
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
    oric_operand ops[12];
} oric_insn;
#endif
