/*
 * Copies into the shared memory of another CTA that the driver makes: SMs without the hardware's (sm_120) have calls in the place of
 * bulk and tensor copies with `.shared::cluster`. Arguments: place, source or tensor map, mbarrier, CTAs (of a multicast), the rest.
 */
#include "sim/external.h"
#include "sim/tensor.h"

enum { TO, FROM, MBARRIER, CTAS, REST };

static sim_load load_of(const sim_warp *w, uint32_t lane, const uint8_t *registers)
{
    unsigned multicast = registers[CTAS] != SIM_NO_ARGUMENT;
    return (sim_load){
        .to = sim_argument32(w, lane, registers[TO]),
        .mbarrier = sim_argument32(w, lane, registers[MBARRIER]),
        .ctas = multicast ? sim_argument32(w, lane, registers[CTAS]) & 0xffff : 0,
        .multicast = multicast,
    };
}

void sim_call_copy_block(sim_warp *w, uint32_t mask, const uint8_t *registers)
{
    for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++)
        if (mask >> l & 1)
            sim_bulk_load(w, l, load_of(w, l, registers), sim_argument64(w, l, registers[FROM]), sim_argument32(w, l, registers[REST]));
}

/* The offsets of im2col lie at the top of the stack, 16 bits each. */
static int take_offsets(sim_warp *w, uint32_t lane, unsigned rank, sim_box *box)
{
    uint32_t stack = sim_argument32(w, lane, 1);
    for (unsigned i = 0; i + 2 < rank; i++) {
        uint16_t offset;
        const uint8_t *at = sim_address(w, lane, ORIC_MEM_LOCAL, stack + 2 * i, 2, 0);
        if (!at)
            return 0;
        memcpy(&offset, at, 2);
        box->shift[i] = offset;
    }
    return 1;
}

/* The coordinates are the rest of the arguments; how many there are is the rank. */
static void copy_tensor(sim_warp *w, uint32_t mask, const uint8_t *registers, int mode)
{
    unsigned rank = 0;
    while (rank < ORIC_TENSOR_RANKS && registers[REST + rank])
        rank++;
    for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++) {
        sim_box box = {.stores = 0};
        if (!(mask >> l & 1))
            continue;
        for (unsigned i = 0; i < rank; i++)
            box.at[i] = (int32_t)sim_argument32(w, l, registers[REST + i]);
        if (mode == ORIC_MAP_TILED || take_offsets(w, l, rank, &box))
            sim_tensor_load(w, l, load_of(w, l, registers), sim_argument64(w, l, registers[FROM]), rank, mode, &box);
    }
}

void sim_call_copy_tile(sim_warp *w, uint32_t mask, const uint8_t *registers) { copy_tensor(w, mask, registers, ORIC_MAP_TILED); }

void sim_call_copy_pixels(sim_warp *w, uint32_t mask, const uint8_t *registers) { copy_tensor(w, mask, registers, ORIC_MAP_IM2COL); }
