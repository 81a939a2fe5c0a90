// since: 90a
// Products of warp groups: a warp fetches tiles by tensor copies, one group or two multiply.
#include "groups.cuh"

// Two groups make 128 x 64 together. The group of the warp that fetches gives registers to them.
KERNEL __launch_bounds__(384, 1) group_cooperative(MAP a, MAP b, float *c, int m, int n, int k) {
    constexpr int STAGES = 3, BYTES = 3 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int group = threadIdx.x / 128, row = blockIdx.y * 128, column = blockIdx.x * 64, steps = (k + 63) / 64;
    ring.set_up(8);
    __syncthreads();
    Turn<STAGES> turn;
    if (group == 0) {
        fewer_registers<40>();
        if (threadIdx.x < 32 && one_lane())
            for (int step = 0; step < steps; step++, turn.next()) {
                uint8_t *to = memory + turn.stage * BYTES;
                wait(&ring.empty[turn.stage], turn.phase ^ 1);
                expect(&ring.full[turn.stage], BYTES);
                tensor_load(to, a, &ring.full[turn.stage], step * 64, row);
                tensor_load(to + 2 * TILE, b, &ring.full[turn.stage], step * 64, column);
            }
        return;
    }
    more_registers<232>();
    float d[32];
    for (int step = 0; step < steps; step++) {
        int last = turn.stage;
        const uint8_t *at = memory + turn.stage * BYTES;
        wait(&ring.full[turn.stage], turn.phase);
        turn.next();
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_f16(d, described(at + (group - 1) * TILE) + 2 * part, described(at + 2 * TILE) + 2 * part, step + part);
        commit_group();
        wait_group<1>();  // the products of the step before are done
        if (step > 0 && threadIdx.x % 32 == 0) arrive(&ring.empty[last ? last - 1 : STAGES - 1]);
    }
    wait_group<0>();
    row += (group - 1) * 64;
    each_pair(d, [&](int r, int col, float x, float y) { store_pair(c, n, m, n, row + r, column + col, x, y); });
}

// Two groups take turns: while one multiplies, the other one brings out its result. Blocks go on from tile to tile.
KERNEL __launch_bounds__(384, 1) group_pingpong(MAP a, MAP b, __half *c, int m, int n, int k) {
    constexpr int STAGES = 4, BYTES = 2 * TILE, MAIN = 2, LAST = 4;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int group = threadIdx.x / 128, steps = (k + 63) / 64, wide = (n + 63) / 64, tiles = wide * ((m + 63) / 64);
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    if (group == 0) {
        fewer_registers<40>();
        if (threadIdx.x >= 32 || !one_lane()) return;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
            for (int step = 0; step < steps; step++, turn.next()) {
                uint8_t *to = memory + turn.stage * BYTES;
                wait(&ring.empty[turn.stage], turn.phase ^ 1);
                expect(&ring.full[turn.stage], BYTES);
                tensor_load(to, a, &ring.full[turn.stage], step * 64, tile / wide * 64);
                tensor_load(to + TILE, b, &ring.full[turn.stage], step * 64, tile % wide * 64);
            }
        return;
    }
    more_registers<232>();
    int me = group - 1, other = me ^ 1;
    if (me == 1) {  // the other one begins
        turn.skip(steps);
        named_arrive(MAIN, 256);
        named_arrive(LAST, 256);
    }
    for (int begin = blockIdx.x; begin < tiles; begin += 2 * gridDim.x) {  // both go round as often
        int tile = begin + me * gridDim.x;
        float d[32];
        named_sync(MAIN + me, 256);
        if (tile < tiles)
            for (int step = 0; step < steps; step++, turn.next()) {
                const uint8_t *at = memory + turn.stage * BYTES;
                wait(&ring.full[turn.stage], turn.phase);
                fence_group();
                #pragma unroll
                for (int part = 0; part < 4; part++) group_f16(d, described(at) + 2 * part, described(at + TILE) + 2 * part, step + part);
                commit_group();
                wait_group<0>();
                if (threadIdx.x % 32 == 0) arrive(&ring.empty[turn.stage]);
            }
        named_arrive(MAIN + other, 256);
        turn.skip(steps);
        named_sync(LAST + me, 256);
        if (tile < tiles)
            each_pair(d, [&](int r, int col, float x, float y) {
                store_pair(c, n, m, n, tile / wide * 64 + r, tile % wide * 64 + col, __float2half(fmaxf(x, 0)), __float2half(fmaxf(y, 0)));
            });
        named_arrive(LAST + other, 256);
    }
    if (me == 0) {  // the last arrivals of the other one
        named_sync(MAIN, 256);
        named_sync(LAST, 256);
    }
}

