/*
 * Products in tensor memory (tcgen05.mma): A in shared or tensor memory, B in shared memory, the accumulator in tensor memory; the
 * instruction descriptor says types and sizes. In strict mode they are done when a commit is waited for.
 */
#include <stdlib.h>

#include "sim/async.h"
#include "sim/tensor_memory.h"

enum { MOST_K = 128, MOST_N = 256 };

/* All that a product needs, as it was when the instruction was issued. */
typedef struct {
    uint64_t a, b;           /* descriptors; for A in tensor memory its address */
    uint32_t d, e, sfa, sfb; /* addresses in tensor memory: accumulator, metadata, scales */
    uint32_t idesc;
    uint32_t disabled[8]; /* lanes that are not written: 128 bits for each CTA */
    unsigned kind, scale; /* V_HMMA ...; the accumulator is multiplied by 2^-scale first */
    uint8_t a_in_tensor, pair, ws, used, blocks;
} tensor_product;

/* Types, sizes and places that follow from the descriptor. */
typedef struct {
    const tensor_product *p;
    uint32_t n, k, kept;  /* of all CTAs together; elements of a row of A */
    uint32_t rows;        /* of one CTA */
    uint32_t parts;       /* into which the columns are cut; each has its own lanes */
    int scattered;        /* 16 rows in each 32 lanes */
    unsigned atype, btype, ctype, keeps;
    sim_packing a_packing, b_packing;
    int sparse, integer;
    double sign_a, sign_b;
} tensor_plan;

static int unknown(sim_warp *w, const char *what)
{
    sim_fault(w, ORIC_FAULT_NO_MEANING, 0, what);
    return 0;
}

/* Element type of a code in the instruction descriptor; 0: there is none. */
static unsigned type_of(unsigned kind, uint32_t code)
{
    static const unsigned floats[8] = {V_F16, V_BF16, V_TF32}, integers[8] = {V_U8, V_S8}, small[8] = {V_E4M3, V_E5M2, 0, V_E2M3, V_E3M2, V_E2M1};
    if (kind == KIND_F16)
        return floats[code];
    if (kind == KIND_I8)
        return integers[code];
    return kind == KIND_MXF4 ? code == 1 ? V_E2M1 : 0 : small[code];
}

/* Units of 16 bytes hold 16 elements of 4 or 6 bits where they are mixed with bytes. */
static sim_packing packing_of(unsigned kind, unsigned type)
{
    uint32_t bits = kind == KIND_I8 ? 8 : type == V_E3M2 || type == V_E2M3 ? 6 : sim_matrix_width(type);
    return (sim_packing){bits, kind == KIND_MXF4 ? 32 : bits < 8 ? 16 : 128 / bits};
}

static int plan_types(sim_warp *w, const tensor_product *p, tensor_plan *plan)
{
    uint32_t i = p->idesc;
    int scaled = p->kind == KIND_MXF8F6F4 || p->kind == KIND_MXF4;
    plan->atype = type_of(p->kind, i >> 7 & 7);
    plan->btype = type_of(p->kind, i >> 10 & 7);
    plan->integer = p->kind == KIND_I8;
    plan->ctype = plan->integer || scaled || (i >> 4 & 3) == 1 ? V_F32 : V_F16;
    if (!plan->atype || !plan->btype || (!scaled && (i >> 4 & 3) != (plan->integer ? 2u : plan->ctype == V_F32 ? 1u : 0u)))
        return unknown(w, "types of an instruction descriptor");
    plan->sparse = (int)(i >> 2 & 1);
    if ((i & 3) || (!scaled && i >> 30) || (scaled && i >> 31))
        return unknown(w, "selector, shift or size of an instruction descriptor");
    plan->sign_a = i >> 13 & 1 ? -1 : 1;
    plan->sign_b = i >> 14 & 1 ? -1 : 1;
    plan->a_packing = packing_of(p->kind, plan->atype);
    plan->b_packing = packing_of(p->kind, plan->btype);
    plan->keeps = plan->ctype == V_F16 ? SIM_KEEPS_F16 : p->kind == KIND_F16 ? SIM_KEEPS_F32 : SIM_KEEPS_FP8;
    uint32_t dense = p->kind == KIND_MXF4 ? 64 : p->kind == KIND_F16 ? 256 / plan->a_packing.bits : 32;
    plan->kept = dense;
    plan->k = plan->sparse ? 2 * dense : dense;
    return 1;
}

