// Linear algebra and the layers of neural networks.
// levels: O0 O1 G
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

template <typename T> __device__ void tiled_product(const T *a, const T *b, T *c, int n) {
    __shared__ T x[16][16], y[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    T sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        #pragma unroll
        for (int m = 0; m < 16; m++) sum += x[threadIdx.y][m] * y[m][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
KERNEL sgemm(const float *a, const float *b, float *c, int n) { tiled_product(a, b, c, n); }
KERNEL dgemm(const double *a, const double *b, double *c, int n) { tiled_product(a, b, c, n); }
KERNEL igemm(const long long *a, const long long *b, long long *c, int n) { tiled_product(a, b, c, n); }

KERNEL hgemm(const __half2 *a, const __half2 *b, __half *c, int n, int pairs) {  // rows of A by rows of B
    int row = threadIdx.y, column = threadIdx.x;
    __half2 sum = __float2half2_rn(0);
    for (int k = 0; k < pairs; k++) sum = __hfma2(a[row * pairs + k], b[column * pairs + k], sum);
    c[row * n + column] = __low2half(sum) + __high2half(sum);
}

KERNEL spmv(const int *rows, const int *columns, const float *values, const float *x, float *y, int n) {  // one warp for a row
    int row = THREAD / 32, lane = threadIdx.x & 31;
    if (row >= n) return;
    float sum = 0;
    for (int k = rows[row] + lane; k < rows[row + 1]; k += 32) sum += values[k] * x[columns[k]];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

KERNEL lu_solve(const double *a, const double *b, double *x) {  // partial pivots, one system of 8 for each thread
    double m[8][9];
    int i = THREAD;
    for (int r = 0; r < 8; r++) { for (int c = 0; c < 8; c++) m[r][c] = a[64 * i + 8 * r + c]; m[r][8] = b[8 * i + r]; }
    for (int k = 0; k < 8; k++) {
        int pivot = k;
        for (int r = k + 1; r < 8; r++) if (fabs(m[r][k]) > fabs(m[pivot][k])) pivot = r;
        for (int c = 0; c < 9; c++) { double t = m[k][c]; m[k][c] = m[pivot][c]; m[pivot][c] = t; }
        for (int r = k + 1; r < 8; r++) {
            double f = m[r][k] / m[k][k];
            for (int c = k; c < 9; c++) m[r][c] -= f * m[k][c];
        }
    }
    for (int r = 7; r >= 0; r--) {
        double s = m[r][8];
        for (int c = r + 1; c < 8; c++) s -= m[r][c] * x[8 * i + c];
        x[8 * i + r] = s / m[r][r];
    }
}

__device__ float block_sum(float v, float *s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}
KERNEL softmax_rows(const float *a, float *o, int n) {
    __shared__ float s[64];
    const float *row = a + blockIdx.x * n;
    float high = -INFINITY, sum = 0;
    for (int k = threadIdx.x; k < n; k += 64) high = fmaxf(high, row[k]);
    s[threadIdx.x] = high;
    __syncthreads();
    for (int d = 32; d; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    high = s[0];
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += 64) sum += expf(row[k] - high);
    sum = block_sum(sum, s);
    for (int k = threadIdx.x; k < n; k += 64) o[blockIdx.x * n + k] = expf(row[k] - high) / sum;
}
KERNEL layer_norm(const float *a, const float *gain, const float *bias, float *o, int n) {
    __shared__ float s[64];
    const float *row = a + blockIdx.x * n;
    float sum = 0, square = 0;
    for (int k = threadIdx.x; k < n; k += 64) sum += row[k];
    float mean = block_sum(sum, s) / n;
    for (int k = threadIdx.x; k < n; k += 64) square += (row[k] - mean) * (row[k] - mean);
    float scale = rsqrtf(block_sum(square, s) / n + 1e-5f);
    for (int k = threadIdx.x; k < n; k += 64) o[blockIdx.x * n + k] = (row[k] - mean) * scale * gain[k] + bias[k];
}

KERNEL attention(const float *q, const float *keys, const float *values, float *o, int n) {  // one query a thread, one pass
    float query[16], sum[16] = {}, high = -INFINITY, weight = 0;
    int i = THREAD;
    for (int d = 0; d < 16; d++) query[d] = q[16 * i + d];
    for (int k = 0; k < n; k++) {
        float score = 0;
        for (int d = 0; d < 16; d++) score += query[d] * keys[16 * k + d];
        score *= 0.25f;
        float next = fmaxf(high, score), old = __expf(high - next), w = __expf(score - next);
        weight = weight * old + w;
        for (int d = 0; d < 16; d++) sum[d] = sum[d] * old + w * values[16 * k + d];
        high = next;
    }
    for (int d = 0; d < 16; d++) o[16 * i + d] = sum[d] / weight;
}

__constant__ float filter[5][5];
KERNEL convolution(const float *image, float *o, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    #pragma unroll
    for (int dy = -2; dy <= 2; dy++)
        #pragma unroll
        for (int dx = -2; dx <= 2; dx++) {
            int u = min(max(x + dx, 0), width - 1), v = min(max(y + dy, 0), height - 1);
            sum += image[v * width + u] * filter[dy + 2][dx + 2];
        }
    o[y * width + x] = sum;
}
