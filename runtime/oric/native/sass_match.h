/* Matching a text against the template of one form. */
#ifndef ORIC_SASS_MATCH_H
#define ORIC_SASS_MATCH_H
#include "oric_forms.h"
#include "sass_assemble.h"
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

/* Try one form; 1 when a word was found that prints as the text does. */
int oric_match_form(oric_match *m, const oric_form *form);

/* Note that the text was not what it should be at `at`. */
void oric_want(oric_match *m, const char *at, const char *what, size_t size);
#endif
