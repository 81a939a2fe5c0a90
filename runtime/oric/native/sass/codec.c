/* Encoder and decoder of 128-bit instruction words, driven by the form tables. */
#include "sass/access.h"
#include "sass/sass.h"
#include "tables/forms.h"
#include "tables/registers.h"
#include <string.h>

static uint64_t get_run(const uint64_t w[2], unsigned lo, unsigned n) {
    uint64_t v;
    if (lo >= 64)
        v = w[1] >> (lo - 64);
    else if (lo + n <= 64 || lo == 0)
        v = w[0] >> lo;
    else
        v = w[0] >> lo | w[1] << (64 - lo);
    return n < 64 ? v & ((1ull << n) - 1) : v;
}

static void put_run(uint64_t w[2], unsigned lo, unsigned n, uint64_t v) {
    if (n < 64)
        v &= (1ull << n) - 1;
    if (lo >= 64) {
        w[1] |= v << (lo - 64);
    } else {
        w[0] |= v << lo;
        if (lo + n > 64)
            w[1] |= v >> (64 - lo);
    }
}

static unsigned width_of(const oric_bits *b) { return (unsigned)b->n[0] + b->n[1] + b->n[2]; }

static uint64_t get_bits(const uint64_t w[2], const oric_bits *b) {
    uint64_t v = get_run(w, b->lo[0], b->n[0]);
    unsigned at = b->n[0];
    for (int i = 1; i < b->runs; i++) {
        v |= get_run(w, b->lo[i], b->n[i]) << at;
        at += b->n[i];
    }
    return v;
}

static void put_bits(uint64_t w[2], const oric_bits *b, uint64_t v) {
    for (int i = 0; i < b->runs; i++) {
        put_run(w, b->lo[i], b->n[i], v);
        v = b->n[i] < 64 ? v >> b->n[i] : 0;
    }
}

static int bit(const uint64_t w[2], int at) { return at < 0 ? 0 : (int)(w[at >> 6] >> (at & 63) & 1); }
static void set_bit(uint64_t w[2], int at) { w[at >> 6] |= 1ull << (at & 63); }

/* Put register number, bank or value of one operand; 0 or an error. */
static int put_number(uint64_t w[2], const oric_field *f, const oric_operand *o) {
    unsigned width = width_of(&f->bits);
    uint64_t top = width < 64 ? (1ull << width) - 1 : ~0ull;
    uint64_t v;
    switch (f->kind) {
    case ORIC_K_UGPR:
        v = o->reg == ORIC_INSN_RZ ? top : o->reg;
        if (v > top || (o->reg != ORIC_INSN_RZ && v == top))
            return ORIC_E_RANGE;
        break;
    case ORIC_K_GPR: case ORIC_K_PRED: case ORIC_K_UPRED: case ORIC_K_BREG: case ORIC_K_SB:
        v = o->reg;
        if (v > top)
            return ORIC_E_RANGE;
        if (f->flags & ORIC_INVERT)
            v = top - v;
        break;
    default: {
        int64_t value = f->format == ORIC_N_BANK ? o->reg : o->value;
        if (value & ((1ll << f->shift) - 1))
            return ORIC_E_RANGE;
        value >>= f->shift;
        int64_t low = 0, high = (int64_t)top;
        if (f->flags & ORIC_SIGNED) {
            low = -(int64_t)(top >> 1) - 1;
            high = (int64_t)(top >> 1);
        }
        if ((f->kind == ORIC_K_IMM && width == 32) || f->format == ORIC_N_CBANK) {
            low = -(int64_t)(top >> 1) - 1; /* any 32-bit pattern, any 16-bit bank offset */
            high = (int64_t)top;
        }
        if (width >= 64) { /* any pattern */
            low = INT64_MIN;
            high = INT64_MAX;
        }
        if (value < low || value > high)
            return ORIC_E_RANGE;
        v = (uint64_t)value & top;
        if (f->second.runs) {
            uint64_t other = f->kind == ORIC_K_CBANKU ? o->aux : o->reg;
            uint64_t most = (1ull << width_of(&f->second)) - 1;
            if (f->kind == ORIC_K_CBANKU && other == ORIC_INSN_RZ)
                other = most;
            if (other > most)
                return ORIC_E_RANGE;
            put_bits(w, &f->second, other);
        }
    }
    }
    if (f->flags & ORIC_SAME)
        return get_bits(w, &f->bits) == v ? ORIC_E_OK : ORIC_E_RANGE;
    put_bits(w, &f->bits, v);
    return ORIC_E_OK;
}

