/* Integer and logic operations on one thread's values, for the expressions of spec/encoding (`meaning`) and spec/values. */
#ifndef ORIC_ARITH_INTEGER_H
#define ORIC_ARITH_INTEGER_H
#include "arith/names.h"
#include <stdint.h>

static inline unsigned ordered(unsigned cmp, unsigned less, unsigned equal)
{
    switch (cmp) {
    case V_F: return 0;
    case V_LT: return less;
    case V_EQ: return equal;
    case V_LE: return less | equal;
    case V_GT: return !(less | equal);
    case V_NE: return !equal;
    case V_GE: return !less;
    default: return 1;
    }
}

static inline unsigned icmp(unsigned cmp, uint32_t a, uint32_t b, unsigned sign)
{
    uint32_t flip = sign == V_S32 ? 0x80000000u : 0;
    return ordered(cmp, (a ^ flip) < (b ^ flip), a == b);
}

static inline unsigned icmp64(unsigned cmp, uint64_t a, uint64_t b, unsigned sign)
{
    uint64_t flip = sign == V_S64 ? 1ull << 63 : 0;
    return ordered(cmp, (a ^ flip) < (b ^ flip), a == b);
}

/* Comparison of numbers of which `high` is the result for the upper parts, `low` the one for the lower parts. */
static inline unsigned with_lower_part(unsigned cmp, unsigned equal, unsigned high, unsigned low)
{
    if (cmp == V_EQ)
        return equal && low;
    if (cmp == V_NE)
        return !equal || low;
    return equal && cmp != V_F && cmp != V_T ? low : high;
}

static inline unsigned icmp_ex(unsigned cmp, uint32_t a, uint32_t b, unsigned sign, unsigned low)
{
    return with_lower_part(cmp, a == b, icmp(cmp, a, b, sign), low);
}

static inline unsigned icmp64_ex(unsigned cmp, uint64_t a, uint64_t b, unsigned sign, unsigned low)
{
    return with_lower_part(cmp, a == b, icmp64(cmp, a, b, sign), low);
}

/* What a sum of 64-bit numbers carries out. A negated operand is its complement plus one: for zero that carries too. */
static inline unsigned carry64(uint64_t a, uint64_t b, uint64_t c, unsigned in)
{
    uint64_t ab = a + b, abc = ab + c;
    return (unsigned)((ab < a) + (abc < ab) + (abc + in < abc));
}
static inline unsigned carry_of_minus(int neg, uint64_t negated) { return neg && negated == 0; }

static inline unsigned boolean(unsigned bop, unsigned a, unsigned b)
{
    return bop == V_AND ? a & b : bop == V_OR ? a | b : a ^ b;
}

static inline uint64_t mul_wide(uint32_t a, uint32_t b, unsigned sign)
{
    return sign == V_S32 ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
}

/* The upper half of a product of 64 bits, without a type of 128. */
static inline uint64_t multiply_high64(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

/* Quotients and remainders; all ones when the divisor is 0. Signed ones are truncated, and wrap: INT_MIN / -1 is INT_MIN, its rest 0. */
static inline uint64_t udivide64(uint64_t a, uint64_t b) { return b ? a / b : ~0ull; }
static inline uint64_t uremainder64(uint64_t a, uint64_t b) { return b ? a % b : ~0ull; }
static inline uint64_t sdivide64(uint64_t a, uint64_t b)
{
    uint64_t q = udivide64(a >> 63 ? 0 - a : a, b >> 63 ? 0 - b : b);
    return b && (a ^ b) >> 63 ? 0 - q : q;
}
static inline uint64_t sremainder64(uint64_t a, uint64_t b)
{
    uint64_t r = uremainder64(a >> 63 ? 0 - a : a, b >> 63 ? 0 - b : b);
    return b && a >> 63 ? 0 - r : r;
}
static inline uint64_t sign_extended(uint32_t x) { return (uint64_t)(int64_t)(int32_t)x; }
static inline uint32_t udivide(uint32_t a, uint32_t b) { return (uint32_t)udivide64(a, b); }
static inline uint32_t uremainder(uint32_t a, uint32_t b) { return (uint32_t)uremainder64(a, b); }
static inline uint32_t sdivide(uint32_t a, uint32_t b) { return (uint32_t)sdivide64(sign_extended(a), sign_extended(b)); }
static inline uint32_t sremainder(uint32_t a, uint32_t b) { return (uint32_t)sremainder64(sign_extended(a), sign_extended(b)); }

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

static inline uint64_t imnmx64(uint64_t a, uint64_t b, unsigned min, unsigned sign)
{
    return icmp64(V_LT, a, b, sign) == !!min ? a : b;
}

/* Packed integers: bits of an element, whether they are signed, an element's value. */
static inline int packed_width(unsigned type)
{
    switch (type) {
    case V_U8x4: case V_S8x4: return 8;
    case V_16x2: case V_U16x2: case V_S16x2: return 16;
    default: return 32;
    }
}
static inline int packed_sign(unsigned type) { return type == V_S32 || type == V_S16x2 || type == V_S8x4; }
static inline int64_t packed_element(uint32_t x, int at, unsigned type)
{
    int width = packed_width(type);
    int64_t value = (int64_t)((x >> at) & (0xffffffffu >> (32 - width)));
    return packed_sign(type) && value >> (width - 1) ? value - (1ll << width) : value;
}

/* Minimum or maximum of each element; relu: not below 0. */
static inline uint32_t vimnmx(uint32_t a, uint32_t b, unsigned min, unsigned type, unsigned relu)
{
    int width = packed_width(type);
    uint32_t r = 0;
    for (int at = 0; at < 32; at += width) {
        int64_t x = packed_element(a, at, type), y = packed_element(b, at, type), v = (x < y) == !!min ? x : y;
        if (relu && v < 0)
            v = 0;
        r |= ((uint32_t)v & (0xffffffffu >> (32 - width))) << at;
    }
    return r;
}

/* For each element, the lowest first: a bit that says whether the minimum or maximum is a's (that of equal ones is). */
static inline unsigned vimnmx_first(uint32_t a, uint32_t b, unsigned min, unsigned type)
{
    int width = packed_width(type);
    unsigned chosen = 0;
    for (int at = 0; at < 32; at += width) {
        int64_t x = packed_element(a, at, type), y = packed_element(b, at, type);
        chosen |= (unsigned)(min ? x <= y : x >= y) << (at / width);
    }
    return chosen;
}

/* Sum of each element; saturating, the elements are clamped to their type, else they wrap around. */
static inline uint32_t viadd(uint32_t a, uint32_t b, int nega, int negb, unsigned type, unsigned saturate)
{
    int width = packed_width(type), is_signed = packed_sign(type);
    int64_t low = is_signed ? -(1ll << (width - 1)) : 0, high = is_signed ? (1ll << (width - 1)) - 1 : (1ll << width) - 1;
    uint32_t r = 0;
    for (int at = 0; at < 32; at += width) {
        int64_t x = packed_element(a, at, type), y = packed_element(b, at, type), v = (nega ? -x : x) + (negb ? -y : y);
        if (saturate)
            v = v < low ? low : v > high ? high : v;
        r |= ((uint32_t)v & (0xffffffffu >> (32 - width))) << at;
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

/* LEA: (a << shift) or its upper half, complemented after the shift. */
static inline uint64_t lea_part(uint64_t a, unsigned shift, unsigned hi, int neg, int inv)
{
    uint32_t part = (uint32_t)(hi ? a << shift >> 32 : a << shift);
    return neg ? (uint64_t)(uint32_t)~part + 1 : inv ? (uint32_t)~part : part;
}
#endif
