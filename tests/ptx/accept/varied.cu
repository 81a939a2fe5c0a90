// Varied device code whose PTX (made by nvcc 13.0 -O3) the parser must accept: one kernel per group of instructions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" {
__device__ __noinline__ float helper(float x, int *p) { return x * p[0] + 1.0f; }
__global__ void integers(long long *o, const long long *a) {
  int i = threadIdx.x;
  o[i] = a[i] / (a[i + 1] | 1) + a[i] % 7 + __mul64hi(a[i], 3) + __popcll(a[i]) + __clzll(a[i]) + __ffsll(a[i]) + __brevll(a[i]);
  ((int *)o)[i] += __dp4a(i, i, i) + __sad(i, 3, 4) + __byte_perm(i, 2, 0x1234) + __funnelshift_l(i, 2, 3) + __umulhi(i, 9) + min(i, 3);
}
__global__ void halves(__half *o, const __half *a, __half2 *b) {
  int i = threadIdx.x;
  o[i] = __hfma(a[i], a[i + 1], a[i + 2]);
  b[i] = __hmax2(__hfma2(b[i], b[i + 1], b[i + 2]), b[i + 3]);
  o[i + 1] = __float2half(__half2float(a[i]) * 2);
  if (__hgt(a[i], a[i + 1])) o[i] = __int2half_rn(i);
  atomicAdd(o, a[i]);
  atomicAdd(b, b[1]);
}
__global__ void bfloats(__nv_bfloat16 *o, const __nv_bfloat16 *a, __nv_bfloat162 *b) {
  int i = threadIdx.x;
  o[i] = __hfma(a[i], a[i + 1], a[i + 2]);
  b[i] = __hmin2(__floats2bfloat162_rn(1.f * i, 2.f), b[i + 1]);
  if (__hlt(a[i], a[i + 1])) o[i + 5] = __float2bfloat16(__bfloat162float(a[i]) * 3);
}
__global__ void atomics(int *a, unsigned *b, unsigned long long *c, float *d, double *e) {
  int i = threadIdx.x;
  atomicAdd(a, i); atomicMax(a, i); atomicMin(a, 3); atomicCAS(a, 1, i); atomicExch(b, i); atomicAnd(b, i); atomicOr(b, i);
  atomicXor(b, i); atomicInc(b, i); atomicDec(b, i); atomicAdd(c, i); atomicMax(c, i); atomicAdd(d, 1.f); atomicAdd(e, 2.0);
  a[i] = atomicAdd_block(a, i) + atomicAdd_system(a + 1, 2) + atomicCAS(c, 1, 2) + atomicExch(d, 2.f);
  __threadfence(); __threadfence_block(); __threadfence_system();
}
__global__ void warps(int *o, float *f) {
  int i = threadIdx.x, p;
  o[i] = __shfl_sync(~0u, i, 3) + __shfl_up_sync(~0u, i, 1) + __shfl_down_sync(~0u, i, 2) + __shfl_xor_sync(~0u, i, 4);
  o[i] += __ballot_sync(~0u, i & 1) + __any_sync(~0u, i) + __all_sync(~0u, i) + __match_any_sync(~0u, i) + __activemask();
  o[i] += __reduce_add_sync(~0u, i) + __reduce_and_sync(~0u, (unsigned)i) + __match_all_sync(~0u, i, &p) + p;
  __syncwarp(); __syncthreads();
  o[i] += __syncthreads_count(i & 1) + __syncthreads_and(i) + __syncthreads_or(i);
  f[i] = __shfl_sync(~0u, f[i], 2);
  __nanosleep(100);
}
__global__ void approximations(float *o, const float *a) {
  int i = threadIdx.x;
  o[i] = __sinf(a[i]) + __expf(a[i]) + rsqrtf(a[i]) + __fdividef(a[i], 3.f) + tanhf(a[i]) + a[i] / a[i + 1] + sqrtf(a[i + 2]);
}
typedef float (*callee)(float, int *);
__device__ callee table[2] = {helper, helper};
__global__ void calls(float *o, int *p, int k) { o[0] = helper(o[1], p); o[1] = table[k](o[1], p); }
__global__ void locals(float *o, int k) { float t[32]; for (int i = 0; i < 32; i++) t[i] = o[i] * i; o[0] = t[k] + t[k + 1]; }
__global__ void __launch_bounds__(256, 2) vectors(float4 *o, const float4 *__restrict__ a) { o[threadIdx.x] = a[threadIdx.x]; }
__global__ void caches(volatile int *a, int *__restrict__ b) {
  a[0] = a[1] + __ldg(b) + __ldcg(b + 1) + __ldcs(b + 2) + __ldca(b + 3) + __ldcv(b + 4) + __ldlu(b + 5);
  __stcg(b, 1); __stcs(b + 1, 2); __stwb(b + 2, 3); __stwt(b + 3, 4);
}
__global__ void assembly(int *o, int a, int b) {
  int r; long long t; unsigned s;
  asm volatile("{ .reg .pred p; .reg .b32 t; setp.lt.s32 p, %1, %2; @p add.s32 t, %1, %2; @!p sub.s32 t, %1, %2; mov.b32 %0, t; }"
               : "=r"(r) : "r"(a), "r"(b));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  asm("mov.u32 %0, %%smid;" : "=r"(s));
  o[0] = r + (int)t + s + (int)clock64();
}
}
