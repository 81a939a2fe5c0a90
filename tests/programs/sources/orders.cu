// Sorting, searching and graphs.
#include <cooperative_groups.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

KERNEL odd_even(short *a) {
    __shared__ short s[128];
    int t = threadIdx.x, base = blockIdx.x * 128;
    s[2 * t] = a[base + 2 * t], s[2 * t + 1] = a[base + 2 * t + 1];
    for (int k = 0; k < 128; k++) {
        __syncthreads();
        int i = 2 * t + (k & 1);
        if (i + 1 < 128 && s[i] > s[i + 1]) {
            short x = s[i];
            s[i] = s[i + 1], s[i + 1] = x;
        }
    }
    __syncthreads();
    a[base + 2 * t] = s[2 * t], a[base + 2 * t + 1] = s[2 * t + 1];
}

KERNEL heap_sort(double *a, int n) {
    double h[32];
    double *mine = a + (blockIdx.x * blockDim.x + threadIdx.x) * n;
    for (int i = 0; i < n; i++) h[i] = mine[i];
    for (int start = n / 2 - 1, end = n; end > 1;) {
        if (start >= 0) start--;
        else {
            end--;
            double x = h[0];
            h[0] = h[end], h[end] = x;
        }
        for (int i = start < 0 ? 0 : start + 1 < n / 2 ? start + 1 : 0;;) {
            int c = 2 * i + 1;
            if (c >= end) break;
            if (c + 1 < end && h[c + 1] > h[c]) c++;
            if (h[i] >= h[c]) break;
            double x = h[i];
            h[i] = h[c], h[c] = x, i = c;
        }
    }
    for (int i = 0; i < n; i++) mine[i] = h[i];
}

KERNEL shell_sort(int *a, int n) {
    int *mine = a + threadIdx.x * n;
    for (int gap = n / 2; gap; gap /= 2)
        for (int i = gap; i < n; i++) {
            int x = mine[i], j = i;
            for (; j >= gap && mine[j - gap] > x; j -= gap) mine[j] = mine[j - gap];
            mine[j] = x;
        }
}

// Keys of 64 bits by how many are less.
KERNEL rank_sort(const uint64_t *a, uint64_t *o, int n) {
    __shared__ uint64_t tile[64];
    int t = blockIdx.x * blockDim.x + threadIdx.x, rank = 0;
    uint64_t mine = a[t];
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = a[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; k++) rank += tile[k] < mine || (tile[k] == mine && base + k < t);
        __syncthreads();
    }
    o[rank] = mine;
}

// Four bits a pass, ranks among equals from votes of a warp.
KERNEL radix_warp(unsigned *a) {
    unsigned t = threadIdx.x, base = blockIdx.x * 32, x = a[base + t];
    for (int bit = 0; bit < 32; bit += 4) {
        unsigned digit = x >> bit & 15, less = 0, equal = ~0u;
        for (int k = 0; k < 4; k++) {
            unsigned votes = __ballot_sync(~0u, digit >> k & 1);
            equal &= digit >> k & 1 ? votes : ~votes;
        }
        for (unsigned d = 0; d < 16; d++) {
            unsigned votes = __ballot_sync(~0u, digit == d);
            if (d < digit) less += __popc(votes);
        }
        unsigned place = less + __popc(equal & ((1u << t) - 1));
        __shared__ unsigned s[32];
        s[place] = x;
        __syncwarp();
        x = s[t];
        __syncwarp();
    }
    a[base + t] = x;
}

KERNEL counting_sort(const uint8_t *a, uint8_t *o, int n) {
    __shared__ int counts[256];
    int t = threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 256) atomicAdd(counts + a[i], 1);
    __syncthreads();
    int start = 0, size = counts[t];
    for (int k = 0; k < t; k++) start += counts[k];
    for (int k = 0; k < size; k++) o[start + k] = t;
}

// Over the whole grid, steps apart by its barrier.
KERNEL bitonic_grid(float *a, int n) {
    cg::grid_group grid = cg::this_grid();
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            for (int i = grid.thread_rank(); i < n; i += grid.size()) {
                int other = i ^ j;
                float x = a[i], y = a[other];
                if (other > i && (x > y) == ((i & k) == 0)) a[i] = y, a[other] = x;
            }
            grid.sync();
        }
}

KERNEL binary_search(const int *table, const int *keys, int *lower, int *upper, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, key = keys[t], low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key) low = middle + 1;
        else high = middle;
    }
    lower[t] = low, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (table[middle] <= key) low = middle + 1;
        else high = middle;
    }
    upper[t] = low;
}

// The k-th smallest by partitions.
KERNEL quick_select(const float *rows, const int *which, float *out, int n) {
    float a[32];
    for (int i = 0; i < n; i++) a[i] = rows[threadIdx.x * n + i];
    int low = 0, high = n - 1, k = which[threadIdx.x];
    while (low < high) {
        float pivot = a[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                float x = a[i];
                a[i++] = a[j], a[j--] = x;
            }
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else break;
    }
    out[threadIdx.x] = a[k];
}

