// Half, bfloat16, FP8, FP6 and FP4: arithmetic, comparisons, conversions, atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

template <typename T, typename T2>
__global__ void arithmetic(T *x, T2 *y, float *f, int *k) {
  T a = x[0], b = x[1], c = x[2];
  T2 p = y[0], q = y[1], r = y[2];
  x[3] = __hadd(a, b) * __hsub_sat(b, c) + __hfma_relu(a, b, c) + __hneg(a) + __habs(b) + __hmul_sat(a, c);
  x[4] = __hmax(a, b) + __hmin_nan(b, c) + hsqrt(a) + hrsqrt(b) + hexp(c) + hlog2(a) + hsin(b) + hcos(c) + hrcp(a) + htanh(b);
  x[5] = hceil(a) + hfloor(b) + hrint(c) + htrunc(a) + a / b + __hdiv(b, c) + hexp10(a) + hlog(b);
  y[3] = __hadd2(p, q) + __hfma2(p, q, r) + __hmul2_rn(p, q) + __hmax2_nan(p, r) + h2exp2(p) + __h2div(p, q) + __hcmadd(p, q, r);
  y[4] = __hgt2(p, q) + __heq2(p, r) + __hleu2(q, r) + __lowhigh2highlow(p);
  k[0] = __hbge2(p, q) + __hisnan(a) + (a < b) + (b >= c) + __hne(a, c) + __hltu(a, b) + int(a) + (unsigned short)(b) + (long long)(c);
  f[0] = float(a) + __low2float(p) + __high2float(q);
  atomicAdd(x + 8, a);
  atomicAdd(y + 8, p);
}
template __global__ void arithmetic<__half, __half2>(__half *, __half2 *, float *, int *);
template __global__ void arithmetic<__nv_bfloat16, __nv_bfloat162>(__nv_bfloat16 *, __nv_bfloat162 *, float *, int *);

__global__ void half_conversions(__half *h, __nv_bfloat16 *b, float *f, double *d, int *k) {
  h[0] = __float2half_rz(f[0]);
  h[1] = __double2half(d[0]);
  h[2] = __int2half_ru(k[0]);
  h[3] = __ull2half_rd(k[1]);
  h[4] = __ushort_as_half(7);
  k[2] = __half2int_rn(h[0]) + __half2uint_rd(h[1]) + __half2ll_ru(h[2]) + __half2short_rz(h[3]);
  b[0] = __float2bfloat16_rd(f[1]);
  b[1] = __double2bfloat16(d[1]);
  b[2] = __int2bfloat16_rn(k[0]);
  k[3] = __bfloat162int_rz(b[1]) + __bfloat162uint_rn(b[2]);
  __half2 p = __floats2half2_rn(f[0], f[1]);
  __nv_bfloat162 q = __floats2bfloat162_rn(f[2], f[3]);
  f[4] = __half22float2(p).x + __bfloat1622float2(q).y;
  h[5] = __shfl_sync(~0u, h[0], 3);
  b[5] = __shfl_xor_sync(~0u, b[0], 1);
  h[6] = __ldg(h + 9);
  __stcs(h + 7, __ldcg(h + 11));
}

__global__ void narrow(float4 *f, __half2 *h, unsigned *u, double *d) {
  __nv_fp8x4_e4m3 a(f[0]);
  __nv_fp8x4_e5m2 b(f[1]);
  __nv_fp8x2_e4m3 c(h[0]);
  __nv_fp8_e5m2 e(d[0]);
  __nv_fp6x4_e2m3 g(f[2]);
  __nv_fp6x2_e3m2 i(h[1]);
  __nv_fp4x4_e2m1 j(f[3]);
  __nv_fp8_e8m0 k(f[0].x);
  u[0] = a.__x + b.__x + c.__x + e.__x + g.__x + i.__x + j.__x + k.__x;
  f[4] = float4(a);
  f[5] = float4(b);
  f[6] = float4(g);
  f[7] = float4(j);
  h[2] = __half2(c);
  h[3] = __half2(i);
  f[8].x = float(e) + float(k);
}