static int put_operand(uint64_t w[2], const oric_field *f, const oric_operand *given) {
    oric_operand left_out;
    const oric_operand *o = given;
    if (given->kind == ORIC_K_NONE) {
        memset(&left_out, 0, sizeof left_out);
        left_out.kind = f->kind;
        left_out.reg = f->default_reg;
        left_out.value = f->default_reg;
        left_out.flags = f->default_neg ? ORIC_F_NEG : 0;
        o = &left_out;
    }
    int error = put_number(w, f, o);
    if (error)
        return error;
    if (o->flags) {
        const int8_t place[4] = {f->neg, f->abs, f->inv, f->reuse};
        for (int i = 0; i < 4; i++) {
            if (!(o->flags >> i & 1))
                continue;
            if (place[i] < 0)
                return ORIC_E_SIGN;
            set_bit(w, place[i]);
        }
    }
    return ORIC_E_OK;
}

static int put_mod(uint64_t w[2], const oric_modfield *m, uint64_t mods) {
    uint64_t code = m->width < 64 ? mods >> m->shift & ((1ull << m->width) - 1) : mods;
    unsigned n = 1u << width_of(&m->bits);
    uint64_t raw;
    if (m->map < 0) {
        raw = code ^ m->flip;
        if (raw >= n)
            return ORIC_E_MOD;
    } else {
        for (raw = 0; raw < n && oric_mod_map[(unsigned)m->map + raw] != code; raw++)
            ;
        if (raw == n)
            return ORIC_E_MOD;
    }
    put_bits(w, &m->bits, raw);
    return ORIC_E_OK;
}

/* Encode in one form whose operand kinds fit. */
static int put_form(const oric_form *f, const oric_insn *insn, uint64_t w[2]) {
    w[0] = f->value[0] | f->fixed[0];
    w[1] = f->value[1] | f->fixed[1];
    uint64_t fields[2] = {0, 0};
    for (unsigned i = 0; i < f->n_fields; i++) {
        const oric_field *field = &oric_fields[f->fields + i];
        int error = put_operand(field->flags & ORIC_SAME ? w : fields, field, &insn->ops[field->operand]);
        if (error)
            return error | field->operand << 8;
        w[0] |= fields[0];
        w[1] |= fields[1];
        if (!(field->flags & ORIC_SAME) && get_bits(w, &field->bits) != get_bits(fields, &field->bits))
            return ORIC_E_RANGE | field->operand << 8; /* a bit of the field that the form fixes */
    }
    uint64_t mod_bits = 0;
    for (unsigned i = 0; i < f->n_mods; i++) {
        const oric_modfield *m = &oric_modfields[f->mods + i];
        int error = put_mod(fields, m, insn->mods);
        if (error)
            return error | m->mod << 8;
        mod_bits |= (m->width < 64 ? (1ull << m->width) - 1 : ~0ull) << m->shift;
    }
    if (insn->mods & ~mod_bits)
        return ORIC_E_FORM;
    /* where a modifier's bits act as opcode bits, they must say this form */
    for (int i = 0; i < 2; i++) {
        if (fields[i] & f->mask[i] & ~f->value[i])
            return ORIC_E_FORM;
        w[i] |= fields[i];
    }
    for (unsigned i = 0; i < f->n_mods; i++) {
        const oric_bits *b = &oric_modfields[f->mods + i].bits;
        if (get_bits(w, b) != get_bits(fields, b))
            return ORIC_E_FORM;
    }
    put_run(w, ORIC_GUARD_AT, 4, insn->guard | (uint64_t)(insn->guard_neg != 0) << 3);
    put_run(w, ORIC_CONTROL_AT, ORIC_CONTROL_BITS, insn->control);
    w[0] ^= insn->residue[0];
    w[1] ^= insn->residue[1];
    return ORIC_E_OK;
}

