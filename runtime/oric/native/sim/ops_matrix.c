/* Products of a warp: HMMA, IMMA, BMMA, DMMA, QMMA, OMMA, with sparse A and with scales of blocks. */
#include "sim/matrix.h"

typedef struct {
    unsigned shape;
    uint16_t high, k;
} shape_row;

static const shape_row shapes[] = {
    {V_1684, 16, 4},   {V_1688, 16, 8},   {V_16816, 16, 16}, {V_16832, 16, 32},   {V_16864, 16, 64},
    {V_168128, 16, 128}, {V_8816, 8, 16}, {V_8832, 8, 32},   {V_88128, 8, 128}, {V_168256, 16, 256},
    {V_8x8x4, 8, 4},   {V_884, 8, 4},     {V_16x8x4, 16, 4}, {V_16x8x8, 16, 8},   {V_16x8x16, 16, 16},
};

static const shape_row *shape_of(sim_warp *w, uint32_t mask, unsigned shape)
{
    if (!sim_whole_warp(w, mask))
        return NULL;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].shape == shape)
            return &shapes[i];
    sim_fault(w, ORIC_FAULT_NO_MEANING, 0, "shape of a matrix product");
    return NULL;
}

/* A product of floats: its operands, how its elements are stored, what is sparse and what is scaled. */
typedef struct {
    sim_opd Rd, Ra, Rb, Rc;
    uint32_t k;        /* of B */
    uint32_t kept;     /* elements of a row of A: k, or half of it */
    unsigned width;    /* bits in which an element of A or B is stored */
    unsigned ctype, atype, btype, keeps;
    uint16_t (*at)[MATRIX_K / 2]; /* NULL: dense */
    const double (*scale_a)[4];   /* of a row and a block of k; NULL: none */
    const double (*scale_b)[4];
    uint32_t blocks;
} float_product;

static double element(const float_product *p, uint32_t *const *rows, uint32_t high, uint32_t row, uint32_t k, unsigned format)
{
    uint32_t bits = sim_fragment(rows, high, p->width, row, k);
    return sim_matrix_value(p->width == 8 && format == V_E2M1 ? bits >> 2 : bits, format); /* in the middle of its byte */
}

static double negated(sim_opd o, double x) { return o->flags & ORIC_F_NEG ? -x : x; }

static uint32_t words_of(uint32_t high, uint32_t k, unsigned width) { return (high * k * width + 1023) / 1024; }

static void multiply(sim_warp *w, const float_product *p)
{
    uint32_t *d[4], *a[16], *b[16], *c[4], words = p->ctype == V_F16 ? 2 : 4;
    static const double one[4] = {1, 1, 1, 1};
    sim_block block = {.kept = p->kept, .at = p->at, .format = p->ctype, .keeps = p->keeps};
    if (!sim_rows(w, SIM_FULL, p->Ra, words_of(16, p->kept, p->width), a) || !sim_rows(w, SIM_FULL, p->Rb, words_of(8, p->k, p->width), b))
        return;
    if (!sim_rows(w, SIM_FULL, p->Rc, words, c) || !sim_rows(w, SIM_FULL, p->Rd, words, d))
        return;
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t k = 0; k < p->kept; k++) {
            const double *scale = p->scale_a ? p->scale_a[i] : one;
            block.a[i][k] = negated(p->Ra, element(p, a, 16, i, k, p->atype)) * scale[k * p->blocks / p->kept];
        }
    for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
        for (uint32_t k = 0; k < p->k; k++) {
            const double *scale = p->scale_b ? p->scale_b[j] : one;
            block.b[j][k] = negated(p->Rb, element(p, b, 8, j, k, p->btype)) * scale[k * p->blocks / p->k];
        }
    sim_accumulate(w, &block, c, d);
}

static unsigned keeps(unsigned ctype, unsigned bits) { return ctype == V_F16 && bits > SIM_KEEPS_F16 ? SIM_KEEPS_F16 : bits; }

