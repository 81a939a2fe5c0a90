/*
 * Matrix products: element formats, fragments (how the elements of a matrix lie in the registers of a warp), sums of
 * products. Layouts: PTX ISA 9.0, "Matrix Fragments for mma"; docs/simulator.md says what is exact.
 */
#ifndef ORIC_SIM_MATRIX_H
#define ORIC_SIM_MATRIX_H
#include "sim/ops.h"

#define MATRIX_ROWS 16
#define MATRIX_COLUMNS 8
#define MATRIX_K 256

/* A warp-wide instruction needs all lanes; 0 after a fault. */
int sim_whole_warp(sim_warp *w, uint32_t mask);

/* Bits of an element as it is stored; 0: not a matrix format. */
unsigned sim_matrix_width(unsigned format);
/* The number that an element's bits mean. 4-bit floats stand in bits 0-3. */
double sim_matrix_value(uint32_t bits, unsigned format);
/* Rounds a sum: F32 towards zero, F16 to nearest; overflow is infinity, a NaN is the default one. */
uint32_t sim_matrix_round(double x, unsigned format);

/* Deterministic noise of this launch for result (row, column) of the current instruction; 0: results stay. */
uint64_t sim_matrix_noise(const sim_warp *w, uint32_t row, uint32_t column);
/* c + sum of a[i] * b[at[i]] (at NULL: b[i]) over n terms, rounded once to `format`. */
uint32_t sim_dot(const double *a, const double *b, const uint16_t *at, uint32_t n, double c, unsigned format, unsigned keeps, uint64_t noise);

/* A product of 16 rows and 8 columns of floats, as one warp or one part of a wider product makes it. */
typedef struct {
    double a[MATRIX_ROWS][MATRIX_K / 2], b[MATRIX_COLUMNS][MATRIX_K / 2];
    uint32_t kept;                /* elements of a row of a */
    uint16_t (*at)[MATRIX_K / 2]; /* their places in b; NULL: the same */
    unsigned format, keeps;       /* of the accumulator; see sim_dot */
    uint32_t column;              /* of the first one in the wider product */
} sim_block;

/* d = a * b + c; c and d are the register rows of accumulators (NULL: zeros, or nowhere). */
void sim_accumulate(sim_warp *w, const sim_block *block, uint32_t *const *c, uint32_t *const *d);
/* An element of `width` bits as the integer that its type says; a sum as 32 bits. */
int32_t sim_matrix_integer(uint32_t bits, unsigned width, unsigned type);
uint32_t sim_integer_sum(int64_t sum, unsigned sat);

/* Register rows of an operand of `words` registers; 0 after a fault. */
int sim_rows(sim_warp *w, uint32_t mask, sim_opd o, uint32_t words, uint32_t **out);
/* Element (row, k) of a fragment of `high` (8 or 16) rows whose elements have `width` bits (at most 32). */
uint32_t sim_fragment(uint32_t *const *rows, uint32_t high, unsigned width, uint32_t row, uint32_t k);

/*
 * Where the elements that a sparse matrix keeps belong: at[row][j] is the k of element j of a row. `chunk` is 4 * the bits of
 * metadata of a chunk of `chunk` elements; k is that of the whole matrix. 0: the selector is not one of this shape's.
 */
int sim_sparse_places(const uint32_t *metadata, uint32_t selector, unsigned width, uint32_t k, uint16_t at[MATRIX_ROWS][MATRIX_K / 2]);
#endif
