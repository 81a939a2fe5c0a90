/* Matching a text against the template of one form: the byte code of sass/print.c read as a grammar.

   Where the printer leaves something out (defaults, empty modifiers), the match tries both ways; the first way to the end of the
   text whose word prints as the text again wins. */
#include "sass/access.h"
#include "sass/match.h"
#include "sass/numbers.h"
#include "tables/registers.h"
#include <string.h>

enum { NO = 255, TEXT_BYTES = 1024, CHOICES = 64 };

static int run(oric_match *m, const uint8_t *p, oric_cursor c);

const char *oric_blanks(const char *t) {
    while (*t == ' ' || *t == '\t')
        t++;
    return t;
}

void oric_want(oric_match *m, const char *at, const char *what, size_t size) {
    if (at < m->far)
        return;
    if (at > m->far) {
        m->far = at;
        m->want_used = 0;
        m->want[0] = 0;
    }
    if (m->want_used + size + 2 > ORIC_WANT_BYTES)
        return;
    for (const char *p = m->want; (p = strstr(p, what)) != NULL; p++) /* each wish once */
        if ((p == m->want || p[-1] == '\n') && (p[size] == '\n'))
            return;
    memcpy(m->want + m->want_used, what, size);
    m->want_used += (int)size;
    m->want[m->want_used++] = '\n';
    m->want[m->want_used] = 0;
}

int oric_fail(oric_match *m, const char *at, const char *what) {
    oric_want(m, at, what, strlen(what));
    return 0;
}

/* The separator that is due: a blank before the first operand, a comma before the others. */
int oric_open_item(oric_match *m, oric_cursor *c) {
    if (!c->pending)
        return 1;
    const char *t = oric_blanks(c->t);
    if (c->items == 0) {
        if (t == c->t)
            return oric_fail(m, t, *t ? "a blank" : "an operand");
    } else {
        if (*t != ',')
            return oric_fail(m, t, "','");
        t++;
    }
    c->t = oric_blanks(t);
    c->items++;
    c->pending = 0;
    return 1;
}

/* A fixed text; blanks of both sides do not count. */
int oric_literal(oric_match *m, oric_cursor *c, const char *text, size_t size) {
    if (size == 0)
        return 1;
    if (!oric_open_item(m, c))
        return 0;
    const char *t = c->t;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == ' ')
            continue;
        t = oric_blanks(t);
        if (*t++ != text[i]) {
            oric_want(m, oric_blanks(c->t), text, size);
            return 0;
        }
    }
    c->t = t;
    return 1;
}

const oric_field *oric_field_of(const oric_match *m, unsigned operand) {
    for (unsigned i = 0; i < m->form->n_fields; i++)
        if (oric_fields[m->form->fields + i].operand == operand)
            return &oric_fields[m->form->fields + i];
    return NULL;
}

/* ---- modifiers ---------------------------------------------------------------------------------------------------------- */

static const oric_mod *mod_of(const oric_match *m, unsigned mod) {
    return &oric_mods[oric_operations[m->form->op].first_mod + mod];
}

static void set_code(oric_match *m, unsigned mod, uint64_t code) {
    const oric_mod *row = mod_of(m, mod);
    uint64_t mask = row->width < 64 ? (1ull << row->width) - 1 : ~0ull;
    m->insn.mods = (m->insn.mods & ~(mask << row->shift)) | (code & mask) << row->shift;
}

static const oric_modfield *modfield_of(const oric_match *m, unsigned mod) {
    for (unsigned i = 0; i < m->form->n_mods; i++)
        if (oric_modfields[m->form->mods + i].mod == mod)
            return &oric_modfields[m->form->mods + i];
    return NULL;
}

static unsigned run_of(const uint64_t w[2], unsigned lo, unsigned n) {
    unsigned v = 0;
    for (unsigned i = 0; i < n; i++)
        v |= (unsigned)(w[(lo + i) >> 6] >> ((lo + i) & 63) & 1) << i;
    return v;
}