SIM_OP(multiply_floats, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned ctype, unsigned atype, unsigned btype, unsigned width, unsigned bits)
{
    const shape_row *s = shape_of(w, mask, shape);
    if (!s)
        return;
    float_product p = {Rd, Ra, Rb, Rc, s->k, s->k, width ? width : sim_matrix_width(atype), ctype, atype, btype, keeps(ctype, bits), NULL, NULL, NULL, 1};
    multiply(w, &p);
}

/* The places of the elements of a sparse A; 0 after a fault. */
static int places(sim_warp *w, sim_opd Re, uint32_t sel, unsigned width, uint32_t k, uint16_t at[MATRIX_ROWS][MATRIX_K / 2])
{
    static const uint32_t zeros[SIM_LANES];
    uint32_t *rows[1];
    if (!sim_rows(w, SIM_FULL, Re, 1, rows))
        return 0;
    if (sim_sparse_places(rows[0] ? rows[0] : zeros, sel, width, k, at))
        return 1;
    sim_fault(w, ORIC_FAULT_NO_MEANING, 0, "selector of metadata");
    return 0;
}

SIM_OP(multiply_sparse_floats, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Re, sim_opd sel, unsigned shape, unsigned ctype, unsigned atype, unsigned btype, unsigned width, unsigned bits)
{
    uint16_t at[MATRIX_ROWS][MATRIX_K / 2];
    const shape_row *s = shape_of(w, mask, shape);
    unsigned stored = width ? width : sim_matrix_width(atype);
    if (!s || !places(w, Re, (uint32_t)sel->value, stored, s->k, at))
        return;
    float_product p = {Rd, Ra, Rb, Rc, s->k, s->k / 2, stored, ctype, atype, btype, keeps(ctype, bits), at, NULL, NULL, 1};
    multiply(w, &p);
}

static double scale_value(uint32_t bits, unsigned type)
{
    if (type == V_UE4M3)
        return sim_matrix_value(bits & 0x7f, V_E4M3);
    return bits == 255 ? (double)NAN : ldexp(1.0, (int)bits - 127);
}

/*
 * Scales of the rows of A and the columns of B: `blocks` bytes of a register of one thread of each quad (for A: two threads, rows g
 * and g + 8). Which thread and which byte: `chosen` = byte of A, thread pair of A << 2, byte of B << 3, thread of B << 5.
 */
static int scales(sim_warp *w, sim_opd Rs, uint32_t index, sim_opd Rt, sim_opd URe, unsigned type, uint32_t blocks, double a[MATRIX_ROWS][4], double b[MATRIX_COLUMNS][4])
{
    uint32_t *rs[2], *rt[1], chosen = sim_get_uniform(w, SIM_FULL, URe);
    if (!sim_rows(w, SIM_FULL, Rs, index + 1, rs) || !sim_rows(w, SIM_FULL, Rt, 1, rt))
        return 0;
    uint32_t byte_a = chosen & 3, pair_a = chosen >> 2 & 1, byte_b = chosen >> 3 & 3, thread_b = chosen >> 5 & 3;
    if (chosen >> 7 || byte_a + blocks > 4 || byte_b + blocks > 4) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, 0, "bytes of scales");
        return 0;
    }
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t n = 0; n < blocks; n++) {
            uint32_t word = rs[index] ? rs[index][i % 8 * 4 + 2 * pair_a + i / 8] : 0;
            a[i][n] = scale_value(word >> (8 * (byte_a + n)) & 255, type);
        }
    for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
        for (uint32_t n = 0; n < blocks; n++)
            b[j][n] = scale_value((rt[0] ? rt[0][j * 4 + thread_b] : 0) >> (8 * (byte_b + n)) & 255, type);
    return 1;
}

