// since: 100a
// nvcc: -diag-suppress 1556
// Products in tensor memory by one block or by two: a warp fetches, a warp multiplies, four warps bring out the result.
#include "tensor_memory.cuh"

template <int ELEMENTS> struct Straight {  // in a row of a tile
    static constexpr int WIDTH = ELEMENTS;
    static __device__ void fetch(uint8_t *to, const Map &a, const Map &b, u64 *bar, int step, int row, int column) {
        tensor_load(to, a, bar, step * WIDTH, row);
        tensor_load(to + 2 * TILE, b, bar, step * WIDTH, column);
    }
};
struct One : Straight<64> {
    static __device__ void multiply(uint32_t d, uint8_t *a, uint8_t *b, int part, uint32_t what, int more) {
        tensor_f16(d, tensor_tile(a) + 2 * part, tensor_tile(b) + 2 * part, what, more);
    }
};
struct Eight : Straight<128> {
    static __device__ void multiply(uint32_t d, uint8_t *a, uint8_t *b, int part, uint32_t what, int more) {
        tensor_f8(d, tensor_tile(a) + 2 * part, tensor_tile(b) + 2 * part, what, more);
    }
};
struct Turned : Straight<64> {  // A is [k][m], 64 of m in a tile; B is [k][n]
    static __device__ void multiply(uint32_t d, uint8_t *a, uint8_t *b, int part, uint32_t what, int more) {
        tensor_f16(d, tensor_turned(a, TILE) + 128 * part, tensor_turned(b, TILE) + 128 * part, what | 3 << 15, more);
    }
    static __device__ void fetch(uint8_t *to, const Map &a, const Map &b, u64 *bar, int step, int row, int column) {
        tensor_load(to, a, bar, row, step * WIDTH);
        tensor_load(to + TILE, a, bar, row + 64, step * WIDTH);
        tensor_load(to + 2 * TILE, b, bar, column, step * WIDTH);
    }
};
// A block makes 128 x 64.
template <typename Kind> __device__ void product(const Map &a, const Map &b, float *c, int m, int n, int k, uint32_t what) {
    constexpr int STAGES = 3, BYTES = 3 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 done;
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, row = blockIdx.y * 128, column = blockIdx.x * 64, steps = (k + Kind::WIDTH - 1) / Kind::WIDTH;
    if (warp == 2) allocate1<64>(&base);
    if (threadIdx.x == 0) init(&done, 1);
    ring.set_up(1);
    before_sync();
    __syncthreads();
    after_sync();
    Turn<STAGES> turn;
    if (warp == 0 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(&ring.full[turn.stage], BYTES);
            Kind::fetch(memory + turn.stage * BYTES, a, b, &ring.full[turn.stage], step, row, column);
        }
    } else if (warp == 1 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *at = memory + turn.stage * BYTES;
            wait(&ring.full[turn.stage], turn.phase);
            after_sync();
            for (int part = 0; part < 4; part++) Kind::multiply(base, at, at + 2 * TILE, part, what | sizes(128, 64), step + part);
            commit_products(&ring.empty[turn.stage]);
        }
        commit_products(&done);
    }
    __syncwarp();
    wait(&done, 0);
    after_sync();
    #pragma unroll
    for (int i = 0; i < 64; i += 32) {
        uint32_t r[32];
        load_columns(r, base + (warp << 21) + i);
        loaded();
        store_row(c, n, m, n, row + threadIdx.x, column + i, r);
    }
    before_sync();
    __syncthreads();
    if (warp == 2) release1<64>(base);
}
#define PRODUCT(NAME, KIND)                                                                                        \
    KERNEL __launch_bounds__(128) NAME(MAP a, MAP b, float *c, int m, int n, int k, uint32_t what) { \
        product<KIND>(a, b, c, m, n, k, what);                                                                     \
    }
PRODUCT(tensor_single, One)
PRODUCT(tensor_eight, Eight)
PRODUCT(tensor_turned_both, Turned)

