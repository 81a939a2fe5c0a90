/* The hazard checker: states at the entries of blocks by iteration to a fixed point, then one walk that reports.

   Functions are looked at per call: a block of a function has one state for each instruction that calls it, so that what one
   caller leaves pending is not taken to another's return. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "check/cfg.h"
#include "check/walk.h"
#include "tables/registers.h"
#include "tables/slots.h"

enum { KERNEL = -1, FUNCTION = -2, NONE = -1, PATIENCE = 400, MOST_FINDINGS = 1 << 20 };

/* A block as reached by one call: `caller` is the block that calls, or KERNEL, FUNCTION where control enters from outside. */
typedef struct {
    int32_t block, caller;
    int32_t next;        /* node of the same block */
    int32_t next_return; /* returning node of the same caller */
    int32_t stack;       /* at its end, for the return, */
    uint16_t regions;    /* as these, which a function leaves as they are */
    uint8_t stack_known, queued, listed, called; /* called: the state at the call is known */
    oric_state entry;
} node;

typedef struct {
    const oric_checked_code *code;
    oric_check_graph graph;
    node *nodes;
    int32_t n, room;
    int32_t *node_of;     /* by block: first node */
    int32_t *returns_of;  /* by calling block: first returning node */
    int32_t *queue;       /* ring of `room` nodes */
    int32_t head, queued;
    oric_register_use *uses;
    int32_t *first_use;
    oric_walker walker;
    int64_t steps, budget;
    int32_t gave_up;      /* instruction at which the budget ended, NONE */
} checker;

static int grow(checker *c) {
    int32_t room = c->room ? 2 * c->room : 64;
    node *nodes = realloc(c->nodes, (size_t)room * sizeof *nodes);
    if (!nodes) return -1;
    c->nodes = nodes;
    int32_t *queue = malloc((size_t)room * sizeof *queue);
    if (!queue) return -1;
    for (int32_t k = 0; k < c->queued; k++) queue[k] = c->queue[(c->head + k) % c->room];
    free(c->queue);
    c->queue = queue, c->head = 0, c->room = room;
    return 0;
}

static void enqueue(checker *c, int32_t at) {
    if (c->nodes[at].queued) return;
    c->nodes[at].queued = 1;
    c->queue[(c->head + c->queued++) % c->room] = at;
}

/* The node of a block for a caller, new when there is none; NONE without memory. */
static int32_t find_node(checker *c, int32_t block, int32_t caller, int *fresh) {
    *fresh = 0;
    for (int32_t at = c->node_of[block]; at != NONE; at = c->nodes[at].next)
        if (c->nodes[at].caller == caller) return at;
    if (c->n == c->room && grow(c)) return NONE;
    *fresh = 1;
    c->nodes[c->n] = (node){.block = block, .caller = caller, .next = c->node_of[block], .next_return = NONE};
    c->node_of[block] = c->n;
    return c->n++;
}

static int arrive(checker *c, int32_t block, int32_t caller, const oric_state *state) {
    int fresh = 0;
    int32_t at = find_node(c, block, caller, &fresh);
    if (at == NONE) return -1;
    int changed = fresh ? oric_state_copy(&c->nodes[at].entry, state) : oric_state_join(&c->nodes[at].entry, state);
    if (changed < 0) return -1;
    if (fresh || changed) enqueue(c, at);
    return 0;
}

/* -- what flows out of a block -- */

/* From a returning node to behind the call, for everyone who made it. */
static int come_back(checker *c, int32_t at) {
    int32_t call = c->nodes[at].caller;
    if (call < 0 || call + 1 >= c->graph.count) return 0;
    if (!c->nodes[at].listed) {
        c->nodes[at].listed = 1;
        c->nodes[at].next_return = c->returns_of[call];
        c->returns_of[call] = at;
    }
    int32_t stack = c->walker.state.stack;
    uint16_t regions = c->walker.state.regions;
    uint8_t known = c->walker.state.stack_known;
    for (int32_t from = c->node_of[call]; from != NONE; from = c->nodes[from].next) {
        if (!c->nodes[from].called) continue;
        c->walker.state.stack = c->nodes[from].stack, c->walker.state.stack_known = c->nodes[from].stack_known;
        c->walker.state.regions = c->nodes[from].regions;
        if (arrive(c, call + 1, c->nodes[from].caller, &c->walker.state)) return -1;
    }
    c->walker.state.stack = stack, c->walker.state.stack_known = known, c->walker.state.regions = regions;
    return 0;
}

