// CUB's primitives for blocks and warps that blocks.cu and warps.cu leave out.
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include <stdint.h>
#define KERNEL extern "C" __global__ void

KERNEL block_exchange(const short *a, short *o, short *p) {
    typedef cub::BlockExchange<short, 96, 5> Exchange;
    __shared__ Exchange::TempStorage storage;
    short v[5], w[5];
    int rank[5];
    for (int k = 0; k < 5; k++) v[k] = a[k * 96 + threadIdx.x];
    Exchange(storage).StripedToBlocked(v, w);
    for (int k = 0; k < 5; k++) o[threadIdx.x * 5 + k] = w[k];
    __syncthreads();
    for (int k = 0; k < 5; k++) rank[k] = (threadIdx.x * 5 + k) * 7 % 480;
    Exchange(storage).ScatterToStriped(w, rank);
    for (int k = 0; k < 5; k++) p[k * 96 + threadIdx.x] = w[k];
}

KERNEL block_run_lengths(const int *a, int *values, int *lengths, int *total) {
    typedef cub::BlockDiscontinuity<int, 128> Heads;
    typedef cub::BlockScan<int, 128> Scan;
    __shared__ union { Heads::TempStorage heads; Scan::TempStorage scan; } storage;
    __shared__ int starts[257];
    int v[2] = {a[threadIdx.x * 2], a[threadIdx.x * 2 + 1]}, head[2], at[2], count;
    Heads(storage.heads).FlagHeads(head, v, cuda::std::not_equal_to<>());
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(head, at, count);
    for (int k = 0; k < 2; k++)
        if (head[k]) starts[at[k]] = threadIdx.x * 2 + k, values[at[k]] = v[k];
    if (threadIdx.x == 0) starts[count] = 256, *total = count;
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += 128) lengths[k] = starts[k + 1] - starts[k];
}

KERNEL block_radix_keys(const unsigned long long *a, unsigned long long *o, const float *b, float *p, unsigned char *c) {
    typedef cub::BlockRadixSort<unsigned long long, 64, 3> Wide;
    typedef cub::BlockRadixSort<float, 64, 2, cub::NullType, 6> Floats;
    typedef cub::BlockRadixSort<unsigned char, 64, 4> Bytes;
    __shared__ union { Wide::TempStorage wide; Floats::TempStorage floats; Bytes::TempStorage bytes; } storage;
    unsigned long long key[3];
    for (int k = 0; k < 3; k++) key[k] = a[threadIdx.x * 3 + k];
    Wide(storage.wide).SortDescending(key, 8, 40);
    for (int k = 0; k < 3; k++) o[threadIdx.x * 3 + k] = key[k];
    __syncthreads();
    float f[2] = {b[threadIdx.x * 2], b[threadIdx.x * 2 + 1]};
    Floats(storage.floats).SortBlockedToStriped(f);
    p[threadIdx.x] = f[0], p[threadIdx.x + 64] = f[1];
    __syncthreads();
    unsigned char byte[4];
    for (int k = 0; k < 4; k++) byte[k] = c[threadIdx.x * 4 + k];
    Bytes(storage.bytes).Sort(byte);
    for (int k = 0; k < 4; k++) c[threadIdx.x * 4 + k] = byte[k];
}

struct Max {
    template <typename T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
struct Affine { int scale, add; };
struct Compose {
    __device__ Affine operator()(Affine a, Affine b) const { return {a.scale * b.scale, b.scale * a.add + b.add}; }
};

KERNEL block_scan_functions(const int *a, int *o, long long *sums) {
    typedef cub::BlockScan<Affine, 96, cub::BLOCK_SCAN_RAKING_MEMOIZE> Scan;
    typedef cub::BlockReduce<long long, 96, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY> Reduce;
    __shared__ Scan::TempStorage scan;
    __shared__ Reduce::TempStorage reduce;
    int x = a[blockIdx.x * 96 + threadIdx.x];
    Affine f = {x | 1, x}, all;
    Scan(scan).InclusiveScan(f, f, Compose(), all);
    o[blockIdx.x * 96 + threadIdx.x] = f.scale ^ f.add;
    long long sum = Reduce(reduce).Sum((long long)x * x, 90);
    if (threadIdx.x == 0) sums[blockIdx.x * 2] = sum, sums[blockIdx.x * 2 + 1] = all.add;
}

KERNEL block_shuffle(const int *a, int *o) {
    typedef cub::BlockShuffle<int, 64> Shuffle;
    typedef cub::BlockHistogram<unsigned char, 64, 2, 32, cub::BLOCK_HISTO_SORT> Histogram;
    __shared__ union { Shuffle::TempStorage shuffle; Histogram::TempStorage histogram; } storage;
    __shared__ unsigned bins[32];
    int x = a[threadIdx.x], y = -1, z = -2;
    Shuffle(storage.shuffle).Offset(x, y, -5);
    __syncthreads();
    Shuffle(storage.shuffle).Rotate(x, z, 9);
    __syncthreads();
    unsigned char item[2] = {(unsigned char)(x & 31), (unsigned char)(x >> 5 & 31)};
    Histogram(storage.histogram).Histogram(item, bins);
    __syncthreads();
    o[threadIdx.x] = threadIdx.x < 5 ? z : y * 3 + z;
    if (threadIdx.x < 32) o[64 + threadIdx.x] = bins[threadIdx.x];
}

KERNEL warp_primitives(const int *a, int *o) {
    typedef cub::WarpScan<long long, 16> Scan;
    typedef cub::WarpReduce<float, 8> Reduce;
    typedef cub::WarpMergeSort<int, 4, 16> Sort;
    typedef cub::WarpExchange<int, 4, 16> Exchange;
    __shared__ Scan::TempStorage scan[4];
    __shared__ Reduce::TempStorage reduce[8];
    __shared__ Sort::TempStorage sort[4];
    __shared__ Exchange::TempStorage exchange[4];
    int i = threadIdx.x, part = i / 16, v[4];
    long long before = 0, sum = 0;
    Scan(scan[part]).ExclusiveScan((long long)a[i] << 20, before, 1ll << 50, Max(), sum);
    float f = Reduce(reduce[i / 8]).Reduce((float)a[i], Max());
    for (int k = 0; k < 4; k++) v[k] = a[i * 4 + k];
    Sort(sort[part]).Sort(v, [](int x, int y) { return x > y; });
    Exchange(exchange[part]).BlockedToStriped(v, v);
    o[i * 8] = (int)(before >> 20), o[i * 8 + 1] = (int)(sum >> 20), o[i * 8 + 2] = (int)(before >> 50), o[i * 8 + 3] = i % 8 ? 0 : (int)f;
    for (int k = 0; k < 4; k++) o[i * 8 + 4 + k] = v[k];
}
