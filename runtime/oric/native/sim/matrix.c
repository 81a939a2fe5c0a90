/* Element formats, fragments and sums of products of the matrix instructions. */
#include "sim/matrix.h"

int sim_whole_warp(sim_warp *w, uint32_t mask)
{
    if (mask == SIM_FULL)
        return 1;
    sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "warp-wide matrix operation without all lanes");
    return 0;
}

/* Exponent bits, fraction bits and bias; `codes`: 2 infinities and NaNs as IEEE has them, 1 only NaNs (all ones), 0 neither. */
typedef struct {
    unsigned format;
    uint8_t width, exponent, fraction, bias, codes;
} format_row;

static const format_row formats[] = {
    {V_F16, 16, 5, 10, 15, 2}, {V_BF16, 16, 8, 7, 127, 2}, {V_TF32, 32, 8, 10, 127, 2}, {V_E4M3, 8, 4, 3, 7, 1},
    {V_E5M2, 8, 5, 2, 15, 2},  {V_E3M2, 8, 3, 2, 3, 0},    {V_E2M3, 8, 2, 3, 1, 0},     {V_E2M1, 4, 2, 1, 1, 0},
};

static const format_row *format_of(unsigned format)
{
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == format)
            return &formats[i];
    return NULL;
}

unsigned sim_matrix_width(unsigned format)
{
    const format_row *f = format_of(format);
    return f ? f->width : 0;
}

double sim_matrix_value(uint32_t bits, unsigned format)
{
    const format_row *f = format_of(format);
    if (format == V_TF32)
        bits >>= 13; /* the lower fraction bits are not looked at */
    uint32_t fraction = bits & ((1u << f->fraction) - 1), top = (1u << f->exponent) - 1;
    uint32_t exponent = bits >> f->fraction & top, sign = bits >> (f->fraction + f->exponent) & 1;
    double value;
    if (f->codes == 2 && exponent == top)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (f->codes == 1 && exponent == top && fraction == (1u << f->fraction) - 1)
        value = (double)NAN;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - f->bias - f->fraction);
    else
        value = arith_f64((uint64_t)(exponent + 1023 - f->bias) << 52 | (uint64_t)fraction << (52 - f->fraction));
    return sign ? -value : value;
}

