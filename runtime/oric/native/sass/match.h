/* Matching a text against the template of one form. */
#ifndef ORIC_SASS_MATCH_H
#define ORIC_SASS_MATCH_H
#include "sass/assemble.h"
#include "tables/forms.h"
#include <stddef.h>

/* One text on its way through the forms; what it came to. */
typedef struct {
    int isa;
    const char *text;     /* the whole text, for columns */
    const char *operands; /* behind the guard */
    uint64_t next;        /* address of the next instruction */
    const oric_labels *labels;
    const char *immediate;
    oric_insn insn;       /* guard and control set */
    const oric_form *form;
    int aliased;          /* the text has a name of special cases */
    int exact;            /* found a word that prints as the text */
    int loose;            /* ... or one that prints otherwise but means it (a default written out, 0.1, decimal numbers) */
    uint64_t word[2];
    const char *far;      /* how far any form came, and what it wanted there */
    int refused;          /* error of the encoder when a whole text was read and not encoded, and the operand that it means */
    const char *refused_at;
    const char *starts[12]; /* where in the text the operands of the form stand */
    char *want;
    int want_used;
} oric_match;

/* A place in the text. */
typedef struct {
    const char *t;
    int items;   /* operands read so far */
    int pending; /* a separator is due before the next token */
} oric_cursor;

/* A value of a modifier with its text. */
typedef struct {
    const char *text;
    size_t size;
    uint64_t code;
} oric_choice;

/* Try one form; 1 when a word was found that prints as the text does. */
int oric_match_form(oric_match *m, const oric_form *form);

/* Note that the text was not what it should be at `at`. */
void oric_want(oric_match *m, const char *at, const char *what, size_t size);

/* The same with a text that ends with 0; returns 0. */
int oric_fail(oric_match *m, const char *at, const char *what);

/* The first character from t on that is no blank. */
const char *oric_blanks(const char *t);

/* The separator that is due: a blank before the first operand, a comma before the others. 0 when it is not there. */
int oric_open_item(oric_match *m, oric_cursor *c);

/* A fixed text; blanks of both sides do not count. 0 when it is not there. */
int oric_literal(oric_match *m, oric_cursor *c, const char *text, size_t size);

/* The field of an operand in the form that is tried; NULL: it has none. */
const oric_field *oric_field_of(const oric_match *m, unsigned operand);

/* A register of the file `kind`; 0 when there is none. */
int oric_read_reg(oric_match *m, oric_cursor *c, unsigned kind, uint16_t *out);

/* An integer, or the text that stands for the immediate operand, which is 0. 0 when there is none. */
int oric_read_offset(oric_match *m, oric_cursor *c, int64_t *out);

/* An operand with its signs, into m->insn. suffix: text of the part selector behind it or NULL; inside: before the closing bar;
   plain: a minus belongs to the number. */
int oric_read_operand(oric_match *m, oric_cursor *c, unsigned index, const oric_choice *suffix, int inside, int plain);
#endif
