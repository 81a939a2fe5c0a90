__device__ __forceinline__ float inner(float a){
  return a*a
    + 3.0f;
}
__device__ __forceinline__ float outer(float a, float b){
  float t = inner(a);
  return t / b;
}
__global__ void lines(float* x, float* y, int n){
  int i = threadIdx.x;
  if (i < n) {
    float v = x[i];
    y[i] = outer(v, x[i+1]);
  }
  __syncthreads();
  x[i] = inner(y[i]);
}
