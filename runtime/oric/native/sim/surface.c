/* Surfaces: the first coordinate counts bytes, the others texels. */
#include "sim/texture.h"

#include "sim/atomic.h"
#include "sim/lanes.h"

#define MAX_WORDS 4

static unsigned surface_axes(unsigned dim)
{
    return dim == V_1D || dim == V_1D_ARRAY ? 1 : dim == V_2D || dim == V_2D_ARRAY ? 2 : 3;
}

/* Bring a coordinate into [0, size), or say that the access does not happen. */
static int bound(int64_t *x, int64_t size, int64_t step, unsigned clamp)
{
    if (*x >= 0 && *x + step <= size)
        return 1;
    if (clamp == V_NEAR)
        *x = *x < 0 ? 0 : size - step;
    return clamp == V_NEAR;
}

/* The address of an access; 0 when it lies outside (the fault, where that is one, is told). */
static uint64_t surface_address(sim_warp *w, uint32_t lane, uint32_t handle, unsigned dim, unsigned clamp, const uint32_t *at, uint32_t bytes, int write)
{
    const oric_sim_texture *t = sim_find_texture(w, lane, handle);
    if (!t)
        return 0;
    unsigned axes = surface_axes(dim), array = dim == V_1D_ARRAY || dim == V_2D_ARRAY;
    if (t->layered != array || t->cube || t->rank != axes) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, lane, "surface of other dimensions than the instruction's");
        return 0;
    }
    int64_t x[3] = {0, 0, 0}, texel = (int64_t)t->channels * t->bytes, row = (int64_t)t->size[0] * texel, layer = 0;
    int inside = 1;
    for (unsigned axis = 0; axis < axes; axis++) {
        x[axis] = (int32_t)at[axis];
        inside &= bound(&x[axis], axis ? (int64_t)t->size[axis] : row, axis ? 1 : (int64_t)bytes, clamp);
    }
    if (array) {
        layer = (int32_t)at[axes];
        inside &= bound(&layer, t->layers, 1, clamp);
    }
    uint64_t offset = (uint64_t)(((layer * t->size[2] + x[2]) * (int64_t)t->size[1] + x[1]) * row + x[0]);
    if (inside)
        return t->data + offset;
    if (clamp == V_TRAP)
        sim_fault_access(w, ORIC_FAULT_OUT_OF_BOUNDS, lane, ORIC_MEM_GLOBAL, t->data + offset, bytes, write);
    return 0;
}

/* Handles and coordinates of all lanes; 0 after a fault. */
static int prepare(sim_warp *w, uint32_t mask, sim_opd Ra, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, uint32_t *handles, uint32_t **rows_out)
{
    unsigned count = surface_axes(dim) + (dim == V_1D_ARRAY || dim == V_2D_ARRAY ? 1 : 0);
    for (unsigned i = 0; i < 3; i++)
        rows_out[i] = i < count ? sim_row(w, mask, Ra, i) : NULL;
    return sim_texture_handles(w, mask, bank, slot, URa, Rc, handles) && w->sim->fault.code == 0;
}

static uint64_t lane_address(sim_warp *w, uint32_t l, const uint32_t *handles, uint32_t *const *coordinates, unsigned dim, unsigned clamp, uint32_t bytes, int write)
{
    uint32_t at[3];
    for (int i = 0; i < 3; i++)
        at[i] = coordinates[i] ? coordinates[i][l] : 0;
    return surface_address(w, l, handles[l], dim, clamp, at, bytes, write);
}

