/* Statements of function bodies. What is not of the plain forms here is left to the careful reader in Python. */
#include "ptx/chars.h"
#include "ptx/scan.h"
#include "ptx/texts.h"

enum { LONGEST_OPERANDS = 4000, HEAD = 3, MOST_NUMBER = 9999999, NOT_PLAIN = 0, NO_ROOM = -1 };

typedef struct {
    oric_ptx_scan *scan;
    ptx_text t;
    int64_t p;     /* the place at hand */
    int64_t *out;  /* the statement's words ... */
    int64_t words; /* ... and how many there are, with the head */
} reader;

static void put(reader *r, int64_t word) { r->out[r->words++] = word; }

static uint8_t here(const reader *r) { return r->p < r->t.n ? r->t.s[r->p] : 0; }

/* Passes over this character. */
static int take(reader *r, char c) {
    int found = r->p < r->t.n && r->t.s[r->p] == (uint8_t)c;
    r->p += found;
    return found;
}

/* Passes over at least one character of these classes. */
static int some(reader *r, int classes) {
    int64_t begin = r->p;
    r->p = ptx_skip(r->t, begin, classes);
    return r->p > begin;
}

static void spaces(reader *r) { r->p = ptx_skip(r->t, r->p, PTX_SPACE); }

/* Passes over this word when no letter or digit follows. */
static int word(reader *r, const char *text, int64_t size) {
    if (!ptx_at(r->t, r->p, text) || (r->p + size < r->t.n && ptx_is(r->t.s[r->p + size], PTX_NAME)))
        return 0;
    r->p += size;
    return 1;
}

#define WORD(READER, TEXT) word(READER, TEXT, sizeof TEXT - 1)

/* A number of at most seven digits without zeros in front; puts it. */
static int number(reader *r) {
    int64_t begin = r->p, value = 0;
    while (ptx_is(here(r), PTX_DIGIT) && value <= MOST_NUMBER)
        value = value * 10 + (r->t.s[r->p++] - '0');
    put(r, value);
    return r->p > begin && value <= MOST_NUMBER && !(r->t.s[begin] == '0' && r->p - begin > 1);
}

/* A name; puts begin and end. */
static int name(reader *r) {
    if (!ptx_is(here(r), PTX_FIRST))
        return 0;
    put(r, r->p);
    r->p = ptx_skip(r->t, r->p + 1, PTX_NAME);
    put(r, r->p);
    return 1;
}

/* .type; puts begin and end of the word. */
static int type(reader *r) {
    if (!take(r, '.'))
        return 0;
    put(r, r->p);
    int good = some(r, PTX_WORD);
    put(r, r->p);
    return good;
}

/* ---- instructions ---- */

/* Behind the bracket that closes the one at p; -1 when something else is inside than a plain operand. */
static int64_t closed(const reader *r, int64_t p, int64_t limit) {
    uint8_t open = r->t.s[p], close = open == '{' ? '}' : ']';
    for (p++; p < limit && ptx_is(r->t.s[p], PTX_OPERAND); p++) {
        if (r->t.s[p] == close)
            return p + 1;
        if (r->t.s[p] == open)
            return -1;
    }
    return -1;
}

/* One operand up to , or ; of which *end is the last character's end; returns the place of that, -1 when it is not plain. */
static int64_t operand_end(const reader *r, int64_t p, int64_t limit, int64_t *end) {
    *end = p;
    while (p < limit) {
        uint8_t c = r->t.s[p];
        if (c == ',' || c == ';')
            return p;
        if (c == '{' || c == '[') {
            p = *end = closed(r, p, limit);
            if (p < 0)
                return -1;
            continue;
        }
        if (c == '}' || c == ']' || !ptx_is(c, PTX_OPERAND))
            return -1;
        p++;
        if (!ptx_is(c, PTX_SPACE))
            *end = p;
    }
    return -1;
}

/* Puts the row of a text. */
static int row(reader *r, int64_t from, int64_t to) {
    int64_t found = ptx_row(r->scan, from, to);
    put(r, found);
    return found < 0 ? NO_ROOM : 1;
}

/* Puts the rows of the operands up to the semicolon. */
static int operands(reader *r) {
    spaces(r);
    if (take(r, ';'))
        return 1;
    int64_t limit = r->t.n - r->p > LONGEST_OPERANDS ? r->p + LONGEST_OPERANDS + 1 : r->t.n;
    for (;;) {
        spaces(r);
        int64_t end, stop = operand_end(r, r->p, limit, &end);
        if (stop < 0 || end == r->p || r->words == ORIC_PTX_LONGEST)
            return NOT_PLAIN;
        int good = row(r, r->p, end);
        if (good != 1)
            return good;
        r->p = stop + 1;
        if (r->t.s[stop] == ';')
            return 1;
    }
}