// Breadth first from vertex 0, a block, edges by rows.
KERNEL breadth_first(const int *starts, const int *edges, int *depth, int n) {
    __shared__ int changed;
    for (int v = threadIdx.x; v < n; v += blockDim.x) depth[v] = v ? -1 : 0;
    for (int level = 0;; level++) {
        __syncthreads();
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        for (int v = threadIdx.x; v < n; v += blockDim.x)
            if (depth[v] == level)
                for (int e = starts[v]; e < starts[v + 1]; e++)
                    if (atomicCAS(depth + edges[e], -1, level + 1) == -1) changed = 1;
        __syncthreads();
        if (!changed) break;
    }
}

KERNEL bellman_ford(const int *from, const int *to, const int *weight, int *distance, int n, int m) {
    for (int v = threadIdx.x; v < n; v += blockDim.x) distance[v] = v ? 1 << 29 : 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        int better = 0;
        for (int e = threadIdx.x; e < m; e += blockDim.x) {
            int d = *(volatile int *)(distance + from[e]) + weight[e];
            if (d < atomicMin(distance + to[e], d)) better = 1;
        }
        if (!__syncthreads_or(better)) break;
    }
}

KERNEL floyd_warshall(int *d, int n) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) s[i] = d[i];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int x = s[i / n * n + k] + s[k * n + i % n];
            if (x < s[i]) s[i] = x;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) d[i] = s[i];
}

// Sets joined by compare and swap, then named by their least vertex.
KERNEL components(const int *from, const int *to, int *parent, int n, int m) {
    for (int v = threadIdx.x; v < n; v += blockDim.x) parent[v] = v;
    __syncthreads();
    for (int e = threadIdx.x; e < m; e += blockDim.x) {
        int a = from[e], b = to[e];
        while (true) {
            while (true) { int p = atomicAdd(parent + a, 0); if (p == a) break; a = p; }
            while (true) { int p = atomicAdd(parent + b, 0); if (p == b) break; b = p; }
            if (a == b) break;
            int high = max(a, b), low = min(a, b);
            if (atomicCAS(parent + high, high, low) == high) break;
        }
    }
    __syncthreads();
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        int p = v;
        while (*(volatile int *)(parent + p) != p) p = *(volatile int *)(parent + p);
        atomicExch(parent + v, p);
    }
}

KERNEL triangles(const uint64_t *rows, unsigned *count, int n) {
    unsigned mine = 0;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
        int a = i / n, b = i % n;
        if (a < b && rows[a] >> b & 1) mine += __popcll(rows[a] & rows[b] & ~0ull << b);
    }
    atomicAdd(count, mine);
}

KERNEL page_rank(const int *starts, const int *edges, const int *degree, double *rank, double *next, int n, int turns) {
    for (int v = threadIdx.x; v < n; v += blockDim.x) rank[v] = 1.0 / n;
    __syncthreads();
    for (int k = 0; k < turns; k++) {
        for (int v = threadIdx.x; v < n; v += blockDim.x) {
            double sum = 0;
            for (int e = starts[v]; e < starts[v + 1]; e++) sum += rank[edges[e]] / degree[edges[e]];
            next[v] = 0.15 / n + 0.85 * sum;
        }
        __syncthreads();
        for (int v = threadIdx.x; v < n; v += blockDim.x) rank[v] = next[v];
        __syncthreads();
    }
}

// Spanning tree of least weight from a full matrix: each step takes the nearest vertex, found by warps.
KERNEL spanning_tree(const int *weights, int *total, int n) {
    int t = threadIdx.x, sum = 0;
    bool inside = t == 0;
    int near = t < n ? weights[t] : 0x7fffffff;
    for (int k = 1; k < n; k++) {
        unsigned key = inside || t >= n ? ~0u : (unsigned)near << 5 | t;
        for (int step = 16; step; step /= 2) key = min(key, __shfl_xor_sync(~0u, key, step));
        int v = key & 31;
        sum += key >> 5;
        if (t == v) inside = true;
        if (t < n) near = min(near, weights[v * n + t]);
    }
    if (t == 0) *total = sum;
}

// Colours so that neighbours differ: who has the highest weight among those without one takes the least free.
KERNEL colours(const uint64_t *rows, const unsigned *weight, int *colour, int n) {
    __shared__ int s[64];
    __shared__ unsigned w[64];
    int v = threadIdx.x, mine = -1;
    s[v] = -1, w[v] = weight[v];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        uint64_t used = 0;
        bool first = mine < 0;
        for (int u = 0; u < n; u++)
            if (rows[v] >> u & 1) {
                if (s[u] >= 0) used |= 1ull << s[u];
                else if (w[u] > w[v]) first = false;
            }
        if (first) mine = __ffsll(~used) - 1;
        __syncthreads();
        s[v] = mine;
        if (!__syncthreads_or(mine < 0)) break;
    }
    colour[v] = mine;
}
