// targets: sm_90a sm_100a sm_120a
// mbarriers, bulk and tensor copies, stores into other CTAs. `what` plants a fault, 0 is right; `at` sends an address astray.
#define K extern "C" __global__ void
typedef unsigned u32;
typedef unsigned long long u64;
struct alignas(64) map { u64 words[16]; };

__device__ __forceinline__ u32 sh(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u32 bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void expect(u32 bar, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ void arrive(u32 bar) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ __forceinline__ int passed(u32 bar, int phase)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(phase) : "memory");
    return done;
}
#define WAIT(bar, phase) while (!passed(bar, phase)) {}
__device__ __forceinline__ u32 rank_of() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ u32 there(u32 address, u32 rank)
{
    u32 r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
    return r;
}
__device__ __forceinline__ void meet() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }

// An mbarrier for one arrival that all threads know of.
__device__ __forceinline__ u32 born(u64 *bar)
{
    if (threadIdx.x == 0)
        init(sh(bar), 1);
    __syncthreads();
    return sh(bar);
}
// What is sent out of shared memory; with `what` 2 there is nothing in it.
__device__ __forceinline__ void fill(int *s, const int *o, int what)
{
    for (int i = threadIdx.x; i < 256 && what != 2; i += 64)
        s[i] = o[threadIdx.x] + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
__device__ __forceinline__ void finish() { asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }

// -- mbarriers ---------------------------------------------------------------------------------------------------------
// at: of the mbarrier that is touched astray
K mbarrier(int *o, int what, int at)
{
    __shared__ __align__(16) u64 bar[2];
    u32 b = sh(bar), me = threadIdx.x == 37;
    if (threadIdx.x == 0) {
        init(b, 64);
        init(b + 8, 64);
    }
    __syncthreads();
    if (what == 1 && me)
        init(b + at, 64); // FAULT mbarrier_1
    if (what == 2 && me)
        expect(b + at, 16); // FAULT mbarrier_2
    if (what == 3 && me)
        arrive(b + at); // FAULT mbarrier_3
    else
        arrive(b);
    if (what == 4 && me)
        passed(b + at, 0); // FAULT mbarrier_4
    if (what == 0)
        WAIT(b, 0);
    o[threadIdx.x] = what;
}

// 1: wait, 2: arrive, 3: expect at an mbarrier that nobody has initialised
K unborn(int *o, int what)
{
    __shared__ u64 bar;
    u32 b = sh(&bar);
    if (threadIdx.x == 0 && !what)
        init(b, 1);
    __syncthreads();
    if (threadIdx.x == 37) {
        if (what == 1)
            o[1] = passed(b, 0); // FAULT unborn_1
        else if (what == 3)
            expect(b, 16); // FAULT unborn_3
        else
            arrive(b); // FAULT unborn_2
    }
    o[64 + threadIdx.x] = what;
}

// 1: one arrival is missing, 2: bytes that never come, 3: a phase too far
K never(int *o, int what)
{
    __shared__ u64 bar;
    u32 b = sh(&bar);
    if (threadIdx.x == 0)
        init(b, 64);
    __syncthreads();
    if (what == 2 && threadIdx.x == 5)
        expect(b, 16);
    else if (what != 1 || threadIdx.x != 5)
        arrive(b);
    WAIT(b, what == 3); // FAULT never
    o[threadIdx.x] = what;
}

// -- bulk copies -------------------------------------------------------------------------------------------------------
__device__ __forceinline__ void load(u32 to, const void *from, int size, u32 bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(size), "r"(bar) : "memory"); // COPY load
}
__device__ __forceinline__ void store(void *to, u32 from, int size)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(size) : "memory"); // COPY store
}

K bulk_load(const char *a, int *o, int what, int to, long long from, int size, int bar_at)
{
    __shared__ __align__(128) int s[256];
    __shared__ __align__(8) u64 bar;
    u32 b = born(&bar);
    if (threadIdx.x == 37) {
        if (!what || what == 2)
            expect(b, size);
        load(sh(s) + to, a + from, size, b + bar_at); // FAULT bulk_load
    }
    if (!what)
        WAIT(b, 0);
    o[threadIdx.x] = what == 1 ? 0 : s[threadIdx.x]; // FAULT bulk_early
    if (what == 2)
        WAIT(b, 0);
}

K bulk_store(char *a, const int *o, int what, int from, long long to, int size)
{
    __shared__ __align__(128) int s[256];
    fill(s, o, what);
    if (threadIdx.x == 37) {
        store(a + to, sh(s) + from, size); // FAULT bulk_store
        finish();
    }
}

K bulk_reduce(char *a, const int *o, int what, int from, long long to, int size)
{
    __shared__ __align__(128) int s[256];
    fill(s, o, what);
    if (threadIdx.x == 37) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(a + to), "r"(sh(s) + from), "r"(size) : "memory"); // FAULT bulk_reduce
        finish();
    }
}

