#include "check/cfg.h"

#include <stdlib.h>
#include <string.h>

#include "sass/access.h"
#include "tables/registers.h"
#include "tables/slots.h"

enum { ENDS = ORIC_DOES_BRANCH | ORIC_DOES_CALL | ORIC_DOES_RETURN | ORIC_DOES_EXIT };

static uint32_t effects(const oric_insn *insn) { return insn->op < ORIC_SLOT_OPS ? oric_flows[insn->op].effects : 0; }

/* Whether general registers say where a branch goes (an address: a pair), or for which threads (a mask: one). */
static int reads_registers(const oric_insn *insn, int pair) {
    oric_register_use uses[ORIC_MOST_USES];
    int n = oric_accesses(insn, uses);
    for (int k = 0; k < n; k++)
        if (!uses[k].writes && uses[k].file == ORIC_FILE_R && (uses[k].count > 1) == pair) return 1;
    return 0;
}

int oric_unconditional(const oric_insn *insn) {
    if (insn->guard != ORIC_INSN_PT || insn->guard_neg) return 0;
    if (insn->op < ORIC_SLOT_OPS && insn->mods >> oric_flows[insn->op].asks_shift & ((1ull << oric_flows[insn->op].asks_width) - 1)) return 0;
    for (unsigned i = 0; i < insn->nops; i++) {
        const oric_operand *o = &insn->ops[i];
        int predicate = o->kind == ORIC_K_PRED || o->kind == ORIC_K_UPRED;
        if (predicate && (o->reg != ORIC_INSN_PT || o->flags & ORIC_F_NEG)) return 0;
        if (o->kind == ORIC_K_UGPR) return 0; /* the threads that it counts on; URZ with a complement are all of them */
    }
    return !(effects(insn) & ORIC_DOES_BRANCH && reads_registers(insn, 0));
}

int32_t oric_target_of(const oric_checked_code *code, int32_t i) {
    const oric_insn *insn = &code->insns[i];
    if (effects(insn) & ORIC_DOES_BRANCH && reads_registers(insn, 1)) return -1;
    for (unsigned k = 0; k < insn->nops; k++) {
        if (insn->ops[k].kind != ORIC_K_LABEL) continue;
        int64_t value = insn->ops[k].value;
        if (value % ORIC_INSN_BYTES) return -1;
        int64_t target = (int64_t)i + 1 + value / ORIC_INSN_BYTES;
        return target >= 0 && target < code->n ? (int32_t)target : -1;
    }
    return -1;
}

static int is_outside(const oric_checked_code *code, int32_t i) {
    int32_t low = 0, high = code->n_outside;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (code->outside[middle] < i) low = middle + 1;
        else high = middle;
    }
    return low < code->n_outside && code->outside[low] == i;
}

/* Mark the first instructions of blocks. */
static void find_leaders(const oric_checked_code *code, uint8_t *leader) {
    if (code->n) leader[0] = 1;
    for (int32_t i = 0; i < code->n; i++) {
        uint32_t does = effects(&code->insns[i]);
        int32_t target = does & ORIC_DOES_BRANCH && !is_outside(code, i) ? oric_target_of(code, i) : -1;
        if (target >= 0) leader[target] = 1;
        if ((does & ENDS || code->insns[i].op == 0) && i + 1 < code->n) leader[i + 1] = 1;
        if (code->insns[i].op == 0) leader[i] = 1;
    }
    for (int32_t k = 0; k < code->n_jumps; k++)
        if (code->jumps[2 * k + 1] >= 0 && code->jumps[2 * k + 1] < code->n) leader[code->jumps[2 * k + 1]] = 1;
    for (int32_t k = 0; k < code->n_roots; k++)
        if (code->roots[k] >= 0 && code->roots[k] < code->n) leader[code->roots[k]] = 1;
}

typedef struct {
    int32_t *to;
    uint8_t *edge;
    int32_t n;
} edges;

static void add_edge(edges *out, int32_t to, uint8_t edge) {
    if (out->to) out->to[out->n] = to, out->edge[out->n] = edge;
    out->n++;
}