SIM_OP(multiply_scaled, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Rs, sim_opd Rt, sim_opd URe, unsigned k, unsigned atype, unsigned btype, unsigned width, unsigned stype, unsigned blocks)
{
    double a[MATRIX_ROWS][4], b[MATRIX_COLUMNS][4];
    if (!sim_whole_warp(w, mask) || !scales(w, Rs, 0, Rt, URe, stype, blocks, a, b))
        return;
    float_product p = {Rd, Ra, Rb, Rc, k, k, width, V_F32, atype, btype, SIM_KEEPS_FP8, NULL, (const double(*)[4])a, (const double(*)[4])b, blocks};
    multiply(w, &p);
}

/* The pair Rs is the metadata and the scales of A. */
SIM_OP(multiply_sparse_scaled, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Rs, sim_opd Rt, sim_opd URe, sim_opd sel, unsigned k, unsigned atype, unsigned btype, unsigned width, unsigned stype, unsigned blocks)
{
    uint16_t at[MATRIX_ROWS][MATRIX_K / 2];
    double a[MATRIX_ROWS][4], b[MATRIX_COLUMNS][4];
    if (!sim_whole_warp(w, mask) || !scales(w, Rs, 1, Rt, URe, stype, blocks, a, b))
        return;
    if (!places(w, Rs, (uint32_t)sel->value, width, k, at))
        return;
    float_product p = {Rd, Ra, Rb, Rc, k, k / 2, width, V_F32, atype, btype, SIM_KEEPS_FP8, at, (const double(*)[4])a, (const double(*)[4])b, blocks};
    multiply(w, &p);
}

static uint32_t *const *pick(uint32_t *const *rows, uint32_t row, uint32_t column) { return &rows[row / 8 * 2 + column % 2]; }

static void multiply_integer(sim_warp *w, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, const shape_row *s, uint16_t (*at)[MATRIX_K / 2], unsigned atype, unsigned btype, unsigned sat)
{
    unsigned width = atype == V_U4 || atype == V_S4 ? 4 : 8;
    uint32_t kept = at ? s->k / 2 : s->k, *a[16], *b[16], *c[4], *d[4], out[MATRIX_ROWS][MATRIX_COLUMNS];
    int32_t columns[MATRIX_COLUMNS][MATRIX_K / 2];
    if (!sim_rows(w, SIM_FULL, Ra, words_of(s->high, kept, width), a) || !sim_rows(w, SIM_FULL, Rb, words_of(8, s->k, width), b))
        return;
    if (!sim_rows(w, SIM_FULL, Rc, s->high / 4, c) || !sim_rows(w, SIM_FULL, Rd, s->high / 4, d))
        return;
    for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
        for (uint32_t k = 0; k < s->k; k++)
            columns[j][k] = sim_matrix_integer(sim_fragment(b, 8, width, j, k), width, btype);
    for (uint32_t i = 0; i < s->high; i++) {
        int32_t row[MATRIX_K / 2];
        for (uint32_t k = 0; k < kept; k++)
            row[k] = sim_matrix_integer(sim_fragment(a, s->high, width, i, k), width, atype);
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++) {
            const uint32_t *from = *pick(c, i, j);
            int64_t sum = from ? (int32_t)from[i % 8 * 4 + j / 2] : 0;
            for (uint32_t k = 0; k < kept; k++)
                sum += row[k] * columns[j][at ? at[i][k] : k];
            out[i][j] = sim_integer_sum(sum, sat);
        }
    }
    for (uint32_t i = 0; i < s->high; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
            if (*pick(d, i, j))
                (*pick(d, i, j))[i % 8 * 4 + j / 2] = out[i][j];
}

SIM_OP(multiply_integers, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned atype, unsigned btype, unsigned sat)
{
    const shape_row *s = shape_of(w, mask, shape);
    if (s)
        multiply_integer(w, Rd, Ra, Rb, Rc, s, NULL, atype, btype, sat);
}

