// since: 90
// Tensor copies: tiles of one to five dimensions, swizzles, images as columns, reductions, in pipelines of producers and consumers.
#include "asynchronous.cuh"
#define KERNEL extern "C" __global__ void
#define MAP const __grid_constant__ Map

// Each tile of 32 x 16 is loaded, changed in place and stored; two stages, the next load waits for the store before it.
KERNEL tensor_scale(MAP in, MAP out, float a, int tiles) {
    __shared__ __align__(128) float tile[2][16][32];
    __shared__ u64 full[2];
    int t = threadIdx.x;
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        fence_init();
    }
    __syncthreads();
    auto load = [&](int k) {
        expect(&full[k & 1], sizeof tile[0]);
        tensor_load(tile[k & 1], in, &full[k & 1], k * 32, blockIdx.x * 16);
    };
    if (t == 0) load(0);
    for (int k = 0; k < tiles; k++) {
        if (t == 0 && k + 1 < tiles) {
            wait_bulk_read<0>();
            load(k + 1);
        }
        wait(&full[k & 1], (k / 2) & 1);
        for (int i = t; i < 512; i += blockDim.x) tile[k & 1][i / 32][i % 32] *= a;
        written();
        __syncthreads();
        if (t == 0) {
            tensor_store(out, tile[k & 1], k * 32, blockIdx.x * 16);
            commit_bulk();
        }
    }
    if (t == 0) wait_bulk<0>();
}

// A tile of 32 x 32 numbers in the swizzle of 128 bytes is read by columns; the result is stored through a map, too.
KERNEL tensor_transpose(MAP in, MAP out) {
    __shared__ __align__(1024) uint32_t tile[32 * 32], turned[32 * 32];
    __shared__ u64 bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, sizeof tile);
        tensor_load(tile, in, &bar, blockIdx.x * 32, blockIdx.y * 32);
    }
    __syncthreads();
    wait(&bar, 0);
    for (int i = t; i < 1024; i += blockDim.x) {
        int row = i / 32, column = i % 32;
        turned[row * 32 + (column / 4 ^ row % 8) * 4 + column % 4] = tile[column * 32 + (row / 4 ^ column % 8) * 4 + row % 4];
    }
    written();
    __syncthreads();
    if (t == 0) {
        tensor_store(out, turned, blockIdx.y * 32, blockIdx.x * 32);
        commit_bulk();
        wait_bulk<0>();
    }
}

// Products of halves: one warp loads tiles of A and B in the swizzle of 128 bytes, four multiply; full and empty barriers, three stages.
KERNEL tensor_gemm(MAP a, MAP b, float *c, int n, int k) {
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ u64 full[STAGES], empty[STAGES];
    uint8_t *as = memory, *bs = memory + STAGES * 4096;  // 32 rows of 64 halves each
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], 4);
        }
        fence_init();
    }
    __syncthreads();
    if (warp == 4) {
        if (one_lane())
            for (int i = 0; i < k / 64; i++) {
                int s = i % STAGES;
                wait(&empty[s], (i / STAGES + 1) & 1);
                expect(&full[s], 8192);
                tensor_load(as + s * 4096, a, &full[s], i * 64, row);
                tensor_load(bs + s * 4096, b, &full[s], i * 64, column);
            }
        return;
    }
    float d[2][4] = {};
    for (int i = 0; i < k / 64; i++) {
        int s = i % STAGES;
        wait(&full[s], (i / STAGES) & 1);
        for (int step = 0; step < 4; step++) {
            uint32_t x[4], y[2];
            int line = warp % 2 * 16 + lane % 16, unit = 2 * step + lane / 16;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(sh(as + s * 4096 + line * 128 + (unit ^ line % 8) * 16)) : "memory");
            for (int j = 0; j < 2; j++) {
                line = warp / 2 * 16 + 8 * j + lane % 8, unit = 2 * step + lane / 8 % 2;
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                             : "=r"(y[0]), "=r"(y[1]) : "r"(sh(bs + s * 4096 + line * 128 + (unit ^ line % 8) * 16)) : "memory");
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
        __syncwarp();
        if (lane == 0) arrive(&empty[s]);
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++)
            c[(row + warp % 2 * 16 + lane / 4 + i / 2 * 8) * n + column + warp / 2 * 16 + 8 * j + lane % 4 * 2 + i % 2] = d[j][i];
}

// Seven points of a grid; a tile with its margin is loaded, what lies outside of the tensor is zero. The innermost margin is one of
// 16 bytes: coordinates of rows are multiples of that.
KERNEL tensor_stencil(MAP grid, int *out, int nx, int ny, int nz) {
    __shared__ __align__(128) int tile[6][6][16];
    __shared__ u64 bar;
    int t = threadIdx.x, x0 = blockIdx.x * 8, y0 = blockIdx.y * 4, z0 = blockIdx.z * 4;
    if (t == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, sizeof tile);
        tensor_load(tile, grid, &bar, x0 - 4, y0 - 1, z0 - 1);
    }
    __syncthreads();
    wait(&bar, 0);
    int x = t % 8, y = t / 8 % 4, z = t / 32;
    if (x0 + x < nx && y0 + y < ny && z0 + z < nz) {
        int sum = -6 * tile[z + 1][y + 1][x + 4] + tile[z + 1][y + 1][x + 3] + tile[z + 1][y + 1][x + 5] + tile[z + 1][y][x + 4] + tile[z + 1][y + 2][x + 4];
        out[((z0 + z) * ny + y0 + y) * nx + x0 + x] = sum + tile[z][y + 1][x + 4] + tile[z + 2][y + 1][x + 4];
    }
}

