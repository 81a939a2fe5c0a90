/* The verifier's own view of the code: what instructions are for, values, carriers and places. */
#ifndef ORIC_VERIFY_CODE_H
#define ORIC_VERIFY_CODE_H
#include "alloc/verify.h"
#include "tables/operand_fields.h"
#include "tables/operands.h"
#include <stddef.h>

struct oric_before {
    oric_fn *fn;
    int32_t insns;
    int64_t *op, *mods, *guard, *first, *count, *operand;
    int32_t *node_of; /* instruction -> node, -1 */
    int32_t *block_of;
};

/* A word of memory that had or gets a value: (word, value) pairs, sorted, one carrier each. */
typedef struct {
    int32_t word, value;
} cell;

/* A bit of a register that several predicates share, as a number: 32 * unit + bit. Sorted, one carrier each. */
typedef struct {
    int64_t place;
    int32_t value;
} shared_bit;

/* A version of a value is the instruction that defines it, plus one; 0 = the one that comes into the block, -1 = none of them.
 * What a carrier has after a definition under a guard: the value where the guard holds (1) or where it does not (-1). */
typedef struct {
    int32_t when, version, guard, guard_version;
    int32_t before; /* the version that it is where the guard does not hold */
    int32_t also, also_version; /* another guard under which it has the version, 0 = none: see define() */
} half;

typedef struct {
    const oric_before *was;
    const oric_function *f;
    const oric_fn *fn;
    const oric_spill_code *code;
    oric_problem *problems;
    int32_t most, found;
    int quiet;
    int doubts; /* problems that a quiet walk has come across */
    /* values: units of the image, then the top of the stack; carriers: units of `fn`, then cells, then shared bits; places: hardware registers, then
     * words of memory, then one for registers that have no number */
    int32_t values, units, cell_count, bit_count, carriers, places;
    cell *cells;
    shared_bit *bits_shared;
    uint8_t *kinds;     /* of nodes: what new instructions are for */
    uint8_t *stored;    /* of cells: something stores it */
    int32_t *origin;    /* of values: the MOV that is repeated instead of keeping the value, -1 */
    /* Values that are repeated, by the block that defined them, in which nothing reads what they were before: instructions change
     * places within a block. Other repeated values count as defined everywhere (`everywhere`). */
    int32_t *repeated, *repeated_first;
    uint8_t *everywhere;
    uint8_t *lost;      /* of values: an instruction that defines it is gone */
    int32_t *value_of, *place_of, *next_carrier, *first_carrier;
    /* Bits of carriers in the sets between blocks, those of a place one behind the other; -1: its value lives in one block. A value has
     * those of all its carriers; value_bit is one of them. */
    int32_t *value_bit, *carrier_bit, *first_bit;
    /* Within a block. Numbers tell definitions and contents apart; those that came in have 0. */
    int32_t counter, stamp, block;
    int32_t *value_seen, *place_seen, *carrier_seen; /* the stamp of the block that they are of */
    int32_t *content;                                /* of a place */
    uint8_t *defined;                                /* of a value: something may have defined it before the block */
    int32_t *last_version;                           /* of a value: the one that leaves the block */
    int32_t *has_version, *has_content;              /* of a carrier; it still has the version when the content is that of its place */
    half *halves;                                    /* of a carrier */
    int32_t *touched_values, *touched_places, *touched_carriers, touched_value_count, touched_place_count, touched_carrier_count;
    /* by node of the image and word of its accesses: the version that is read or replaced, and whether the one that it makes leaves
     * the block */
    uint32_t *first_word;
    int32_t *expected;
    uint8_t *leaves;
    /* between blocks */
    uint32_t bits, words;
    uint64_t *invalid_in, *defined_in, *invalid_out, *defined_out;
} verifier;

/* What new instructions are for; SHARED_*: a bit of a register that several predicates share. */
enum {
    NOT_NEW, BASE, REFILL, SPILL, BIT_REFILL, BIT_SPILL, UNIFORM_REFILL, UNIFORM_SPILL, SHARED_CLEAR, SHARED_SET, SHARED_TEST, CLEAR, REMADE,
    UNKNOWN, OTHER
};

static inline const oric_node *oric_v_original(const verifier *v, const oric_node *node) {
    int32_t at = node->index < (uint32_t)v->was->insns ? v->was->node_of[node->index] : -1;
    return at < 0 ? NULL : &v->was->fn->nodes[at];
}

static inline const oric_access *oric_v_accesses(const oric_fn *fn, const oric_node *node) { return &fn->accesses[node->access]; }

static inline int64_t oric_v_operand(const verifier *v, const oric_node *node, int slot) { return v->f->operand[v->f->first[node->index] + slot]; }

/* Tell of a problem; a quiet walk only notes that there is one. */
void oric_v_problem(verifier *v, int kind, const oric_node *node, int slot, int32_t value, int32_t other);
/* Whether an instruction makes the same again wherever it stands: a copy of a constant, a stable special register, a load from a
 * place in a constant bank that it names. */
int oric_v_repeatable(const oric_spill_code *code, int32_t op, int64_t mods, int64_t count, const int64_t *operands);
/* What an instruction that was not there is for. */
int oric_v_kind(const verifier *v, const oric_node *node);
/* The only access of a new instruction that defines, or that reads data; NULL for none or several. */
const oric_access *oric_v_result(const verifier *v, const oric_node *node);
const oric_access *oric_v_source(const verifier *v, const oric_node *node);
/* The first of the registers with the data of a load or store, in operand `slot`, and how many they are; 0 when there is none. */
int oric_v_data(const verifier *v, const oric_node *node, int slot, uint32_t *unit, int *count);
/* Whether a spill or refill of `count` words accesses memory of spills; the word there. */
int oric_v_address(const verifier *v, const oric_node *node, int count, int32_t *word);
/* The carrier that is a word of memory with a value; -1 for none. */
int32_t oric_v_cell(const verifier *v, int32_t word, int32_t value);
/* The carrier that is the bit which a SHARED instruction names, and the register that it is in. */
int32_t oric_v_shared_bit(const verifier *v, const oric_node *node, int32_t *unit);
/* The register that guards a node; -1 for none. */
int32_t oric_v_guard(const verifier *v, const oric_node *node);
/* Find out what all registers carry, and the words of memory. Returns 0, or -1 without memory. */
int oric_v_find_cells(verifier *v);
/* The places of all carriers. */
void oric_v_name_places(verifier *v);
/* Follow the values over all paths, and tell of every read that may get another one. Returns 0, or -1 without memory. */
int oric_v_follow(verifier *v);

#endif
