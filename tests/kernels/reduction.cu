// Sum and maximum of an array: a strided partial result per thread, shuffles in each warp, shared memory between
// the warps of a block, one atomic per block.  Blocks of full warps, up to 1024 threads.
__device__ __forceinline__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void reduce_sum(const float *__restrict__ x, float *__restrict__ total, int n)
{
    __shared__ float partial[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    v = warp_sum(v);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (blockDim.x + 31) / 32 ? partial[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0)
            atomicAdd(total, v);
    }
}

// Tree in shared memory down to one warp, then butterfly shuffles; signed maximum and the number of its holders.
extern "C" __global__ void reduce_max(const int *__restrict__ x, int *__restrict__ best, unsigned *__restrict__ hits,
                                      int n)
{
    __shared__ int tree[256];
    int t = threadIdx.x;
    int v = (int)0x80000000;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        v = max(v, x[i]);
    tree[t] = v;
    __syncthreads();
    for (int d = 128; d >= 32; d >>= 1) {
        if (t < d)
            tree[t] = max(tree[t], tree[t + d]);
        __syncthreads();
    }
    if (t < 32) {
        int m = tree[t];
        for (int d = 16; d > 0; d >>= 1)
            m = max(m, __shfl_xor_sync(0xffffffffu, m, d));
        if (t == 0) {
            atomicMax(best, m);
            tree[0] = m;
        }
    }
    __syncthreads();
    unsigned same = __ballot_sync(0xffffffffu, v == tree[0]);
    if ((t & 31) == 0)
        atomicAdd(&hits[blockIdx.x], __popc(same));
}