uint64_t oric_spelled(int isa, int op, uint64_t mods) {
    for (const oric_spelling *s = oric_spellings[isa]; s && s->op; s++) {
        uint64_t mask = (1ull << s->width) - 1;
        if (s->op == op && (mods >> s->shift & mask) == s->said)
            return (mods & ~(mask << s->shift)) | (uint64_t)s->meant << s->shift;
    }
    return mods;
}

int oric_encode(int isa, const oric_insn *insn, uint64_t *word) {
    if (isa < 0 || isa >= ORIC_ISAS || insn->op == 0 || insn->op >= ORIC_OPS)
        return ORIC_E_OPERATION;
    const uint16_t *at = oric_op_forms[isa] + oric_op_first[isa][insn->op];
    const uint16_t *end = oric_op_forms[isa] + oric_op_first[isa][insn->op + 1];
    if (at == end)
        return ORIC_E_OPERATION;
    if (insn->nops > ORIC_INSN_OPERANDS || insn->guard > ORIC_INSN_PT || insn->control >> ORIC_CONTROL_BITS)
        return ORIC_E_RANGE;
    uint64_t kinds = 0, given = 0;
    for (unsigned i = 0; i < insn->nops; i++) {
        kinds |= (uint64_t)(insn->ops[i].kind & 15) << 4 * i;
        given |= insn->ops[i].kind ? 15ull << 4 * i : 0;
    }
    oric_insn padded;
    if (insn->nops < oric_operations[insn->op].n_operands) {
        padded = *insn;
        for (unsigned i = insn->nops; i < ORIC_INSN_OPERANDS; i++)
            memset(&padded.ops[i], 0, sizeof padded.ops[i]);
        insn = &padded;
    }
    int error = ORIC_E_OPERANDS;
    for (; at < end; at++) {
        const oric_form *f = &oric_forms[isa][*at];
        uint64_t differ = kinds ^ f->kinds;
        if (differ & (given | ~f->optional))
            continue;
        error = put_form(f, insn, word);
        if (error == ORIC_E_OK)
            return oric_aligned(insn);
    }
    return error;
}

int oric_encode_form(int isa, const oric_insn *insn, uint64_t *word) {
    if (isa < 0 || isa >= ORIC_ISAS || insn->form >= oric_form_count[isa] || oric_forms[isa][insn->form].op != insn->op)
        return ORIC_E_OPERATION;
    return insn->guard > ORIC_INSN_PT || insn->control >> ORIC_CONTROL_BITS ? ORIC_E_RANGE : put_form(&oric_forms[isa][insn->form], insn, word);
}

static void get_operand(const uint64_t w[2], const oric_field *f, oric_operand *o) {
    unsigned width = width_of(&f->bits);
    uint64_t top = width < 64 ? (1ull << width) - 1 : ~0ull;
    uint64_t v = get_bits(w, &f->bits);
    o->kind = f->kind;
    switch (f->kind) {
    case ORIC_K_UGPR:
        o->reg = v == top ? ORIC_INSN_RZ : (uint16_t)v;
        break;
    case ORIC_K_GPR: case ORIC_K_PRED: case ORIC_K_UPRED: case ORIC_K_BREG: case ORIC_K_SB:
        o->reg = (uint16_t)(f->flags & ORIC_INVERT ? top - v : v);
        break;
    default:
        if (f->format == ORIC_N_BANK) {
            o->reg = (uint16_t)v;
            break;
        }
        if (f->flags & ORIC_SIGNED && width < 64 && v >> (width - 1))
            v |= ~top;
        o->value = (int64_t)(v << f->shift);
        if (f->second.runs) {
            uint64_t other = get_bits(w, &f->second);
            if (f->kind == ORIC_K_CBANKU)
                o->aux = other == (1ull << width_of(&f->second)) - 1 ? ORIC_INSN_RZ : (uint32_t)other;
            else
                o->reg = (uint16_t)other;
        }
    }
    o->flags = (uint8_t)(bit(w, f->neg) | bit(w, f->abs) << 1 | bit(w, f->inv) << 2 | bit(w, f->reuse) << 3);
}

