// sm >= 75
// Half precision, bfloat16 and 8-bit floats, matrix fragments, asynchronous copies.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void half_axpy(const __half2 *x, __half2 *y, __half2 a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

extern "C" __global__ void half_functions(const __half *x, __half *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half h = x[i];
    __half s = hexp(h) + hlog(__habs(h)) + hsqrt(h) + hrcp(h) + hsin(h) * hcos(h) + htrunc(h) + __hmax(h, y[i]);
    if (__hisnan(s) || __hlt(s, h)) s = __float2half(__half2float(h) * 0.5f) / h;
    y[i] = s + __int2half_rn(__half2int_rz(h)) + __ushort2half_rn(__half2ushort_rn(s));
}

extern "C" __global__ void bfloat_norm(const __nv_bfloat16 *x, __nv_bfloat16 *y, const __nv_bfloat162 *g, int n) {
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float v = __bfloat162float(x[i]);
        s += v * v;
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    float r = rsqrtf(s / n + 1e-5f);
    for (int i = threadIdx.x; i < n / 2; i += 32) {
        __nv_bfloat162 v = __floats2bfloat162_rn(__bfloat162float(x[2 * i]) * r, __bfloat162float(x[2 * i + 1]) * r);
        ((__nv_bfloat162 *)y)[i] = __hmul2(v, g[i]);
    }
}

extern "C" __global__ void quantize(const float4 *x, __nv_fp8x4_e4m3 *y, __nv_fp8x2_e5m2 *z, float *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    y[i] = __nv_fp8x4_e4m3(v);
    z[i] = __nv_fp8x2_e5m2(make_float2(v.x, v.w));
    float4 w = float4(y[i]);
    back[i] = w.x + w.y * w.z - w.w;
}

extern "C" __global__ void fragments(const half *a, const half *b, float *c, int n) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + k, n);
        wmma::load_matrix_sync(fb, b + k, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fmaxf(fc.x[i], 0.0f);
    wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void fragments_int(const signed char *a, const signed char *b, int *c, int n) {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + k, n);
        wmma::load_matrix_sync(fb, b + k, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, n, wmma::mem_col_major);
}

extern "C" __global__ void staged(const float4 *in, float *out, int n) {
    __shared__ float4 s[2][128];
    float acc = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], in + threadIdx.x, 16);
    __pipeline_commit();
    for (int k = 1; k < n; ++k) {
        __pipeline_memcpy_async(&s[k & 1][threadIdx.x], in + k * 128 + threadIdx.x, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = s[(k - 1) & 1][127 - threadIdx.x];
        acc += v.x * v.y + v.z * v.w;
        __syncthreads();
    }
    out[threadIdx.x] = acc;
}

extern "C" __global__ void half_atomics(__half2 *h, float *f, double *d, unsigned long long *u, int *i) {
    int t = threadIdx.x;
    atomicAdd(h + t % 7, __floats2half2_rn(t, 1.0f));
    atomicAdd_block(f, 1.0f);
    atomicAdd_system(d, 2.0);
    atomicMax(u, (unsigned long long)t << 33);
    i[t] = atomicXor(i, t) + atomicInc((unsigned *)i + 1, 77) + atomicExch(i + 2, t) + atomicMin(i + 3, -t);
    __threadfence_system();
    atomicCAS((unsigned short *)i + 9, (unsigned short)t, (unsigned short)1);
}
