/* Additions and multiplications in directed rounding modes, and sums rounded to odd. */
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
