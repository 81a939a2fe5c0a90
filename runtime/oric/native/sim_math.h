/*
 * What the lane expressions of the spec's `meaning` column call: floating-point operations on one lane's values
 * (integer ones: sim_integer.h). Modifier values are the generated V_ names.
 */
#ifndef ORIC_SIM_MATH_H
#define ORIC_SIM_MATH_H
#include <math.h>

#include "sim_integer.h"

#define SIM_INLINE static inline __attribute__((always_inline)) /* so that the clones use their own instructions */
#define SIM_NAN32 0x7fffffffu
#define SIM_NAN16 0x7fffu
#define SIM_NAN64 0xfff8000000000000ull

/* Floating point, out of line: directed rounding, conversions, functions (sim_float.c). */
float sim_fadd_directed(float a, float b, unsigned rnd);
float sim_fmul_directed(float a, float b, unsigned rnd);
float sim_ffma_directed(float a, float b, float c, unsigned rnd);
double sim_dadd_directed(double a, double b, unsigned rnd);
double sim_dmul_directed(double a, double b, unsigned rnd);
double sim_dfma_directed(double a, double b, double c, unsigned rnd);
/* A double rounded into a smaller format: the bits. Formats: V_F32, V_F16, V_BF16, V_TF32. */
uint32_t sim_narrow(double x, unsigned format, unsigned rnd);
/* a + b in double, rounded to odd: rounding it again to a format of at most 51 bits gives the exact sum's rounding. */
double sim_add_odd(double a, double b);
double sim_widen(uint64_t bits, unsigned format);
/* A double as a number of a narrow format (sim_small.c): F16, BF16, TF32, E5M2, E4M3, E3M2, E2M3, E2M1, E8; and back. `random`: the
   16 bits of stochastic rounding (V_RS). Unused bits are 0. */
uint32_t sim_encode(double x, unsigned format, unsigned rnd, uint32_t random, unsigned satfinite, unsigned relu);
double sim_decode(uint32_t bits, unsigned format);
/* Two results packed, a above b: a byte each, or four bits each in E2M1. `random`: a's and b's bits, for V_RS. */
uint32_t sim_pack_small(double a, double b, unsigned format, unsigned rnd, const uint32_t random[2], unsigned satfinite, unsigned relu);
uint32_t sim_pack_small_rs(double a, double b, unsigned format, uint32_t random, unsigned satfinite, unsigned relu);
uint32_t sim_pack_half_rs(double a, double b, unsigned format, uint32_t random, unsigned satfinite, unsigned relu);
/* The two numbers in a byte or pair of bytes as a pair of halves. */
uint32_t sim_unpack_small(uint32_t bits, unsigned from, unsigned to, unsigned relu);
uint32_t sim_pack_integers(int32_t a, int32_t b, uint32_t c, unsigned type, unsigned part);
uint32_t sim_mufu(const oric_sim *sim, unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs);
uint32_t sim_fchk(uint32_t a, uint32_t b);

SIM_INLINE float f32_flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }

SIM_INLINE uint32_t f32_result(float r, unsigned ftz, unsigned sat)
{
    if (r != r)
        return sat ? 0 : SIM_NAN32;
    if (ftz)
        r = f32_flush(r);
    if (sat)
        r = r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f;
    return sim_bits32(r);
}

SIM_INLINE uint32_t fadd(float a, float b, unsigned rnd, unsigned ftz, unsigned sat)
{
    if (ftz) {
        a = f32_flush(a);
        b = f32_flush(b);
    }
    return f32_result(rnd == V_RN ? a + b : sim_fadd_directed(a, b, rnd), ftz, sat);
}

/* fmz: as ftz, and zero times anything is +0. */
SIM_INLINE uint32_t fmul(float a, float b, unsigned rnd, unsigned ftz, unsigned fmz, double scale, unsigned sat)
{
    if (ftz | fmz) {
        a = f32_flush(a);
        b = f32_flush(b);
    }
    if (fmz && (a == 0.0f || b == 0.0f))
        return 0;
    if (scale != 1.0 && a == a && b == b)
        return f32_result(sim_f32(sim_narrow((double)a * b * scale, V_F32, rnd)), ftz | fmz, sat);
    return f32_result(rnd == V_RN ? a * b : sim_fmul_directed(a, b, rnd), ftz | fmz, sat);
}

SIM_INLINE uint32_t ffma(float a, float b, float c, unsigned rnd, unsigned ftz, unsigned fmz, unsigned sat)
{
    if (ftz | fmz) {
        a = f32_flush(a);
        b = f32_flush(b);
        c = f32_flush(c);
    }
    if (fmz && (a == 0.0f || b == 0.0f))
        return f32_result(c, 1, sat);
    return f32_result(rnd == V_RN ? fmaf(a, b, c) : sim_ffma_directed(a, b, c, rnd), ftz | fmz, sat);
}

