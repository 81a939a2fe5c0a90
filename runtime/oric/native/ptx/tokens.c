/* Tokens of PTX. */
#include "ptx/chars.h"
#include "ptx/scan.h"

#include <string.h>

typedef struct {
    int64_t kind, after;
} token;

static uint8_t at(ptx_text t, int64_t p) { return p < t.n ? t.s[p] : 0; }

/* Behind an exponent that begins at p, or p when none does. */
static int64_t exponent(ptx_text t, int64_t p) {
    if (at(t, p) != 'e' && at(t, p) != 'E')
        return p;
    int64_t digits = p + 1;
    if (at(t, digits) == '+' || at(t, digits) == '-')
        digits++;
    int64_t end = ptx_skip(t, digits, PTX_DIGIT);
    return end == digits ? p : end;
}

static int64_t unsigned_suffix(ptx_text t, int64_t p) { return at(t, p) == 'U' ? p + 1 : p; }

/* Behind the number that begins at p, with a digit or with a point and a digit. */
static int64_t number(ptx_text t, int64_t p) {
    if (t.s[p] == '0') {
        uint8_t base = at(t, p + 1) | 0x20;
        int64_t digits = p + 2, end = digits;
        if (base == 'f' || base == 'd' || base == 'x')
            end = ptx_skip(t, digits, PTX_HEX);
        else if (base == 'b')
            while (at(t, end) == '0' || at(t, end) == '1')
                end++;
        if (end > digits)
            return base == 'f' || base == 'd' ? end : unsigned_suffix(t, end);
    }
    int64_t end = ptx_skip(t, p, PTX_DIGIT);
    if (at(t, end) == '.')
        return exponent(t, ptx_skip(t, end + 1, PTX_DIGIT));
    int64_t power = exponent(t, end);
    return power > end ? power : unsigned_suffix(t, end);
}

/* Behind .word::word, which begins at p. */
static int64_t dotted(ptx_text t, int64_t p) {
    p = ptx_skip(t, p + 1, PTX_WORD);
    while (at(t, p) == ':' && at(t, p + 1) == ':') {
        int64_t end = ptx_skip(t, p + 2, PTX_WORD);
        if (end == p + 2)
            break;
        p = end;
    }
    return p;
}

/* Characters of the punctuation at p, 0 when there is none. */
static int punctuation(ptx_text t, int64_t p) {
    uint8_t c = t.s[p], next = at(t, p + 1);
    switch (c) {
    case '<':
    case '>':
        return next == c || next == '=' ? 2 : 1;
    case '!':
        return next == '=' ? 2 : 1;
    case '=':
    case '&':
    case '|':
        return next == c ? 2 : 1;
    default:
        return c != 0 && strchr("-+*/^~?:;,(){}[]@.", c) != NULL;
    }
}

static token token_at(ptx_text t, int64_t p) {
    uint8_t c = t.s[p];
    if (ptx_is(c, PTX_FIRST))
        return (token){ORIC_PTX_IDENT, ptx_skip(t, p + 1, PTX_NAME)};
    if (ptx_is(c, PTX_DIGIT) || (c == '.' && ptx_is(at(t, p + 1), PTX_DIGIT)))
        return (token){ORIC_PTX_NUMBER, number(t, p)};
    if (c == '.' && ptx_is(at(t, p + 1), PTX_WORD))
        return (token){ORIC_PTX_DOT_WORD, dotted(t, p)};
    if (c == '"') {
        const uint8_t *end = memchr(t.s + p + 1, '"', (size_t)(t.n - p - 1));
        return end == NULL ? (token){ORIC_PTX_BAD, p + 1} : (token){ORIC_PTX_STRING, end - t.s + 1};
    }
    int size = punctuation(t, p);
    return size ? (token){ORIC_PTX_PUNCT, p + size} : (token){ORIC_PTX_BAD, p + 1};
}

int64_t oric_ptx_tokens(const char *text, int64_t length, int64_t position, int64_t *out, int64_t most) {
    ptx_text t = {(const uint8_t *)text, length};
    int64_t count = 0, kind = ORIC_PTX_BAD;
    while (count < most && kind != ORIC_PTX_END) {
        position = ptx_skip_space(t, position);
        token found = position < length ? token_at(t, position) : (token){ORIC_PTX_END, position};
        *out++ = kind = found.kind;
        *out++ = position;
        *out++ = position = found.after;
        count++;
    }
    return count;
}
