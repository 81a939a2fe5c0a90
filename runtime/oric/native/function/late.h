/* Which sources are read some time after issue. */
#ifndef ORIC_LATE_H
#define ORIC_LATE_H
#include "function/backend.h"
#include "tables/latency.h"

/* Whether an instruction that reads a unit does so some time after issue, so that a scoreboard must tell: general registers of some
   classes, uniform ones of fewer. */
static inline int oric_reads_late(const oric_fn *fn, const oric_node *node, uint32_t unit) {
    if (fn->unit_file[unit] == ORIC_FILE_R) return (node->flags & ORIC_I_LATE_READ) != 0;
    return fn->unit_file[unit] == ORIC_FILE_UR && oric_classes[fn->isa][node->klass].flags & ORIC_C_LATE_UNIFORM;
}

/* Whether an instruction may overwrite general registers that an earlier one reads late without waiting: both stand in one queue, whose
   instructions read and finish in order, and it runs whatever its guard (spec/latency/README.md). */
static inline int oric_follows_in_queue(const oric_fn *fn, const oric_node *node, uint8_t queue) {
    if (node->flags & ORIC_I_GUARDED || !(node->flags & ORIC_I_VARIABLE)) return 0;
    return queue && oric_classes[fn->isa][node->klass].queue == queue;
}
#endif