// Two blocks one above the other: each fetches half of what they need of B, [k][n] here, for both.
__device__ inline void tensor_load_to(void *to, const Map &map, u64 *bar, int x, int y, uint16_t mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(sh(to)),
                 "l"(&map), "r"(sh(bar)), "r"(x), "r"(y), "h"(mask) : "memory");
}
__device__ inline void arrive_there(u64 *bar, uint32_t rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(bar, rank)) : "memory");
}
KERNEL __launch_bounds__(160) __cluster_dims__(2, 1, 1) group_multicast(MAP a, MAP b, float *c, int m, int n, int k) {
    constexpr int STAGES = 3, BYTES = 2 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int row = blockIdx.x * 64, column = blockIdx.y * 64, steps = (k + 63) / 64, rank = rank_of();
    ring.set_up(8);  // the warps of both blocks
    meet();
    Turn<STAGES> turn;
    if (threadIdx.x >= 128) {
        if (one_lane())
            for (int step = 0; step < steps; step++, turn.next()) {
                uint8_t *to = memory + turn.stage * BYTES;
                wait(&ring.empty[turn.stage], turn.phase ^ 1);
                expect(&ring.full[turn.stage], BYTES);
                tensor_load(to, a, &ring.full[turn.stage], step * 64, row);
                tensor_load_to(to + TILE + rank * TILE / 2, b, &ring.full[turn.stage], column, step * 64 + rank * 32, 3);
            }
        __syncwarp();
    } else {
        float d[32];
        for (int step = 0; step < steps; step++, turn.next()) {
            const uint8_t *at = memory + turn.stage * BYTES;
            wait(&ring.full[turn.stage], turn.phase);
            fence_group();
            #pragma unroll
            for (int part = 0; part < 4; part++) group_bf16_turned(d, described(at) + 2 * part, described(at + TILE) + 128 * part, step + part);
            commit_group();
            wait_group<0>();
            if (threadIdx.x % 32 < 2) arrive_there(&ring.empty[turn.stage], threadIdx.x % 32);
        }
        each_pair(d, [&](int r, int col, float x, float y) { store_pair(c, n, m, n, row + r, column + col, x, y); });
    }
    meet();
}

// alpha * A * B + beta * C of 16 bits: C comes and D leaves by tensor copies, stmatrix turns registers into a tile.
KERNEL __launch_bounds__(160) group_store(MAP a, MAP b, MAP c, MAP o, float alpha, float beta, int k) {
    constexpr int STAGES = 3, BYTES = 2 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 source;
    uint8_t *tile = memory + STAGES * BYTES;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (k + 63) / 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) init(&source, 1);
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    if (warp == 4) {
        if (!one_lane()) return;
        expect(&source, TILE);
        tensor_load(tile, c, &source, column, row);
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *to = memory + turn.stage * BYTES;
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(&ring.full[turn.stage], BYTES);
            tensor_load(to, a, &ring.full[turn.stage], step * 64, row);
            tensor_load(to + TILE, b, &ring.full[turn.stage], step * 64, column);
        }
        return;
    }
    float d[32];
    for (int step = 0; step < steps; step++, turn.next()) {
        const uint8_t *at = memory + turn.stage * BYTES;
        wait(&ring.full[turn.stage], turn.phase);
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_f16(d, described(at) + 2 * part, described(at + TILE) + 2 * part, step + part);
        commit_group();
        wait_group<0>();
        if (lane == 0) arrive(&ring.empty[turn.stage]);
    }
    wait(&source, 0);
    #pragma unroll
    for (int j = 0; j < 8; j += 2) {
        uint8_t *at = tile + place<8>(16 * warp + lane % 16, j + lane / 16);
        uint32_t r[4];
        load_matrices(r, at);
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            float2 old = __half22float2(*(__half2 *)&r[i]);
            int e = 4 * (j + i / 2) + 2 * (i % 2);
            __half2 v = __floats2half2_rn(alpha * d[e] + beta * old.x, alpha * d[e + 1] + beta * old.y);
            r[i] = *(uint32_t *)&v;
        }
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(sh(at)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
    }
    written();
    named_sync(1, 128);
    if (threadIdx.x == 0) {
        tensor_store(o, tile, column, row);
        commit_bulk();
        wait_bulk<0>();
    }
}
