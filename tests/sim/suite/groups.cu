// only: sm_90a
// nvcc: -diag-suppress 1556
// Products of warp groups (wgmma): a warp fetches tiles by tensor copies, a group multiplies; three stages, one product always under way.
#include "asynchronous.cuh"
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void __launch_bounds__(160)
#define MAP const __grid_constant__ Map

constexpr int STAGES = 3, A_BYTES = 64 * 128, B_BYTES = 32 * 128;  // rows of 128 bytes in the layout of that swizzle
__device__ uint64_t described(const void *p) { return (sh(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ void fence_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait_group() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

#define D16(L) "+" L(d[0]), "+" L(d[1]), "+" L(d[2]), "+" L(d[3]), "+" L(d[4]), "+" L(d[5]), "+" L(d[6]), "+" L(d[7]), "+" L(d[8]), \
    "+" L(d[9]), "+" L(d[10]), "+" L(d[11]), "+" L(d[12]), "+" L(d[13]), "+" L(d[14]), "+" L(d[15])
#define MMA(NAME, D, LETTER, TEXT, REST)                                                                                              \
    struct NAME {                                                                                                                     \
        typedef D result;                                                                                                             \
        static __device__ void multiply(D (&d)[16], uint64_t a, uint64_t b, int more) {                                               \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %18, 0; wgmma.mma_async.sync.aligned." TEXT                                  \
                         " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, p" REST "; }"                           \
                         : D16(LETTER) : "l"(a), "l"(b), "r"(more));                                                                  \
        }                                                                                                                             \
    };
MMA(F16, float, "f", "m64n32k16.f32.f16.f16", ", 1, 1, 0, 0")
MMA(Bf16, float, "f", "m64n32k16.f32.bf16.bf16", ", 1, 1, 0, 0")
MMA(Tf32, float, "f", "m64n32k8.f32.tf32.tf32", ", 1, 1")
MMA(E4m3, float, "f", "m64n32k32.f32.e4m3.e5m2", ", 1, 1")
MMA(S8, int, "r", "m64n32k32.s32.s8.u8", "")

struct Pipeline {
    uint8_t *as, *bs;
    u64 *full, *empty;
};
// The last warp: tile after tile. `bytes` is the length of a row of A and B.
__device__ void produce(const Pipeline &p, const Map &a, const Map &b, int bytes) {
    if (!one_lane()) return;
    for (int i = 0; i < bytes / 128; i++) {
        int s = i % STAGES;
        wait(&p.empty[s], (i / STAGES + 1) & 1);
        expect(&p.full[s], A_BYTES + B_BYTES);
        tensor_load(p.as + s * A_BYTES, a, &p.full[s], i * 128, blockIdx.y * 64);
        tensor_load(p.bs + s * B_BYTES, b, &p.full[s], i * 128, blockIdx.x * 32);
    }
}
#define PIPELINE                                                                                           \
    extern __shared__ __align__(1024) uint8_t memory[];                                                    \
    __shared__ u64 full[STAGES], empty[STAGES];                                                            \
    Pipeline p = {memory, memory + STAGES * A_BYTES, full, empty};                                         \
    if (threadIdx.x == 0) {                                                                                \
        for (int s = 0; s < STAGES; s++) {                                                                 \
            init(&full[s], 1);                                                                             \
            init(&empty[s], 128);                                                                          \
        }                                                                                                  \
        fence_init();                                                                                      \
    }                                                                                                      \
    __syncthreads();
template <typename D> __device__ void store(D *c, int n, const D (&d)[16]) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 16; i++)
        c[(blockIdx.y * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8) * n + blockIdx.x * 32 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

template <typename Mma> __device__ void product(const Map &a, const Map &b, typename Mma::result *c, int n, int bytes) {
    PIPELINE
    if (threadIdx.x >= 128) {
        produce(p, a, b, bytes);
        return;
    }
    typename Mma::result d[16];
    for (int i = 0; i < bytes / 128; i++) {
        int s = i % STAGES;
        wait(&full[s], (i / STAGES) & 1);
        fence_group();
        #pragma unroll
        for (int step = 0; step < 4; step++)
            Mma::multiply(d, described(p.as + s * A_BYTES) + 2 * step, described(p.bs + s * B_BYTES) + 2 * step, i + step);
        commit_group();
        wait_group<1>();
        if (i > 0) arrive(&empty[(i - 1) % STAGES]);
    }
    wait_group<0>();
    store(c, n, d);
}
KERNEL group_f16(MAP a, MAP b, float *c, int n, int bytes) { product<F16>(a, b, c, n, bytes); }
KERNEL group_bf16(MAP a, MAP b, float *c, int n, int bytes) { product<Bf16>(a, b, c, n, bytes); }
KERNEL group_tf32(MAP a, MAP b, float *c, int n, int bytes) { product<Tf32>(a, b, c, n, bytes); }
KERNEL group_e4m3(MAP a, MAP b, float *c, int n, int bytes) { product<E4m3>(a, b, c, n, bytes); }
KERNEL group_s8(MAP a, MAP b, int *c, int n, int bytes) { product<S8>(a, b, c, n, bytes); }

// A goes through registers, where it is doubled and made positive before it is multiplied.
KERNEL group_registers(MAP a, MAP b, float *c, int n, int bytes) {
    PIPELINE
    if (threadIdx.x >= 128) {
        produce(p, a, b, bytes);
        return;
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, line = warp * 16 + lane % 16;
    float d[16] = {};
    for (int i = 0; i < bytes / 128; i++) {
        int s = i % STAGES;
        wait(&full[s], (i / STAGES) & 1);
        uint32_t x[4][4];
        for (int step = 0; step < 4; step++) {
            const uint8_t *at = p.as + s * A_BYTES + line * 128 + ((2 * step + lane / 16) ^ line % 8) * 16;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x[step][0]), "=r"(x[step][1]), "=r"(x[step][2]), "=r"(x[step][3]) : "r"(sh(at)) : "memory");
            for (int j = 0; j < 4; j++) {
                __half2 v = *(__half2 *)&x[step][j];
                v = __hmax2(__hadd2(v, v), __float2half2_rn(0));
                x[step][j] = *(uint32_t *)&v;
            }
        }
        fence_group();
        #pragma unroll
        for (int step = 0; step < 4; step++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
                         "{%16,%17,%18,%19}, %20, 1, 1, 1, 0;"
                         : D16("f") : "r"(x[step][0]), "r"(x[step][1]), "r"(x[step][2]), "r"(x[step][3]), "l"(described(p.bs + s * B_BYTES) + 2 * step));
        commit_group();
        wait_group<0>();
        arrive(&empty[s]);
    }
    store(c, n, d);
}
