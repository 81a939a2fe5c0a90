/* Sources of an operation as its text of spec/values asks for them, with their marks applied. */
#ifndef ORIC_VALUE_THREAD_H
#define ORIC_VALUE_THREAD_H
#include "arith/math.h"
#include "value/value.h"

typedef struct {
    uint64_t mods;
    const int64_t *marks, *in;
    int64_t *out;
} value_source;

static inline int value_mark(const value_source *from, int at, int64_t mark) { return (from->marks[at] & mark) != 0; }
static inline int value_has(const value_source *from, int at) { return !value_mark(from, at, ORIC_F_ABSENT); }

/* Without marks. An immediate has all of its bits. */
static inline uint64_t value_bits64(const value_source *from, int at) { return value_has(from, at) ? (uint64_t)from->in[at] : 0; }
static inline uint32_t value_bits(const value_source *from, int at) { return (uint32_t)value_bits64(from, at); }

static inline uint64_t value_signed(const value_source *from, int at, uint64_t x, uint64_t top)
{
    if (value_mark(from, at, ORIC_F_ABS) && x & top)
        x = 0 - x;
    if (value_mark(from, at, ORIC_F_INV))
        x = ~x;
    return value_mark(from, at, ORIC_F_NEG) ? 0 - x : x;
}

static inline uint32_t value_integer(const value_source *from, int at)
{
    return (uint32_t)value_signed(from, at, value_bits(from, at), 0x80000000u);
}

/* An immediate of 32 bits is extended. */
static inline uint64_t value_integer64(const value_source *from, int at, int as_signed)
{
    uint64_t x = value_bits64(from, at);
    if (value_mark(from, at, ORIC_F_IMM))
        x = as_signed ? (uint64_t)(int64_t)(int32_t)x : (uint32_t)x;
    return value_signed(from, at, x, 1ull << 63);
}

static inline uint64_t value_float(const value_source *from, int at, uint64_t x, uint64_t signs)
{
    if (value_mark(from, at, ORIC_F_ABS))
        x &= ~signs;
    return value_mark(from, at, ORIC_F_NEG) ? x ^ signs : x;
}

static inline float value_single(const value_source *from, int at)
{
    return arith_f32((uint32_t)value_float(from, at, value_bits(from, at), 0x80000000u));
}

static inline uint32_t value_halves(const value_source *from, int at)
{
    return (uint32_t)value_float(from, at, value_bits(from, at), 0x80008000u);
}

/* An immediate is the upper half of a double. */
static inline uint64_t value_bits_of_double(const value_source *from, int at)
{
    uint64_t x = value_bits64(from, at);
    return value_mark(from, at, ORIC_F_IMM) ? x << 32 : x;
}

static inline double value_double(const value_source *from, int at)
{
    return arith_f64(value_float(from, at, value_bits_of_double(from, at), 1ull << 63));
}

/* An addend of an addition with carry: -x as ~x + 1 in 33 bits, so that the carry is that of a subtraction. */
static inline uint64_t value_addend(const value_source *from, int at)
{
    uint32_t x = value_bits(from, at);
    if (value_mark(from, at, ORIC_F_NEG))
        return (uint64_t)(uint32_t)~x + 1;
    return value_mark(from, at, ORIC_F_INV) ? (uint32_t)~x : x;
}

static inline uint32_t value_predicate(const value_source *from, int at, uint32_t missing)
{
    if (!value_has(from, at))
        return missing;
    return (uint32_t)((from->in[at] ^ value_mark(from, at, ORIC_F_NEG | ORIC_F_INV)) & 1);
}
#endif
