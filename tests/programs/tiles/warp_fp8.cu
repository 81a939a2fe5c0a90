// since: 89
// Products of numbers of eight bits by warps.
#include "tiles.cuh"
#define TILED KERNEL __launch_bounds__(128)
WARP_PRODUCT(E4m3, float, "f", 1, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
WARP_PRODUCT(E5m2, float, "f", 1, "m16n8k32.row.col.f32.e5m2.e4m3.f32")

// scale * A * B as E4M3 again, and the largest of all results for the next scale.
TILED product_e4m3(const void *a, int lda, const void *b, int ldb, float scale, uint8_t *c, int ldc, unsigned *largest, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<E4m3, 4> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, 0, p.steps());
    float most = 0;
    p.each([&](int r, int col, float *d) {
        r += p.row, col += p.column;
        if (r >= m || col >= n) return;
        most = fmaxf(most, fmaxf(fabsf(d[0]), col + 1 < n ? fabsf(d[1]) : 0));
        uint16_t pair;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(d[1] * scale), "f"(d[0] * scale));
        if (col + 1 < n) *(uint16_t *)&c[r * ldc + col] = pair;
        else c[r * ldc + col] = (uint8_t)pair;
    });
    unsigned bits = __reduce_max_sync(~0u, __float_as_uint(most));
    if (threadIdx.x % 32 == 0) atomicMax(largest, bits);
}

// A is E5M2 (gradients), B is E4M3; scaled by blocks of 64 of k, whose sums are kept apart as DeepSeek does.
TILED product_e5m2_blocks(const void *a, int lda, const void *b, int ldb, const float *rows, const float *columns, float *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<E5m2, 3> p(memory, {a, lda}, {b, ldb}, m, n, k);
    int steps = p.steps();
    float total[32] = {};
    for (int step = 0; step < steps; step++) {
        p.clear();
        p.run(blockIdx.y * 64, blockIdx.x * 64, step, step + 1);
        int i = 0;
        p.each([&](int r, int col, float *d) {
            float scale = p.row + r < m ? rows[(p.row + r) * steps + step] : 0;
            for (int e = 0; e < 2; e++) total[i + e] += d[e] * scale * (p.column + col + e < n ? columns[(p.column + col + e) * steps + step] : 0);
            i += 2;
        });
    }
    int i = 0;
    p.each([&](int r, int col, float *) { store_pair(c, n, m, n, p.row + r, p.column + col, total[i], total[i + 1]), i += 2; });
}
