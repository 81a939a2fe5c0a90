/* From text back to machine words: every form whose mnemonic fits tries to read the text with the byte code that prints it. */
#include "sass/assemble.h"
#include "sass/match.h"
#include "tables/registers.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024 };

typedef struct {
    const char *name;
    int length;
    unsigned rank; /* place in the order in which the encoder tries the forms */
    const oric_form *form;
} entry_t;

typedef struct {
    long n;
    entry_t entries[];
} index_t;

static index_t *_Atomic index_of[ORIC_ISAS]; /* all forms of an ISA by mnemonic, made when first asked for */

static int is_word(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

static const char *blanks(const char *t) {
    while (*t == ' ' || *t == '\t')
        t++;
    return t;
}

static int compare_names(const char *a, int n, const char *b, int k) {
    int order = memcmp(a, b, (size_t)(n < k ? n : k));
    return order ? order : n - k;
}

static int compare(const void *a, const void *b) {
    const entry_t *x = a, *y = b;
    int order = compare_names(x->name, x->length, y->name, y->length);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static const index_t *mnemonics(int isa) {
    index_t *made = atomic_load(&index_of[isa]), *none = NULL;
    if (made != NULL)
        return made;
    unsigned n = oric_op_first[isa][ORIC_OPS];
    made = malloc(sizeof *made + sizeof made->entries[0] * n);
    if (made == NULL)
        return NULL;
    made->n = 0;
    for (unsigned i = 0; i < n; i++) {
        const oric_form *form = &oric_forms[isa][oric_op_forms[isa][i]];
        const uint8_t *p = oric_text + form->text;
        entry_t *e = &made->entries[made->n++];
        e->name = (const char *)p + 2;
        e->rank = i;
        e->form = form;
        for (e->length = 0; *p == ORIC_T_LIT && e->length < p[1] && is_word(e->name[e->length]);)
            e->length++;
    }
    qsort(made->entries, (size_t)made->n, sizeof made->entries[0], compare);
    if (!atomic_compare_exchange_strong(&index_of[isa], &none, made)) {
        free(made);
        made = none;
    }
    return made;
}

const char *oric_mnemonic(int isa, long number, int *length) {
    const index_t *all = isa < 0 || isa >= ORIC_ISAS ? NULL : mnemonics(isa);
    for (long i = 0; all != NULL && i < all->n; i++) {
        const entry_t *e = &all->entries[i];
        if (i > 0 && !compare_names(e->name, e->length, e[-1].name, e[-1].length))
            continue;
        if (number-- == 0) {
            *length = e->length;
            return e->name;
        }
    }
    return NULL;
}

/* "@!P3 ": the guard; leaves the kind in *uniform (-1: PT or none). */
static const char *guard(oric_match *m, const char *t, int *uniform) {
    *uniform = -1;
    m->insn.guard = ORIC_INSN_PT;
    if (*t != '@')
        return t;
    t++;
    if (*t == '!') {
        m->insn.guard_neg = 1;
        t++;
    }
    int u = *t == 'U';
    const char *p = t + u;
    if (*p != 'P' || !(p[1] == 'T' || (p[1] >= '0' && p[1] < '0' + ORIC_INSN_PT)) || is_word(p[2])) {
        oric_want(m, t, "a predicate", 11);
        return NULL;
    }
    if (p[1] != 'T')
        m->insn.guard = (uint8_t)(p[1] - '0');
    *uniform = u;
    return blanks(p + 2);
}

static int complain(const oric_match *m, oric_misfit *misfit, int error) {
    misfit->column = (int)(m->far - m->text);
    misfit->error = error;
    return error;
}

static int search(oric_match *m, uint64_t *word, oric_misfit *misfit) {
    int uniform;
    const char *t = guard(m, blanks(m->text), &uniform);
    const index_t *all = mnemonics(m->isa);
    if (t == NULL)
        return complain(m, misfit, ORIC_E_WORD);
    if (all == NULL)
        return complain(m, misfit, ORIC_E_SPACE);
    m->far = m->operands = t;
    int length = 0;
    while (is_word(t[length]))
        length++;
    long low = 0, high = all->n;
    while (low < high) {
        long middle = low + (high - low) / 2;
        const entry_t *e = &all->entries[middle];
        if (compare_names(e->name, e->length, t, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    int known = 0, wrong_guard = 0;
    for (; low < all->n; low++) {
        const entry_t *e = &all->entries[low];
        if (compare_names(e->name, e->length, t, length))
            break;
        known = 1;
        if (uniform >= 0 && uniform != oric_operations[e->form->op].uniform_guard) {
            wrong_guard = 1;
            continue;
        }
        if (oric_match_form(m, e->form))
            break;
    }
    if (m->exact || m->loose) {
        word[0] = m->word[0];
        word[1] = m->word[1];
        return ORIC_E_OK;
    }
    if (wrong_guard && m->want_used == 0 && !m->refused) {
        m->far = blanks(m->text);
        oric_want(m, m->far, uniform ? "a guard P0 .. P6" : "a guard UP0 .. UP6", uniform ? 16 : 18);
    }
    if (m->refused)
        m->far = m->refused_at;
    return complain(m, misfit, !known ? ORIC_E_OPERATION : m->refused ? m->refused : ORIC_E_WORD);
}

int oric_assemble(int isa, const char *text, uint64_t pc, uint32_t control, const oric_labels *labels, const char *immediate,
                  uint64_t *word, oric_misfit *misfit) {
    oric_match m = {.isa = isa, .text = text, .far = text, .next = pc + ORIC_INSN_BYTES, .labels = labels, .immediate = immediate};
    m.want = misfit->want;
    misfit->want[0] = 0;
    m.insn.control = control;
    if (isa < 0 || isa >= ORIC_ISAS || control >> ORIC_CONTROL_BITS)
        return complain(&m, misfit, ORIC_E_RANGE);
    return search(&m, word, misfit);
}

long oric_unseen_all(int isa, const uint64_t *words, const oric_insn *insns, long n, uint64_t pc, uint64_t *differ) {
    long lost = 0;
    char text[TEXT_BYTES];
    oric_misfit misfit;
    for (long i = 0; i < n; i++) {
        uint64_t at = pc + (uint64_t)i * ORIC_INSN_BYTES, word[2];
        differ[2 * i] = differ[2 * i + 1] = 0;
        if (insns[i].op == 0)
            continue;
        if (oric_print(isa, &insns[i], at, NULL, NULL, text, sizeof text) < 0 ||
            oric_assemble(isa, text, at, insns[i].control, NULL, NULL, word, &misfit) != ORIC_E_OK) {
            differ[2 * i] = differ[2 * i + 1] = ~0ull;
            lost++;
            continue;
        }
        differ[2 * i] = words[2 * i] ^ word[0];
        differ[2 * i + 1] = words[2 * i + 1] ^ word[1];
    }
    return lost;
}
