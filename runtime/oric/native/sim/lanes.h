/* Addresses, places and registers of a memory instruction, for each lane. */
#ifndef ORIC_SIM_LANES_H
#define ORIC_SIM_LANES_H
#include "sim/ops.h"

static inline unsigned scale_of(unsigned scale)
{
    return scale == V_X4 ? 4 : scale == V_X8 ? 8 : scale == V_X16 ? 16 : 1;
}

static inline void addresses(sim_warp *w, uint32_t mask, int how, sim_opd Ra, sim_opd off, sim_opd URa, unsigned scale, uint64_t *out)
{
    uint64_t room[SIM_LANES], add = (uint64_t)off->value;
    uint32_t room32[SIM_LANES];
    if (URa->kind == ORIC_K_UGPR && URa->reg < 255)
        add += how == A32 ? w->UR[URa->reg] : w->UR[URa->reg] | (uint64_t)w->UR[(URa->reg + 1) & 255] << 32;
    if (how == A64) {
        const uint64_t *base = sim_get64(w, mask, Ra, room, 0);
        for (int l = 0; l < SIM_LANES; l++)
            out[l] = base[l] + add;
        return;
    }
    const uint32_t *base = sim_get32(w, mask, Ra, room32, SIM_AS_BITS);
    uint32_t factor = scale_of(scale);
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = how == A32 ? (uint32_t)(base[l] * factor + (uint32_t)add) : base[l] + add;
}

static inline uint8_t *place(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    if (space == GENERIC)
        space = sim_generic_space(w, &address);
    return sim_address(w, lane, space, address, size, write);
}

static inline uint32_t bytes_of(unsigned size)
{
    switch (size) {
    case V_U8: case V_S8: return 1;
    case V_U16: case V_S16: return 2;
    case V_64: return 8;
    case V_128: return 16;
    default: return 4;
    }
}

/* Rows of a register operand of `words` words; 0 after a fault. NULL rows are RZ. */
static inline int rows(sim_warp *w, uint32_t mask, sim_opd o, uint32_t words, uint32_t **out)
{
    for (uint32_t i = 0; i < words; i++)
        out[i] = sim_row(w, mask, o, i);
    if (o->kind == ORIC_K_GPR && o->reg != ORIC_INSN_RZ && (o->reg & (words - 1)))
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "register group is not aligned to its size");
    return w->sim->fault.code == 0;
}

/* Register `index` of a uniform register operand. */
static inline uint32_t sim_uniform_word(const sim_warp *w, sim_opd o, uint32_t index)
{
    return o->kind == ORIC_K_UGPR && o->reg < 255 ? w->UR[(o->reg + index) & 255] : 0;
}

/* The same place in the shared memory of another CTA of the cluster. */
static inline uint64_t sim_in_cta(uint64_t address, uint32_t rank)
{
    return (address & ((1u << ORIC_RANK_SHIFT) - 1)) | (uint64_t)rank << ORIC_RANK_SHIFT;
}
#endif
