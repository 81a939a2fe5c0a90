/* Floating-point numbers as their bits. */
#ifndef ORIC_ARITH_BITS_H
#define ORIC_ARITH_BITS_H
#include <stdint.h>
#include <string.h>

static inline float arith_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline uint32_t arith_bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline double arith_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
static inline uint64_t arith_bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}
#endif