// -- tensor copies -----------------------------------------------------------------------------------------------------
K tensor_load(const __grid_constant__ map m, int *o, int to, int bar_at)
{
    __shared__ __align__(128) int s[256];
    __shared__ __align__(8) u64 bar;
    u32 b = born(&bar);
    if (threadIdx.x == 37) {
        if (!to && !bar_at)
            expect(b, 1024);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];"
                     ::"r"(sh(s) + to), "l"(&m), "r"(0), "r"(b + bar_at) : "memory"); // FAULT tensor_load
    }
    if (!to && !bar_at) {
        WAIT(b, 0);
        o[threadIdx.x] = s[threadIdx.x];
    }
}

K tensor_store(const __grid_constant__ map m, int *o, int from, int what)
{
    __shared__ __align__(128) int s[256];
    fill(s, o, what);
    if (threadIdx.x == 37) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %1}], [%2];" ::"l"(&m), "r"(0), "r"(sh(s) + from) : "memory"); // FAULT tensor_store
        finish();
    }
}

// -- clusters (of two) -------------------------------------------------------------------------------------------------
#define ASTRAY(N) (threadIdx.x == 37 && rank_of() == 1 && what == N)
// what 1: store, 2: load, 3: atomic, 4: asynchronous store, 5: asynchronous reduction, 6: mbarrier of 4, 7: arrival,
// 8: generic load, 9: copy between CTAs, 10: a word that nobody has written
K remote(int *o, int what, int at, u32 rank)
{
    __shared__ __align__(128) int s[256];
    __shared__ __align__(8) u64 bar;
    u32 b = sh(&bar), mine = sh(&s[threadIdx.x]), v = o[threadIdx.x], r = 0;
    if (threadIdx.x == 0)
        init(b, 1);
    s[threadIdx.x] = s[threadIdx.x + 64] = v;
    __syncthreads();
    meet();
    u32 far = there(mine, rank), far_bar = there(b, rank);
    if (ASTRAY(1))
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far + at), "r"(v) : "memory"); // FAULT remote_1
    if (ASTRAY(2) || ASTRAY(10))
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(far + at) : "memory"); // FAULT remote_2 remote_10
    if (ASTRAY(3))
        asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(r) : "r"(far + at) : "memory"); // FAULT remote_3
    if (ASTRAY(4) || ASTRAY(6))
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(far + (what == 4 ? at : 0)), "r"(v),
                     "r"(far_bar + (what == 6 ? at : 0)) : "memory"); // FAULT remote_4 remote_6
    if (ASTRAY(5))
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(far + at), "r"(v), "r"(far_bar) : "memory"); // FAULT remote_5
    if (ASTRAY(7))
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far_bar + at) : "memory"); // FAULT remote_7
    if (ASTRAY(8)) {
        u64 wide;
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(wide) : "l"(&s[threadIdx.x]), "r"(rank));
        r = *(volatile int *)(wide + at); // FAULT remote_8
    }
    if (ASTRAY(9))
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(there(sh(s), rank) + at), "r"(sh(s) + 256), "r"(64),
                     "r"(far_bar) : "memory"); // FAULT remote_9
    o[64 + blockIdx.x * 64 + threadIdx.x] = r;
    meet();
}

// Rank 0 has ended when rank 1 goes to its memory. what 1: load, 2: store, 3: atomic
K gone(int *o, int what)
{
    __shared__ int s[64];
    u32 r = 0;
    s[threadIdx.x] = o[threadIdx.x];
    u32 far = there(sh(&s[threadIdx.x]), 0);
    meet();
    if (rank_of() == 1) {
        if (what)
#pragma unroll 1
            for (int i = 0; i < 500; i++)
                ((volatile int *)o)[128 + threadIdx.x] += i;
        if (threadIdx.x == 37) {
            if (what == 2)
                asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far), "r"(7) : "memory"); // FAULT gone_2
            else if (what == 3)
                asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(r) : "r"(far) : "memory"); // FAULT gone_3
            else
                asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(far) : "memory"); // FAULT gone_1
        }
        o[64 + threadIdx.x] = r;
    }
    if (!what)
        meet();
}

// Each block of the cluster writes into the next one. what 1: read without the barrier, 2: a write after the read without it, 3: two blocks
// write the same, 4: an asynchronous store that nobody waits for, 5: the barrier is arrived at before the write
K cluster_race(int *o, int what)
{
    __shared__ int s[64];
    __shared__ __align__(8) u64 bar;
    u32 b = sh(&bar), me = rank_of(), far = there(sh(&s[threadIdx.x]), what == 3 ? 0 : me ^ 1), v = o[threadIdx.x] + me;
    if (threadIdx.x == 0) {
        init(b, 1);
        if (what == 0 || what == 4)
            expect(b, 256);
    }
    s[threadIdx.x] = 0;
    meet();
    if (what == 5)
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    if (what == 0 || what == 4)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(far), "r"(v), "r"(there(b, me ^ 1)) : "memory"); // RACE 4
    else
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far), "r"(v) : "memory"); // RACE 1 3 5
    if (what == 0)
        WAIT(b, 0);
    if (what == 2 || what == 3)
        meet();
    if (what == 5)
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    v = ((volatile int *)s)[threadIdx.x]; // RACE 1 2 4 5
    if (what == 2)
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far), "r"(v) : "memory"); // RACE 2
    meet();
    o[64 + blockIdx.x * 64 + threadIdx.x] = v;
}