/* The data path layouts A to G of the PTX manual. */
static int plan_places(sim_warp *w, const tensor_product *p, tensor_plan *plan)
{
    uint32_t m = p->idesc >> 24 & 31;
    plan->n = (p->idesc >> 17 & 63) * 8;
    m *= 16;
    plan->rows = p->pair ? m / 2 : m;
    plan->parts = 1;
    plan->scattered = 0;
    if (plan->n == 0 || plan->n > MOST_N)
        return unknown(w, "columns of an instruction descriptor");
    if (plan->rows == 128)
        return 1;
    if (plan->sparse || p->blocks)
        return unknown(w, "sparse or scaled product of less than 128 rows");
    if (plan->rows == 64 && !p->pair && !p->ws)
        plan->scattered = 1;
    else if (plan->rows == 64)
        plan->parts = 2;
    else if (plan->rows == 32 && p->ws)
        plan->parts = 4;
    else
        return unknown(w, "rows of an instruction descriptor");
    if (p->a_in_tensor && p->ws)
        return unknown(w, "A of less than 128 rows in tensor memory");
    return plan->n % (plan->parts * 8) == 0 || unknown(w, "columns of an instruction descriptor");
}

/* First lane of 16 rows in a part of the columns. */
static uint32_t lane_of(const tensor_plan *plan, uint32_t row, uint32_t part)
{
    return plan->scattered ? row / 16 * 32 : row + part * plan->rows;
}

static uint32_t cell_value(sim_warp *w, sim_cta *cta, uint32_t base, uint32_t lane, uint32_t column)
{
    uint32_t *cell = sim_tensor_cell(w, cta, (base >> 16 & 127) + lane, (base & 0xffff) + column);
    return cell ? *cell : 0;
}

/* 16 rows of A as codes; 0 after a fault. */
static int read_a(sim_warp *w, const tensor_plan *plan, sim_cta *cta, uint32_t row, uint32_t lane, uint32_t *out)
{
    const tensor_product *p = plan->p;
    if (!p->a_in_tensor) {
        sim_descriptor d;
        if (!sim_descriptor_of_tensor(w, p->a, &d))
            return 0;
        d.cta = cta;
        return sim_read_matrix(w, &d, plan->a_packing, (int)(p->idesc >> 15 & 1), row, MATRIX_ROWS, plan->kept, out);
    }
    uint32_t bits = plan->a_packing.bits, each = 32 / bits;
    if (bits == 6 || (bits == 4 && p->kind != KIND_MXF4))
        return unknown(w, "A of less than 8 bits in tensor memory");
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t k = 0; k < plan->kept; k++) {
            uint32_t word = cell_value(w, cta, (uint32_t)p->a, lane + i, k / each);
            out[i * plan->kept + k] = word >> (k % each * bits) & (0xffffffffu >> (32 - bits));
        }
    return w->sim->fault.code == 0;
}

/* All columns of B as codes: of a pair of CTAs each has half of them. */
static int read_b(sim_warp *w, const tensor_plan *plan, sim_cta *const *ctas, uint32_t count, uint32_t *out)
{
    uint32_t each = plan->n / count;
    for (uint32_t i = 0; i < count; i++) {
        sim_descriptor d;
        if (!sim_descriptor_of_tensor(w, plan->p->b, &d))
            return 0;
        d.cta = ctas[i];
        if (!sim_read_matrix(w, &d, plan->b_packing, (int)(plan->p->idesc >> 16 & 1), 0, each, plan->k, out + i * each * plan->k))
            return 0;
    }
    return 1;
}

/* Metadata of 16 rows, put as the threads of a warp would hold it, and from it the places of the elements. */
static int places(sim_warp *w, const tensor_plan *plan, sim_cta *cta, uint32_t lane, uint16_t at[MATRIX_ROWS][MATRIX_K / 2])
{
    uint32_t metadata[SIM_LANES], width = plan->p->kind == KIND_MXF4 ? 4 : plan->a_packing.bits < 8 ? 8 : plan->a_packing.bits;
    for (uint32_t g = 0; g < 8; g++)
        for (uint32_t t = 0; t < 4; t++) {
            uint32_t high = width > 8 ? t % 2 : t % 2, column = width > 8 ? 0 : t / 2;
            metadata[4 * g + t] = cell_value(w, cta, plan->p->e, lane + g + 8 * high, column);
        }
    return w->sim->fault.code == 0 && sim_sparse_places(metadata, 0, width, plan->k, at);
}

