// Much that is live at once: matrices and transforms in registers.
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define UNROLL _Pragma("unroll")

KERNEL dgemm_tiled(const double *a, const double *b, double *c, int n, int depth) {  // a thread has 8x8 of c
    double t[8][8];
    UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) t[i][j] = 0;
    a += threadIdx.y * 8 * depth, b += threadIdx.x * 8;
    for (int k = 0; k < depth; k++) {
        double x[8], y[8];
        UNROLL for (int i = 0; i < 8; i++) x[i] = a[i * depth + k], y[i] = b[k * n + i];
        UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) t[i][j] += x[i] * y[j];
    }
    c += threadIdx.y * 8 * n + threadIdx.x * 8;
    UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) c[i * n + j] = t[i][j];
}

KERNEL sgemm_shared(const float *a, const float *b, float *c, int n) {  // tiles of 32x32 by 8x8 threads, through shared memory
    __shared__ float as[8][33], bs[8][32];
    float t[4][4] = {};
    int x = threadIdx.x, y = threadIdx.y, id = y * 8 + x;
    for (int k0 = 0; k0 < n; k0 += 8) {
        UNROLL for (int k = 0; k < 4; k++) {
            int e = id + 64 * k;
            as[e % 8][e / 8] = a[(blockIdx.y * 32 + e / 8) * n + k0 + e % 8], bs[e / 32][e % 32] = b[(k0 + e / 32) * n + blockIdx.x * 32 + e % 32];
        }
        __syncthreads();
        UNROLL for (int k = 0; k < 8; k++) {
            float u[4], v[4];
            UNROLL for (int i = 0; i < 4; i++) u[i] = as[k][y * 4 + i], v[i] = bs[k][x * 4 + i];
            UNROLL for (int i = 0; i < 4; i++) UNROLL for (int j = 0; j < 4; j++) t[i][j] = fmaf(u[i], v[j], t[i][j]);
        }
        __syncthreads();
    }
    UNROLL for (int i = 0; i < 4; i++) UNROLL for (int j = 0; j < 4; j++)
        c[(blockIdx.y * 32 + y * 4 + i) * n + blockIdx.x * 32 + x * 4 + j] = t[i][j];
}

KERNEL lu_registers(double *a) {  // 8x8 each, without a pivot
    double m[8][8];
    a += threadIdx.x * 64;
    UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) m[i][j] = a[i * 8 + j];
    UNROLL for (int k = 0; k < 7; k++) {
        double r = 1 / m[k][k];
        UNROLL for (int i = k + 1; i < 8; i++) {
            m[i][k] *= r;
            UNROLL for (int j = k + 1; j < 8; j++) m[i][j] -= m[i][k] * m[k][j];
        }
    }
    UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) a[i * 8 + j] = m[i][j];
}

KERNEL cholesky_registers(float *a) {  // 10x10 each
    float m[10][10];
    a += threadIdx.x * 100;
    UNROLL for (int i = 0; i < 10; i++) UNROLL for (int j = 0; j <= i; j++) m[i][j] = a[i * 10 + j];
    UNROLL for (int k = 0; k < 10; k++) {
        m[k][k] = sqrtf(m[k][k]);
        UNROLL for (int i = k + 1; i < 10; i++) m[i][k] /= m[k][k];
        UNROLL for (int j = k + 1; j < 10; j++) UNROLL for (int i = j; i < 10; i++) m[i][j] -= m[i][k] * m[j][k];
    }
    UNROLL for (int i = 0; i < 10; i++) UNROLL for (int j = 0; j < 10; j++) a[i * 10 + j] = j <= i ? m[i][j] : 0;
}

KERNEL inverse_registers(double *a) {  // 8x8 each, in place, Gauss and Jordan
    double m[8][8];
    a += threadIdx.x * 64;
    UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) m[i][j] = a[i * 8 + j];
    UNROLL for (int k = 0; k < 8; k++) {
        double r = __drcp_rn(m[k][k]);
        m[k][k] = 1;
        UNROLL for (int j = 0; j < 8; j++) m[k][j] *= r;
        UNROLL for (int i = 0; i < 8; i++) if (i != k) {
            double f = m[i][k];
            m[i][k] = 0;
            UNROLL for (int j = 0; j < 8; j++) m[i][j] -= f * m[k][j];
        }
    }
    UNROLL for (int i = 0; i < 8; i++) UNROLL for (int j = 0; j < 8; j++) a[i * 8 + j] = m[i][j];
}

KERNEL inverse_pivoted(float *a) {  // 5x5 each; rows change places by the largest of the column
    float m[5][5];
    int p[5];
    a += threadIdx.x * 25;
    UNROLL for (int i = 0; i < 5; i++) UNROLL for (int j = 0; j < 5; j++) m[i][j] = a[i * 5 + j];
    UNROLL for (int k = 0; k < 5; k++) {
        int best = k;
        float top = fabsf(m[k][k]);
        UNROLL for (int i = k + 1; i < 5; i++) if (fabsf(m[i][k]) > top) top = fabsf(m[i][k]), best = i;
        p[k] = best;
        UNROLL for (int i = k + 1; i < 5; i++) if (i == best) UNROLL for (int j = 0; j < 5; j++) { float t = m[k][j]; m[k][j] = m[i][j], m[i][j] = t; }
        float r = 1 / m[k][k];
        m[k][k] = 1;
        UNROLL for (int j = 0; j < 5; j++) m[k][j] *= r;
        UNROLL for (int i = 0; i < 5; i++) if (i != k) {
            float f = m[i][k];
            m[i][k] = 0;
            UNROLL for (int j = 0; j < 5; j++) m[i][j] -= f * m[k][j];
        }
    }
    UNROLL for (int k = 4; k >= 0; k--) UNROLL for (int c = k + 1; c < 5; c++)
        if (c == p[k]) UNROLL for (int i = 0; i < 5; i++) { float t = m[i][k]; m[i][k] = m[i][c], m[i][c] = t; }
    UNROLL for (int i = 0; i < 5; i++) UNROLL for (int j = 0; j < 5; j++) a[i * 5 + j] = m[i][j];
}

