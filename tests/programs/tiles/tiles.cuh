// What the kernels of this folder share: tiles in shared memory that no bank serves twice, fragments of them, products of warps.
#pragma once
#include "../../sim/suite/asynchronous.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void

// 16 bytes of which `bytes` are there, 0 to 16; the others become zeros.
__device__ inline void copy_piece(void *to, const void *from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sh(to)), "l"(from), "r"(bytes));
}
// Where piece `p` (16 bytes) of row `r` lies in a tile of rows of 64 or 128 bytes: the same piece of eight rows is in all banks.
template <int PIECES> __device__ inline int place(int r, int p) {
    static_assert(PIECES == 4 || PIECES == 8, "rows of 64 or 128 bytes");
    return 16 * (r * PIECES + (PIECES == 8 ? p ^ (r & 7) : p ^ (r >> 1 & 3)));
}
// A tile of a matrix of `rows` rows with `bytes` bytes each, `pitch` apart; zeros outside of it.
template <int ROWS, int PIECES, int THREADS>
__device__ inline void fetch_tile(char *to, const char *from, int pitch, int row, int rows, int at, int bytes) {
    #pragma unroll
    for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS) {
        int r = i / PIECES, p = i % PIECES, left = row + r < rows ? min(max(bytes - at - 16 * p, 0), 16) : 0;
        copy_piece(to + place<PIECES>(r, p), left > 0 ? from + (size_t)(row + r) * pitch + at + 16 * p : from, left);
    }
}
__device__ inline void load_matrices(uint32_t *r, const void *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(sh(at)) : "memory");
}
__device__ inline void load_turned(uint32_t *r, const void *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(sh(at)) : "memory");
}