/* (a, b): puts the rows of the names and returns how many, -1 when it is not plain; NO_ROOM goes to *good. */
static int64_t names(reader *r, int *good) {
    int64_t count = 0;
    if (!take(r, '('))
        return -1;
    spaces(r);
    while (*good == 1 && here(r) != ')') {
        int64_t from = r->p;
        if ((count && !take(r, ',')) || r->words == ORIC_PTX_LONGEST)
            return -1;
        spaces(r);
        from = r->p;
        if (!ptx_is(here(r), PTX_FIRST))
            return -1;
        r->p = ptx_skip(r->t, from + 1, PTX_NAME);
        *good = row(r, from, r->p);
        count++;
        spaces(r);
    }
    return take(r, ')') ? count : -1;
}

/* call (a), name, (b, c); from behind the mnemonic on: its words replace those of an instruction. */
static int call(reader *r, int64_t mnemonic) {
    int good = 1;
    int64_t results = -1, target;
    r->words = HEAD;
    put(r, mnemonic);
    put(r, -1);
    put(r, -1);
    spaces(r);
    if (here(r) == '(') {
        results = names(r, &good);
        if (good != 1 || results < 0)
            return good == 1 ? NOT_PLAIN : good;
        spaces(r);
        if (!take(r, ','))
            return NOT_PLAIN;
        spaces(r);
    }
    int64_t from = r->p;
    if (!ptx_is(here(r), PTX_FIRST))
        return NOT_PLAIN;
    r->p = ptx_skip(r->t, from + 1, PTX_NAME);
    target = ptx_row(r->scan, from, r->p);
    if (target < 0)
        return NO_ROOM;
    spaces(r);
    if (!take(r, ','))
        return NOT_PLAIN;
    spaces(r);
    int64_t passed = names(r, &good);
    if (good != 1 || passed < 0)
        return good == 1 ? NOT_PLAIN : good;
    spaces(r);
    r->out[HEAD + 1] = target;
    r->out[HEAD + 2] = results < 0 ? 0 : results;
    return take(r, ';');
}

static int is_call(const reader *r, int64_t from) {
    int64_t size = r->p - from;
    return (size == 4 && ptx_at(r->t, from, "call")) || (size == 8 && ptx_at(r->t, from, "call.uni"));
}

/* Guard, mnemonic, operands. Puts place and row of the mnemonic, row of the guard, rows of the operands. */
static int instruction(reader *r, int *kind) {
    int64_t guard = -1;
    if (take(r, '@')) {
        int64_t from = r->p;
        take(r, '!');
        if (!some(r, PTX_NAME | PTX_FIRST))
            return NOT_PLAIN;
        guard = ptx_row(r->scan, from, r->p);
        if (guard < 0)
            return NO_ROOM;
        if (!some(r, PTX_BLANK))
            return NOT_PLAIN;
    }
    int64_t from = r->p;
    if (here(r) < 'a' || here(r) > 'z')
        return NOT_PLAIN;
    while (ptx_is(here(r), PTX_WORD) || here(r) == '.' || here(r) == ':')
        r->p++;
    put(r, from);
    int good = row(r, from, r->p);
    put(r, guard);
    if (good != 1)
        return good;
    if (guard < 0 && is_call(r, from)) {
        *kind = ORIC_PTX_CALL;
        return call(r, r->out[HEAD + 1]);
    }
    return operands(r);
}

/* ---- other statements ---- */

/* A token begins here that cannot be a mistake by itself, and not with this character. */
static int good_start(const reader *r, char not) {
    uint8_t c = here(r);
    return ptx_is(c, PTX_FIRST) || ((c == '@' || c == '.' || c == '{' || c == '}' || c == ',') && c != (uint8_t)not);
}

/* At the end of a line; otherwise what follows begins with nothing odd. */
static int ends_well(reader *r, char not) {
    int64_t p = ptx_skip(r->t, r->p, PTX_BLANK);
    if (p < r->t.n && (r->t.s[p] == '\n' || r->t.s[p] == '\r'))
        return 1;
    reader next = *r;
    next.p = ptx_skip_space(r->t, p);
    return next.p > r->p && good_start(&next, not);
}

/* name: and not in front of .branchtargets or .call...; the colon is at the place at hand. Puts the end of the name. */
static int label(reader *r) {
    put(r, r->p);
    r->p++;
    if (!ends_well(r, ','))
        return NOT_PLAIN;
    int64_t next = ptx_skip_space(r->t, r->p);
    return !ptx_at(r->t, next, ".branch") && !ptx_at(r->t, next, ".call");
}