int oric_decode(int isa, const uint64_t *word, oric_insn *insn) {
    if (isa < 0 || isa >= ORIC_ISAS)
        return ORIC_E_OPERATION;
    unsigned opcode = word[0] & 0xfff;
    unsigned end = oric_by_opcode[isa][opcode + 1];
    for (unsigned n = oric_by_opcode[isa][opcode]; n < end; n++) {
        const oric_form *f = &oric_forms[isa][n];
        if ((word[0] & f->mask[0]) != f->value[0] || (word[1] & f->mask[1]) != f->value[1])
            continue;
        memset(insn, 0, sizeof *insn);
        insn->op = f->op;
        insn->form = (uint16_t)n;
        insn->nops = oric_operations[f->op].n_operands;
        uint64_t guard = get_run(word, ORIC_GUARD_AT, 4);
        insn->guard = guard & 7;
        insn->guard_neg = (uint8_t)(guard >> 3);
        insn->control = (uint32_t)get_run(word, ORIC_CONTROL_AT, ORIC_CONTROL_BITS);
        for (unsigned i = 0; i < f->n_fields; i++) {
            const oric_field *field = &oric_fields[f->fields + i];
            get_operand(word, field, &insn->ops[field->operand]);
        }
        for (unsigned i = 0; i < f->n_mods; i++) {
            const oric_modfield *m = &oric_modfields[f->mods + i];
            uint64_t raw = get_bits(word, &m->bits);
            uint64_t code = m->map < 0 ? raw ^ m->flip : oric_mod_map[(unsigned)m->map + raw];
            if (m->map >= 0 && code == 255)
                return ORIC_E_WORD;
            insn->mods |= code << m->shift;
        }
        insn->residue[0] = (word[0] ^ f->fixed[0]) & ~f->known[0];
        insn->residue[1] = (word[1] ^ f->fixed[1]) & ~f->known[1];
        return ORIC_E_OK;
    }
    return ORIC_E_WORD;
}

long oric_encode_all(int isa, const oric_insn *insns, long n, uint64_t *words, int *error) {
    *error = ORIC_E_OK;
    for (long i = 0; i < n; i++)
        if ((*error = oric_encode(isa, &insns[i], words + 2 * i)) != ORIC_E_OK)
            return i;
    return n;
}

long oric_decode_all(int isa, const uint64_t *words, long n, oric_insn *insns, int *error) {
    *error = ORIC_E_OK;
    for (long i = 0; i < n; i++)
        if ((*error = oric_decode(isa, words + 2 * i, &insns[i])) != ORIC_E_OK)
            return i;
    return n;
}

int oric_forms_of(int isa) { return isa < 0 || isa >= ORIC_ISAS ? 0 : oric_form_count[isa]; }

int oric_form_bits(int isa, int form, uint64_t *mask, uint64_t *value, uint64_t *fixed, uint64_t *known) {
    if (form < 0 || form >= oric_forms_of(isa))
        return ORIC_E_OPERATION;
    const oric_form *f = &oric_forms[isa][form];
    memcpy(mask, f->mask, sizeof f->mask);
    memcpy(value, f->value, sizeof f->value);
    memcpy(fixed, f->fixed, sizeof f->fixed);
    memcpy(known, f->known, sizeof f->known);
    return f->op;
}
