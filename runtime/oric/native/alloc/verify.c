#include "alloc/verify_code.h"

#include <stdlib.h>
#include <string.h>

/* --- the image */

static int64_t *copy_of(const int64_t *array, size_t count) {
    int64_t *made = malloc((count + 1) * sizeof *made);
    if (made && count) memcpy(made, array, count * sizeof *made);
    return made;
}

void oric_before_free(oric_before *image) {
    if (!image) return;
    oric_fn_free(image->fn);
    free(image->op), free(image->mods), free(image->guard), free(image->first), free(image->count), free(image->operand);
    free(image->node_of), free(image->block_of);
    free(image);
}

oric_before *oric_before_new(const oric_function *f) {
    oric_before *image = calloc(1, sizeof *image);
    if (!image) return NULL;
    size_t insns = (size_t)f->instruction_count;
    image->insns = (int32_t)insns;
    image->fn = oric_fn_load(f, 0);
    image->op = copy_of(f->op, insns), image->mods = copy_of(f->mods, insns), image->guard = copy_of(f->guard, insns);
    image->first = copy_of(f->first, insns), image->count = copy_of(f->count, insns);
    image->operand = copy_of(f->operand, (size_t)f->operand_count);
    image->node_of = malloc((insns + 1) * sizeof(int32_t)), image->block_of = malloc((insns + 1) * sizeof(int32_t));
    if (!image->fn || !image->op || !image->mods || !image->guard || !image->first || !image->count || !image->operand ||
        !image->node_of || !image->block_of)
        return oric_before_free(image), NULL;
    memset(image->node_of, 0xff, insns * sizeof(int32_t));
    for (int32_t b = 0; b < image->fn->block_count; b++)
        for (uint32_t k = image->fn->block_first[b]; k < image->fn->block_first[b + 1]; k++)
            image->node_of[image->fn->nodes[k].index] = (int32_t)k, image->block_of[image->fn->nodes[k].index] = b;
    return image;
}

/* --- before the walk */

static int allocate(verifier *v) {
    size_t values = (size_t)v->values, places = (size_t)v->places, carriers = (size_t)v->carriers;
    v->value_seen = calloc(values, sizeof(int32_t)), v->place_seen = calloc(places, sizeof(int32_t));
    v->carrier_seen = calloc(carriers + 1, sizeof(int32_t));
    v->last_version = calloc(values, sizeof(int32_t)), v->content = calloc(places, sizeof(int32_t));
    v->defined = calloc(values, 1);
    v->has_version = calloc(carriers + 1, sizeof(int32_t)), v->has_content = calloc(carriers + 1, sizeof(int32_t));
    v->halves = calloc(carriers + 1, sizeof(half));
    v->touched_values = calloc(values, sizeof(int32_t)), v->touched_places = calloc(places, sizeof(int32_t));
    v->place_of = calloc(carriers + 1, sizeof(int32_t));
    v->next_carrier = calloc(carriers + 1, sizeof(int32_t)), v->touched_carriers = calloc(carriers + 1, sizeof(int32_t));
    v->first_carrier = calloc(values, sizeof(int32_t)), v->first_bit = calloc(places + 1, sizeof(int32_t));
    v->carrier_bit = calloc(carriers + 1, sizeof(int32_t));
    int32_t *grown = realloc(v->value_of, (carriers + 1) * sizeof(int32_t));
    if (grown) v->value_of = grown;
    return grown && v->value_seen && v->place_seen && v->carrier_seen && v->last_version && v->content && v->defined && v->has_version &&
                   v->has_content && v->halves && v->touched_values && v->touched_places && v->place_of && v->next_carrier &&
                   v->touched_carriers && v->first_carrier && v->first_bit && v->carrier_bit
               ? 0
               : -1;
}

