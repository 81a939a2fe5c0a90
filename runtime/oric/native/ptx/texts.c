#include "ptx/texts.h"

#include <string.h>

enum { MOST_DIGITS = 8, MOST_OFFSET = 18, MOST_HEX = 16, MOST_ELEMENTS = 256 };

/* What a text is, before it has a row. */
typedef struct {
    int64_t shape, first, second;
    int64_t elements[MOST_ELEMENTS]; /* of a vector, as many as `first` says */
} form;

static ptx_text text_of(const oric_ptx_scan *scan) { return (ptx_text){(const uint8_t *)scan->text, scan->length}; }

/* ---- numbers and names ---- */

/* Reads a number without zeros in front, of at most so many digits; returns the place behind it, -1 when there is none. */
static int64_t read_number(ptx_text t, int64_t p, int64_t to, int most, int64_t *value) {
    int64_t begin = p;
    *value = 0;
    while (p < to && p - begin < most && ptx_is(t.s[p], PTX_DIGIT))
        *value = *value * 10 + (t.s[p++] - '0');
    if (p == begin || (p < to && ptx_is(t.s[p], PTX_DIGIT)) || (t.s[begin] == '0' && p - begin > 1))
        return -1;
    return p;
}

/* The same with a minus sign in front. */
static int64_t read_signed(ptx_text t, int64_t p, int64_t to, int64_t *value) {
    int negative = p < to && t.s[p] == '-';
    p = read_number(t, p + negative, to, MOST_OFFSET, value);
    if (negative)
        *value = -*value;
    return p;
}

/* Behind %rN; *digits is where N begins. -1 when it is of another form. */
static int64_t read_register(ptx_text t, int64_t p, int64_t to, int64_t *digits, int64_t *number) {
    if (p >= to || t.s[p] != '%')
        return -1;
    p++;
    while (p < to && ptx_is(t.s[p], PTX_FIRST) && t.s[p] != '%')
        p++;
    *digits = p;
    return read_number(t, p, to, MOST_DIGITS, number);
}

/* Behind a name that is not WARP_SZ; -1 when there is none. */
static int64_t read_name(ptx_text t, int64_t p, int64_t to) {
    if (p >= to || !ptx_is(t.s[p], PTX_FIRST))
        return -1;
    int64_t begin = p++;
    while (p < to && ptx_is(t.s[p], PTX_NAME))
        p++;
    return p - begin == 7 && memcmp(t.s + begin, "WARP_SZ", 7) == 0 ? -1 : p;
}

static int64_t spaces(ptx_text t, int64_t p, int64_t to) {
    while (p < to && ptx_is(t.s[p], PTX_SPACE))
        p++;
    return p;
}

/* ---- the forms of an operand ---- */

/* %rN from `from` on as row and number in one word; -1: no register, -2: no room. *end is the place behind it. */
static int64_t register_word(oric_ptx_scan *scan, int64_t from, int64_t to, int64_t *end) {
    int64_t digits, number;
    *end = read_register(text_of(scan), from, to, &digits, &number);
    if (*end < 0)
        return -1;
    int64_t row = ptx_row(scan, from, digits);
    return row < 0 ? -2 : row << 32 | number;
}

/* [base] or [base+offset] with blanks anywhere inside. Returns -1 when there is no room. */
static int address(oric_ptx_scan *scan, int64_t from, int64_t to, form *f) {
    ptx_text t = text_of(scan);
    int64_t base = spaces(t, from + 1, to), end;
    int64_t word = register_word(scan, base, to, &end);
    if (word == -2)
        return -1;
    int64_t shape = ORIC_PTX_ADDR_REG;
    if (word == -1) {
        end = read_name(t, base, to);
        if (end < 0)
            return 0;
        word = (base - from) | (end - base) << 32;
        shape = ORIC_PTX_ADDR_NAME;
    }
    int64_t offset = 0, p = spaces(t, end, to);
    if (p < to && t.s[p] == '+') {
        p = read_signed(t, spaces(t, p + 1, to), to, &offset);
        if (p < 0)
            return 0;
        p = spaces(t, p, to);
    }
    if (p == to - 1 && t.s[p] == ']') {
        f->shape = shape;
        f->first = word;
        f->second = offset;
    }
    return 0;
}

