// CUB: what the simulator's suite leaves out of blocks and warps, and device-wide primitives by their agents in one launch.
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

template <cub::BlockReduceAlgorithm ALGORITHM> __device__ void reduced(const int *a, int *o, long long *p) {
    typedef cub::BlockReduce<int, 96, ALGORITHM> Ints;
    typedef cub::BlockReduce<long long, 96, ALGORITHM> Longs;
    __shared__ union { typename Ints::TempStorage ints; typename Longs::TempStorage longs; } storage;
    int v[3] = {a[threadIdx.x], a[threadIdx.x + 96], a[threadIdx.x + 192]};
    int sum = Ints(storage.ints).Sum(v);
    __syncthreads();
    int most = Ints(storage.ints).Reduce(v[0], cuda::maximum<>{}, 70);
    __syncthreads();
    long long wide = Longs(storage.longs).Sum((long long)v[1] << 30);
    if (threadIdx.x == 0) o[0] = sum, o[1] = most, *p = wide;
}
KERNEL reduce_raking(const int *a, int *o, long long *p) { reduced<cub::BLOCK_REDUCE_RAKING>(a, o, p); }
KERNEL reduce_commutative(const int *a, int *o, long long *p) { reduced<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(a, o, p); }
KERNEL reduce_warps(const int *a, int *o, long long *p) { reduced<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(a, o, p); }

template <cub::BlockScanAlgorithm ALGORITHM> __device__ void scanned(const int *a, int *o, int *p, double *d) {
    typedef cub::BlockScan<int, 64, ALGORITHM> Ints;
    typedef cub::BlockScan<double, 64, ALGORITHM> Doubles;
    __shared__ union { typename Ints::TempStorage ints; typename Doubles::TempStorage doubles; } storage;
    int v[4], w[4], all;
    for (int k = 0; k < 4; k++) v[k] = a[threadIdx.x * 4 + k];
    Ints(storage.ints).ExclusiveSum(v, w, all);
    __syncthreads();
    for (int k = 0; k < 4; k++) o[threadIdx.x * 4 + k] = w[k] ^ all;
    Ints(storage.ints).InclusiveScan(v, w, cuda::maximum<>{});
    __syncthreads();
    for (int k = 0; k < 4; k++) p[threadIdx.x * 4 + k] = w[k];
    double x;
    Doubles(storage.doubles).InclusiveSum((double)v[0], x);
    d[threadIdx.x] = x;
}
KERNEL scan_raking(const int *a, int *o, int *p, double *d) { scanned<cub::BLOCK_SCAN_RAKING>(a, o, p, d); }
KERNEL scan_memoized(const int *a, int *o, int *p, double *d) { scanned<cub::BLOCK_SCAN_RAKING_MEMOIZE>(a, o, p, d); }
KERNEL scan_warps(const int *a, int *o, int *p, double *d) { scanned<cub::BLOCK_SCAN_WARP_SCANS>(a, o, p, d); }

KERNEL radix_pairs(const double *a, const int *v, double *o, int *w, unsigned short *s) {
    typedef cub::BlockRadixSort<double, 64, 4, int> Pairs;
    typedef cub::BlockRadixSort<unsigned short, 64, 4, cub::NullType, 5, true, cub::BLOCK_SCAN_RAKING> Shorts;
    __shared__ union { Pairs::TempStorage pairs; Shorts::TempStorage shorts; } storage;
    double key[4];
    int value[4];
    unsigned short small[4];
    for (int k = 0; k < 4; k++) key[k] = a[threadIdx.x * 4 + k], value[k] = v[threadIdx.x * 4 + k], small[k] = s[threadIdx.x * 4 + k];
    Pairs(storage.pairs).SortDescending(key, value);
    __syncthreads();
    Shorts(storage.shorts).SortBlockedToStriped(small);
    for (int k = 0; k < 4; k++) o[threadIdx.x * 4 + k] = key[k], w[threadIdx.x * 4 + k] = value[k], s[threadIdx.x + 64 * k] = small[k];
}

