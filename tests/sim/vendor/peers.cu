// targets: sm_90a sm_120a
// Bulk and tensor copies into the shared memory of other CTAs of a cluster, of each kind: to one, or to several of them.
#include <cstdint>

typedef unsigned long long u64;
struct alignas(64) Map { char bytes[128]; };
struct Where { int c[5], offsets[3], rank, mask; };
__device__ uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void meet() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
extern __shared__ __align__(1024) char memory[];

#define COPY(WHAT, MORE, FROM, C, OFFSETS, LAST, MASK)                                                                             \
    asm volatile("cp.async.bulk" WHAT ".mbarrier::complete_tx::bytes" MORE " [%0], [%1" C "]" LAST ", [%2]" OFFSETS MASK ";" ::"r"(to), "l"(FROM), "r"(signal), \
                 "r"(at.c[0]), "r"(at.c[1]), "r"(at.c[2]), "r"(at.c[3]), "r"(at.c[4]), "h"((short)at.offsets[0]),                  \
                 "h"((short)at.offsets[1]), "h"((short)at.offsets[2]), "r"(bytes), "h"((short)at.mask) : "memory")

// Rank 0 sends to `rank`, or to the CTAs of a mask; who gets something waits for it and shows it.
#define PEERS(NAME, WHAT, FROM, C, OFFSETS, LAST)                                                                                   \
    extern "C" __global__ void NAME(const __grid_constant__ Map map, const __grid_constant__ Where at, const char *x, char *out, int bytes) \
    {                                                                                                                               \
        __shared__ u64 bar;                                                                                                         \
        uint32_t rank, to, signal, done = 0;                                                                                        \
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));                                                                         \
        bool mine = at.mask ? at.mask >> rank & 1 : rank == at.rank;                                                                \
        if (threadIdx.x == 0) {                                                                                                     \
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&bar)));                                                      \
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");                                                      \
            if (mine)                                                                                                               \
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sh(&bar)), "r"(bytes) : "memory");           \
        }                                                                                                                           \
        meet();                                                                                                                     \
        if (threadIdx.x == 0 && rank == 0) {                                                                                        \
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(sh(memory)), "r"(at.rank));                                 \
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(signal) : "r"(sh(&bar)), "r"(at.rank));                               \
            if (at.mask)                                                                                                            \
                COPY(WHAT, ".multicast::cluster", FROM, C, OFFSETS, LAST, ", %12");                                                 \
            else                                                                                                                    \
                COPY(WHAT, "", FROM, C, OFFSETS, LAST, "");                                                                         \
        }                                                                                                                           \
        while (mine && !done)                                                                                                       \
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(&bar)) : "memory"); \
        for (int i = threadIdx.x; mine && i < bytes; i += blockDim.x)                                                               \
            out[rank * bytes + i] = memory[i];                                                                                      \
        meet();                                                                                                                     \
    }
PEERS(block, ".shared::cluster.global", x, "", "", ", %11")
PEERS(tile1, ".tensor.1d.shared::cluster.global.tile", &map, ", {%3}", "", "")
PEERS(tile2, ".tensor.2d.shared::cluster.global.tile", &map, ", {%3, %4}", "", "")
PEERS(tile3, ".tensor.3d.shared::cluster.global.tile", &map, ", {%3, %4, %5}", "", "")
PEERS(tile4, ".tensor.4d.shared::cluster.global.tile", &map, ", {%3, %4, %5, %6}", "", "")
PEERS(tile5, ".tensor.5d.shared::cluster.global.tile", &map, ", {%3, %4, %5, %6, %7}", "", "")
PEERS(pixels3, ".tensor.3d.shared::cluster.global.im2col", &map, ", {%3, %4, %5}", ", {%8}", "")
PEERS(pixels4, ".tensor.4d.shared::cluster.global.im2col", &map, ", {%3, %4, %5, %6}", ", {%8, %9}", "")
PEERS(pixels5, ".tensor.5d.shared::cluster.global.im2col", &map, ", {%3, %4, %5, %6, %7}", ", {%8, %9, %10}", "")