/* Into the function that the block calls; its frame is its own. */
static int go_in(checker *c, int32_t at) {
    int32_t block = c->nodes[at].block;
    oric_state *s = &c->walker.state;
    c->nodes[at].called = 1;
    c->nodes[at].stack = s->stack, c->nodes[at].stack_known = s->stack_known, c->nodes[at].regions = s->regions;
    s->stack = 0, s->stack_known = 1;
    int failed = arrive(c, c->graph.call[block], block, s);
    s->stack = c->nodes[at].stack, s->stack_known = c->nodes[at].stack_known;
    for (int32_t k = c->returns_of[block]; k != NONE; k = c->nodes[k].next_return) enqueue(c, k);
    return failed;
}

/* Nothing is known behind a word that is no instruction. */
static void pass_unknown(oric_state *s) {
    s->n = 0;
    s->regions = 0xffff, s->stack_known = 0;
    for (int b = 0; b < ORIC_COUNTERS; b++) s->board_insn[b] = ORIC_NO_INSN, s->board_age[b] = ORIC_AGE_MOST;
}

/* A call of code that is not here takes long enough for every result of known time. */
static void pass_outside(oric_state *s) {
    int32_t n = 0;
    for (int32_t k = 0; k < s->n; k++)
        if (s->tokens[k].kind != ORIC_T_FIXED) s->tokens[n++] = s->tokens[k];
    s->n = n;
    for (int b = 0; b < ORIC_COUNTERS; b++) s->board_insn[b] = ORIC_NO_INSN, s->board_age[b] = ORIC_AGE_MOST;
}

static int leave(checker *c, int32_t at) {
    const oric_check_graph *g = &c->graph;
    int32_t block = c->nodes[at].block, caller = c->nodes[at].caller;
    const oric_insn *last = &c->code->insns[g->first[block + 1] - 1];
    oric_state *s = &c->walker.state, narrowed = {0};
    int failed = 0;
    if (g->returns[block] && come_back(c, at)) return -1;
    if (g->call[block] >= 0 && go_in(c, at)) return -1;
    if (g->call[block] == ORIC_CALL_OUTSIDE) pass_outside(s);
    if (last->op == 0) pass_unknown(s);
    for (int32_t e = g->succ_first[block]; !failed && e < g->succ_first[block + 1]; e++) {
        failed = oric_state_copy(&narrowed, s);
        if (failed) break;
        if (oric_flows[last->op < ORIC_SLOT_OPS ? last->op : 0].effects & (ORIC_DOES_BRANCH | ORIC_DOES_EXIT))
            oric_walk_refine(&narrowed, last, g->edge[e] == ORIC_EDGE_TAKEN);
        failed = arrive(c, g->succs[e], caller, &narrowed);
    }
    free(narrowed.tokens);
    return failed;
}

static int enter_roots(checker *c) {
    oric_state empty = {.stack_known = 1};
    for (int b = 0; b < ORIC_COUNTERS; b++) empty.board_insn[b] = ORIC_NO_INSN, empty.board_age[b] = ORIC_AGE_MOST;
    for (int32_t k = 0; k < c->code->n_roots; k++) {
        int32_t root = c->code->roots[k];
        if (root < 0 || root >= c->code->n) continue;
        empty.regions = c->code->kernel[k] ? 0 : 0xffff; /* a function may find its caller's */
        if (arrive(c, c->graph.block_of[root], c->code->kernel[k] ? KERNEL : FUNCTION, &empty)) return -1;
    }
    return 0;
}

