/* Text of decoded instructions, as the vendor's disassembler prints it: runs the byte code of the form tables. */
#include "sass/control.h"
#include "sass/sass.h"
#include "tables/forms.h"
#include "tables/registers.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NO = 255, HALF_WORD_BITS = 16 };
static const double BIG = 1e9; /* from here on floats print with an exponent */

typedef struct {
    char *at, *end;
    int items;    /* operands printed so far */
    int pending;  /* a separator is due before the next output */
    int overflow;
} out_t;

typedef struct {
    int isa;
    const oric_insn *insn;
    const oric_form *form;
    uint64_t next; /* address of the next instruction */
    const oric_labels *labels;
    const char *immediate;
} ctx_t;

static void put(out_t *o, const char *text, size_t n) {
    if ((size_t)(o->end - o->at) <= n) {
        o->overflow = 1;
        return;
    }
    memcpy(o->at, text, n);
    o->at += n;
}

static void str(out_t *o, const char *text) {
    if (o->pending && *text) {
        if (o->items++)
            put(o, ", ", 2);
        else
            put(o, " ", 1);
        o->pending = 0;
    }
    put(o, text, strlen(text));
}

static void hex(out_t *o, int64_t v) {
    char text[24];
    if (v < 0)
        snprintf(text, sizeof text, "-0x%llx", (unsigned long long)-(uint64_t)v);
    else
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    str(o, text);
}

static void unsigned_hex(out_t *o, uint64_t v) {
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    str(o, text);
}

static void number(out_t *o, const char *prefix, unsigned n) {
    char text[16];
    snprintf(text, sizeof text, "%s%u", prefix, n);
    str(o, text);
}

static void reg(out_t *o, unsigned kind, unsigned n) {
    switch (kind) {
    case ORIC_K_GPR:
        if (n == ORIC_INSN_RZ) str(o, "RZ"); else number(o, "R", n);
        break;
    case ORIC_K_UGPR:
        if (n == ORIC_INSN_RZ) str(o, "URZ"); else number(o, "UR", n);
        break;
    case ORIC_K_PRED:
        if (n == ORIC_INSN_PT) str(o, "PT"); else number(o, "P", n);
        break;
    default:
        if (n == ORIC_INSN_PT) str(o, "UPT"); else number(o, "UP", n);
    }
}

static void floating(out_t *o, double v, int quiet) {
    char text[64];
    if (isnan(v) || isinf(v)) {
        snprintf(text, sizeof text, "%c%s", signbit(v) ? '-' : '+', isinf(v) ? "INF" : quiet ? "QNAN" : "SNAN");
    } else if (v == 0) {
        strcpy(text, signbit(v) ? "-0.0" : "0");
    } else {
        snprintf(text, sizeof text, fabs(v) >= BIG ? "%.20e" : "%.20g", v);
    }
    str(o, text);
    if (isnan(v) || isinf(v) || (v == 0 && signbit(v)))
        str(o, " ");
}

static double from_bits32(uint32_t v) {
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}

static double from_bits64h(uint32_t v) {
    uint64_t w = (uint64_t)v << 32;
    double d;
    memcpy(&d, &w, sizeof d);
    return d;
}

static double from_half(unsigned v) {
    unsigned exponent = v >> 10 & 31, fraction = v & 1023;
    double m = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
    return v >> 15 ? -m : m;
}

static void immediate(out_t *o, const ctx_t *c, const oric_field *f, const oric_operand *x) {
    uint32_t v = (uint32_t)x->value;
    if (c->immediate != NULL) {
        str(o, c->immediate);
        return;
    }
    switch (f->format) {
    case ORIC_N_F32: floating(o, from_bits32(v), v >> 22 & 1); break;
    case ORIC_N_F64H: floating(o, from_bits64h(v), v >> 19 & 1); break;
    case ORIC_N_F16X2:
    case ORIC_N_BF16X2:
        for (int half = 1; half >= 0; half--) {
            unsigned bits = v >> 16 * half & 0xffff;
            if (f->format == ORIC_N_F16X2)
                floating(o, from_half(bits), bits >> 9 & 1);
            else
                floating(o, from_bits32(bits << 16), bits >> 6 & 1);
            if (half)
                str(o, ", ");
        }
        break;
    case ORIC_N_F16: floating(o, from_half(v & 0xffff), v >> 9 & 1); break;
    case ORIC_N_BF16: floating(o, from_bits32(v << 16), v >> 6 & 1); break;
    case ORIC_N_SIGNED:
        hex(o, f->flags & ORIC_SIGNED ? x->value : (int64_t)(int32_t)v);
        break;
    default:
        if (x->value < 0 && f->bits.runs == 1 && f->bits.n[0] >= 64)
            unsigned_hex(o, (uint64_t)x->value);
        else
            hex(o, x->value);
    }
}

