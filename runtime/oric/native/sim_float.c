/* Floating point of the simulator that is not one C operation: directed rounding, narrow formats, functions. */
#include <fenv.h>

#include "sim_math.h"

static int rounding_mode(unsigned rnd)
{
    switch (rnd) {
    case V_RM: return FE_DOWNWARD;
    case V_RP: return FE_UPWARD;
    case V_RZ: return FE_TOWARDZERO;
    default: return FE_TONEAREST;
    }
}

/*
 * The host computes with the wanted rounding mode. The operands and the result are volatile, so that the compiler
 * cannot compute early, late or in advance.
 */
#define DIRECTED(type, expression)          \
    do {                                    \
        volatile type result;               \
        fesetround(rounding_mode(rnd));     \
        result = (expression);              \
        fesetround(FE_TONEAREST);           \
        return result;                      \
    } while (0)

float sim_fadd_directed(float a, float b, unsigned rnd)
{
    volatile float x = a, y = b;
    DIRECTED(float, x + y);
}
float sim_fmul_directed(float a, float b, unsigned rnd)
{
    volatile float x = a, y = b;
    DIRECTED(float, x * y);
}
float sim_ffma_directed(float a, float b, float c, unsigned rnd)
{
    volatile float x = a, y = b, z = c;
    DIRECTED(float, fmaf(x, y, z));
}
double sim_dadd_directed(double a, double b, unsigned rnd)
{
    volatile double x = a, y = b;
    DIRECTED(double, x + y);
}
double sim_dmul_directed(double a, double b, unsigned rnd)
{
    volatile double x = a, y = b;
    DIRECTED(double, x * y);
}
double sim_dfma_directed(double a, double b, double c, unsigned rnd)
{
    volatile double x = a, y = b, z = c;
    DIRECTED(double, fma(x, y, z));
}

double sim_add_odd(double a, double b)
{
    double sum = a + b;
    if (isnan(sum) || isinf(sum))
        return sum;
    double virtual_b = sum - a;
    double error = (a - (sum - virtual_b)) + (b - virtual_b);
    uint64_t bits = sim_bits64(sum);
    if (error != 0.0 && !(bits & 1)) {
        /* The exact sum lies beside an even neighbour: take the odd one on its side. */
        int away = (error > 0.0) == (sum > 0.0);
        bits = away ? bits + 1 : bits - 1;
    }
    return sim_f64(bits);
}

typedef struct {
    int mantissa; /* stored bits */
    int min_exp;  /* exponent of the smallest normal number */
    int max_exp;
} format_shape;

static format_shape shape_of(unsigned format)
{
    switch (format) {
    case V_F16: return (format_shape){10, -14, 15};
    case V_BF16: return (format_shape){7, -126, 127};
    case V_TF32: return (format_shape){10, -126, 127};
    default: return (format_shape){23, -126, 127};
    }
}

static uint64_t rounded(uint64_t kept, uint64_t rest, uint64_t half, unsigned rnd, int negative)
{
    int up;
    switch (rnd) {
    case V_RZ: up = 0; break;
    case V_RM: up = rest && negative; break;
    case V_RP: up = rest && !negative; break;
    default: up = rest > half || (rest == half && (kept & 1));
    }
    return kept + (uint64_t)up;
}

uint32_t sim_narrow(double x, unsigned format, unsigned rnd)
{
    format_shape s = shape_of(format);
    uint64_t bits = sim_bits64(x);
    int negative = (int)(bits >> 63);
    int total = format == V_F16 || format == V_BF16 ? 16 : 32;
    int pad = format == V_TF32 ? 13 : 0; /* TF32 sits in the upper bits of a 32-bit word */
    uint32_t sign = negative ? 1u << (total - 1) : 0;
    uint32_t infinity = (uint32_t)(s.max_exp * 2 + 1) << s.mantissa;
    if (x != x)
        return total == 16 ? SIM_NAN16 : SIM_NAN32;
    if (isinf(x))
        return sign | infinity << pad;
    if (x == 0.0)
        return sign;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t significand = (bits & 0xfffffffffffffull) | (exponent == -1023 ? 0 : 1ull << 52);
    if (exponent == -1023)
        exponent = -1022;
    int drop = 52 - s.mantissa + (exponent < s.min_exp ? s.min_exp - exponent : 0);
    uint64_t kept, rest, half;
    if (drop > 62) { /* far below the smallest number */
        kept = 0;
        rest = 1;
        half = 2;
    } else {
        kept = significand >> drop;
        rest = significand & ((1ull << drop) - 1);
        half = 1ull << (drop - 1);
    }
    uint64_t field = rounded(kept, rest, half, rnd, negative);
    if (exponent >= s.min_exp)
        field += (uint64_t)(exponent - s.min_exp) << s.mantissa; /* the implicit one adds the last exponent step */
    if (field >= infinity) {
        int to_infinity = rnd == V_RN || (rnd == V_RP && !negative) || (rnd == V_RM && negative);
        field = to_infinity ? infinity : infinity - 1;
    }
    return sign | (uint32_t)field << pad;
}