static double scale_value(uint32_t bits, uint32_t e8)
{
    if (!e8)
        return sim_matrix_value(bits & 0x7f, V_E4M3);
    return bits == 255 ? (double)NAN : ldexp(1.0, (int)bits - 127);
}

/* Scale of a row of A or a column of B: a byte of the replica in the lanes where the product is made. */
static double scale_at(sim_warp *w, const tensor_product *p, sim_cta *cta, uint32_t base, uint32_t byte, uint32_t quarter, uint32_t index)
{
    uint32_t word = cell_value(w, cta, base, 32 * quarter + index % 32, index / 32);
    return scale_value(word >> (8 * byte) & 255, p->idesc >> 23 & 1);
}

typedef struct {
    double a[MATRIX_ROWS][MOST_K], column[MOST_K];
    int32_t ai[MATRIX_ROWS][MOST_K];
    uint32_t codes[MATRIX_ROWS * MOST_K];
    uint16_t at[MATRIX_ROWS][MATRIX_K / 2];
    double b[MOST_N][MOST_K];
    int32_t bi[MOST_N][MOST_K];
    uint32_t b_codes[MOST_N * MOST_K];
} tensor_room;

static void decode_b(const tensor_plan *plan, tensor_room *room)
{
    for (uint32_t j = 0; j < plan->n; j++)
        for (uint32_t k = 0; k < plan->k; k++) {
            uint32_t code = room->b_codes[j * plan->k + k];
            if (plan->integer)
                room->bi[j][k] = sim_matrix_integer(code, 8, plan->btype);
            else
                room->b[j][k] = plan->sign_b * sim_matrix_value(code, plan->btype);
        }
}

static void decode_a(sim_warp *w, const tensor_plan *plan, sim_cta *cta, uint32_t row, uint32_t lane, tensor_room *room)
{
    const tensor_product *p = plan->p;
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t k = 0; k < plan->kept; k++) {
            uint32_t code = room->codes[i * plan->kept + k];
            if (plan->integer) {
                room->ai[i][k] = sim_matrix_integer(code, 8, plan->atype);
                continue;
            }
            room->a[i][k] = plan->sign_a * sim_matrix_value(code, plan->atype);
            if (p->blocks)
                room->a[i][k] *= scale_at(w, p, cta, p->sfa, (p->idesc >> 29 & 3) + k * p->blocks / plan->kept, lane / 32, row + i);
        }
}

static uint32_t dot(sim_warp *w, const tensor_plan *plan, const tensor_room *room, uint32_t i, uint32_t j, const double *column, uint32_t old, uint64_t noise)
{
    const tensor_product *p = plan->p;
    const uint16_t *at = plan->sparse ? room->at[i] : NULL;
    (void)w;
    if (plan->integer) {
        int64_t sum = p->used ? (int32_t)old : 0;
        for (uint32_t k = 0; k < plan->kept; k++)
            sum += room->ai[i][k] * room->bi[j][at ? at[k] : k];
        return sim_integer_sum(sum, p->idesc >> 3 & 1);
    }
    double c = plan->ctype == V_F16 ? sim_matrix_value(old & 0xffff, V_F16) : (double)arith_f32(old);
    return sim_dot(room->a[i], column, at, plan->kept, p->used ? ldexp(c, -(int)p->scale) : 0, plan->ctype, plan->keeps, noise);
}

/* 16 rows and the columns of one part. */
static int multiply_rows(sim_warp *w, const tensor_plan *plan, sim_cta *cta, uint32_t index, uint32_t row, uint32_t part, tensor_room *room)
{
    const tensor_product *p = plan->p;
    uint32_t lane = lane_of(plan, row, part), columns = plan->n / plan->parts;
    if (!read_a(w, plan, cta, row, lane, room->codes) || (plan->sparse && !places(w, plan, cta, lane, room->at)))
        return 0;
    decode_a(w, plan, cta, row, lane, room);
    for (uint32_t j = 0; j < columns; j++) {
        uint32_t column = part * columns + j;
        const double *values = room->b[column];
        for (uint32_t k = 0; p->blocks && k < plan->k; k++) {
            uint32_t byte = (p->idesc >> 4 & 3) + k * p->blocks / plan->k;
            room->column[k] = values[k] * scale_at(w, p, cta, p->sfb, byte, lane / 32, j);
        }
        for (uint32_t i = 0; i < MATRIX_ROWS; i++) {
            uint32_t to = (p->d >> 16) + lane + i, *cell = sim_tensor_cell(w, cta, to, (p->d & 0xffff) + j);
            if (!cell)
                return 0;
            uint32_t bit = index * 128 + to;
            if (p->disabled[bit / 32] >> (bit % 32) & 1)
                continue;
            uint64_t noise = sim_matrix_noise(w, index * 128 + row + i, column);
            *cell = dot(w, plan, room, i, column, p->blocks ? room->column : values, *cell, noise);
        }
    }
    return w->sim->fault.code == 0;
}

