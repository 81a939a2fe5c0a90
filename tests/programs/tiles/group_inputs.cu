// since: 90a
// Products of warp groups whose operands are made in registers, and of eight bits.
#include "groups.cuh"

template <int STAGES> __device__ inline void fetch(Ring<STAGES> &ring, uint8_t *memory, const Map &a, const Map &b, int bytes_a, int width, int row, int column, int steps) {
    Turn<STAGES> turn;
    if (!one_lane()) return;
    for (int step = 0; step < steps; step++, turn.next()) {
        uint8_t *to = memory + turn.stage * 2 * TILE;
        wait(&ring.empty[turn.stage], turn.phase ^ 1);
        expect(&ring.full[turn.stage], bytes_a + TILE);
        tensor_load(to, a, &ring.full[turn.stage], step * width, row);
        tensor_load(to + TILE, b, &ring.full[turn.stage], step * width, column);
    }
}

// A of bytes, which become halves on the way: 1024 + 128 + x has x + 128 in its last eight bits.
KERNEL __launch_bounds__(160) group_mixed(MAP a, MAP b, const float *scales, float *c, int m, int n, int k) {
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (k + 63) / 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    ring.set_up(4);
    __syncthreads();
    if (warp == 4) {
        fetch(ring, memory, a, b, TILE / 2, 64, row, column, steps);
        return;
    }
    Turn<STAGES> turn;
    float d[32];
    for (int step = 0; step < steps; step++, turn.next()) {
        const uint8_t *at = memory + turn.stage * 2 * TILE, *from = at + (16 * warp + lane / 4) * 64 + lane % 4 * 2;
        wait(&ring.full[turn.stage], turn.phase);
        uint32_t x[4][4];
        #pragma unroll
        for (int part = 0; part < 4; part++)
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t pair = *(const uint16_t *)(from + i % 2 * 8 * 64 + part * 16 + i / 2 * 8) ^ 0x8080;
                pair = __byte_perm(pair, 0x64646464, 0x4140);
                __half2 v = __hsub2(*(__half2 *)&pair, __float2half2_rn(1152));
                x[part][i] = *(uint32_t *)&v;
            }
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_from_registers(d, x[part], described(at + TILE) + 2 * part, step + part);
        commit_group();
        wait_group<0>();
        if (lane == 0) arrive(&ring.empty[turn.stage]);
    }
    each_pair(d, [&](int r, int col, float p, float q) {
        float scale = row + r < m ? scales[row + r] : 0;
        store_pair(c, n, m, n, row + r, column + col, p * scale, q * scale);
    });
}

// E4M3, blocks of 128 of k with scales: their sums are added up outside of the tensor cores.
KERNEL __launch_bounds__(160) group_e4m3_blocks(MAP a, MAP b, const float *rows, const float *columns, float *c, int m, int n, int k) {
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (k + 127) / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    ring.set_up(4);
    __syncthreads();
    if (warp == 4) {
        fetch(ring, memory, a, b, TILE, 128, row, column, steps);
        return;
    }
    Turn<STAGES> turn;
    float d[32], total[32] = {};
    int first = row + 16 * warp + lane / 4;
    for (int step = 0; step < steps; step++, turn.next()) {
        const uint8_t *at = memory + turn.stage * 2 * TILE;
        wait(&ring.full[turn.stage], turn.phase);
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_e4m3(d, described(at) + 2 * part, described(at + TILE) + 2 * part, part);
        commit_group();
        float across = columns[blockIdx.x * steps + step], down[2];
        for (int h = 0; h < 2; h++) down[h] = first + 8 * h < m ? rows[(first + 8 * h) * steps + step] * across : 0;
        wait_group<0>();
        if (lane == 0) arrive(&ring.empty[turn.stage]);
        #pragma unroll
        for (int i = 0; i < 32; i++) total[i] += d[i] * down[i / 2 % 2];
    }
    each_pair(total, [&](int r, int col, float x, float y) { store_pair(c, n, m, n, row + r, column + col, x, y); });
}

// Attention: a group has 64 queries, keys and values come 64 at a time; weights go from registers into the second product.
KERNEL __launch_bounds__(160) group_attention(MAP q, MAP k, MAP v, __half *o, int queries, int keys, float scale) {
    constexpr int STAGES = 2;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 start;
    int first = blockIdx.x * 64, steps = (keys + 63) / 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) init(&start, 1);
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    if (warp == 4) {
        if (!one_lane()) return;
        expect(&start, TILE);
        tensor_load(memory + STAGES * 2 * TILE, q, &start, 0, first, blockIdx.y);
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *to = memory + turn.stage * 2 * TILE;
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(&ring.full[turn.stage], 2 * TILE);
            tensor_load(to, k, &ring.full[turn.stage], 0, step * 64, blockIdx.y);
            tensor_load(to + TILE, v, &ring.full[turn.stage], 0, step * 64, blockIdx.y);
        }
        return;
    }
    float out[32], most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
    #pragma unroll
    for (int i = 0; i < 32; i++) out[i] = 0;
    wait(&start, 0);
    for (int step = 0; step < steps; step++, turn.next()) {
        const uint8_t *at = memory + turn.stage * 2 * TILE;
        float s[32];
        wait(&ring.full[turn.stage], turn.phase);
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_f16(s, described(memory + STAGES * 2 * TILE) + 2 * part, described(at) + 2 * part, part);
        commit_group();
        wait_group<0>();
        float less[2], base[2];
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = most[h];
            #pragma unroll
            for (int i = 2 * h; i < 32; i += i % 2 ? 3 : 1) {
                s[i] = step * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2 < keys ? s[i] * scale : -INFINITY;
                top = fmaxf(top, s[i]);
            }
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            base[h] = top, less[h] = exp2f(most[h] - top), most[h] = top, sum[h] *= less[h];
        }
        uint32_t weights[4][4];
        #pragma unroll
        for (int i = 0; i < 32; i += 2) {
            int h = i / 2 % 2;
            float x = exp2f(s[i] - base[h]), y = exp2f(s[i + 1] - base[h]);
            sum[h] += x + y, out[i] *= less[h], out[i + 1] *= less[h];
            __half2 pair = __floats2half2_rn(x, y);
            weights[i / 8][i / 4 % 2 * 2 + h] = *(uint32_t *)&pair;
        }
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_from_registers_turned(out, weights[part], described(at + TILE) + 128 * part, 1);
        commit_group();
        wait_group<0>();
        if (lane == 0) arrive(&ring.empty[turn.stage]);
    }
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
    }
    o += (size_t)blockIdx.y * queries * 64;
    each_pair(out, [&](int r, int col, float x, float y) {
        float weight = 1 / (r / 8 % 2 ? sum[1] : sum[0]);
        if (first + r < queries) *(__half2 *)&o[(first + r) * 64 + col] = __floats2half2_rn(x * weight, y * weight);
    });
}
