// since: 90
// nvcc: -diag-suppress 20054
// Bulk copies (cp.async.bulk) between global memory, shared memory and the shared memory of a cluster.
#include "asynchronous.cuh"
#include <cuda/barrier>
#include <cuda/ptx>
#define KERNEL extern "C" __global__ void

// y = a x + y: three stages, a warp that loads and stores, three that compute, barriers for full and empty stages.
KERNEL bulk_saxpy(float a, const float *x, float *y, int tiles) {
    constexpr int STAGES = 3, N = 96;
    __shared__ __align__(128) float xs[STAGES][N], ys[STAGES][N], os[STAGES][N];
    __shared__ u64 full[STAGES], empty[STAGES], done[STAGES];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], N);
            init(&done[s], N);
        }
        fence_init();
    }
    __syncthreads();
    if (t < 32) {
        if (!one_lane()) return;
        for (int k = 0; k < tiles + 2; k++) {
            if (k < tiles) {
                int s = k % STAGES;
                if (k >= STAGES) wait(&empty[s], (k / STAGES - 1) & 1);
                wait_bulk_read<0>();  // who sees the stage full may overwrite its results
                expect(&full[s], 2 * N * 4);
                bulk_load(xs[s], x + k * N, N * 4, &full[s]);
                bulk_load(ys[s], y + k * N, N * 4, &full[s]);
            }
            if (k >= 2) {
                int j = k - 2, s = j % STAGES;
                wait(&done[s], (j / STAGES) & 1);
                bulk_store(y + j * N, os[s], N * 4);
                commit_bulk();
            }
        }
        wait_bulk<0>();
    } else {
        t -= 32;
        for (int k = 0; k < tiles; k++) {
            int s = k % STAGES;
            wait(&full[s], (k / STAGES) & 1);
            float v = a * xs[s][t] + ys[s][t];
            os[s][t] = v;
            written();
            arrive(&empty[s]);
            arrive(&done[s]);
        }
    }
}

// Every CTA adds its partial sums to the same bins with one reduction, and takes the smallest values likewise.
KERNEL bulk_reduce(const int *x, int *sums, int *lows, int n) {
    __shared__ __align__(16) int part[64], low[64];
    int t = threadIdx.x, sum = 0, least = 1 << 30;
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) sum += x[i], least = min(least, x[i]);
    part[t] = sum, low[t] = least;
    written();
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;" ::"l"(sums), "r"(sh(part)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%0], [%1], 256;" ::"l"(lows), "r"(sh(low)) : "memory");
        commit_bulk();
        wait_bulk<0>();
    }
}

// Blocks change places in the cluster: each sends its own to the CTA across by a copy from shared to shared memory.
KERNEL bulk_exchange(const int *x, int *out) {
    __shared__ __align__(16) int mine[128], theirs[128];
    __shared__ u64 bar;
    int t = threadIdx.x, rank = rank_of(), across;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(across));
    across -= 1 + rank;
    mine[t] = x[blockIdx.x * 128 + t] * 3;
    if (t == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, 512);
    }
    written();
    __syncthreads();
    meet();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(there(theirs, across)), "r"(sh(mine)),
                     "r"(there(&bar, across)) : "memory");
    wait(&bar, 0);
    out[blockIdx.x * 128 + t] = theirs[127 - t];
    meet();
}

// cuda::memcpy_async with a size that is known to be a multiple of 16: the library makes a bulk copy of it.
KERNEL bulk_library(const int4 *x, int *out) {
    __shared__ __align__(16) int4 data[2][64];

    __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&bar[0], 64);
        init(&bar[1], 64);
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int s = k & 1;
        cuda::barrier<cuda::thread_scope_block>::arrival_token token;
        if (t == 0) {
            cuda::device::memcpy_async_tx(data[s], x + k * 64, cuda::aligned_size_t<16>(sizeof data[s]), bar[s]);
            token = cuda::device::barrier_arrive_tx(bar[s], 1, sizeof data[s]);
        } else {
            token = bar[s].arrive();
        }
        bar[s].wait(std::move(token));
        int4 v = data[s][63 - t];
        sum = sum * 3 + v.x + v.y * 5 + (v.z ^ v.w);
        __syncthreads();
    }
    out[t] = sum;
}

#if !defined(__CUDA_ARCH_FEAT_SM120_ALL)
// A vector is loaded once for a cluster of four; each CTA multiplies its rows by it.
KERNEL bulk_multicast(const float *a, const float *v, float *out) {
    __shared__ __align__(128) float vs[64];
    __shared__ u64 bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, 256);
    }
    meet();
    if (t == 0 && rank_of() == 1)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(sh(vs)), "l"(v),
                     "r"(sh(&bar)), "h"((short)15) : "memory");
    wait(&bar, 0);
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += a[(blockIdx.x * 32 + t) * 64 + k] * vs[k];
    out[blockIdx.x * 32 + t] = sum;
    meet();
}

// All CTAs of the cluster add their counts into the memory of the first one.
KERNEL bulk_gather(const unsigned *x, unsigned *out) {
    __shared__ __align__(16) unsigned counts[32], total[32];
    __shared__ u64 bar;
    int t = threadIdx.x, rank = rank_of(), ranks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    counts[t] = x[blockIdx.x * 32 + t];
    total[t] = 1000;
    if (t == 0 && rank == 0) {
        init(&bar, 1);
        fence_init();
        expect(&bar, ranks * 128);
    }
    written();
    __syncwarp();
    meet();
    if (t == 0)
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 128, [%2];" ::"r"(there(total, 0)),
                     "r"(sh(counts)), "r"(there(&bar, 0)) : "memory");
    if (rank == 0) {
        wait(&bar, 0);
        out[blockIdx.x / ranks * 32 + t] = total[t];
    }
    meet();
}
#endif