/* .loc 1 2 3, perhaps with function_name and inlined_at. */
static int place(reader *r) {
    for (int i = 0; i < 3; i++)
        if (!some(r, PTX_BLANK) || !number(r))
            return NOT_PLAIN;
    return 1;
}

static int loc(reader *r) {
    if (!place(r))
        return NOT_PLAIN;
    if (ptx_at(r->t, r->p, ", function_name")) {
        r->p += 15;
        if (!some(r, PTX_BLANK) || !name(r) || !ptx_at(r->t, r->p, ", inlined_at"))
            return NOT_PLAIN;
        r->p += 12;
        if (!place(r))
            return NOT_PLAIN;
    }
    return ends_well(r, ',');
}

/* .reg .b32 %r<100>; */
static int registers(reader *r) {
    r->p = ptx_skip(r->t, r->p, PTX_BLANK);
    if (!type(r) || !some(r, PTX_BLANK) || !name(r))
        return NOT_PLAIN;
    if (!take(r, '<'))
        put(r, -1);
    else if (!number(r) || !take(r, '>'))
        return NOT_PLAIN;
    return take(r, ';');
}

/* .param .align 4 .b8 x[16]; from behind the state space on. */
static int variable(reader *r, int64_t from) {
    int64_t align = 0;
    put(r, from);
    put(r, r->p);
    if (!some(r, PTX_BLANK))
        return NOT_PLAIN;
    if (WORD(r, ".align")) {
        if (!some(r, PTX_BLANK) || !number(r) || !some(r, PTX_BLANK))
            return NOT_PLAIN;
        align = r->out[--r->words];
        if (align == 0)
            return NOT_PLAIN;
    }
    if (!type(r) || !some(r, PTX_BLANK) || !name(r))
        return NOT_PLAIN;
    put(r, align);
    if (!take(r, '['))
        put(r, -1);
    else if (!number(r) || !take(r, ']'))
        return NOT_PLAIN;
    return take(r, ';');
}

static int directive(reader *r, int *kind) {
    int64_t from = r->p + 1;
    if (WORD(r, ".loc")) {
        *kind = ORIC_PTX_LOC;
        return loc(r);
    }
    if (WORD(r, ".reg")) {
        *kind = ORIC_PTX_REGISTERS;
        return registers(r);
    }
    *kind = ORIC_PTX_VARIABLE;
    return WORD(r, ".param") || WORD(r, ".local") || WORD(r, ".shared") ? variable(r, from) : NOT_PLAIN;
}

/* A name and a colon that is not doubled: returns the colon's place, or -1. */
static int64_t label_end(const reader *r) {
    int64_t p = ptx_skip(r->t, r->p + 1, PTX_NAME);
    int colon = p < r->t.n && r->t.s[p] == ':' && !(p + 1 < r->t.n && r->t.s[p + 1] == ':');
    return colon ? p : -1;
}

/* The statement at the place at hand; returns 1, NOT_PLAIN or NO_ROOM. */
static int statement(reader *r, int *kind) {
    uint8_t c = here(r);
    if (c == '{' || c == '}') {
        r->p++;
        *kind = c == '{' ? ORIC_PTX_OPEN : ORIC_PTX_CLOSE;
        return 1;
    }
    if (c == '.')
        return directive(r, kind);
    int64_t colon = ptx_is(c, PTX_FIRST) ? label_end(r) : -1;
    if (colon >= 0) {
        *kind = ORIC_PTX_LABEL;
        r->p = colon;
        return label(r);
    }
    *kind = ORIC_PTX_INSTRUCTION;
    return instruction(r, kind);
}

int64_t oric_ptx_statements(oric_ptx_scan *scan, int64_t position, int64_t *out, int64_t words) {
    reader r = {scan, {(const uint8_t *)scan->text, scan->length}, position, out, 0};
    int64_t written = 0;
    scan->reason = ORIC_PTX_MORE;
    scan->end = position;
    while (words - written >= ORIC_PTX_LONGEST) {
        int kind = 0;
        int64_t begin = r.p = ptx_skip_space(r.t, scan->end);
        r.out = out + written;
        r.words = HEAD;
        int good = statement(&r, &kind);
        if (good != 1) {
            scan->reason = good == NO_ROOM ? ORIC_PTX_ROWS : ORIC_PTX_OTHER;
            break;
        }
        r.out[0] = kind | r.words << 8;
        r.out[1] = begin;
        r.out[2] = scan->end = r.p;
        written += r.words;
    }
    return written;
}
