// targets: sm_90
// Kernels that show how fast the simulator is (bench/simulator.py): arithmetic, memory, shared memory, divergence.
#define KERNEL extern "C" __global__ void
#define ID int i = blockIdx.x * blockDim.x + threadIdx.x

KERNEL integers(const unsigned *x, unsigned *y, int n)
{
    ID;
    unsigned a = x[i], b = i;
    for (int k = 0; k < n; k++) a = a * 1664525u + b, b ^= a >> 13, b += b << 3;
    y[i] = a + b;
}

KERNEL floats(const float *x, float *y, int n)
{
    ID;
    float a = x[i], b = 1;
    for (int k = 0; k < n; k++) a = a * 0.999f + b, b = b * a + 0.5f, b = fminf(b, 4.0f) - a;
    y[i] = a + b;
}

KERNEL copy(const float *x, float *y, int n)
{
    ID;
    for (int k = i; k < n; k += gridDim.x * blockDim.x) y[k] = x[k];
}

KERNEL sgemm(const float *x, const float *y, float *z, int n)
{
    __shared__ float p[16][16], q[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float a = 0;
    for (int k = 0; k < n; k += 16) {
        p[threadIdx.y][threadIdx.x] = x[row * n + k + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) a += p[threadIdx.y][j] * q[j][threadIdx.x];
        __syncthreads();
    }
    z[row * n + column] = a;
}

KERNEL collatz(const unsigned *x, unsigned *y, int n)
{
    ID;
    unsigned a = x[i] | 1, turns = 0;
    while (a != 1 && turns < n) {
        if (a & 1) a = 3 * a + 1;
        else a >>= 1;
        turns++;
    }
    y[i] = turns;
}
