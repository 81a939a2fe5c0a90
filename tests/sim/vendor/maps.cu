// targets: sm_90a sm_100a sm_120a
// Tensor maps that device code makes or changes: every field is replaced, and a tile copied with the map.
#include <cstdint>

typedef unsigned long long u64;
struct alignas(64) Map { u64 words[16]; };
struct Fields { u64 address, strides[2]; int dims[3], box[3], steps[3], at[3]; };
__device__ uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
extern __shared__ __align__(1024) char memory[];

#define REPLACE(FIELD, TYPE, KIND, VALUE) asm volatile("tensormap.replace.tile." FIELD TYPE " %1;" ::"r"(sh(&own)), KIND(VALUE) : "memory")
#define SET(FIELD, VALUE) asm volatile("tensormap.replace.tile." FIELD ".shared::cta.b1024.b32 [%0], " VALUE ";" ::"r"(sh(&own)) : "memory")
#define EACH(I)                                                                        \
    REPLACE("box_dim", ".shared::cta.b1024.b32 [%0], " #I ",", "r", f.box[I]);         \
    REPLACE("global_dim", ".shared::cta.b1024.b32 [%0], " #I ",", "r", f.dims[I]);     \
    REPLACE("element_stride", ".shared::cta.b1024.b32 [%0], " #I ",", "r", f.steps[I])

#define REPLACED(NAME, ELEMENTS, INTERLEAVE, SWIZZLE, FILL)                                                                              \
    extern "C" __global__ void NAME(const __grid_constant__ Map map, const __grid_constant__ Fields f, Map *room, char *out, int bytes)   \
    {                                                                                                                                    \
        __shared__ alignas(128) Map own;                                                                                                 \
        __shared__ u64 bar;                                                                                                              \
        if (threadIdx.x < 16)                                                                                                            \
            own.words[threadIdx.x] = map.words[threadIdx.x];                                                                             \
        __syncwarp();                                                                                                                    \
        if (threadIdx.x == 0) {                                                                                                          \
            REPLACE("global_address", ".shared::cta.b1024.b64 [%0],", "l", f.address);                                                   \
            REPLACE("rank", ".shared::cta.b1024.b32 [%0],", "r", 2);                                                                     \
            EACH(0);                                                                                                                     \
            EACH(1);                                                                                                                     \
            EACH(2);                                                                                                                     \
            REPLACE("global_stride", ".shared::cta.b1024.b64 [%0], 0,", "l", f.strides[0]);                                              \
            REPLACE("global_stride", ".shared::cta.b1024.b64 [%0], 1,", "l", f.strides[1]);                                              \
            SET("elemtype", ELEMENTS);                                                                                                   \
            SET("interleave_layout", INTERLEAVE);                                                                                        \
            SET("swizzle_mode", SWIZZLE);                                                                                                \
            SET("fill_mode", FILL);                                                                                                      \
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&bar)));                                                           \
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");                                                           \
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sh(&bar)), "r"(bytes) : "memory");                    \
        }                                                                                                                                \
        __syncwarp();                                                                                                                    \
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(room), \
                     "r"(sh(&own)) : "memory");                                                                                          \
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(room) : "memory");                                    \
        if (threadIdx.x == 0)                                                                                                            \
            asm volatile("cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"( \
                             sh(memory)), "l"(room), "r"(sh(&bar)), "r"(f.at[0]), "r"(f.at[1]), "r"(f.at[2]) : "memory");                 \
        for (int done = 0; !done;)                                                                                                       \
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sh(&bar)) : "memory"); \
        for (int i = threadIdx.x; i < bytes; i += 32)                                                                                    \
            out[i] = memory[i];                                                                                                          \
    }
REPLACED(integers, "3", "0", "0", "0")
REPLACED(halves, "6", "0", "3", "1")
REPLACED(singles, "7", "0", "1", "0")
REPLACED(doubles, "9", "0", "0", "1")
REPLACED(brains, "10", "0", "2", "1")
REPLACED(flushed, "8", "0", "0", "0")
REPLACED(tensors, "11", "0", "0", "0")
REPLACED(interleaved, "3", "1", "0", "0")
