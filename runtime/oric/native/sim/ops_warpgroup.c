/*
 * Products of a group of four warps (wgmma): each warp makes its 16 of the 64 rows. They are executed at once; strict mode keeps the
 * results back until the wait. Descriptors: four uniform registers, A's pair and B's pair.
 */
#include "sim/descriptor.h"
#include "tables/registers.h"

typedef struct {
    sim_opd Rd, Rc, Ra, URa, URb, accumulate, Re; /* Re NULL: dense */
    uint32_t n, k, selector;
    unsigned ctype, atype, btype, bits; /* bits of an element */
    unsigned tnspa, tnspb, nega, negb, keeps, sat;
} group_product;

static uint64_t uniform_pair(const sim_warp *w, sim_opd o, uint32_t index)
{
    uint32_t reg = o->reg + index;
    return reg + 1 < 255 ? w->UR[reg] | (uint64_t)w->UR[reg + 1] << 32 : 0;
}

/* This warp's 16 rows of A as codes [row][k]; 0 after a fault. */
static int read_a(sim_warp *w, const group_product *p, uint32_t kept, uint32_t *out)
{
    sim_descriptor d;
    uint32_t *rows[8];
    if (p->Ra->kind == ORIC_K_NONE) {
        sim_packing packing = {p->bits, 128 / p->bits};
        if (!sim_descriptor_of_warpgroup(w, uniform_pair(w, p->URa, 0), &d))
            return 0;
        return sim_read_matrix(w, &d, packing, (int)p->tnspa, w->id % 4 * MATRIX_ROWS, MATRIX_ROWS, kept, out);
    }
    if (!sim_rows(w, SIM_FULL, p->Ra, 4, rows))
        return 0;
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t k = 0; k < kept; k++)
            out[i * kept + k] = sim_fragment(rows, 16, p->bits, i, k);
    return 1;
}

/* Eight columns of B. */
static int read_b(sim_warp *w, const group_product *p, uint32_t column, uint32_t *out)
{
    sim_descriptor d;
    sim_packing packing = {p->bits, 128 / p->bits};
    sim_opd from = p->Ra->kind == ORIC_K_NONE ? p->URa : p->URb;
    if (!sim_descriptor_of_warpgroup(w, uniform_pair(w, from, 2), &d))
        return 0;
    return sim_read_matrix(w, &d, packing, (int)p->tnspb, column, MATRIX_COLUMNS, p->k, out);
}

/* Places of the elements of a sparse A; *at becomes NULL for a dense one. 0 after a fault. */
static int places(sim_warp *w, const group_product *p, uint16_t room[MATRIX_ROWS][MATRIX_K / 2], uint16_t (**at)[MATRIX_K / 2])
{
    static const uint32_t zeros[SIM_LANES];
    uint32_t *rows[1];
    *at = NULL;
    if (!p->Re)
        return 1;
    *at = room;
    if (!sim_rows(w, SIM_FULL, p->Re, 1, rows))
        return 0;
    if (sim_sparse_places(rows[0] ? rows[0] : zeros, p->selector, p->bits, p->k, room))
        return 1;
    sim_fault(w, ORIC_FAULT_NO_MEANING, 0, "selector of metadata");
    return 0;
}

/* Register rows of the accumulators of eight columns; RZ, or no accumulation: zeros. */
static int accumulators(sim_warp *w, const group_product *p, uint32_t column, uint32_t **c, uint32_t **d)
{
    uint32_t words = p->ctype == V_F16 ? 2 : 4, first = column / MATRIX_COLUMNS * words;
    int used = (int)(sim_getp(w, p->accumulate, SIM_FULL) & 1);
    for (uint32_t i = 0; i < words; i++) {
        c[i] = used ? sim_row(w, SIM_FULL, p->Rc, first + i) : NULL;
        d[i] = sim_row(w, SIM_FULL, p->Rd, first + i);
    }
    return w->sim->fault.code == 0;
}

static void multiply_floats(sim_warp *w, const group_product *p)
{
    uint16_t room[MATRIX_ROWS][MATRIX_K / 2];
    uint32_t a[MATRIX_ROWS * MATRIX_K / 2], b[MATRIX_COLUMNS * MATRIX_K / 2], kept = p->Re ? p->k / 2 : p->k, *c[4], *d[4];
    sim_block block = {.kept = kept, .format = p->ctype, .keeps = p->ctype == V_F16 ? SIM_KEEPS_F16 : p->keeps};
    if (!places(w, p, room, &block.at) || !read_a(w, p, kept, a))
        return;
    double sign_a = p->nega || (p->Ra->flags & ORIC_F_NEG) ? -1 : 1, sign_b = p->negb ? -1 : 1;
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t k = 0; k < kept; k++)
            block.a[i][k] = sign_a * sim_matrix_value(a[i * kept + k], p->atype);
    for (; block.column < p->n; block.column += MATRIX_COLUMNS) {
        if (!read_b(w, p, block.column, b) || !accumulators(w, p, block.column, c, d))
            return;
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
            for (uint32_t k = 0; k < p->k; k++)
                block.b[j][k] = sign_b * sim_matrix_value(b[j * p->k + k], p->btype);
        sim_accumulate(w, &block, c, d);
    }
}

