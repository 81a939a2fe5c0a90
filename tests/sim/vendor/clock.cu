// targets: sm_80 sm_100a sm_120a sm_90
// levels: 0 1
// Pairs of kernels for the clock: of each pair it is known which one is faster.
#define KERNEL extern "C" __global__ void
#define ID int i = blockIdx.x * blockDim.x + threadIdx.x
#define STEPS 64

KERNEL copy(const float *x, float *y, int n) { ID; y[i] = x[i]; }
KERNEL copy_strided(const float *x, float *y, int n) { ID; int k = (i % (n / 32)) * 32 + i / (n / 32); y[k] = x[k]; }
KERNEL copy_bytes(const unsigned char *x, unsigned char *y, int n) { ID; for (int k = 0; k < 4; k++) y[i + k * n] = x[i + k * n]; }
KERNEL copy_random(const float *x, float *y, int n) { ID; int k = (int)((unsigned)i * 2654435761u) & (n - 1); y[i] = x[k]; }
KERNEL sum_soa(const float *x, float *y, int n) { ID; y[i] = x[i] + x[i + n] + x[i + 2 * n] + x[i + 3 * n]; }
KERNEL sum_aos(const float *x, float *y, int n) { ID; const float *p = x + 13 * i; y[i] = p[0] + p[3] + p[6] + p[12]; }

KERNEL transpose(const float *x, float *y, int n)
{
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8) y[column * n + row + k] = x[(row + k) * n + column];
}
template <int PAD> __device__ void transposed(const float *x, float *y, int n)
{
    __shared__ float tile[32][32 + PAD];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + column];
    __syncthreads();
    row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8) y[(row + k) * n + column] = tile[threadIdx.x][threadIdx.y + k];
}
KERNEL transpose_tiled(const float *x, float *y, int n) { transposed<0>(x, y, n); }
KERNEL transpose_padded(const float *x, float *y, int n) { transposed<1>(x, y, n); }

template <int STRIDE> __device__ void banks(const float *x, float *y)
{
    __shared__ float s[2048];
    ID;
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = x[k];
    __syncthreads();
    float a = 0;
    for (int k = 0; k < STEPS; k++) a += s[(threadIdx.x * STRIDE + k) & 2047];
    y[i] = a;
}
KERNEL banks1(const float *x, float *y, int n) { banks<1>(x, y); }
KERNEL banks2(const float *x, float *y, int n) { banks<2>(x, y); }
KERNEL banks8(const float *x, float *y, int n) { banks<8>(x, y); }
KERNEL banks32(const float *x, float *y, int n) { banks<32>(x, y); }

