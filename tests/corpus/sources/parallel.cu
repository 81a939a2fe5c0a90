// sm >= 75
// Parallel algorithms: reductions, scans, sorting, histograms, tiles in shared memory, graphs, stencils, sparse matrices.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

template <typename T> __device__ T block_sum(T x) {
    __shared__ T part[32];
    for (int d = 16; d; d >>= 1) x += __shfl_down_sync(0xffffffff, x, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : T(0);
    if (threadIdx.x < 32)
        for (int d = 16; d; d >>= 1) x += __shfl_down_sync(0xffffffff, x, d);
    return x;
}

extern "C" __global__ void sum_float(const float *in, float *out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
    s = block_sum(s);
    if (threadIdx.x == 0) atomicAdd(out, s);
}

extern "C" __global__ void sum_double(const double *in, double *out, int n) {
    double s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
    s = block_sum(s);
    if (threadIdx.x == 0) atomicAdd(out, s);
}

extern "C" __global__ void scan(const int *in, int *out, int n) {
    __shared__ int warp[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, x = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int y = __shfl_up_sync(~0u, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) warp[threadIdx.x >> 5] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        int w = warp[threadIdx.x];
        for (int d = 1; d < 32; d <<= 1) {
            int y = __shfl_up_sync(~0u, w, d);
            if (lane >= d) w += y;
        }
        warp[threadIdx.x] = w;
    }
    __syncthreads();
    if (threadIdx.x >= 32) x += warp[(threadIdx.x >> 5) - 1];
    if (i < n) out[i] = x;
}

extern "C" __global__ void bitonic(uint32_t *data) {
    __shared__ uint32_t s[512];
    s[threadIdx.x] = data[blockIdx.x * 512 + threadIdx.x];
    s[threadIdx.x + 256] = data[blockIdx.x * 512 + threadIdx.x + 256];
    for (int k = 2; k <= 512; k <<= 1)
        for (int j = k >> 1; j; j >>= 1) {
            __syncthreads();
            int a = 2 * j * (threadIdx.x / j) + threadIdx.x % j, b = a + j;
            bool up = (a & k) == 0;
            uint32_t x = s[a], y = s[b];
            if ((x > y) == up) { s[a] = y; s[b] = x; }
        }
    __syncthreads();
    data[blockIdx.x * 512 + threadIdx.x] = s[threadIdx.x];
    data[blockIdx.x * 512 + threadIdx.x + 256] = s[threadIdx.x + 256];
}

extern "C" __global__ void radix_count(const uint32_t *keys, uint32_t *counts, int n, int shift) {
    __shared__ uint32_t bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t digit = i < n ? keys[i] >> shift & 15 : 16;
    uint32_t peers = __match_any_sync(__activemask(), digit);
    if (digit < 16 && (threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&bins[digit], __popc(peers));
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void gemm_tile(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float as[16][68], bs[16][68];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4, row = blockIdx.y * 64, col = blockIdx.x * 64;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            as[i & 15][i >> 4] = a[(row + (i >> 4)) * n + k0 + (i & 15)];
            bs[i >> 6][i & 63] = b[(k0 + (i >> 6)) * n + col + (i & 63)];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float x[4], y[4];
            for (int i = 0; i < 4; ++i) { x[i] = as[k][ty * 4 + i]; y[i] = bs[k][tx * 4 + i]; }
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + col + tx * 4 + j] = acc[i][j];
}

extern "C" __global__ void breadth_first(const int *rows, const int *cols, int *level, int *frontier, int *next, int *tail, int count, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = frontier[i];
    for (int e = rows[v]; e < rows[v + 1]; ++e) {
        int u = cols[e];
        if (atomicCAS(&level[u], -1, depth) == -1) {
            cg::coalesced_group g = cg::coalesced_threads();
            int base = 0;
            if (g.thread_rank() == 0) base = atomicAdd(tail, g.size());
            next[g.shfl(base, 0) + g.thread_rank()] = u;
        }
    }
}

extern "C" __global__ void stencil(const double *in, double *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < nx - 1 && y < ny - 1)
        out[y * nx + x] = 0.2 * (in[y * nx + x] + in[y * nx + x - 1] + in[y * nx + x + 1] + in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
}

extern "C" __global__ void sparse(const int *rows, const int *cols, const float *v, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= n) return;
    float s = 0;
    for (int e = rows[row] + lane; e < rows[row + 1]; e += 32) s = fmaf(v[e], __ldg(x + cols[e]), s);
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0) y[row] = s;
}

extern "C" __global__ void softmax_rows(const float *in, float *out, int width) {
    const float *p = in + (size_t)blockIdx.x * width;
    float m = -3.4e38f, s = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) m = fmaxf(m, p[i]);
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int i = threadIdx.x; i < width; i += blockDim.x) s += __expf(p[i] - m);
    s = block_sum(s);
    __shared__ float total;
    if (threadIdx.x == 0) total = s;
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[(size_t)blockIdx.x * width + i] = __expf(p[i] - m) / total;
}

extern "C" __global__ void grid_wide(float *data, int n) {
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < 4; ++step) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) data[i] = data[i] * 0.5f + data[(i + 1) % n];
        grid.sync();
    }
}

extern "C" __global__ void fft_64(float2 *data) {
    __shared__ float2 s[64];
    int t = threadIdx.x;
    s[__brev(t) >> 26] = data[blockIdx.x * 64 + t];
    __syncthreads();
    for (int len = 2; len <= 64; len <<= 1) {
        int half = len / 2, k = t & (half - 1), base = (t / half) * len + k;
        if (t < 32) {
            float sn, cs;
            sincospif(-2.0f * k / len, &sn, &cs);
            float2 u = s[base], v = s[base + half], w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
            s[base] = make_float2(u.x + w.x, u.y + w.y);
            s[base + half] = make_float2(u.x - w.x, u.y - w.y);
        }
        __syncthreads();
    }
    data[blockIdx.x * 64 + t] = s[t];
}