/* Sums of eight columns of integers; of single bits (32 of them in an element): the bits that both have. */
static void integer_block(const group_product *p, const uint32_t *a, const uint32_t *b, uint32_t kept, uint16_t (*at)[MATRIX_K / 2], uint32_t *const *c, uint32_t *const *d)
{
    uint32_t out[MATRIX_ROWS][MATRIX_COLUMNS];
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++) {
            const uint32_t *from = c[i / 8 * 2 + j % 2];
            int64_t sum = from ? (int32_t)from[i % 8 * 4 + j / 2] : 0;
            for (uint32_t k = 0; k < kept; k++) {
                uint32_t x = a[i * kept + k], y = b[j * p->k + (at ? at[i][k] : k)];
                sum += p->bits == 32 ? __builtin_popcount(x & y) : sim_matrix_integer(x, 8, p->atype) * sim_matrix_integer(y, 8, p->btype);
            }
            out[i][j] = sim_integer_sum(sum, p->sat);
        }
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
            if (d[i / 8 * 2 + j % 2])
                d[i / 8 * 2 + j % 2][i % 8 * 4 + j / 2] = out[i][j];
}

static void multiply_integers(sim_warp *w, const group_product *p)
{
    uint16_t room[MATRIX_ROWS][MATRIX_K / 2], (*at)[MATRIX_K / 2];
    uint32_t a[MATRIX_ROWS * MATRIX_K / 2], b[MATRIX_COLUMNS * MATRIX_K / 2], kept = p->Re ? p->k / 2 : p->k, *c[4], *d[4];
    if (!places(w, p, room, &at) || !read_a(w, p, kept, a))
        return;
    for (uint32_t column = 0; column < p->n; column += MATRIX_COLUMNS) {
        if (!read_b(w, p, column, b) || !accumulators(w, p, column, c, d))
            return;
        integer_block(p, a, b, kept, at, c, d);
    }
}

static int usable(sim_warp *w, uint32_t mask, uint32_t n)
{
    if (n == 0)
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "shape of a matrix product");
    return n && sim_whole_warp(w, mask);
}

/* Whether a product has a result: one without only ends a group, and its descriptors mean nothing. */
static int is_wanted(sim_opd Rd) { return Rd->reg != ORIC_INSN_RZ; }

SIM_OP(group_floats, sim_opd Rd, sim_opd Rc, sim_opd Ra, sim_opd URa, sim_opd URb, sim_opd UPp, sim_opd Re, uint32_t selector, unsigned n, unsigned k, unsigned ctype, unsigned atype, unsigned btype, unsigned tnspa, unsigned tnspb, unsigned nega, unsigned negb, unsigned keeps)
{
    group_product p = {Rd, Rc, Ra, URa, URb, UPp, Re, n, k, selector, ctype, atype, btype, sim_matrix_width(atype), tnspa, tnspb, nega, negb, keeps, 0};
    if (usable(w, mask, n) && is_wanted(Rd))
        multiply_floats(w, &p);
}

SIM_OP(group_integers, sim_opd Rd, sim_opd Rc, sim_opd Ra, sim_opd URa, sim_opd URb, sim_opd UPp, sim_opd Re, uint32_t selector, unsigned n, unsigned k, unsigned atype, unsigned btype, unsigned sat)
{
    group_product p = {Rd, Rc, Ra, URa, URb, UPp, Re, n, k, selector, V_F32, atype, btype, 8, 0, 0, 0, 0, 0, sat};
    if (usable(w, mask, n) && is_wanted(Rd))
        multiply_integers(w, &p);
}

SIM_OP(group_bits, sim_opd Rd, sim_opd Rc, sim_opd Ra, sim_opd URa, sim_opd URb, sim_opd UPp, unsigned n, unsigned k)
{
    group_product p = {Rd, Rc, Ra, URa, URb, UPp, NULL, n, k / 32, 0, V_F32, 0, 0, 32, 0, 0, 0, 0, 0, 0};
    if (usable(w, mask, n) && is_wanted(Rd))
        multiply_integers(w, &p);
}
