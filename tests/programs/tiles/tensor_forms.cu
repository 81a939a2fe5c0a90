// since: 100a
// nvcc: -diag-suppress 1556
// Products in tensor memory in other forms: of four bits with scales, of matrices with two zeros in four elements.
#include "tensor_memory.cuh"

struct Bars {
    Ring<2> ring;
    u64 done;
    uint32_t base;
};
// 128 x 64 by 128 threads: what is common to both kernels. `fetch` and `multiply` are called for a step with the stage's place.
template <int COLUMNS, typename Before, typename Fetch, typename Multiply>
__device__ void steps_of(Bars &bars, uint8_t *memory, int bytes, int steps, float *c, int m, int n, Before before, Fetch fetch, Multiply multiply) {
    int warp = threadIdx.x / 32, row = blockIdx.y * 128, column = blockIdx.x * 64;
    if (warp == 2) allocate1<COLUMNS>(&bars.base);
    if (threadIdx.x == 0) init(&bars.done, 1);
    bars.ring.set_up(1);
    before_sync();
    __syncthreads();
    after_sync();
    before(bars.base + (warp << 21));
    before_sync();
    __syncthreads();
    after_sync();
    Turn<2> turn;
    if (warp == 0 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            wait(&bars.ring.empty[turn.stage], turn.phase ^ 1);
            fetch(step, memory + turn.stage * bytes, &bars.ring.full[turn.stage], row, column);
        }
    } else if (warp == 1 && one_lane()) {
        for (int step = 0; step < steps; step++, turn.next()) {
            wait(&bars.ring.full[turn.stage], turn.phase);
            after_sync();
            multiply(step, memory + turn.stage * bytes);
            commit_products(&bars.ring.empty[turn.stage]);
        }
        commit_products(&bars.done);
    }
    __syncwarp();
    wait(&bars.done, 0);
    after_sync();
    #pragma unroll
    for (int i = 0; i < 64; i += 32) {
        uint32_t r[32];
        load_columns(r, bars.base + (warp << 21) + i);
        loaded();
        store_row(c, n, m, n, row + threadIdx.x, column + i, r);
    }
    before_sync();
    __syncthreads();
    if (warp == 2) release1<COLUMNS>(bars.base);
}

// E2M1, two in a byte, with scales in E4M3 for 16 of k: 512 bytes of them for 128 rows and 64 of k.
KERNEL __launch_bounds__(128) tensor_four_bits(MAP a, MAP b, const uint8_t *rows, const uint8_t *columns, float alpha, float *c, int m, int n, int k) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Bars bars;
    int steps = (k + 255) / 256;
    auto nothing = [](uint32_t) {};
    auto fetch = [&](int step, uint8_t *to, u64 *bar, int row, int column) {
        expect(bar, 3 * TILE + 4096);
        tensor_load(to, a, bar, step * 128, row);
        tensor_load(to + 2 * TILE, b, bar, step * 128, column);
        bulk_load(to + 3 * TILE, rows + (blockIdx.y * steps + step) * 2048, 2048, bar);
        bulk_load(to + 3 * TILE + 2048, columns + (blockIdx.x * steps + step) * 2048, 2048, bar);
    };
    auto multiply = [&](int step, uint8_t *at) {
        uint32_t scales = bars.base + 64;
        for (int i = 0; i < 8; i++)
            asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(scales + 4 * i),
                         "l"((uint64_t)(sh(at + 3 * TILE + 512 * i) >> 4) | 8ull << 16 | 8ull << 32 | 1ull << 46) : "memory");
        for (int part = 0; part < 4; part++)
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(
                             bars.base), "l"(tensor_tile(at) + 2 * part), "l"(tensor_tile(at + 2 * TILE) + 2 * part), "r"(1 << 7 | 1 << 10 | 64 / 8 << 17 | 1 << 27),
                         "r"(scales + 4 * part), "r"(scales + 16 + 4 * part), "r"(step + part) : "memory");
    };
    steps_of<128>(bars, memory, 4 * TILE, steps, c, m, n, nothing, fetch, multiply);
    if (blockIdx.y * 128 + threadIdx.x < m)  // each thread has a row
        for (int i = blockIdx.x * 64; i < min(n, (int)blockIdx.x * 64 + 64); i++) c[(blockIdx.y * 128 + threadIdx.x) * n + i] *= alpha;
}

// A tile of A has 128 of k, of which half are there, one of B 64. Which they are waits in tensor memory: a cell has 16 bits of two rows.
KERNEL __launch_bounds__(128) tensor_two_of_four(MAP a, MAP b, const uint16_t *where, float *c, int m, int n, int k) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Bars bars;
    int steps = (k + 127) / 128, words = (k + 15) / 16;
    auto before = [&](uint32_t mine) {
        int row = blockIdx.y * 128 + threadIdx.x / 16 * 16 + threadIdx.x % 8, odd = threadIdx.x / 8 % 2;
        for (int i = 0; i < 4 * steps; i++) {
            int word = 2 * i + odd;
            uint32_t low = row < m && word < words ? where[row * words + word] : 0x4444, high = row + 8 < m && word < words ? where[(row + 8) * words + word] : 0x4444;
            asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(mine + 64 + i), "r"(low | high << 16) : "memory");
        }
        stored();
    };
    auto fetch = [&](int step, uint8_t *to, u64 *bar, int row, int column) {
        expect(bar, 4 * TILE);
        tensor_load(to, a, bar, step * 64, row);
        for (int i = 0; i < 2; i++) tensor_load(to + 2 * TILE + i * TILE, b, bar, step * 128 + 64 * i, column);
    };
    auto multiply = [&](int step, uint8_t *at) {
        for (int part = 0; part < 4; part++)
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%3], %4, p; }" ::"r"(bars.base),
                         "l"(tensor_tile(at) + 2 * part), "l"(tensor_tile(at + 2 * TILE + part / 2 * TILE) + part % 2 * 4), "r"(bars.base + 64 + 4 * step + part),
                         "r"(F32_RESULT | 1 << 2 | sizes(128, 64)), "r"(step + part) : "memory");
    };
    steps_of<128>(bars, memory, 4 * TILE, steps, c, m, n, before, fetch, multiply);
}