// A pair of blocks makes 256 x 128: each has half of the rows of A and half of those of B, the first one issues the products.
__device__ inline void pair_load(void *to, const Map &map, uint32_t bar, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(sh(to)),
                 "l"(&map), "r"(bar), "r"(x), "r"(y) : "memory");
}
__device__ inline void pair_commit(u64 *bar) {
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(sh(bar)), "h"((uint16_t)3) : "memory");
}
KERNEL __launch_bounds__(128) __cluster_dims__(2, 1, 1) tensor_pair(MAP a, MAP b, float *c, int m, int n, int k) {
    constexpr int STAGES = 3, BYTES = 3 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 done;
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, rank = rank_of(), row = blockIdx.x * 128, column = blockIdx.y * 128, steps = (k + 63) / 64;
    if (threadIdx.x == 0) init(&done, 1);
    ring.set_up(1);
    if (warp == 2) allocate2<128>(&base);
    before_sync();
    meet();
    after_sync();
    Turn<STAGES> turn;
    if (warp == 0 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *to = memory + turn.stage * BYTES;
            uint32_t full = there(&ring.full[turn.stage], 0);
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            if (rank == 0) expect(&ring.full[turn.stage], 2 * BYTES);
            pair_load(to, a, full, step * 64, row);
            pair_load(to + 2 * TILE, b, full, step * 64, column + rank * 64);
        }
    } else if (warp == 1 && rank == 0 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *at = memory + turn.stage * BYTES;
            wait(&ring.full[turn.stage], turn.phase);
            after_sync();
            for (int part = 0; part < 4; part++)
                pair_f16(base, tensor_tile(at) + 2 * part, tensor_tile(at + 2 * TILE) + 2 * part, F32_RESULT | sizes(256, 128), step + part);
            pair_commit(&ring.empty[turn.stage]);
        }
        pair_commit(&done);
    }
    __syncwarp();
    wait(&done, 0);
    after_sync();
    #pragma unroll
    for (int i = 0; i < 128; i += 32) {
        uint32_t r[32];
        load_columns(r, base + (warp << 21) + i);
        loaded();
        store_row(c, n, m, n, row + threadIdx.x, column + i, r);
    }
    before_sync();
    meet();
    if (warp == 2) release2<128>(base);
}

// E4M3 with a scale (a power of two) for 32 elements of k: scales come as blocks of 512 bytes, for 128 rows and 128 of k.
KERNEL __launch_bounds__(128) tensor_scaled(MAP a, MAP b, const uint8_t *rows, const uint8_t *columns, float *c, int m, int n, int k) {
    constexpr int STAGES = 2, BYTES = 4 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 done;
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, row = blockIdx.y * 128, column = blockIdx.x * 64, steps = (k + 127) / 128;
    if (warp == 2) allocate1<128>(&base);
    if (threadIdx.x == 0) init(&done, 1);
    ring.set_up(1);
    before_sync();
    __syncthreads();
    after_sync();
    Turn<STAGES> turn;
    if (warp == 0 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *to = memory + turn.stage * BYTES;
            u64 *bar = &ring.full[turn.stage];
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(bar, 3 * TILE + 1024);
            tensor_load(to, a, bar, step * 128, row);
            tensor_load(to + 2 * TILE, b, bar, step * 128, column);
            bulk_load(to + 3 * TILE, rows + (blockIdx.y * steps + step) * 512, 512, bar);
            bulk_load(to + 3 * TILE + 512, columns + (blockIdx.x * steps + step) * 512, 512, bar);
        }
    } else if (warp == 1 && one_lane()) {
        uint32_t scales = base + 64;
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *at = memory + turn.stage * BYTES;
            wait(&ring.full[turn.stage], turn.phase);
            after_sync();
            for (int i = 0; i < 2; i++)
                asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(scales + 4 * i),
                             "l"((uint64_t)(sh(at + 3 * TILE + 512 * i) >> 4) | 8ull << 16 | 8ull << 32 | 1ull << 46) : "memory");
            for (int part = 0; part < 4; part++) {
                uint32_t what = part << 4 | 64 / 8 << 17 | 1 << 23 | 1 << 27 | part << 29;
                asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], "
                             "[%5], p; }" ::"r"(base), "l"(tensor_tile(at) + 2 * part), "l"(tensor_tile(at + 2 * TILE) + 2 * part), "r"(what), "r"(scales),
                             "r"(scales + 4), "r"(step + part) : "memory");
            }
            commit_products(&ring.empty[turn.stage]);
        }
        commit_products(&done);
    }
    __syncwarp();
    wait(&done, 0);
    after_sync();
    #pragma unroll
    for (int i = 0; i < 64; i += 32) {
        uint32_t r[32];
        load_columns(r, base + (warp << 21) + i);
        loaded();
        store_row(c, n, m, n, row + threadIdx.x, column + i, r);
    }
    before_sync();
    __syncthreads();
    if (warp == 2) release1<128>(base);
}
