// Half precision in pairs: fused multiply-add, and a small polynomial with sum, product, negation and conversion.
#include <cuda_fp16.h>

extern "C" __global__ void fma_f16x2(const __half2 *__restrict__ a, const __half2 *__restrict__ b,
                                     __half2 *__restrict__ c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __hfma2(a[i], b[i], c[i]);
}

extern "C" __global__ void poly_f16x2(const __half2 *__restrict__ x, float2 *__restrict__ y, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 k = __float2half2_rn(scale);
    __half2 v = x[i];
    __half2 p = __hfma2(v, __hfma2(v, k, __floats2half2_rn(0.5f, -0.25f)), __hneg2(k));
    p = __hadd2_rn(__hmul2_rn(p, v), __lowhigh2highlow(p));
    y[i] = __half22float2(p);
}