/* {a, b}. Returns -1 when there is no room. */
static int vector(oric_ptx_scan *scan, int64_t from, int64_t to, form *f) {
    ptx_text t = text_of(scan);
    int64_t count = 0, p = from + 1;
    for (;;) {
        p = spaces(t, p, to);
        int64_t begin = p, end = p;
        for (; p < to && t.s[p] != ',' && t.s[p] != '}'; p++) {
            if (memchr("{[]|", t.s[p], 4) != NULL)
                return 0;
            if (!ptx_is(t.s[p], PTX_SPACE))
                end = p + 1;
        }
        if (p >= to || end == begin || count == MOST_ELEMENTS)
            return 0;
        int64_t row = ptx_row(scan, begin, end);
        if (row < 0)
            return -1;
        f->elements[count++] = row;
        if (t.s[p++] == '}')
            break;
    }
    if (p == to) {
        f->shape = ORIC_PTX_VECTOR;
        f->first = count;
    }
    return 0;
}

static int64_t hexadecimal(uint8_t c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/* Integers, and bit patterns of floating-point numbers. */
static void constant(ptx_text t, int64_t from, int64_t to, form *f) {
    if (read_signed(t, from, to, &f->first) == to) {
        f->shape = ORIC_PTX_INT;
        return;
    }
    uint8_t base = to - from > 2 && t.s[from] == '0' ? t.s[from + 1] | 0x20 : 0;
    if (base == 'x' && t.s[to - 1] == 'U')
        to--;
    int64_t digits = to - from - 2, bits = 0;
    for (int64_t p = from + 2; p < to && digits <= MOST_HEX; p++) {
        if (!ptx_is(t.s[p], PTX_HEX))
            return;
        bits = (int64_t)((uint64_t)bits << 4 | (uint64_t)hexadecimal(t.s[p]));
    }
    f->first = bits;
    if (base == 'f' && digits == 8)
        f->shape = ORIC_PTX_SINGLE;
    else if (base == 'd' && digits == MOST_HEX)
        f->shape = ORIC_PTX_DOUBLE;
    else if (base == 'x' && digits > 0 && digits < MOST_HEX)
        f->shape = ORIC_PTX_INT;
}

/* Works out what a text is; returns -1 when there is no room for its parts. */
static int classify(oric_ptx_scan *scan, int64_t from, int64_t to, form *f) {
    ptx_text t = text_of(scan);
    uint8_t c = t.s[from];
    int negated = c == '!';
    f->shape = ORIC_PTX_TEXT;
    f->first = f->second = 0;
    if (c == '%' || negated) {
        int64_t end, word = register_word(scan, from + negated, to, &end);
        if (word == -2)
            return -1;
        if (word >= 0 && end == to) {
            f->shape = negated ? ORIC_PTX_NOT : ORIC_PTX_REG;
            f->first = word;
        } else if (!negated && read_name(t, from, to) == to) {
            f->shape = ORIC_PTX_NAME;
        }
        return 0;
    }
    if (c == '[')
        return address(scan, from, to, f);
    if (c == '{')
        return vector(scan, from, to, f);
    if (c == '-' || ptx_is(c, PTX_DIGIT))
        constant(t, from, to, f);
    else if (read_name(t, from, to) == to)
        f->shape = ORIC_PTX_NAME;
    return 0;
}

/* ---- the table ---- */

static uint32_t hash_of(const uint8_t *s, int64_t size) {
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = (uint64_t)size * odd, word;
    for (; size >= 8; s += 8, size -= 8) {
        memcpy(&word, s, 8);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
    }
    for (word = 0; size > 0; size--)
        word = word << 8 | *s++;
    hash = (hash ^ word) * odd;
    return (uint32_t)(hash >> 32);
}

/* A slot holds the hash and, in the lower half, row + 1. Returns the slot of a text or the free one where it belongs. */
static int64_t *slot_of(const oric_ptx_scan *scan, uint32_t hash, int64_t from, int64_t size) {
    uint64_t mask = 2 * (uint64_t)scan->row_limit - 1;
    int64_t *slots = scan->rows + ORIC_PTX_ROW_WORDS * scan->row_limit;
    for (uint64_t i = hash;; i++) {
        int64_t *slot = &slots[i & mask];
        if (*slot == 0)
            return slot;
        if ((uint32_t)((uint64_t)*slot >> 32) != hash)
            continue;
        const int64_t *row = &scan->rows[ORIC_PTX_ROW_WORDS * ((*slot & 0xFFFFFFFF) - 1)];
        if (row[0] >> 8 == size && memcmp(scan->text + row[1], scan->text + from, (size_t)size) == 0)
            return slot;
    }
}

static int64_t slot_word(uint32_t hash, int64_t row) { return (int64_t)((uint64_t)hash << 32 | (uint64_t)(row + 1)); }

/* A new row, and for a vector those that hold its elements. */
static int64_t add_row(oric_ptx_scan *scan, int64_t from, int64_t size, const form *f) {
    int64_t elements = f->shape == ORIC_PTX_VECTOR ? f->first : 0;
    int64_t rows = 1 + (elements + ORIC_PTX_ROW_WORDS - 1) / ORIC_PTX_ROW_WORDS, number = scan->row_count;
    if (scan->row_limit - number < rows)
        return -1;
    int64_t *row = &scan->rows[ORIC_PTX_ROW_WORDS * number];
    row[0] = f->shape | size << 8;
    row[1] = from;
    row[2] = f->first;
    row[3] = f->second;
    memcpy(row + ORIC_PTX_ROW_WORDS, f->elements, (size_t)elements * sizeof *row);
    scan->row_count += rows;
    return number;
}

int64_t ptx_row(oric_ptx_scan *scan, int64_t from, int64_t to) {
    int64_t size = to - from;
    uint32_t hash = hash_of((const uint8_t *)scan->text + from, size);
    int64_t *slot = slot_of(scan, hash, from, size);
    if (*slot != 0)
        return (*slot & 0xFFFFFFFF) - 1;
    form f;
    if (classify(scan, from, to, &f) < 0)
        return -1;
    int64_t row = add_row(scan, from, size, &f);
    if (row >= 0)
        *slot_of(scan, hash, from, size) = slot_word(hash, row); /* its parts may have taken the slot */
    return row;
}

void oric_ptx_begin(oric_ptx_scan *scan, const char *text, int64_t length, int64_t *rows, int64_t row_limit) {
    *scan = (oric_ptx_scan){.text = text, .length = length, .rows = rows, .row_limit = row_limit, .end = -1};
}

void oric_ptx_grow(oric_ptx_scan *scan, int64_t *rows, int64_t row_limit) {
    const int64_t *old = scan->rows + ORIC_PTX_ROW_WORDS * scan->row_limit, *end = old + 2 * scan->row_limit;
    int64_t *slots = rows + ORIC_PTX_ROW_WORDS * row_limit;
    uint64_t mask = 2 * (uint64_t)row_limit - 1;
    memcpy(rows, scan->rows, (size_t)(scan->row_count * ORIC_PTX_ROW_WORDS) * sizeof *rows);
    for (; old < end; old++) {
        uint64_t to = (uint64_t)*old >> 32;
        if (*old == 0)
            continue;
        while (slots[to & mask] != 0)
            to++;
        slots[to & mask] = *old;
    }
    scan->rows = rows;
    scan->row_limit = row_limit;
}