/* The value of a modifier where nothing is printed: the default, but bits that make the form as the form has them. */
static uint64_t unsaid(const oric_match *m, const oric_modfield *f) {
    unsigned mask = 0, value = 0, at = 0, raw = f->map < 0 ? f->flip : 0;
    for (int k = 0; k < f->bits.runs; at += f->bits.n[k++]) {
        mask |= run_of(m->form->mask, f->bits.lo[k], f->bits.n[k]) << at;
        value |= run_of(m->form->value, f->bits.lo[k], f->bits.n[k]) << at;
    }
    if (mask == 0)
        return 0;
    while (f->map >= 0 && raw >> at == 0 && oric_mod_map[(unsigned)f->map + raw] != 0)
        raw++;
    raw = (raw & ~mask) | value;
    return f->map < 0 ? raw ^ f->flip : oric_mod_map[(unsigned)f->map + (raw & ((1u << at) - 1))];
}

/* The values of a modifier whose text could stand at t (all of them when t is NULL), the longest first; at the same length the
   default. skip: leave the first dot out. */
static int choices(oric_match *m, unsigned mod, const char *t, int skip, oric_choice *out) {
    const oric_modfield *f = modfield_of(m, mod);
    const oric_mod *row = mod_of(m, mod);
    int n = 0;
    if (f == NULL)
        return 0;
    unsigned width = (unsigned)f->bits.n[0] + f->bits.n[1] + f->bits.n[2];
    for (uint64_t raw = 0; raw < 1ull << width && n < CHOICES; raw++) {
        uint64_t code = f->map < 0 ? raw ^ f->flip : oric_mod_map[(unsigned)f->map + raw];
        if (f->map >= 0 && code == 255)
            continue;
        const char *text = oric_strings + oric_mod_text[row->texts + code];
        text += skip && *text == '.';
        size_t size = strlen(text);
        if (t != NULL && strncmp(oric_blanks(t), text, size) != 0) {
            oric_want(m, oric_blanks(t), text, size);
            continue;
        }
        int at = n++;
        for (; at > 0 && (out[at - 1].size < size || (out[at - 1].size == size && code == 0)); at--)
            out[at] = out[at - 1];
        out[at] = (oric_choice){text, size, code};
    }
    return n;
}

static int modifier(oric_match *m, const uint8_t *p, oric_cursor c, unsigned mod, int skip) {
    oric_choice found[CHOICES];
    oric_cursor ahead = c;
    int separated = oric_open_item(m, &ahead);
    int n = choices(m, mod, separated ? ahead.t : "", skip, found);
    for (int i = 0; i < n; i++) {
        oric_cursor after = found[i].size ? ahead : c;
        if (found[i].size && !separated)
            continue;
        if (found[i].size)
            after.t = oric_blanks(after.t) + found[i].size;
        set_code(m, mod, found[i].code);
        if (run(m, p, after))
            return 1;
    }
    return 0;
}

static int number_mod(oric_match *m, const uint8_t *p, oric_cursor c, unsigned mod) {
    int64_t value;
    if (!oric_open_item(m, &c))
        return 0;
    if (!oric_read_integer(&c.t, &value))
        return oric_fail(m, c.t, "a number");
    set_code(m, mod, (uint64_t)value ^ mod_of(m, mod)->flip);
    return run(m, p, c);
}

static int set_mod(oric_match *m, const uint8_t *p, oric_cursor c, unsigned mod) {
    uint64_t set = 0;
    if (!oric_literal(m, &c, "{", 1))
        return 0;
    for (c.t = oric_blanks(c.t); *c.t != '}'; c.t = oric_blanks(c.t)) {
        if (set != 0 && *c.t == ',')
            c.t = oric_blanks(c.t + 1);
        if (*c.t < '0' || *c.t >= '0' + ORIC_SCOREBOARDS)
            return oric_fail(m, c.t, "a scoreboard 0 .. 5");
        set |= 1ull << (*c.t++ - '0');
    }
    c.t++;
    set_code(m, mod, set ^ mod_of(m, mod)->flip);
    return run(m, p, c);
}

