/*
 * The multifunction unit: reciprocals, roots, exponentials, logarithms and sines. Results are the correctly rounded ones
 * (hardware's are within the published error bounds); denormal operands and results are zero where hardware has it so: in
 * single precision, and in exponentials of BF16.
 */
#include "arith/math.h"

/* sin and cos of x revolutions: reduced exactly to an eighth of one, so that quarters come out exact. */
static double turn(double x, int cosine)
{
    double quarters = rint(x * 4.0), rest = (x - quarters * 0.25) * 6.283185307179586476925;
    int quadrant = (int)fmod(quarters, 4.0) + cosine;
    double r = quadrant & 1 ? cos(rest) : sin(rest);
    if (r == 0.0)
        return cosine ? 0.0 : copysign(0.0, x);
    return quadrant & 2 ? -r : r;
}

double arith_mufu_exact(unsigned fn, double x)
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

static int flushes(unsigned fn, unsigned format) { return format == V_F32 || (format == V_BF16 && fn == V_EX2); }

double arith_mufu_operand(unsigned fn, unsigned format, uint32_t bits)
{
    double x = arith_widen(bits, format);
    return flushes(fn, format) && fabs(x) < 0x1p-126 ? copysign(0.0, x) : x;
}

uint32_t arith_mufu_result(unsigned fn, unsigned format, double r)
{
    uint32_t result = arith_narrow(r, format, V_RN);
    if (flushes(fn, format) && fabs(arith_widen(result, format)) < 0x1p-126)
        result &= format == V_F32 ? 0x80000000u : 0x8000u;
    return result;
}

uint32_t arith_mufu_upper_half(unsigned fn, uint32_t bits, uint32_t *rest)
{
    double x = arith_f64((uint64_t)bits << 32);
    if (fabs(x) < 0x1p-1022)
        x = copysign(0.0, x);
    double r = fn == V_RCP64H ? 1.0 / x : 1.0 / sqrt(x);
    *rest = 0;
    if (r != r)
        return ARITH_NAN32;
    if (fabs(r) < 0x1p-1022)
        r = copysign(0.0, r);
    *rest = (uint32_t)arith_bits64(r);
    return (uint32_t)(arith_bits64(r) >> 32);
}

uint32_t arith_mufu_source(unsigned type, unsigned part, uint32_t bits, int neg, int abs)
{
    uint32_t sign = type == V_F32 ? 0x80000000u : 0x8000u;
    if (type != V_F32)
        bits = part == V_H1 ? bits >> 16 : bits & 0xffff;
    bits = abs ? bits & ~sign : bits;
    return neg ? bits ^ sign : bits;
}

uint32_t arith_mufu(unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs)
{
    if (type == V_F16x2 || type == V_BF16x2) {
        unsigned half = type == V_F16x2 ? V_F16 : V_BF16;
        return arith_mufu(fn, half, V_H0, bits, neg, abs) | arith_mufu(fn, half, V_H1, bits, neg, abs) << 16;
    }
    uint32_t x = arith_mufu_source(type, part, bits, neg, abs), rest;
    if (fn == V_RCP64H || fn == V_RSQ64H)
        return arith_mufu_upper_half(fn, x, &rest);
    return arith_mufu_result(fn, type, arith_mufu_exact(fn, arith_mufu_operand(fn, type, x)));
}
