/* The registers that an instruction reads and writes, from the columns of its operation's row. */
#include "sass/access.h"
#include "sass/sass.h"

#include "tables/forms.h"
#include "tables/registers.h"
#include "tables/slots.h"

enum { NO_FILE = 255, NO_MASK = 255 };

static uint8_t file_of(uint8_t kind) {
    switch (kind) {
    case ORIC_K_GPR: return ORIC_FILE_R;
    case ORIC_K_UGPR: case ORIC_K_CBANKU: return ORIC_FILE_UR;
    case ORIC_K_PRED: return ORIC_FILE_P;
    case ORIC_K_UPRED: return ORIC_FILE_UP;
    case ORIC_K_BREG: return ORIC_FILE_B;
    default: return NO_FILE;
    }
}

static unsigned registers(const oric_slot *slot, uint64_t mods) {
    unsigned at = 0, shift = 0;
    for (unsigned i = 0; i < slot->n; i++) {
        at |= (unsigned)(mods >> slot->shift[i] & ((1u << slot->width[i]) - 1)) << shift;
        shift += slot->width[i];
    }
    return oric_slot_counts[slot->counts + at];
}

static uint8_t alignment(const oric_slot *slot, unsigned count) {
    if (slot->align) return slot->align;
    return count > 2 ? 4 : count > 1 ? 2 : 1;
}

/* The access of one operand; 0 when it has none. */
static int of_operand(const oric_operand *o, const oric_slot *slot, uint64_t mods, oric_register_use *use) {
    uint8_t file = file_of(o->kind);
    if (file == NO_FILE) return 0;
    uint32_t number = o->kind == ORIC_K_CBANKU ? o->aux : o->reg;
    unsigned count = registers(slot, mods);
    if (o->kind == ORIC_K_PRED || o->kind == ORIC_K_UPRED) {
        count = 1;
        if (number >= ORIC_INSN_PT) return 0;
    } else if (o->kind == ORIC_K_BREG) {
        count = 1;
        if (number >= ORIC_CONVERGENCE_BARRIERS) return 0; /* a register of the thread state */
    } else {
        if (o->kind == ORIC_K_CBANKU) count = 2; /* the 64-bit handle of the bank */
        if (number >= ORIC_INSN_RZ || !count) return 0;
    }
    *use = (oric_register_use){file, slot->writes, 0, 1, (uint16_t)number, (uint16_t)count};
    if (file == ORIC_FILE_R || file == ORIC_FILE_UR) use->align = alignment(slot, count);
    return 1;
}

/* Registers from `first` on whose bit is set in `mask`, as runs. */
static int of_implicit(const oric_implicit *row, const oric_insn *insn, oric_register_use *uses) {
    uint64_t mask = ~0ull;
    int n = 0;
    if (row->mask != NO_MASK && insn->ops[row->mask].kind == ORIC_K_IMM) mask = (uint64_t)insn->ops[row->mask].value;
    for (unsigned i = 0; i < row->count; i++) {
        if (i < 64 && !(mask >> i & 1)) continue;
        if (n && uses[n - 1].number + uses[n - 1].count == row->first + i) uses[n - 1].count++;
        else uses[n++] = (oric_register_use){row->file, row->writes, ORIC_BY_IMPLICIT, 1, (uint16_t)(row->first + i), 1};
        if (n > 8) return n;
    }
    return n;
}

int oric_accesses(const oric_insn *insn, oric_register_use *uses) {
    if (insn->op == 0 || insn->op >= ORIC_OPS) return 0;
    int n = 0;
    const oric_slot *slot = &oric_slots[oric_op_slots[insn->op]];
    for (unsigned i = 0; i < insn->nops && i < oric_operations[insn->op].n_operands; i++)
        if (of_operand(&insn->ops[i], &slot[i], insn->mods, &uses[n])) uses[n++].operand = (uint8_t)i;
    for (unsigned i = oric_op_implicits[insn->op]; i < oric_op_implicits[insn->op + 1] && n + 10 < ORIC_MOST_USES; i++)
        n += of_implicit(&oric_implicits[i], insn, &uses[n]);
    if (insn->guard < ORIC_INSN_PT) {
        uint8_t file = oric_operations[insn->op].uniform_guard ? ORIC_FILE_UP : ORIC_FILE_P;
        uses[n++] = (oric_register_use){file, 0, ORIC_BY_GUARD, 1, insn->guard, 1};
    }
    return n;
}

int oric_aligned(const oric_insn *insn) {
    oric_register_use use;
    if (insn->op == 0 || insn->op >= ORIC_OPS) return ORIC_E_OK;
    const oric_slot *slot = &oric_slots[oric_op_slots[insn->op]];
    for (unsigned i = 0; i < insn->nops && i < oric_operations[insn->op].n_operands; i++)
        if (of_operand(&insn->ops[i], &slot[i], insn->mods, &use) && use.number % use.align)
            return ORIC_E_ALIGN | (int)(i << 8) | use.align << 16;
    return ORIC_E_OK;
}

long oric_accesses_all(const oric_insn *insns, long n, oric_register_use *uses, long room, int32_t *first) {
    long total = 0;
    oric_register_use own[ORIC_MOST_USES];
    for (long i = 0; i < n; i++) {
        int count = oric_accesses(&insns[i], own);
        first[i] = (int32_t)total;
        for (int k = 0; k < count; k++, total++)
            if (total < room) uses[total] = own[k];
    }
    first[n] = (int32_t)total;
    return total;
}

int oric_reuse_places(int isa, const oric_insn *insn, uint8_t operand[4]) {
    enum { NONE = 255, FIRST = ORIC_REUSE_AT };
    for (int k = 0; k < ORIC_REUSE_PLACES; k++) operand[k] = NONE;
    if (isa < 0 || isa >= ORIC_ISAS || insn->op == 0 || insn->form >= oric_form_count[isa]) return 0;
    const oric_form *form = &oric_forms[isa][insn->form];
    int odd = (int)(insn->residue[1] >> (FIRST - 64)) & ((1 << ORIC_REUSE_PLACES) - 1);
    for (unsigned i = 0; i < form->n_fields; i++) {
        const oric_field *f = &oric_fields[form->fields + i];
        if (f->reuse >= FIRST && f->reuse < FIRST + ORIC_REUSE_PLACES) operand[f->reuse - FIRST] = f->operand;
    }
    return odd;
}

int oric_two_signs(const oric_insn *insn) {
    uint16_t one = insn->op < ORIC_SLOT_OPS ? oric_flows[insn->op].one_sign : 0;
    int found = 0;
    for (int s = 0; one && s < insn->nops; s++)
        if (one >> s & 1 && insn->ops[s].flags & (ORIC_F_NEG | ORIC_F_INV) && found++) return s;
    return -1;
}
