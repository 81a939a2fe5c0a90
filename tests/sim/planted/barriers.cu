// Barriers that not all threads reach in the same way. `right` != 0: they do.
#define K extern "C" __global__ void

K divergent(int *o, int right)
{
    int v = o[threadIdx.x];
    if (right || v < 100) {
        o[threadIdx.x] = v + 1;
        __syncthreads(); // FAULT divergent
        v = o[threadIdx.x ^ 1];
    }
    __syncthreads();
    o[threadIdx.x] = v;
}

K divergent_loop(int *o, int right)
{
    int v = 0, n = right ? 4 : o[threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        v += o[threadIdx.x + k];
        __syncthreads(); // FAULT divergent_loop
    }
    __syncthreads();
    o[threadIdx.x] = v;
}

K different_counts(int *o, int right)
{
    if (threadIdx.x < 32)
        asm volatile("barrier.cta.sync 1, 64;" ::: "memory"); // FIRST different_counts
    else
        asm volatile("barrier.cta.sync 1, %0;" ::"r"(right ? 64 : 96) : "memory"); // FAULT different_counts
    o[threadIdx.x] += 1;
}

K different_barriers(int *o, int right)
{
    if (threadIdx.x < 32)
        asm volatile("barrier.cta.sync 1, 64;" ::: "memory"); // FAULT different_barriers
    else
        asm volatile("barrier.cta.sync %0, 64;" ::"r"(right ? 1 : 2) : "memory");
    o[threadIdx.x] += 1;
}

K too_few(int *o, int right)
{
    asm volatile("barrier.cta.sync 1, %0;" ::"r"(right ? 64 : 96) : "memory"); // FAULT too_few
    o[threadIdx.x] += 1;
}

K no_arrival(int *o, int right)
{
    if (threadIdx.x < 32) {
        o[threadIdx.x] += 1;
        if (right)
            asm volatile("barrier.cta.arrive 3, 64;" ::: "memory");
    } else {
        asm volatile("barrier.cta.sync 3, 64;" ::: "memory"); // FAULT no_arrival
        o[threadIdx.x] += 2;
    }
}

K reducing_and_not(int *o, int right)
{
    int r = 1;
    if (threadIdx.x < 32 && !right)
        asm volatile("barrier.cta.sync 2, 64;" ::: "memory"); // FIRST reducing_and_not
    else
        asm volatile("{.reg .pred p, q; setp.gt.s32 p, %1, 5; barrier.cta.red.or.pred q, 2, 64, p; selp.s32 %0, 1, 2, q;}"
                     : "=r"(r) : "r"(o[threadIdx.x]) : "memory"); // FAULT reducing_and_not
    o[threadIdx.x] = r;
}

// The first warp leaves before the barrier: allowed, the barrier waits for those that live.
K early_exit(int *o, int n)
{
    if (threadIdx.x < n)
        return;
    __syncthreads();
    o[threadIdx.x] += 1;
}