static inline double fmul_scale(unsigned scale)
{
    switch (scale) {
    case V_D8: return 0.125;
    case V_D4: return 0.25;
    case V_D2: return 0.5;
    case V_M2: return 2.0;
    case V_M4: return 4.0;
    case V_M8: return 8.0;
    default: return 1.0;
    }
}

/* A double result: NaN operands come out quiet, an invalid operation gives the default NaN. */
SIM_INLINE double f64_result(double r, double a, double b, double c)
{
    if (r == r)
        return r;
    double from = a != a ? a : b != b ? b : c;
    return sim_f64(from != from ? sim_bits64(from) | 1ull << 51 : SIM_NAN64);
}

SIM_INLINE double dadd(double a, double b, unsigned rnd)
{
    return f64_result(rnd == V_RN ? a + b : sim_dadd_directed(a, b, rnd), a, b, 0.0);
}
SIM_INLINE double dmul(double a, double b, unsigned rnd)
{
    return f64_result(rnd == V_RN ? a * b : sim_dmul_directed(a, b, rnd), a, b, 0.0);
}
SIM_INLINE double dfma(double a, double b, double c, unsigned rnd)
{
    return f64_result(rnd == V_RN ? fma(a, b, c) : sim_dfma_directed(a, b, c, rnd), a, b, c);
}

/* Minimum (or maximum) of floats: a number wins against a NaN unless `nan`; -0 is less than +0. */
static inline uint32_t fmnmx(float a, float b, unsigned min, unsigned ftz, unsigned nan, unsigned xorsign)
{
    uint32_t sign = (sim_bits32(a) ^ sim_bits32(b)) & 0x80000000u, r;
    if (ftz) {
        a = f32_flush(a);
        b = f32_flush(b);
    }
    if (xorsign) {
        a = fabsf(a);
        b = fabsf(b);
    }
    if ((a != a && b != b) || (nan && (a != a || b != b)))
        return SIM_NAN32;
    if (a != a || b != b)
        r = sim_bits32(a != a ? b : a);
    else if (a == b)
        r = min ? sim_bits32(a) | sim_bits32(b) : sim_bits32(a) & sim_bits32(b);
    else
        r = sim_bits32((a < b) == !!min ? a : b);
    return xorsign ? (r & 0x7fffffffu) | sign : r;
}

/* Comparison of floats; MIN and MAX are comparisons that choose the first operand (DSETP before a selection). */
static inline unsigned fcmp(unsigned cmp, double a, double b)
{
    unsigned unordered = a != a || b != b;
    switch (cmp) {
    case V_F: return 0;
    case V_LT: return a < b;
    case V_EQ: return a == b;
    case V_LE: return a <= b;
    case V_GT: return a > b;
    case V_NE: return a < b || a > b;
    case V_GE: return a >= b;
    case V_NUM: return !unordered;
    case V_NAN: return unordered;
    case V_LTU: return unordered || a < b;
    case V_EQU: return unordered || a == b;
    case V_LEU: return unordered || a <= b;
    case V_GTU: return unordered || a > b;
    case V_NEU: return unordered || a != b;
    case V_GEU: return unordered || a >= b;
    case V_MIN: return a == a && (b != b || a < b || (a == b && signbit(a)));
    case V_MAX: return a == a && (b != b || a > b || (a == b && !signbit(a)));
    default: return 1;
    }
}

/* The second result of a comparison: its complement; for MIN and MAX: both operands are NaN. */
static inline unsigned fcmp_other(unsigned cmp, double a, double b)
{
    if (cmp == V_MIN || cmp == V_MAX)
        return a != a && b != b;
    return !fcmp(cmp, a, b);
}

/* One of the four additions that the lanes of a quad do: a + c, a - c, c - a, c; lane 0's stands in the upper bits. */
static inline uint32_t fswzadd(float a, float c, unsigned pattern, uint32_t lane, unsigned rnd, unsigned ftz)
{
    switch (pattern >> (6 - 2 * (lane & 3)) & 3) {
    case 0: return fadd(a, c, rnd, ftz, 0);
    case 1: return fadd(a, -c, rnd, ftz, 0);
    case 2: return fadd(-a, c, rnd, ftz, 0);
    default: return fadd(0.0f, c, rnd, ftz, 0);
    }
}

/* A half of a pair as a single: exact. */
static inline float half_as_single(uint32_t pair, unsigned part, unsigned bf16)
{
    return (float)sim_widen(part == V_H1 ? pair >> 16 : pair & 0xffff, bf16 ? V_BF16 : V_F16);
}

/* A packed result with half of the third operand above it. */
static inline uint32_t merge_half(uint32_t low, uint32_t c, unsigned part)
{
    return low | (part == V_H1 ? c & 0xffff0000u : c << 16);
}

/* A pair of halves as an operand's swizzle chooses them. */
static inline uint32_t swizzle(uint32_t pair, unsigned how)
{
    if (how == V_H0_H0)
        return (pair & 0xffff) | pair << 16;
    return how == V_H1_H1 ? pair >> 16 | (pair & 0xffff0000u) : pair;
}

#endif
