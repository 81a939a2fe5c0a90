#include <cstdint>
struct S { int a; double b; char c[5]; };
__constant__ float ctab[16] = {1,2,3};
__constant__ int cvar;
__device__ int gini[4] = {1,2,3,4};
__device__ double gzero[8];
__device__ int *gptr = &gini[2];
extern "C" __global__ void k_params(char a, short b, int c, long long d, float e, double f, S s, float *p, const int4 *__restrict__ q) {
  p[threadIdx.x] = a+b+c+d+e+f+s.a+s.b+s.c[3] + q[0].x;
}
extern "C" __global__ void k_empty() {}
extern "C" __global__ void k_shared(float *p) {
  __shared__ float t[33]; extern __shared__ float dyn[];
  t[threadIdx.x]=p[threadIdx.x]; dyn[threadIdx.x]=3; __syncthreads();
  p[threadIdx.x]=t[threadIdx.x^1]+dyn[threadIdx.x^3];
}
extern "C" __global__ void k_static(double *p) {
  __shared__ double t[32];
  t[threadIdx.x]=p[threadIdx.x]; __syncthreads();
  p[threadIdx.x]=t[threadIdx.x^1];
}
extern "C" __global__ void k_globals(int *p) {
  p[threadIdx.x] = gini[threadIdx.x&3] + (int)gzero[threadIdx.x&7] + *gptr + (int)ctab[threadIdx.x&15] + cvar;
  gzero[threadIdx.x] = 3;
}
extern "C" __global__ void __launch_bounds__(256, 2) k_bounds(int *p) {
  if (p[threadIdx.x] > 3) { p[1] = 3; return; }
  for (int i = 0; i < p[5]; i++) { p[i+threadIdx.x] += p[2*i]; if (p[i] == 7) return; }
  p[6]=threadIdx.x;
}
extern "C" __global__ void k_coop(int *p) {
  int v = p[threadIdx.x];
  v += __shfl_xor_sync(0xffffffff, v, 1);
  v += __shfl_down_sync(__activemask(), v, 2);
  if (v > 5) v += __ballot_sync(0xffffffff, v > 7);
  __syncwarp();
  p[threadIdx.x] = v;
  atomicAdd(p + 5, 1);
  if (__any_sync(0x0fffffff, v==2)) atomicAdd(p+6, v);
}
extern "C" __global__ void k_switch(int *p, int n) {
  int x = p[threadIdx.x];
  switch (n) { case 0: x += 3; p[1]=x; break; case 1: x *= 7; p[2]=x;break; case 2: x ^= 55; p[3]=x;break; case 3: x = x / 3;p[4]=x; break; case 4: x = x % 7; p[5]=x;break; case 5: x -= 9; p[6]=x; break; case 6: x <<= 3; p[7] = x; break; default: p[9]=x; }
  p[threadIdx.x] = x;
}
extern "C" __global__ void k_stack(int *p, int n) {
  int t[16];
  for (int i = 0; i < 16; i++) t[i] = p[i];
  p[threadIdx.x] = t[n & 15] + t[(n+3)&15];
  for (int i = 0; i < n; i++) t[p[i]&15] = i;
  p[1]=t[n&7];
}
