#include "result_row.h"

#include "oric_latency.h"
#include "oric_registers.h"

enum { NO_ROW = 255 };

uint8_t oric_result_row(int isa, const oric_insn *insn, uint8_t file, int k) {
    const oric_op_schedule *schedule = &oric_op_schedules[insn->op < ORIC_SCHEDULED_OPERATIONS ? insn->op : 0];
    if (file == ORIC_FILE_R && schedule->variant_mods) {
        unsigned at = 0, shift = 0;
        for (unsigned i = 0; i < schedule->variant_mods; i++) {
            at |= (unsigned)(insn->mods >> schedule->variant_shift[i] & ((1u << schedule->variant_width[i]) - 1)) << shift;
            shift += schedule->variant_width[i];
        }
        if (oric_variant_rows[schedule->variants + at] != NO_ROW) return oric_variant_rows[schedule->variants + at];
    }
    return oric_classes[isa][schedule->klass].rows[file][k > 0];
}