// 3 x 3 convolution of an image with 8 channels (dimensions C, W, H, N): 16 pixels at a time, one load for each place of the filter.
KERNEL tensor_convolution(MAP image, const float *weights, float *out, int width, int height) {
    __shared__ __align__(128) float columns[9][16][8];
    __shared__ u64 bar;
    int t = threadIdx.x, first = blockIdx.x * 16;
    if (t == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, sizeof columns);
        for (short dy = 0; dy < 3; dy++)
            for (short dx = 0; dx < 3; dx++)
                asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};"
                             ::"r"(sh(columns[3 * dy + dx])), "l"(&image), "r"(sh(&bar)), "r"(0), "r"(first % width - 1), "r"(first / width % height - 1),
                             "r"(first / width / height), "h"(dx), "h"(dy) : "memory");
    }
    __syncthreads();
    wait(&bar, 0);
    int pixel = t / 4, channel = t % 4;  // of four that come out
    float sum = 0;
    for (int place = 0; place < 9; place++)
        for (int c = 0; c < 8; c++) sum += columns[place][pixel][c] * weights[(channel * 9 + place) * 8 + c];
    out[(first + pixel) * 4 + channel] = sum;
}

// Blocks of a five-dimensional tensor in another order; sums of four- and one-dimensional ones by the way.
KERNEL tensor_dimensions(MAP five, MAP four, MAP one, int *out) {
    __shared__ __align__(128) int a[2][2][2][2][8];
    __shared__ __align__(128) int b[2][2][2][16];
    __shared__ __align__(128) int c[128];
    __shared__ u64 bar;
    int t = threadIdx.x, k = blockIdx.x;
    if (t == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, sizeof a + sizeof b + sizeof c);
        tensor_load(a, five, &bar, 0, k, 1, 0, k);
        tensor_load(b, four, &bar, 4, k, 0, 1 - k);
        tensor_load(c, one, &bar, 64 * k - 32);
    }
    __syncthreads();
    wait(&bar, 0);
    out[k * 128 + t] = a[t & 1][t >> 1 & 1][t >> 2 & 1][t >> 3 & 1][t >> 4] + 1000 * ((int *)b)[127 - t] + 1000000 * c[t];
}

// Outer products are added into one matrix by all CTAs, tile by tile.
KERNEL tensor_reduce(const float *x, const float *y, MAP sum) {
    __shared__ __align__(128) float tile[16][32];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += blockDim.x) tile[i / 32][i % 32] = x[blockIdx.x * 32 + i % 32] * y[blockIdx.x * 16 + i / 32];
    written();
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(sh(tile)), "l"(&sum), "r"(8), "r"(4)
                     : "memory");
        commit_bulk();
        wait_bulk<0>();
    }
}

#if !defined(__CUDA_ARCH_FEAT_SM120_ALL)
// The CTAs of a cluster of two share the tile of B: each loads half of it for both. 16 x 16 of C for each, integers.
KERNEL __cluster_dims__(2, 1, 1) tensor_multicast(MAP a, MAP b, int *c, int n, int k) {
    __shared__ __align__(128) int as[2][16][16], bs[2][16][16];
    __shared__ u64 full[2];
    int x = threadIdx.x, y = threadIdx.y, rank = rank_of(), t = y * 16 + x, sum = 0;
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        fence_init();
    }
    meet();
    auto load = [&](int i) {
        int s = i & 1;
        expect(&full[s], sizeof as[0] + sizeof bs[0]);
        tensor_load(as[s], a, &full[s], i * 16, blockIdx.x * 16);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(
                         sh(bs[s][8 * rank])), "l"(&b), "r"(sh(&full[s])), "r"(blockIdx.y * 16), "r"(i * 16 + 8 * rank), "h"((short)3) : "memory");
    };
    if (t == 0) load(0);
    for (int i = 0; i < k / 16; i++) {
        int s = i & 1;
        if (t == 0 && i + 1 < k / 16) load(i + 1);
        wait(&full[s], (i / 2) & 1);
        for (int m = 0; m < 16; m++) sum += as[s][y][m] * bs[s][m][x];
        meet();  // both have read the stage
    }
    c[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = sum;
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
// Rows of a table chosen by an index, four for each copy, and summed.
KERNEL tensor_gather(MAP table, const int *which, int *out, int n) {
    __shared__ __align__(128) int rows[2][4][32];
    __shared__ u64 full[2];
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        fence_init();
    }
    __syncthreads();
    auto load = [&](int i) {
        const int *at = which + 4 * i;
        expect(&full[i & 1], sizeof rows[0]);
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(
                         sh(rows[i & 1])), "l"(&table), "r"(sh(&full[i & 1])), "r"(0), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]) : "memory");
    };
    if (t == 0) load(0);
    for (int i = 0; i < n / 4; i++) {
        if (t == 0 && i + 1 < n / 4) load(i + 1);
        wait(&full[i & 1], (i / 2) & 1);
        for (int r = 0; r < 4; r++) sum = sum * 3 + rows[i & 1][r][t];
        __syncthreads();
    }
    out[t] = sum;
}
#endif
