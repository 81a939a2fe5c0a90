/* Conversions between number formats. Every format but the 64-bit integers fits a double exactly. */
#include "sim_ops.h"

static uint32_t format_bits(unsigned format)
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

/* The raw bits of the source lanes; of a packed pair the half that `part` says. */
static void source_bits(sim_warp *w, uint32_t mask, sim_opd Rb, unsigned format, unsigned part, uint64_t *out)
{
    oric_operand bare = *Rb;
    bare.flags = 0;
    if (format_bits(format) == 64) {
        uint64_t room[SIM_LANES];
        const uint64_t *wide = format == V_F64 ? sim_get_f64(w, mask, &bare, room) : sim_get64(w, mask, &bare, room, 1);
        memcpy(out, wide, SIM_LANES * sizeof *out);
        return;
    }
    uint32_t room[SIM_LANES];
    const uint32_t *narrow = sim_get32(w, mask, &bare, room, SIM_AS_BITS);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = format_bits(format) == 16 ? (part == V_H1 ? narrow[l] >> 16 : narrow[l] & 0xffff) : narrow[l];
}

/* The source lanes as doubles, with the operand's magnitude and sign applied; ftz flushes single denormals. */
static void source_values(sim_warp *w, uint32_t mask, sim_opd Rb, unsigned format, unsigned part, unsigned ftz, double *out)
{
    uint64_t bits[SIM_LANES];
    source_bits(w, mask, Rb, format, part, bits);
    for (int l = 0; l < SIM_LANES; l++) {
        double x = sim_widen(bits[l], format);
        if (ftz && format == V_F32)
            x = (double)f32_flush((float)x);
        if (Rb->flags & ORIC_F_ABS)
            x = fabs(x);
        out[l] = Rb->flags & ORIC_F_NEG ? -x : x;
    }
}

static void put_bits(sim_warp *w, uint32_t mask, sim_opd Rd, unsigned format, const uint64_t *bits)
{
    uint32_t narrow[SIM_LANES];
    if (format_bits(format) == 64) {
        sim_put64(w, mask, Rd, bits);
        return;
    }
    for (int l = 0; l < SIM_LANES; l++)
        narrow[l] = (uint32_t)bits[l];
    sim_put32(w, mask, Rd, narrow);
}

static uint64_t to_format(double x, unsigned format, unsigned rnd, unsigned ftz)
{
    if (format == V_F64)
        return x != x ? SIM_NAN64 & ~(1ull << 63) : sim_bits64(x);
    uint32_t bits = sim_narrow(x, format, rnd);
    if (ftz && format == V_F32 && (bits & 0x7f800000u) == 0)
        bits &= 0x80000000u;
    return bits;
}

SIM_OP(float_to_float, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned ftz, unsigned part)
{
    double x[SIM_LANES];
    uint64_t out[SIM_LANES];
    source_values(w, mask, Rb, stype, part, ftz, x);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = to_format(x[l], dtype, rnd, ftz);
    put_bits(w, mask, Rd, dtype, out);
}

static double rounded(double x, unsigned rnd)
{
    switch (rnd) {
    case V_FLOOR: return floor(x);
    case V_CEIL: return ceil(x);
    case V_TRUNC: return trunc(x);
    default: return rint(x); /* the host rounds to nearest even */
    }
}

/* Saturating conversion. NaN gives zero with ntz, else the number with only the top bit set. */
uint64_t sim_to_integer(double x, unsigned dtype, unsigned rnd, unsigned ntz)
{
    uint32_t bits = format_bits(dtype);
    uint64_t top = 1ull << (bits - 1);
    if (x != x)
        return ntz ? 0 : top;
    x = rounded(x, rnd);
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

SIM_OP(float_to_int, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned ftz, unsigned ntz, unsigned part)
{
    double x[SIM_LANES];
    uint64_t out[SIM_LANES];
    source_values(w, mask, Rb, stype, part, ftz, x);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = sim_to_integer(x[l], dtype, rnd, ntz);
    put_bits(w, mask, Rd, dtype, out);
}

/* A 64-bit integer as a double that rounds on to `format` as the integer itself would: exact, or rounded to odd. */
static double integer_to_odd(uint64_t magnitude)
{
    uint64_t high = magnitude & ~0xfffull, low = magnitude & 0xfff;
    return sim_add_odd((double)high, (double)low);
}

static uint64_t from_integer(uint64_t value, unsigned dtype, int is_signed, unsigned rnd)
{
    int negative = is_signed && value >> 63;
    uint64_t magnitude = negative ? 0 - value : value;
    if (dtype == V_F64) {
        if (rnd == V_RN)
            return sim_bits64(negative ? -(double)magnitude : (double)magnitude);
        double high = (double)(magnitude & ~0xfffull), low = (double)(magnitude & 0xfff);
        return sim_bits64(negative ? dadd(-high, -low, rnd) : dadd(high, low, rnd));
    }
    double x = integer_to_odd(magnitude);
    return sim_narrow(negative ? -x : x, dtype, rnd);
}

SIM_OP(int_to_float, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned byte, unsigned half)
{
    uint64_t bits[SIM_LANES], out[SIM_LANES];
    uint32_t width = format_bits(stype), shift = 0;
    if (width == 8)
        shift = byte == V_B1 ? 8 : byte == V_B2 ? 16 : byte == V_B3 ? 24 : 0;
    source_bits(w, mask, Rb, stype, width == 16 ? half : V_H0, bits);
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t value = width == 64 ? bits[l] : bits[l] >> shift & ((1ull << width) - 1);
        if (is_signed_format(stype) && width < 64 && value >> (width - 1))
            value |= ~0ull << width;
        out[l] = from_integer(value, dtype, is_signed_format(stype), rnd);
    }
    put_bits(w, mask, Rd, dtype, out);
}

/* A signed number clamped to the range of a smaller integer. */
uint32_t sim_clamp_integer(int32_t x, unsigned dtype)
{
    int32_t bits = (int32_t)format_bits(dtype), low = is_signed_format(dtype) ? -(1 << (bits - 1)) : 0;
    int32_t high = is_signed_format(dtype) ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    return (uint32_t)(x < low ? low : x > high ? high : x);
}

SIM_OP(round_to_integer, sim_opd Rd, sim_opd Rb, unsigned type, unsigned rnd, unsigned ftz, unsigned part)
{
    double x[SIM_LANES];
    uint64_t out[SIM_LANES];
    source_values(w, mask, Rb, type, part, ftz, x);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = to_format(rounded(x[l], rnd), type, V_RN, ftz);
    put_bits(w, mask, Rd, type, out);
}
