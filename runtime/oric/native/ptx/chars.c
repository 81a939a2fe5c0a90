#include "ptx/chars.h"

#include <string.h>

#define DIGITS (PTX_DIGIT | PTX_HEX | PTX_WORD | PTX_NAME | PTX_OPERAND)
#define LETTER (PTX_WORD | PTX_NAME | PTX_FIRST | PTX_OPERAND)

const uint8_t oric_ptx_class[256] = {
    ['\t'] = PTX_BLANK | PTX_SPACE | PTX_OPERAND,
    [' '] = PTX_BLANK | PTX_SPACE | PTX_OPERAND,
    ['\n'] = PTX_SPACE | PTX_OPERAND,
    ['\r'] = PTX_SPACE | PTX_OPERAND,
    ['0' ... '9'] = DIGITS,
    ['a' ... 'f'] = LETTER | PTX_HEX,
    ['g' ... 'z'] = LETTER,
    ['A' ... 'F'] = LETTER | PTX_HEX,
    ['G' ... 'Z'] = LETTER,
    ['_'] = LETTER,
    ['$'] = PTX_NAME | PTX_FIRST | PTX_OPERAND,
    ['%'] = PTX_FIRST | PTX_OPERAND,
    ['!'] = PTX_OPERAND,
    ['&'] = PTX_OPERAND,
    ['*'] = PTX_OPERAND,
    ['+'] = PTX_OPERAND,
    [','] = PTX_OPERAND,
    ['-'] = PTX_OPERAND,
    ['.'] = PTX_OPERAND,
    [':'] = PTX_OPERAND,
    ['<'] = PTX_OPERAND,
    ['='] = PTX_OPERAND,
    ['>'] = PTX_OPERAND,
    ['['] = PTX_OPERAND,
    [']'] = PTX_OPERAND,
    ['^'] = PTX_OPERAND,
    ['{'] = PTX_OPERAND,
    ['|'] = PTX_OPERAND,
    ['}'] = PTX_OPERAND,
    ['~'] = PTX_OPERAND,
};

int ptx_at(ptx_text t, int64_t p, const char *word) {
    int64_t size = (int64_t)strlen(word);
    return t.n - p >= size && memcmp(t.s + p, word, (size_t)size) == 0;
}

/* The line feed at or behind p, or the end. */
static int64_t line_end(ptx_text t, int64_t p) {
    const uint8_t *found = p < t.n ? memchr(t.s + p, '\n', (size_t)(t.n - p)) : NULL;
    return found == NULL ? t.n : found - t.s;
}

/* Behind the comment whose content begins at p; -1 when it does not end. */
static int64_t comment_end(ptx_text t, int64_t p) {
    while (p < t.n) {
        const uint8_t *star = memchr(t.s + p, '*', (size_t)(t.n - p));
        if (star == NULL)
            return -1;
        p = star - t.s + 1;
        if (p < t.n && t.s[p] == '/')
            return p + 1;
    }
    return -1;
}

static int64_t skip_blank(ptx_text t, int64_t p) {
    while (p < t.n && (t.s[p] == ' ' || t.s[p] == '\t' || t.s[p] == '\f' || t.s[p] == '\r'))
        p++;
    return p;
}

/* Behind a line marker, # 12 "a.cu" or #line 12 "a.cu", that begins at p; -1 when there is none. Numbers may stand behind the name,
   nothing else. */
static int64_t marker_end(ptx_text t, int64_t p) {
    p = skip_blank(t, p + 1);
    if (ptx_at(t, p, "line"))
        p = skip_blank(t, p + 4);
    int64_t digits = p;
    p = ptx_skip(t, p, PTX_DIGIT);
    int64_t blanks = p;
    p = skip_blank(t, p);
    if (blanks == digits || p == blanks || p >= t.n || t.s[p] != '"')
        return -1;
    int64_t end = line_end(t, p);
    const uint8_t *quote = memchr(t.s + p + 1, '"', (size_t)(end - p - 1));
    if (quote == NULL)
        return -1;
    for (p = quote - t.s + 1;;) {
        int64_t word = skip_blank(t, p);
        if (word == end)
            return end;
        int64_t after = ptx_skip(t, word, PTX_DIGIT);
        if (word == p || after == word)
            return -1;
        p = after;
    }
}

int64_t ptx_skip_space(ptx_text t, int64_t p) {
    for (;;) {
        p = ptx_skip(t, p, PTX_SPACE);
        if (p >= t.n)
            return p;
        if (t.s[p] == '\f') {
            p++;
        } else if (t.s[p] == '/' && p + 1 < t.n && t.s[p + 1] == '/') {
            p = line_end(t, p);
        } else if (t.s[p] == '/' && p + 1 < t.n && t.s[p + 1] == '*') {
            int64_t end = comment_end(t, p + 2);
            if (end < 0)
                return p;
            p = end;
        } else if (t.s[p] == '#') {
            int64_t end = marker_end(t, p);
            if (end < 0)
                return p;
            p = end;
        } else {
            return p;
        }
    }
}