uint32_t sim_matrix_round(double x, unsigned format)
{
    if (x != x)
        return format == V_F16 ? ARITH_NAN16 : ARITH_NAN32;
    if (format == V_F16)
        return arith_narrow(x, V_F16, V_RN);
    if (fabs(x) >= 0x1p128)
        return x < 0 ? 0xff800000u : 0x7f800000u;
    return arith_narrow(x, V_F32, V_RZ);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

uint64_t sim_matrix_noise(const sim_warp *w, uint32_t row, uint32_t column)
{
    const uint32_t *ctaid = w->cta->ctaid;
    if (!(w->sim->launch.modes & ORIC_SIM_PERTURB))
        return 0;
    uint64_t x = mix(w->sim->launch.seed + 0x9e3779b97f4a7c15ull);
    x = mix(x ^ w->pc);
    x = mix(x ^ (ctaid[0] | (uint64_t)ctaid[1] << 32));
    x = mix(x ^ (ctaid[2] | (uint64_t)w->id << 32));
    return mix(x ^ (row | (uint64_t)column << 32)) | 1;
}

/*
 * Hardware cuts terms that lie far below the largest one. With S the sum of all magnitudes and q its power of two less `keeps`
 * bits, a term that is a multiple of q is never cut, nor is a partial sum of such terms: then the result is exact. Else each of the n
 * others moves it by at most q; 2 q more are for sums that are made in parts. A sum in F16 is kept wider and rounded in parts only.
 */
static double perturbed(double x, const double *a, const double *b, const uint16_t *at, uint32_t n, double c, unsigned keeps, uint64_t noise)
{
    double magnitude = fabs(c), q, tolerance = 0;
    for (uint32_t i = 0; i < n; i++)
        magnitude += fabs(a[i] * b[at ? at[i] : i]);
    if (magnitude == 0)
        return x;
    q = ldexp(1.0, ilogb(magnitude) - (int)keeps);
    if (fmod(c, q) != 0)
        tolerance += q;
    for (uint32_t i = 0; i < n; i++)
        if (fmod(a[i] * b[at ? at[i] : i], q) != 0)
            tolerance += q;
    if (tolerance == 0)
        return x;
    double unit = (double)(int64_t)noise * 0x1p-63;
    return x + unit * (keeps == SIM_KEEPS_F16 ? 2 * q : tolerance + 2 * q);
}

uint32_t sim_dot(const double *a, const double *b, const uint16_t *at, uint32_t n, double c, unsigned format, unsigned keeps, uint64_t noise)
{
    double sum = c, rest = 0;
    for (uint32_t i = 0; i < n; i++) { /* the rounding errors of the sum are summed beside it */
        double product = a[i] * b[at ? at[i] : i], next = sum + product, part = next - sum;
        rest += (sum - (next - part)) + (product - part);
        sum = next;
    }
    if (isfinite(sum)) {
        sum = rest != 0 ? arith_add_odd(sum, rest) : sum;
        if (noise)
            sum = perturbed(sum, a, b, at, n, c, keeps, noise);
    }
    return sim_matrix_round(sum, format);
}

int sim_rows(sim_warp *w, uint32_t mask, sim_opd o, uint32_t words, uint32_t **out)
{
    for (uint32_t i = 0; i < words; i++)
        out[i] = sim_row(w, mask, o, i);
    return w->sim->fault.code == 0;
}

uint32_t sim_fragment(uint32_t *const *rows, uint32_t high, unsigned width, uint32_t row, uint32_t k)
{
    uint32_t each = 32 / width, block = k / (4 * each), lane = row % 8 * 4 + k / each % 4;
    const uint32_t *from = rows[high == 16 ? row / 8 + 2 * block : block];
    uint32_t word = from ? from[lane] : 0;
    return width == 32 ? word : word >> (k % each * width) & ((1u << width) - 1);
}

/*
 * Metadata of a row: 4 bits for each chunk, two indices of 2 bits. A chunk of 16- and 8-bit elements has four of them and keeps two;
 * one of 4-bit elements has four pairs and keeps two; one of TF32 has two numbers of two halves each and keeps one. Rows of 16 bits come
 * from the thread of each quad that the selector names, rows of 32 bits from two threads, rows of 64 bits from all four.
 */
static uint64_t row_metadata(const uint32_t *metadata, uint32_t selector, unsigned width, uint32_t bits, uint32_t row)
{
    const uint32_t *quad = metadata + row % 8 * 4;
    uint32_t high = row / 8;
    if (bits == 16)
        return quad[selector] >> (16 * high) & 0xffff;
    if (bits == 64)
        return quad[high] | (uint64_t)quad[2 + high] << 32;
    if (width <= 8)
        return quad[2 * selector + high];
    uint32_t low = quad[2 * selector] >> (16 * high) & 0xffff;
    return low | (quad[2 * selector + 1] >> (16 * high) & 0xffff) << 16;
}

int sim_sparse_places(const uint32_t *metadata, uint32_t selector, unsigned width, uint32_t k, uint16_t at[MATRIX_ROWS][MATRIX_K / 2])
{
    uint32_t chunk = width == 32 ? 2 : width == 4 ? 8 : 4, bits = 4 * k / chunk;
    if (selector >= (bits == 16 ? 4u : bits == 32 ? 2u : 1u))
        return 0;
    for (uint32_t row = 0; row < MATRIX_ROWS; row++) {
        uint64_t from = row_metadata(metadata, selector, width, bits, row);
        for (uint32_t j = 0; j < k / 2; j++) {
            uint32_t group = j / (chunk / 2), place;
            uint32_t indices = (uint32_t)(from >> (4 * group)) & 15;
            if (width == 32)
                place = indices >> 1 & 1; /* halves 0 and 1, or 2 and 3 */
            else if (width == 4)
                place = (indices >> (2 * (j / 2 % 2)) & 3) * 2 + j % 2;
            else
                place = indices >> (2 * (j % 2)) & 3;
            at[row][j] = (uint16_t)(group * chunk + place);
        }
    }
    return 1;
}

/* Accumulator element (row, column) of a 16 x 8 matrix. */
static double accumulator(uint32_t *const *rows, uint32_t row, uint32_t column, unsigned format)
{
    uint32_t lane = row % 8 * 4 + column / 2;
    const uint32_t *from = format == V_F16 ? rows[row / 8] : rows[row / 8 * 2 + column % 2];
    uint32_t word = from ? from[lane] : 0;
    return format == V_F16 ? sim_matrix_value(word >> (16 * (column % 2)) & 0xffff, V_F16) : (double)arith_f32(word);
}

static void put_accumulator(uint32_t *const *rows, uint32_t row, uint32_t column, unsigned format, uint32_t bits)
{
    uint32_t lane = row % 8 * 4 + column / 2;
    uint32_t *to = format == V_F16 ? rows[row / 8] : rows[row / 8 * 2 + column % 2];
    if (!to)
        return;
    if (format == V_F16)
        to[lane] = column % 2 ? (to[lane] & 0xffff) | bits << 16 : (to[lane] & 0xffff0000u) | bits;
    else
        to[lane] = bits;
}

void sim_accumulate(sim_warp *w, const sim_block *block, uint32_t *const *c, uint32_t *const *d)
{
    uint32_t out[MATRIX_ROWS][MATRIX_COLUMNS];
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++) {
            double from = accumulator(c, i, j, block->format);
            uint64_t noise = sim_matrix_noise(w, i, j + block->column);
            out[i][j] = sim_dot(block->a[i], block->b[j], block->at ? block->at[i] : NULL, block->kept, from, block->format, block->keeps, noise);
        }
    for (uint32_t i = 0; i < MATRIX_ROWS; i++)
        for (uint32_t j = 0; j < MATRIX_COLUMNS; j++)
            put_accumulator(d, i, j, block->format, out[i][j]);
}

/* An element of `width` bits as the integer that its type says. */
int32_t sim_matrix_integer(uint32_t bits, unsigned width, unsigned type)
{
    int is_signed = type == V_S8 || type == V_S4;
    return is_signed && bits >> (width - 1) ? (int32_t)bits - (1 << width) : (int32_t)bits;
}

uint32_t sim_integer_sum(int64_t sum, unsigned sat)
{
    if (sat && sum > INT32_MAX)
        return INT32_MAX;
    if (sat && sum < INT32_MIN)
        return (uint32_t)INT32_MIN;
    return (uint32_t)sum;
}