static void target(out_t *o, const ctx_t *c, const oric_operand *x) {
    uint64_t address = c->next + (uint64_t)x->value;
    if (c->labels != NULL) {
        long low = 0, high = c->labels->n;
        while (low < high) {
            long middle = low + (high - low) / 2;
            if (c->labels->address[middle] < address)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < c->labels->n && c->labels->address[low] == address) {
            str(o, c->labels->text[low]);
            return;
        }
    }
    hex(o, (int64_t)address);
}

static int64_t bank_offset(const oric_operand *x) { return (int64_t)(int16_t)x->value; }

static void named(out_t *o, const uint16_t *names, unsigned n, const char *prefix) {
    if (n < 256 && names[n])
        str(o, oric_strings + names[n]);
    else
        number(o, prefix, n);
}

static const oric_field *field_of(const ctx_t *c, unsigned operand) {
    for (unsigned i = 0; i < c->form->n_fields; i++)
        if (oric_fields[c->form->fields + i].operand == operand)
            return &oric_fields[c->form->fields + i];
    return NULL;
}

static uint64_t mod_code(const ctx_t *c, unsigned mod) {
    const oric_mod *m = &oric_mods[oric_operations[c->insn->op].first_mod + mod];
    return c->insn->mods >> m->shift & (m->width < 64 ? (1ull << m->width) - 1 : ~0ull);
}

static const char *mod_text(const ctx_t *c, unsigned mod) {
    const oric_mod *m = &oric_mods[oric_operations[c->insn->op].first_mod + mod];
    return oric_strings + oric_mod_text[m->texts + mod_code(c, mod)];
}

static uint64_t mod_number(const ctx_t *c, unsigned mod) {
    return mod_code(c, mod) ^ oric_mods[oric_operations[c->insn->op].first_mod + mod].flip;
}

/* suffix: text of a part selector, "" or NULL when the operand has none; inside: before the closing bar. */
static void operand(out_t *o, const ctx_t *c, unsigned index, const char *suffix, int inside) {
    const oric_operand *x = &c->insn->ops[index];
    const oric_field *f = field_of(c, index);
    int is_predicate = x->kind == ORIC_K_PRED || x->kind == ORIC_K_UPRED;
    if (f == NULL)
        return;
    if (x->flags & ORIC_F_NEG)
        str(o, is_predicate ? "!" : "-");
    if (x->flags & ORIC_F_INV)
        str(o, "~");
    if (x->flags & ORIC_F_ABS)
        str(o, "|");
    switch (x->kind) {
    case ORIC_K_GPR: case ORIC_K_UGPR: case ORIC_K_PRED: case ORIC_K_UPRED:
        reg(o, x->kind, x->reg);
        break;
    case ORIC_K_IMM: immediate(o, c, f, x); break;
    case ORIC_K_CBANK:
        str(o, "c[");
        if (c->immediate != NULL) { /* a relocation gives bank and offset */
            str(o, c->immediate);
        } else {
            hex(o, x->reg);
            str(o, suffix != NULL ? "] [" : "][");
            hex(o, bank_offset(x));
        }
        str(o, "]");
        break;
    case ORIC_K_CBANKU:
        str(o, "cx[");
        reg(o, ORIC_K_UGPR, x->aux);
        str(o, suffix != NULL ? "] [" : "][");
        hex(o, x->value);
        str(o, "]");
        break;
    case ORIC_K_LABEL: target(o, c, x); break;
    case ORIC_K_BREG: named(o, oric_breg_names[c->isa], x->reg, "B"); break;
    case ORIC_K_SB: number(o, "SB", x->reg); break;
    case ORIC_K_SREG: named(o, oric_sreg_names[c->isa], (unsigned)x->value, "SR"); break;
    }
    inside |= x->kind != ORIC_K_GPR;
    if (suffix == NULL || !inside)
        str(o, x->flags & ORIC_F_ABS ? "|" : "");
    if (x->flags & ORIC_F_REUSE && oric_yield_of(c->insn->control))
        str(o, ".reuse");
    if (suffix != NULL) {
        str(o, suffix);
        if (inside)
            str(o, x->flags & ORIC_F_ABS ? "|" : "");
    }
}