static int settle(checker *c) {
    if (enter_roots(c)) return -1;
    while (c->queued) {
        int32_t at = c->queue[c->head];
        c->head = (c->head + 1) % c->room, c->queued--;
        c->nodes[at].queued = 0;
        int32_t first = c->graph.first[c->nodes[at].block], end = c->graph.first[c->nodes[at].block + 1];
        if (c->steps > c->budget) {
            c->gave_up = first;
            return 0;
        }
        c->steps += end - first + c->nodes[at].entry.n;
        if (oric_walk(&c->walker, &c->nodes[at].entry, first, end) || leave(c, at)) return -1;
    }
    return 0;
}

/* -- reporting -- */

static void report(checker *c, uint8_t kind, int32_t i, int32_t had) {
    oric_report(c->walker.findings, (oric_finding){kind, 0, 0, NONE, i, had, 0});
}

static void report_end(checker *c, const node *at) {
    int32_t last = c->graph.first[at->block + 1] - 1;
    if (c->graph.leaves[at->block]) report(c, ORIC_H_RUNS_OUT, last, 0);
    if (!c->graph.returns[at->block]) return;
    if (at->caller == KERNEL) report(c, ORIC_H_RETURN, last, 0);
    else if (c->walker.state.stack_known && c->walker.state.stack) report(c, ORIC_H_STACK, last, c->walker.state.stack);
}

/* Whether `place` waits for the barrier of the region that begins at `i`. */
static int waits_for(const checker *c, int32_t place, int32_t i) {
    uint16_t op = c->code->insns[place].op;
    if (op >= ORIC_SLOT_OPS || oric_flows[op].region != ORIC_REGION_SYNC) return 0;
    for (int32_t a = c->first_use[i]; a < c->first_use[i + 1]; a++)
        for (int32_t b = c->first_use[place]; b < c->first_use[place + 1]; b++)
            if (c->uses[a].file == ORIC_FILE_B && c->uses[b].file == ORIC_FILE_B && c->uses[a].number == c->uses[b].number) return 1;
    return 0;
}

/* Where a region begins, the place that it names, or the instruction in front of it, waits for the same barrier. */
static void check_place(checker *c, int32_t i) {
    const oric_insn *insn = &c->code->insns[i];
    const oric_flow *flow = &oric_flows[insn->op < ORIC_SLOT_OPS ? insn->op : 0];
    int32_t target = oric_target_of(c->code, i);
    int has_label = 0, outside = 0;
    for (unsigned k = 0; k < insn->nops; k++) has_label |= insn->ops[k].kind == ORIC_K_LABEL;
    for (int32_t k = 0; k < c->code->n_outside; k++) outside |= c->code->outside[k] == i;
    if (!has_label || outside || !(flow->region || flow->effects & ORIC_DOES_BRANCH) || flow->effects & ORIC_DOES_RETURN) return;
    if (target < 0) {
        if (!(flow->effects & ORIC_DOES_CALL) || flow->region) report(c, ORIC_H_TARGET, i, 0);
        return;
    }
    if (flow->region != ORIC_REGION_ENTER) return;
    if (waits_for(c, target, i) || (target > 0 && waits_for(c, target - 1, i))) return;
    oric_report(c->walker.findings, (oric_finding){ORIC_H_REGION_END, ORIC_FILE_B, insn->ops[0].reg, i, target, 0, 0});
}

