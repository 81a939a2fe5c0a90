// Single accesses that an argument sends astray: thread (37,0,0) of block (1,0,0) touches `at`, all the others the start.
#define ME (blockIdx.x == 1 && threadIdx.x == 37)
#define AT(base) ((char *)(base) + (ME ? at : 0))
#define K extern "C" __global__ void
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;

#define READ(N, T) K read_##N(char *a, T *o, long long at) { o[blockIdx.x * blockDim.x + threadIdx.x] = *(T *)AT(a); }
#define WRITE(N, T) K write_##N(char *a, T *o, long long at) { *(T *)AT(a) = o[blockIdx.x * blockDim.x + threadIdx.x]; }
#define SHARED_READ(N, T) K shared_read_##N(T *o, int at) { __shared__ T s[64]; s[threadIdx.x] = o[threadIdx.x]; __syncthreads(); \
    o[blockIdx.x * blockDim.x + threadIdx.x] = *(T *)(ME ? (char *)s + at : (char *)(s + threadIdx.x)); }
#define SHARED_WRITE(N, T) K shared_write_##N(T *o, int at) { __shared__ T s[64]; \
    *(T *)(ME ? (char *)s + at : (char *)(s + threadIdx.x)) = o[threadIdx.x]; __syncthreads(); \
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[ME ? 37 : threadIdx.x]; }
READ(u8, u8)
READ(u16, u16)
READ(u32, u32)
READ(u64, u64)
READ(v2, uint2)
READ(v4, uint4)
WRITE(u8, u8)
WRITE(u16, u16)
WRITE(u32, u32)
WRITE(u64, u64)
WRITE(v4, uint4)
SHARED_READ(u8, u8)
SHARED_READ(u16, u16)
SHARED_READ(u32, u32)
SHARED_READ(u64, u64)
SHARED_READ(v4, uint4)
SHARED_WRITE(u8, u8)
SHARED_WRITE(u16, u16)
SHARED_WRITE(u32, u32)
SHARED_WRITE(u64, u64)
SHARED_WRITE(v4, uint4)

K atomic_add(char *a, u32 *o, long long at) { o[threadIdx.x] = atomicAdd((u32 *)AT(a), 1); }
K atomic_add64(char *a, u64 *o, long long at) { o[threadIdx.x] = atomicAdd((u64 *)AT(a), 1ull); }
K atomic_float(char *a, float *o, long long at) { atomicAdd((float *)AT(a), o[threadIdx.x]); }
K atomic_cas(char *a, u32 *o, long long at) { o[threadIdx.x] = atomicCAS((u32 *)AT(a), 0, 1); }
K atomic_exch64(char *a, u64 *o, long long at) { o[threadIdx.x] = atomicExch((u64 *)AT(a), 5ull); }
K reduce_max(char *a, int *o, long long at) { atomicMax((int *)AT(a), o[threadIdx.x]); }

K shared_atomic(u32 *o, int at)
{
    __shared__ u32 s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd((u32 *)(ME ? (char *)s + at : (char *)(s + threadIdx.x)), o[threadIdx.x]); // FAULT shared_atomic
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

K dynamic_read(u32 *o, int at)
{
    extern __shared__ u32 d[];
    d[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = *(u32 *)(ME ? (char *)d + at : (char *)(d + threadIdx.x)); // FAULT dynamic_read
}

K dynamic_write(u32 *o, int at)
{
    extern __shared__ u32 d[];
    *(u32 *)(ME ? (char *)d + at : (char *)(d + threadIdx.x)) = o[threadIdx.x]; // FAULT dynamic_write
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = d[ME ? 0 : threadIdx.x];
}

K local_read(int *o, int at)
{
    int v[32];
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        v[i] = o[i] + i;
    o[blockIdx.x * blockDim.x + threadIdx.x] = *(int *)((char *)v + (ME ? at : 4 * (threadIdx.x % 32))); // FAULT local_read
}

K local_write(int *o, int at)
{
    int v[32], sum = 0;
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        v[i] = o[i];
    *(int *)((char *)v + (ME ? at : 0)) = 7; // FAULT local_write
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        sum += v[i];
    o[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__constant__ int table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

K constant_read(int *o, int at)
{
    o[blockIdx.x * blockDim.x + threadIdx.x] = *(int *)((char *)table + (ME ? at : 4 * (threadIdx.x & 15))); // FAULT constant_read
}

__device__ int *hidden;
K constant_write(int *o, int at)
{
    if (threadIdx.x == 0)
        hidden = at ? table : o;
    __threadfence();
    __syncthreads();
    int *p = *(int *volatile *)&hidden;
    if (ME)
        p[3] = 9; // FAULT constant_write
}

K generic_read(char *a, int *o, int where, int at)
{
    __shared__ int s[64];
    int v[16];
    s[threadIdx.x] = o[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        v[i] = o[i];
    __syncthreads();
    char *p = where == 0 ? a : where == 1 ? (char *)s : (char *)v;
    o[blockIdx.x * blockDim.x + threadIdx.x] = *(int *)AT(p); // FAULT generic_read
}

K generic_write(char *a, int *o, int where, int at)
{
    __shared__ int s[64];
    int v[16], sum = 0;
    s[threadIdx.x] = o[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        v[i] = o[i];
    __syncthreads();
    char *p = where == 0 ? a : where == 1 ? (char *)s : (char *)v;
    if (ME)
        *(int *)AT(p) = 3; // FAULT generic_write
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        sum += v[i] + s[i];
    o[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

K generic_atomic(char *a, int *o, int where, int at)
{
    __shared__ int s[64];
    s[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    char *p = where == 0 ? a : (char *)s;
    atomicAdd((int *)AT(p), 1); // FAULT generic_atomic
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

// What was never written: `from` threads write, all read.
K uninitialised_shared(int *o, int from)
{
    __shared__ int s[64];
    if (threadIdx.x >= from)
        s[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x]; // FAULT uninitialised_shared
}

K uninitialised_dynamic(int *o, int from)
{
    extern __shared__ u32 d[];
    if (threadIdx.x >= from)
        d[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = d[threadIdx.x]; // FAULT uninitialised_dynamic
}

K uninitialised_counter(int *o, int from)
{
    __shared__ int n;
    if (threadIdx.x == 0 && !from)
        n = 0;
    __syncthreads();
    atomicAdd(&n, o[threadIdx.x]); // FAULT uninitialised_counter
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

K uninitialised_local(int *o, int from)
{
    int v[32], sum = 0;
#pragma unroll 1
    for (int i = from; i < 32; i++)
        v[i] = o[i];
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        sum += v[i ^ 3]; // FAULT uninitialised_local
    o[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#if __CUDA_ARCH__ >= 800
K copy_astray(const int *a, int *o, int at)
{
    __shared__ int s[64];
    u32 to = (u32)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to + (ME ? at : 0)), "l"(a + threadIdx.x)); // FAULT copy_astray
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = ME ? 0 : s[threadIdx.x];
}

K copy_from_astray(const int *a, int *o, long long at)
{
    __shared__ int s[64];
    u32 to = (u32)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"((const char *)(a + threadIdx.x) + (ME ? at : 0))); // FAULT copy_from_astray
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
#endif

// The word behind the last thread's is read by it, and counts only when n is 65.
K behind(int *o, int n)
{
    __shared__ volatile int s[65];
    s[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    int v = s[threadIdx.x + 1]; // FAULT behind
    o[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x + 1 < n ? v : 0;
}
