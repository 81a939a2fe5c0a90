// Shared memory without the order that it needs. `right` != 0: with the order.
#define K extern "C" __global__ void
#define SYNC(right) do { if (right) __syncthreads(); } while (0)
typedef unsigned u32;
typedef unsigned char u8;

K race_raw(int *o, int right)
{
    __shared__ int s[64];
    s[threadIdx.x] = o[threadIdx.x]; // FIRST race_raw
    SYNC(right);
    o[threadIdx.x] = s[threadIdx.x ^ 32]; // FAULT race_raw
}

K race_war(int *o, int right)
{
    __shared__ int s[64];
    s[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    int v = s[threadIdx.x ^ 32]; // FIRST race_war
    SYNC(right);
    s[threadIdx.x] = v + 1; // FAULT race_war
    o[threadIdx.x] = s[threadIdx.x];
}

K race_waw(int *o, int right)
{
    __shared__ int s[32];
    if (threadIdx.x < 32)
        s[threadIdx.x] = o[threadIdx.x]; // FIRST race_waw
    SYNC(right);
    if (threadIdx.x >= 32)
        s[threadIdx.x - 32] = o[threadIdx.x] + 1; // FAULT race_waw
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x & 31];
}

K race_bytes(u8 *o, int right)
{
    __shared__ u8 s[128];
    int where = right ? threadIdx.x : threadIdx.x & 31;
    s[where] = o[threadIdx.x] + threadIdx.x; // FAULT race_bytes
    __syncthreads();
    o[threadIdx.x] = s[where];
}

K race_vector(int *o, int right)
{
    __shared__ int4 s[64];
    s[threadIdx.x] = make_int4(o[threadIdx.x], 1, 2, 3); // FIRST race_vector
    SYNC(right);
    o[threadIdx.x] = ((int *)s)[4 * (threadIdx.x ^ 32) + 2]; // FAULT race_vector
}

K race_loop(int *o, int right)
{
    __shared__ int s[64];
    int v = o[threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        s[threadIdx.x] = v; // FAULT race_loop
        __syncthreads();
        v += s[threadIdx.x ^ 32]; // FIRST race_loop
        SYNC(right);
    }
    o[threadIdx.x] = v;
}

K race_reduction(int *o, int right)
{
    __shared__ int s[128];
    s[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int d = 64; d; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d]; // FAULT race_reduction
        SYNC(right);
    }
    if (threadIdx.x == 0)
        o[0] = s[0];
}

K race_broadcast(int *o, int right)
{
    __shared__ int n;
    if (threadIdx.x == 63)
        n = o[63]; // FIRST race_broadcast
    SYNC(right);
    o[threadIdx.x] = n; // FAULT race_broadcast
}

K race_atomic_read(int *o, int right)
{
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    atomicAdd(&n, o[threadIdx.x]); // FAULT race_atomic_read
    SYNC(right);
    o[threadIdx.x] = n; // FIRST race_atomic_read
}

K race_atomic_init(int *o, int right)
{
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0; // FIRST race_atomic_init
    SYNC(right);
    atomicAdd(&n, o[threadIdx.x]); // FAULT race_atomic_init
    __syncthreads();
    o[threadIdx.x] = n;
}

// The lanes of the two arms never meet in between.
K race_arms(int *o, int right)
{
    __shared__ volatile int s[64];
    int n = o[threadIdx.x], v = 0;
    s[threadIdx.x] = s[threadIdx.x + 32] = n;
    __syncwarp();
    if (n & 1) {
#pragma unroll 1
        for (int k = 0; k < n; k++)
            s[threadIdx.x] = v += k; // FAULT race_arms
    } else {
#pragma unroll 1
        for (int k = 0; k < n; k++)
            v += s[right ? threadIdx.x + 32 : threadIdx.x ^ 1] * k; // FAULT race_arms
    }
    o[threadIdx.x] = v;
}

K race_one_instruction(int *o, int right)
{
    __shared__ int s[1];
    s[0] = right ? 5 : o[threadIdx.x]; // FAULT race_one_instruction
    __syncwarp();
    o[threadIdx.x] = s[0];
}

