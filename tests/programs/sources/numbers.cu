// Transforms, linear algebra, differential equations, images.
#include <stdint.h>
#define KERNEL extern "C" __global__ void

// Transform over whole numbers modulo 2^64 - 2^32 + 1, 256 points a block.
__device__ uint64_t times(uint64_t a, uint64_t b) {
    uint64_t low = a * b, high = __umul64hi(a, b), mid = high >> 32;
    uint64_t r = low - mid;
    if (low < mid) r -= 0xffffffffu;
    uint64_t add = (high & 0xffffffffu) * 0xffffffffu, sum = r + add;
    if (sum < add) sum += 0xffffffffu;
    return sum >= 0xffffffff00000001ull ? sum - 0xffffffff00000001ull : sum;
}
KERNEL number_transform(const uint64_t *a, const uint64_t *roots, uint64_t *o) {
    __shared__ uint64_t s[256];
    const uint64_t p = 0xffffffff00000001ull;
    int t = threadIdx.x;
    for (int k = t; k < 256; k += 128) s[__brev(k) >> 24] = a[blockIdx.x * 256 + k];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int i = t / half * half * 2 + t % half;
        uint64_t x = s[i], y = times(s[i + half], roots[t % half * (128 / half)]), sum = x + y;
        if (sum < x || sum >= p) sum -= p;
        s[i] = sum, s[i + half] = x >= y ? x - y : x - y + p;
    }
    __syncthreads();
    for (int k = t; k < 256; k += 128) o[blockIdx.x * 256 + k] = s[k];
}

// Fast transform of radix 4, 64 points, complex numbers of double precision.
KERNEL fourier_four(const double2 *a, double2 *o) {
    __shared__ double2 s[2][64];
    int t = threadIdx.x, from = 0;
    for (int k = t; k < 64; k += 16) s[0][k] = a[blockIdx.x * 64 + k];
    for (int n = 64, stride = 1; n > 1; n /= 4, stride *= 4, from ^= 1) {
        __syncthreads();
        int q = t % stride, p = t / stride, m = n / 4;
        double2 v[4], w[4];
        for (int k = 0; k < 4; k++) v[k] = s[from][q + stride * (p + k * m)];
        double2 e = {v[0].x + v[2].x, v[0].y + v[2].y}, f = {v[0].x - v[2].x, v[0].y - v[2].y};
        double2 g = {v[1].x + v[3].x, v[1].y + v[3].y}, h = {v[1].x - v[3].x, v[1].y - v[3].y};
        w[0] = {e.x + g.x, e.y + g.y}, w[2] = {e.x - g.x, e.y - g.y};
        w[1] = {f.x + h.y, f.y - h.x}, w[3] = {f.x - h.y, f.y + h.x};
        for (int k = 0; k < 4; k++) {
            double c, d;
            sincospi(-2.0 * p * k / n, &d, &c);
            s[!from][q + stride * (4 * p + k)] = {w[k].x * c - w[k].y * d, w[k].x * d + w[k].y * c};
        }
    }
    __syncthreads();
    for (int k = t; k < 64; k += 16) o[blockIdx.x * 64 + k] = s[from][k];
}

KERNEL cosine_blocks(const float *a, float *o) {  // 8 by 8
    __shared__ float s[8][8], r[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = a[(blockIdx.x * 8 + y) * 8 + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += s[y][k] * cosf((2 * k + 1) * x * 0.19634954f);
    r[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) sum += r[k][x] * cosf((2 * k + 1) * y * 0.19634954f);
    o[(blockIdx.x * 8 + y) * 8 + x] = sum * (x ? 0.5f : 0.35355339f) * (y ? 0.5f : 0.35355339f);
}

KERNEL cholesky(double *a, int n) {
    double *m = a + blockIdx.x * n * n;
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (t == k) m[k * n + k] = sqrt(m[k * n + k]);
        __syncthreads();
        if (t > k && t < n) m[t * n + k] /= m[k * n + k];
        __syncthreads();
        if (t > k && t < n)
            for (int j = k + 1; j <= t; j++) m[t * n + j] -= m[t * n + k] * m[j * n + k];
        __syncthreads();
    }
}

// Inverse by elimination with the largest pivot.
KERNEL inverse(double *a, double *b, int n) {
    __shared__ int pivot;
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) b[i * n + t] = i == t;
    for (int k = 0; k < n; k++) {
        __syncthreads();
        if (t == 0) {
            pivot = k;
            for (int i = k + 1; i < n; i++)
                if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        }
        __syncthreads();
        double x = a[k * n + t], y = b[k * n + t];
        a[k * n + t] = a[pivot * n + t], a[pivot * n + t] = x;
        b[k * n + t] = b[pivot * n + t], b[pivot * n + t] = y;
        __syncthreads();
        double scale = 1 / a[k * n + k];
        __syncthreads();
        a[k * n + t] *= scale, b[k * n + t] *= scale;
        for (int i = 0; i < n; i++) {
            __syncthreads();
            double factor = a[i * n + k];
            __syncthreads();
            if (i != k) a[i * n + t] -= factor * a[k * n + t], b[i * n + t] -= factor * b[k * n + t];
        }
    }
}

