// since: 80
// Products by warps that need many registers, and of weights with four bits.
#include "tiles.cuh"
#define TILED KERNEL __launch_bounds__(128)

// 128 x 128 by four warps: 128 sums a thread. The largest of each row leaves as well.
TILED large_f16(const void *a, int lda, const void *b, int ldb, float *c, int *most, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<F16, 3, false, false, 128, 128> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 128, blockIdx.x * 128, 0, p.steps());
    p.each([&](int r, int col, float *d) {
        store_pair(c, n, m, n, p.row + r, p.column + col, d[0], d[1]);
        float high = p.column + col < n ? d[0] : -INFINITY;
        high = p.column + col + 1 < n ? fmaxf(high, d[1]) : high;
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 1));
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 2));
        int bits = __float_as_int(high);
        if (threadIdx.x % 4 == 0 && p.row + r < m) atomicMax(&most[p.row + r], bits < 0 ? bits ^ 0x7fffffff : bits);
    });
}
// The same with two blocks to a multiprocessor at the least.
KERNEL __launch_bounds__(128, 3) large_bf16_tight(const void *a, int lda, const void *b, int ldb, float *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<Bf16, 3, false, false, 128, 128> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 128, blockIdx.x * 128, 0, p.steps());
    p.each([&](int r, int col, float *d) { store_pair(c, n, m, n, p.row + r, p.column + col, d[0], d[1]); });
}
TILED large_tf32_thrice(const void *a, int lda, const void *b, int ldb, float *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<Tf32Thrice, 3, false, false, 64, 128> p(memory, {a, lda}, {b, ldb}, m, n, k);
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 128, 0, p.steps());
    p.each([&](int r, int col, float *d) { store_pair(c, n, m, n, p.row + r, p.column + col, d[0], d[1]); });
}

// Weights of four bits with scales and zeros for 32 of k, 64 x 64. A word has the eight that a thread needs of 32 of k: what is in
// four bits of both of its halves is a pair. 1024 + x as a half has x in its last bits.
TILED weights_of_four_bits(const char *a, int lda, const char *b, const __half2 *scales, __half *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    constexpr int STAGES = 4, HALF = 4096, BYTES = HALF + 1024;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (k + 31) / 32;
    int down = warp % 2 * 32, across = warp / 2 * 32;
    float d[2][4][4] = {};
    auto fetch = [&](int step) {
        if (step < steps) {
            char *to = memory + step % STAGES * BYTES;
            fetch_tile<64, 4, 128>(to, a, lda, row, m, step * 64, k * 2);
            if (threadIdx.x < 64) {
                bool there = column + threadIdx.x < n;
                copy_piece(to + HALF + 16 * threadIdx.x, there ? b + ((size_t)(column + threadIdx.x) * steps + step) * 16 : b, there ? 16 : 0);
            }
        }
        commit_copies();
    };
    fetch(0), fetch(1), fetch(2);
    for (int step = 0; step < steps; step++) {
        __half2 scale[4];  // and what is taken off
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            int col = column + across + 8 * j + lane / 4;
            scale[j] = col < n ? scales[col * steps + step] : __float2half2_rn(0);
        }
        wait_copies<2>();
        __syncthreads();
        fetch(step + 3);
        const char *at = memory + step % STAGES * BYTES;
        uint32_t x[2][2][4];
        #pragma unroll
        for (int i = 0; i < 4; i++) load_matrices(x[i / 2][i % 2], at + place<4>(down + 16 * (i % 2) + lane % 16, 2 * (i / 2) + lane / 16));
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            uint32_t word = *(const uint32_t *)(at + HALF + (across + 8 * j + lane / 4) * 16 + lane % 4 * 4), y[4];
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t pair;
                asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(pair) : "r"(word >> 8 * (i / 2)), "r"(i % 2 ? 0x00f000f0 : 0x000f000f), "r"(0x64006400));
                __half2 v = i % 2 ? __hfma2(*(__half2 *)&pair, __float2half2_rn(0.0625f), __float2half2_rn(-64)) : __hsub2(*(__half2 *)&pair, __float2half2_rn(1024));
                v = __hmul2(__hsub2(v, __high2half2(scale[j])), __low2half2(scale[j]));
                y[i] = *(uint32_t *)&v;
            }
            #pragma unroll
            for (int i = 0; i < 4; i++) F16::multiply(d[i % 2][j], x[i / 2][i % 2], &y[i / 2 * 2]);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++)
                store_pair(c, n, m, n, row + down + 16 * i + lane / 4 + 8 * h, column + across + 8 * j + lane % 4 * 2, __float2half(d[i][j][2 * h]), __float2half(d[i][j][2 * h + 1]));
}
