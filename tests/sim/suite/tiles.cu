// Tiled matrix products with tensor cores: ldmatrix and mma.sync in every type, nvcuda::wmma, stmatrix, movmatrix.
#include "asynchronous.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#define KERNEL extern "C" __global__ void

__device__ void load_matrices(uint32_t (&r)[4], const void *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(sh(at)) : "memory");
}
__device__ void load_matrices(uint32_t (&r)[2], const void *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(sh(at)) : "memory");
}

// 16 x 8 elements of C, 32 bytes of each row of A and column of B: what mma.sync multiplies differs only in the name.
#define MMA(NAME, C, LETTER, TEXT)                                                                                              \
    struct NAME {                                                                                                               \
        typedef C result;                                                                                                       \
        static __device__ void multiply(C (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {                            \
            asm volatile("mma.sync.aligned." TEXT " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                      \
                         : "+" LETTER(c[0]), "+" LETTER(c[1]), "+" LETTER(c[2]), "+" LETTER(c[3])                               \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                   \
        }                                                                                                                       \
    };

// Four warps make 32 x 32 of C; two stages of 64 bytes of k, rows 80 bytes apart. `bytes` is the length of a row of A and of B.
template <typename Mma> __device__ void tiled_product(const char *a, const char *b, typename Mma::result *c, int n, int bytes) {
    __shared__ __align__(16) char as[2][32][80], bs[2][32][80];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    auto fetch = [&](int stage, int k) {
        int line = t / 4, piece = t % 4 * 16;
#if __CUDA_ARCH__ >= 800
        copy_async<16>(&as[stage][line][piece], a + (row + line) * bytes + k + piece);
        copy_async<16>(&bs[stage][line][piece], b + (column + line) * bytes + k + piece);
        commit_copies();
#else
        *(int4 *)&as[stage][line][piece] = *(const int4 *)(a + (row + line) * bytes + k + piece);
        *(int4 *)&bs[stage][line][piece] = *(const int4 *)(b + (column + line) * bytes + k + piece);
#endif
    };
    typename Mma::result sum[2][4] = {};
    fetch(0, 0);
    for (int k = 0, stage = 0; k < bytes; k += 64, stage ^= 1) {
        if (k + 64 < bytes) fetch(stage ^ 1, k + 64);
#if __CUDA_ARCH__ >= 800
        if (k + 64 < bytes) wait_copies<1>();
        else wait_copies<0>();
#endif
        __syncthreads();
        #pragma unroll
        for (int step = 0; step < 64; step += 32) {
            uint32_t x[4], y[2];
            load_matrices(x, &as[stage][warp % 2 * 16 + lane % 16][step + lane / 16 * 16]);
            for (int j = 0; j < 2; j++) {
                load_matrices(y, &bs[stage][warp / 2 * 16 + 8 * j + lane % 8][step + lane / 8 % 2 * 16]);
                Mma::multiply(sum[j], x, y);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++)
            c[(row + warp % 2 * 16 + lane / 4 + i / 2 * 8) * n + column + warp / 2 * 16 + 8 * j + lane % 4 * 2 + i % 2] = sum[j][i];
}
#define PRODUCT(NAME, MMA_NAME) \
    KERNEL NAME(const char *a, const char *b, MMA_NAME::result *c, int n, int bytes) { tiled_product<MMA_NAME>(a, b, c, n, bytes); }

#if __CUDA_ARCH__ >= 800
MMA(F16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32") PRODUCT(tile_f16, F16)
MMA(Bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32") PRODUCT(tile_bf16, Bf16)
MMA(Tf32, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32") PRODUCT(tile_tf32, Tf32)
MMA(S8, int, "r", "m16n8k32.row.col.s32.s8.s8.s32") PRODUCT(tile_s8, S8)
MMA(U8S8, int, "r", "m16n8k32.row.col.satfinite.s32.u8.s8.s32") PRODUCT(tile_u8_s8, U8S8)
MMA(S4, int, "r", "m16n8k64.row.col.s32.s4.s4.s32") PRODUCT(tile_s4, S4)
MMA(B1, int, "r", "m16n8k256.row.col.s32.b1.b1.s32.and.popc") PRODUCT(tile_b1, B1)
#else
struct F16 {  // two halves of k
    typedef float result;
    static __device__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
        for (int h = 0; h < 2; h++)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[2 * h]), "r"(a[2 * h + 1]), "r"(b[h]));
    }
};
PRODUCT(tile_f16, F16)
#define HALVES(NAME, TEXT)  /* eight rows and half of k at a time */                                                            \
    struct NAME {                                                                                                               \
        typedef int result;                                                                                                     \
        static __device__ void multiply(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {                          \
            for (int h = 0; h < 2; h++)                                                                                         \
                for (int k = 0; k < 2; k++)                                                                                     \
                    asm volatile("mma.sync.aligned." TEXT " {%0,%1}, {%2}, {%3}, {%0,%1};"                                      \
                                 : "+r"(c[2 * h]), "+r"(c[2 * h + 1]) : "r"(a[2 * k + h]), "r"(b[k]));                          \
        }                                                                                                                       \
    };
HALVES(S8, "m8n8k16.row.col.s32.s8.s8.s32") PRODUCT(tile_s8, S8)
HALVES(U8S8, "m8n8k16.row.col.satfinite.s32.u8.s8.s32") PRODUCT(tile_u8_s8, U8S8)
HALVES(S4, "m8n8k32.row.col.s32.s4.s4.s32") PRODUCT(tile_s4, S4)
#endif
#if __CUDA_ARCH__ >= 900
MMA(E4m3, float, "f", "m16n8k32.row.col.f32.e4m3.e4m3.f32") PRODUCT(tile_e4m3, E4m3)
MMA(E5m2, float, "f", "m16n8k32.row.col.f32.e5m2.e4m3.f32") PRODUCT(tile_e5m2, E5m2)
#endif

#ifdef __CUDA_ARCH_FEAT_SM120_ALL
#define SCALED(NAME, TEXT)  /* all scales of A are 2, those of B 1/4 */                                                         \
    struct NAME {                                                                                                               \
        typedef float result;                                                                                                   \
        static __device__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {                        \
            asm volatile("mma.sync.aligned." TEXT " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, %10, {0, 0}, %11, {0, 0};" \
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                       \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0x80808080), "r"(0x7d7d7d7d)); \
        }                                                                                                                       \
    };
SCALED(Mx8, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0") PRODUCT(tile_mx8, Mx8)
SCALED(Mx4, "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0") PRODUCT(tile_mx4, Mx4)
#endif

#if __CUDA_ARCH__ >= 800
KERNEL tile_f64(const double *a, const double *b, double *c, int n, int k) {  // a warp makes 8 x 8; A by rows, B by columns
    int lane = threadIdx.x, row = blockIdx.y * 8, column = blockIdx.x * 8;
    double sum[2] = {0, 0};
    for (int at = 0; at < k; at += 4)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(sum[0]), "+d"(sum[1]) : "d"(a[(row + lane / 4) * k + at + lane % 4]), "d"(b[(column + lane / 4) * k + at + lane % 4]));
    *(double2 *)&c[(row + lane / 4) * n + column + lane % 4 * 2] = make_double2(sum[0], sum[1]);
}

// A keeps two of four elements; its metadata is made by the warp from the places, two bits each. 16 x 8 of C, k = 32.
KERNEL tile_sparse_f16(const uint32_t *a, const uint32_t *metadata, const uint32_t *b, float *c) {
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    uint32_t x[4], y[4], e = metadata[g + 8 * (t % 2)];
    for (int i = 0; i < 4; i++) {
        x[i] = a[(g + i % 2 * 8) * 8 + t + i / 2 * 4];
        y[i] = b[g * 16 + t + i * 4];
    }
    // threads t = 0 and 1 of a group hold the words of rows g and g + 8, halves of k apart
    uint32_t other = __shfl_xor_sync(~0u, e, 1);
    e = t % 2 == 0 ? (e & 0xffff) | other << 16 : (other >> 16) | (e & 0xffff0000);
    float d[4] = {};
#if __CUDA_ARCH__ >= 1000
#define SPARSE "mma.sp::ordered_metadata.sync.aligned."
#else
#define SPARSE "mma.sp.sync.aligned."
#endif
    asm volatile(SPARSE "m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(e));
    for (int i = 0; i < 4; i++) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
#endif

// softmax(Q K^T) V of one head: 16 queries, n keys, 16 dimensions, halves; probabilities go from one product to the next in registers.
KERNEL tile_attention(const __half *q, const __half *keys, const __half *values, float *o, int n) {
    __shared__ __align__(16) __half ks[8][24], vs[8][24];
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    const uint32_t *words = (const uint32_t *)q;
    uint32_t x[4] = {words[g * 8 + t], words[(g + 8) * 8 + t], words[g * 8 + t + 4], words[(g + 8) * 8 + t + 4]};
    float out[2][4] = {}, high[2] = {-1e30f, -1e30f}, weight[2] = {};
    for (int k = 0; k < n; k += 8) {
        for (int i = lane; i < 64; i += 32) {
            *(uint32_t *)&ks[i / 8][i % 8 * 2] = *(const uint32_t *)(keys + (k + i / 8) * 16 + i % 8 * 2);
            *(uint32_t *)&vs[i / 8][i % 8 * 2] = *(const uint32_t *)(values + (k + i / 8) * 16 + i % 8 * 2);
        }
        __syncwarp();
        uint32_t y[2], v[2];
        load_matrices(y, &ks[lane % 8][lane / 8 % 2 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(sh(&vs[lane % 8][lane / 8 % 2 * 8])) : "memory");
        float s[4] = {};
        for (int h = 0; h < 2; h++)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                         : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "r"(x[2 * h]), "r"(x[2 * h + 1]), "r"(y[h]));
        for (int r = 0; r < 2; r++) {
            float top = fmaxf(s[2 * r], s[2 * r + 1]) * 0.25f;
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float next = fmaxf(high[r], top), old = __expf(high[r] - next);
            high[r] = next;
            weight[r] *= old;
            for (int d = 0; d < 2; d++) {
                out[d][2 * r] *= old, out[d][2 * r + 1] *= old;
                s[2 * r + d] = __expf(s[2 * r + d] * 0.25f - next);
                weight[r] += s[2 * r + d];
            }
        }
        __half2 low = __floats2half2_rn(s[0], s[1]), rest = __floats2half2_rn(s[2], s[3]);
        for (int d = 0; d < 2; d++)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                         : "+f"(out[d][0]), "+f"(out[d][1]), "+f"(out[d][2]), "+f"(out[d][3])
                         : "r"(*(uint32_t *)&low), "r"(*(uint32_t *)&rest), "r"(v[d]));
        __syncwarp();
    }
    for (int r = 0; r < 2; r++) {
        weight[r] += __shfl_xor_sync(~0u, weight[r], 1);
        weight[r] += __shfl_xor_sync(~0u, weight[r], 2);
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < 2; i++) o[(g + 8 * r) * 16 + 8 * d + 2 * t + i] = out[d][2 * r + i] / weight[r];
    }
}

// A matrix of 16-bit elements turned, 8 x 8 at a time, by movmatrix; from sm_90 on written with stmatrix.
KERNEL tile_transpose(const uint16_t *in, uint16_t *out, int n) {
    __shared__ __align__(16) uint16_t tile[8][8];
    int lane = threadIdx.x, row = blockIdx.y * 8, column = blockIdx.x * 8;
    uint32_t x = *(const uint32_t *)(in + (row + lane / 4) * n + column + lane % 4 * 2);
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(x));
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(sh(tile[lane % 8])), "r"(x) : "memory");
#else
    *(uint32_t *)&tile[lane / 4][lane % 4 * 2] = x;
#endif
    __syncwarp();
    if (lane < 8) *(int4 *)(out + (column + lane) * n + row) = *(const int4 *)tile[lane];
}

// nvcuda::wmma: a warp makes 16 x 16, the epilogue works on fragments.
template <typename T, typename C, int K, typename E> __device__ void fragments(const E *a, const E *b, C *c, int n, int k, C scale) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, K, T, row_major> x;
    fragment<matrix_b, 16, 16, K, T, col_major> y;
    fragment<accumulator, 16, 16, K, C> sum;
    fill_fragment(sum, C(0));
    for (int at = 0; at < k; at += K) {
        load_matrix_sync(x, a + blockIdx.y * 16 * k + at, k);
        load_matrix_sync(y, b + blockIdx.x * 16 * k + at, k);
        mma_sync(sum, x, y, sum);
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * scale;
    store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}
KERNEL wmma_f16(const __half *a, const __half *b, float *c, int n, int k) { fragments<__half, float, 16>(a, b, c, n, k, 2.f); }
KERNEL wmma_half(const __half *a, const __half *b, __half *c, int n, int k) { fragments<__half, __half, 16>(a, b, c, n, k, __float2half(2)); }
KERNEL wmma_s8(const signed char *a, const signed char *b, int *c, int n, int k) { fragments<signed char, int, 16>(a, b, c, n, k, 3); }
#if __CUDA_ARCH__ >= 800
KERNEL wmma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k) { fragments<__nv_bfloat16, float, 16>(a, b, c, n, k, 2.f); }
KERNEL wmma_tf32(const float *a, const float *b, float *c, int n, int k) { fragments<nvcuda::wmma::precision::tf32, float, 8>(a, b, c, n, k, 0.5f); }
#endif