static int is_default(const ctx_t *c, unsigned index) {
    const oric_operand *x = &c->insn->ops[index];
    const oric_field *f = field_of(c, index);
    if (f == NULL || x->kind == ORIC_K_NONE)
        return 1;
    if (f->default_kind == ORIC_REQUIRED)
        return 0;
    if (x->kind == ORIC_K_IMM)
        return c->immediate == NULL && x->value == f->default_reg;
    return x->reg == f->default_reg && (x->flags & ORIC_F_NEG) == (f->default_neg ? ORIC_F_NEG : 0);
}

/* "+0x10" behind other parts, "0x10" alone; alone it prints as unsigned field unless is_signed. */
static void offset(out_t *o, const ctx_t *c, unsigned index, int first, int is_signed) {
    int64_t v = c->insn->ops[index].value;
    const oric_field *f = field_of(c, index);
    if (first && !is_signed && f != NULL)
        v &= (int64_t)((1ull << (f->bits.n[0] + f->bits.n[1] + f->bits.n[2])) - 1);
    if (c->immediate != NULL) {
        str(o, first ? "" : "+");
        str(o, c->immediate);
    } else if (first || v != 0) {
        str(o, first ? "" : "+");
        hex(o, v);
    }
}

static void address(out_t *o, const ctx_t *c, const uint8_t *p) {
    static const char *const suffixes[] = {"", ".64", ".U32"};
    unsigned base = p[0], scale = p[1], suffix = p[2] & ORIC_SUFFIX, uniform = p[3], off = p[4], desc = p[5];
    const oric_operand *b = &c->insn->ops[base];
    int64_t distance = off == NO ? 0 : c->insn->ops[off].value;
    int has_uniform = uniform != NO;
    int hidden = b->reg == ORIC_INSN_RZ && suffix == 0 && desc == NO && !(p[2] & ORIC_SHOW_ZERO);
    if (has_uniform)
        hidden &= scale == NO || mod_code(c, scale) == 0 || (p[2] & ORIC_HIDE_ZERO);
    else
        hidden &= distance != 0;
    if (desc != NO) {
        str(o, "desc[");
        reg(o, ORIC_K_UGPR, c->insn->ops[desc].reg);
        str(o, "]");
    }
    str(o, "[");
    if (!hidden) {
        reg(o, b->kind, b->reg + (p[2] & ORIC_SECOND && b->reg != ORIC_INSN_RZ ? 1u : 0u));
        if (scale != NO)
            str(o, mod_text(c, scale));
        str(o, suffixes[suffix]);
    }
    if (has_uniform) {
        str(o, hidden ? "" : "+");
        reg(o, ORIC_K_UGPR, c->insn->ops[uniform].reg);
    }
    if (off != NO)
        offset(o, c, off, hidden && !has_uniform, p[2] & ORIC_SIGNED_ALONE);
    str(o, "]");
}

static void bank_address(out_t *o, const ctx_t *c, const uint8_t *p) {
    const oric_operand *base = &c->insn->ops[p[1]];
    int hidden = base->reg == ORIC_INSN_RZ && (c->immediate != NULL || c->insn->ops[p[2]].value != 0);
    str(o, "c[");
    if (c->immediate == NULL) { /* a relocation gives bank and offset */
        hex(o, c->insn->ops[p[0]].reg);
        str(o, "][");
    }
    if (!hidden)
        reg(o, base->kind, base->reg);
    offset(o, c, p[2], hidden, 1);
    str(o, "]");
}

static void set(out_t *o, uint64_t v) {
    const char *separator = "";
    str(o, "{");
    for (int i = 5; i >= 0; i--)
        if (v >> i & 1) {
            str(o, separator);
            number(o, "", (unsigned)i);
            separator = ",";
        }
    str(o, "}");
}

