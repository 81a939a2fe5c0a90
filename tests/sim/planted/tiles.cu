// Matrices of shared memory, atomics of every kind there, stack. Thread (37,0,0) of block (1,0,0) goes astray.
#define ME (blockIdx.x == 1 && threadIdx.x == 37)
#define K extern "C" __global__ void
typedef unsigned u32;
typedef unsigned long long u64;

__device__ __forceinline__ u32 sh(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// Lane 5 gives the address of a row; `from`: the first word that is written.
K load_matrix(int *o, int at, int from)
{
    __shared__ __align__(16) u32 s[256];
    u32 a, b, c, d;
    for (int i = threadIdx.x; i < 256; i += 64)
        if (i >= from)
            s[i] = i;
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(sh(s) + threadIdx.x % 32 * 16 + (ME ? at : 0)) : "memory"); // FAULT load_matrix
    o[blockIdx.x * 64 + threadIdx.x] = a + b + c + d;
}

#if __CUDA_ARCH__ >= 900
K store_matrix(int *o, int at)
{
    __shared__ __align__(16) u32 s[256];
    u32 v = o[threadIdx.x];
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(sh(s) + threadIdx.x / 32 * 512 + threadIdx.x % 32 * 16 + (ME ? at : 0)), "r"(v) : "memory"); // FAULT store_matrix
    __syncthreads();
    o[blockIdx.x * 64 + threadIdx.x] = at ? 0 : s[threadIdx.x];
}
#endif

#define ATOMIC(N, T, CALL) K shared_##N(T *o, int at) { __shared__ T s[64]; s[threadIdx.x] = o[threadIdx.x]; __syncthreads(); \
    T *p = (T *)((char *)(s + threadIdx.x) + (ME ? at : 0)); \
    o[blockIdx.x * 64 + threadIdx.x] = CALL; }
ATOMIC(add, u32, atomicAdd(p, 3u))
ATOMIC(add64, u64, atomicAdd(p, 3ull))
ATOMIC(exch, u32, atomicExch(p, 3u))
ATOMIC(exch64, u64, atomicExch(p, 3ull))
ATOMIC(cas, u32, atomicCAS(p, 3u, 4u))
ATOMIC(cas64, u64, atomicCAS(p, 3ull, 4ull))
ATOMIC(min, int, atomicMin(p, 3))
ATOMIC(xor, u32, atomicXor(p, 3u))
ATOMIC(inc, u32, atomicInc(p, 3u))

// A frame of 256 bytes and more for each level.
__device__ __noinline__ int deep(int n, int x)
{
    int v[64];
#pragma unroll 1
    for (int i = 0; i < 64; i++)
        v[i] = x + i; // FAULT stack
    return n ? deep(n - 1, v[x & 63]) * 3 ^ v[(x + 1) & 63] : v[x & 63]; // FAULT stack
} // FAULT stack

K stack(int *o, int depth)
{
    int r = deep(ME ? depth : 1, threadIdx.x);
    o[blockIdx.x * 64 + threadIdx.x] = r;
}
