// only: sm_100a
// nvcc: -diag-suppress 1556
// Products in tensor memory (tcgen05): one warp fetches tiles by tensor copies, one issues the products, all four bring out the result.
#include "asynchronous.cuh"
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void
#define MAP const __grid_constant__ Map

constexpr int STAGES = 2, A_BYTES = 128 * 128, B_BYTES = 32 * 128;  // rows of 128 bytes in the layout of that swizzle
__device__ uint64_t described(const void *p) { return (sh(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }
__device__ void commit_products(u64 *bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(sh(bar)) : "memory");
}
__device__ void before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ void after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ void allocate(uint32_t *base) {  // a whole warp; 64 columns
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(sh(base)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
__device__ void release(uint32_t base) { asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(base)); }
__device__ void load_columns(uint32_t (&r)[32], uint32_t at) {
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
                 "%25,%26,%27,%28,%29,%30,%31}, [%32]; tcgen05.wait::ld.sync.aligned;"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]),
                   "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15]), "=r"(r[16]), "=r"(r[17]), "=r"(r[18]), "=r"(r[19]), "=r"(r[20]),
                   "=r"(r[21]), "=r"(r[22]), "=r"(r[23]), "=r"(r[24]), "=r"(r[25]), "=r"(r[26]), "=r"(r[27]), "=r"(r[28]), "=r"(r[29]), "=r"(r[30]),
                   "=r"(r[31])
                 : "r"(at) : "memory");
}
#define MMA(NAME, KIND)                                                                                                              \
    struct NAME {                                                                                                                    \
        static __device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t what, int more) {                               \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::" KIND " [%0], %1, %2, %3, p; }" ::"r"(d), \
                         "l"(a), "l"(b), "r"(what), "r"(more) : "memory");                                                           \
        }                                                                                                                            \
    };
MMA(F16, "f16") MMA(Tf32, "tf32") MMA(F8, "f8f6f4") MMA(I8, "i8")

// 128 x 32 of C; `bytes` is the length of a row of A and of B, `what` the instruction descriptor.
template <typename Mma> __device__ void product(const Map &a, const Map &b, uint32_t *c, int n, int bytes, uint32_t what) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ u64 full[STAGES], empty[STAGES], done;
    __shared__ uint32_t base;
    uint8_t *as = memory, *bs = memory + STAGES * A_BYTES;
    int warp = threadIdx.x / 32;
    if (warp == 0) allocate(&base);
    if (threadIdx.x == 32) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], 1);
        }
        init(&done, 1);
        fence_init();
    }
    before_sync();
    __syncthreads();
    after_sync();
    if (warp == 0 && one_lane()) {
        for (int i = 0; i < bytes / 128; i++) {
            int s = i % STAGES;
            wait(&empty[s], (i / STAGES + 1) & 1);
            expect(&full[s], A_BYTES + B_BYTES);
            tensor_load(as + s * A_BYTES, a, &full[s], i * 128, blockIdx.y * 128);
            tensor_load(bs + s * B_BYTES, b, &full[s], i * 128, blockIdx.x * 32);
        }
    } else if (warp == 1 && one_lane()) {
        for (int i = 0; i < bytes / 128; i++) {
            int s = i % STAGES;
            wait(&full[s], (i / STAGES) & 1);
            after_sync();
            for (int step = 0; step < 4; step++)
                Mma::multiply(base, described(as + s * A_BYTES) + 2 * step, described(bs + s * B_BYTES) + 2 * step, what, i + step);
            commit_products(&empty[s]);
        }
        commit_products(&done);
    }
    __syncwarp();
    wait(&done, 0);
    after_sync();
    uint32_t r[32];
    load_columns(r, base + (warp << 21));
    for (int i = 0; i < 32; i++) c[(blockIdx.y * 128 + threadIdx.x) * n + blockIdx.x * 32 + i] = r[i];
    before_sync();
    __syncthreads();
    if (warp == 0) release(base);
}
#define PRODUCT(NAME, KIND) \
    KERNEL NAME(MAP a, MAP b, uint32_t *c, int n, int bytes, uint32_t what) { product<KIND>(a, b, c, n, bytes, what); }
PRODUCT(tensor_f16, F16) PRODUCT(tensor_bf16, F16) PRODUCT(tensor_tf32, Tf32) PRODUCT(tensor_f8, F8) PRODUCT(tensor_i8, I8)

// Two products in a chain: what is positive of A B becomes halves in tensor memory and is A of the next one. 128 x 64, 64 x 32, 32 x 32.
KERNEL tensor_chain(MAP a, MAP b, MAP next, float *c, uint32_t what) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ u64 full, done;
    __shared__ uint32_t base;
    uint8_t *as = memory, *bs = memory + A_BYTES, *ns = bs + B_BYTES;
    int t = threadIdx.x, warp = t / 32;
    if (warp == 0) allocate(&base);
    if (t == 32) {
        init(&full, 1);
        init(&done, 1);
        fence_init();
        expect(&full, A_BYTES + 2 * B_BYTES);
        tensor_load(as, a, &full, 0, 0);
        tensor_load(bs, b, &full, 0, 0);
        tensor_load(ns, next, &full, 0, 0);
    }
    before_sync();
    __syncthreads();
    after_sync();
    if (t == 0) {
        wait(&full, 0);
        for (int step = 0; step < 4; step++) F16::multiply(base, described(as) + 2 * step, described(bs) + 2 * step, what, step);
        commit_products(&done);
    }
    __syncwarp();
    wait(&done, 0);
    after_sync();
    uint32_t r[32], h[16], mine = base + (warp << 21);
    load_columns(r, mine);
    for (int i = 0; i < 16; i++) {
        __half2 v = __floats2half2_rn(fmaxf(__uint_as_float(r[2 * i]), 0), fmaxf(__uint_as_float(r[2 * i + 1]), 0));
        h[i] = *(uint32_t *)&v;
    }
    asm volatile("tcgen05.st.sync.aligned.32x32b.x16.b32 [%16], {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}; tcgen05.wait::st.sync.aligned;" ::"r"(h[0]),
                 "r"(h[1]), "r"(h[2]), "r"(h[3]), "r"(h[4]), "r"(h[5]), "r"(h[6]), "r"(h[7]), "r"(h[8]), "r"(h[9]), "r"(h[10]), "r"(h[11]), "r"(h[12]), "r"(h[13]),
                 "r"(h[14]), "r"(h[15]), "r"(mine + 32) : "memory");
    before_sync();
    __syncthreads();
    after_sync();
    if (t == 0) {
        for (int step = 0; step < 2; step++)
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(base),
                         "r"(base + 32 + 8 * step), "l"(described(ns) + 2 * step), "r"(what), "r"(step) : "memory");
        commit_products(&done);
    }
    __syncwarp();
    wait(&done, 1);
    after_sync();
    load_columns(r, mine);
    for (int i = 0; i < 32; i++) c[t * 32 + i] = __uint_as_float(r[i]);
    before_sync();
    __syncthreads();
    if (warp == 0) release(base);
}
