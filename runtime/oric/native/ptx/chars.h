/* Characters of PTX as the scanner sees them, and what may stand between tokens. */
#ifndef ORIC_PTX_CHARS_H
#define ORIC_PTX_CHARS_H
#include <stdint.h>

enum {
    PTX_BLANK = 1,   /* space and tab */
    PTX_SPACE = 2,   /* these and line ends */
    PTX_DIGIT = 4,
    PTX_HEX = 8,
    PTX_WORD = 16,   /* letters, digits and the underscore */
    PTX_NAME = 32,   /* these and $ */
    PTX_FIRST = 64,  /* what a name begins with; % too */
    PTX_OPERAND = 128 /* what operands may hold that are read at once: no comment, string, parenthesis, nothing beyond ASCII */
};

extern const uint8_t oric_ptx_class[256];

static inline int ptx_is(uint8_t c, int classes) { return (oric_ptx_class[c] & classes) != 0; }

/* The text at hand: one byte for each character, those beyond Latin-1 as some byte from 0x80 on. */
typedef struct {
    const uint8_t *s;
    int64_t n;
} ptx_text;

/* Behind white space, comments, line markers and form feeds; in front of a comment that does not end. */
int64_t ptx_skip_space(ptx_text t, int64_t p);

/* Behind the characters of these classes. */
static inline int64_t ptx_skip(ptx_text t, int64_t p, int classes) {
    while (p < t.n && ptx_is(t.s[p], classes))
        p++;
    return p;
}

/* The text goes on with this word at p. */
int ptx_at(ptx_text t, int64_t p, const char *word);
#endif