static void indirect_edges(const oric_check_graph *g, const oric_checked_code *code, int32_t branch, edges *out) {
    for (int32_t k = 0; k < code->n_jumps; k++) {
        int32_t target = code->jumps[2 * k + 1];
        if (code->jumps[2 * k] == branch && target >= 0 && target < code->n) add_edge(out, g->block_of[target], ORIC_EDGE_TAKEN);
    }
}

/* The edges of one block; fills in what its last instruction does. */
static void block_edges(oric_check_graph *g, const oric_checked_code *code, int32_t b, edges *out) {
    int32_t last = g->first[b + 1] - 1;
    const oric_insn *insn = &code->insns[last];
    uint32_t does = effects(insn);
    int stays = does & ENDS && oric_unconditional(insn); /* does not go on behind itself */
    int32_t target = does & ORIC_DOES_BRANCH && !is_outside(code, last) ? oric_target_of(code, last) : -1;
    g->call[b] = ORIC_CALL_NONE, g->returns[b] = 0;
    if (does & ORIC_DOES_CALL) {
        g->call[b] = target >= 0 ? g->block_of[target] : ORIC_CALL_OUTSIDE;
        stays = target >= 0 && stays;
    } else if (does & ORIC_DOES_RETURN) {
        g->returns[b] = 1;
    } else if (does & ORIC_DOES_BRANCH) {
        if (target >= 0) add_edge(out, g->block_of[target], ORIC_EDGE_TAKEN);
        else indirect_edges(g, code, last, out);
    }
    g->leaves[b] = !stays && b + 1 == g->count;
    if (!stays && b + 1 < g->count) add_edge(out, b + 1, ORIC_EDGE_NEXT);
}

static int make_blocks(oric_check_graph *g, const oric_checked_code *code) {
    uint8_t *leader = calloc((size_t)code->n + 1, 1);
    if (!leader) return -1;
    find_leaders(code, leader);
    for (int32_t i = 0; i < code->n; i++) g->count += leader[i];
    g->first = malloc(((size_t)g->count + 1) * sizeof *g->first);
    if (g->first) {
        int32_t b = -1;
        for (int32_t i = 0; i < code->n; i++) {
            if (leader[i]) g->first[++b] = i;
            g->block_of[i] = b;
        }
        g->first[g->count] = code->n;
    }
    free(leader);
    return g->first ? 0 : -1;
}

int oric_check_graph_build(oric_check_graph *g, const oric_checked_code *code) {
    memset(g, 0, sizeof *g);
    g->block_of = malloc(((size_t)code->n + 1) * sizeof *g->block_of);
    if (!g->block_of || make_blocks(g, code)) goto failed;
    size_t blocks = (size_t)g->count + 1;
    g->succ_first = calloc(blocks, sizeof *g->succ_first);
    g->call = malloc(blocks * sizeof *g->call);
    g->returns = calloc(blocks, 1);
    g->leaves = calloc(blocks, 1);
    if (!g->succ_first || !g->call || !g->returns || !g->leaves) goto failed;
    edges count = {NULL, NULL, 0};
    for (int32_t b = 0; b < g->count; b++) block_edges(g, code, b, &count);
    edges out = {malloc(((size_t)count.n + 1) * sizeof *g->succs), calloc((size_t)count.n + 1, 1), 0};
    g->succs = out.to, g->edge = out.edge;
    if (!out.to || !out.edge) goto failed;
    for (int32_t b = 0; b < g->count; b++) {
        g->succ_first[b] = out.n;
        block_edges(g, code, b, &out);
    }
    g->succ_first[g->count] = out.n;
    return 0;
failed:
    oric_check_graph_free(g);
    return -1;
}

void oric_check_graph_free(oric_check_graph *g) {
    free(g->first), free(g->block_of), free(g->succ_first), free(g->succs), free(g->edge);
    free(g->call), free(g->returns), free(g->leaves);
    memset(g, 0, sizeof *g);
}
