// Graphs and matrices of few entries.
#include <cooperative_groups.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

// One turn of PageRank that gives each neighbour its part; what vertices without edges have is summed up apart.
KERNEL rank_push(const int *starts, const int *edges, const float *rank, float *next, float *lost, int n, float damping) {
    float mine = 0;
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
        int first = starts[v], last = starts[v + 1];
        if (first == last) {
            mine += rank[v];
            continue;
        }
        float part = damping * rank[v] / (last - first);
        for (int e = first; e < last; e++) atomicAdd(next + edges[e], part);
    }
    for (int step = 16; step; step >>= 1) mine += __shfl_down_sync(0xffffffff, mine, step);
    if ((threadIdx.x & 31) == 0 && mine != 0) atomicAdd(lost, mine);
}

// Breadth first, one level: a warp a vertex, its lanes the edges, places in the next queue by votes.
KERNEL frontier_step(const int *starts, const int *edges, const int *queue, int length, int *level, int *next, int *count,
                     int now) {
    int lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x / 32;
    for (int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; w < length; w += warps) {
        int v = queue[w], last = starts[v + 1];
        for (int base = starts[v]; base < last; base += 32) {
            int e = base + lane, u = e < last ? edges[e] : -1;
            bool found = u >= 0 && level[u] < 0 && atomicCAS(level + u, -1, now + 1) == -1;
            unsigned votes = __ballot_sync(0xffffffff, found);
            if (!votes) continue;
            int place = 0;
            if (lane == __ffs(votes) - 1) place = atomicAdd(count, __popc(votes));
            place = __shfl_sync(0xffffffff, place, __ffs(votes) - 1);
            if (found) next[place + __popc(votes & ((1u << lane) - 1))] = u;
        }
    }
}

// A matrix by rows times a vector, some lanes a row.
template <int LANES>
__device__ float row_sum(const float *__restrict__ values, const int *__restrict__ columns, const float *__restrict__ x,
                         int from, int to) {
    float sum = 0;
    for (int k = from + threadIdx.x % LANES; k < to; k += LANES) sum += values[k] * __ldg(x + columns[k]);
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step, LANES);
    return sum;
}
KERNEL spmv_lanes(const float *values, const int *columns, const int *starts, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    bool inside = row < rows;
    float sum = row_sum<8>(values, columns, x, inside ? starts[row] : 0, inside ? starts[row + 1] : 0);
    if (inside && threadIdx.x % 8 == 0) y[row] = sum;
}

// The same with rows of one width, column after column; -1 ends a row.
KERNEL spmv_ell(const double *__restrict__ values, const int *__restrict__ columns, const double *__restrict__ x, double *y,
                int rows, int width, double alpha, double beta) {
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += blockDim.x * gridDim.x) {
        double sum = 0, old = y[row];
        for (int k = 0; k < width; k++) {
            int column = columns[k * rows + row];
            if (column < 0) break;
            sum += values[k * rows + row] * x[column];
        }
        y[row] = alpha * sum + beta * old;
    }
}

// Triangles: an edge a thread, its ends' sorted neighbours merged.
struct Edge { int from, to; };
KERNEL triangle_merge(const int *starts, const int *near, const Edge *edges, unsigned long long *total, int count) {
    __shared__ unsigned sums[4];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = 0;
    if (t < count) {
        Edge e = edges[t];
        const int *a = near + starts[e.from], *b = near + starts[e.to];
        const int *a_end = near + starts[e.from + 1], *b_end = near + starts[e.to + 1];
        while (a != a_end && b != b_end) {
            int d = *a - *b;
            if (d == 0) mine++;
            if (d <= 0) a++;
            if (d >= 0) b++;
        }
    }
    for (int step = 16; step; step /= 2) mine += __shfl_xor_sync(0xffffffff, mine, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) mine += sums[w];
        if (mine) atomicAdd(total, (unsigned long long)mine);
    }
}

