// Products of warp groups (wgmma), 64 x 64 of the result, on tiles with rows of 128 bytes in the layout of that swizzle.
#pragma once
#include "tiles.cuh"
#define MAP const __grid_constant__ Map

constexpr int TILE = 64 * 128;  // bytes
__device__ inline uint64_t described(const void *p) { return (sh(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ inline void fence_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ inline void wait_group() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

#define F8(I) "+f"(d[I]), "+f"(d[I + 1]), "+f"(d[I + 2]), "+f"(d[I + 3]), "+f"(d[I + 4]), "+f"(d[I + 5]), "+f"(d[I + 6]), "+f"(d[I + 7])
#define D32 F8(0), F8(8), F8(16), F8(24)
#define TEXT32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define GROUP_PRODUCT(NAME, TEXT, REST)                                                                                               \
    __device__ inline void NAME(float (&d)[32], uint64_t a, uint64_t b, int more) {                                                   \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned." TEXT " " TEXT32 ", %32, %33, p" REST "; }" \
                     : D32 : "l"(a), "l"(b), "r"(more) : "memory");                                                                    \
    }
GROUP_PRODUCT(group_f16, "m64n64k16.f32.f16.f16", ", 1, 1, 0, 0")
GROUP_PRODUCT(group_bf16_turned, "m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 1")  // B is [k][n]
GROUP_PRODUCT(group_e4m3, "m64n64k32.f32.e4m3.e4m3", ", 1, 1")
#define GROUP_REGISTERS(NAME, REST)                                                                                                   \
    __device__ inline void NAME(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int more) {                                       \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " TEXT32               \
                     ", {%32,%33,%34,%35}, %36, p, 1, 1, " REST "; }"                                                                 \
                     : D32 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(more) : "memory");                                \
    }
GROUP_REGISTERS(group_from_registers, "0")
GROUP_REGISTERS(group_from_registers_turned, "1")

template <int N> __device__ inline void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> __device__ inline void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
__device__ inline void named_sync(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ inline void named_arrive(int barrier, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

// Where in a ring of stages a producer or a consumer is.
template <int STAGES> struct Turn {
    int stage = 0, phase = 0;
    __device__ void next() {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    __device__ void skip(int count) { phase ^= (stage + count) / STAGES & 1, stage = (stage + count) % STAGES; }
};
template <int STAGES> struct Ring {
    u64 full[STAGES], empty[STAGES];
    __device__ void set_up(int consumers) {
        if (threadIdx.x == 0) {
            for (int s = 0; s < STAGES; s++) init(&full[s], 1), init(&empty[s], consumers);
            fence_init();
        }
    }
};
// Calls f(row, column, two neighbours) for what a thread of a group has of 64 x 64.
template <typename F> __device__ inline void each_pair(float (&d)[32], F f) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    #pragma unroll
    for (int i = 0; i < 32; i += 2) f(warp * 16 + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2, d[i], d[i + 1]);
}