static int swizzle_mod(oric_match *m, const uint8_t *p, oric_cursor c, unsigned mod) {
    static const char pairs[4][3] = {"PP", "PN", "NP", "ZP"};
    uint64_t value = 0;
    if (!oric_open_item(m, &c))
        return 0;
    for (int i = 0; i < 4; i++, c.t += 2) {
        unsigned pair = 0;
        while (pair < 4 && strncmp(c.t, pairs[pair], 2) != 0)
            pair++;
        if (pair == 4)
            return oric_fail(m, c.t, "four of PP, PN, NP, ZP");
        value = value << 2 | pair;
    }
    set_code(m, mod, value ^ mod_of(m, mod)->flip);
    return run(m, p, c);
}

/* Both readings of a minus before a number where the operand has a sign bit too. */
static int signed_operand(oric_match *m, const uint8_t *p, oric_cursor c, unsigned index, const oric_choice *suffix, int inside) {
    const oric_field *f = oric_field_of(m, index);
    for (int plain = 0; plain <= (f != NULL && f->kind == ORIC_K_IMM && f->neg >= 0); plain++) {
        oric_cursor after = c;
        if (oric_read_operand(m, &after, index, suffix, inside, plain) && run(m, p, after))
            return 1;
    }
    return 0;
}

static int part_operand(oric_match *m, const uint8_t *p, oric_cursor c) {
    oric_choice found[CHOICES];
    int n = choices(m, p[1], NULL, 0, found);
    for (int i = 0; i < n; i++) {
        set_code(m, p[1], found[i].code);
        if (signed_operand(m, p + 3, c, p[0], &found[i], p[2]))
            return 1;
    }
    return 0;
}

/* ---- addresses ---------------------------------------------------------------------------------------------------------- */

static void put_reg(oric_match *m, unsigned index, uint16_t n) {
    const oric_field *f = oric_field_of(m, index);
    oric_operand *x = &m->insn.ops[index];
    memset(x, 0, sizeof *x);
    if (f == NULL)
        return;
    x->kind = f->kind;
    x->reg = n;
}

/* "+0x10" or, alone, "0x10", where nothing stands there 0. */
static int offset(oric_match *m, oric_cursor *c, unsigned index, int alone, int may_be_left_out) {
    const oric_field *f = oric_field_of(m, index);
    oric_operand *x = &m->insn.ops[index];
    memset(x, 0, sizeof *x);
    if (f == NULL)
        return 1;
    x->kind = f->kind;
    c->t = oric_blanks(c->t);
    if (!alone) {
        if (*c->t != '+' && *c->t != '-')
            return may_be_left_out || oric_fail(m, c->t, "'+'");
        c->t += *c->t == '+';
    }
    m->starts[index] = c->t;
    if (!oric_read_offset(m, c, &x->value))
        return 0;
    unsigned width = (unsigned)f->bits.n[0] + f->bits.n[1] + f->bits.n[2];
    if (alone && f->flags & ORIC_SIGNED && width < 63 && x->value >> (width - 1) == 1)
        x->value -= (int64_t)1 << width; /* alone it prints as unsigned field */
    return 1;
}

/* A register of an address. */
static int address_reg(oric_match *m, oric_cursor *c, unsigned index, uint8_t kind, uint16_t *n) {
    m->starts[index] = oric_blanks(c->t);
    return oric_read_reg(m, c, kind, n);
}