K race_dynamic(int *o, int right)
{
    extern __shared__ int d[];
    d[threadIdx.x] = o[threadIdx.x]; // FIRST race_dynamic
    SYNC(right);
    o[threadIdx.x] = d[blockDim.x - 1 - threadIdx.x]; // FAULT race_dynamic
}

K race_generic(int *o, int right, int where)
{
    __shared__ int s[64];
    int *p = where ? s : o + 64;
    p[threadIdx.x] = o[threadIdx.x]; // FIRST race_generic
    SYNC(right);
    o[threadIdx.x] = p[threadIdx.x ^ 32]; // FAULT race_generic
}

// Warp 0 produces, warp 1 consumes; the barrier of the fault is one that only the consumer's own threads use.
K race_named(int *o, int right)
{
    __shared__ int s[32];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = o[threadIdx.x]; // FIRST race_named
        asm volatile("barrier.cta.arrive 1, 64;" ::: "memory");
    } else {
        if (right)
            asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
        else
            asm volatile("barrier.cta.sync 2, 32;" ::: "memory");
        o[threadIdx.x] = s[63 - threadIdx.x]; // FAULT race_named
    }
}

// A named barrier of the first two warps does not order the third one.
K race_third_warp(int *o, int right)
{
    __shared__ int s[96];
    s[threadIdx.x] = o[threadIdx.x]; // FIRST race_third_warp
    if (right)
        __syncthreads();
    else if (threadIdx.x < 64)
        asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
    o[threadIdx.x] = s[95 - threadIdx.x]; // FAULT race_third_warp
}

K race_double_buffer(int *o, int right)
{
    __shared__ int s[2][64];
    int v = o[threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < 6; k++) {
        s[right ? k & 1 : 0][threadIdx.x] = v; // FAULT race_double_buffer
        __syncthreads();
        v += s[right ? k & 1 : 0][threadIdx.x ^ 32]; // FIRST race_double_buffer
    }
    o[threadIdx.x] = v;
}

K race_transpose(int *o, int right)
{
    __shared__ int s[8][9];
    s[threadIdx.y][threadIdx.x] = o[threadIdx.y * 8 + threadIdx.x]; // FIRST race_transpose
    SYNC(right);
    o[threadIdx.y * 8 + threadIdx.x] = s[threadIdx.x][threadIdx.y]; // FAULT race_transpose
}

// The first thread of every warp takes the lock, or does not.
K race_lock(int *o, int right)
{
    __shared__ int lock, n;
    if (threadIdx.x == 0)
        lock = n = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        if (right)
            while (atomicCAS(&lock, 0, 1))
                ;
        __threadfence_block();
        *(volatile int *)&n = *(volatile int *)&n + o[threadIdx.x]; // FAULT race_lock
        __threadfence_block();
        if (right)
            atomicExch(&lock, 0);
    }
    __syncthreads();
    o[threadIdx.x] = n;
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ void copy4(int *to, const int *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from));
}

// what: 0 right, 1 no wait, 2 one group too few, 3 no barrier after the wait, 4 the buffer is refilled too early
K copies(const int *a, int *o, int what)
{
    __shared__ int s[2][64];
    copy4(&s[0][threadIdx.x], a + threadIdx.x);
    asm volatile("cp.async.commit_group;");
    copy4(&s[1][threadIdx.x], a + 64 + threadIdx.x);
    asm volatile("cp.async.commit_group;");
    if (what == 2)
        asm volatile("cp.async.wait_group 1;" ::: "memory");
    else if (what != 1)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (what != 3)
        __syncthreads();
    int v = s[0][threadIdx.x ^ 32]; // FAULT copies_early
    v += s[1][threadIdx.x ^ 32]; // FAULT copies_late
    if (what != 4)
        __syncthreads();
    copy4(&s[0][threadIdx.x], a + 128 + threadIdx.x); // FAULT copies_refill
    asm volatile("cp.async.wait_all;" ::: "memory");
    o[threadIdx.x] = v + s[0][threadIdx.x];
}

// Every thread reads only what it has copied itself: no barrier, but a wait.
K own_copies(const int *a, int *o, int right)
{
    __shared__ int s[64];
    copy4(&s[threadIdx.x], a + threadIdx.x);
    if (right)
        asm volatile("cp.async.wait_all;" ::: "memory");
    o[threadIdx.x] = s[threadIdx.x]; // FAULT own_copies
}
#endif
