__device__ __forceinline__ float scaled(float x, int i) {
  if (i > 3)
    return x * 2.0f + i;
  return x - 1.0f;
}
