// since: 90
// Clusters of CTAs and the shared memory of all of them.
#include "asynchronous.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

// A histogram too large for one CTA's share: each has a part of the bins.
KERNEL cluster_histogram(const int *data, int *bins, int n, int each) {
    extern __shared__ int mine[];
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), count = cluster.num_blocks() * each;
    for (int i = threadIdx.x; i < each; i += blockDim.x) mine[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = min(max(data[i], 0), count - 1);
        atomicAdd(cluster.map_shared_rank(mine, bin / each) + bin % each, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < each; i += blockDim.x) atomicAdd(&bins[rank * each + i], mine[i]);
}

// Sum and largest value of a row that the CTAs of a cluster share.
KERNEL __cluster_dims__(4, 1, 1) cluster_reduce(const float *x, float *out, int n) {
    __shared__ float sums[4], highs[4], parts[8];
    auto cluster = cg::this_cluster();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x / 4, rank = cluster.block_rank();
    float sum = 0, high = -1e30f;
    for (int i = rank * blockDim.x + threadIdx.x; i < n; i += 4 * blockDim.x) {
        float v = x[row * n + i];
        sum += v, high = fmaxf(high, v);
    }
    sum = cg::reduce(warp, sum, cg::plus<float>());
    high = cg::reduce(warp, high, cg::greater<float>());
    if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum, parts[4 + warp.meta_group_rank()] = high;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) parts[0] += parts[w], parts[4] = fmaxf(parts[4], parts[4 + w]);
        *cluster.map_shared_rank(&sums[rank], 0) = parts[0];
        *cluster.map_shared_rank(&highs[rank], 0) = parts[4];
    }
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        out[2 * row] = sums[0] + sums[1] + sums[2] + sums[3];
        out[2 * row + 1] = fmaxf(fmaxf(highs[0], highs[1]), fmaxf(highs[2], highs[3]));
    }
}

// Running sums over all CTAs of the cluster: totals of the earlier ones are read from their shared memory.
KERNEL cluster_scan(const int *x, int *out) {
    __shared__ int warps[4], total;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, lane = t % 32, v = x[blockIdx.x * 128 + t];
    for (int d = 1; d < 32; d *= 2) {
        int u = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += u;
    }
    if (lane == 31) warps[t / 32] = v;
    __syncthreads();
    for (int w = 0; w < t / 32; w++) v += warps[w];
    if (t == 127) total = v;
    cluster.sync();
    for (int r = 0; r < cluster.block_rank(); r++) v += *cluster.map_shared_rank(&total, r);
    cluster.sync();  // nobody leaves while its total is read
    out[blockIdx.x * 128 + t] = v;
}

// Smoothing steps on a line that the cluster holds; the edges come from the neighbours. Arrival and wait apart.
KERNEL cluster_stencil(const int *x, int *out, int steps) {
    __shared__ int line[2][64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank(), last = cluster.num_blocks() - 1;
    line[0][t] = x[blockIdx.x * 64 + t];
    cluster.sync();
    for (int s = 0; s < steps; s++) {
        int *now = line[s & 1], v = 2 * now[t];
        v += t > 0 ? now[t - 1] : rank > 0 ? cluster.map_shared_rank(now, rank - 1)[63] : 0;
        v += t < 63 ? now[t + 1] : rank < last ? cluster.map_shared_rank(now, rank + 1)[0] : 0;
        line[~s & 1][t] = v;
        auto token = cluster.barrier_arrive();
        if (s == steps - 1) out[blockIdx.x * 64 + t] = v;
        cluster.barrier_wait(std::move(token));
    }
}

// C = A B with a cluster of 2 x 2 CTAs: each loads one tile of A and of B and reads the others' from their shared memory.
KERNEL __cluster_dims__(2, 2, 1) cluster_gemm(const float *a, const float *b, float *c, int n) {
    __shared__ float as[8][8], bs[8][8];
    auto cluster = cg::this_cluster();
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    int u = blockIdx.x % 2, v = blockIdx.y % 2;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[y][x] = a[row * n + k + u * 8 + x];
        bs[y][x] = b[(k + v * 8 + y) * n + column];
        cluster.sync();
        for (int h = 0; h < 2; h++) {
            const float *there_a = cluster.map_shared_rank(&as[0][0], v * 2 + h), *there_b = cluster.map_shared_rank(&bs[0][0], h * 2 + u);
            for (int m = 0; m < 8; m++) sum += there_a[y * 8 + m] * there_b[m * 8 + x];
        }
        cluster.sync();
    }
    c[row * n + column] = sum;
}

// Values go round the ring by asynchronous stores; each CTA waits for the bytes at its own mbarrier, twice as many stages as turns.
KERNEL cluster_ring(const int *x, int *out) {
    __shared__ __align__(16) int slots[2][4 * 32];
    __shared__ u64 full[2];
    int t = threadIdx.x, me = rank_of(), ranks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    int next = (me + 1) % ranks;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            expect(&full[s], 32 * 16);
        }
    fence_init();
    meet();
    int4 v = ((const int4 *)x)[blockIdx.x * 32 + t];
    int4 sum = v;
    for (int turn = 0; turn < ranks - 1; turn++) {
        int s = turn & 1;
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(there(&slots[s][4 * t], next)), "r"(v.x),
                     "r"(v.y), "r"(v.z), "r"(v.w), "r"(there(&full[s], next)) : "memory");
        wait(&full[s], (turn / 2) & 1);
        v = *(int4 *)&slots[s][4 * t];
        if (t == 0) expect(&full[s], 32 * 16);
        sum = make_int4(sum.x + v.x, sum.y * 3 + v.y, max(sum.z, v.z), sum.w ^ v.w);
        meet();
    }
    ((int4 *)out)[blockIdx.x * 32 + t] = sum;
}
