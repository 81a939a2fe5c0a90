/* Conversions between number formats. */
#include "sim/ops.h"

/* The raw bits of the source lanes. Of 64 bits an immediate is the upper half, of integers as well: ptxas 13.0.88 divides by 2^32
   with the reciprocal of `I2F.U64.RP R10, 0x1`. */
static void source_bits(sim_warp *w, uint32_t mask, sim_opd Rb, unsigned format, uint64_t *out)
{
    oric_operand bare = *Rb;
    bare.flags = 0;
    if (arith_format_bits(format) == 64) {
        uint64_t room[SIM_LANES];
        const uint64_t *wide = sim_get_f64(w, mask, &bare, room);
        memcpy(out, wide, SIM_LANES * sizeof *out);
        return;
    }
    uint32_t room[SIM_LANES];
    const uint32_t *narrow = sim_get32(w, mask, &bare, room, SIM_AS_BITS);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = narrow[l];
}

/* The source lanes as doubles, with the operand's magnitude and sign applied. */
static void source_values(sim_warp *w, uint32_t mask, sim_opd Rb, unsigned format, unsigned part, unsigned ftz, double *out)
{
    uint64_t bits[SIM_LANES];
    source_bits(w, mask, Rb, format, bits);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = arith_source_value(bits[l], format, part, ftz, (Rb->flags & ORIC_F_NEG) != 0, (Rb->flags & ORIC_F_ABS) != 0);
}

static void put_bits(sim_warp *w, uint32_t mask, sim_opd Rd, unsigned format, const uint64_t *bits)
{
    uint32_t narrow[SIM_LANES];
    if (arith_format_bits(format) == 64) {
        sim_put64(w, mask, Rd, bits);
        return;
    }
    for (int l = 0; l < SIM_LANES; l++)
        narrow[l] = (uint32_t)bits[l];
    sim_put32(w, mask, Rd, narrow);
}

SIM_OP(float_to_float, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned ftz, unsigned part)
{
    double x[SIM_LANES];
    uint64_t out[SIM_LANES];
    source_values(w, mask, Rb, stype, part, ftz, x);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = arith_to_format(x[l], dtype, rnd, ftz);
    put_bits(w, mask, Rd, dtype, out);
}

SIM_OP(float_to_int, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned ftz, unsigned ntz, unsigned part)
{
    double x[SIM_LANES];
    uint64_t out[SIM_LANES];
    source_values(w, mask, Rb, stype, part, ftz, x);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = arith_to_integer(x[l], dtype, rnd, ntz);
    put_bits(w, mask, Rd, dtype, out);
}

SIM_OP(int_to_float, sim_opd Rd, sim_opd Rb, unsigned dtype, unsigned stype, unsigned rnd, unsigned byte, unsigned half)
{
    uint64_t bits[SIM_LANES], out[SIM_LANES];
    source_bits(w, mask, Rb, stype, bits);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = arith_from_integer(bits[l], dtype, stype, rnd, byte, half);
    put_bits(w, mask, Rd, dtype, out);
}

SIM_OP(round_to_integer, sim_opd Rd, sim_opd Rb, unsigned type, unsigned rnd, unsigned ftz, unsigned part)
{
    double x[SIM_LANES];
    uint64_t out[SIM_LANES];
    source_values(w, mask, Rb, type, part, ftz, x);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = arith_to_format(arith_to_integral(x[l], rnd), type, V_RN, ftz);
    put_bits(w, mask, Rd, type, out);
}