static void land(sim_warp *w, void *what)
{
    tensor_plan plan = {.p = what};
    sim_cta *ctas[2];
    uint32_t count;
    if (!plan_types(w, what, &plan) || !plan_places(w, what, &plan) || !(count = sim_tensor_ctas(w, plan.p->pair, ctas)))
        return;
    tensor_room *room = malloc(sizeof *room);
    if (!room) {
        sim_fault(w, ORIC_FAULT_NO_MEMORY, 0, "product in tensor memory");
        return;
    }
    int good = read_b(w, &plan, ctas, count, room->b_codes);
    if (good)
        decode_b(&plan, room);
    for (uint32_t i = 0; i < count && good; i++)
        for (uint32_t part = 0; part < plan.parts && good; part++)
            for (uint32_t row = 0; row < plan.rows && good; row += MATRIX_ROWS)
                good = multiply_rows(w, &plan, ctas[i], i, row, part, room);
    free(room);
}

static uint64_t pair_at(const sim_warp *w, sim_opd o)
{
    uint32_t reg = o->reg;
    return o->kind == ORIC_K_UGPR && reg < 254 ? w->UR[reg] | (uint64_t)w->UR[reg + 1] << 32 : 0;
}

/* URe: metadata, and the instruction descriptor in the register behind it. */
static void prepare(sim_warp *w, uint32_t mask, sim_opd URa, sim_opd URt, sim_opd URb, sim_opd URc, sim_opd URe, sim_opd UPp, tensor_product *p)
{
    uint64_t e = pair_at(w, URe);
    p->a_in_tensor = URa->kind == ORIC_K_NONE;
    p->a = p->a_in_tensor ? sim_get_uniform(w, mask, URt) : pair_at(w, URa);
    p->b = pair_at(w, URb);
    p->d = sim_get_uniform(w, mask, URc);
    p->e = (uint32_t)e;
    p->idesc = (uint32_t)(e >> 32);
    p->used = (uint8_t)(sim_getp(w, UPp, SIM_FULL) & 1);
}

SIM_OP(tmem_multiply, sim_opd URa, sim_opd URt, sim_opd URb, sim_opd URc, sim_opd URe, sim_opd URf, sim_opd UPp, int kind, unsigned pair, unsigned ws, unsigned scale)
{
    tensor_product p = {.kind = (unsigned)kind, .pair = (uint8_t)pair, .ws = (uint8_t)ws, .scale = scale};
    prepare(w, mask, URa, URt, URb, URc, URe, UPp, &p);
    if (URf->kind == ORIC_K_UGPR && URf->reg < 248) {
        if (ws)
            unknown(w, "mask of columns that are zero");
        memcpy(p.disabled, &w->UR[URf->reg], pair ? 32 : 16);
    }
    if (!w->sim->fault.code)
        sim_async_add(w, SIM_BY_TENSOR, SIM_FULL, land, &p, sizeof p);
}

SIM_OP(tmem_multiply_scaled, sim_opd URa, sim_opd URt, sim_opd URb, sim_opd URc, sim_opd URe, sim_opd URf, sim_opd UPp, int kind, unsigned pair, unsigned blocks)
{
    tensor_product p = {.kind = (unsigned)kind, .pair = (uint8_t)pair, .blocks = (uint8_t)blocks};
    prepare(w, mask, URa, URt, URb, URc, URe, UPp, &p);
    uint64_t scales = pair_at(w, URf);
    p.sfa = (uint32_t)scales;
    p.sfb = (uint32_t)(scales >> 32);
    if ((p.idesc >> 29 & 3) + blocks > 4 || (p.idesc >> 4 & 3) + blocks > 4)
        unknown(w, "bytes of scales");
    else
        sim_async_add(w, SIM_BY_TENSOR, SIM_FULL, land, &p, sizeof p);
}