static void swizzle(out_t *o, uint64_t v) {
    char text[9];
    for (int i = 0; i < 4; i++) {
        unsigned pair = v >> (6 - 2 * i) & 3;
        text[2 * i] = "PPNZ"[pair];
        text[2 * i + 1] = "PNPP"[pair];
    }
    text[8] = 0;
    str(o, text);
}

static int alias_fits(const ctx_t *c, const oric_alias *a) {
    for (int i = 0; i < a->n; i++) {
        const oric_operand *x = &c->insn->ops[a->operand[i]];
        uint32_t v = (uint32_t)x->value;
        int ok = 0;
        switch (a->test[i]) {
        case ORIC_TEST_RZ: ok = x->kind == ORIC_K_GPR && x->reg == ORIC_INSN_RZ; break;
        case ORIC_TEST_ZERO: ok = x->kind == ORIC_K_IMM && v == 0; break;
        case ORIC_TEST_ONE: ok = x->kind == ORIC_K_IMM && v == 1; break;
        default: /* the disassembler leaves out 2^16 and 2^31 */
            ok = x->kind == ORIC_K_IMM && v > 1 && (v & (v - 1)) == 0 && v != 1u << HALF_WORD_BITS && v != 1u << 31;
        }
        if (!ok)
            return 0;
    }
    return 1;
}

static void run(out_t *o, const ctx_t *c) {
    const uint8_t *p = oric_text + c->form->text;
    for (;;) {
        switch (*p++) {
        case ORIC_T_END: return;
        case ORIC_T_LIT: {
            char text[256];
            memcpy(text, p + 1, *p);
            text[*p] = 0;
            str(o, text);
            p += 1 + *p;
            break;
        }
        case ORIC_T_MOD: str(o, mod_text(c, *p++)); break;
        case ORIC_T_NAME: {
            const char *text = mod_text(c, *p++);
            str(o, text + (*text == '.'));
            break;
        }
        case ORIC_T_ITEM: o->pending = 1; break;
        case ORIC_T_OP: operand(o, c, *p++, NULL, 0); break;
        case ORIC_T_HIDE: p += is_default(c, p[0]) ? 2 + p[1] : 2; break;
        case ORIC_T_INT: hex(o, (int64_t)mod_number(c, *p++)); break;
        case ORIC_T_HIDEMOD: p += mod_code(c, p[0]) == 0 ? 2 + p[1] : 2; break;
        case ORIC_T_OPMOD: operand(o, c, p[0], mod_text(c, p[1]), p[2]); p += 3; break;
        case ORIC_T_ADDR: address(o, c, p); p += 6; break;
        case ORIC_T_CADDR: bank_address(o, c, p); p += 3; break;
        case ORIC_T_SET: set(o, mod_number(c, *p++)); break;
        case ORIC_T_SWIZZLE: swizzle(o, mod_number(c, *p++)); break;
        case ORIC_T_ALIAS: {
            const oric_alias *a = &oric_aliases[p[0]];
            for (int i = 0; i < p[1]; i++)
                if (alias_fits(c, a + i)) {
                    str(o, oric_strings + a[i].name);
                    break;
                }
            p += 2;
            break;
        }
        }
    }
}

int oric_print(int isa, const oric_insn *insn, uint64_t pc, const oric_labels *labels, const char *immediate_text, char *out, int size) {
    if (isa < 0 || isa >= ORIC_ISAS || insn->form >= oric_form_count[isa] || size < 1)
        return -ORIC_E_OPERATION;
    ctx_t c = {isa, insn, &oric_forms[isa][insn->form], pc + 16, labels, immediate_text};
    out_t o = {out, out + size, 0, 0, 0};
    if (c.form->op != insn->op)
        return -ORIC_E_OPERATION;
    if (insn->guard != ORIC_INSN_PT || insn->guard_neg) {
        str(&o, insn->guard_neg ? "@!" : "@");
        reg(&o, oric_operations[insn->op].uniform_guard ? ORIC_K_UPRED : ORIC_K_PRED, insn->guard);
        str(&o, " ");
    }
    run(&o, &c);
    if (o.overflow)
        return -ORIC_E_SPACE;
    *o.at = 0;
    return (int)(o.at - out);
}
