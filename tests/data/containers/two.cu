extern "C" __global__ void two(int *x) { x[threadIdx.x] = 2 * x[threadIdx.x]; }
