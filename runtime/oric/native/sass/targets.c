/* Where the code of a section branches to. */
#include "sass/targets.h"

enum { MOST_LABELS = 2 };

long oric_branch_targets(const oric_insn *insns, long n, int64_t *source, int64_t *target) {
    long found = 0;
    for (long i = 0; i < n; i++) {
        int here = 0;
        for (int k = 0; k < insns[i].nops && k < ORIC_INSN_OPERANDS; k++) {
            const oric_operand *o = &insns[i].ops[k];
            if (o->kind != ORIC_K_LABEL || here++ >= MOST_LABELS)
                continue;
            source[found] = (int64_t)i * ORIC_INSN_BYTES;
            target[found++] = (int64_t)((uint64_t)(i + 1) * ORIC_INSN_BYTES + (uint64_t)o->value);
        }
    }
    return found;
}
