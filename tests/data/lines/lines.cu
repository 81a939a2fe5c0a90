// Inlined calls within each other and from another file, a loop, a call that stays one, a barrier.
#include "parts.h"

__device__ __forceinline__ float twice(float x, int i) {
  float y = scaled(x, i);
  return y * scaled(y, i + 1);
}

__device__ __noinline__ float series(float x, int i) {
  float s = 0;
  for (int k = 0; k < i; k++)
    s += scaled(x, k) / (s + 1.0f);
  return s;
}

__global__ void inlined(float *p, int n) {
  int i = threadIdx.x;
  if (i < n)
    p[i] = twice(p[i], i);
}

__global__ void calls(float *p, int n) {
  int i = threadIdx.x;
  p[i] = series(p[i], n);
  __syncthreads();
  p[i] = twice(p[i + 1], 3);
}
