// Cooperative groups beyond those of the simulator's suite: tiles of all sizes, groups by label, coalesced groups, copies, sums.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

template <int SIZE> __device__ void tile_sums(const int *a, int *o) {
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int t = threadIdx.x, x = a[t], sum = 0;
    for (int k = 0; k < tile.size(); k++) sum += tile.shfl(x, k) * (k + 1);
    o[t] = sum + tile.meta_group_rank() * 1000 + tile.thread_rank();
    o[t + blockDim.x] = cg::reduce(tile, x, cg::plus<int>());
    o[t + 2 * blockDim.x] = cg::reduce(tile, x, cg::less<int>());
    o[t + 3 * blockDim.x] = cg::inclusive_scan(tile, x);
    o[t + 4 * blockDim.x] = cg::exclusive_scan(tile, x, cg::bit_xor<int>());
    o[t + 5 * blockDim.x] = tile.ballot(x & 1) + 2 * tile.any(x > 90) + 4 * tile.all(x > -90);
    o[t + 6 * blockDim.x] = tile.shfl_xor(x, SIZE / 2) - tile.shfl_down(x, 1) + tile.shfl_up(x, 1) * 3;
}
KERNEL tile_of_two(const int *a, int *o) { tile_sums<2>(a, o); }
KERNEL tile_of_four(const int *a, int *o) { tile_sums<4>(a, o); }
KERNEL tile_of_eight(const int *a, int *o) { tile_sums<8>(a, o); }
KERNEL tile_of_sixteen(const int *a, int *o) { tile_sums<16>(a, o); }
KERNEL tile_of_warp(const int *a, int *o) { tile_sums<32>(a, o); }

KERNEL tiles_wide(const float *a, float *sums, double *scans, int64_t *most) {  // types of more than a register, floats
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    sums[t] = cg::reduce(tile, a[t], cg::plus<float>());
    scans[t] = cg::inclusive_scan(tile, (double)a[t], cg::plus<double>());
    most[t] = cg::reduce(tile, (int64_t)a[t] << 33, cg::greater<int64_t>());
}

KERNEL by_label(const int *labels, int *sizes, int *ranks, int *sums) {
    int t = threadIdx.x;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    auto group = cg::labeled_partition(tile, labels[t]);
    sizes[t] = group.size(), ranks[t] = group.thread_rank();
    sums[t] = cg::reduce(group, t, cg::plus<int>());
}

KERNEL by_truth(const int *a, int *ranks, int *sums) {
    int t = threadIdx.x;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    auto group = cg::binary_partition(tile, a[t] > 0);
    ranks[t] = group.thread_rank() * 100 + group.size();
    sums[t] = cg::reduce(group, a[t], cg::plus<int>()) - cg::exclusive_scan(group, a[t]);
}

// Who comes the same way goes on together: one addition for all of them, places by rank.
KERNEL compact(const int *a, int *o, int *count, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n && a[t] % 3 == 0) {
        auto active = cg::coalesced_threads();
        int base;
        if (active.thread_rank() == 0) base = atomicAdd(count, active.size());
        o[active.shfl(base, 0) + active.thread_rank()] = a[t];
    }
}

KERNEL coalesced_work(const int *a, int *o) {
    int t = threadIdx.x, x = a[t];
    o[t] = -1;
    if (x & 1) {
        auto g = cg::coalesced_threads();
        int sum = cg::reduce(g, x, cg::plus<int>());
        if (x & 2) {
            auto h = cg::coalesced_threads();
            o[t] = sum * 64 + h.size() + (h.shfl_down(x, 1) - x) * 4096;
            h.sync();
        } else {
            auto h = cg::coalesced_threads();
            o[t] = sum * 64 + h.thread_rank() + cg::inclusive_scan(h, 1) * 4096;
        }
        g.sync();
    }
}

KERNEL block_copies(const int *in, int *out, int n) {  // through shared memory, two blocks of data in flight
    extern __shared__ int stage[];
    auto block = cg::this_thread_block();
    int each = blockDim.x, total = n / each;
    cg::memcpy_async(block, stage, in, sizeof(int) * each);
    for (int k = 0; k < total; k++) {
        int *now = stage + (k & 1) * each;
        if (k + 1 < total) {
            cg::memcpy_async(block, stage + (~k & 1) * each, in + (k + 1) * each, sizeof(int) * each);
            cg::wait_prior<1>(block);
        } else cg::wait(block);
        out[k * each + threadIdx.x] = now[each - 1 - threadIdx.x] + k;
        block.sync();
    }
}

KERNEL halves_meet(int *o) {  // parts of a block that meet apart, by arrival and wait
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    auto part = cg::tiled_partition<32>(block);
    s[threadIdx.x] = threadIdx.x * 3;
    auto token = block.barrier_arrive();
    int own = part.meta_group_rank() * 7;
    block.barrier_wait(std::move(token));
    o[threadIdx.x] = s[127 - threadIdx.x] + own;
    part.sync();
}

KERNEL grid_steps(int *a, int *o, int n) {  // prefix sums over a grid, doubling
    auto grid = cg::this_grid();
    int *from = a, *to = o;
    for (int step = 1; step < n; step *= 2) {
        for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) to[i] = from[i] + (i >= step ? from[i - step] : 0);
        grid.sync();
        int *x = from;
        from = to, to = x;
    }
}

KERNEL one_of_many(int *o) {  // elections
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int got = 0;
    cg::invoke_one(warp, [&] { atomicAdd(o, 1); });
    got = cg::invoke_one_broadcast(warp, [&] { return 40 + (int)warp.meta_group_rank(); });
    o[1 + threadIdx.x] = got;
}

KERNEL tile_matches(const int *a, unsigned *any, unsigned *all) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int pred;
    any[threadIdx.x] = tile.match_any(a[threadIdx.x]);
    all[threadIdx.x] = tile.match_all(a[threadIdx.x] >> 8, pred) + pred;
}

// Products of small matrices, a tile of 4 by 4 threads each.
KERNEL tile_products(const float *a, const float *b, float *o) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int at = blockIdx.x * blockDim.x + threadIdx.x, r = tile.thread_rank() / 4, c = tile.thread_rank() % 4;
    float x = a[at], y = b[at], sum = 0;
    for (int k = 0; k < 4; k++) sum += tile.shfl(x, r * 4 + k) * tile.shfl(y, k * 4 + c);
    o[at] = sum;
}
