// Stacks of variable size. Below sm_100, ptxas 13.0 reserves nothing for alloca.
// since: 100
#define KERNEL extern "C" __global__ void

__device__ __noinline__ int folded(const int *a, int n, int seed) {
    int *copy = (int *)__builtin_alloca(n * sizeof(int)), sum = 0;
    for (int k = 0; k < n; k++) copy[k] = a[k] ^ seed;
    for (int k = 0; k < n; k++) {
        int j = (unsigned)copy[k] % n, t = copy[k];
        copy[k] = copy[j], copy[j] = t;
    }
    for (int k = 0; k < n; k++) sum = sum * 3 + copy[k];
    return n > 4 ? sum + folded(a + 1, n - 4, seed + 1) : sum;
}

KERNEL variable_stack(const int *a, int *o) { o[threadIdx.x] = folded(a, 2 + threadIdx.x % 13, threadIdx.x); }
