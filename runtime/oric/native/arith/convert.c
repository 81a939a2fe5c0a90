/* Conversions between number formats. Every format but the 64-bit integers fits a double exactly. */
#include "arith/math.h"

unsigned arith_format_bits(unsigned format)
{
    switch (format) {
    case V_F64: case V_U64: case V_S64: return 64;
    case V_F16: case V_BF16: case V_U16: case V_S16: return 16;
    case V_U8: case V_S8: return 8;
    default: return 32;
    }
}

static int is_signed_format(unsigned format)
{
    return format == V_S8 || format == V_S16 || format == V_S32 || format == V_S64;
}

/* Of a packed pair the half that `part` says. */
static uint64_t part_of(uint64_t bits, unsigned format, unsigned part)
{
    switch (arith_format_bits(format)) {
    case 64: return bits;
    case 16: return part == V_H1 ? bits >> 16 & 0xffff : bits & 0xffff;
    default: return (uint32_t)bits;
    }
}

/* As a double, with the operand's magnitude and sign applied; ftz flushes single denormals. */
double arith_source_value(uint64_t bits, unsigned format, unsigned part, unsigned ftz, int neg, int abs)
{
    double x = arith_widen(part_of(bits, format, part), format);
    if (ftz && format == V_F32)
        x = (double)f32_flush((float)x);
    if (abs)
        x = fabs(x);
    return neg ? -x : x;
}

uint64_t arith_to_format(double x, unsigned format, unsigned rnd, unsigned ftz)
{
    if (format == V_F64)
        return x != x ? ARITH_NAN64 & ~(1ull << 63) : arith_bits64(x);
    uint32_t bits = arith_narrow(x, format, rnd);
    if (ftz && format == V_F32 && (bits & 0x7f800000u) == 0)
        bits &= 0x80000000u;
    return bits;
}

double arith_to_integral(double x, unsigned rnd)
{
    switch (rnd) {
    case V_FLOOR: return floor(x);
    case V_CEIL: return ceil(x);
    case V_TRUNC: return trunc(x);
    default: return rint(x); /* the host rounds to nearest even */
    }
}

uint64_t arith_to_integer(double x, unsigned dtype, unsigned rnd, unsigned ntz)
{
    uint32_t bits = arith_format_bits(dtype);
    uint64_t top = 1ull << (bits - 1);
    if (x != x)
        return ntz ? 0 : top;
    x = arith_to_integral(x, rnd);
    if (is_signed_format(dtype)) {
        double limit = ldexp(1.0, (int)bits - 1);
        if (x >= limit)
            return top - 1;
        if (x < -limit)
            return 0 - top;
        return (uint64_t)(int64_t)x;
    }
    if (x <= 0.0)
        return 0;
    if (x >= ldexp(1.0, (int)bits))
        return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    return (uint64_t)x;
}

/* A 64-bit integer as a double that rounds on to `format` as the integer itself would: exact, or rounded to odd. */
static double integer_to_odd(uint64_t magnitude)
{
    uint64_t high = magnitude & ~0xfffull, low = magnitude & 0xfff;
    return arith_add_odd((double)high, (double)low);
}

static uint64_t rounded_integer(uint64_t value, unsigned dtype, int is_signed, unsigned rnd)
{
    int negative = is_signed && value >> 63;
    uint64_t magnitude = negative ? 0 - value : value;
    if (dtype == V_F64) {
        if (rnd == V_RN)
            return arith_bits64(negative ? -(double)magnitude : (double)magnitude);
        double high = (double)(magnitude & ~0xfffull), low = (double)(magnitude & 0xfff);
        return arith_bits64(negative ? dadd(-high, -low, rnd) : dadd(high, low, rnd));
    }
    double x = integer_to_odd(magnitude);
    return arith_narrow(negative ? -x : x, dtype, rnd);
}

uint64_t arith_from_integer(uint64_t bits, unsigned dtype, unsigned stype, unsigned rnd, unsigned byte, unsigned half)
{
    uint32_t width = arith_format_bits(stype), shift = 0;
    if (width == 8)
        shift = byte == V_B1 ? 8 : byte == V_B2 ? 16 : byte == V_B3 ? 24 : 0;
    uint64_t value = part_of(bits, stype, width == 16 ? half : V_H0);
    if (width < 64)
        value = value >> shift & ((1ull << width) - 1);
    if (is_signed_format(stype) && width < 64 && value >> (width - 1))
        value |= ~0ull << width;
    return rounded_integer(value, dtype, is_signed_format(stype), rnd);
}

/* A signed number clamped to the range of a smaller integer. */
uint32_t arith_clamp_integer(int32_t x, unsigned dtype)
{
    int32_t bits = (int32_t)arith_format_bits(dtype), low = is_signed_format(dtype) ? -(1 << (bits - 1)) : 0;
    int32_t high = is_signed_format(dtype) ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    return (uint32_t)(x < low ? low : x > high ? high : x);
}
