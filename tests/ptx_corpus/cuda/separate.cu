// Device code to be linked: external functions and variables, weak ones, launches from kernels.
#include <cuda_runtime.h>
extern __device__ int counter;
extern __device__ float elsewhere(float, const int *);
extern __constant__ int limits[];
__device__ float table[64];
__device__ __attribute__((weak)) int maybe(int x) { return x + 1; }
inline __device__ int shared_by_all(int x) { static int calls = 3; return calls += x; }
template <typename T> __device__ T generic(T x) { return x * T(3); }
template __device__ double generic<double>(double);
__global__ void child(int *data) { data[threadIdx.x] = maybe(data[0]) + shared_by_all(3) + limits[2]; }
__global__ void parent(int *data, float *out) {
  out[0] = elsewhere(table[threadIdx.x], data) + float(generic(out[1]));
  atomicAdd(&counter, 1);
#ifdef LAUNCH
  child<<<1, 32>>>(data);
  child<<<1, 32, 16, cudaStreamTailLaunch>>>(data);
#endif
}
