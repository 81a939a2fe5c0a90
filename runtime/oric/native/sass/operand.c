/* Reading single operands of instruction texts: registers, numbers, constants, labels, with their signs. */
#include "sass/match.h"
#include "sass/numbers.h"
#include "tables/registers.h"
#include <string.h>

enum { NAMES = 256 };

static int is_word(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

static const struct {
    const char *prefix, *zero, *what;
    unsigned reserved, count;
} files[] = {
    [ORIC_K_GPR] = {"R", "RZ", "a register", ORIC_INSN_RZ, 255},
    [ORIC_K_UGPR] = {"UR", "URZ", "a uniform register", ORIC_INSN_RZ, 255},
    [ORIC_K_PRED] = {"P", "PT", "a predicate", ORIC_INSN_PT, 7},
    [ORIC_K_UPRED] = {"UP", "UPT", "a uniform predicate", ORIC_INSN_PT, 7},
};

/* A register of one of the four files; 0 and nothing read when there is none. */
int oric_read_reg(oric_match *m, oric_cursor *c, unsigned kind, uint16_t *out) {
    const char *t = c->t = oric_blanks(c->t);
    size_t size = strlen(files[kind].prefix);
    if (strncmp(t, files[kind].zero, size + 1) == 0 && !is_word(t[size + 1])) {
        *out = (uint16_t)files[kind].reserved;
        c->t = t + size + 1;
        return 1;
    }
    unsigned n = 0;
    const char *digits = t + size, *end = digits;
    if (strncmp(t, files[kind].prefix, size) != 0)
        return oric_fail(m, t, files[kind].what);
    while (*end >= '0' && *end <= '9' && n < files[kind].count)
        n = n * 10 + (unsigned)(*end++ - '0');
    if (end == digits || is_word(*end) || n >= files[kind].count || (*digits == '0' && end > digits + 1))
        return oric_fail(m, t, files[kind].what);
    *out = (uint16_t)n;
    c->t = end;
    return 1;
}

static int named(oric_match *m, oric_cursor *c, const uint16_t *names, const char *prefix, unsigned count, int64_t *out) {
    const char *t = oric_blanks(c->t);
    size_t size = 0;
    while (is_word(t[size]) || t[size] == '.')
        size++;
    for (unsigned i = 0; i < NAMES; i++) {
        const char *name = oric_strings + names[i];
        if (names[i] && strlen(name) == size && memcmp(name, t, size) == 0) {
            c->t = t + size;
            *out = i;
            return 1;
        }
    }
    size_t skip = strlen(prefix);
    const char *digits = t + skip;
    int64_t n;
    if (strncmp(t, prefix, skip) != 0 || *digits < '0' || *digits > '9' || !oric_read_integer(&digits, &n) || n >= count)
        return oric_fail(m, t, count == ORIC_SCOREBOARDS ? "a scoreboard SB0 .. SB5" : *prefix == 'B' ? "a barrier register" : "a system register");
    c->t = digits;
    *out = n;
    return 1;
}

static int takes_immediate(const oric_match *m, oric_cursor *c) {
    size_t size = m->immediate == NULL ? 0 : strlen(m->immediate);
    if (size == 0 || strncmp(c->t, m->immediate, size) != 0)
        return 0;
    c->t += size;
    return 1;
}

int oric_read_offset(oric_match *m, oric_cursor *c, int64_t *out) {
    c->t = oric_blanks(c->t);
    *out = 0;
    return takes_immediate(m, c) || oric_read_integer(&c->t, out) || oric_fail(m, c->t, "a number");
}

/* The format of the floats of an immediate; -1 when it is no float. */
static int float_format(int immediate_format) {
    switch (immediate_format) {
    case ORIC_N_F32: return ORIC_FLOAT32;
    case ORIC_N_F64H: return ORIC_FLOAT64_HIGH;
    case ORIC_N_F16: case ORIC_N_F16X2: return ORIC_FLOAT16;
    case ORIC_N_BF16: case ORIC_N_BF16X2: return ORIC_BFLOAT16;
    default: return -1;
    }
}

static int immediate(oric_match *m, oric_cursor *c, const oric_field *f, oric_operand *x) {
    unsigned width = (unsigned)f->bits.n[0] + f->bits.n[1] + f->bits.n[2];
    c->t = oric_blanks(c->t);
    x->value = 0;
    if (takes_immediate(m, c))
        return 1;
    int format = float_format(f->format);
    if (format >= 0) {
        uint32_t bits;
        if (!oric_read_float(&c->t, format, &bits))
            return oric_fail(m, c->t, format == ORIC_FLOAT64_HIGH ? "a number whose low 32 bits are zero as double" : "a number");
        x->value = bits;
        if (f->format != ORIC_N_F16X2 && f->format != ORIC_N_BF16X2)
            return 1;
        uint32_t low;
        c->t = oric_blanks(c->t);
        if (*c->t != ',')
            return oric_fail(m, c->t, "','");
        c->t = oric_blanks(c->t + 1);
        if (!oric_read_float(&c->t, format, &low))
            return oric_fail(m, c->t, "a number");
        x->value = (int64_t)((uint64_t)bits << 16 | low);
        return 1;
    }
    if (!oric_read_integer(&c->t, &x->value))
        return oric_fail(m, c->t, "a number");
    if (width == 32 && !(f->flags & ORIC_SIGNED) && x->value < 0 && x->value >= -(1ll << 31))
        x->value &= 0xffffffff;
    return 1;
}

static int bank(oric_match *m, oric_cursor *c, oric_operand *x) {
    int64_t n;
    if (!oric_literal(m, c, "c[", 2) || !oric_read_offset(m, c, &n))
        return 0;
    x->reg = (uint16_t)n;
    if (n >> 16 || !oric_literal(m, c, "][", 2) || !oric_read_offset(m, c, &x->value))
        return 0;
    x->value = x->value < 0 && x->value >= -(1 << 15) ? x->value & 0xffff : x->value;
    return oric_literal(m, c, "]", 1);
}

static int uniform_bank(oric_match *m, oric_cursor *c, oric_operand *x) {
    uint16_t n;
    if (!oric_literal(m, c, "cx[", 3) || !oric_read_reg(m, c, ORIC_K_UGPR, &n))
        return 0;
    x->aux = n;
    return oric_literal(m, c, "][", 2) && oric_read_offset(m, c, &x->value) && oric_literal(m, c, "]", 1);
}

static int target(oric_match *m, oric_cursor *c, oric_operand *x) {
    c->t = oric_blanks(c->t);
    for (long i = 0; m->labels != NULL && i < m->labels->n; i++) {
        size_t size = strlen(m->labels->text[i]);
        if (strncmp(c->t, m->labels->text[i], size) == 0) {
            c->t += size;
            x->value = (int64_t)(m->labels->address[i] - m->next);
            return 1;
        }
    }
    if (!oric_read_integer(&c->t, &x->value))
        return oric_fail(m, c->t, "a label `(NAME) or an address");
    x->value = (int64_t)((uint64_t)x->value - m->next);
    return 1;
}

static int body(oric_match *m, oric_cursor *c, const oric_field *f, oric_operand *x) {
    int64_t n;
    switch (f->kind) {
    case ORIC_K_GPR: case ORIC_K_UGPR: case ORIC_K_PRED: case ORIC_K_UPRED: return oric_read_reg(m, c, f->kind, &x->reg);
    case ORIC_K_IMM: return immediate(m, c, f, x);
    case ORIC_K_CBANK: return bank(m, c, x);
    case ORIC_K_CBANKU: return uniform_bank(m, c, x);
    case ORIC_K_LABEL: return target(m, c, x);
    case ORIC_K_SREG: return named(m, c, oric_sreg_names[m->isa], "SR", NAMES, &x->value);
    case ORIC_K_BREG:
        if (!named(m, c, oric_breg_names[m->isa], "B", NAMES, &n))
            return 0;
        break;
    default: {
        static const uint16_t none[NAMES];
        if (!named(m, c, none, "SB", ORIC_SCOREBOARDS, &n))
            return 0;
    }
    }
    x->reg = (uint16_t)n;
    return 1;
}

/* An operand with its signs. suffix: text of the part selector behind it or NULL; inside: before the closing bar; plain: a minus
   belongs to the number. */
int oric_read_operand(oric_match *m, oric_cursor *c, unsigned index, const oric_choice *suffix, int inside, int plain) {
    const oric_field *f = oric_field_of(m, index);
    oric_operand *x = &m->insn.ops[index];
    memset(x, 0, sizeof *x);
    if (f == NULL)
        return 1;
    if (!oric_open_item(m, c))
        return 0;
    x->kind = f->kind;
    c->t = oric_blanks(c->t);
    m->starts[index] = c->t;
    if (f->neg >= 0 && !plain && *c->t == (f->kind == ORIC_K_PRED || f->kind == ORIC_K_UPRED ? '!' : '-')) {
        x->flags |= ORIC_F_NEG;
        c->t = oric_blanks(c->t + 1);
    }
    if (f->inv >= 0 && *c->t == '~') {
        x->flags |= ORIC_F_INV;
        c->t = oric_blanks(c->t + 1);
    }
    int bars = f->abs >= 0 && *c->t == '|';
    if (bars) {
        x->flags |= ORIC_F_ABS;
        c->t++;
    }
    if (!body(m, c, f, x))
        return 0;
    inside |= f->kind != ORIC_K_GPR;
    if (bars && (suffix == NULL || !inside) && !oric_literal(m, c, "|", 1))
        return 0;
    if (f->reuse >= 0 && strncmp(c->t, ".reuse", 6) == 0 && !is_word(c->t[6])) {
        x->flags |= ORIC_F_REUSE;
        c->t += 6;
    }
    return suffix == NULL || (oric_literal(m, c, suffix->text, suffix->size) && (!bars || !inside || oric_literal(m, c, "|", 1)));
}
