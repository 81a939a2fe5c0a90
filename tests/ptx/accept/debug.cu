// A kernel compiled with -G: debug sections, locals in memory.
__global__ void debug(int *o, const int *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { int t = a[i] * 3; o[i] = t + 1; } }
