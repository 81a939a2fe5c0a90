/* The multifunction unit: reciprocals, roots, exponentials, logarithms and sines. */
#include "sim/ops.h"

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

/* How far a result may be from the exact one: relative to it, and absolutely (the larger of the two counts). */
typedef struct {
    double relative, absolute;
} tolerance;

/*
 * The PTX manual's error bounds of the approximate instructions. sin and cos: 2^-20.5, less what the multiplication
 * by 1 / 2 pi before them may add. ex2: 2^-22.5 for a result between 1 and 2, so that expf keeps the two last places that
 * the CUDA guide promises; rcp and sqrt one last place, rsqrt two for the same reason. lg2: absolute between 0.5 and 2, relative elsewhere. A function that PTX has not in a format has
 * the tolerance of half a last place, that is none.
 */
static tolerance tolerance_of(unsigned fn, unsigned format, double x, double exact)
{
    if (format == V_F16)
        return fn == V_EX2 ? (tolerance){0x1.125p-10, 0} : fn == V_TANH ? (tolerance){0, 0x1.024p-11} : (tolerance){0, 0};
    if (format == V_BF16)
        return fn == V_EX2 ? (tolerance){0x1p-7, 0} : fn == V_TANH ? (tolerance){0, 0x1p-8} : (tolerance){0, 0};
    double first = ldexp(1.0, ilogb(exact)); /* the power of two below the result: 2^23 last places */
    switch (fn) {
    case V_COS: case V_SIN: return (tolerance){0, 0x1p-22};
    case V_EX2: return (tolerance){0, 0x1.6ap-23 * first};
    case V_LG2: return x > 0.5 && x < 2.0 ? (tolerance){0, 0x1p-22} : (tolerance){0x1p-22, 0};
    case V_RCP: case V_SQRT: return (tolerance){0, 0x1p-23 * first};
    case V_RSQ: return (tolerance){0, fmin(fabs(exact) * 0x1.125p-23, 0x1p-22 * first)};
    default: return (tolerance){0x1p-11, 0};
    }
}

static uint64_t mixed(uint64_t h)
{
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
}

/* From -1 to 1: what the seed makes of an operation on an operand. The same operand always gives the same result, as in hardware. */
static double chance(const oric_sim *sim, unsigned fn, unsigned format, uint32_t bits)
{
    uint64_t h = mixed(mixed(sim->launch.seed + 0x9e3779b97f4a7c15ull) ^ ((uint64_t)fn << 48 | (uint64_t)format << 32 | bits));
    return (double)(int64_t)h * 0x1p-63;
}

/* Exact results, zeros, infinities and NaN stay; sines stay between -1 and 1, as hyperbolic tangents. */
static double perturbed(const oric_sim *sim, unsigned fn, unsigned format, uint32_t bits, double x, double exact)
{
    double nearest = arith_widen(arith_narrow(exact, format, V_RN), format);
    if (nearest == exact || isinf(nearest) || exact != exact)
        return exact;
    tolerance t = tolerance_of(fn, format, x, exact);
    double bound = fmax(fabs(exact) * t.relative, t.absolute);
    double moved = arith_widen(arith_narrow(exact + bound * chance(sim, fn, format, bits), format, V_RN), format);
    if ((fn == V_SIN || fn == V_COS || fn == V_TANH) && fabs(moved) > 1.0)
        moved = copysign(1.0, moved);
    return fabs(moved - exact) <= bound ? moved : nearest;
}

static uint32_t evaluate(const oric_sim *sim, unsigned fn, unsigned format, uint32_t bits)
{
    int flush = format == V_F32 || (format == V_BF16 && fn == V_EX2);
    double x = arith_widen(bits, format), smallest = 0x1p-126;
    if (flush && fabs(x) < smallest)
        x = copysign(0.0, x);
    double r = function(fn, x);
    if (sim->launch.modes & ORIC_SIM_PERTURB)
        r = perturbed(sim, fn, format, bits, x, r);
    uint32_t result = arith_narrow(r, format, V_RN);
    if (flush && fabs(arith_widen(result, format)) < smallest)
        result &= format == V_F32 ? 0x80000000u : 0x8000u;
    return result;
}

/*
 * The upper half of the reciprocal (square root) of the double with the given upper half and a lower half of zero.
 * PTX promises 20 bits of significand and no error bound: a perturbed result is one off in the last of them.
 */
static uint32_t upper_half(const oric_sim *sim, unsigned fn, uint32_t bits)
{
    double x = arith_f64((uint64_t)bits << 32);
    if (fabs(x) < 0x1p-1022)
        x = copysign(0.0, x);
    double r = fn == V_RCP64H ? 1.0 / x : 1.0 / sqrt(x);
    if (r != r)
        return ARITH_NAN32;
    if (fabs(r) < 0x1p-1022)
        r = copysign(0.0, r);
    uint64_t wide = arith_bits64(r);
    uint32_t high = (uint32_t)(wide >> 32);
    if (sim->launch.modes & ORIC_SIM_PERTURB && (uint32_t)wide && (high & 0x7ff00000u) > 0x00100000u && (high & 0x7ff00000u) < 0x7fd00000u) {
        double c = chance(sim, fn, V_F64, bits);
        high += c > 0.33 ? 1 : c < -0.33 ? 0xffffffffu : 0;
    }
    return high;
}

/*
 * Results are the correctly rounded ones (hardware's are within the published error bounds); denormal operands and
 * results are zero where hardware has it so: in single precision, and in exponentials of BF16.
 */
uint32_t sim_mufu(const oric_sim *sim, unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs)
{
    if (type == V_F16x2 || type == V_BF16x2) {
        unsigned half = type == V_F16x2 ? V_F16 : V_BF16;
        return sim_mufu(sim, fn, half, V_H0, bits, neg, abs) | sim_mufu(sim, fn, half, V_H1, bits, neg, abs) << 16;
    }
    uint32_t sign = type == V_F32 ? 0x80000000u : 0x8000u;
    if (type != V_F32)
        bits = part == V_H1 ? bits >> 16 : bits & 0xffff;
    bits = abs ? bits & ~sign : bits;
    bits = neg ? bits ^ sign : bits;
    return fn == V_RCP64H || fn == V_RSQ64H ? upper_half(sim, fn, bits) : evaluate(sim, fn, type, bits);
}