static void release(verifier *v) {
    free(v->cells), free(v->bits_shared), free(v->kinds), free(v->stored), free(v->origin), free(v->lost), free(v->value_of), free(v->place_of);
    free(v->repeated), free(v->repeated_first), free(v->everywhere);
    free(v->next_carrier), free(v->first_carrier), free(v->first_bit), free(v->value_bit), free(v->carrier_bit);
    free(v->value_seen), free(v->place_seen), free(v->carrier_seen), free(v->last_version), free(v->content), free(v->defined);
    free(v->has_version), free(v->has_content), free(v->halves), free(v->touched_values), free(v->touched_places), free(v->touched_carriers);
    free(v->first_word), free(v->expected), free(v->leaves);
    free(v->invalid_in), free(v->defined_in), free(v->invalid_out), free(v->defined_out);
}

/* Values that may be read in a block before it defines them get a bit (value_bit is 0, else -1). */
static void find_global(verifier *v, int32_t *seen) {
    const oric_fn *fn = v->was->fn;
    for (int32_t b = 0; b < fn->block_count; b++)
        for (uint32_t n = fn->block_first[b]; n < fn->block_first[b + 1]; n++) {
            const oric_node *node = &fn->nodes[n];
            const oric_access *a = oric_v_accesses(fn, node);
            for (int pass = 0; pass < 2; pass++)
                for (int k = 0; k < node->access_count; k++)
                    for (uint32_t u = a[k].unit; u < a[k].unit + a[k].count; u++) {
                        int full = a[k].flags & ORIC_A_DEF && !(node->flags & ORIC_I_GUARDED);
                        if (!pass && !full && seen[u] != b + 1) v->value_bit[u] = 0;
                        if (pass && full) seen[u] = b + 1;
                    }
        }
}

static int defines_once(const oric_access *a, const int32_t *definitions) {
    for (uint32_t u = a->unit; u < a->unit + a->count; u++)
        if (definitions[u] != 1) return 0;
    return 1;
}

/* A node that is gone because what it makes is repeated where it is needed; else it is lost. `count`: of the values that are repeated;
 * `read`: what the block has read in front of it has the stamp. */
static void note_gone(verifier *v, const oric_node *node, int32_t *count, const int32_t *definitions, const int32_t *read, int32_t stamp) {
    const oric_before *was = v->was;
    const oric_access *a = oric_v_accesses(was->fn, node);
    uint32_t i = node->index;
    if (!(node->flags & ORIC_I_GUARDED) && node->access_count == 1 && defines_once(a, definitions) &&
        oric_v_repeatable(v->code, node->op, was->mods[i], was->count[i], &was->operand[was->first[i]])) {
        for (uint32_t u = a[0].unit; u < a[0].unit + a[0].count; u++) {
            v->origin[u] = (int32_t)i, v->value_bit[u] = 0;
            if (read[u] == stamp) v->everywhere[u] = 1;
            else v->repeated[(*count)++] = (int32_t)u;
        }
        return;
    }
    int32_t value = -1;
    for (int j = 0; j < node->access_count; j++)
        for (uint32_t u = a[j].unit; a[j].flags & ORIC_A_DEF && u < a[j].unit + a[j].count; u++) v->lost[u] = 1, value = (int32_t)u;
    oric_v_problem(v, ORIC_V_DISAPPEARED, node, -1, value, -1);
}

/* `definitions`, `read`: zeroes, by value. */
static void find_gone(verifier *v, const uint8_t *present, int32_t *definitions, int32_t *read) {
    const oric_fn *was = v->was->fn;
    int32_t count = 0;
    for (int32_t k = 0; k < was->insn_count; k++) {
        const oric_access *a = oric_v_accesses(was, &was->nodes[k]);
        for (int j = 0; j < was->nodes[k].access_count; j++)
            for (uint32_t u = a[j].unit; a[j].flags & ORIC_A_DEF && u < a[j].unit + a[j].count; u++) definitions[u]++;
    }
    for (int32_t b = 0; b < was->block_count; b++) {
        v->repeated_first[b] = count;
        for (uint32_t k = was->block_first[b]; k < was->block_first[b + 1]; k++) {
            const oric_node *node = &was->nodes[k];
            const oric_access *a = oric_v_accesses(was, node);
            for (int j = 0; j < node->access_count; j++)
                for (uint32_t u = a[j].unit; !(a[j].flags & ORIC_A_DEF) && u < a[j].unit + a[j].count; u++) read[u] = b + 1;
            if (!present[node->index]) note_gone(v, node, &count, definitions, read, b + 1);
        }
    }
    v->repeated_first[was->block_count] = count;
}