double sim_widen(uint64_t bits, unsigned format)
{
    if (format == V_F64)
        return sim_f64(bits);
    if (format == V_F32)
        return (double)sim_f32((uint32_t)bits);
    if (format == V_BF16)
        return (double)sim_f32((uint32_t)bits << 16);
    uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double magnitude;
    if (exponent == 31)
        magnitude = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(mantissa, -24);
    else
        magnitude = ldexp(mantissa | 1024, (int)exponent - 25);
    return bits >> 15 & 1 ? -magnitude : magnitude;
}

/* sin and cos of x revolutions; the argument is reduced exactly. */
static double turn(double x, int cosine)
{
    double r = x - rint(x);
    return cosine ? cos(r * 6.283185307179586476925) : sin(r * 6.283185307179586476925);
}

static double function(unsigned fn, double x)
{
    switch (fn) {
    case V_COS: return isinf(x) ? NAN : turn(x, 1);
    case V_SIN: return isinf(x) ? NAN : turn(x, 0);
    case V_EX2: return exp2(x);
    case V_LG2: return log2(x);
    case V_RCP: return 1.0 / x;
    case V_RSQ: return 1.0 / sqrt(x);
    case V_SQRT: return sqrt(x);
    default: return tanh(x);
    }
}

/* The upper half of the reciprocal (square root) of the double with the given upper half and a lower half of zero. */
static uint32_t upper_half(unsigned fn, uint32_t bits)
{
    double x = sim_f64((uint64_t)bits << 32);
    if (fabs(x) < 0x1p-1022)
        x = copysign(0.0, x);
    double r = fn == V_RCP64H ? 1.0 / x : 1.0 / sqrt(x);
    if (r != r)
        return 0x7fffffffu;
    if (fabs(r) < 0x1p-1022)
        r = copysign(0.0, r);
    return (uint32_t)(sim_bits64(r) >> 32);
}

/*
 * Multifunction unit. Results are the correctly rounded ones (hardware's are within the published error bounds of
 * the approximate PTX instructions); denormal operands and results are zero, as single-precision hardware has it.
 */
uint32_t sim_mufu(unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs)
{
    if (type == V_F32) {
        bits = abs ? bits & 0x7fffffffu : bits;
        bits = neg ? bits ^ 0x80000000u : bits;
        if (fn == V_RCP64H || fn == V_RSQ64H)
            return upper_half(fn, bits);
        uint32_t r = sim_narrow(function(fn, (double)f32_flush(sim_f32(bits))), V_F32, V_RN);
        return (r & 0x7f800000u) == 0 ? r & 0x80000000u : r;
    }
    bits = part == V_H1 ? bits >> 16 : bits & 0xffff;
    bits = abs ? bits & 0x7fffu : bits;
    bits = neg ? bits ^ 0x8000u : bits;
    return sim_narrow(function(fn, sim_widen(bits, type)), type, V_RN);
}

/* Whether the division a / b needs the slow path: an operand or the quotient near the ends of the range. */
uint32_t sim_fchk(uint32_t a, uint32_t b)
{
    int ea = (int)(a >> 23 & 255), eb = (int)(b >> 23 & 255);
    return ea == 255 || ea < 32 || eb > 250 || eb < 4 || ea - eb > 120 || eb - ea > 120;
}
