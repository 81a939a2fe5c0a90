/* The multifunction unit where its results are to be no better than the PTX manual promises; the exact ones: arith/mufu.c. */
#include "sim/ops.h"

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

/*
 * PTX promises 20 bits of significand of an upper half and no error bound: a perturbed result is one off in the last of them.
 */
static uint32_t upper_half(const oric_sim *sim, unsigned fn, uint32_t bits)
{
    uint32_t rest, high = arith_mufu_upper_half(fn, bits, &rest);
    if (rest && (high & 0x7ff00000u) > 0x00100000u && (high & 0x7ff00000u) < 0x7fd00000u) {
        double c = chance(sim, fn, V_F64, bits);
        high += c > 0.33 ? 1 : c < -0.33 ? 0xffffffffu : 0;
    }
    return high;
}

uint32_t sim_mufu(const oric_sim *sim, unsigned fn, unsigned type, unsigned part, uint32_t bits, int neg, int abs)
{
    if (!(sim->launch.modes & ORIC_SIM_PERTURB))
        return arith_mufu(fn, type, part, bits, neg, abs);
    if (type == V_F16x2 || type == V_BF16x2) {
        unsigned half = type == V_F16x2 ? V_F16 : V_BF16;
        return sim_mufu(sim, fn, half, V_H0, bits, neg, abs) | sim_mufu(sim, fn, half, V_H1, bits, neg, abs) << 16;
    }
    uint32_t source = arith_mufu_source(type, part, bits, neg, abs);
    if (fn == V_RCP64H || fn == V_RSQ64H)
        return upper_half(sim, fn, source);
    double x = arith_mufu_operand(fn, type, source);
    return arith_mufu_result(fn, type, perturbed(sim, fn, type, source, x, arith_mufu_exact(fn, x)));
}
