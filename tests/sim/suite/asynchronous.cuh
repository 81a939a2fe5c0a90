// Copies that go on beside the threads, and the mbarriers that tell of them, as inline PTX.
#pragma once
#include <stdint.h>

typedef unsigned long long u64;
__device__ inline uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

#if __CUDA_ARCH__ >= 800
template <int BYTES> __device__ inline void copy_async(void *to, const void *from, bool there = true) {  // zeros where nothing is there
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sh(to)), "l"(from), "r"(there ? 16 : 0));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(sh(to)), "l"(from), "n"(BYTES), "r"(there ? BYTES : 0));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ inline void wait_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif

__device__ inline void init(u64 *bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sh(bar)), "r"(count) : "memory"); }
__device__ inline void arrive(u64 *bar) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(sh(bar)) : "memory");
}
#if __CUDA_ARCH__ >= 900
__device__ inline void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void expect(u64 *bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sh(bar)), "r"(bytes) : "memory");
}
__device__ inline void wait(u64 *bar, int phase) {
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(sh(bar)), "r"(phase) : "memory");
}
__device__ inline void written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }  // for copies out of shared memory
__device__ inline void meet() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ inline uint32_t rank_of() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ inline uint32_t there(const void *p, uint32_t rank) {  // the same place in the memory of another CTA
    uint32_t address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(sh(p)), "r"(rank));
    return address;
}
__device__ inline bool one_lane() {
    int chosen;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(chosen));
    return chosen;
}

__device__ inline void bulk_load(void *to, const void *from, uint32_t bytes, u64 *bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sh(to)), "l"(from), "r"(bytes), "r"(sh(bar))
                 : "memory");
}
__device__ inline void bulk_store(void *to, const void *from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(sh(from)), "r"(bytes) : "memory");
}
__device__ inline void commit_bulk() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ inline void wait_bulk_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
template <int N> __device__ inline void wait_bulk() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }

struct alignas(64) Map { char bytes[128]; };  // a CUtensorMap
#define TENSOR_LOAD "shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
__device__ inline void tensor_load(void *to, const Map &map, u64 *bar, int x) {
    asm volatile("cp.async.bulk.tensor.1d." TENSOR_LOAD "{%3}], [%2];" ::"r"(sh(to)), "l"(&map), "r"(sh(bar)), "r"(x) : "memory");
}
__device__ inline void tensor_load(void *to, const Map &map, u64 *bar, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d." TENSOR_LOAD "{%3, %4}], [%2];" ::"r"(sh(to)), "l"(&map), "r"(sh(bar)), "r"(x), "r"(y) : "memory");
}
__device__ inline void tensor_load(void *to, const Map &map, u64 *bar, int x, int y, int z) {
    asm volatile("cp.async.bulk.tensor.3d." TENSOR_LOAD "{%3, %4, %5}], [%2];" ::"r"(sh(to)), "l"(&map), "r"(sh(bar)), "r"(x), "r"(y), "r"(z) : "memory");
}
__device__ inline void tensor_load(void *to, const Map &map, u64 *bar, int x, int y, int z, int n) {
    asm volatile("cp.async.bulk.tensor.4d." TENSOR_LOAD "{%3, %4, %5, %6}], [%2];" ::"r"(sh(to)), "l"(&map), "r"(sh(bar)), "r"(x), "r"(y), "r"(z), "r"(n)
                 : "memory");
}
__device__ inline void tensor_load(void *to, const Map &map, u64 *bar, int x, int y, int z, int n, int c) {
    asm volatile("cp.async.bulk.tensor.5d." TENSOR_LOAD "{%3, %4, %5, %6, %7}], [%2];" ::"r"(sh(to)), "l"(&map), "r"(sh(bar)), "r"(x), "r"(y), "r"(z), "r"(n),
                 "r"(c) : "memory");
}
__device__ inline void tensor_store(const Map &map, const void *from, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(sh(from)), "l"(&map), "r"(x), "r"(y) : "memory");
}
#endif
