extern "C" __global__ void three(int *x) { x[threadIdx.x] = 3 * x[threadIdx.x]; }
