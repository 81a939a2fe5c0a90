// Tiled products of 16-bit matrices, C = A * B with A[m][k], B[n][k] (row and column major), C[m][n] in float.
#include <cstdint>

// One warp makes 16 x 32; four warps a tile of 32 x 64. Copies with cp.async, fragments with ldmatrix, products with mma.sync.
extern "C" __global__ void gemm_warp(const uint16_t *a, const uint16_t *b, float *c, int n, int k)
{
    __shared__ __align__(16) uint16_t as[2][32 * 40], bs[2][64 * 40]; // 32 of k, rows of 80 bytes
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 64;
    float d[4][4] = {};
    auto fetch = [&](int stage, int at) {
        for (int i = threadIdx.x; i < 96 * 4; i += 128) {
            int line = i / 4, piece = i % 4 * 8;
            const uint16_t *from = line < 32 ? a + (size_t)(row + line) * k : b + (size_t)(column + line - 32) * k;
            uint16_t *to = line < 32 ? &as[stage][line * 40] : &bs[stage][(line - 32) * 40];
            uint32_t address = (uint32_t)__cvta_generic_to_shared(to + piece);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from + at + piece));
        }
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    for (int at = 0, stage = 0; at < k; at += 32, stage ^= 1) {
        if (at + 32 < k) {
            fetch(stage ^ 1, at + 32);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        for (int step = 0; step < 32; step += 16) {
            uint32_t x[4], y[2];
            const uint16_t *p = &as[stage][(warp % 2 * 16 + lane % 16) * 40 + step + lane / 16 * 8];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"((uint32_t)__cvta_generic_to_shared(p)));
            for (int j = 0; j < 4; j++) {
                const uint16_t *q = &bs[stage][(warp / 2 * 32 + 8 * j + lane % 8) * 40 + step + lane / 8 % 2 * 8];
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                             : "=r"(y[0]), "=r"(y[1]) : "r"((uint32_t)__cvta_generic_to_shared(q)));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            c[(size_t)(row + warp % 2 * 16 + lane / 4 + i / 2 * 8) * n + column + warp / 2 * 32 + 8 * j + lane % 4 * 2 + i % 2] = d[j][i];
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
// Tile of 64 (sm_100: 128) rows of A and 64 of B, 64 of k: rows of 128 bytes in the layout of the swizzle of 128 bytes.
__device__ void fill(uint8_t *to, const uint16_t *from, int rows, int k, int at)
{
    for (int i = threadIdx.x; i < rows * 8; i += 128) {
        int line = i / 8, piece = i % 8;
        *(uint4 *)(to + line * 128 + ((piece ^ line % 8) * 16)) = *(const uint4 *)(from + (size_t)line * k + at + piece * 8);
    }
}
__device__ uint64_t described(const void *p, uint64_t mode)
{
    return ((uint32_t)__cvta_generic_to_shared(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | mode;
}
#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
extern "C" __global__ void gemm_group(const uint16_t *a, const uint16_t *b, float *c, int n, int k)
{
    __shared__ __align__(1024) uint8_t as[64 * 128], bs[64 * 128];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float d[32];
    for (int i = 0; i < 32; i++)
        d[i] = 0;
    for (int at = 0; at < k; at += 64) {
        fill(as, a + (size_t)row * k, 64, k, at);
        fill(bs, b + (size_t)column * k, 64, k, at);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < 4; step++) {
            uint64_t da = described(as, 1ull << 62) + step * 2, db = described(bs, 1ull << 62) + step * 2;
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                         "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
                         "%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                           "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                           "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                           "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                         : "l"(da), "l"(db));
        }
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        c[(size_t)(row + warp * 16 + lane / 4 + i / 2 % 2 * 8) * n + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}
#endif

#ifdef __CUDA_ARCH_FEAT_SM100_ALL
extern "C" __global__ void gemm_tensor(const uint16_t *a, const uint16_t *b, float *c, int n, int k)
{
    __shared__ __align__(1024) uint8_t as[128 * 128], bs[64 * 128];
    __shared__ uint64_t done;
    __shared__ uint32_t base;
    int row = blockIdx.y * 128, column = blockIdx.x * 64, warp = threadIdx.x / 32;
    uint32_t mbarrier = (uint32_t)__cvta_generic_to_shared(&done), slot = (uint32_t)__cvta_generic_to_shared(&base), phase = 0;
    if (warp == 0)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(slot) : "memory");
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
    __syncthreads();
    uint32_t idesc = 1 << 4 | (64 / 8) << 17 | (128 / 16) << 24; // F16, F16, accumulator F32
    for (int at = 0; at < k; at += 64, phase ^= 1) {
        fill(as, a + (size_t)row * k, 128, k, at);
        fill(bs, b + (size_t)column * k, 64, k, at);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int step = 0; step < 4; step++) {
                uint64_t mode = 2ull << 61 | 1ull << 46, da = described(as, mode) + step * 2, db = described(bs, mode) + step * 2;
                asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(base),
                             "l"(da), "l"(db), "r"(idesc), "r"(at + step) : "memory");
            }
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(mbarrier) : "memory");
        }
        uint32_t over = 0;
        while (!over)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                         : "=r"(over) : "r"(mbarrier), "r"(phase) : "memory");
        __syncthreads();
    }
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int j = 0; j < 64; j += 4) {
        float v[4];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4]; tcgen05.wait::ld.sync.aligned;"
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(base + (warp << 21) + j));
        for (int i = 0; i < 4; i++)
            c[(size_t)(row + threadIdx.x) * n + column + j + i] = v[i];
    }
    __syncthreads();
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(base));
}
#endif