static int inner_address(oric_match *m, oric_cursor *c, const uint8_t *p, const oric_choice *scale, int hidden) {
    static const char *const suffixes[] = {"", ".64", ".U32"};
    unsigned base = p[0], uniform = p[3], off = p[4], desc = p[5];
    const oric_field *f = oric_field_of(m, base);
    uint16_t n = ORIC_INSN_RZ;
    if (desc != NO) {
        if (!oric_literal(m, c, "desc[", 5) || !address_reg(m, c, desc, ORIC_K_UGPR, &n))
            return 0;
        put_reg(m, desc, n);
        if (!oric_literal(m, c, "]", 1))
            return 0;
    }
    if (!oric_literal(m, c, "[", 1) || f == NULL)
        return 0;
    n = ORIC_INSN_RZ;
    if (!hidden) {
        if (!address_reg(m, c, base, f->kind, &n) || (scale != NULL && !oric_literal(m, c, scale->text, scale->size)))
            return 0;
        const char *suffix = suffixes[p[2] & ORIC_SUFFIX];
        if (!oric_literal(m, c, suffix, strlen(suffix)))
            return 0;
        if (p[2] & ORIC_SECOND && n != ORIC_INSN_RZ && n-- == 0)
            return oric_fail(m, c->t, "an odd register");
    }
    put_reg(m, base, n);
    if (uniform != NO) {
        if ((!hidden && !oric_literal(m, c, "+", 1)) || !address_reg(m, c, uniform, ORIC_K_UGPR, &n))
            return 0;
        put_reg(m, uniform, n);
    }
    if (off != NO && !offset(m, c, off, hidden && uniform == NO, 1))
        return 0;
    return oric_literal(m, c, "]", 1);
}

static int address(oric_match *m, const uint8_t *p, oric_cursor c) {
    oric_choice found[CHOICES];
    int n = p[1] == NO ? 1 : choices(m, p[1], NULL, 0, found);
    if (!oric_open_item(m, &c))
        return 0;
    for (int hidden = 0; hidden < 2; hidden++)
        for (int i = 0; i < n; i++) {
            oric_cursor after = c;
            if (hidden && p[1] != NO && found[i].code != unsaid(m, modfield_of(m, p[1])))
                continue; /* the scale of a register that is not printed */
            if (p[1] != NO)
                set_code(m, p[1], found[i].code);
            if (inner_address(m, &after, p, p[1] == NO ? NULL : &found[i], hidden) && run(m, p + 6, after))
                return 1;
        }
    return 0;
}

