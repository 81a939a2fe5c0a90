// since: 120a
// Products by warps of small floats with scales of blocks: mma.sync with block_scale.
#include "tiles.cuh"
#define TILED KERNEL __launch_bounds__(128)

// 16 x 8, 32 bytes of k. `part` says which of four in a row of a tile: where its scales are among WORDS words of the row.
#define SCALED(NAME, SIZE, COUNT, TEXT)                                                                                               \
    template <int BYTE> __device__ inline void multiply_##NAME(float (&d)[4], const uint32_t *a, const uint32_t *b, uint32_t x, uint32_t y) { \
        asm volatile("mma.sync.aligned." TEXT " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {%12, 0}, {%11}, {%12, 0};" \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                                 \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(x), "r"(y), "n"(BYTE));                   \
    }                                                                                                                                 \
    struct NAME {                                                                                                                     \
        static constexpr int ELEMENTS = SIZE, WORDS = COUNT; /* of a row of 128 bytes */                                              \
        template <int PART> static __device__ void multiply(float (&d)[4], const uint32_t *a, const uint32_t *b, const uint32_t *x, const uint32_t *y) { \
            multiply_##NAME<COUNT == 1 ? PART : COUNT == 2 ? PART % 2 * 2 : 0>(d, a, b, x[PART * COUNT / 4], y[PART * COUNT / 4]);    \
        }                                                                                                                             \
    };
SCALED(MxF8, 128, 1, "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0")
SCALED(MxF4, 256, 2, "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0")
SCALED(NvF4, 256, 4, "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")

// Four warps make 64 x 64, 128 bytes of k in each of two stages. Scales: rows of `pitch` words, zeros behind the end of k.
template <typename Kind> struct Scaled {
    static constexpr int STAGES = 2, HALF = 64 * 128;
    float d[2][4][4];
    template <int PART> __device__ void part(const char *at, const uint32_t (*x)[Kind::WORDS], const uint32_t (*y)[Kind::WORDS]) {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp % 2 * 32, across = warp / 2 * 32;
        uint32_t a[2][4], b[2][4];
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            load_matrices(a[i], at + place<8>(down + 16 * i + lane % 16, 2 * PART + lane / 16));
            load_matrices(b[i], at + HALF + place<8>(across + 16 * i + lane / 16 * 8 + lane % 8, 2 * PART + lane / 8 % 2));
        }
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++) Kind::template multiply<PART>(d[i][j], a[i], &b[j / 2][j % 2 * 2], x[i], y[j]);
    }
    __device__ void run(char *memory, const char *a, int lda, const uint32_t *rows, const char *b, int ldb, const uint32_t *columns, int pitch, int m, int n, int bytes) {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (bytes + 127) / 128;
        auto fetch = [&](int step) {
            if (step < steps) {
                char *to = memory + step % STAGES * 2 * HALF;
                fetch_tile<64, 8, 128>(to, a, lda, row, m, step * 128, bytes);
                fetch_tile<64, 8, 128>(to + HALF, b, ldb, column, n, step * 128, bytes);
            }
            commit_copies();
        };
        #pragma unroll
        for (int i = 0; i < 32; i++) (&d[0][0][0])[i] = 0;
        fetch(0);
        for (int step = 0; step < steps; step++) {
            fetch(step + 1);
            uint32_t x[2][Kind::WORDS], y[4][Kind::WORDS];
            #pragma unroll
            for (int w = 0; w < Kind::WORDS; w++) {
                #pragma unroll
                for (int i = 0; i < 2; i++) {  // the first two lanes of four have rows g and g + 8
                    int r = row + warp % 2 * 32 + 16 * i + lane / 4 + lane % 2 * 8;
                    x[i][w] = r < m ? rows[r * pitch + step * Kind::WORDS + w] : 0;
                }
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    int c = column + warp / 2 * 32 + 8 * j + lane / 4;
                    y[j][w] = c < n ? columns[c * pitch + step * Kind::WORDS + w] : 0;
                }
            }
            wait_copies<1>();
            __syncthreads();
            const char *at = memory + step % STAGES * 2 * HALF;
            part<0>(at, x, y), part<1>(at, x, y), part<2>(at, x, y), part<3>(at, x, y);
            __syncthreads();
        }
    }
    template <typename F> __device__ void each(F f) {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        #pragma unroll
        for (int i = 0; i < 16; i++)
            f(blockIdx.y * 64 + warp % 2 * 32 + i / 8 * 16 + lane / 4 + i % 2 * 8, blockIdx.x * 64 + warp / 2 * 32 + i / 2 % 4 * 8 + lane % 4 * 2,
              &d[i / 8][i / 2 % 4][i % 2 * 2]);
    }
};
#define PRODUCT(NAME, KIND)                                                                                                           \
    TILED NAME(const char *a, int lda, const uint32_t *rows, const char *b, int ldb, const uint32_t *columns, int pitch, float *c, int m, int n, int bytes) { \
        extern __shared__ __align__(128) char memory[];                                                                               \
        Scaled<KIND> p;                                                                                                               \
        p.run(memory, a, lda, rows, b, ldb, columns, pitch, m, n, bytes);                                                             \
        p.each([&](int r, int col, float *d) { store_pair(c, n, m, n, r, col, d[0], d[1]); });                                        \
    }
PRODUCT(scaled_mxf8, MxF8)
PRODUCT(scaled_mxf4, MxF4)

// Rounded to E2M1 again: 16 neighbours have a scale in E4M3, a sixth of the largest of them. n is a multiple of 16.
TILED scaled_nvf4_again(const char *a, int lda, const uint32_t *rows, const char *b, int ldb, const uint32_t *columns, int pitch, uint8_t *c, uint8_t *scales,
                        int m, int n, int bytes) {
    extern __shared__ __align__(128) char memory[];
    Scaled<NvF4> p;
    p.run(memory, a, lda, rows, b, ldb, columns, pitch, m, n, bytes);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        int half = i % 2, pair = i / 2 % 2 * 2, down = i / 4, r = blockIdx.y * 64 + warp % 2 * 32 + down * 16 + lane / 4 + 8 * half;
        int col = blockIdx.x * 64 + warp / 2 * 32 + pair * 8 + lane % 4 * 2;
        float v[4], most = 0;
        #pragma unroll
        for (int e = 0; e < 4; e++) v[e] = p.d[down][pair + e / 2][2 * half + e % 2], most = fmaxf(most, fabsf(v[e]));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
        uint16_t code, low, high;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(code) : "f"(0.f), "f"(__fdiv_rn(most, 6)));
        uint32_t back;
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(back) : "h"(code));
        float scale = __low2float(*(__half2 *)&back), times = scale > 0 ? __frcp_rn(scale) : 0;
        asm("{ .reg .b8 x, y; cvt.rn.satfinite.e2m1x2.f32 x, %3, %2; cvt.rn.satfinite.e2m1x2.f32 y, %5, %4; cvt.u16.u8 %0, x; cvt.u16.u8 %1, y; }"
            : "=h"(low), "=h"(high) : "f"(v[0] * times), "f"(v[1] * times), "f"(v[2] * times), "f"(v[3] * times));
        if (r < m && col < n) {
            c[(r * n + col) / 2] = (uint8_t)low, c[(r * n + col + 8) / 2] = (uint8_t)high;
            if (lane % 4 == 0) scales[(r * n + col) / 16] = (uint8_t)code;
        }
    }
}
