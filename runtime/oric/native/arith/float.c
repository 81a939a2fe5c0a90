/* Additions and multiplications in directed rounding modes, sums rounded to odd, and which divisions are easy. */
#include <fenv.h>

#include "arith/math.h"

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

float arith_fadd_directed(float a, float b, unsigned rnd)
{
    volatile float x = a, y = b;
    DIRECTED(float, x + y);
}
float arith_fmul_directed(float a, float b, unsigned rnd)
{
    volatile float x = a, y = b;
    DIRECTED(float, x * y);
}
float arith_ffma_directed(float a, float b, float c, unsigned rnd)
{
    volatile float x = a, y = b, z = c;
    DIRECTED(float, fmaf(x, y, z));
}
double arith_dadd_directed(double a, double b, unsigned rnd)
{
    volatile double x = a, y = b;
    DIRECTED(double, x + y);
}
double arith_dmul_directed(double a, double b, unsigned rnd)
{
    volatile double x = a, y = b;
    DIRECTED(double, x * y);
}
double arith_dfma_directed(double a, double b, double c, unsigned rnd)
{
    volatile double x = a, y = b, z = c;
    DIRECTED(double, fma(x, y, z));
}

double arith_add_odd(double a, double b)
{
    double sum = a + b;
    if (isnan(sum) || isinf(sum))
        return sum;
    double virtual_b = sum - a;
    double error = (a - (sum - virtual_b)) + (b - virtual_b);
    uint64_t bits = arith_bits64(sum);
    if (error != 0.0 && !(bits & 1)) {
        /* The exact sum lies beside an even neighbour: take the odd one on its side. */
        int away = (error > 0.0) == (sum > 0.0);
        bits = away ? bits + 1 : bits - 1;
    }
    return arith_f64(bits);
}

/* Whether the division a / b needs the slow path: an operand or the quotient near the ends of the range. */
uint32_t arith_fchk(uint32_t a, uint32_t b)
{
    int ea = (int)(a >> 23 & 255), eb = (int)(b >> 23 & 255);
    return ea == 255 || ea < 32 || eb > 250 || eb < 4 || ea - eb > 120 || eb - ea > 120;
}