// Eigenvalues of symmetric matrices of 4 by 4 by rotations, one a thread, in registers.
KERNEL eigenvalues(const float *a, float *out) {
    float m[4][4];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++) m[i / 4][i % 4] = a[16 * t + i];
    for (int sweep = 0; sweep < 6; sweep++)
#pragma unroll
        for (int p = 0; p < 3; p++)
#pragma unroll
            for (int q = p + 1; q < 4; q++) {
                if (fabsf(m[p][q]) < 1e-12f) continue;
                float theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
                float x = copysignf(1 / (fabsf(theta) + sqrtf(theta * theta + 1)), theta);
                float c = rsqrtf(x * x + 1), s = x * c;
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float u = m[k][p], v = m[k][q];
                    m[k][p] = c * u - s * v, m[k][q] = s * u + c * v;
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float u = m[p][k], v = m[q][k];
                    m[p][k] = c * u - s * v, m[q][k] = s * u + c * v;
                }
            }
    for (int i = 0; i < 4; i++) out[4 * t + i] = m[i][i];
}

// Conjugate gradients for a chain of springs, sums by warps and a block.
__device__ double block_sum(double x, double *s) {
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
    __syncthreads();
    x = s[0] + s[1] + s[2] + s[3];
    __syncthreads();
    return x;
}
KERNEL conjugate_gradients(const double *b, double *x, int *turns) {
    __shared__ double p[130], s[4];
    int t = threadIdx.x, k = 0;
    double mine = 0, r = b[t], d = r;
    if (t == 0) p[0] = p[129] = 0;
    double size = block_sum(r * r, s), first = size;
    for (; k < 200 && size > 1e-24 * first; k++) {
        p[t + 1] = d;
        __syncthreads();
        double q = 2.5 * d - p[t] - p[t + 2];
        double alpha = size / block_sum(d * q, s);
        mine += alpha * d, r -= alpha * q;
        double next = block_sum(r * r, s);
        d = r + next / size * d, size = next;
    }
    x[t] = mine;
    if (t == 0) *turns = k;
}

// Systems of three diagonals by reduction in steps of one, two, four ...
KERNEL three_diagonals(const float *a, const float *b, const float *c, const float *d, float *x) {
    __shared__ float s[4][64];
    int t = threadIdx.x, n = 64, at = blockIdx.x * 64 + t;
    s[0][t] = t ? a[at] : 0, s[1][t] = b[at], s[2][t] = t < n - 1 ? c[at] : 0, s[3][t] = d[at];
    for (int step = 1; step < n; step *= 2) {
        __syncthreads();
        int l = max(t - step, 0), r = min(t + step, n - 1);
        float k1 = t - step >= 0 ? s[0][t] / s[1][l] : 0, k2 = t + step < n ? s[2][t] / s[1][r] : 0;
        float na = -s[0][l] * k1, nb = s[1][t] - s[2][l] * k1 - s[0][r] * k2, nc = -s[2][r] * k2;
        float nd = s[3][t] - s[3][l] * k1 - s[3][r] * k2;
        __syncthreads();
        s[0][t] = na, s[1][t] = nb, s[2][t] = nc, s[3][t] = nd;
    }
    __syncthreads();
    x[at] = s[3][t] / s[1][t];
}

