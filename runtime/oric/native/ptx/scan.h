/* cdef */
/* The scanner of PTX: tokens one after the other, and whole statements of function bodies as rows of numbers.

   All arrays belong to the caller, who keeps them while a call runs. A text is one byte for each character; characters that
   Latin-1 does not have stand as any byte from 0x80 on. Places are offsets into it. */
#ifndef ORIC_PTX_SCAN_H
#define ORIC_PTX_SCAN_H
#include <stdint.h>

/* Kinds of tokens. */
enum {
    ORIC_PTX_END = 0,
    ORIC_PTX_IDENT = 1,
    ORIC_PTX_NUMBER = 2,
    ORIC_PTX_DOT_WORD = 3, /* .reg, .x, .shared::cta */
    ORIC_PTX_STRING = 4,
    ORIC_PTX_PUNCT = 5,
    ORIC_PTX_BAD = 6 /* a character that begins no token */
};
enum { ORIC_PTX_TOKEN_WORDS = 3 };

/* Tokens from position on, at most `most` of them: kind, first character, end. Returns how many; the last one may be END. */
int64_t oric_ptx_tokens(const char *text, int64_t length, int64_t position, int64_t *out, int64_t most);

/* What an operand's text is. Each text has a row of four words: shape and, from bit 8 on, number of characters; place; and two
   words that depend on the shape. Numbers have no zeros in front; N <= 99999999, offsets and integers have at most 18 digits. */
enum {
    ORIC_PTX_TEXT = 0,      /* anything else, to be read token by token */
    ORIC_PTX_REG = 1,       /* %rN: row of the text %r << 32 | N */
    ORIC_PTX_NOT = 2,       /* !%pN: likewise */
    ORIC_PTX_ADDR_REG = 3,  /* [%rN+offset]: likewise; offset */
    ORIC_PTX_ADDR_NAME = 4, /* [name+offset]: place of the name within the text | its length << 32; offset */
    ORIC_PTX_INT = 5,       /* of at most 18 decimal or 15 hexadecimal digits: value */
    ORIC_PTX_SINGLE = 6,    /* 0f and 8 hexadecimal digits: value */
    ORIC_PTX_DOUBLE = 7,    /* 0d and 16: value */
    ORIC_PTX_VECTOR = 8,    /* {a, b}: number of elements; the rows that follow hold theirs, four in a row */
    ORIC_PTX_NAME = 9       /* a name that is neither of these nor WARP_SZ */
};
enum { ORIC_PTX_ROW_WORDS = 4, ORIC_PTX_MEMORY_WORDS = 6 };

/* Kinds of statements. Word 0 of each is its kind and, from bit 8 on, its number of words; word 1 the place where it begins;
   word 2 its end. Rows are those of texts; places come in pairs, begin and end. */
enum {
    ORIC_PTX_INSTRUCTION = 0, /* place and row of the mnemonic, row of the guard (-1: none), rows of the operands */
    ORIC_PTX_LABEL = 1,       /* end of the name */
    ORIC_PTX_LOC = 2,         /* file, line, column; with inlined_at also name (2), file, line, column */
    ORIC_PTX_REGISTERS = 3,   /* type (2), name (2), number (-1: no range) */
    ORIC_PTX_VARIABLE = 4,    /* space (2), type (2), name (2), alignment (0: none), dimension (-1: none) */
    ORIC_PTX_CALL = 5,        /* row of the mnemonic, row of the target, number of results, rows of results and arguments */
    ORIC_PTX_OPEN = 6,
    ORIC_PTX_CLOSE = 7
};
enum { ORIC_PTX_LONGEST = 80 }; /* words of a statement */

/* Why a scan ended. */
enum {
    ORIC_PTX_OTHER = 0, /* at a statement that is none of these, or at the end */
    ORIC_PTX_MORE = 1,  /* there is no room for another statement */
    ORIC_PTX_ROWS = 2   /* there is no room for another text: see oric_ptx_grow */
};

typedef struct {
    const char *text;
    int64_t length;
    int64_t *rows;      /* ORIC_PTX_ROW_WORDS words for each text; behind them a hash table of two words for each */
    int64_t row_limit;  /* a power of two */
    int64_t row_count;
    int64_t end;        /* where the last scan ended */
    int64_t reason;     /* and why */
} oric_ptx_scan;

/* Statements from position on, in `out` with room for `words` words. Returns the words written. */
int64_t oric_ptx_statements(oric_ptx_scan *scan, int64_t position, int64_t *out, int64_t words);

/* Passes over plain lines of data in a debug section from position on; returns where the next other thing begins, or position. */
int64_t oric_ptx_data(const char *text, int64_t length, int64_t position);

/* Makes a scan ready for a text. `rows` has ORIC_PTX_MEMORY_WORDS words for each of row_limit texts, all zero. */
void oric_ptx_begin(oric_ptx_scan *scan, const char *text, int64_t length, int64_t *rows, int64_t row_limit);

/* Moves what is known to a larger array of zeros. */
void oric_ptx_grow(oric_ptx_scan *scan, int64_t *rows, int64_t row_limit);
#endif