static int report_all(checker *c, oric_findings *out, oric_check_counts *counts) {
    c->walker.findings = out;
    for (int32_t b = 0; b < c->graph.count; b++) {
        int32_t first = c->graph.first[b], end = c->graph.first[b + 1];
        if (c->node_of[b] == NONE) continue;
        counts->reached += end - first;
        for (int32_t at = c->node_of[b]; at != NONE; at = c->nodes[at].next) {
            if (oric_walk(&c->walker, &c->nodes[at].entry, first, end)) return -1;
            c->steps += end - first;
            if (c->nodes[at].entry.overflow || c->walker.state.overflow) report(c, ORIC_H_TOO_MUCH, first, 0);
            report_end(c, &c->nodes[at]);
            if (out->n > MOST_FINDINGS) return 0;
        }
        for (int32_t i = first; i < end; i++) {
            oric_check_insn(&c->walker, i);
            check_place(c, i);
        }
    }
    if (c->gave_up != NONE) report(c, ORIC_H_TOO_MUCH, c->gave_up, 0);
    return out->failed ? -1 : 0;
}

static int by_place(const void *x, const void *y) {
    const oric_finding *a = x, *b = y;
    if (a->second != b->second) return a->second < b->second ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->had > b->had) - (a->had < b->had);
}

/* Sort; of the registers of one pair of instructions the first stands for all, of several paths the worst. */
static int32_t tidy(oric_finding *list, int32_t n) {
    int32_t kept = 0;
    if (n > 1) qsort(list, (size_t)n, sizeof *list, by_place);
    for (int32_t i = 0; i < n; i++) {
        const oric_finding *last = kept ? &list[kept - 1] : NULL;
        if (last && last->second == list[i].second && last->kind == list[i].kind && last->first == list[i].first &&
            last->file == list[i].file && last->first != NONE)
            continue;
        if (last && by_place(last, &list[i]) == 0) continue;
        list[kept++] = list[i];
    }
    return kept;
}

static int prepare(checker *c) {
    const oric_checked_code *code = c->code;
    size_t n = (size_t)code->n;
    c->first_use = malloc((n + 1) * sizeof *c->first_use);
    if (!c->first_use) return -1;
    oric_register_use none;
    long total = oric_accesses_all(code->insns, code->n, &none, 0, c->first_use);
    c->uses = malloc(((size_t)total + 1) * sizeof *c->uses);
    if (!c->uses || oric_check_graph_build(&c->graph, code)) return -1;
    oric_accesses_all(code->insns, code->n, c->uses, total, c->first_use);
    size_t blocks = (size_t)c->graph.count + 1;
    c->node_of = malloc(blocks * sizeof *c->node_of);
    c->returns_of = malloc(blocks * sizeof *c->returns_of);
    if (!c->node_of || !c->returns_of || grow(c)) return -1;
    for (size_t b = 0; b < blocks; b++) c->node_of[b] = c->returns_of[b] = NONE;
    c->walker.code = code, c->walker.uses = c->uses, c->walker.first_use = c->first_use;
    c->budget = (int64_t)PATIENCE * code->n + 1000000;
    c->gave_up = NONE;
    oric_walk_begin(&c->walker);
    return 0;
}

static void discard(checker *c) {
    for (int32_t k = 0; k < c->n; k++) free(c->nodes[k].entry.tokens);
    free(c->nodes), free(c->node_of), free(c->returns_of), free(c->queue), free(c->uses), free(c->first_use);
    free(c->walker.state.tokens);
    oric_check_graph_free(&c->graph);
    free(c);
}

int32_t oric_check(const oric_checked_code *code, oric_finding *findings, int32_t room, oric_check_counts *counts,
                   oric_check_evidence *evidence) {
    memset(counts, 0, sizeof *counts);
    if (code->isa < 0 || code->isa >= ORIC_ISAS) return -2;
    checker *c = calloc(1, sizeof *c);
    if (!c) return -1;
    c->code = code;
    c->walker.evidence = evidence;
    oric_findings out = {0};
    int32_t stored = -1;
    if (!prepare(c) && !settle(c) && !report_all(c, &out, counts)) {
        out.n = tidy(out.list, out.n);
        counts->steps = c->steps, counts->blocks = c->graph.count, counts->findings = out.n;
        stored = out.n < room ? out.n : room;
        if (stored) memcpy(findings, out.list, (size_t)stored * sizeof *findings);
    }
    free(out.list);
    discard(c);
    return stored;
}
