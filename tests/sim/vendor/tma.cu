// targets: sm_90a sm_100a sm_120a
// Bulk and tensor copies.
#include <cstdint>

typedef unsigned long long u64;
struct alignas(64) Map { char bytes[128]; };
struct At { int c[5]; };
__device__ uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(u64 *bar, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sh(bar)), "r"(count));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(u64 *bar, uint32_t bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sh(bar)), "r"(bytes) : "memory"); }
__device__ void wait(u64 *bar, int phase)
{
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(bar)), "r"(phase) : "memory");
}
__device__ void written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void finish()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
extern __shared__ __align__(1024) char memory[];

// Through shared memory and back, 3 * x + 1.
extern "C" __global__ void bulk(const int *x, int *out, int bytes)
{
    __shared__ u64 bar;
    int *data = (int *)memory;
    if (threadIdx.x == 0)
        init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sh(data)), "l"(x), "r"(bytes), "r"(sh(&bar)) : "memory");
    }
    wait(&bar, 0);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        data[i] = 3 * data[i] + 1;
    written();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(sh(data)), "r"(bytes) : "memory");
        finish();
    }
}

#define REDUCE(NAME, WHAT)                                                                                                                   \
    extern "C" __global__ void NAME(const int4 *x, int4 *out)                                                                               \
    {                                                                                                                                       \
        int4 *data = (int4 *)memory;                                                                                                        \
        data[threadIdx.x] = x[threadIdx.x];                                                                                                 \
        written();                                                                                                                          \
        __syncthreads();                                                                                                                    \
        if (threadIdx.x == 0) {                                                                                                             \
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." WHAT " [%0], [%1], %2;" ::"l"(out), "r"(sh(data)), "r"(16 * blockDim.x) : "memory"); \
            finish();                                                                                                                       \
        }                                                                                                                                   \
    }
REDUCE(add_u32, "add.u32") REDUCE(add_u64, "add.u64") REDUCE(min_s32, "min.s32") REDUCE(max_u32, "max.u32") REDUCE(min_s64, "min.s64") REDUCE(max_u64, "max.u64")
REDUCE(inc_u32, "inc.u32") REDUCE(dec_u32, "dec.u32") REDUCE(and_b32, "and.b32") REDUCE(or_b64, "or.b64") REDUCE(xor_b32, "xor.b32") REDUCE(add_f32, "add.f32")
REDUCE(add_f64, "add.f64") REDUCE(add_f16, "add.noftz.f16") REDUCE(min_f16, "min.f16") REDUCE(max_bf16, "max.bf16")

// A box as it lies in shared memory.
__device__ void show(const char *from, char *out, int bytes)
{
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        out[i] = from[i];
}
__device__ void fetch(char *to, const char *from, int bytes)
{
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        to[i] = from[i];
    written();
    __syncthreads();
}

#define C1 "{%3}"
#define C2 "{%3, %4}"
#define C3 "{%3, %4, %5}"
#define C4 "{%3, %4, %5, %6}"
#define C5 "{%3, %4, %5, %6, %7}"
#define COORDINATES "r"(at.c[0]), "r"(at.c[1]), "r"(at.c[2]), "r"(at.c[3]), "r"(at.c[4])
#define LOAD(NAME, WHAT, C, REST, ...)                                                                                           \
    extern "C" __global__ void NAME(const __grid_constant__ Map map, const __grid_constant__ At at, char *out, int bytes, const __grid_constant__ At more) \
    {                                                                                                                            \
        __shared__ u64 bar;                                                                                                      \
        if (threadIdx.x == 0)                                                                                                    \
            init(&bar, 1);                                                                                                       \
        __syncthreads();                                                                                                         \
        if (threadIdx.x == 0) {                                                                                                  \
            asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");                                                     \
            expect(&bar, bytes);                                                                                                 \
            asm volatile("cp.async.bulk.tensor." WHAT ".mbarrier::complete_tx::bytes [%0], [%1, " C "], [%2]" REST ";" ::"r"(sh(memory)), "l"(&map), "r"(sh(&bar)), \
                         COORDINATES, ##__VA_ARGS__ : "memory");                                                                 \
        }                                                                                                                        \
        wait(&bar, 0);                                                                                                           \
        show(memory, out, bytes);                                                                                                \
    }
LOAD(load1, "1d.shared::cluster.global.tile", C1, "")
LOAD(load2, "2d.shared::cluster.global.tile", C2, "")
LOAD(load3, "3d.shared::cluster.global.tile", C3, "")
LOAD(load4, "4d.shared::cluster.global.tile", C4, "")
LOAD(load5, "5d.shared::cluster.global.tile", C5, "")
LOAD(pixels3, "3d.shared::cluster.global.im2col", C3, ", {%8}", "h"((short)more.c[0]))
LOAD(pixels4, "4d.shared::cluster.global.im2col", C4, ", {%8, %9}", "h"((short)more.c[0]), "h"((short)more.c[1]))
LOAD(pixels5, "5d.shared::cluster.global.im2col", C5, ", {%8, %9, %10}", "h"((short)more.c[0]), "h"((short)more.c[1]), "h"((short)more.c[2]))

#define D1 "{%2}"
#define D2 "{%2, %3}"
#define D3 "{%2, %3, %4}"
#define D4 "{%2, %3, %4, %5}"
#define D5 "{%2, %3, %4, %5, %6}"
#define STORE(NAME, WHAT, C)                                                                                                            \
    extern "C" __global__ void NAME(const __grid_constant__ Map map, const __grid_constant__ At at, const char *x, int bytes)            \
    {                                                                                                                                   \
        fetch(memory, x, bytes);                                                                                                        \
        if (threadIdx.x == 0) {                                                                                                         \
            asm volatile(WHAT " [%1, " C "], [%0];" ::"r"(sh(memory)), "l"(&map), COORDINATES : "memory");                              \
            finish();                                                                                                                   \
        }                                                                                                                               \
    }
STORE(store1, "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group", D1)
STORE(store2, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", D2)
STORE(store3, "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", D3)
STORE(store4, "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group", D4)
STORE(store5, "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group", D5)
STORE(column4, "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group", D4)
STORE(reduce_add, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group", D2)
STORE(reduce_min, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group", D2)
STORE(reduce_xor, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group", D2)

#if !defined(__CUDA_ARCH_FEAT_SM120_ALL)
// Rank 0 sends its tile, and a block of bytes, to all of the cluster.
extern "C" __global__ void multicast(const __grid_constant__ Map map, const __grid_constant__ At at, const char *x, char *out, int bytes, int mask)
{
    __shared__ u64 bar;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        init(&bar, 1);
        if (mask >> rank & 1)
            expect(&bar, 2 * bytes);
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0 && rank == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(sh(memory)),
                     "l"(&map), "r"(sh(&bar)), "r"(at.c[0]), "r"(at.c[1]), "h"((short)mask) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(sh(memory + bytes)), "l"(x),
                     "r"(bytes), "r"(sh(&bar)), "h"((short)mask) : "memory");
    }
    if (mask >> rank & 1) {
        wait(&bar, 0);
        show(memory, out + 2 * bytes * blockIdx.x, 2 * bytes);
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
LOAD(gather4, "2d.shared::cta.global.tile::gather4", C5, "")
STORE(scatter4, "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group", D5)

// Every second byte of each 16 is written.
extern "C" __global__ void masked(const int4 *x, int4 *out)
{
    int4 *data = (int4 *)memory;
    data[threadIdx.x] = x[threadIdx.x];
    written();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(out), "r"(sh(data)), "r"(16 * blockDim.x), "h"((short)0x5555) : "memory");
        finish();
    }
}

// Two CTAs load a tile each; the mbarrier of the first one hears of both.
extern "C" __global__ void pair(const __grid_constant__ Map map, const __grid_constant__ At at, char *out, int bytes)
{
    __shared__ u64 bar;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        init(&bar, 1);
        if (rank == 0)
            expect(&bar, 2 * bytes);
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%3, %4}], [%2];" ::"r"(sh(memory)), "l"(&map),
                     "r"(sh(&bar) & 0xfeffffff), "r"(at.c[0]), "r"(at.c[1] + (int)rank) : "memory");
    if (rank == 0)
        wait(&bar, 0);
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    show(memory, out + bytes * blockIdx.x, bytes);
}
#endif
