// since: 90a
// nvcc: -diag-suppress 1556
// Products of warp groups in other forms: of images with filters, of matrices with two zeros in four elements.
#include "groups.cuh"

// Images of 64 channels with filters of 3 x 3, zeros around: a step is a place of the filter, copies find 64 pixels in a row of them.
KERNEL __launch_bounds__(160) group_convolution(MAP images, MAP filters, const float *bias, float *o, int count, int height, int width, int amount) {
    constexpr int STAGES = 3, BYTES = 2 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int pixel = blockIdx.y * 64, column = blockIdx.x * 64, pixels = count * height * width;
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    if (threadIdx.x >= 128) {
        if (!one_lane()) return;
        int x = pixel % width, y = pixel / width % height, image = pixel / width / height;
        for (int tap = 0; tap < 9; tap++, turn.next()) {
            uint8_t *to = memory + turn.stage * BYTES;
            u64 *bar = &ring.full[turn.stage];
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(bar, BYTES);
            asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(sh(to)),
                         "l"(&images), "r"(sh(bar)), "r"(0), "r"(x - 1), "r"(y - 1), "r"(image), "h"((uint16_t)(tap % 3)), "h"((uint16_t)(tap / 3)) : "memory");
            tensor_load(to + TILE, filters, bar, 64 * tap, column);
        }
        return;
    }
    float d[32];
    for (int tap = 0; tap < 9; tap++, turn.next()) {
        const uint8_t *at = memory + turn.stage * BYTES;
        wait(&ring.full[turn.stage], turn.phase);
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++) group_f16(d, described(at) + 2 * part, described(at + TILE) + 2 * part, tap + part);
        commit_group();
        wait_group<0>();
        if (threadIdx.x % 32 == 0) arrive(&ring.empty[turn.stage]);
    }
    each_pair(d, [&](int r, int col, float v, float w) {
        col += column;
        store_pair(o, amount, pixels, amount, pixel + r, col, v + (col < amount ? bias[col] : 0), w + (col + 1 < amount ? bias[col + 1] : 0));
    });
}

// Of four neighbours of A two are there: a tile of A has 128 of k, one of B 64.
__device__ inline void group_sparse(float (&d)[32], uint64_t a, uint64_t b, uint32_t which, int more) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 " TEXT32 ", %32, %33, %34, 0, p, 1, 1, 0, 0; }"
                 : D32 : "l"(a), "l"(b), "r"(which), "r"(more) : "memory");
}
KERNEL __launch_bounds__(160) group_two_of_four(MAP a, MAP b, const uint16_t *where, float *c, int m, int n, int k) {
    constexpr int STAGES = 2, BYTES = 3 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = (k + 127) / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32, words = (k + 15) / 16;
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    if (warp == 4) {
        if (!one_lane()) return;
        for (int step = 0; step < steps; step++, turn.next()) {
            uint8_t *to = memory + turn.stage * BYTES;
            u64 *bar = &ring.full[turn.stage];
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(bar, BYTES);
            tensor_load(to, a, bar, step * 64, row);
            for (int i = 0; i < 2; i++) tensor_load(to + TILE + i * TILE, b, bar, step * 128 + 64 * i, column);
        }
        return;
    }
    float d[32];
    int r = row + 16 * warp + lane / 4;
    for (int step = 0; step < steps; step++, turn.next()) {
        const uint8_t *at = memory + turn.stage * BYTES;
        uint32_t which[4];
        #pragma unroll
        for (int part = 0; part < 4; part++) {
            int word = 8 * step + 2 * part + lane % 2;
            uint32_t low = r < m && word < words ? where[r * words + word] : 0x4444, high = r + 8 < m && word < words ? where[(r + 8) * words + word] : 0x4444;
            which[part] = low | high << 16;
        }
        wait(&ring.full[turn.stage], turn.phase);
        fence_group();
        #pragma unroll
        for (int part = 0; part < 4; part++)
            group_sparse(d, described(at) + 2 * part, described(at + TILE + part / 2 * TILE) + part % 2 * 4, which[part], step + part);
        commit_group();
        wait_group<0>();
        if (lane == 0) arrive(&ring.empty[turn.stage]);
    }
    each_pair(d, [&](int i, int col, float x, float y) { store_pair(c, n, m, n, row + i, column + col, x, y); });
}
