// Products in tensor memory (tcgen05): what the kernels share. Tiles have rows of 128 bytes in the layout of that swizzle.
#pragma once
#include "groups.cuh"

constexpr uint32_t F32_RESULT = 1 << 4;
__device__ inline constexpr uint32_t sizes(int m, int n) { return n / 8 << 17 | m / 16 << 24; }
__device__ inline uint64_t tensor_tile(const void *p) { return described(p) & ~(3ull << 62) | 1ull << 46 | 2ull << 61; }
__device__ inline uint64_t tensor_turned(const void *p, int apart) { return tensor_tile(p) & ~(0x3fffull << 16) | (uint64_t)(apart / 16) << 16; }
__device__ inline void before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ inline void after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

#define FOR_PAIRS(G)                                                                                                                  \
    template <int COLUMNS> __device__ inline void allocate##G(uint32_t *base) { /* a whole warp */                                   \
        asm volatile("tcgen05.alloc.cta_group::" #G ".sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(sh(base)), "n"(COLUMNS) : "memory"); \
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" #G ".sync.aligned;");                                              \
    }                                                                                                                                 \
    template <int COLUMNS> __device__ inline void release##G(uint32_t base) {                                                         \
        asm volatile("tcgen05.dealloc.cta_group::" #G ".sync.aligned.b32 %0, %1;" ::"r"(base), "n"(COLUMNS));                         \
    }
FOR_PAIRS(1)
FOR_PAIRS(2)
__device__ inline void commit_products(u64 *bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(sh(bar)) : "memory");
}
#define TENSOR_PRODUCT(NAME, TEXT)                                                                                                    \
    __device__ inline void NAME(uint32_t d, uint64_t a, uint64_t b, uint32_t what, int more) {                                        \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma." TEXT " [%0], %1, %2, %3, p; }" ::"r"(d), "l"(a), "l"(b),     \
                     "r"(what), "r"(more) : "memory");                                                                                \
    }
TENSOR_PRODUCT(tensor_f16, "cta_group::1.kind::f16")
TENSOR_PRODUCT(tensor_f8, "cta_group::1.kind::f8f6f4")
TENSOR_PRODUCT(pair_f16, "cta_group::2.kind::f16")

#define TO8(I) "=r"(r[I]), "=r"(r[I + 1]), "=r"(r[I + 2]), "=r"(r[I + 3]), "=r"(r[I + 4]), "=r"(r[I + 5]), "=r"(r[I + 6]), "=r"(r[I + 7])
#define OF8(I) "r"(r[I]), "r"(r[I + 1]), "r"(r[I + 2]), "r"(r[I + 3]), "r"(r[I + 4]), "r"(r[I + 5]), "r"(r[I + 6]), "r"(r[I + 7])
__device__ inline void load_columns(uint32_t *r, uint32_t at) {  // 32 columns of this thread's row
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 " TEXT32 ", [%32];" : TO8(0), TO8(8), TO8(16), TO8(24) : "r"(at) : "memory");
}
__device__ inline void store_columns(uint32_t at, const uint32_t *r) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], " TEXT32 ";" ::OF8(0), OF8(8), OF8(16), OF8(24), "r"(at) : "memory");
}
__device__ inline void loaded() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ inline void stored() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
__device__ inline void store_row(float *c, int pitch, int m, int n, int row, int column, const uint32_t (&r)[32]) {
    if (row < m)
        for (int i = 0; i < 32; i++) if (column + i < n) c[(size_t)row * pitch + column + i] = __uint_as_float(r[i]);
}