SIM_OP(load_surface, sim_opd Rd, sim_opd Ra, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp, unsigned size)
{
    uint32_t handles[SIM_LANES], *at[3], *to[MAX_WORDS], bytes = bytes_of(size), words = (bytes + 3) / 4, values[SIM_LANES][MAX_WORDS];
    if (!prepare(w, mask, Ra, Rc, bank, slot, URa, dim, handles, at) || !rows(w, mask, Rd, words, to))
        return;
    memset(values, 0, sizeof values);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint64_t address = mask >> l & 1 ? lane_address(w, l, handles, at, dim, clamp, bytes, 0) : 0;
        const uint8_t *from = address ? sim_address(w, l, GLOBAL, address, bytes, 0) : NULL;
        if (w->sim->fault.code)
            return;
        if (from)
            memcpy(values[l], from, bytes);
        if (size == V_S8)
            values[l][0] = (uint32_t)(int32_t)(int8_t)values[l][0];
        if (size == V_S16)
            values[l][0] = (uint32_t)(int32_t)(int16_t)values[l][0];
    }
    for (uint32_t l = 0; l < SIM_LANES; l++)
        for (uint32_t i = 0; mask >> l & 1 && i < words && to[i]; i++)
            to[i][l] = values[l][i];
}

SIM_OP(store_surface, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp, unsigned size)
{
    uint32_t handles[SIM_LANES], *at[3], *from[MAX_WORDS], bytes = bytes_of(size), words = (bytes + 3) / 4;
    if (!prepare(w, mask, Ra, Rc, bank, slot, URa, dim, handles, at) || !rows(w, mask, Rb, words, from))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t value[MAX_WORDS];
        for (uint32_t i = 0; i < words; i++)
            value[i] = from[i] ? from[i][l] : 0;
        uint64_t address = mask >> l & 1 ? lane_address(w, l, handles, at, dim, clamp, bytes, 1) : 0;
        uint8_t *to = address ? sim_address(w, l, GLOBAL, address, bytes, 1) : NULL;
        if (w->sim->fault.code)
            return;
        if (to)
            memcpy(to, value, bytes);
    }
}

/* memory = memory OP operand; the old value goes to Rd where that is an operand. */
SIM_OP(atomic_surface, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp,
       unsigned op, unsigned type)
{
    sim_element e = sim_element_of(type);
    uint32_t handles[SIM_LANES], *at[3], *from[MAX_WORDS], *to[MAX_WORDS], bytes = (uint32_t)e.bytes * e.count, words = bytes / 4;
    if (!words || words > 2) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "atomic operation of this type");
        return;
    }
    if (!prepare(w, mask, Ra, Rc, bank, slot, URa, dim, handles, at) || !rows(w, mask, Rb, words, from) || !rows(w, mask, Rd, words, to))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint32_t operand[2] = {from[0] ? from[0][l] : 0, words > 1 && from[1] ? from[1][l] : 0}, old[2] = {0, 0};
        uint64_t address = lane_address(w, l, handles, at, dim, clamp, bytes, 1);
        uint8_t *memory = address ? sim_address(w, l, GLOBAL, address, bytes, 1) : NULL;
        if (memory) {
            memcpy(old, memory, bytes);
            sim_combine_at(w, l, op, e, memory, (const uint8_t *)operand);
        }
        if (w->sim->fault.code)
            return;
        for (uint32_t i = 0; i < words && to[i]; i++)
            to[i][l] = old[i];
    }
}

/* Rb: what is expected, then what is to be there. */
SIM_OP(compare_and_swap_surface, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim, unsigned clamp,
       unsigned type)
{
    uint32_t handles[SIM_LANES], *at[3], *from[MAX_WORDS], *to[MAX_WORDS], words = type == V_64 || type == V_U64 ? 2 : 1;
    if (!prepare(w, mask, Ra, Rc, bank, slot, URa, dim, handles, at) || !rows(w, mask, Rb, 2 * words, from) || !rows(w, mask, Rd, words, to))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint32_t operand[MAX_WORDS], old[2] = {0, 0};
        for (uint32_t i = 0; i < 2 * words; i++)
            operand[i] = from[i] ? from[i][l] : 0;
        uint64_t address = lane_address(w, l, handles, at, dim, clamp, 4 * words, 1);
        uint8_t *memory = address ? sim_address(w, l, GLOBAL, address, 4 * words, 1) : NULL;
        if (w->sim->fault.code)
            return;
        if (memory) {
            memcpy(old, memory, 4 * words);
            if (memcmp(old, operand, 4 * words) == 0)
                memcpy(memory, operand + words, 4 * words);
        }
        for (uint32_t i = 0; i < words && to[i]; i++)
            to[i][l] = old[i];
    }
}