KERNEL wave(const float *start, float *out, int turns) {  // leap frog, 32 by 8 with fixed edges
    __shared__ float s[2][8][32];
    int x = threadIdx.x, y = threadIdx.y;
    s[0][y][x] = s[1][y][x] = start[y * 32 + x];
    for (int k = 0; k < turns; k++) {
        __syncthreads();
        float (*now)[32] = s[k & 1], (*then)[32] = s[~k & 1], v = now[y][x];
        if (x > 0 && x < 31 && y > 0 && y < 7)
            v = 2 * v - then[y][x] + 0.25f * (now[y][x - 1] + now[y][x + 1] + now[y - 1][x] + now[y + 1][x] - 4 * v);
        __syncthreads();
        then[y][x] = v;
    }
    out[y * 32 + x] = s[turns & 1][y][x];
}

KERNEL lorenz(const double *start, double *out, int steps) {  // Runge and Kutta, fourth order
    int t = threadIdx.x;
    double p[3], k[4][3];
    for (int i = 0; i < 3; i++) p[i] = start[3 * t + i];
    for (int n = 0; n < steps; n++) {
        for (int s = 0; s < 4; s++) {
            double h = s == 0 ? 0 : s == 3 ? 0.01 : 0.005, q[3];
            for (int i = 0; i < 3; i++) q[i] = s ? p[i] + h * k[s - 1][i] : p[i];
            k[s][0] = 10 * (q[1] - q[0]), k[s][1] = q[0] * (28 - q[2]) - q[1], k[s][2] = q[0] * q[1] - 8.0 / 3 * q[2];
        }
        for (int i = 0; i < 3; i++) p[i] += 0.01 / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    for (int i = 0; i < 3; i++) out[3 * t + i] = p[i];
}

// Fluid on a lattice of nine directions, whole numbers in fixed point so that the result is exact.
KERNEL lattice(const int *start, int *out, int turns) {
    __shared__ int f[2][9][16][16];
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, w[9] = {16, 4, 4, 4, 4, 1, 1, 1, 1};
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 9; k++) f[0][k][y][x] = start[(k * 16 + y) * 16 + x];
    for (int n = 0; n < turns; n++) {
        __syncthreads();
        int sum = 0, mx = 0, my = 0, v[9];
        for (int k = 0; k < 9; k++) v[k] = f[n & 1][k][y][x], sum += v[k], mx += dx[k] * v[k], my += dy[k] * v[k];
        for (int k = 0; k < 9; k++) {
            int calm = w[k] * (sum + 3 * (dx[k] * mx + dy[k] * my)) / 36;
            f[~n & 1][k][y + dy[k] & 15][x + dx[k] & 15] = v[k] + (calm - v[k]) / 2;
        }
    }
    __syncthreads();
    for (int k = 0; k < 9; k++) out[(k * 16 + y) * 16 + x] = f[turns & 1][k][y][x];
}

// Medians of nine bytes by a network of exchanges, edges repeated.
__device__ inline void order(uint8_t &a, uint8_t &b) {
    uint8_t x = min(a, b);
    b = max(a, b), a = x;
}
KERNEL median(const uint8_t *in, uint8_t *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    uint8_t v[9];
    for (int k = 0; k < 9; k++) v[k] = in[min(max(y + k / 3 - 1, 0), height - 1) * width + min(max(x + k % 3 - 1, 0), width - 1)];
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]), order(v[0], v[1]), order(v[3], v[4]), order(v[6], v[7]);
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]), order(v[0], v[3]), order(v[5], v[8]), order(v[4], v[7]);
    order(v[3], v[6]), order(v[1], v[4]), order(v[2], v[5]), order(v[4], v[7]), order(v[4], v[2]), order(v[6], v[4]), order(v[4], v[2]);
    out[y * width + x] = v[4];
}

// Edges by Sobel of four bytes packed in a word of colours.
KERNEL edges(const uchar4 *in, int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, gx = 0, gy = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            uchar4 c = in[(y + j + height) % height * width + (x + i + width) % width];
            int grey = (77 * c.x + 150 * c.y + 29 * c.z) >> 8;
            gx += i * (j ? 1 : 2) * grey, gy += j * (i ? 1 : 2) * grey;
        }
    out[y * width + x] = abs(gx) + abs(gy);
}

