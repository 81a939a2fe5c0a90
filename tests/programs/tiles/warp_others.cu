// since: 80
// Products by warps in other forms: of doubles, of matrices with two zeros in four elements, of images with filters.
#include "tiles.cuh"
#define TILED KERNEL __launch_bounds__(128)

// Doubles: four warps make 32 x 32, 16 of k in each of three stages.
TILED product_f64(const char *a, int lda, const char *b, int ldb, double *c, double alpha, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    constexpr int STAGES = 3, HALF = 4096;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32, steps = (k + 15) / 16;
    int down = warp % 2 * 16 + lane / 4, across = warp / 2 * 16 + lane / 4;
    double d[2][2][2] = {};
    auto fetch = [&](int step) {
        if (step < steps) {
            char *to = memory + step % STAGES * 2 * HALF;
            fetch_tile<32, 8, 128>(to, a, lda, row, m, step * 128, k * 8);
            fetch_tile<32, 8, 128>(to + HALF, b, ldb, column, n, step * 128, k * 8);
        }
        commit_copies();
    };
    fetch(0), fetch(1);
    for (int step = 0; step < steps; step++) {
        wait_copies<1>();
        __syncthreads();
        fetch(step + 2);
        const char *at = memory + step % STAGES * 2 * HALF;
        #pragma unroll
        for (int part = 0; part < 4; part++) {
            double x[2], y[2];
            int piece = 2 * part + lane % 4 / 2, odd = lane % 2 * 8;
            for (int i = 0; i < 2; i++) {
                x[i] = *(const double *)(at + place<8>(down + 8 * i, piece) + odd);
                y[i] = *(const double *)(at + HALF + place<8>(across + 8 * i, piece) + odd);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                                 : "+d"(d[i][j][0]), "+d"(d[i][j][1]) : "d"(x[i]), "d"(y[j]));
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            store_pair(c, n, m, n, row + down + 8 * i, column + warp / 2 * 16 + 8 * j + lane % 4 * 2, alpha * d[i][j][0], alpha * d[i][j][1]);
}

// Of four neighbours of A two are there: `a` is [m][k / 2], `where` says which two, 16 bits for 16 elements of k.
TILED product_sparse(const char *a, int lda, const uint16_t *where, const char *b, int ldb, float *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    constexpr int STAGES = 3, A_BYTES = 4096, BYTES = 12288;  // 64 rows of 32 elements, 64 rows of 64
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (k + 63) / 64;
    int down = warp % 2 * 32, across = warp / 2 * 32, words = (k + 15) / 16;
    float d[2][4][4] = {};
    auto fetch = [&](int step) {
        if (step < steps) {
            char *to = memory + step % STAGES * BYTES;
            fetch_tile<64, 4, 128>(to, a, lda, row, m, step * 64, k);
            fetch_tile<64, 8, 128>(to + A_BYTES, b, ldb, column, n, step * 128, k * 2);
        }
        commit_copies();
    };
    fetch(0), fetch(1);
    for (int step = 0; step < steps; step++) {
        wait_copies<1>();
        __syncthreads();
        fetch(step + 2);
        const char *at = memory + step % STAGES * BYTES;
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            uint32_t x[2][4], y[4][4], which[2];
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                load_matrices(x[i], at + place<4>(down + 16 * i + lane % 16, 2 * part + lane / 16));
                int r = row + down + 16 * i + lane / 4, word = step * 4 + part * 2 + lane % 2;  // lanes 0 and 1 of four give it
                uint32_t low = r < m && word < words ? where[r * words + word] : 0x4444, high = r + 8 < m && word < words ? where[(r + 8) * words + word] : 0x4444;
                which[i] = low | high << 16;
            }
            #pragma unroll
            for (int j = 0; j < 4; j++) load_matrices(y[j], at + A_BYTES + place<8>(across + 8 * j + lane % 8, 4 * part + lane / 8));
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, "
                                 "{%0,%1,%2,%3}, %12, 0x0;"
                                 : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]), "r"(y[j][2]), "r"(y[j][3]), "r"(which[i]));
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++)
                store_pair(c, n, m, n, row + down + 16 * i + lane / 4 + 8 * h, column + across + 8 * j + lane % 4 * 2, d[i][j][2 * h], d[i][j][2 * h + 1]);
}

