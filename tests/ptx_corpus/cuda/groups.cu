// Cooperative groups: tiles, coalesced groups, partitions, grids, clusters, scans, asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int SIZE, typename T>
__global__ void tiles(const T *in, T *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<SIZE>(block);
  T v = in[block.thread_rank()];
  v = cg::reduce(tile, v, cg::plus<T>());
  v += cg::exclusive_scan(tile, v);
  v += tile.shfl_xor(v, 1) + tile.shfl_down(v, 1) + tile.shfl(v, 0);
  if (tile.any(v > T(3)) && !tile.all(v > T(1))) v += T(__popc(tile.ballot(v == T(0))));
  tile.sync();
  out[block.thread_rank()] = v;
}
template __global__ void tiles<4, int>(const int *, int *);
template __global__ void tiles<32, float>(const float *, float *);
template __global__ void tiles<16, double>(const double *, double *);
template __global__ void tiles<32, unsigned>(const unsigned *, unsigned *);

__global__ void coalesced(int *data) {
  if (data[threadIdx.x] > 3) {
    auto active = cg::coalesced_threads();
    int n = cg::reduce(active, data[threadIdx.x], cg::less<int>());
    auto odd = cg::binary_partition(active, threadIdx.x & 1);
    auto same = cg::labeled_partition(active, data[threadIdx.x] & 3);
    data[threadIdx.x] = n + odd.num_threads() + same.thread_rank();
    cg::invoke_one(active, [&] { atomicAdd(data, n); });
  }
}

__global__ void whole_grid(int *data) {
  auto grid = cg::this_grid();
  for (auto i = grid.thread_rank(); i < 1000; i += grid.num_threads()) data[i] += 1;
  grid.sync();
  if (grid.thread_rank() == 0) data[0] = grid.num_blocks();
  auto token = grid.barrier_arrive();
  data[1] = 3;
  grid.barrier_wait(std::move(token));
}

__global__ void copies(const int4 *in, int4 *out) {
  extern __shared__ int4 buffer[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, buffer, in, sizeof(int4) * block.size());
  cg::wait(block);
  auto warp = cg::tiled_partition<32>(block);
  cg::memcpy_async(warp, (char *)buffer, (const char *)in + 3, 77);
  cg::wait_prior<0>(warp);
  out[threadIdx.x] = buffer[threadIdx.x ^ 1];
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int *data) {
  __shared__ int mine;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = cluster.block_rank();
  cluster.sync();
  int *other = cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
  data[threadIdx.x] = *other + cluster.dim_blocks().x + cluster.query_shared_rank(&mine);
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
}
#endif