KERNEL integral_image(const uint8_t *in, unsigned *out) {  // 64 by 64: scans of rows by warps, then of columns
    __shared__ unsigned s[64][65];
    int t = threadIdx.x, lane = t % 32;
    for (int row = t / 32; row < 64; row += 4)
        for (unsigned base = 0, carry = 0; base < 64; base += 32) {
            unsigned x = in[row * 64 + base + lane];
            for (int step = 1; step < 32; step *= 2) {
                unsigned y = __shfl_up_sync(~0u, x, step);
                if (lane >= step) x += y;
            }
            s[row][base + lane] = x += carry;
            carry = __shfl_sync(~0u, x, 31);
        }
    __syncthreads();
    if (t < 64)
        for (int row = 1; row < 64; row++) s[row][t] += s[row - 1][t];
    __syncthreads();
    for (int i = t; i < 4096; i += 128) out[i] = s[i / 64][i % 64];
}

KERNEL nearest_means(const int2 *points, int2 *means, int *label, int n, int k, int turns) {
    __shared__ int2 m[8];
    __shared__ int sx[8], sy[8], count[8];
    int t = threadIdx.x;
    if (t < k) m[t] = means[t];
    for (int turn = 0; turn < turns; turn++) {
        if (t < k) sx[t] = sy[t] = count[t] = 0;
        __syncthreads();
        for (int i = t; i < n; i += blockDim.x) {
            int2 p = points[i];
            int best = 0, least = 0x7fffffff;
            for (int c = 0; c < k; c++) {
                int d = (p.x - m[c].x) * (p.x - m[c].x) + (p.y - m[c].y) * (p.y - m[c].y);
                if (d < least) least = d, best = c;
            }
            label[i] = best;
            atomicAdd(sx + best, p.x), atomicAdd(sy + best, p.y), atomicAdd(count + best, 1);
        }
        __syncthreads();
        if (t < k && count[t]) m[t] = make_int2(sx[t] / count[t], sy[t] / count[t]);
        __syncthreads();
    }
    if (t < k) means[t] = m[t];
}

KERNEL option_prices(const float *price, const float *strike, const float *years, float *call) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = price[t], x = strike[t], v = 0.3f * sqrtf(years[t]), r = 0.02f * years[t];
    float d = (logf(s / x) + r + 0.5f * v * v) / v;
    call[t] = s * normcdff(d) - x * expf(-r) * normcdff(d - v);
}

KERNEL spheres(const float4 *balls, int *which, float *depth, int n, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, hit = -1;
    float dx = (x - 16) * 0.0625f, dy = (y - 4) * 0.0625f, dz = 1, near = 1e30f;
    for (int k = 0; k < n; k++) {
        float4 b = balls[k];
        float a = dx * dx + dy * dy + dz * dz, h = dx * b.x + dy * b.y + dz * b.z;
        float c = b.x * b.x + b.y * b.y + b.z * b.z - b.w * b.w, d = h * h - a * c;
        if (d < 0) continue;
        float root = (h - sqrtf(d)) / a;
        if (root > 0 && root < near) near = root, hit = k;
    }
    which[y * width + x] = hit, depth[y * width + x] = near;
}

// Digits of pi and e in whole numbers of many words; a thread carries, a block adds.
KERNEL many_digits(unsigned *out, int words, int terms) {
    __shared__ unsigned sum[32], term[32];
    int t = threadIdx.x;
    sum[t] = term[t] = t == 0 ? 1 : 0;
    __syncthreads();
    for (int k = 1; k < terms; k++) {
        if (t == 0) {
            unsigned rest = 0;
            for (int i = 0; i < words; i++) {
                uint64_t v = (uint64_t)rest << 32 | term[i];
                term[i] = v / k, rest = v % k;
            }
            uint64_t carry = 0;
            for (int i = words - 1; i >= 0; i--) carry += (uint64_t)sum[i] + term[i], sum[i] = carry, carry >>= 32;
        }
        __syncthreads();
    }
    if (t < words) out[t] = sum[t];
}
