// CUB's collectives of blocks and warps, over several types and algorithms.
#include <cub/cub.cuh>

template <typename T, int THREADS, cub::BlockReduceAlgorithm HOW>
__global__ void block_reduce(const T *in, T *out) {
  using Reduce = cub::BlockReduce<T, THREADS, HOW>;
  __shared__ typename Reduce::TempStorage storage;
  T items[4];
  cub::LoadDirectStriped<THREADS>(threadIdx.x, in + blockIdx.x * THREADS * 4, items);
  T sum = Reduce(storage).Sum(items);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
template __global__ void block_reduce<int, 128, cub::BLOCK_REDUCE_RAKING>(const int *, int *);
template __global__ void block_reduce<float, 256, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(const float *, float *);
template __global__ void block_reduce<double, 96, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(const double *, double *);
template __global__ void block_reduce<long long, 64, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(const long long *, long long *);

template <typename T, int THREADS, cub::BlockScanAlgorithm HOW>
__global__ void block_scan(const T *in, T *out) {
  using Load = cub::BlockLoad<T, THREADS, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<T, THREADS, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<T, THREADS, HOW>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } storage;
  T items[4];
  Load(storage.load).Load(in, items);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(out, items);
}
template __global__ void block_scan<int, 128, cub::BLOCK_SCAN_RAKING>(const int *, int *);
template __global__ void block_scan<float, 128, cub::BLOCK_SCAN_WARP_SCANS>(const float *, float *);
template __global__ void block_scan<short, 64, cub::BLOCK_SCAN_RAKING_MEMOIZE>(const short *, short *);

template <typename K, typename V>
__global__ void block_sort(K *keys, V *values) {
  using Sort = cub::BlockRadixSort<K, 128, 4, V>;
  __shared__ typename Sort::TempStorage storage;
  K k[4];
  V v[4];
  cub::LoadDirectBlocked(threadIdx.x, keys, k);
  cub::LoadDirectBlocked(threadIdx.x, values, v);
  Sort(storage).SortDescending(k, v);
  cub::StoreDirectStriped<128>(threadIdx.x, keys, k);
  cub::StoreDirectStriped<128>(threadIdx.x, values, v);
}
template __global__ void block_sort<unsigned, int>(unsigned *, int *);
template __global__ void block_sort<double, short>(double *, short *);

__global__ void histogram(const unsigned char *in, unsigned *out) {
  using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_SORT>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[256];
  unsigned char items[4];
  cub::LoadDirectBlockedVectorized(threadIdx.x, (unsigned char *)in, items);
  Histogram(storage).Histogram(items, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) out[i] = bins[i];
}

template <typename T>
__global__ void warp_things(const T *in, T *out) {
  using Reduce = cub::WarpReduce<T>;
  using Scan = cub::WarpScan<T, 16>;
  using Sort = cub::WarpMergeSort<T, 4, 32>;
  using Exchange = cub::WarpExchange<T, 4>;
  __shared__ typename Reduce::TempStorage reduce[4];
  __shared__ typename Scan::TempStorage scan[8];
  __shared__ typename Sort::TempStorage sort[4];
  __shared__ typename Exchange::TempStorage exchange[4];
  int warp = threadIdx.x / 32;
  T items[4];
  cub::LoadDirectWarpStriped(threadIdx.x, in, items);
  Exchange(exchange[warp]).StripedToBlocked(items, items);
  Sort(sort[warp]).Sort(items, [](const T &a, const T &b) { return a < b; });
  T sum = Reduce(reduce[warp]).HeadSegmentedSum(items[0], threadIdx.x % 5 == 0);
  T before;
  Scan(scan[threadIdx.x / 16]).InclusiveSum(items[1] + sum, before);
  out[threadIdx.x] = before + cub::ShuffleDown<32>(items[2], 3, 31, 0xffffffffu);
}
template __global__ void warp_things<int>(const int *, int *);
template __global__ void warp_things<float>(const float *, float *);
template __global__ void warp_things<unsigned long long>(const unsigned long long *, unsigned long long *);

struct Wide {
  double a;
  int b;
  char c[12];
};
__global__ void iterators(const Wide *in, Wide *out) {
  cub::CacheModifiedInputIterator<cub::LOAD_LDG, Wide> ldg(in);
  cub::CacheModifiedInputIterator<cub::LOAD_CS, Wide> cs(in);
  cub::CacheModifiedOutputIterator<cub::STORE_CG, Wide> cg(out);
  cg[threadIdx.x] = ldg[threadIdx.x];
  cg[threadIdx.x + 1] = cs[threadIdx.x];
  cub::ThreadStore<cub::STORE_WT>((int *)out, cub::ThreadLoad<cub::LOAD_VOLATILE>((int *)in));
}