// Levels of a graph without cycles, one block: who has no edge left that leads to him comes next.
KERNEL topological_levels(const int *starts, const int *edges, int *degree, int *level, int *depth, int n) {
    __shared__ int queue[512], tail;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) tail = 0;
    block.sync();
    for (int v = block.thread_rank(); v < n; v += block.size())
        if (degree[v] == 0) queue[atomicAdd(&tail, 1)] = v;
    block.sync();
    int head = 0, now = 0;
    while (head < tail) {
        int end = tail;
        block.sync();
        for (int k = head + block.thread_rank(); k < end; k += block.size()) {
            int v = queue[k];
            level[v] = now;
            for (int e = starts[v]; e < starts[v + 1]; e++)
                if (atomicSub(degree + edges[e], 1) == 1) queue[atomicAdd(&tail, 1)] = edges[e];
        }
        head = end, now++;
        block.sync();
    }
    if (block.thread_rank() == 0) *depth = now;
}

// The largest k for which a vertex is in a part where all have k neighbours: those with fewer are peeled off.
KERNEL core_numbers(const int *__restrict__ starts, const int *__restrict__ edges, int *core, int n) {
    extern __shared__ int degree[];
    for (int v = threadIdx.x; v < n; v += blockDim.x) degree[v] = starts[v + 1] - starts[v], core[v] = -1;
    __syncthreads();
    int left = n;
    for (int k = 0; left > 0; k++)
        for (;;) {
            int peeled = 0;
            for (int base = 0; base < n; base += blockDim.x) {
                int v = base + threadIdx.x;
                bool gone = v < n && core[v] < 0 && degree[v] <= k;
                peeled += __syncthreads_count(gone);
                if (gone) {
                    core[v] = k;
                    for (int e = starts[v], end = starts[v + 1]; e != end; ++e) atomicSub(&degree[edges[e]], 1);
                }
                __syncthreads();
            }
            left -= peeled;
            if (!peeled) break;
        }
}

// Each vertex takes the label that most of its neighbours have, the least of them where there are several.
__device__ int most_frequent(const int *edges, const int *labels, int degree, int own) {
    int seen[12], times[12], kinds = 0;
    for (int e = 0; e < degree; e++) {
        int label = labels[edges[e]], k = 0;
        while (k < kinds && seen[k] != label) k++;
        if (k == kinds) seen[kinds] = label, times[kinds++] = 0;
        times[k]++;
    }
    int best = own, most = 0;
    for (int k = 0; k < kinds; k++)
        if (times[k] > most || (times[k] == most && seen[k] < best)) best = seen[k], most = times[k];
    return best;
}
KERNEL spread_labels(const int *starts, const int *edges, int *labels, int *others, int *turns, int n, int limit) {
    int *now = labels, *then = others, turn = 0, changed = 1;
    for (; changed && turn < limit; turn++) {
        int mine = 0;
        for (int v = threadIdx.x; v < n; v += blockDim.x) {
            int own = now[v], label = most_frequent(edges + starts[v], now, starts[v + 1] - starts[v], own);
            then[v] = label;
            mine |= label != own;
        }
        changed = __syncthreads_or(mine);
        int *swapped = now;
        now = then, then = swapped;
    }
    if (threadIdx.x == 0) *turns = turn;
}

// Walks of chance that seldom turn back and now and then begin anew; each has a generator of its own (PCG).
struct Generator { uint64_t state, stream; };
__device__ __noinline__ uint32_t drawn(Generator *g) {
    uint64_t old = g->state;
    g->state = old * 6364136223846793005ull + (g->stream | 1);
    uint32_t mixed = ((old >> 18) ^ old) >> 27;
    return __funnelshift_r(mixed, mixed, old >> 59);
}
KERNEL random_walks(const int *starts, const int *edges, int *last, unsigned *visits, int n, int steps, unsigned restart) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, home = t % n, at = home, before = -1;
    Generator g = {0x853c49e6748fea9bull + t, 2ull * t + 1};
    for (int k = 0; k < steps; k++) {
        int degree = starts[at + 1] - starts[at];
        if (degree == 0 || drawn(&g) < restart) {
            before = -1, at = home;
        } else {
            int to = edges[starts[at] + __umulhi(drawn(&g), degree)];
            if (to == before && drawn(&g) & 3) to = edges[starts[at] + __umulhi(drawn(&g), degree)];
            before = at, at = to;
        }
        atomicAdd(&visits[at], 1u);
    }
    last[t] = at;
}
