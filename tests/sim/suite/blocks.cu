// CUB's primitives for blocks.
// levels: O0 O1 G
#include <cub/cub.cuh>
#include <stdint.h>
#define KERNEL extern "C" __global__ void

KERNEL block_scan(const int *a, int *o, int *total) {
    typedef cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING> Raking;
    typedef cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS> Warps;
    __shared__ union { Raking::TempStorage raking; Warps::TempStorage warps; } temp;
    int i = threadIdx.x, x[2] = {a[2 * i], a[2 * i + 1]}, sum;
    Raking(temp.raking).InclusiveSum(x, x, sum);
    __syncthreads();
    int high;
    Warps(temp.warps).ExclusiveScan(a[i], high, -5, [](int u, int v) { return u > v ? u : v; });
    o[3 * i] = x[0], o[3 * i + 1] = x[1], o[3 * i + 2] = high;
    if (i == 0) *total = sum;
}

KERNEL block_reduce(const float *a, float *o) {
    typedef cub::BlockReduce<float, 128> Reduce;
    typedef cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING> Raking;
    __shared__ union { Reduce::TempStorage reduce; Raking::TempStorage raking; } temp;
    float x = a[blockIdx.x * 128 + threadIdx.x];
    float sum = Reduce(temp.reduce).Sum(x);
    __syncthreads();
    float low = Raking(temp.raking).Reduce(x, [](float u, float v) { return fminf(u, v); });
    if (threadIdx.x == 0) o[2 * blockIdx.x] = sum, o[2 * blockIdx.x + 1] = low;
}

KERNEL block_radix_sort(const int *keys, const int *values, int *sorted, int *moved) {
    typedef cub::BlockRadixSort<int, 64, 4, int> Sort;
    __shared__ Sort::TempStorage temp;
    int k[4], v[4], i = threadIdx.x;
    for (int n = 0; n < 4; n++) k[n] = keys[4 * i + n], v[n] = values[4 * i + n];
    Sort(temp).Sort(k, v);
    for (int n = 0; n < 4; n++) sorted[4 * i + n] = k[n], moved[4 * i + n] = v[n];
}

KERNEL block_merge_sort(const double *keys, double *sorted) {
    typedef cub::BlockMergeSort<double, 64, 3> Sort;
    __shared__ Sort::TempStorage temp;
    double k[3];
    int i = threadIdx.x;
    for (int n = 0; n < 3; n++) k[n] = keys[3 * i + n];
    Sort(temp).Sort(k, [](double u, double v) { return u > v; });
    for (int n = 0; n < 3; n++) sorted[3 * i + n] = k[n];
}

KERNEL block_moves(const int *a, int *o, unsigned *bins) {  // load and store through shared memory, histogram, heads, differences
    typedef cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
    typedef cub::BlockHistogram<unsigned char, 64, 4, 64> Histogram;
    typedef cub::BlockDiscontinuity<int, 64> Heads;
    typedef cub::BlockAdjacentDifference<int, 64> Difference;
    __shared__ union {
        Load::TempStorage load; Store::TempStorage store; Histogram::TempStorage histogram;
        Heads::TempStorage heads; Difference::TempStorage difference;
    } temp;
    __shared__ unsigned counts[64];
    int x[4], heads[4], change[4];
    Load(temp.load).Load(a, x);
    __syncthreads();
    unsigned char small[4];
    for (int n = 0; n < 4; n++) small[n] = x[n] & 63;
    Histogram(temp.histogram).Histogram(small, counts);
    __syncthreads();
    Heads(temp.heads).FlagHeads(heads, x, [](int u, int v) { return (u & 1) != (v & 1); });
    __syncthreads();
    Difference(temp.difference).SubtractLeft(x, change, [](int u, int v) { return u - v; });
    __syncthreads();
    for (int n = 0; n < 4; n++) x[n] = change[n] * 2 + heads[n];
    Store(temp.store).Store(o, x);
    bins[threadIdx.x] = counts[threadIdx.x];
}