SIM_OP(multiply_sparse_integers, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, sim_opd Re, unsigned sel, unsigned shape, unsigned atype, unsigned btype, unsigned sat)
{
    uint16_t at[MATRIX_ROWS][MATRIX_K / 2];
    const shape_row *s = shape_of(w, mask, shape);
    if (!s)
        return;
    if (s->high != 16)
        sim_fault(w, ORIC_FAULT_NO_MEANING, 0, "sparse product of 8 rows");
    else if (places(w, Re, sel, atype == V_U4 || atype == V_S4 ? 4 : 8, s->k, at))
        multiply_integer(w, Rd, Ra, Rb, Rc, s, at, atype, btype, sat);
}

SIM_OP(multiply_bits, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned op)
{
    const shape_row *s = shape_of(w, mask, shape);
    uint32_t *a[4], *b[2], *c[4], *d[4], out[MATRIX_ROWS][MATRIX_COLUMNS];
    if (!s || !sim_rows(w, mask, Ra, words_of(s->high, s->k, 1), a) || !sim_rows(w, mask, Rb, s->k / 128, b))
        return;
    if (!sim_rows(w, mask, Rc, s->high / 4, c) || !sim_rows(w, mask, Rd, s->high / 4, d))
        return;
    for (uint32_t i = 0; i < s->high; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++) {
            const uint32_t *from = *pick(c, i, j);
            uint32_t sum = from ? from[i % 8 * 4 + j / 2] : 0;
            for (uint32_t k = 0; k < s->k; k += 32) { /* a register at a time: its element is 32 bits of k */
                uint32_t x = sim_fragment(a, s->high, 32, i, k / 32), y = sim_fragment(b, 8, 32, j, k / 32);
                sum += (uint32_t)__builtin_popcount(op == V_AND ? x & y : x ^ y);
            }
            out[i][j] = sum;
        }
    for (uint32_t i = 0; i < s->high; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
            if (*pick(d, i, j))
                (*pick(d, i, j))[i % 8 * 4 + j / 2] = out[i][j];
}

/* The double in registers 2 * index and 2 * index + 1 of a lane. */
static double pair_value(uint32_t *const *rows, uint32_t index, uint32_t lane, sim_opd o)
{
    uint64_t bits = rows[2 * index] ? rows[2 * index][lane] | (uint64_t)rows[2 * index + 1][lane] << 32 : 0;
    if (o->flags & ORIC_F_ABS)
        bits &= ~(1ull << 63);
    return arith_f64(o->flags & ORIC_F_NEG ? bits ^ 1ull << 63 : bits);
}

/* Doubles: fused multiply-adds in the order of k. */
SIM_OP(multiply_doubles, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned shape, unsigned rnd)
{
    const shape_row *s = shape_of(w, mask, shape);
    uint32_t *a[16], *b[8], *c[8], *d[8];
    uint64_t out[MATRIX_ROWS][MATRIX_COLUMNS];
    if (!s || !sim_rows(w, mask, Ra, s->high * s->k / 16, a) || !sim_rows(w, mask, Rb, s->k / 2, b))
        return;
    if (!sim_rows(w, mask, Rc, s->high / 2, c) || !sim_rows(w, mask, Rd, s->high / 2, d))
        return;
    uint32_t halves = s->high / 8;
    for (uint32_t i = 0; i < s->high; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++) {
            double sum = pair_value(c, i / 8 * 2 + j % 2, i % 8 * 4 + j / 2, Rc);
            for (uint32_t k = 0; k < s->k; k++) {
                double x = pair_value(a, k / 4 * halves + i / 8, i % 8 * 4 + k % 4, Ra);
                sum = dfma(x, pair_value(b, k / 4, j * 4 + k % 4, Rb), sum, rnd);
            }
            out[i][j] = arith_bits64(sum);
        }
    for (uint32_t i = 0; i < s->high; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++) {
            uint32_t index = i / 8 * 2 + j % 2, lane = i % 8 * 4 + j / 2;
            if (d[2 * index]) {
                d[2 * index][lane] = (uint32_t)out[i][j];
                d[2 * index + 1][lane] = (uint32_t)(out[i][j] >> 32);
            }
        }
}

/*
 * HMMA.884: each quad pair (lanes 4q to 4q + 3 and 16 + 4q to 19 + 4q, thread numbers 0 to 7) has its own 8 x 8 x 4 product, a step
 * makes two registers of it. F32: step s has registers 2s and 2s + 1 of the eight; F16: step s has columns 4s to 4s + 3 of the thread's row.
 */
typedef struct {
    const uint32_t *low, *high;
    double sign;
    unsigned by_k; /* thread t holds k = t % 4 and four rows, not row t and four k */
} quad_operand;

static uint32_t quad_lane(uint32_t pair, uint32_t thread) { return 4 * pair + thread % 4 + thread / 4 * 16; }

static double quad_element(const quad_operand *o, uint32_t pair, uint32_t row, uint32_t k)
{
    uint32_t thread = o->by_k ? k + row / 4 * 4 : row, value = o->by_k ? row % 4 : k;
    const uint32_t *from = value < 2 ? o->low : o->high;
    uint32_t word = from ? from[quad_lane(pair, thread)] : 0;
    return o->sign * sim_matrix_value(word >> (16 * (value % 2)) & 0xffff, V_F16);
}

static uint32_t quad_sum(sim_warp *w, const quad_operand *a, const quad_operand *b, uint32_t pair, uint32_t m, uint32_t n, double c, unsigned format)
{
    double x[4], y[4];
    for (uint32_t k = 0; k < 4; k++) {
        x[k] = quad_element(a, pair, m, k);
        y[k] = quad_element(b, pair, n, k);
    }
    return sim_dot(x, y, NULL, 4, c, format, format == V_F16 ? SIM_KEEPS_F16 : SIM_KEEPS_F32, sim_matrix_noise(w, m + 8 * pair, n));
}

static double quad_half(uint32_t *const *c, uint32_t lane, uint32_t n)
{
    const uint32_t *from = c[n % 4 / 2];
    return sim_matrix_value((from ? from[lane] : 0) >> (16 * (n % 2)) & 0xffff, V_F16);
}

SIM_OP(multiply_quads, sim_opd Rd, sim_opd Ra, sim_opd Rb, sim_opd Rc, unsigned types, unsigned step, unsigned acol, unsigned bcol)
{
    uint32_t *ra[2], *rb[2], *c[2], *d[2], out[2][SIM_LANES], s = step == V_STEP1 ? 1 : step == V_STEP2 ? 2 : step == V_STEP3 ? 3 : 0;
    if (!sim_whole_warp(w, mask) || !sim_rows(w, mask, Ra, 2, ra) || !sim_rows(w, mask, Rb, 2, rb))
        return;
    if (!sim_rows(w, mask, Rc, 2, c) || !sim_rows(w, mask, Rd, 2, d))
        return;
    quad_operand a = {ra[0], ra[1], negated(Ra, 1), acol == V_COL}, b = {rb[0], rb[1], negated(Rb, 1), bcol == V_ROW};
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint32_t pair = l / 4 % 4, t = l % 4 + l / 16 * 4;
        for (uint32_t r = 0; r < 2; r++) {
            if (types == V_F16_F16) {
                uint32_t n = 4 * s + 2 * r;
                out[r][l] = quad_sum(w, &a, &b, pair, t, n, quad_half(c, l, n), V_F16);
                out[r][l] |= quad_sum(w, &a, &b, pair, t, n + 1, quad_half(c, l, n + 1), V_F16) << 16;
                continue;
            }
            uint32_t m = t % 2 + t / 4 * 4 + s % 2 * 2, n = r + t / 2 % 2 * 2 + s / 2 * 4;
            double from = types == V_F32_F16 ? quad_half(c, quad_lane(pair, m), n) : c[r] ? (double)arith_f32(c[r][l]) : 0;
            out[r][l] = quad_sum(w, &a, &b, pair, m, n, from, V_F32);
        }
    }
    for (uint32_t r = 0; r < 2; r++)
        if (d[r])
            memcpy(d[r], out[r], sizeof out[r]);
}
