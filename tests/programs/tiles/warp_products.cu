// since: 80
// Products of matrices by warps: copies in stages, swizzled tiles, ldmatrix, mma.sync, and something done to the result.
#include "tiles.cuh"
#define TILED KERNEL __launch_bounds__(128)

TILED product_f16(const void *a, int lda, const void *b, int ldb, float *c, int m, int n, int k) {  // B is [k][n]
    extern __shared__ __align__(128) char memory[];
    Products<F16, 3, false, true> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    p.each([&](int r, int col, float *d) { store_pair(c, n, m, n, p.row + r, p.column + col, d[0], d[1]); });
}

// relu(A * B + bias), of 16 bits, through shared memory: rows leave in pieces of 16 bytes.
TILED product_bf16_bias_relu(const void *a, int lda, const void *b, int ldb, const float *bias, __nv_bfloat16 *c, int ldc, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<Bf16, 4> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    constexpr int PITCH = 72;
    __nv_bfloat16 *tile = (__nv_bfloat16 *)memory;
    p.each([&](int r, int col, float *d) {
        float x = p.column + col < n ? bias[p.column + col] : 0, y = p.column + col + 1 < n ? bias[p.column + col + 1] : 0;
        *(__nv_bfloat162 *)&tile[r * PITCH + col] = __floats2bfloat162_rn(fmaxf(d[0] + x, 0), fmaxf(d[1] + y, 0));
    });
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 8; i += 128) {
        int r = i / 8, col = i % 8 * 8, left = n - p.column - col;
        if (p.row + r >= m) break;
        __nv_bfloat16 *to = c + (size_t)(p.row + r) * ldc + p.column + col;
        const __nv_bfloat16 *from = &tile[r * PITCH + col];
        if (left >= 8) *(uint4 *)to = *(const uint4 *)from;
        else for (int e = 0; e < left; e++) to[e] = from[e];
    }
}

TILED product_tf32(const void *a, int lda, const void *b, int ldb, const float *c, float *d, float alpha, float beta, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<Tf32, 3> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    p.each([&](int r, int col, float *v) {
        r += p.row, col += p.column;
        for (int e = 0; e < 2; e++)
            if (r < m && col + e < n) d[r * n + col + e] = alpha * v[e] + (beta != 0 ? beta * c[r * n + col + e] : 0);
    });
}

// Of bytes; each row and each column has its scale, the result is rounded to a byte again.
TILED product_s8_scaled(const void *a, int lda, const void *b, int ldb, const float *rows, const float *columns, int8_t *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<S8, 4> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    p.each([&](int r, int col, int *d) {
        r += p.row, col += p.column;
        for (int e = 0; e < 2; e++)
            if (r < m && col + e < n) {
                int v;
                asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(v) : "f"(d[e] * rows[r] * columns[col + e]));
                c[r * n + col + e] = (int8_t)v;
            }
    });
}

// A batch of products of turned matrices, sums of 16 bits: A is [k][m], B [k][n]; matrices of a batch are `step` bytes apart.
TILED product_batched_half(const char *a, int lda, size_t step_a, const char *b, int ldb, size_t step_b, __half *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<Half, 3, true, true> p(memory, {a + blockIdx.z * step_a, lda}, {b + blockIdx.z * step_b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    c += (size_t)blockIdx.z * m * n;
    p.each([&](int r, int col, uint32_t *d) {
        __half2 v = *(__half2 *)d;
        store_pair(c, n, m, n, p.row + r, p.column + col, __low2half(v), __high2half(v));
    });
}

// Two products of one A, as the feed-forward part of a transformer has them: silu(A * B) * (A * C), with C after the n columns of B.
TILED product_gated(const void *a, int lda, const void *b, int ldb, float *o, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    typedef Products<F16, 3> Gated;
    Gated p(memory, {a, lda}, {b, ldb}, m, n, k), q(memory, {a, lda}, {(const char *)b + (size_t)n * ldb, ldb}, m, n, k);
    p.clear(), q.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    q.run(blockIdx.y * 64, blockIdx.x * 64, 0, q.steps());
    #pragma unroll
    for (int i = 0; i < 32; i++) {
        float x = (&p.d[0][0][0])[i], e;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-1.44269504f * x));
        (&p.d[0][0][0])[i] = __fdividef(x, 1 + e) * (&q.d[0][0][0])[i];
    }
    p.each([&](int r, int col, float *d) { store_pair(o, n, m, n, p.row + r, p.column + col, d[0], d[1]); });
}