KERNEL live_doubles(const double *a, double *o) {  // 72 doubles that live through a loop
    double v[72];
    UNROLL for (int k = 0; k < 72; k++) v[k] = a[threadIdx.x * 72 + k];
#pragma unroll 1
    for (int turn = 0; turn < 3; turn++) {
        double first = v[0];
        UNROLL for (int k = 0; k < 72; k++) v[k] = v[(k * 7 + 1) % 72] * 0.5 + (k < 71 ? v[k + 1] : first);
    }
    UNROLL for (int k = 0; k < 72; k++) o[threadIdx.x * 72 + k] = v[k];
}

KERNEL live_words(const int *a, int *o) {  // 48 words, sorted by a network: every one lives to the end
    int v[48];
    UNROLL for (int k = 0; k < 48; k++) v[k] = a[threadIdx.x * 48 + k];
    UNROLL for (int p = 1; p < 48; p *= 2) UNROLL for (int k = p; k >= 1; k /= 2)
        UNROLL for (int j = k % p; j + k < 48; j += 2 * k) UNROLL for (int i = 0; i < k; i++)
            if (i + j + k < 48 && (i + j) / (2 * p) == (i + j + k) / (2 * p)) {
                int x = v[i + j], y = v[i + j + k];
                v[i + j] = min(x, y), v[i + j + k] = max(x, y);
            }
    UNROLL for (int k = 0; k < 48; k++) o[threadIdx.x * 48 + k] = v[k];
}

KERNEL fourier_64(const float2 *a, float2 *o, const float2 *turns) {  // 64 complex numbers in registers, three stages by 4
    float2 v[64];
    a += threadIdx.x * 64, o += threadIdx.x * 64;
    UNROLL for (int k = 0; k < 64; k++) v[k] = a[k];
    UNROLL for (int s = 16; s >= 1; s /= 4)
        UNROLL for (int g = 0; g < 64; g += 4 * s) UNROLL for (int i = 0; i < s; i++) {
            float2 x0 = v[g + i], x1 = v[g + i + s], x2 = v[g + i + 2 * s], x3 = v[g + i + 3 * s];
            float2 p = {x0.x + x2.x, x0.y + x2.y}, q = {x0.x - x2.x, x0.y - x2.y}, r = {x1.x + x3.x, x1.y + x3.y}, t = {x1.y - x3.y, x3.x - x1.x};
            float2 y[4] = {{p.x + r.x, p.y + r.y}, {q.x + t.x, q.y + t.y}, {p.x - r.x, p.y - r.y}, {q.x - t.x, q.y - t.y}};
            UNROLL for (int k = 0; k < 4; k++) {
                if (k && i) {
                    float2 w = turns[16 / s * i * k];
                    v[g + i + k * s] = {y[k].x * w.x - y[k].y * w.y, y[k].x * w.y + y[k].y * w.x};
                } else v[g + i + k * s] = y[k];
            }
        }
    UNROLL for (int k = 0; k < 64; k++) o[k] = v[(k & 3) << 4 | (k & 12) | k >> 4];
}

KERNEL kmeans_step(const float2 *points, const float2 *centres, float2 *sums, int *counts, int *near, int n, int k) {
    __shared__ float sx[8], sy[8];
    __shared__ int count[8];
    if (threadIdx.x < k) sx[threadIdx.x] = sy[threadIdx.x] = count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int best = 0;
        float least = 1e30f;
        for (int c = 0; c < k; c++) {
            float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
            if (d < least) least = d, best = c;
        }
        near[i] = best;
        atomicAdd(&sx[best], points[i].x), atomicAdd(&sy[best], points[i].y), atomicAdd(&count[best], 1);
    }
    __syncthreads();
    if (threadIdx.x < k) sums[threadIdx.x] = {sx[threadIdx.x], sy[threadIdx.x]}, counts[threadIdx.x] = count[threadIdx.x];
}

KERNEL quaternion_power(const double4 *a, double4 *o, int n) {
    double4 r = {0, 0, 0, 1}, b = a[threadIdx.x];
    for (; n; n >>= 1) {
        if (n & 1) r = {r.w * b.x + r.x * b.w + r.y * b.z - r.z * b.y, r.w * b.y - r.x * b.z + r.y * b.w + r.z * b.x,
                        r.w * b.z + r.x * b.y - r.y * b.x + r.z * b.w, r.w * b.w - r.x * b.x - r.y * b.y - r.z * b.z};
        b = {2 * b.w * b.x, 2 * b.w * b.y, 2 * b.w * b.z, b.w * b.w - b.x * b.x - b.y * b.y - b.z * b.z};
    }
    o[threadIdx.x] = r;
}
