/* Pairs of half-precision numbers: each half is computed exactly (or rounded to odd) in double and rounded once. */
#include "arith/math.h"

static uint32_t finish(double x, unsigned format, unsigned ftz, unsigned sat, unsigned relu)
{
    uint32_t bits = arith_narrow(x, format, V_RN);
    if (x != x)
        return sat ? 0 : ARITH_NAN16;
    if (ftz && format == V_F16 && (bits & 0x7c00) == 0)
        bits &= 0x8000;
    if ((sat || relu) && bits & 0x8000)
        return 0;
    uint32_t one = format == V_F16 ? 0x3c00 : 0x3f80;
    return sat && bits > one ? one : bits;
}

static double lane_half(uint32_t pair, int i, unsigned format, unsigned ftz)
{
    uint32_t bits = pair >> (16 * i) & 0xffff;
    if (ftz && format == V_F16 && (bits & 0x7c00) == 0)
        bits &= 0x8000;
    return arith_widen(bits, format);
}

uint32_t arith_half_fma(uint32_t a, uint32_t b, uint32_t c, unsigned format, unsigned ftz, unsigned sat, unsigned relu)
{
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        double product = lane_half(a, i, format, ftz) * lane_half(b, i, format, ftz);
        r |= finish(arith_add_odd(product, lane_half(c, i, format, ftz)), format, ftz, sat, relu) << (16 * i);
    }
    return r;
}

uint32_t arith_half_mul(uint32_t a, uint32_t b, unsigned format, unsigned ftz, unsigned sat)
{
    uint32_t r = 0;
    for (int i = 0; i < 2; i++)
        r |= finish(lane_half(a, i, format, ftz) * lane_half(b, i, format, ftz), format, ftz, sat, 0) << (16 * i);
    return r;
}

uint32_t arith_half_add(uint32_t a, uint32_t b, unsigned format, unsigned ftz, unsigned sat)
{
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        double sum = arith_add_odd(lane_half(a, i, format, ftz), lane_half(b, i, format, ftz));
        r |= finish(sum, format, ftz, sat, 0) << (16 * i);
    }
    return r;
}

/* The low halves added into a single. */
uint32_t arith_half_add_f32(uint32_t a, uint32_t b, unsigned format, unsigned ftz, unsigned sat)
{
    double sum = arith_add_odd(lane_half(a, 0, format, ftz), lane_half(b, 0, format, ftz));
    return f32_result(arith_f32(arith_narrow(sum, V_F32, V_RN)), ftz, sat);
}

/*
 * A half of a sum of which an operand is one single for both halves. It is cut off to a half: ptxas makes cvt.rz.f16.f32 of sm_75 so,
 * and cvt.rn another way.
 */
static double half_or_single(uint32_t bits, int i, unsigned how, unsigned ftz)
{
    if (how == V_F32)
        return lane_half(arith_narrow(ftz ? f32_flush(arith_f32(bits)) : arith_f32(bits), V_F16, V_RZ), 0, V_F16, 0);
    return lane_half(swizzle(bits, how), i, V_F16, ftz);
}

uint32_t arith_half_add_mixed(uint32_t a, unsigned how_a, uint32_t b, unsigned how_b, unsigned ftz, unsigned sat)
{
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        double sum = arith_add_odd(half_or_single(a, i, how_a, ftz), half_or_single(b, i, how_b, ftz));
        r |= finish(sum, V_F16, ftz, sat, 0) << (16 * i);
    }
    return r;
}

/*
 * A multiply-add whose result is 0 where an operand is the NaN that tensor copies fill with outside of the tensor.
 * That NaN's bits are 0x7ff7, as GPUs fill it in.
 */
uint32_t arith_half_fma_oob(uint32_t a, uint32_t b, uint32_t c, unsigned format, unsigned sat, unsigned relu)
{
    uint32_t r = arith_half_fma(a, b, c, format, 0, sat, relu);
    for (int i = 0; i < 32; i += 16)
        if ((a >> i & 0x7fff) == 0x7ff7 || (b >> i & 0x7fff) == 0x7ff7 || (c >> i & 0x7fff) == 0x7ff7)
            r &= ~(0xffffu << i);
    return r;
}

static uint32_t minmax(uint32_t a, uint32_t b, unsigned format, unsigned min, unsigned ftz, unsigned nan, unsigned xorsign)
{
    uint32_t sign = (a ^ b) & 0x8000;
    if (ftz && format == V_F16) {
        a = (a & 0x7c00) ? a : a & 0x8000;
        b = (b & 0x7c00) ? b : b & 0x8000;
    }
    if (xorsign) {
        a &= 0x7fff;
        b &= 0x7fff;
    }
    double x = arith_widen(a, format), y = arith_widen(b, format);
    uint32_t r;
    if ((x != x && y != y) || (nan && (x != x || y != y)))
        return ARITH_NAN16;
    if (x != x || y != y)
        r = x != x ? b : a;
    else if (x == y)
        r = min ? a | b : a & b;
    else
        r = (x < y) == !!min ? a : b;
    return xorsign ? (r & 0x7fff) | sign : r;
}

uint32_t arith_half_minmax(uint32_t a, uint32_t b, unsigned format, unsigned min, unsigned ftz, unsigned nan, unsigned xorsign)
{
    uint32_t high = minmax(a >> 16, b >> 16, format, min, ftz, nan, xorsign);
    return minmax(a & 0xffff, b & 0xffff, format, min, ftz, nan, xorsign) | high << 16;
}

/* Comparison of both halves: bit 0 for the low one, bit 1 for the high one. */
unsigned arith_half_compare(uint32_t a, uint32_t b, unsigned format, unsigned cmp, unsigned ftz)
{
    unsigned r = 0;
    for (int i = 0; i < 2; i++)
        r |= fcmp(cmp, lane_half(a, i, format, ftz), lane_half(b, i, format, ftz)) << i;
    return r;
}
