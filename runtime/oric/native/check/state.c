#include "check/state.h"

#include <stdlib.h>
#include <string.h>

#include "tables/registers.h"

static int reserve(oric_state *s, int32_t n) {
    if (n <= s->room) return 0;
    int32_t room = s->room ? s->room : 32;
    while (room < n) room *= 2;
    oric_token *tokens = realloc(s->tokens, (size_t)room * sizeof *tokens);
    if (!tokens) return -1;
    s->tokens = tokens, s->room = room;
    return 0;
}

int oric_state_add(oric_state *s, oric_token token) {
    if (s->n >= ORIC_TOKENS_MOST) {
        s->overflow = 1;
        return 0;
    }
    if (reserve(s, s->n + 1)) return -1;
    s->tokens[s->n++] = token;
    return 0;
}

/* Order of everything but the age; 0 = the same operation in the same situation. */
static int compare(const void *x, const void *y) {
    const oric_token *a = x, *b = y;
    if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
    if (a->insn != b->insn) return a->insn < b->insn ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->boards != b->boards) return a->boards < b->boards ? -1 : 1;
    if (a->guard != b->guard) return a->guard < b->guard ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

void oric_state_sort(oric_state *s) {
    int32_t n = 0;
    if (s->n > 1) qsort(s->tokens, (size_t)s->n, sizeof *s->tokens, compare);
    for (int32_t i = 0; i < s->n; i++) {
        if (n && compare(&s->tokens[n - 1], &s->tokens[i]) == 0) {
            if (s->tokens[i].age < s->tokens[n - 1].age) s->tokens[n - 1].age = s->tokens[i].age;
            if (s->tokens[i].later < s->tokens[n - 1].later) s->tokens[n - 1].later = s->tokens[i].later;
        } else {
            s->tokens[n++] = s->tokens[i];
        }
    }
    s->n = n;
}

int oric_state_copy(oric_state *to, const oric_state *from) {
    oric_token *tokens = to->tokens;
    int32_t room = to->room;
    *to = *from;
    to->tokens = tokens, to->room = room;
    if (reserve(to, from->n)) return -1;
    if (from->n) memcpy(to->tokens, from->tokens, (size_t)from->n * sizeof *tokens);
    return 0;
}

/* How many tokens of `from` the other list does not have. */
static int32_t count_new(const oric_state *into, const oric_state *from) {
    int32_t i = 0, fresh = 0;
    for (int32_t k = 0; k < from->n; k++) {
        while (i < into->n && compare(&into->tokens[i], &from->tokens[k]) < 0) i++;
        if (i == into->n || compare(&into->tokens[i], &from->tokens[k]) != 0) fresh++;
    }
    return fresh;
}

static int join_tokens(oric_state *into, const oric_state *from) {
    int changed = 0;
    int32_t fresh = count_new(into, from), i = into->n - 1, k = from->n - 1;
    if (into->n + fresh > ORIC_TOKENS_MOST) {
        changed = !into->overflow;
        into->overflow = 1;
        return changed;
    }
    if (reserve(into, into->n + fresh)) return -1;
    for (int32_t at = into->n + fresh - 1; k >= 0; at--) { /* from the back, so that nothing is overwritten */
        int order = i < 0 ? -1 : compare(&into->tokens[i], &from->tokens[k]);
        if (order > 0) {
            into->tokens[at] = into->tokens[i--];
        } else if (order == 0) {
            oric_token both = into->tokens[i--];
            if (from->tokens[k].age < both.age) both.age = from->tokens[k].age, changed = 1;
            if (from->tokens[k].later < both.later) both.later = from->tokens[k].later, changed = 1;
            into->tokens[at] = both;
            k--;
        } else {
            into->tokens[at] = from->tokens[k--];
        }
    }
    into->n += fresh;
    return changed || fresh > 0;
}

int oric_state_join(oric_state *into, const oric_state *from) {
    int changed = join_tokens(into, from);
    if (changed < 0) return -1;
    for (int b = 0; b < ORIC_COUNTERS; b++) {
        if (from->board_insn[b] == ORIC_NO_INSN || from->board_age[b] >= into->board_age[b]) continue;
        into->board_insn[b] = from->board_insn[b], into->board_age[b] = from->board_age[b];
        changed = 1;
    }
    uint16_t regions = into->regions & from->regions;
    uint8_t known = into->stack_known && from->stack_known && into->stack == from->stack;
    changed |= regions != into->regions || known != into->stack_known || (from->overflow && !into->overflow);
    into->regions = regions, into->stack_known = known;
    into->overflow |= from->overflow;
    return changed;
}