// Products of a warp: 16 x 8, 32 bytes of k.
#define WARP_PRODUCT(NAME, TYPE, LETTER, SIZE, TEXT)                                                                                  \
    struct NAME {                                                                                                                     \
        typedef TYPE Result;                                                                                                          \
        static constexpr int BYTES = SIZE, RESULTS = 4;                                                                               \
        static __device__ void multiply(TYPE (&d)[4], const uint32_t (&a)[4], const uint32_t *b) {                                    \
            asm volatile("mma.sync.aligned." TEXT " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                            \
                         : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]), "+" LETTER(d[3])                                     \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                         \
        }                                                                                                                             \
    };
WARP_PRODUCT(F16, float, "f", 2, "m16n8k16.row.col.f32.f16.f16.f32")
WARP_PRODUCT(Bf16, float, "f", 2, "m16n8k16.row.col.f32.bf16.bf16.f32")
WARP_PRODUCT(S8, int, "r", 1, "m16n8k32.row.col.satfinite.s32.s8.s8.s32")
struct Tf32 {
    typedef float Result;
    static constexpr int BYTES = 4, RESULTS = 4;
    static __device__ uint32_t rounded(uint32_t x) {
        uint32_t r;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x)));
        return r;
    }
    static __device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t *b) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(rounded(a[0])), "r"(rounded(a[1])), "r"(rounded(a[2])), "r"(rounded(a[3])), "r"(rounded(b[0])), "r"(rounded(b[1])));
    }
};
struct Tf32Thrice {  // what TF32 leaves of a float is multiplied too
    typedef float Result;
    static constexpr int BYTES = 4, RESULTS = 4;
    static __device__ uint32_t rest(uint32_t x) { return __float_as_uint(__uint_as_float(x) - __uint_as_float(Tf32::rounded(x))); }
    static __device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t *b) {
        uint32_t small_a[4], small_b[2] = {rest(b[0]), rest(b[1])};
        #pragma unroll
        for (int i = 0; i < 4; i++) small_a[i] = rest(a[i]);
        Tf32::multiply(d, small_a, b), Tf32::multiply(d, a, small_b), Tf32::multiply(d, a, b);
    }
};
struct Half {  // sums of 16 bits, two in a register
    typedef uint32_t Result;
    static constexpr int BYTES = 2, RESULTS = 2;
    static __device__ void multiply(uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t *b) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                     : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct Matrix {
    const void *data;
    int pitch;  // bytes
};

// Four warps make M x N of A * B, 64 bytes of k at a time in STAGES stages. A is [m][k], or [k][m] where A_TURNED says so;
// B is [n][k], or [k][n] with B_TURNED. (Turned matrices have elements of 16 bits.)
template <typename Mma, int STAGES, bool A_TURNED = false, bool B_TURNED = false, int M = 64, int N = 64> struct Products {
    static_assert((!A_TURNED || M == 64) && (!B_TURNED || N == 64), "rows of a turned tile have 128 bytes");
    static constexpr int STEP = 64 / Mma::BYTES, HALF = 64 * M, STAGE = 64 * (M + N), THREADS = 128, DOWN = M / 32, ACROSS = N / 16;
    typename Mma::Result d[DOWN][ACROSS][Mma::RESULTS];
    Matrix a, b;
    int row, column, m, n, k;
    char *memory;

    __device__ Products(char *memory, Matrix a, Matrix b, int m, int n, int k) : a(a), b(b), m(m), n(n), k(k), memory(memory) {}
    __device__ void clear() {
        #pragma unroll
        for (int i = 0; i < DOWN * ACROSS * Mma::RESULTS; i++) (&d[0][0][0])[i] = 0;
    }
    __device__ int steps() const { return (k + STEP - 1) / STEP; }
    __device__ void fetch(int stage, int step) {
        char *to = memory + STAGE * stage;
        if (A_TURNED) fetch_tile<32, 8, THREADS>(to, (const char *)a.data, a.pitch, step * STEP, k, row * 2, m * 2);
        else fetch_tile<M, 4, THREADS>(to, (const char *)a.data, a.pitch, row, m, step * 64, k * Mma::BYTES);
        if (B_TURNED) fetch_tile<32, 8, THREADS>(to + HALF, (const char *)b.data, b.pitch, step * STEP, k, column * 2, n * 2);
        else fetch_tile<N, 4, THREADS>(to + HALF, (const char *)b.data, b.pitch, column, n, step * 64, k * Mma::BYTES);
    }
    __device__ void fragments(uint32_t (&x)[DOWN][4], uint32_t (&y)[ACROSS / 2][4], const char *at, int part) {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp % 2 * (M / 2), across = warp / 2 * (N / 2), line = lane % 8, high = lane / 16, odd = lane / 8 % 2;
        #pragma unroll
        for (int i = 0; i < DOWN; i++) {
            if (A_TURNED) load_turned(x[i], at + place<8>(16 * part + 8 * high + line, (down + 16 * i) / 8 + odd));
            else load_matrices(x[i], at + place<4>(down + 16 * i + lane % 16, 2 * part + high));
        }
        #pragma unroll
        for (int i = 0; i < ACROSS / 2; i++) {
            if (B_TURNED) load_turned(y[i], at + HALF + place<8>(16 * part + 8 * odd + line, (across + 16 * i) / 8 + high));
            else load_matrices(y[i], at + HALF + place<4>(across + 16 * i + 8 * high + line, 2 * part + odd));
        }
    }
    // Adds the steps from `first` to before `last` of the tile at `row`, `column`.
    __device__ void run(int at_row, int at_column, int first, int last) {
        row = at_row, column = at_column;
        run_with(first, last, [&](int stage, int step) { fetch(stage, step); });
    }
    // The same with tiles that `fetch(stage, step)` copies.
    template <typename F> __device__ void run_with(int first, int last, F fetch) {
        #pragma unroll
        for (int s = 0; s < STAGES - 1; s++) {
            if (first + s < last) fetch(s, first + s);
            commit_copies();
        }
        int from = 0, to = STAGES - 1;
        for (int step = first; step < last; step++) {
            wait_copies<STAGES - 2>();
            __syncthreads();
            uint32_t x[2][DOWN][4], y[2][ACROSS / 2][4];
            const char *at = memory + STAGE * from;
            fragments(x[0], y[0], at, 0);
            if (step + STAGES - 1 < last) fetch(to, step + STAGES - 1);
            commit_copies();
            #pragma unroll
            for (int part = 0; part < 2; part++) {
                if (part == 0) fragments(x[1], y[1], at, 1);
                #pragma unroll
                for (int i = 0; i < DOWN; i++)
                    #pragma unroll
                    for (int j = 0; j < ACROSS; j++) Mma::multiply(d[i][j], x[part][i], &y[part][j / 2][j % 2 * 2]);
            }
            from = from + 1 == STAGES ? 0 : from + 1, to = to + 1 == STAGES ? 0 : to + 1;
        }
        wait_copies<0>();
        __syncthreads();
    }
    // Calls f(row in the tile, column in the tile, two neighbours) for all that this thread has.
    template <typename F> __device__ void each(F f) {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        #pragma unroll
        for (int i = 0; i < DOWN; i++)
            #pragma unroll
            for (int j = 0; j < ACROSS; j++)
                #pragma unroll
                for (int h = 0; h < 2; h++)
                    f(warp % 2 * (M / 2) + 16 * i + lane / 4 + 8 * h, warp / 2 * (N / 2) + 8 * j + lane % 4 * 2, &d[i][j][Mma::RESULTS / 2 * h]);
    }
};
template <typename T> __device__ inline void store_pair(T *c, int pitch, int m, int n, int r, int col, T x, T y) {
    if (r < m && col < n) c[(size_t)r * pitch + col] = x;
    if (r < m && col + 1 < n) c[(size_t)r * pitch + col + 1] = y;
}
