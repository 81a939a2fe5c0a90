// targets: sm_80 sm_90a sm_100a
// cuda::barrier and cuda::pipeline of libcu++.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Warps hand values on: each adds its own to what the one before it has left; token and wait apart.
extern "C" __global__ void rounds(const int *x, int *out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int cells[2][128];
    int t = threadIdx.x, total = 0;
    if (t == 0)
        init(&bar, blockDim.x);
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

// Two stages between global and shared memory.
extern "C" __global__ void staged(const int *x, int *out, int batches)
{
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

// Half of the threads produce, half consume.
extern "C" __global__ void halves(const int *x, int *out, int batches)
{
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
