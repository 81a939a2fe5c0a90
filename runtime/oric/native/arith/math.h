/*
 * What the expressions of spec/encoding (`meaning`) and spec/values call: floating-point operations on one thread's values
 * (integer ones: arith/integer.h). Modifier values are the generated V_ names.
 */
#ifndef ORIC_ARITH_MATH_H
#define ORIC_ARITH_MATH_H
#include <math.h>

#include "arith/bits.h"
#include "arith/integer.h"

#define ARITH_INLINE static inline __attribute__((always_inline)) /* so that the clones use their own instructions */
#define ARITH_NAN32 0x7fffffffu
#define ARITH_NAN16 0x7fffu
#define ARITH_NAN64 0xfff8000000000000ull

/* Floating point, out of line: directed rounding, conversions (arith/float.c). */
float arith_fadd_directed(float a, float b, unsigned rnd);
float arith_fmul_directed(float a, float b, unsigned rnd);
float arith_ffma_directed(float a, float b, float c, unsigned rnd);
double arith_dadd_directed(double a, double b, unsigned rnd);
double arith_dmul_directed(double a, double b, unsigned rnd);
double arith_dfma_directed(double a, double b, double c, unsigned rnd);
/* A double rounded into a smaller format: the bits. Formats: V_F32, V_F16, V_BF16, V_TF32. */
uint32_t arith_narrow(double x, unsigned format, unsigned rnd);
/* a + b in double, rounded to odd: rounding it again to a format of at most 51 bits gives the exact sum's rounding. */
double arith_add_odd(double a, double b);
double arith_widen(uint64_t bits, unsigned format);
/* A double as a number of a narrow format (arith/format.c): F16, BF16, TF32, E5M2, E4M3, E3M2, E2M3, E2M1, E8; and back. `random`: the
   16 bits of stochastic rounding (V_RS). Unused bits are 0. */
uint32_t arith_encode(double x, unsigned format, unsigned rnd, uint32_t random, unsigned satfinite, unsigned relu);
double arith_decode(uint32_t bits, unsigned format);
/* Two results packed, a above b: a byte each, or four bits each in E2M1. `random`: a's and b's bits, for V_RS. */
uint32_t arith_pack_small(double a, double b, unsigned format, unsigned rnd, const uint32_t random[2], unsigned satfinite, unsigned relu);
uint32_t arith_pack_small_rs(double a, double b, unsigned format, uint32_t random, unsigned satfinite, unsigned relu);
uint32_t arith_pack_half_rs(double a, double b, unsigned format, uint32_t random, unsigned satfinite, unsigned relu);
/* The two numbers in a byte or pair of bytes as a pair of halves. */
uint32_t arith_unpack_small(uint32_t bits, unsigned from, unsigned to, unsigned relu);
uint32_t arith_pack_integers(int32_t a, int32_t b, uint32_t c, unsigned type, unsigned part);
uint32_t arith_fchk(uint32_t a, uint32_t b);

/*
 * The multifunction unit (arith/mufu.c): `type` and `part` choose the number in `bits`, signs come after. Its steps: the operand that
 * counts, as a double; the exact function; its rounding. The upper half of a double's reciprocal (square root) of a number whose lower half
 * is zero; `rest`: the lower half of the exact one.
 */
uint32_t arith_mufu(unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs);
uint32_t arith_mufu_source(unsigned type, unsigned part, uint32_t bits, int neg, int abs);
double arith_mufu_operand(unsigned fn, unsigned format, uint32_t bits);
double arith_mufu_exact(unsigned fn, double x);
uint32_t arith_mufu_result(unsigned fn, unsigned format, double r);
uint32_t arith_mufu_upper_half(unsigned fn, uint32_t bits, uint32_t *rest);

/* Packed half precision (arith/half.c). */
uint32_t arith_half_fma(uint32_t a, uint32_t b, uint32_t c, unsigned format, unsigned ftz, unsigned sat, unsigned relu);
uint32_t arith_half_mul(uint32_t a, uint32_t b, unsigned format, unsigned ftz, unsigned sat);
uint32_t arith_half_add(uint32_t a, uint32_t b, unsigned format, unsigned ftz, unsigned sat);
uint32_t arith_half_add_f32(uint32_t a, uint32_t b, unsigned format, unsigned ftz, unsigned sat);
uint32_t arith_half_minmax(uint32_t a, uint32_t b, unsigned format, unsigned min, unsigned ftz, unsigned nan, unsigned xorsign);
uint32_t arith_half_add_mixed(uint32_t a, unsigned how_a, uint32_t b, unsigned how_b, unsigned ftz, unsigned sat);
uint32_t arith_half_fma_oob(uint32_t a, uint32_t b, uint32_t c, unsigned format, unsigned sat, unsigned relu);
unsigned arith_half_compare(uint32_t a, uint32_t b, unsigned format, unsigned cmp, unsigned ftz);

/*
 * Conversions (arith/convert.c). Every format but the 64-bit integers fits a double exactly. `bits` is the operand as it stands: of a
 * packed pair the half that `part` says counts, of a word the byte.
 */
unsigned arith_format_bits(unsigned format);
double arith_source_value(uint64_t bits, unsigned format, unsigned part, unsigned ftz, int neg, int abs);
uint64_t arith_to_format(double x, unsigned format, unsigned rnd, unsigned ftz);
double arith_to_integral(double x, unsigned rnd);
/* Saturating conversion. NaN gives zero with ntz, else the number with only the top bit set. */
uint64_t arith_to_integer(double x, unsigned dtype, unsigned rnd, unsigned ntz);
uint64_t arith_from_integer(uint64_t bits, unsigned dtype, unsigned stype, unsigned rnd, unsigned byte, unsigned half);
uint32_t arith_clamp_integer(int32_t x, unsigned dtype); /* dtype of at most 16 bits */

