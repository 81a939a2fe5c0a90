// since: 90
// Products by warps (mma.sync) of tiles that tensor copies bring: what every target since sm_90 has. Also in pairs of blocks.
#include "tiles.cuh"
#define MAP const __grid_constant__ Map
#define FED KERNEL __launch_bounds__(160)

constexpr int TILE = 64 * 128;  // 64 rows of 64 halves
template <int STAGES> struct Fed {
    u64 full[STAGES], empty[STAGES];
    __device__ void set_up(int readers) {
        if (threadIdx.x == 0) {
            for (int s = 0; s < STAGES; s++) init(&full[s], 1), init(&empty[s], readers);
            fence_init();
        }
    }
    // Calls fetch(where, step, barrier) when a stage is free; for one thread.
    template <typename F> __device__ void produce(uint8_t *memory, int steps, F fetch) {
        for (int step = 0; step < steps; step++) {
            int s = step % STAGES;
            wait(&empty[s], (step / STAGES & 1) ^ 1);
            expect(&full[s], 2 * TILE);
            fetch(memory + 2 * TILE * s, step, &full[s]);
        }
    }
    // Four warps multiply what is there: 64 x 64, B is [k][n]. `release` frees a stage.
    template <typename F> __device__ void consume(float (&d)[2][4][4], uint8_t *memory, int steps, F release) {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp % 2 * 32, across = warp / 2 * 32;
        for (int step = 0; step < steps; step++) {
            const uint8_t *at = memory + 2 * TILE * (step % STAGES);
            wait(&full[step % STAGES], step / STAGES & 1);
            #pragma unroll
            for (int part = 0; part < 4; part++) {
                uint32_t x[2][4], y[2][4];
                #pragma unroll
                for (int i = 0; i < 2; i++) {
                    load_matrices(x[i], at + place<8>(down + 16 * i + lane % 16, 2 * part + lane / 16));
                    load_turned(y[i], at + TILE + place<8>(16 * part + lane % 16, (across + 16 * i) / 8 + lane / 16));
                }
                #pragma unroll
                for (int i = 0; i < 2; i++)
                    #pragma unroll
                    for (int j = 0; j < 4; j++) F16::multiply(d[i][j], x[i], &y[j / 2][j % 2 * 2]);
            }
            __syncwarp();
            release(&empty[step % STAGES], lane);
        }
    }
};
template <typename F> __device__ void each_pair(float (&d)[2][4][4], F f) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    #pragma unroll
    for (int i = 0; i < 16; i++)
        f(warp % 2 * 32 + i / 8 * 16 + i % 2 * 8 + lane / 4, warp / 2 * 32 + i / 2 % 4 * 8 + lane % 4 * 2, &d[i / 8][i / 2 % 4][i % 2 * 2]);
}
__device__ void named_sync(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

// The result leaves by a tensor copy. What was launched before must have ended before operands are read.
FED bulk_product(MAP a, MAP b, MAP c, int k) {
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Fed<STAGES> fed;
    int steps = (k + 63) / 64, row = blockIdx.y * 64, column = blockIdx.x * 64;
    fed.set_up(4);
    __syncthreads();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x >= 128) {
        if (one_lane())
            fed.produce(memory, steps, [&](uint8_t *to, int step, u64 *bar) {
                tensor_load(to, a, bar, step * 64, row);
                tensor_load(to + TILE, b, bar, column, step * 64);
            });
        return;
    }
    float d[2][4][4] = {};
    fed.consume(d, memory, steps, [&](u64 *bar, int lane) { if (lane == 0) arrive(bar); });
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    named_sync(1, 128);
    each_pair(d, [&](int r, int col, float *v) {  // columns 0 to 31, then 32 to 63
        *(float2 *)(memory + col / 32 * TILE + place<8>(r, col % 32 / 4) + col % 4 * 4) = make_float2(v[0], v[1]);
    });
    written();
    named_sync(1, 128);
    if (threadIdx.x == 0) {
        tensor_store(c, memory, column, row);
        tensor_store(c, memory + TILE, column + 32, row);
        commit_bulk();
        wait_bulk<0>();
    }
}

// softmax(A * B) of rows with up to 128 elements by a pair of blocks: each has half of the columns and fetches half of A for both.
__device__ inline float of_other(const float *p, uint32_t rank) {
    float v;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there(p, rank)) : "memory");
    return v;
}
FED __cluster_dims__(2, 1, 1) bulk_softmax(MAP a, MAP b, float *c, int m, int n, int k) {
    constexpr int STAGES = 2;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Fed<STAGES> fed;
    __shared__ float most[2][64], sums[2][64];  // of the left and the right warps
    int steps = (k + 63) / 64, rank = rank_of(), row = blockIdx.y * 64, column = rank * 64;
    fed.set_up(8);
    meet();
    float d[2][4][4] = {};
    if (threadIdx.x >= 128) {
        if (one_lane())
            fed.produce(memory, steps, [&](uint8_t *to, int step, u64 *bar) {
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(
                                 sh(to + rank * TILE / 2)), "l"(&a), "r"(sh(bar)), "r"(step * 64), "r"(row + 32 * rank), "h"((uint16_t)3) : "memory");
                tensor_load(to + TILE, b, bar, column, step * 64);
            });
        __syncwarp();
    } else {
        fed.consume(d, memory, steps, [&](u64 *bar, int lane) {
            if (lane < 2) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(bar, lane)) : "memory");
        });
        each_pair(d, [&](int r, int col, float *v) {
            for (int e = 0; e < 2; e++) if (column + col + e >= n) v[e] = -INFINITY;
        });
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            float top = -INFINITY;
            for (int j = 0; j < 8; j++) top = fmaxf(top, d[i / 2][j / 2][i % 2 * 2 + j % 2]);
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            if (threadIdx.x % 4 == 0) most[threadIdx.x / 64][threadIdx.x / 32 % 2 * 32 + i * 8 + threadIdx.x % 32 / 4] = top;
        }
    }
    meet();
    float scale[4], sum[4];
    int line = threadIdx.x / 32 % 2 * 32 + threadIdx.x % 32 / 4;
    if (threadIdx.x < 128)
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = line + 8 * i;
            scale[i] = fmaxf(fmaxf(most[0][r], most[1][r]), fmaxf(of_other(&most[0][r], rank ^ 1), of_other(&most[1][r], rank ^ 1)));
            sum[i] = 0;
            for (int j = 0; j < 8; j++) {
                float &v = d[i / 2][j / 2][i % 2 * 2 + j % 2];
                v = exp2f((v - scale[i]) * 1.44269504f), sum[i] += v;
            }
            sum[i] += __shfl_xor_sync(~0u, sum[i], 1);
            sum[i] += __shfl_xor_sync(~0u, sum[i], 2);
            if (threadIdx.x % 4 == 0) sums[threadIdx.x / 64][r] = sum[i];
        }
    meet();
    if (threadIdx.x < 128) {
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = line + 8 * i;
            scale[i] = 1 / (sums[0][r] + sums[1][r] + of_other(&sums[0][r], rank ^ 1) + of_other(&sums[1][r], rank ^ 1));
        }
        int i = 0;
        each_pair(d, [&](int r, int col, float *v) {
            float s = scale[i / 8 * 2 + i % 2];
            store_pair(c, n, m, n, row + r, column + col, v[0] * s, v[1] * s), i++;
        });
    }
    meet();
}
