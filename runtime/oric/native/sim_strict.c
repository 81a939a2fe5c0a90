/* Strict mode: results under way, and who touches them too early. */
#include <stdlib.h>

#include "sim_modes.h"

struct sim_pending {
    uint64_t clock; /* cycle at which the current instruction issues */
};

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
    (void)in;
    (void)mask;
    w->pending->clock++;
}

void sim_strict_after(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    (void)w;
    (void)in;
    (void)mask;
}