// Images [n][h][w][c] with filters [f][3][3][c], zeros around: the product of pixels and filters along 9 * c, copied where it is needed.
TILED convolution(const __half *images, const __half *filters, float *o, int count, int height, int width, int channels, int amount, int stride) {
    extern __shared__ __align__(128) char memory[];
    int high = (height - 1) / stride + 1, wide = (width - 1) / stride + 1, k = 9 * channels;
    Products<F16, 3> p(memory, {}, {filters, 2 * k}, count * high * wide, amount, k);
    p.row = blockIdx.y * 64, p.column = blockIdx.x * 64;
    p.clear();
    p.run_with(0, p.steps(), [&](int stage, int step) {
        char *to = memory + 8192 * stage;
        #pragma unroll
        for (int i = threadIdx.x; i < 64 * 4; i += 128) {
            int pixel = p.row + i / 4, at = step * 32 + i % 4 * 8, tap = at / channels, x, y, image;
            x = pixel % wide * stride + tap % 3 - 1, y = pixel / wide % high * stride + tap / 3 - 1, image = pixel / wide / high;
            bool there = image < count && tap < 9 && x >= 0 && x < width && y >= 0 && y < height;
            const __half *from = images + (((size_t)image * height + y) * width + x) * channels + at % channels;
            copy_piece(to + place<4>(i / 4, i % 4), there ? from : images, there ? 16 : 0);
        }
        fetch_tile<64, 4, 128>(to + 4096, (const char *)filters, 2 * k, p.column, amount, step * 64, 2 * k);
    });
    p.each([&](int r, int col, float *d) { store_pair(o, amount, p.m, p.n, p.row + r, p.column + col, d[0], d[1]); });
}

// Attention: 64 queries of a head, 16 a warp; keys and values 32 at a time, the next ones under way. Rows of 64 halves; `group` heads
// have the same keys. Weights are 2^(scale * score - highest so far).
TILED attention(const char *q, const char *k, const char *v, __half *o, int queries, int keys, int group, float scale, int causal) {
    extern __shared__ __align__(128) char memory[];
    constexpr int ROW = 128, SOME = 32 * ROW;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64, line = lane % 8, odd = lane / 8 % 2, high = lane / 16;
    char *stages = memory + 64 * ROW;
    q += (size_t)blockIdx.y * queries * ROW, o += (size_t)blockIdx.y * queries * 64;
    k += (size_t)(blockIdx.y / group) * keys * ROW, v += (size_t)(blockIdx.y / group) * keys * ROW;
    int last = causal ? min(keys, first + 64 + keys - queries) : keys;
    auto fetch = [&](int at, int stage) {
        fetch_tile<32, 8, 128>(stages + 2 * SOME * stage, k, ROW, at, keys, 0, ROW);
        fetch_tile<32, 8, 128>(stages + 2 * SOME * stage + SOME, v, ROW, at, keys, 0, ROW);
        commit_copies();
    };
    fetch_tile<64, 8, 128>(memory, q, ROW, first, queries, 0, ROW);
    fetch(0, 0);
    uint32_t x[4][4];
    float out[8][4] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
    for (int at = 0, stage = 0; at < last; at += 32, stage ^= 1) {
        if (at + 32 < last) {
            fetch(at + 32, stage ^ 1);
            wait_copies<1>();
        } else {
            wait_copies<0>();
        }
        __syncthreads();
        if (at == 0)
            #pragma unroll
            for (int part = 0; part < 4; part++) load_matrices(x[part], memory + place<8>(16 * warp + lane % 16, 2 * part + high));
        const char *ks = stages + 2 * SOME * stage, *vs = ks + SOME;
        float s[4][4] = {};
        #pragma unroll
        for (int part = 0; part < 4; part++)
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                uint32_t y[4];
                load_matrices(y, ks + place<8>(16 * j + 8 * high + line, 2 * part + odd));
                F16::multiply(s[2 * j], x[part], y), F16::multiply(s[2 * j + 1], x[part], y + 2);
            }
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            int query = first + 16 * warp + lane / 4 + 8 * h, end = causal ? min(keys, query + 1 + keys - queries) : keys;
            float top = most[h];
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int e = 0; e < 2; e++) {
                    float &score = s[j][2 * h + e];
                    score = at + 8 * j + lane % 4 * 2 + e < end ? score * scale : -INFINITY;
                    top = fmaxf(top, score);
                }
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float base = top == -INFINITY ? 0 : top, less = exp2f(most[h] - base);
            most[h] = top, sum[h] *= less;
            #pragma unroll
            for (int j = 0; j < 8; j++) out[j][2 * h] *= less, out[j][2 * h + 1] *= less;
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int e = 0; e < 2; e++) s[j][2 * h + e] = exp2f(s[j][2 * h + e] - base), sum[h] += s[j][2 * h + e];
        }
        #pragma unroll
        for (int part = 0; part < 2; part++) {
            uint32_t weights[4];
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                __half2 pair = __floats2half2_rn(s[2 * part + i / 2][i % 2 * 2], s[2 * part + i / 2][i % 2 * 2 + 1]);
                weights[i] = *(uint32_t *)&pair;
            }
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t y[4];
                load_turned(y, vs + place<8>(16 * part + 8 * odd + line, 2 * j + high));
                F16::multiply(out[2 * j], weights, y), F16::multiply(out[2 * j + 1], weights, y + 2);
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
        int query = first + 16 * warp + lane / 4 + 8 * h;
        float weight = sum[h] > 0 ? 1 / sum[h] : 0;
        #pragma unroll
        for (int j = 0; j < 8; j++)
            if (query < queries) *(__half2 *)&o[query * 64 + 8 * j + lane % 4 * 2] = __floats2half2_rn(out[j][2 * h] * weight, out[j][2 * h + 1] * weight);
    }
}
