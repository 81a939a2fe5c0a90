// Threads that work together: in shared memory, by shuffles and votes, in lanes of registers.
#include <cuda_fp16.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void

KERNEL bitonic_shared(int *a, int *order) {  // 128 keys with what belongs to them
    __shared__ int keys[128], from[128];
    int t = threadIdx.x;
    keys[t] = a[blockIdx.x * 128 + t], keys[t + 64] = a[blockIdx.x * 128 + t + 64], from[t] = t, from[t + 64] = t + 64;
    for (int size = 2; size <= 128; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            int i = 2 * t - (t & step - 1), j = i + step;
            bool up = (i & size) == 0, more = keys[i] > keys[j] || (keys[i] == keys[j] && from[i] > from[j]);
            if (more == up) {
                int k = keys[i], f = from[i];
                keys[i] = keys[j], from[i] = from[j], keys[j] = k, from[j] = f;
            }
        }
    __syncthreads();
    for (int k = t; k < 128; k += 64) a[blockIdx.x * 128 + k] = keys[k], order[blockIdx.x * 128 + k] = from[k];
}

KERNEL scan_block(const int *a, int *o, int n) {  // sums up to each place, 4 a thread, warps by shuffles
    __shared__ int sums[8];
    int t = threadIdx.x, v[4], lane = t & 31;
    for (int k = 0; k < 4; k++) v[k] = 4 * t + k < n ? a[4 * t + k] : 0;
    for (int k = 1; k < 4; k++) v[k] += v[k - 1];
    int s = v[3];
    for (int d = 1; d < 32; d *= 2) { int x = __shfl_up_sync(~0u, s, d); if (lane >= d) s += x; }
    if (lane == 31) sums[t >> 5] = s;
    __syncthreads();
    int before = s - v[3];
    for (int w = 0; w < t >> 5; w++) before += sums[w];
    for (int k = 0; k < 4; k++) if (4 * t + k < n) o[4 * t + k] = v[k] + before;
}

KERNEL scan_tree(float *a) {  // up and down a tree, without the last
    extern __shared__ float s[];
    int t = threadIdx.x, n = 2 * blockDim.x;
    s[2 * t] = a[2 * t], s[2 * t + 1] = a[2 * t + 1];
    int step = 1;
    for (int d = n / 2; d; d /= 2, step *= 2) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            float x = s[step * (2 * t + 1) - 1];
            s[step * (2 * t + 1) - 1] = s[step * (2 * t + 2) - 1], s[step * (2 * t + 2) - 1] += x;
        }
    }
    __syncthreads();
    a[2 * t] = s[2 * t], a[2 * t + 1] = s[2 * t + 1];
}

KERNEL histogram(const uint8_t *a, unsigned *o, int n) {
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) atomicAdd(&bins[a[k] >> 2], 1);
    __syncthreads();
    if (threadIdx.x < 64 && bins[threadIdx.x]) atomicAdd(&o[threadIdx.x], bins[threadIdx.x]);
}

KERNEL radix_pass(const unsigned *a, unsigned *o, int shift) {  // 64 keys by four bits, in order
    __shared__ unsigned counts[2][16], starts[2][16];
    unsigned t = threadIdx.x, key = a[t], digit = key >> shift & 15, w = t >> 5, same = ~0u;
    for (int bit = 0; bit < 4; bit++) {
        unsigned all = __ballot_sync(~0u, digit >> bit & 1);
        same &= digit >> bit & 1 ? all : ~all;
    }
    unsigned rank = __popc(same & (1u << (t & 31)) - 1);
    if ((t & 31) < 16) counts[w][t & 31] = 0;
    __syncthreads();
    if (rank == 0) counts[w][digit] = __popc(same);
    __syncthreads();
    if (t == 0) for (unsigned d = 0, sum = 0; d < 16; d++) for (int k = 0; k < 2; k++) starts[k][d] = sum, sum += counts[k][d];
    __syncthreads();
    o[starts[w][digit] + rank] = key;
}

KERNEL warp_reductions(const int *a, const float *f, const double *d, int *o, float *of, double *od) {
    int v = a[threadIdx.x], high = v;
    float g = f[threadIdx.x];
    double e = d[threadIdx.x];
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k), high = max(high, __shfl_down_sync(~0u, high, k));
    for (int k = 1; k < 32; k *= 2) g = fminf(g, __shfl_xor_sync(~0u, g, k)), e += __shfl_xor_sync(~0u, e, k);
    if ((threadIdx.x & 31) == 0) o[threadIdx.x >> 4] = v, o[(threadIdx.x >> 4) + 1] = high, of[threadIdx.x >> 5] = g, od[threadIdx.x >> 5] = e;
}

