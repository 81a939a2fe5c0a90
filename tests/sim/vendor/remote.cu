// targets: sm_90a sm_100a
// Stores and reductions into the shared memory of other CTAs of the cluster, with and without an mbarrier that hears of them.
#include <cstdint>

typedef unsigned long long u64;
__device__ uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ uint32_t there(const void *p, uint32_t rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(sh(p)), "r"(rank));
    return address;
}
__device__ void meet() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ uint32_t rank_of()
{
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ void init(u64 *bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sh(bar)), "r"(count)); }
__device__ void expect(u64 *bar, uint32_t bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sh(bar)), "r"(bytes) : "memory"); }
__device__ void wait(u64 *bar, int phase)
{
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(bar)), "r"(phase) : "memory");
}

// Each CTA sends its values to the next one; block of 64 threads, each 4 + 8 + 16 bytes.
extern "C" __global__ void send(const int *x, int *out, int ranks)
{
    __shared__ __align__(16) int words[64], pairs[128], quads[256];
    __shared__ u64 bar;
    int t = threadIdx.x, me = rank_of(), next = (me + 1) % ranks;
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 64 * 28);
    }
    __syncthreads();
    meet();
    int v = x[blockIdx.x * 64 + t];
    uint32_t remote = there(&bar, next);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there(&words[t], next)), "r"(v), "r"(remote) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(there(&pairs[2 * t], next)), "r"(v + 1), "r"(v + 2), "r"(remote) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(there(&quads[4 * t], next)), "r"(v + 3), "r"(v + 4), "r"(v + 5),
                 "r"(v + 6), "r"(remote) : "memory");
    wait(&bar, 0);
    for (int i = 0; i < 7; i++)
        out[(blockIdx.x * 64 + t) * 7 + i] = i == 0 ? words[t] : i < 3 ? pairs[2 * t + i - 1] : quads[4 * t + i - 3];
    meet();
}

// All CTAs reduce into rank 0: add, min, max, or in turn by thread, and 64-bit sums.
extern "C" __global__ void gather(const int *x, u64 *out, int ranks)
{
    __shared__ int cells[32];
    __shared__ u64 sums[32], bar;
    int t = threadIdx.x, me = rank_of();
    cells[t] = 100;
    sums[t] = 1ull << 40;
    if (t == 0) {
        init(&bar, 1);
        if (me == 0)
            expect(&bar, ranks * 32 * 12);
    }
    __syncthreads();
    meet();
    int v = x[blockIdx.x * 32 + t];
    uint32_t cell = there(&cells[t], 0), remote = there(&bar, 0);
    if (t % 4 == 0)
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(cell), "r"(v), "r"(remote) : "memory");
    else if (t % 4 == 1)
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%0], %1, [%2];" ::"r"(cell), "r"(v), "r"(remote) : "memory");
    else if (t % 4 == 2)
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%0], %1, [%2];" ::"r"(cell), "r"(v), "r"(remote) : "memory");
    else
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or.b32 [%0], %1, [%2];" ::"r"(cell), "r"(v), "r"(remote) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" ::"r"(there(&sums[t], 0)), "l"((u64)(unsigned)v << 20), "r"(remote)
                 : "memory");
    if (me == 0) {
        wait(&bar, 0);
        out[2 * t] = (unsigned)cells[t];
        out[2 * t + 1] = sums[t];
    }
    meet();
}

// Loads, stores and atomics in other CTAs, arrivals at their mbarriers, and a copy from one CTA's memory to another's.
extern "C" __global__ void mixed(const int *x, int *out, int ranks)
{
    __shared__ __align__(16) int mine[32], copied[32];
    __shared__ int counter, floats;
    __shared__ u64 arrivals, bar;
    int t = threadIdx.x, me = rank_of(), next = (me + 1) % ranks, found;
    mine[t] = x[blockIdx.x * 32 + t];
    if (t == 0) {
        counter = floats = 0;
        init(&arrivals, 32 * ranks);
        init(&bar, 1);
        expect(&bar, 128);
    }
    __syncthreads();
    meet();
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(found) : "r"(there(&mine[31 - t], next)) : "memory");
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(there(&counter, 0)), "r"(t) : "memory");
    asm volatile("red.shared::cluster.add.f32 [%0], %1;" ::"r"(there(&floats, 0)), "f"(0.5f) : "memory");
    for (int k = 0; k < ranks; k++)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(&arrivals, k)) : "memory");
    wait(&arrivals, 0);
    if (t == 0) {
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(there(copied, next)), "r"(sh(mine)), "r"(128),
                     "r"(there(&bar, next)) : "memory");
    }
    wait(&bar, 0);
    int *row = out + (blockIdx.x * 32 + t) * 4;
    row[0] = found;
    row[1] = copied[t];
    row[2] = me == 0 ? counter : -1;
    row[3] = me == 0 ? floats : -1;
    meet();
}
