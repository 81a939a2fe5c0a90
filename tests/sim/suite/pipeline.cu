// nvcc: -diag-suppress 20054
// Copies of threads from global into shared memory: cp.async, pipelines of CUDA's headers and of libcu++, mbarriers.
#include "asynchronous.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

KERNEL primitive_gemm(const float *a, const float *b, float *c, int n) {  // __pipeline_* with two stages, 16 x 16 tiles
    __shared__ __align__(16) float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16, column = blockIdx.x * 16;
    auto fetch = [&](int stage, int k) {
        __pipeline_memcpy_async(&as[stage][y][x], &a[(row + y) * n + k + x], 4);
        if (x < 4) __pipeline_memcpy_async(&bs[stage][y][4 * x], &b[(k + y) * n + column + 4 * x], 16);
        __pipeline_commit();
    };
    float sum = 0;
    fetch(0, 0);
    for (int k = 0, stage = 0; k < n; k += 16, stage ^= 1) {
        if (k + 16 < n) fetch(stage ^ 1, k + 16);
        else __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int m = 0; m < 16; m++) sum += as[stage][y][m] * bs[stage][m][x];
        __syncthreads();
    }
    c[(row + y) * n + column + x] = sum;
}

// Warps hand values on: each adds its own to what the one before it has left; token and wait apart.
KERNEL barrier_rounds(const int *x, int *out, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int cells[2][128];
    int t = threadIdx.x, total = 0;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int r = 0; r < n; r++) {
        cells[r & 1][t] = x[r * blockDim.x + t];
        auto token = bar.arrive();
        total = total * 3 + r;
        bar.wait(std::move(token));
        total += cells[r & 1][(t + 37) % blockDim.x];
    }
    out[t] = total;
}

