// since: 80
// What attention hands back: from the gradients of its results those of queries (added up by atomics), keys and values.
#include "tiles.cuh"

// A block has 64 keys, 16 a warp, and goes over all queries, 32 at a time. Rows of 64 halves. `lse`: log2 of the sum of the weights of a
// query; `delta`: the sum of its result times its gradient. Scores and weights are made turned: rows are keys.
KERNEL __launch_bounds__(128) attention_backward(const char *q, const char *k, const char *v, const char *g, const float *lse, const float *delta, float *dq, __half *dk,
                                                 __half *dv, int queries, int keys, float scale) {
    constexpr int ROW = 128, SOME = 32 * ROW;
    extern __shared__ __align__(128) char memory[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64, line = lane % 8, odd = lane / 8 % 2, high = lane / 16;
    char *ks = memory, *vs = ks + 64 * ROW, *stages = vs + 64 * ROW, *turned = stages + 4 * SOME;  // turned: 64 keys, 32 queries
    size_t head = blockIdx.y;
    q += head * queries * ROW, g += head * queries * ROW, dq += head * queries * 64, lse += head * queries, delta += head * queries;
    k += head * keys * ROW, v += head * keys * ROW, dk += head * keys * 64, dv += head * keys * 64;
    auto fetch = [&](int at, int stage) {
        fetch_tile<32, 8, 128>(stages + 2 * SOME * stage, q, ROW, at, queries, 0, ROW);
        fetch_tile<32, 8, 128>(stages + 2 * SOME * stage + SOME, g, ROW, at, queries, 0, ROW);
        commit_copies();
    };
    fetch_tile<64, 8, 128>(ks, k, ROW, first, keys, 0, ROW);
    fetch_tile<64, 8, 128>(vs, v, ROW, first, keys, 0, ROW);
    fetch(0, 0);
    float to_k[8][4] = {}, to_v[8][4] = {};
    for (int at = 0, stage = 0; at < queries; at += 32, stage ^= 1) {
        if (at + 32 < queries) fetch(at + 32, stage ^ 1);
        else commit_copies();
        wait_copies<1>();
        __syncthreads();
        const char *qs = stages + 2 * SOME * stage, *gs = qs + SOME;
        float s[4][4] = {}, t[4][4] = {};
        #pragma unroll
        for (int part = 0; part < 4; part++) {
            uint32_t x[4], y[4], w[4];
            load_matrices(x, ks + place<8>(16 * warp + lane % 16, 2 * part + high));
            load_matrices(w, vs + place<8>(16 * warp + lane % 16, 2 * part + high));
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                load_matrices(y, qs + place<8>(16 * j + 8 * high + line, 2 * part + odd));
                F16::multiply(s[2 * j], x, y), F16::multiply(s[2 * j + 1], x, y + 2);
                load_matrices(y, gs + place<8>(16 * j + 8 * high + line, 2 * part + odd));
                F16::multiply(t[2 * j], w, y), F16::multiply(t[2 * j + 1], w, y + 2);
            }
        }
        uint32_t weights[2][4], scores[2][4];
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            int query = at + 8 * j + lane % 4 * 2;
            float base[2], less[2];
            #pragma unroll
            for (int e = 0; e < 2; e++) base[e] = query + e < queries ? lse[query + e] : INFINITY, less[e] = query + e < queries ? delta[query + e] : 0;
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                float p[2], r[2];
                #pragma unroll
                for (int e = 0; e < 2; e++) {
                    p[e] = first + 16 * warp + lane / 4 + 8 * h < keys ? exp2f(s[j][2 * h + e] * scale - base[e]) : 0;
                    r[e] = p[e] * (t[j][2 * h + e] - less[e]);
                }
                __half2 both = __floats2half2_rn(p[0], p[1]), change = __floats2half2_rn(r[0], r[1]);
                weights[j / 2][j % 2 * 2 + h] = *(uint32_t *)&both;
                scores[j / 2][j % 2 * 2 + h] = *(uint32_t *)&change;
                *(__half2 *)(turned + place<4>(16 * warp + lane / 4 + 8 * h, j) + lane % 4 * 4) = change;
            }
        }
        #pragma unroll
        for (int part = 0; part < 2; part++)
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t y[4];
                load_turned(y, gs + place<8>(16 * part + 8 * odd + line, 2 * j + high));
                F16::multiply(to_v[2 * j], weights[part], y), F16::multiply(to_v[2 * j + 1], weights[part], y + 2);
                load_turned(y, qs + place<8>(16 * part + 8 * odd + line, 2 * j + high));
                F16::multiply(to_k[2 * j], scores[part], y), F16::multiply(to_k[2 * j + 1], scores[part], y + 2);
            }
        __syncthreads();
        float to_q[4][4] = {};
        int down = warp % 2 * 16, across = warp / 2 * 32;
        #pragma unroll
        for (int part = 0; part < 4; part++) {
            uint32_t x[4], y[4];
            load_turned(x, turned + place<4>(16 * part + 8 * high + line, down / 8 + odd));
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                load_turned(y, ks + place<8>(16 * part + 8 * odd + line, (across + 16 * j) / 8 + high));
                F16::multiply(to_q[2 * j], x, y), F16::multiply(to_q[2 * j + 1], x, y + 2);
            }
        }
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            int query = at + down + lane / 4 + i / 2 % 2 * 8;
            if (query < queries) atomicAdd(&dq[query * 64 + across + i / 4 * 8 + lane % 4 * 2 + i % 2], to_q[i / 4][i % 4] * scale * 0.693147181f);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 16; i++) {
        int key = first + 16 * warp + lane / 4 + i % 2 * 8, h = i % 2 * 2, at = key * 64 + i / 2 * 8 + lane % 4 * 2;
        if (key >= keys) continue;
        *(__half2 *)&dk[at] = __floats2half2_rn(to_k[i / 2][h] * scale * 0.693147181f, to_k[i / 2][h + 1] * scale * 0.693147181f);
        *(__half2 *)&dv[at] = __floats2half2_rn(to_v[i / 2][h], to_v[i / 2][h + 1]);
    }
}