ARITH_INLINE float f32_flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }

ARITH_INLINE uint32_t f32_result(float r, unsigned ftz, unsigned sat)
{
    if (r != r)
        return sat ? 0 : ARITH_NAN32;
    if (ftz)
        r = f32_flush(r);
    if (sat)
        r = r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f;
    return arith_bits32(r);
}

ARITH_INLINE uint32_t fadd(float a, float b, unsigned rnd, unsigned ftz, unsigned sat)
{
    if (ftz) {
        a = f32_flush(a);
        b = f32_flush(b);
    }
    return f32_result(rnd == V_RN ? a + b : arith_fadd_directed(a, b, rnd), ftz, sat);
}

/* fmz: as ftz, and zero times anything is +0. */
ARITH_INLINE uint32_t fmul(float a, float b, unsigned rnd, unsigned ftz, unsigned fmz, double scale, unsigned sat)
{
    if (ftz | fmz) {
        a = f32_flush(a);
        b = f32_flush(b);
    }
    if (fmz && (a == 0.0f || b == 0.0f))
        return 0;
    if (scale != 1.0 && a == a && b == b)
        return f32_result(arith_f32(arith_narrow((double)a * b * scale, V_F32, rnd)), ftz | fmz, sat);
    return f32_result(rnd == V_RN ? a * b : arith_fmul_directed(a, b, rnd), ftz | fmz, sat);
}

ARITH_INLINE uint32_t ffma(float a, float b, float c, unsigned rnd, unsigned ftz, unsigned fmz, unsigned sat)
{
    if (ftz | fmz) {
        a = f32_flush(a);
        b = f32_flush(b);
        c = f32_flush(c);
    }
    if (fmz && (a == 0.0f || b == 0.0f))
        return f32_result(c, 1, sat);
    return f32_result(rnd == V_RN ? fmaf(a, b, c) : arith_ffma_directed(a, b, c, rnd), ftz | fmz, sat);
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
ARITH_INLINE double f64_result(double r, double a, double b, double c)
{
    if (r == r)
        return r;
    double from = a != a ? a : b != b ? b : c;
    return arith_f64(from != from ? arith_bits64(from) | 1ull << 51 : ARITH_NAN64);
}

ARITH_INLINE double dadd(double a, double b, unsigned rnd)
{
    return f64_result(rnd == V_RN ? a + b : arith_dadd_directed(a, b, rnd), a, b, 0.0);
}
ARITH_INLINE double dmul(double a, double b, unsigned rnd)
{
    return f64_result(rnd == V_RN ? a * b : arith_dmul_directed(a, b, rnd), a, b, 0.0);
}
ARITH_INLINE double dfma(double a, double b, double c, unsigned rnd)
{
    return f64_result(rnd == V_RN ? fma(a, b, c) : arith_dfma_directed(a, b, c, rnd), a, b, c);
}

/* Minimum (or maximum) of floats: a number wins against a NaN unless `nan`; -0 is less than +0. */
static inline uint32_t fmnmx(float a, float b, unsigned min, unsigned ftz, unsigned nan, unsigned xorsign)
{
    uint32_t sign = (arith_bits32(a) ^ arith_bits32(b)) & 0x80000000u, r;
    if (ftz) {
        a = f32_flush(a);
        b = f32_flush(b);
    }
    if (xorsign) {
        a = fabsf(a);
        b = fabsf(b);
    }
    if ((a != a && b != b) || (nan && (a != a || b != b)))
        return ARITH_NAN32;
    if (a != a || b != b)
        r = arith_bits32(a != a ? b : a);
    else if (a == b)
        r = min ? arith_bits32(a) | arith_bits32(b) : arith_bits32(a) & arith_bits32(b);
    else
        r = arith_bits32((a < b) == !!min ? a : b);
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
    return (float)arith_widen(part == V_H1 ? pair >> 16 : pair & 0xffff, bf16 ? V_BF16 : V_F16);
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
    if (how == V_H0_NH1)
        return (pair >> 16 ^ 0x8000u) | pair << 16;
    return how == V_H1_H1 ? pair >> 16 | (pair & 0xffff0000u) : pair;
}

/*
 * A pair of singles, the low one in the lower half: two registers in either order, or one number twice (`single`, or the swizzle says so);
 * then magnitude and sign. `np` negates the high number.
 */
static inline uint64_t pair_source(uint64_t bits, unsigned swizzle, int np, int neg, int abs, int single)
{
    uint32_t low = (uint32_t)bits, high = single || swizzle == V_F32 ? low : (uint32_t)(bits >> 32);
    if (swizzle == V_F32x2_LO_HI) {
        uint32_t first = low;
        low = high;
        high = first;
    }
    uint32_t keep = abs ? 0x7fffffffu : 0xffffffffu, flip = neg ? 0x80000000u : 0;
    return ((low & keep) ^ flip) | (uint64_t)((high & keep) ^ flip ^ (np ? 0x80000000u : 0)) << 32;
}
static inline float pair_low(uint64_t pair) { return arith_f32((uint32_t)pair); }
static inline float pair_high(uint64_t pair) { return arith_f32((uint32_t)(pair >> 32)); }
static inline uint64_t pair_of(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

#endif
