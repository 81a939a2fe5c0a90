/* Pairs of singles in two registers. */
#include "sim/ops.h"

typedef struct {
    float low[SIM_LANES], high[SIM_LANES];
} pair;

/* The two numbers of an operand: a register pair in either order, or one number twice; then magnitude and sign. */
static void get_pair(sim_warp *w, uint32_t mask, sim_opd o, unsigned swizzle, unsigned np, pair *out)
{
    oric_operand bare = *o;
    uint32_t room[SIM_LANES];
    uint64_t room64[SIM_LANES];
    const uint32_t *one = NULL;
    const uint64_t *two = NULL;
    bare.flags = 0;
    if (swizzle == V_F32 || o->kind == ORIC_K_IMM)
        one = sim_get32(w, mask, &bare, room, SIM_AS_BITS);
    else
        two = sim_get64(w, mask, &bare, room64, 0);
    for (int l = 0; l < SIM_LANES; l++) {
        uint64_t both = pair_source(one ? one[l] : two[l], swizzle, (int)np, (o->flags & ORIC_F_NEG) != 0, (o->flags & ORIC_F_ABS) != 0, one != NULL);
        out->low[l] = pair_low(both);
        out->high[l] = pair_high(both);
    }
}

static void put_pair(sim_warp *w, uint32_t mask, sim_opd Rd, const uint32_t *low, const uint32_t *high)
{
    uint64_t both[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        both[l] = low[l] | (uint64_t)high[l] << 32;
    sim_put64(w, mask, Rd, both);
}

SIM_OP(pair_add, sim_opd Rd, sim_opd Ra, unsigned swza, unsigned npa, sim_opd Rb, unsigned swzb, unsigned npb, unsigned rnd, unsigned ftz)
{
    pair a, b;
    uint32_t low[SIM_LANES], high[SIM_LANES];
    get_pair(w, mask, Ra, swza, npa == V_NP, &a);
    get_pair(w, mask, Rb, swzb, npb == V_NP, &b);
    for (int l = 0; l < SIM_LANES; l++) {
        low[l] = fadd(a.low[l], b.low[l], rnd, ftz, 0);
        high[l] = fadd(a.high[l], b.high[l], rnd, ftz, 0);
    }
    put_pair(w, mask, Rd, low, high);
}

SIM_OP(pair_mul, sim_opd Rd, sim_opd Ra, unsigned swza, unsigned npa, sim_opd Rb, unsigned swzb, unsigned rnd, unsigned ftz)
{
    pair a, b;
    uint32_t low[SIM_LANES], high[SIM_LANES];
    get_pair(w, mask, Ra, swza, npa == V_NP, &a);
    get_pair(w, mask, Rb, swzb, 0, &b);
    for (int l = 0; l < SIM_LANES; l++) {
        low[l] = fmul(a.low[l], b.low[l], rnd, ftz == V_FTZ, ftz == V_FMZ, 1.0, 0);
        high[l] = fmul(a.high[l], b.high[l], rnd, ftz == V_FTZ, ftz == V_FMZ, 1.0, 0);
    }
    put_pair(w, mask, Rd, low, high);
}

SIM_OP(pair_fma, sim_opd Rd, sim_opd Ra, unsigned swza, unsigned npa, sim_opd Rb, unsigned swzb, sim_opd Rc, unsigned swzc, unsigned npc,
       unsigned rnd, unsigned ftz)
{
    pair a, b, c;
    uint32_t low[SIM_LANES], high[SIM_LANES];
    get_pair(w, mask, Ra, swza, npa == V_NP, &a);
    get_pair(w, mask, Rb, swzb, 0, &b);
    get_pair(w, mask, Rc, swzc, npc == V_NP, &c);
    for (int l = 0; l < SIM_LANES; l++) {
        low[l] = ffma(a.low[l], b.low[l], c.low[l], rnd, ftz == V_FTZ, ftz == V_FMZ, 0);
        high[l] = ffma(a.high[l], b.high[l], c.high[l], rnd, ftz == V_FTZ, ftz == V_FMZ, 0);
    }
    put_pair(w, mask, Rd, low, high);
}
