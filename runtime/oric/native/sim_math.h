/*
 * What the lane expressions of the spec's `meaning` column call: integer, logic and floating-point operations on one
 * lane's values. Modifier values are the generated V_ names.
 */
#ifndef ORIC_SIM_MATH_H
#define ORIC_SIM_MATH_H
#include <math.h>

#include "sim_value.h"
#include "sim_names.h"

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
uint32_t sim_mufu(unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs);
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

static inline unsigned icmp(unsigned cmp, uint32_t a, uint32_t b, unsigned sign)
{
    uint32_t flip = sign == V_S32 ? 0x80000000u : 0;
    a ^= flip;
    b ^= flip;
    switch (cmp) {
    case V_F: return 0;
    case V_LT: return a < b;
    case V_EQ: return a == b;
    case V_LE: return a <= b;
    case V_GT: return a > b;
    case V_NE: return a != b;
    case V_GE: return a >= b;
    default: return 1;
    }
}

/* Comparison of upper halves, `low` is the result for the lower halves. */
static inline unsigned icmp_ex(unsigned cmp, uint32_t a, uint32_t b, unsigned sign, unsigned low)
{
    if (cmp == V_EQ)
        return a == b && low;
    if (cmp == V_NE)
        return a != b || low;
    if (a == b && cmp != V_F && cmp != V_T)
        return low;
    return icmp(cmp, a, b, sign);
}

static inline unsigned boolean(unsigned bop, unsigned a, unsigned b)
{
    return bop == V_AND ? a & b : bop == V_OR ? a | b : a ^ b;
}

static inline uint64_t mul_wide(uint32_t a, uint32_t b, unsigned sign)
{
    return sign == V_S32 ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
}

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, unsigned lut)
{
    uint32_t r = 0;
    if (lut & 0x01) r |= ~a & ~b & ~c;
    if (lut & 0x02) r |= ~a & ~b & c;
    if (lut & 0x04) r |= ~a & b & ~c;
    if (lut & 0x08) r |= ~a & b & c;
    if (lut & 0x10) r |= a & ~b & ~c;
    if (lut & 0x20) r |= a & ~b & c;
    if (lut & 0x40) r |= a & b & ~c;
    if (lut & 0x80) r |= a & b & c;
    return r;
}

/* Funnel shift of {high, low}; the type says how far and with which fill, hi which half comes out. */
static inline uint32_t shf(uint32_t low, uint32_t shift, uint32_t high, unsigned dir, unsigned wrap, unsigned type, unsigned hi)
{
    uint64_t value = low | (uint64_t)high << 32;
    uint32_t width = type == V_U64 || type == V_S64 ? 64 : 32;
    int is_signed = type == V_S32 || type == V_S64;
    uint32_t n = wrap == V_W ? shift & (width - 1) : shift < width ? shift : width;
    if (dir == V_L)
        value = n >= 64 ? 0 : value << n;
    else if (is_signed)
        value = (uint64_t)((int64_t)value >> (n >= 64 ? 63 : n));
    else
        value = n >= 64 ? 0 : value >> n;
    return (uint32_t)(hi ? value >> 32 : value);
}

static inline uint32_t prmt(uint32_t a, uint32_t selector, uint32_t c, unsigned mode)
{
    uint64_t bytes = a | (uint64_t)c << 32;
    uint32_t r = 0, s = selector & 3;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t pick, msb = 0;
        switch (mode) {
        case V_F4E: pick = s + i; break;
        case V_B4E: pick = (s - i) & 7; break;
        case V_RC8: pick = s; break;
        case V_ECL: pick = i > s ? i : s; break;
        case V_ECR: pick = i < s ? i : s; break;
        case V_RC16: pick = (s & 1) * 2 + (i & 1); break;
        default:
            pick = selector >> (4 * i) & 7;
            msb = selector >> (4 * i) & 8;
        }
        uint32_t byte = (uint32_t)(bytes >> (8 * pick)) & 0xff;
        if (msb)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}

/* Keep the lower `bits` bits, extended by sign or by zeros. */
static inline uint32_t sgxt(uint32_t x, uint32_t bits, unsigned wrap, unsigned sign)
{
    if (wrap == V_W)
        bits &= 31;
    if (bits >= 32)
        return x;
    if (bits == 0)
        return 0;
    x <<= 32 - bits;
    return sign == V_S32 ? (uint32_t)((int32_t)x >> (32 - bits)) : x >> (32 - bits);
}

static inline uint32_t bmsk(uint32_t start, uint32_t width, unsigned wrap)
{
    if (wrap == V_W) {
        start &= 31;
        width &= 31;
    }
    if (start >= 32)
        return 0;
    return (width >= 32 ? 0xffffffffu : (1u << width) - 1) << start;
}

