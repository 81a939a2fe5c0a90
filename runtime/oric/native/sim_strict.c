/* Strict mode: results under way, and who touches them too early. */
#include <stdlib.h>

#include "oric_slots.h"
#include "sim_async.h"
#include "sim_modes.h"

enum { BOARDS = 6 };

struct sim_pending {
    uint64_t clock; /* cycle at which the current instruction issues */
};

/* Copies whose end the instruction waits for: by its mask, by a modifier, by an operand that counts what may be outstanding. */
static void wait_for_copies(sim_warp *w, const oric_insn *in)
{
    uint32_t boards = in->control >> 11 & 63;
    if (in->op < ORIC_SLOT_OPS) {
        const oric_flow *flow = &oric_flows[in->op];
        boards |= (uint32_t)(in->mods >> flow->boards_shift & ((1u << flow->boards_width) - 1));
        if (flow->board < in->nops && flow->left < in->nops && in->ops[flow->board].reg < BOARDS)
            sim_async_counted(w, in->ops[flow->board].reg, (uint32_t)in->ops[flow->left].value);
    }
    sim_async_waited(w, boards);
}

int sim_strict_begin(sim_warp *w)
{
    w->pending = calloc(1, sizeof *w->pending);
    return w->pending != NULL;
}

void sim_strict_end(sim_warp *w)
{
    free(w->pending);
    w->pending = NULL;
}

void sim_strict_before(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    (void)mask;
    wait_for_copies(w, in);
    w->pending->clock++;
}

void sim_strict_after(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    (void)mask;
    uint32_t write_board = in->control >> 5 & 7, read_board = in->control >> 8 & 7;
    if (write_board < BOARDS)
        sim_async_board_used(w, write_board);
    if (read_board < BOARDS && read_board != write_board)
        sim_async_board_used(w, read_board);
}