/* The versions that an instruction of the image reads and replaces; `last`: of the values in this block, with its stamp in `seen`. */
static void chain(verifier *v, int32_t at, int32_t *last, int32_t *seen, int32_t stamp, uint32_t *maker) {
    const oric_node *node = &v->was->fn->nodes[at];
    const oric_access *a = oric_v_accesses(v->was->fn, node);
    uint32_t word = v->first_word[at];
    for (int k = 0; k < node->access_count; k++)
        for (uint32_t u = a[k].unit; u < a[k].unit + a[k].count; u++) v->expected[word++] = seen[u] == stamp && v->origin[u] < 0 ? last[u] : 0;
    word = v->first_word[at];
    for (int k = 0; k < node->access_count; k++)
        for (uint32_t u = a[k].unit; u < a[k].unit + a[k].count; u++, word++) {
            if (!(a[k].flags & ORIC_A_DEF)) continue;
            if (seen[u] == stamp) v->leaves[maker[u]] = 0;
            seen[u] = stamp, last[u] = (int32_t)node->index + 1, maker[u] = word, v->leaves[word] = 1;
        }
}

static int find_versions(verifier *v) {
    const oric_fn *fn = v->was->fn;
    size_t values = (size_t)v->values, words = 0;
    v->first_word = malloc(((size_t)fn->insn_count + 1) * sizeof(uint32_t));
    if (!v->first_word) return -1;
    for (int32_t n = 0; n < fn->insn_count; n++) {
        const oric_access *a = oric_v_accesses(fn, &fn->nodes[n]);
        v->first_word[n] = (uint32_t)words;
        for (int k = 0; k < fn->nodes[n].access_count; k++) words += a[k].count;
    }
    v->expected = calloc(words + 1, sizeof(int32_t)), v->leaves = calloc(words + 1, 1);
    int32_t *last = calloc(values, sizeof *last), *seen = calloc(values, sizeof *seen);
    uint32_t *maker = calloc(values, sizeof *maker);
    int failed = !v->expected || !v->leaves || !last || !seen || !maker;
    for (int32_t b = 0; !failed && b < fn->block_count; b++)
        for (uint32_t k = fn->block_first[b]; k < fn->block_first[b + 1]; k++) chain(v, (int32_t)k, last, seen, b + 1, maker);
    free(last), free(seen), free(maker);
    return failed ? -1 : 0;
}

static int find_code(verifier *v) {
    size_t values = (size_t)v->values;
    uint8_t *present = calloc((size_t)v->was->insns + 1, 1);
    int32_t *counts = calloc(values, sizeof *counts), *seen = calloc(values, sizeof *seen), *read = calloc(values, sizeof *read);
    v->kinds = calloc((size_t)v->fn->insn_count + 1, 1);
    v->origin = malloc(values * sizeof(int32_t)), v->value_bit = malloc(values * sizeof(int32_t)), v->lost = calloc(values, 1);
    v->value_of = malloc(((size_t)v->units + 1) * sizeof(int32_t));
    v->repeated = calloc(values, sizeof(int32_t)), v->everywhere = calloc(values, 1);
    v->repeated_first = calloc((size_t)v->was->fn->block_count + 1, sizeof(int32_t));
    int failed = !present || !counts || !seen || !read || !v->kinds || !v->origin || !v->value_bit || !v->lost || !v->value_of ||
                 !v->repeated || !v->repeated_first || !v->everywhere;
    if (!failed) {
        memset(v->origin, 0xff, values * sizeof(int32_t)), memset(v->value_bit, 0xff, values * sizeof(int32_t));
        for (int32_t b = 0; b < v->fn->block_count; b++)
            for (uint32_t n = v->fn->block_first[b]; n < v->fn->block_first[b + 1]; n++) {
                const oric_node *node = &v->fn->nodes[n];
                v->kinds[n] = (uint8_t)oric_v_kind(v, node);
                if (node->index >= (uint32_t)v->was->insns) continue;
                present[node->index] = 1;
                if (!oric_v_original(v, node) || v->was->block_of[node->index] == b) continue;
                oric_v_problem(v, ORIC_V_CHANGED, node, -1, -1, -1);
                v->kinds[n] = OTHER;
            }
        find_global(v, seen);
        find_gone(v, present, counts, read);
        for (int32_t u = 0; u < v->units; u++) v->value_of[u] = u < v->was->fn->unit_count ? u : -1;
        if (v->code->base >= 0) v->value_of[v->code->base] = v->values - 1, v->value_bit[v->values - 1] = 0;
    }
    free(present), free(counts), free(seen), free(read);
    return failed ? -1 : find_versions(v);
}

