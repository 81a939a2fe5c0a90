// Sorting, transforms, stencils.
// levels: O0 O1 G
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL fourier(const float2 *a, float2 *o, int n) {  // radix 2, in shared memory
    __shared__ float2 s[256];
    int i = threadIdx.x, bits = 31 - __clz(n);
    for (int k = i; k < n; k += blockDim.x) s[__brev(k) >> (32 - bits)] = a[k];
    __syncthreads();
    for (int half = 1; half < n; half <<= 1) {
        int k = i & (half - 1), even = (i - k) * 2 + k;
        float sine, cosine;
        sincospif(-(float)k / half, &sine, &cosine);
        float2 u = s[even], v = s[even + half];
        float2 w = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
        s[even] = make_float2(u.x + w.x, u.y + w.y), s[even + half] = make_float2(u.x - w.x, u.y - w.y);
        __syncthreads();
    }
    for (int k = i; k < n; k += blockDim.x) o[k] = s[k];
}

KERNEL bitonic_block(int *a, int n) {
    __shared__ int s[256];
    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = a[k];
    for (int size = 2; size <= n; size <<= 1)
        for (int d = size / 2; d; d >>= 1) {
            __syncthreads();
            for (int k = threadIdx.x; k < n; k += blockDim.x)
                if ((k ^ d) > k && (s[k] > s[k ^ d]) == ((k & size) == 0)) { int t = s[k]; s[k] = s[k ^ d]; s[k ^ d] = t; }
        }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) a[k] = s[k];
}

KERNEL blelloch_scan(const int *a, int *o, int n) {
    __shared__ int s[256];
    int i = threadIdx.x;
    s[2 * i] = a[2 * i], s[2 * i + 1] = a[2 * i + 1];
    for (int d = 1; d < n; d <<= 1) {
        __syncthreads();
        int k = (i + 1) * 2 * d - 1;
        if (k < n) s[k] += s[k - d];
    }
    __syncthreads();
    if (i == 0) s[n - 1] = 0;
    for (int d = n / 2; d; d >>= 1) {
        __syncthreads();
        int k = (i + 1) * 2 * d - 1;
        if (k < n) { int t = s[k - d]; s[k - d] = s[k]; s[k] += t; }
    }
    __syncthreads();
    o[2 * i] = s[2 * i], o[2 * i + 1] = s[2 * i + 1];
}

KERNEL heat(const float *a, float *o, int width, int steps) {  // five points, halo of zeros, many steps in shared memory
    __shared__ float s[2][18][18];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = y * 16 + x; k < 18 * 18; k += 256) (&s[0][0][0])[k] = 0, (&s[1][0][0])[k] = 0;
    __syncthreads();
    s[0][y + 1][x + 1] = a[y * width + x];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        float(*f)[18] = s[k & 1], (*t)[18] = s[~k & 1];
        t[y + 1][x + 1] = 0.5f * f[y + 1][x + 1] + 0.125f * (f[y][x + 1] + f[y + 2][x + 1] + f[y + 1][x] + f[y + 1][x + 2]);
        __syncthreads();
    }
    o[y * width + x] = s[steps & 1][y + 1][x + 1];
}

KERNEL game_of_life(const unsigned *rows, unsigned *o, int n, int steps) {  // 32 cells of a row in a word, one warp
    int lane = threadIdx.x;
    unsigned me = rows[lane];
    for (int k = 0; k < steps; k++) {
        unsigned up = __shfl_sync(~0u, me, lane + 31), down = __shfl_sync(~0u, me, lane + 1), next = 0;
        for (int b = 0; b < 32; b++) {
            int left = (b + 31) & 31, right = (b + 1) & 31;
            int live = (up >> left & 1) + (up >> b & 1) + (up >> right & 1) + (me >> left & 1) + (me >> right & 1) +
                       (down >> left & 1) + (down >> b & 1) + (down >> right & 1);
            next |= (unsigned)(live == 3 || (live == 2 && (me >> b & 1))) << b;
        }
        me = next;
    }
    o[lane] = me;
}

KERNEL merge_path(const int *a, const int *b, int *o, int n, int m, int part) {  // each thread finds its part by bisection
    int start = THREAD * part, low = max(0, start - m), high = min(start, n);
    if (start >= n + m) return;
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[start - mid - 1]) low = mid + 1; else high = mid;
    }
    int i = low, j = start - low;
    for (int k = start; k < min(start + part, n + m); k++) o[k] = j >= m || (i < n && a[i] <= b[j]) ? a[i++] : b[j++];
}

KERNEL edit_distance(const char *a, const char *b, int *o, int n) {  // anti-diagonals; a pair of strings for each block
    __shared__ int d[3][65];
    int i = threadIdx.x + 1;
    const char *x = a + blockIdx.x * n, *y = b + blockIdx.x * n;
    for (int k = threadIdx.x; k < 3 * 65; k += blockDim.x) (&d[0][0])[k] = 1 << 20;
    __syncthreads();
    if (i == 1) d[0][0] = 0, d[1][0] = 1, d[1][1] = 1;
    __syncthreads();
    for (int s = 2; s <= 2 * n; s++) {
        int *now = d[s % 3], *one = d[(s + 2) % 3], *two = d[(s + 1) % 3], j = s - i, value = 1 << 20;
        if (i <= n && j >= 0 && j <= n) value = j == 0 ? i : min(min(one[i] + 1, one[i - 1] + 1), two[i - 1] + (x[i - 1] != y[j - 1]));
        __syncthreads();
        if (i <= n) now[i] = value;
        if (i == 1) now[0] = s <= n ? s : 1 << 20;
        __syncthreads();
    }
    if (i == n) o[blockIdx.x] = d[2 * n % 3][n];
}
