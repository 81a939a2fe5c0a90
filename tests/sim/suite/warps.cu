// Threads of a warp together, cooperative groups, CUB's primitives for warps and blocks.
// levels: O0 O1 G
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/cub.cuh>
#include <stdint.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL shuffles(const int *a, const double *d, int *o, double *q) {
    int i = THREAD, x = a[i], *p = o + 8 * i;
    p[0] = __shfl_sync(~0u, x, i * 7), p[1] = __shfl_up_sync(~0u, x, 3), p[2] = __shfl_down_sync(~0u, x, 5), p[3] = __shfl_xor_sync(~0u, x, 9);
    p[4] = __shfl_sync(~0u, x, i & 3, 8), p[5] = __shfl_up_sync(~0u, x, 2, 8), p[6] = __shfl_down_sync(~0u, x, 3, 16), p[7] = __shfl_xor_sync(~0u, x, 1, 4);
    q[i] = __shfl_xor_sync(~0u, d[i], 21);
}

KERNEL votes(const int *a, unsigned *o) {
    int i = THREAD, x = a[i], all;
    unsigned *p = o + 6 * i;
    p[0] = __ballot_sync(~0u, x & 1), p[1] = __any_sync(~0u, x == 5) | __all_sync(~0u, x > -1000) << 1;
    p[2] = __match_any_sync(~0u, x & 7), p[3] = __match_any_sync(~0u, (long long)(x & 3) << 40);
    p[4] = __match_all_sync(~0u, x >> 20, &all), p[5] = all;
}

KERNEL warp_reductions(const int *a, int *o) {  // REDUX from sm_80 on, in diverged halves too
    int i = THREAD, x = a[i], *p = o + 5 * i;
    auto sum = [](unsigned m, int v) {
#if __CUDA_ARCH__ >= 800
        return __reduce_add_sync(m, v);
#else
        int s = 0;
        for (int k = 0; k < 32; k++) { int w = __shfl_sync(m, v, m >> k & 1 ? k : __ffs(m) - 1); s += m >> k & 1 ? w : 0; }
        return s;
#endif
    };
    p[0] = sum(~0u, x);
    unsigned odd = __ballot_sync(~0u, x & 1);
    if (x & 1) p[1] = sum(odd, x * 3), p[2] = __popc(__activemask() & odd);
    else p[1] = sum(~odd, -x), p[2] = -1;
#if __CUDA_ARCH__ >= 800
    p[3] = __reduce_max_sync(~0u, x) ^ __reduce_min_sync(~0u, (unsigned)x);
    p[4] = __reduce_and_sync(~0u, (unsigned)x | 7) ^ __reduce_or_sync(~0u, (unsigned)x & 0xff00) ^ __reduce_xor_sync(~0u, (unsigned)x);
#else
    int high = x;
    unsigned low = x, conj = x | 7, disj = x & 0xff00, exor = x;
    for (int d = 16; d; d >>= 1) {
        high = max(high, __shfl_xor_sync(~0u, high, d)), low = min(low, __shfl_xor_sync(~0u, low, d));
        conj &= __shfl_xor_sync(~0u, conj, d), disj |= __shfl_xor_sync(~0u, disj, d), exor ^= __shfl_xor_sync(~0u, exor, d);
    }
    p[3] = high ^ low;
    p[4] = conj ^ disj ^ exor;
#endif
}

KERNEL bitonic_warp(const int *a, int *o) {
    int i = THREAD, lane = threadIdx.x & 31, x = a[i];
    for (int size = 2; size <= 32; size <<= 1)
        for (int d = size / 2; d; d >>= 1) {
            int y = __shfl_xor_sync(~0u, x, d);
            bool up = (lane & size) == 0, lower = (lane & d) == 0;
            x = lower == up ? min(x, y) : max(x, y);
        }
    o[i] = x;
}

KERNEL segmented_scan(const float *a, const int *flags, float *o) {
    int i = THREAD, lane = threadIdx.x & 31;
    float x = a[i];
    unsigned heads = __ballot_sync(~0u, flags[i]) | 1;
    int start = 31 - __clz(heads & (~0u >> (31 - lane)));
    for (int d = 1; d < 32; d <<= 1) {
        float y = __shfl_up_sync(~0u, x, d);
        if (lane - d >= start) x += y;
    }
    o[i] = x;
}

KERNEL group_tiles(const int *a, int *o) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = block.thread_rank(), x = a[i], *p = o + 8 * i;
    p[0] = cg::reduce(tile, x, cg::plus<int>()), p[1] = cg::reduce(tile, x, cg::greater<int>());
    p[2] = cg::inclusive_scan(tile, x), p[3] = cg::exclusive_scan(tile, x, cg::bit_xor<int>());
    p[4] = tile.shfl(x, 3) + tile.meta_group_rank() * 100 + tile.thread_rank();
    auto wide = cg::tiled_partition<32>(block);
    p[5] = cg::reduce(wide, x, [](int u, int v) { return u * 31 + v - u; }) == 12345;
    p[6] = wide.ballot(x > 0) + tile.any(x == 3);
    p[7] = tile.match_any(x & 1);
    block.sync();
}

KERNEL group_parts(const int *a, int *o) {
    int i = THREAD, x = a[i], *p = o + 4 * i;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto parts = cg::labeled_partition(warp, x & 3);
    p[0] = parts.size() * 100 + parts.thread_rank();
    p[1] = cg::reduce(parts, x, cg::plus<int>());
    auto halves = cg::binary_partition(warp, x > 0);
    p[2] = halves.shfl(x, 0) + halves.num_threads();
    if (x & 4) {
        auto active = cg::coalesced_threads();
        p[3] = active.thread_rank() + 64 * active.size() + active.shfl_down(x & 15, 1) * 4096;
    } else {
        p[3] = -1;
    }
}

KERNEL cub_warp(const int *a, int *o) {
    typedef cub::WarpScan<int> Scan;
    typedef cub::WarpReduce<int> Reduce;
    typedef cub::WarpMergeSort<int, 3, 32> Sort;
    __shared__ union { Scan::TempStorage scan; Reduce::TempStorage reduce; Sort::TempStorage sort; } temp[2];
    int i = threadIdx.x, w = i / 32, x = a[i], sum, total;
    Scan(temp[w].scan).ExclusiveSum(x, sum, total);
    __syncwarp();
    int high = Reduce(temp[w].reduce).Reduce(x, [](int u, int v) { return u > v ? u : v; });
    __syncwarp();
    int keys[3] = {x, x * 7 % 101, -x};
    Sort(temp[w].sort).Sort(keys, [](int u, int v) { return u < v; });
    int *p = o + 6 * i;
    p[0] = sum, p[1] = total, p[2] = high * ((i & 31) == 0), p[3] = keys[0], p[4] = keys[1], p[5] = keys[2];
}
