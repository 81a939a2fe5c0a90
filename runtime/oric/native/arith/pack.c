/* Packed results: numbers of 4, 6 and 8 bits, stochastic rounding, saturated integers. */
#include "arith/math.h"

uint32_t arith_pack_small(double a, double b, unsigned format, unsigned rnd, const uint32_t random[2], unsigned satfinite, unsigned relu)
{
    uint32_t high = arith_encode(a, format, rnd, random ? random[0] : 0, satfinite, relu);
    return arith_encode(b, format, rnd, random ? random[1] : 0, satfinite, relu) | high << (format == V_E2M1 ? 4 : 8);
}

/*
 * Four numbers share 32 random bits, 16 for each two: b has them as they are, a the last one first. They stand in the
 * upper half, in E2M1 in bytes 1 and 3. The merge that follows moves the other 16 there, so that a second operation,
 * whose third operand is the result of the first, finds them.
 */
uint32_t arith_pack_small_rs(double a, double b, unsigned format, uint32_t random, unsigned satfinite, unsigned relu)
{
    uint32_t bits = format == V_E2M1 ? (random >> 16 & 0xff00) | (random >> 8 & 0xff) : random >> 16;
    uint32_t each[2] = {brev(bits) >> 16, bits};
    return arith_pack_small(a, b, format, V_RS, each, satfinite, relu);
}

/* 16 random bits for each number, of which F16 uses the lower 13. */
uint32_t arith_pack_half_rs(double a, double b, unsigned format, uint32_t random, unsigned satfinite, unsigned relu)
{
    uint32_t unused = format == V_F16 ? 3 : 0;
    uint32_t high = arith_encode(a, format, V_RS, (random >> 16) << unused & 0xffff, satfinite, relu);
    return arith_encode(b, format, V_RS, random << unused & 0xffff, satfinite, relu) | high << 16;
}

uint32_t arith_unpack_small(uint32_t bits, unsigned from, unsigned to, unsigned relu)
{
    uint32_t width = from == V_E2M1 ? 4 : 8, used = from == V_E2M1 ? 0xf : from == V_E2M3 || from == V_E3M2 ? 0x3f : 0xff;
    uint32_t low = arith_encode(arith_decode(bits & used, from), to, V_RN, 0, 0, relu);
    return low | arith_encode(arith_decode(bits >> width & used, from), to, V_RN, 0, 0, relu) << 16;
}

uint32_t arith_pack_integers(int32_t a, int32_t b, uint32_t c, unsigned type, unsigned part)
{
    int width = type == V_U2 || type == V_S2 ? 2 : type == V_U4 || type == V_S4 ? 4 : type == V_U8 || type == V_S8 ? 8 : 16;
    int is_signed = type == V_S2 || type == V_S4 || type == V_S8 || type == V_S16;
    int32_t low = is_signed ? -(1 << (width - 1)) : 0, high = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
    uint32_t used = (1u << width) - 1;
    uint32_t pair = ((uint32_t)(b < low ? low : b > high ? high : b) & used) | ((uint32_t)(a < low ? low : a > high ? high : a) & used) << width;
    if (width == 16)
        return pair;
    return width == 8 ? merge_half(pair, c, part) : pair | c << (2 * width);
}
