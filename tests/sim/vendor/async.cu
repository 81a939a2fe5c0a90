// targets: sm_80 sm_90a sm_120a
// Asynchronous copies of threads and mbarriers.
#include <cstdint>

typedef unsigned long long u64;
__device__ uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

template <int BYTES> __device__ void copy(void *to, const void *from, int zeros = 0)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(sh(to)), "l"(from), "n"(BYTES), "r"(BYTES - zeros));
}

// Every size, with the last bytes zero instead: thread t copies t & 15 zeros at most.
extern "C" __global__ void zeros(const char *x, int4 *out)
{
    __shared__ int4 buffer[3][32];
    int t = threadIdx.x;
    buffer[0][t] = buffer[1][t] = make_int4(-1, -1, -1, -1);
    __syncthreads();
    copy<16>(&buffer[0][t], x + 16 * t, t % 17);
    copy<8>(&buffer[1][t], x + 16 * t, t % 9);
    copy<4>((char *)&buffer[1][t] + 8, x + 16 * t + 4, t % 5);
    if (t & 1)
        copy<4>((char *)&buffer[1][t] + 12, x + 16 * t);
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[2 * t] = buffer[0][t];
    out[2 * t + 1] = buffer[1][t];
}

__device__ void init(u64 *bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sh(bar)), "r"(count)); }
__device__ u64 arrive(u64 *bar)
{
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(sh(bar)) : "memory");
    return state;
}
__device__ bool test(u64 *bar, u64 state)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(bar)), "l"(state) : "memory");
    return done;
}
__device__ bool parity(u64 *bar, int phase)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(bar)), "r"(phase) : "memory");
    return done;
}
__device__ int pending(u64 state)
{
    int count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

// Counts as the states show them: arrivals, drops, arrivals that do not complete.
extern "C" __global__ void counts(int *out)
{
    __shared__ u64 bar;
    if (threadIdx.x == 0)
        init(&bar, 7);
    __syncthreads();
    if (threadIdx.x)
        return;
    u64 a = arrive(&bar), b, c, d;
    out[0] = pending(a);
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(b) : "r"(sh(&bar)) : "memory");
    out[1] = pending(b);
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(c) : "r"(sh(&bar)) : "memory");
    out[2] = pending(c);
    out[3] = test(&bar, c);
    asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], 2;" : "=l"(d) : "r"(sh(&bar)) : "memory");
    out[4] = pending(d);
    u64 e = arrive(&bar);
    out[5] = pending(e);
    out[6] = test(&bar, e);
    out[7] = parity(&bar, 0);
    out[8] = parity(&bar, 1);
    for (int i = 0; i < 3; i++) // 7 less 3
        out[9 + i] = pending(arrive(&bar));
    out[12] = parity(&bar, 1);
    out[13] = pending(arrive(&bar));
    out[14] = parity(&bar, 1);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(sh(&bar)) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[15] = pending(arrive(&bar));
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(sh(&bar)) : "memory");
}

#if __CUDA_ARCH__ >= 900
// Three arrivals where two are expected.
extern "C" __global__ void twice()
{
    __shared__ u64 bar;
    if (threadIdx.x == 0) {
        init(&bar, 2);
        asm volatile("mbarrier.arrive.shared.b64 _, [%0], 3;" ::"r"(sh(&bar)) : "memory");
    }
}

// An mbarrier that has not been initialised.
extern "C" __global__ void raw()
{
    __shared__ u64 bar;
    arrive(&bar);
}

// Transactions: the phase ends with the bytes, not with the arrivals; out: whether it is over after each step.
extern "C" __global__ void transactions(int *out)
{
    __shared__ u64 bar;
    if (threadIdx.x)
        return;
    init(&bar, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 100;" ::"r"(sh(&bar)) : "memory");
    out[0] = parity(&bar, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 60;" ::"r"(sh(&bar)) : "memory");
    out[1] = parity(&bar, 0);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8;" ::"r"(sh(&bar)) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 40;" ::"r"(sh(&bar)) : "memory");
    out[2] = parity(&bar, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;" ::"r"(sh(&bar)) : "memory");
    out[3] = parity(&bar, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(sh(&bar)) : "memory"); // before they are expected
    out[4] = parity(&bar, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(sh(&bar)) : "memory");
    out[5] = parity(&bar, 1);
}

// Warps 1 to 3 wait with try_wait for warp 0, round after round.
extern "C" __global__ void turns(int *out, int rounds)
{
    __shared__ u64 full, empty;
    __shared__ int value;
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&full, 1);
        init(&empty, 96);
    }
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        u64 *bar = t < 32 ? &empty : &full;
        int phase = t < 32 ? (r + 1) & 1 : r & 1;
        asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1, 100; @p bra DONE; bra AGAIN; DONE: }" ::"r"(sh(bar)), "r"(phase) : "memory");
        if (t == 0) {
            value = r * r + 1;
            arrive(&full);
        } else if (t >= 32) {
            sum += value * t;
            arrive(&empty);
        }
    }
    out[t] = sum;
}
#endif

// Copies that ignore their source where the predicate says so.
extern "C" __global__ void ignored(const char *x, int4 *out, int which)
{
    __shared__ int4 buffer[32];
    int t = threadIdx.x;
    buffer[t] = make_int4(-1, -1, -1, -1);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(sh(&buffer[t])), "l"(x + 16 * t), "r"(which >> t & 1) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = buffer[t];
}
