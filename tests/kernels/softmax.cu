// Softmax of the rows of a matrix, one block of 128 threads per row, with the hardware's approximations ex2 and rcp;
// softmax_fast is the same with the library's fast intrinsics.
#define THREADS 128

__device__ __forceinline__ float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float rcp(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ float block_max(float v, float *scratch)
{
    for (int d = 16; d > 0; d >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x >> 5] = v;
    __syncthreads();
    return fmaxf(fmaxf(scratch[0], scratch[1]), fmaxf(scratch[2], scratch[3]));
}

__device__ float block_sum(float v, float *scratch)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x >> 5] = v;
    __syncthreads();
    return (scratch[0] + scratch[1]) + (scratch[2] + scratch[3]);
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    __shared__ float scratch[THREADS / 32];
    const float *in = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    float top = -__int_as_float(0x7f800000);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        top = fmaxf(top, in[c]);
    top = block_max(top, scratch);
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += ex2((in[c] - top) * 1.4426950408889634f);
    float scale = rcp(block_sum(sum, scratch));
    for (int c = threadIdx.x; c < cols; c += THREADS)
        out[c] = ex2((in[c] - top) * 1.4426950408889634f) * scale;
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax_fast(const float *__restrict__ x, float *__restrict__ y,
                                                                   int cols)
{
    __shared__ float scratch[THREADS / 32];
    const float *in = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    float top = -__int_as_float(0x7f800000);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        top = fmaxf(top, in[c]);
    top = block_max(top, scratch);
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += __expf(in[c] - top);
    sum = block_sum(sum, scratch);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        out[c] = __fdividef(__expf(in[c] - top), sum);
}