KERNEL gemm(const float *x, float *y, int n)
{
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float a = 0;
    for (int k = 0; k < n; k++) a += x[row * n + k] * x[k * n + column];
    y[row * n + column] = a;
}
KERNEL gemm_column(const float *x, float *y, int n)
{
    int row = blockIdx.y * 16 + threadIdx.x, column = blockIdx.x * 16 + threadIdx.y;
    float a = 0;
    for (int k = 0; k < n; k++) a += x[row * n + k] * x[k * n + column];
    y[row * n + column] = a;
}
KERNEL gemm_tiled(const float *x, float *y, int n)
{
    __shared__ float p[16][16], q[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float a = 0;
    for (int k = 0; k < n; k += 16) {
        p[threadIdx.y][threadIdx.x] = x[row * n + k + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = x[(k + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) a += p[threadIdx.y][j] * q[j][threadIdx.x];
        __syncthreads();
    }
    y[row * n + column] = a;
}

template <int CHAINS> __device__ void chains(const float *x, float *y)
{
    ID;
    float a[CHAINS], b = x[i];
    for (int c = 0; c < CHAINS; c++) a[c] = b + c;
#pragma unroll 1
    for (int k = 0; k < STEPS * 4; k += 8)
#pragma unroll
        for (int j = 0; j < 8 / CHAINS; j++)
            for (int c = 0; c < CHAINS; c++) a[c] = a[c] * b + 1.5f;
    float s = 0;
    for (int c = 0; c < CHAINS; c++) s += a[c];
    y[i] = s;
}
KERNEL chains1(const float *x, float *y, int n) { chains<1>(x, y); }
KERNEL chains4(const float *x, float *y, int n) { chains<4>(x, y); }

KERNEL sum_shuffle(const float *x, float *y, int n)
{
    ID;
    float a = x[i];
    __shared__ float s[8];
    for (int k = 16; k; k >>= 1) a += __shfl_down_sync(~0u, a, k);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0) { for (int k = 1; k < 8; k++) a += s[k]; y[blockIdx.x] = a; }
}
KERNEL sum_shared(const float *x, float *y, int n)
{
    ID;
    __shared__ float s[256];
    s[threadIdx.x] = x[i];
    __syncthreads();
    for (int k = 128; k; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
KERNEL sum_interleaved(const float *x, float *y, int n)
{
    ID;
    __shared__ float s[256];
    s[threadIdx.x] = x[i];
    __syncthreads();
    for (int k = 1; k < 256; k *= 2) { if (threadIdx.x % (2 * k) == 0) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}

KERNEL loads_together(const float *x, float *y, int n)
{
    ID;
    float a = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) a += x[(i + k * 8192) & (n - 1)];
    y[i] = a;
}
KERNEL loads_chained(const float *x, float *y, int n)
{
    ID;
    float a = 0;
#pragma unroll 1
    for (int k = 0; k < 8; k++) a += x[(i + k * 8192 + (a > 1e30f)) & (n - 1)];
    y[i] = a;
}
KERNEL divide(const float *x, float *y, int n) { ID; float a = x[i] + 2; for (int k = 0; k < STEPS; k++) a = 1.5f / a + 1; y[i] = a; }
KERNEL divide_fast(const float *x, float *y, int n) { ID; float a = x[i] + 2; for (int k = 0; k < STEPS; k++) a = __fdividef(1.5f, a) + 1; y[i] = a; }
KERNEL sine(const float *x, float *y, int n) { ID; float a = x[i]; for (int k = 0; k < STEPS; k++) a = sinf(a) + 1; y[i] = a; }
KERNEL sine_fast(const float *x, float *y, int n) { ID; float a = x[i]; for (int k = 0; k < STEPS; k++) a = __sinf(a) + 1; y[i] = a; }
KERNEL modulo(const float *x, float *y, int n) { ID; unsigned a = i; for (int k = 1; k <= STEPS; k++) a = (a * 5 + 77) % (unsigned)(n - 3); y[i] = a; }
KERNEL modulo_mask(const float *x, float *y, int n) { ID; unsigned a = i; for (int k = 1; k <= STEPS; k++) a = (a * 5 + 77) & (unsigned)(n - 1); y[i] = a; }

template <int SHIFT> __device__ void branches(const float *x, float *y)
{
    ID;
    float a = x[i];
    int way = (i >> SHIFT) & 3;
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
        if (way == 0) { for (int j = 0; j < 8; j++) a = sqrtf(a + j); }
        else if (way == 1) { for (int j = 0; j < 8; j++) a = sinf(a + j); }
        else if (way == 2) { for (int j = 0; j < 8; j++) a = logf(fabsf(a) + 2 + j); }
        else { for (int j = 0; j < 8; j++) a = expf(-fabsf(a) - j); }
    }
    y[i] = a;
}
KERNEL branches_uniform(const float *x, float *y, int n) { branches<5>(x, y); }
KERNEL branches_divergent(const float *x, float *y, int n) { branches<0>(x, y); }

KERNEL in_registers(const float *x, float *y, int n)
{
    ID;
    float a[8];
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = x[i] * k;
    float s = 0;
#pragma unroll
    for (int k = 0; k < STEPS; k++) { s += a[k % 8]; a[k % 8] = s; }
    y[i] = s;
}
KERNEL in_memory(const float *x, float *y, int n)
{
    ID;
    float a[8];
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = x[i] * k;
    float s = 0;
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) { int j = (k * n + i) & 7; s += a[j]; a[j] = s; }
    y[i] = s;
}
KERNEL reread(const float *x, float *y, int n) { ID; float a = 0; for (int k = 0; k < 16; k++) a += x[(threadIdx.x + k * 256) & 4095]; y[i] = a; }
KERNEL stream(const float *x, float *y, int n) { ID; float a = 0; for (int k = 0; k < 16; k++) a += x[i + k * (n / 16)]; y[i] = a; }
KERNEL synced(const float *x, float *y, int n)
{
    ID;
    float a = x[i];
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) { a = a * 1.5f + 1; __syncthreads(); }
    y[i] = a;
}
KERNEL unsynced(const float *x, float *y, int n)
{
    ID;
    float a = x[i];
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) { a = a * 1.5f + 1; __syncwarp(); }
    y[i] = a;
}
