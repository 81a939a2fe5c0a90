// A table in __constant__ memory, initialised and zero __device__ globals, one of them holding an address.
__constant__ float weights[8] = {0.5f, -1.0f, 2.0f, 0.25f, -0.125f, 3.0f, 1.5f, -2.5f};
__constant__ unsigned char order[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ int bonus[10] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
__device__ int *bonus_tail = &bonus[4];
__device__ unsigned visits;

extern "C" __global__ void tables(const int *__restrict__ index, float *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = index[i];
    float v = weights[k & 7] * (float)order[k & 15] + weights[3];
    v += (float)bonus[(unsigned)k % 10u];
    if (k & 1)
        v += (float)bonus_tail[k & 3];
    out[i] = v;
    atomicAdd(&visits, 1u);
}

// Changes the global table for later launches of the same module and reads the counter that earlier ones left.
extern "C" __global__ void tables_update(int from, int value, unsigned *__restrict__ seen)
{
    if (threadIdx.x < 10 && (int)threadIdx.x >= from)
        bonus[threadIdx.x] += value;
    if (threadIdx.x == 0)
        *seen = visits;
}