/* Position of the leading one (for a negative signed number: zero), from the top with sh; all ones: there is none. */
static inline uint32_t flo(uint32_t x, unsigned sign, unsigned sh)
{
    if (sign == V_S32 && x >> 31)
        x = ~x;
    if (x == 0)
        return 0xffffffffu;
    return (uint32_t)(sh ? __builtin_clz(x) : 31 - __builtin_clz(x));
}

static inline uint32_t brev(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

static inline uint32_t imnmx(uint32_t a, uint32_t b, unsigned min, unsigned sign)
{
    unsigned less = icmp(V_LT, a, b, sign);
    return less == !!min ? a : b;
}

/* Minimum or maximum of 32-bit numbers or of pairs of 16-bit numbers; relu: not below 0. */
static inline uint32_t vimnmx(uint32_t a, uint32_t b, unsigned min, unsigned type, unsigned relu)
{
    if (type == V_U32 || type == V_S32) {
        uint32_t r = imnmx(a, b, min, type);
        return relu && r >> 31 ? 0 : r;
    }
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 16) {
        int32_t x = type == V_S16x2 ? (int16_t)(a >> i) : (int32_t)(a >> i & 0xffff);
        int32_t y = type == V_S16x2 ? (int16_t)(b >> i) : (int32_t)(b >> i & 0xffff);
        int32_t v = (x < y) == !!min ? x : y;
        if (relu && v < 0)
            v = 0;
        r |= ((uint32_t)v & 0xffff) << i;
    }
    return r;
}

static inline uint32_t add16x2(uint32_t a, uint32_t b)
{
    return ((a + b) & 0xffff) | ((a & 0xffff0000u) + (b & 0xffff0000u));
}

static inline uint32_t absdiff(uint32_t a, uint32_t b, unsigned sign)
{
    return icmp(V_LT, a, b, sign) ? b - a : a - b;
}

/* Differences of four bytes, packed or added up. */
static inline uint32_t absdiff4(uint32_t a, uint32_t b, unsigned sign, unsigned add)
{
    uint32_t out = 0;
    for (int i = 0; i < 32; i += 8) {
        int32_t x = sign == V_S8 ? (int8_t)(a >> i) : (int32_t)(a >> i & 0xff);
        int32_t y = sign == V_S8 ? (int8_t)(b >> i) : (int32_t)(b >> i & 0xff);
        out += (uint32_t)(x < y ? y - x : x - y) << (add ? 0 : i);
    }
    return out;
}

/* Dot product: four bytes of a with four of b, or two halves of a with two bytes of b. */
static inline uint32_t idp(uint32_t a, uint32_t b, unsigned mode, unsigned type)
{
    uint32_t sum = 0;
    if (mode == V_4A_U8 || mode == V_4A_S8) {
        for (int i = 0; i < 32; i += 8) {
            int32_t x = mode == V_4A_S8 ? (int8_t)(a >> i) : (int32_t)(a >> i & 0xff);
            int32_t y = type == V_S8 ? (int8_t)(b >> i) : (int32_t)(b >> i & 0xff);
            sum += (uint32_t)(x * y);
        }
        return sum;
    }
    int is_signed = mode == V_2A_LO_S16 || mode == V_2A_HI_S16;
    uint32_t pair = mode == V_2A_HI_U16 || mode == V_2A_HI_S16 ? b >> 16 : b;
    for (int i = 0; i < 2; i++) {
        int32_t x = is_signed ? (int16_t)(a >> (16 * i)) : (int32_t)(a >> (16 * i) & 0xffff);
        int32_t y = type == V_S8 ? (int8_t)(pair >> (8 * i)) : (int32_t)(pair >> (8 * i) & 0xff);
        sum += (uint32_t)(x * y);
    }
    return sum;
}

/* A pair of halves as an operand's swizzle chooses them. */
static inline uint32_t swizzle(uint32_t pair, unsigned how)
{
    if (how == V_H0_H0)
        return (pair & 0xffff) | pair << 16;
    return how == V_H1_H1 ? pair >> 16 | (pair & 0xffff0000u) : pair;
}

/* LEA: (a << shift) or its upper half, complemented after the shift. */
static inline uint64_t lea_part(uint64_t a, unsigned shift, unsigned hi, int neg, int inv)
{
    uint32_t part = (uint32_t)(hi ? a << shift >> 32 : a << shift);
    return neg ? (uint64_t)(uint32_t)~part + 1 : inv ? (uint32_t)~part : part;
}
#endif
