#include <cooperative_groups.h>
__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void linked(int *x) {
  __shared__ int s[64];
  cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  if (x[0]) { s[threadIdx.x] = x[threadIdx.x] + table[x[1] & 3]; block.sync(); }
  x[threadIdx.x] = s[63 - threadIdx.x];
}