struct Record { int key; short weight; char name; };
struct Less { __device__ bool operator()(const Record &a, const Record &b) const { return a.key < b.key || (a.key == b.key && a.weight > b.weight); } };
KERNEL merge_records(const Record *a, Record *o, int n) {
    typedef cub::BlockMergeSort<Record, 64, 3> Sort;
    __shared__ Sort::TempStorage storage;
    Record v[3], most = {0x7fffffff, -32768, 0};
    for (int k = 0; k < 3; k++) v[k] = threadIdx.x * 3 + k < n ? a[threadIdx.x * 3 + k] : most;
    Sort(storage).StableSort(v, Less(), n, most);
    for (int k = 0; k < 3; k++)
        if (threadIdx.x * 3 + k < n) o[threadIdx.x * 3 + k] = v[k];
}

template <cub::BlockHistogramAlgorithm ALGORITHM> __device__ void counted(const uint8_t *a, unsigned *o) {
    typedef cub::BlockHistogram<uint8_t, 64, 5, 64, ALGORITHM> Histogram;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ unsigned bins[64];
    uint8_t v[5];
    for (int k = 0; k < 5; k++) v[k] = a[threadIdx.x * 5 + k];
    Histogram(storage).Histogram(v, bins);
    __syncthreads();
    o[threadIdx.x] = bins[threadIdx.x];
}
KERNEL histogram_sort(const uint8_t *a, unsigned *o) { counted<cub::BLOCK_HISTO_SORT>(a, o); }
KERNEL histogram_atomic(const uint8_t *a, unsigned *o) { counted<cub::BLOCK_HISTO_ATOMIC>(a, o); }

template <cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE> __device__ void moved(const int *a, int *o, int n) {
    typedef cub::BlockLoad<int, 64, 4, LOAD> Load;
    typedef cub::BlockStore<int, 64, 4, STORE> Store;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } storage;
    int v[4];
    Load(storage.load).Load(a, v, n, -7);
    __syncthreads();
    for (int k = 0; k < 4; k++) v[k] = v[k] * 10 + k;
    Store(storage.store).Store(o, v, n);
}
KERNEL moves_vector(const int *a, int *o, int n) { moved<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(a, o, n); }
KERNEL moves_transposed(const int *a, int *o, int n) { moved<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(a, o, n); }
KERNEL moves_sliced(const int *a, int *o, int n) {
    moved<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(a, o, n);
}

KERNEL differences(const int *a, int *left, int *right, int *heads, int *tails) {
    typedef cub::BlockAdjacentDifference<int, 64> Difference;
    typedef cub::BlockDiscontinuity<int, 64> Edges;
    __shared__ union { Difference::TempStorage difference; Edges::TempStorage edges; } storage;
    int v[2] = {a[threadIdx.x * 2], a[threadIdx.x * 2 + 1]}, l[2], r[2], h[2], t[2];
    Difference(storage.difference).SubtractLeft(v, l, cuda::std::minus<>{}, 100);
    __syncthreads();
    Difference(storage.difference).SubtractRight(v, r, cuda::std::minus<>{}, -100);
    __syncthreads();
    Edges(storage.edges).FlagHeadsAndTails(h, t, v, cuda::std::not_equal_to<>{});
    for (int k = 0; k < 2; k++) {
        int i = threadIdx.x * 2 + k;
        left[i] = l[k], right[i] = r[k], heads[i] = h[k], tails[i] = t[k];
    }
}