// Two stages between global and shared memory, all threads produce and consume.
KERNEL unified_pipeline(const int *x, int *out, int batches) {
    constexpr int STAGES = 2;
    __shared__ int buffer[STAGES][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0, next = 0;
    for (int b = 0; b < batches; b++) {
        for (; next < batches && next < b + STAGES; next++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[next % STAGES], x + next * block.size(), cuda::aligned_size_t<4>(sizeof(int) * block.size()), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += buffer[b % STAGES][(threadIdx.x * 5 + 1) % block.size()] * (b + 1);
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// One warp produces, three consume; three stages of structures of 16 bytes.
KERNEL partitioned_pipeline(const int4 *x, int *out, int batches) {
    constexpr int STAGES = 3;
    __shared__ int4 buffer[STAGES][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipeline = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int b = 0; b < batches; b++) {
            pipeline.producer_acquire();
            for (int i = threadIdx.x; i < 96; i += 32)
                cuda::memcpy_async(&buffer[b % STAGES][i], &x[b * 96 + i], cuda::aligned_size_t<16>(16), pipeline);
            pipeline.producer_commit();
        }
    } else {
        int t = threadIdx.x - 32, sum = 0;
        for (int b = 0; b < batches; b++) {
            pipeline.consumer_wait();
            int4 v = buffer[b % STAGES][95 - t];
            sum = sum * 3 + v.x + 5 * v.y + 7 * v.z + 9 * v.w;
            pipeline.consumer_release();
        }
        out[t] = sum;
    }
}

// Half of the threads produce, half consume, by two barriers for each stage.
KERNEL barrier_halves(const int *x, int *out, int batches) {
    __shared__ int buffer[2][64];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2], filled[2];
    int t = threadIdx.x;
    if (t < 2) {
        init(&ready[t], 128);
        init(&filled[t], 128);
    }
    __syncthreads();
    if (t < 64) {
        for (int b = 0; b < batches; b++) {
            ready[b & 1].arrive_and_wait();
            cuda::memcpy_async(&buffer[b & 1][t], x + b * 64 + t, cuda::aligned_size_t<4>(4), filled[b & 1]);
            (void)filled[b & 1].arrive();
        }
    } else {
        int sum = 0;
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        for (int b = 0; b < batches; b++) {
            filled[b & 1].arrive_and_wait();
            sum = sum * 3 + buffer[b & 1][127 - t];
            (void)ready[b & 1].arrive();
        }
        out[t - 64] = sum;
    }
}

// cooperative_groups::memcpy_async of a block and of its tiles, with wait_prior.
KERNEL group_copies(const int *x, const int *y, int *out) {
    __shared__ __align__(16) int first[2][128], second[4][32];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int t = threadIdx.x;
    cg::memcpy_async(block, first[0], x, 128 * 4);
    cg::memcpy_async(block, first[1], 128, x + 128, 200);  // elements, not bytes
    cg::wait_prior<1>(block);
    int sum = first[0][127 - t];
    cg::wait(block);
    sum += 3 * first[1][t ^ 5];
    cg::memcpy_async(tile, second[tile.meta_group_rank()], y + 32 * tile.meta_group_rank(), cuda::aligned_size_t<16>(128));
    cg::wait(tile);
    out[t] = sum + 5 * second[tile.meta_group_rank()][31 - tile.thread_rank()];
}

#if __CUDA_ARCH__ >= 800
// Four stages of 64 elements; out[i] = sum over tiles of x * (tile + 1).
KERNEL copy_stages(const int4 *x, int *out, int tiles) {
    __shared__ int4 buffer[4][64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 3; k++) {
        if (k < tiles) copy_async<16>(&buffer[k][t], x + k * 64 + t);
        commit_copies();
    }
    for (int k = 0; k < tiles; k++) {
        if (k + 3 < tiles) copy_async<16>(&buffer[(k + 3) % 4][t], x + (k + 3) * 64 + t);
        commit_copies();
        wait_copies<3>();
        __syncthreads();
        int4 v = buffer[k % 4][63 - t];
        sum += (v.x + 3 * v.y + 5 * v.z + 7 * v.w) * (k + 1);
        __syncthreads();
    }
    out[t] = sum;
}

// 5 x 5 sums; what lies outside of the image is zero because its copy has no bytes.
KERNEL copy_stencil(const int *image, int *out, int width, int height) {
    __shared__ int tile[12][20];
    int x = blockIdx.x * 16, y = blockIdx.y * 8, t = threadIdx.y * 16 + threadIdx.x;
    for (int i = t; i < 12 * 20; i += 128) {
        int u = x + i % 20 - 2, v = y + i / 20 - 2;
        bool inside = u >= 0 && u < width && v >= 0 && v < height;
        copy_async<4>(&tile[i / 20][i % 20], image + (inside ? v * width + u : 0), inside);
    }
    wait_all_copies();
    __syncthreads();
    int sum = 0;
    for (int v = 0; v < 5; v++)
        for (int u = 0; u < 5; u++) sum += tile[threadIdx.y + v][threadIdx.x + u] * (1 + u + 5 * v);
    if (x + threadIdx.x < width && y + threadIdx.y < height) out[(y + threadIdx.y) * width + x + threadIdx.x] = sum;
}

__device__ bool over(u64 *bar, int phase) {
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(bar)), "r"(phase) : "memory");
    return done;
}
// Warp 0 copies, the mbarrier hears of the end of its copies, warps 1 and 2 read.
KERNEL copy_mbarrier(const int *x, int *out, int rounds) {
    __shared__ int data[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x, lane = t & 31;
    if (t == 0)
        for (int i = 0; i < 2; i++) {
            init(&full[i], 32);
            init(&empty[i], 64);
        }
    __syncthreads();
    if (t < 32) {
        for (int r = 0; r < rounds; r++) {
            int s = r & 1;
            if (r >= 2) while (!over(&empty[s], (r / 2 - 1) & 1)) {}
            copy_async<4>(&data[s][lane], x + r * 32 + lane);
            asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(sh(&full[s])) : "memory");
        }
        wait_all_copies();
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            int s = r & 1;
            while (!over(&full[s], (r / 2) & 1)) {}
            sum += data[s][(lane + t / 32) & 31] * (r + 1);
            arrive(&empty[s]);
        }
        out[t - 32] = sum;
    }
}

// Rows gathered by an index, eight bytes at a time, while the row before is summed.
KERNEL copy_gather(const int2 *table, const int *which, int *out, int n) {
    __shared__ int2 rows[2][32];
    int lane = threadIdx.x, total = 0;
    copy_async<8>(&rows[0][lane], table + which[0] * 32 + lane);
    commit_copies();
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) copy_async<8>(&rows[(i + 1) & 1][lane], table + which[i + 1] * 32 + lane);
        commit_copies();
        wait_copies<1>();
        __syncwarp();
        int2 v = rows[i & 1][31 - lane];
        total = total * 3 + v.x - v.y;
        __syncwarp();
    }
    out[lane] = total;
}
#endif
