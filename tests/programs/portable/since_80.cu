// since: 80
// What sm_80 has first: copies that run beside the code, sums of a warp in one instruction, barriers in shared memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void

__device__ __forceinline__ void copy16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

KERNEL pipeline_copies(const int4 *a, int *o, int rounds) {  // three stages: two are under way while one is summed
    __shared__ int4 stage[3][64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 2; k++) {
        if (k < rounds) copy16(&stage[k][t], a + k * 64 + t);
        commit();
    }
    for (int k = 0; k < rounds; k++) {
        wait<1>();
        __syncthreads();
        if (k + 2 < rounds) copy16(&stage[(k + 2) % 3][t], a + (k + 2) * 64 + t);
        commit();
        int4 v = stage[k % 3][63 - t];
        sum = sum * 3 + v.x - v.y * 2 + (v.z ^ v.w);
    }
    o[t] = sum;
}

KERNEL pipeline_products(const float *a, const float *b, float *c, int n) {  // 32x32 tiles in two buffers
    __shared__ alignas(16) float as[2][16][32], bs[2][16][32];
    int x = threadIdx.x, y = threadIdx.y, id = y * 8 + x;
    float t[4][4] = {};
    auto fetch = [&](int buffer, int k0) {
        for (int e = id; e < 128; e += 64) {
            copy16(&as[buffer][e / 8][e % 8 * 4], a + (k0 + e / 8) * 32 + e % 8 * 4);  // a lies by columns
            copy16(&bs[buffer][e / 8][e % 8 * 4], b + (k0 + e / 8) * 32 + e % 8 * 4);
        }
        commit();
    };
    fetch(0, 0);
    for (int k0 = 0, turn = 0; k0 < n; k0 += 16, turn ^= 1) {
        if (k0 + 16 < n) fetch(turn ^ 1, k0 + 16), wait<1>();
        else wait<0>();
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 u = *(float4 *)&as[turn][k][y * 4], v = *(float4 *)&bs[turn][k][x * 4];
            float p[4] = {u.x, u.y, u.z, u.w}, q[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) t[i][j] = fmaf(p[i], q[j], t[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) c[(y * 4 + i) * 32 + x * 4 + j] = t[i][j];
}

KERNEL reductions_at_once(const int *a, int *o) {
    int v = a[threadIdx.x];
    unsigned part = __match_any_sync(~0u, v & 3);
    o[threadIdx.x * 4] = __reduce_add_sync(~0u, v), o[threadIdx.x * 4 + 1] = __reduce_max_sync(~0u, v);
    o[threadIdx.x * 4 + 2] = __reduce_xor_sync(~0u, v), o[threadIdx.x * 4 + 3] = 0;
    for (int k = 0; k < 4; k++) if ((v & 3) == k) o[threadIdx.x * 4 + 3] = __reduce_min_sync(part, v);
}

KERNEL brain_floats(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *o, int n) {
    __nv_bfloat162 s = __float2bfloat162_rn(0), m = __float2bfloat162_rn(99);
    for (int k = 0; k < n; k++) {
        s = __hfma2(a[threadIdx.x * n + k], b[threadIdx.x * n + k], s);
        m = __hmin2(m, __hmax2(a[threadIdx.x * n + k], b[threadIdx.x * n + k]));
    }
    o[2 * threadIdx.x] = s, o[2 * threadIdx.x + 1] = m;
}

KERNEL arrivals(const int *a, int *o, int rounds) {  // writers and readers by two barriers in shared memory
    __shared__ int cells[32];
    __shared__ uint64_t full, empty;
    unsigned f = (unsigned)__cvta_generic_to_shared(&full), e = (unsigned)__cvta_generic_to_shared(&empty);
    int t = threadIdx.x & 31, sum = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32; mbarrier.init.shared.b64 [%1], 32;" ::"r"(f), "r"(e) : "memory");
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        bool writes = threadIdx.x < 32;
        uint64_t mine;
        unsigned other = writes ? e : f;
        if (writes ? k > 0 : true) {  // wait for the other side's phase
            asm volatile("{ .reg .pred p; L: mbarrier.test_wait.parity.shared.b64 p, [%0], %1; @!p bra L; }" ::"r"(other), "r"(writes ? k - 1 & 1 : k & 1) : "memory");
        }
        if (writes) cells[t] = a[k * 32 + t];
        else sum = sum * 5 + cells[31 - t];
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(mine) : "r"(writes ? f : e) : "memory");
    }
    if (threadIdx.x >= 32) o[t] = sum;
}