KERNEL decode_runs(const uint64_t *values, const unsigned *lengths, uint64_t *o, unsigned *offsets, int *total) {
    typedef cub::BlockRunLengthDecode<uint64_t, 64, 2, 4> Decode;
    __shared__ Decode::TempStorage storage;
    uint64_t v[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
    unsigned n[2] = {lengths[threadIdx.x * 2], lengths[threadIdx.x * 2 + 1]}, size = 0;
    Decode decode(storage, v, n, size);
    for (unsigned from = 0; from < size; from += 256) {
        uint64_t items[4];
        unsigned within[4];
        decode.RunLengthDecode(items, within, from);
        for (int k = 0; k < 4; k++) {
            unsigned i = from + threadIdx.x * 4 + k;
            if (i < size) o[i] = items[k], offsets[i] = within[k];
        }
    }
    if (threadIdx.x == 0) *total = size;
}

KERNEL ranks_matched(const unsigned *a, unsigned *o) {  // one pass of a radix sort by ranks
    typedef cub::BlockRadixRankMatch<64, 6, false> Rank;
    __shared__ Rank::TempStorage storage;
    __shared__ unsigned sorted[192];
    unsigned v[3];
    int rank[3];
    for (int k = 0; k < 3; k++) v[k] = a[threadIdx.x / 32 * 96 + k * 32 + threadIdx.x % 32];  // striped by warps
    Rank(storage).RankKeys(v, rank, cub::BFEDigitExtractor<unsigned>(4, 6));
    for (int k = 0; k < 3; k++) sorted[rank[k]] = v[k];
    __syncthreads();
    for (int k = 0; k < 3; k++) o[threadIdx.x + 64 * k] = sorted[threadIdx.x + 64 * k];
}

KERNEL warp_sorts(const int *a, int *o, float *f, const int *valid) {
    typedef cub::WarpMergeSort<int, 4, 16> Sort;
    typedef cub::WarpReduce<float, 16> Sum;
    typedef cub::WarpScan<int> Scan;
    typedef cub::WarpExchange<int, 4, 16> Exchange;
    __shared__ Sort::TempStorage sort[4];
    __shared__ Sum::TempStorage sum[4];
    __shared__ Scan::TempStorage scan[2];
    __shared__ Exchange::TempStorage exchange[4];
    int v[4], part = threadIdx.x / 16;
    for (int k = 0; k < 4; k++) v[k] = a[threadIdx.x * 4 + k];
    Sort(sort[part]).Sort(v, cuda::std::less<int>());
    float most = Sum(sum[part]).Reduce((float)v[3], cuda::maximum<>{}, valid[part]);
    float segments = Sum(sum[part]).HeadSegmentedSum((float)v[0], threadIdx.x % 5 == 0);
    int in, all;
    Scan(scan[threadIdx.x / 32]).InclusiveSum(v[0], in, all);
    Exchange(exchange[part]).BlockedToStriped(v, v);
    for (int k = 0; k < 4; k++) o[part * 64 + k * 16 + threadIdx.x % 16] = v[k];
    f[threadIdx.x] = threadIdx.x % 16 == 0 ? most * 4 : 0;
    f[64 + threadIdx.x] = threadIdx.x % 16 == 0 || threadIdx.x % 5 == 0 ? segments : 0;
    f[128 + threadIdx.x] = in - all;
}

// Sums of a device: an agent a block, the last block adds theirs.
typedef cub::AgentReducePolicy<64, 4, int, 2, cub::BLOCK_REDUCE_WARP_REDUCTIONS, cub::LOAD_DEFAULT> ReducePolicy;
KERNEL device_sum(const int *a, long long *parts, unsigned *done, long long *o, int n, int each) {
    typedef cub::detail::reduce::AgentReduce<ReducePolicy, const int *, long long *, int, cuda::std::plus<>, long long> Agent;
    __shared__ Agent::TempStorage storage;
    __shared__ bool last;
    int from = blockIdx.x * each;
    long long sum = Agent(storage, a, cuda::std::plus<>{}).ConsumeRange(from, min(from + each, n));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        long long all = 0;
        for (int k = 0; k < gridDim.x; k++) all += ((volatile long long *)parts)[k];
        *o = all;
    }
}

