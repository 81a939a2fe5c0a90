/* Number formats of at most 32 bits: doubles rounded into them, and their numbers as doubles. */
#include "arith/math.h"

typedef struct {
    int bits;         /* sign included */
    int mantissa;     /* stored bits */
    int min_exp;      /* exponent of the smallest normal number */
    int infinite;     /* there is an infinity, after the largest number */
    int pad;          /* unused bits below the number */
    uint32_t largest; /* the largest number, without padding */
    uint32_t nan;     /* what NaN becomes: the largest number where the format has no NaN */
} format_shape;

static format_shape shape_of(unsigned format)
{
    switch (format) {
    case V_F16: return (format_shape){16, 10, -14, 1, 0, 0x7bff, ARITH_NAN16};
    case V_BF16: return (format_shape){16, 7, -126, 1, 0, 0x7f7f, ARITH_NAN16};
    case V_TF32: return (format_shape){32, 10, -126, 1, 13, 0x3fbff, ARITH_NAN32};
    case V_E5M2: return (format_shape){8, 2, -14, 1, 0, 0x7b, 0x7f};
    case V_E4M3: return (format_shape){8, 3, -6, 0, 0, 0x7e, 0x7f};
    case V_E3M2: return (format_shape){6, 2, -2, 0, 0, 0x1f, 0x1f};
    case V_E2M3: return (format_shape){6, 3, 0, 0, 0, 0x1f, 0x1f};
    case V_E2M1: return (format_shape){4, 1, 0, 0, 0, 0x7, 0x7};
    default: return (format_shape){32, 23, -126, 1, 0, 0x7f7fffff, ARITH_NAN32};
    }
}

/* How a number is rounded: `random` has 16 bits and counts in stochastic rounding (V_RS) only. */
typedef struct {
    unsigned mode;
    uint32_t random;
    int negative;
} rounding;

/* The lower `drop` bits of a significand (at least 16 of them) away. */
static uint64_t rounded(uint64_t significand, int drop, rounding r)
{
    if (drop > 62) { /* far below the smallest number: what is lost here only says that there was something */
        int extra = drop - 62;
        significand = extra < 64 ? significand >> extra | ((significand & ((1ull << extra) - 1)) != 0) : 1;
        drop = 62;
    }
    uint64_t kept = significand >> drop, rest = significand & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    int up;
    switch (r.mode) {
    case V_RZ: up = 0; break;
    case V_RM: up = rest && r.negative; break;
    case V_RP: up = rest && !r.negative; break;
    case V_RS: up = (rest + ((uint64_t)r.random << (drop - 16))) >> drop != 0; break;
    default: up = rest > half || (rest == half && (kept & 1));
    }
    return kept + (uint64_t)up;
}

static uint32_t to_format(double x, format_shape s, rounding r, unsigned satfinite)
{
    uint64_t bits = arith_bits64(x);
    r.negative = (int)(bits >> 63);
    uint32_t sign = r.negative ? 1u << (s.bits - 1) : 0;
    if (x != x)
        return s.nan;
    if (x == 0.0)
        return sign;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t significand = (bits & 0xfffffffffffffull) | (exponent == -1023 ? 0 : 1ull << 52);
    if (exponent == -1023)
        exponent = -1022;
    uint64_t field = rounded(significand, 52 - s.mantissa + (exponent < s.min_exp ? s.min_exp - exponent : 0), r);
    if (exponent >= s.min_exp)
        field += (uint64_t)(exponent - s.min_exp) << s.mantissa; /* the implicit one adds the last exponent step */
    if (field > s.largest) {
        int away = r.mode == V_RN || r.mode == V_RS || r.mode == (r.negative ? V_RM : V_RP) || isinf(x);
        field = away && s.infinite && !satfinite ? s.largest + 1 : s.largest;
    }
    return sign | (uint32_t)field << s.pad;
}

uint32_t arith_narrow(double x, unsigned format, unsigned rnd)
{
    return to_format(x, shape_of(format), (rounding){rnd, 0, 0}, 0);
}

/* The exponent of a magnitude as a scale factor: a power of two from 2^-127 on, 255 is NaN. */
static uint32_t to_scale(double x, unsigned rnd, unsigned satfinite)
{
    double magnitude = fabs(x);
    if (x != x)
        return 255;
    int exponent = magnitude < 0x1p-127 ? -127 : isinf(x) ? 128 : ilogb(magnitude);
    if (rnd == V_RP && exponent < 128 && magnitude > ldexp(1.0, exponent))
        exponent++;
    return exponent > 127 && satfinite ? 254 : (uint32_t)(exponent + 127);
}

uint32_t arith_encode(double x, unsigned format, unsigned rnd, uint32_t random, unsigned satfinite, unsigned relu)
{
    if (format == V_E8)
        return to_scale(x, rnd, satfinite);
    if (relu && signbit(x) && x == x)
        return 0;
    return to_format(x, shape_of(format), (rounding){rnd, random, 0}, satfinite);
}

double arith_decode(uint32_t bits, unsigned format)
{
    if (format == V_E8)
        return bits == 255 ? (double)NAN : ldexp(1.0, (int)bits - 127);
    format_shape s = shape_of(format);
    uint32_t magnitude = (bits & ((1u << (s.bits - 1)) - 1)) >> s.pad, mantissa = magnitude & ((1u << s.mantissa) - 1);
    int exponent = (int)(magnitude >> s.mantissa);
    double value;
    if (magnitude > s.largest)
        value = s.infinite && magnitude == s.largest + 1 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        value = ldexp(mantissa, s.min_exp - s.mantissa);
    else
        value = ldexp(mantissa | 1u << s.mantissa, s.min_exp - s.mantissa + exponent - 1);
    return bits >> (s.bits - 1) & 1 ? -value : value;
}

double arith_widen(uint64_t bits, unsigned format)
{
    switch (format) {
    case V_F64: return arith_f64(bits);
    case V_F32: return (double)arith_f32((uint32_t)bits);
    case V_BF16: return (double)arith_f32((uint32_t)bits << 16);
    default: return arith_decode((uint32_t)bits, format);
    }
}