static int bank_address(oric_match *m, const uint8_t *p, oric_cursor c) {
    const oric_field *f = oric_field_of(m, p[1]);
    int64_t n;
    if (f == NULL || !oric_literal(m, &c, "c[", 2) || !oric_read_offset(m, &c, &n) || n >> 16 || !oric_literal(m, &c, "][", 2))
        return 0;
    put_reg(m, p[0], (uint16_t)n);
    for (int hidden = 0; hidden < 2; hidden++) {
        oric_cursor after = c;
        uint16_t base = ORIC_INSN_RZ;
        if (!hidden && !address_reg(m, &after, p[1], f->kind, &base))
            continue;
        put_reg(m, p[1], base);
        if (offset(m, &after, p[2], hidden, 1) && oric_literal(m, &after, "]", 1) && run(m, p + 3, after))
            return 1;
    }
    return 0;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

static int same_text(const char *a, const char *b) {
    for (;; a++, b++) {
        a = oric_blanks(a);
        b = oric_blanks(b);
        if (*a != *b)
            return 0;
        if (*a == 0)
            return 1;
    }
}

/* Two texts begin with the same mnemonic and modifiers; a guard in front of the first is passed over. */
static int same_head(const char *printed, const char *text) {
    if (*printed == '@')
        printed = oric_blanks(printed + strcspn(printed, " "));
    size_t size = strcspn(printed, " ");
    return strncmp(printed, text, size) == 0 && (text[size] == 0 || text[size] == ' ' || text[size] == '\t');
}

static int refuse(oric_match *m, int error, const char *at) {
    if (m->refused == 0) {
        m->refused = error;
        m->refused_at = at;
    }
    return 0;
}

/* The end of template and text: encode, and see whether the word prints as the text. */
static int finish(oric_match *m, const oric_cursor *c) {
    char text[TEXT_BYTES];
    uint64_t word[2];
    oric_insn back;
    if (*oric_blanks(c->t) != 0)
        return oric_fail(m, oric_blanks(c->t), "the end of the instruction");
    m->insn.op = m->form->op;
    m->insn.form = (uint16_t)(m->form - oric_forms[m->isa]);
    m->insn.nops = oric_operations[m->form->op].n_operands;
    int error = oric_encode_form(m->isa, &m->insn, word);
    if (error == ORIC_E_OK)
        error = oric_aligned(&m->insn);
    if (error != ORIC_E_OK) {
        unsigned operand = (unsigned)error >> 8 & 255, kind = (unsigned)error & 255;
        int has_place = kind == ORIC_E_RANGE || kind == ORIC_E_SIGN || kind == ORIC_E_ALIGN;
        return refuse(m, error, has_place && operand < ORIC_INSN_OPERANDS && m->starts[operand] ? m->starts[operand] : m->operands);
    }
    if (oric_decode(m->isa, word, &back) != ORIC_E_OK ||
        oric_print(m->isa, &back, m->next - 16, m->labels, m->immediate, text, sizeof text) < 0)
        return 0;
    m->exact = same_text(text, oric_blanks(m->text));
    int fits = !m->aliased || same_head(text, m->operands); /* an alias stands for its special case and nothing else */
    if (m->exact || (!m->loose && fits)) {
        memcpy(m->word, word, sizeof word);
        m->loose = 1;
    }
    if (!fits)
        return refuse(m, ORIC_E_FORM, m->operands);
    return m->exact;
}

static int alias(oric_match *m, const uint8_t *p, oric_cursor c) {
    for (int i = 0; i < p[1]; i++) {
        oric_cursor after = c;
        const char *name = oric_strings + oric_aliases[p[0] + i].name;
        m->aliased = 1;
        if (oric_literal(m, &after, name, strlen(name)) && run(m, p + 2, after))
            return 1;
    }
    m->aliased = 0;
    return run(m, p + 2, c);
}

static int run(oric_match *m, const uint8_t *p, oric_cursor c) {
    for (;;) {
        switch (*p++) {
        case ORIC_T_END: return finish(m, &c);
        case ORIC_T_LIT:
            if (!oric_literal(m, &c, (const char *)p + 1, *p))
                return 0;
            p += 1 + *p;
            break;
        case ORIC_T_ITEM: c.pending = 1; break;
        case ORIC_T_MOD: return modifier(m, p + 1, c, *p, 0);
        case ORIC_T_NAME: return modifier(m, p + 1, c, *p, 1);
        case ORIC_T_OP: return signed_operand(m, p + 1, c, *p, NULL, 0);
        case ORIC_T_HIDE:
            if (run(m, p + 2, c))
                return 1;
            memset(&m->insn.ops[p[0]], 0, sizeof m->insn.ops[0]);
            p += 2 + p[1];
            break;
        case ORIC_T_INT: return number_mod(m, p + 1, c, *p);
        case ORIC_T_HIDEMOD:
            if (run(m, p + 2, c))
                return 1;
            set_code(m, p[0], 0);
            p += 2 + p[1];
            break;
        case ORIC_T_OPMOD: return part_operand(m, p, c);
        case ORIC_T_ADDR: return address(m, p, c);
        case ORIC_T_CADDR: return bank_address(m, p, c);
        case ORIC_T_SET: return set_mod(m, p + 1, c, *p);
        case ORIC_T_SWIZZLE: return swizzle_mod(m, p + 1, c, *p);
        default: return alias(m, p, c); /* ORIC_T_ALIAS */
        }
    }
}

int oric_match_form(oric_match *m, const oric_form *form) {
    m->form = form;
    m->aliased = 0;
    memset(m->starts, 0, sizeof m->starts);
    m->insn.mods = 0;
    for (unsigned i = 0; i < form->n_mods; i++)
        set_code(m, oric_modfields[form->mods + i].mod, unsaid(m, &oric_modfields[form->mods + i]));
    memset(m->insn.ops, 0, sizeof m->insn.ops);
    return run(m, oric_text + form->text, (oric_cursor){m->operands, 0, 0});
}