// Prefix sums of a device: blocks look back for those before them.
typedef cub::AgentScanPolicy<64, 3, int, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::LOAD_DEFAULT, cub::BLOCK_STORE_WARP_TRANSPOSE,
                             cub::BLOCK_SCAN_WARP_SCANS> ScanPolicy;
KERNEL device_scan(const int *a, int *o, uint64_t *status, int n) {
    typedef cub::ScanTileState<int> State;
    typedef cub::detail::scan::AgentScan<ScanPolicy, const int *, int *, cuda::std::plus<>, cub::detail::InputValue<int>, int, int> Agent;
    __shared__ Agent::TempStorage storage;
    State state;
    state.d_tile_descriptors = (State::TxnWord *)status;
    state.InitializeStatus(gridDim.x);
    cg::this_grid().sync();
    Agent(storage, a, o, cuda::std::plus<>{}, cub::detail::InputValue<int>(5)).ConsumeRange(n, state, 0);
}

// Minimum with its place: a pair of more than 64 bits looks back through two words.
struct Sample { double value; long long at; };
struct Lower { __device__ Sample operator()(const Sample &a, const Sample &b) const { return b.value < a.value ? b : a; } };
KERNEL device_lowest(const double *a, double *o, long long *at, int n) {
    typedef cub::BlockScan<Sample, 64> Scan;
    __shared__ Scan::TempStorage storage;
    Sample carry = {1e300, -1};
    for (int base = 0; base < n; base += 64) {
        int i = base + threadIdx.x;
        Sample v = i < n ? Sample{a[i], i} : Sample{1e300, -1}, all;
        Scan(storage).InclusiveScan(v, v, Lower(), all);
        v = Lower()(carry, v), carry = Lower()(carry, all);
        if (i < n) o[i] = v.value, at[i] = v.at;
        __syncthreads();
    }
}

// Selection and partition by the scan of flags over a grid.
KERNEL device_partition(const int *a, int *o, uint64_t *status, int *count, int n) {
    typedef cub::ScanTileState<int> State;
    typedef cub::BlockScan<int, 64> Scan;
    typedef cub::TilePrefixCallbackOp<int, cuda::std::plus<>, State> Prefix;
    __shared__ Scan::TempStorage storage;
    __shared__ Prefix::TempStorage before;
    State state;
    state.d_tile_descriptors = (State::TxnWord *)status;
    state.InitializeStatus(gridDim.x);
    cg::this_grid().sync();
    int base = blockIdx.x * 128 + threadIdx.x * 2, flag[2], at[2], all;
    for (int k = 0; k < 2; k++) flag[k] = base + k < n && a[base + k] % 5 < 2;
    if (blockIdx.x == 0) {
        Scan(storage).ExclusiveSum(flag, at, all);
        if (threadIdx.x == 0) state.SetInclusive(0, all);
    } else {
        Prefix prefix(state, before, cuda::std::plus<>{}, blockIdx.x);
        Scan(storage).ExclusiveSum(flag, at, prefix);
        all = prefix.GetInclusivePrefix();
    }
    for (int k = 0; k < 2; k++)
        if (base + k < n) o[flag[k] ? at[k] : n - 1 - (base + k - at[k])] = a[base + k];
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = all;
}

// Sums of segments that begin at given places, a warp a segment.
KERNEL segment_sums(const float *a, const int *starts, float *o, int segments) {
    typedef cub::WarpReduce<float> Sum;
    __shared__ Sum::TempStorage storage[4];
    for (int s = blockIdx.x * 4 + threadIdx.x / 32; s < segments; s += gridDim.x * 4) {
        float sum = 0;
        for (int i = starts[s] + threadIdx.x % 32; i < starts[s + 1]; i += 32) sum += a[i];
        sum = Sum(storage[threadIdx.x / 32]).Sum(sum);
        if (threadIdx.x % 32 == 0) o[s] = sum;
    }
}
