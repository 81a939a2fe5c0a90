#include "function/backend.h"

#include <stdlib.h>

oric_fn *oric_fn_new(int32_t insns, int32_t blocks, int32_t units, int32_t accesses, int32_t succs) {
    oric_fn *fn = calloc(1, sizeof *fn);
    if (!fn) return NULL;
    fn->insn_count = insns, fn->block_count = blocks, fn->unit_count = units, fn->access_count = accesses;
    fn->knobs = oric_knob_defaults;
    fn->nodes = calloc((size_t)insns + 1, sizeof *fn->nodes);
    fn->accesses = calloc((size_t)accesses + 1, sizeof *fn->accesses);
    fn->block_first = calloc((size_t)blocks + 1, sizeof *fn->block_first);
    fn->depth = calloc((size_t)blocks + 1, 1);
    fn->apart = calloc((size_t)blocks + 1, sizeof *fn->apart);
    fn->succ_first = calloc((size_t)blocks + 1, sizeof *fn->succ_first);
    fn->succs = calloc((size_t)succs + 1, sizeof *fn->succs);
    fn->unit_file = calloc((size_t)units + 1, 1);
    fn->unit_register = calloc((size_t)units + 1, sizeof *fn->unit_register);
    if (fn->nodes && fn->accesses && fn->block_first && fn->depth && fn->apart && fn->succ_first && fn->succs && fn->unit_file && fn->unit_register)
        return fn;
    oric_fn_free(fn);
    return NULL;
}

void oric_fn_free(oric_fn *fn) {
    if (!fn) return;
    free(fn->nodes), free(fn->accesses), free(fn->block_first), free(fn->depth), free(fn->apart), free(fn->succ_first), free(fn->succs);
    free(fn->pred_first), free(fn->preds), free(fn->unit_file), free(fn->unit_register);
    free(fn->global_of), free(fn->unit_of), free(fn->live_in), free(fn->live_out);
    free(fn);
}

int oric_fn_connect(oric_fn *fn) {
    uint32_t total = fn->succ_first[fn->block_count];
    free(fn->pred_first), free(fn->preds);
    fn->pred_first = calloc((size_t)fn->block_count + 2, sizeof *fn->pred_first);
    fn->preds = calloc((size_t)total + 1, sizeof *fn->preds);
    if (!fn->pred_first || !fn->preds) return -1;
    for (uint32_t s = 0; s < total; s++) fn->pred_first[fn->succs[s] + 2]++;
    for (int32_t b = 0; b < fn->block_count; b++) fn->pred_first[b + 2] += fn->pred_first[b + 1];
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t s = fn->succ_first[b]; s < fn->succ_first[b + 1]; s++) fn->preds[fn->pred_first[fn->succs[s] + 1]++] = b;
    return 0;
}