KERNEL votes(const int *a, unsigned *o) {  // also of part of a warp
    int v = a[threadIdx.x], lane = threadIdx.x & 31, pred;
    unsigned r[6];
    r[0] = __ballot_sync(~0u, v & 1), r[1] = __all_sync(~0u, v > 0) | __any_sync(~0u, v == 7) << 1;
    r[2] = __match_any_sync(~0u, v & 3), r[3] = __match_all_sync(~0u, v >> 5, &pred), r[3] ^= pred << 31;
    r[4] = 0;
    if (lane % 3 == 1) {
        unsigned mine = __activemask();
        r[4] = __ballot_sync(mine, v & 2) + __shfl_sync(mine, v, 4) + __popc(__match_any_sync(mine, v & 1));
    }
    r[5] = __syncthreads_count(v & 4) * 4 + __syncthreads_and(v > 0) * 2 + __syncthreads_or(v == 63);
    for (int k = 0; k < 6; k++) o[threadIdx.x * 6 + k] = r[k];
}

KERNEL half_products(const __half2 *a, const __half2 *b, __half2 *o, float *sums, int n) {
    __half2 s = __float2half2_rn(0), m = __float2half2_rn(-100);
    float t = 0;
    for (int k = 0; k < n; k++) {
        __half2 x = a[threadIdx.x * n + k], y = b[threadIdx.x * n + k];
        s = __hfma2(x, y, s), m = __hmax2(m, __hsub2(x, y));
        t += __low2float(x) * __low2float(y) + __high2float(x) * __high2float(y);
        if (__hlt(__low2half(x), __high2half(y))) m = __hadd2(m, __halves2half2(__high2half(x), __low2half(x)));
    }
    o[2 * threadIdx.x] = s, o[2 * threadIdx.x + 1] = m, sums[threadIdx.x] = t;
}

KERNEL video(const unsigned *a, const unsigned *b, int *o) {
    unsigned x = a[threadIdx.x], y = b[threadIdx.x];
    int r[8];
    r[0] = __dp4a((int)x, (int)y, 100), r[1] = __dp4a(x, y, 100u), r[2] = __dp2a_lo((int)x, (int)y, 7), r[3] = __dp2a_hi(x, y, 7u);
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[4]) : "r"(x), "r"(y), "r"(5));
    asm("vadd.s32.u32.s32.sat %0, %1.b2, %2.h1;" : "=r"(r[5]) : "r"(x), "r"(y));
    asm("vmin2.s32.s32.s32 %0, %1, %2, %3;" : "=r"(r[6]) : "r"(x), "r"(y), "r"(0));
    asm("vmad.s32.s32.s32.shr7 %0, %1.h0, %2.b3, %3;" : "=r"(r[7]) : "r"(x), "r"(y), "r"(-12345));
    for (int k = 0; k < 8; k++) o[threadIdx.x * 8 + k] = r[k];
}

KERNEL life(const uint8_t *a, uint8_t *o, int turns) {  // 16x16 cells on a torus
    __shared__ uint8_t g[2][16][16];
    int x = threadIdx.x, y = threadIdx.y;
    g[0][y][x] = a[y * 16 + x];
    for (int k = 0; k < turns; k++) {
        __syncthreads();
        int n = 0;
        for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx | dy) n += g[k & 1][y + dy & 15][x + dx & 15];
        g[~k & 1][y][x] = n == 3 || (n == 2 && g[k & 1][y][x]);
    }
    o[y * 16 + x] = g[turns & 1][y][x];
}

KERNEL mandelbrot(int *o, double x0, double y0, double step, int most) {
    double cx = x0 + step * threadIdx.x, cy = y0 + step * threadIdx.y, x = 0, y = 0;
    int n = 0;
    while (n < most && __dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) <= 4) {
        double t = __dadd_rn(__dsub_rn(__dmul_rn(x, x), __dmul_rn(y, y)), cx);
        y = __dadd_rn(__dmul_rn(__dmul_rn(2, x), y), cy), x = t, n++;
    }
    o[threadIdx.y * blockDim.x + threadIdx.x] = n;
}

KERNEL bodies(const float4 *a, float4 *o, int n) {  // forces of all on all, by tiles in shared memory
    __shared__ float4 tile[32];
    float4 me = a[blockIdx.x * 32 + threadIdx.x];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < n; k += 32) {
        __syncthreads();
        tile[threadIdx.x] = a[k + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 32; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.25f);
            r = tile[j].w * r * r * r, fx += dx * r, fy += dy * r, fz += dz * r;
        }
    }
    o[blockIdx.x * 32 + threadIdx.x] = {fx, fy, fz, me.w};
}

KERNEL tickets(int *cells, unsigned long long *sum, int *order) {  // locks and compare-and-swap between blocks
    __shared__ int mine;
    if (threadIdx.x == 0) {
        mine = atomicAdd(&cells[0], 1);
        while (atomicCAS(&cells[1], 0, 1)) {}
        __threadfence();
        int n = ((volatile int *)cells)[2];
        ((volatile int *)order)[n] = mine, ((volatile int *)cells)[2] = n + 1;
        __threadfence();
        atomicExch(&cells[1], 0);
    }
    __syncthreads();
    atomicAdd(sum, (unsigned long long)mine << 20 | threadIdx.x);
    atomicMax(&cells[3], mine * 100 + (int)threadIdx.x), atomicXor(&cells[4], 1 << (threadIdx.x & 31));
}

KERNEL transpose_tiles(const float *a, float *o, int w, int h) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 4) if (x < w && y + k < h) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 4) if (x < h && y + k < w) o[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}