/* Bits of the carriers of values that live in several blocks, by places. */
static void number_carriers(verifier *v) {
    for (int32_t c = 0; c < v->carriers; c++) {
        v->carrier_bit[c] = -1;
        if (v->value_of[c] < 0 || v->value_bit[v->value_of[c]] < 0) continue;
        v->carrier_bit[c] = v->first_bit[v->place_of[c]]++; /* which of those of its place */
    }
    for (int32_t place = 0, bits = 0; place <= v->places; place++) {
        int32_t count = place < v->places ? v->first_bit[place] : 0;
        v->first_bit[place] = bits;
        bits += count;
    }
    for (int32_t c = 0; c < v->carriers; c++) {
        if (v->carrier_bit[c] < 0) continue;
        v->carrier_bit[c] += v->first_bit[v->place_of[c]];
        v->value_bit[v->value_of[c]] = v->carrier_bit[c];
    }
}

/* Lists of carriers by value, and their bits. The top of the stack, which the code that was did not make, is defined from the start,
 * as are values that are repeated and defined everywhere, and nothing has them then. */
static int begin(verifier *v) {
    memset(v->first_carrier, 0xff, (size_t)v->values * sizeof(int32_t));
    for (int32_t c = 0; c < v->carriers; c++) {
        int32_t value = v->value_of[c];
        if (value >= 0) v->next_carrier[c] = v->first_carrier[value], v->first_carrier[value] = c;
    }
    number_carriers(v);
    v->bits = (uint32_t)v->first_bit[v->places];
    v->words = v->bits / 64 + 1;
    size_t room = ((size_t)v->fn->block_count + 1) * v->words;
    v->invalid_in = calloc(room, 8), v->defined_in = calloc(room, 8);
    v->invalid_out = calloc(v->words, 8), v->defined_out = calloc(v->words, 8);
    if (!v->invalid_in || !v->defined_in || !v->invalid_out || !v->defined_out) return -1;
    for (int32_t c = 0; c < v->carriers; c++) {
        int32_t value = v->value_of[c];
        if (value < 0 || (value != v->values - 1 && !v->everywhere[value])) continue;
        v->defined_in[v->carrier_bit[c] >> 6] |= (uint64_t)1 << (v->carrier_bit[c] & 63);
        v->invalid_in[v->carrier_bit[c] >> 6] |= (uint64_t)1 << (v->carrier_bit[c] & 63);
    }
    return 0;
}

int32_t oric_verify(const oric_before *image, const oric_function *function, const oric_fn *fn, const oric_spill_code *code,
                    oric_problem *problems, int32_t most) {
    verifier v = {.was = image, .f = function, .fn = fn, .code = code, .problems = problems, .most = most};
    v.units = fn->unit_count;
    v.values = image->fn->unit_count + 1;
    v.places = ORIC_PHYSICAL_UNITS + (code->highest - code->lowest) / 4 + 1;
    int failed = find_code(&v) || oric_v_find_cells(&v);
    v.carriers = v.units + v.cell_count + v.bit_count;
    failed = failed || allocate(&v);
    if (!failed) oric_v_name_places(&v);
    failed = failed || begin(&v) || oric_v_follow(&v);
    release(&v);
    return failed ? -1 : v.found;
}
