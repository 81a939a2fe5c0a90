// since: 100a
// nvcc: -diag-suppress 1556
// Rows of tokens that copies gather by their numbers, times the matrix of an expert; what comes of them is scattered to the same rows.
#include "tensor_memory.cuh"

__device__ inline void gather(void *to, const Map &map, u64 *bar, int x, int4 rows) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(sh(to)), "l"(&map),
                 "r"(sh(bar)), "r"(x), "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w) : "memory");
}
__device__ inline void scatter(const Map &map, const void *from, int x, int4 rows) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%1, {%2, %3, %4, %5, %6}], [%0];" ::"r"(sh(from)), "l"(&map), "r"(x), "r"(rows.x),
                 "r"(rows.y), "r"(rows.z), "r"(rows.w) : "memory");
}
__device__ inline void load_rows(uint32_t *r, uint32_t at) {  // 16 rows, 64 columns, as products of warps have them
    asm volatile("tcgen05.ld.sync.aligned.16x256b.x8.b32 " TEXT32 ", [%32];" : TO8(0), TO8(8), TO8(16), TO8(24) : "r"(at) : "memory");
}

// A block has 128 places of a list of rows for one expert (blockIdx.y); the list ends with numbers of no row. 64 columns.
KERNEL __launch_bounds__(160) tensor_experts(MAP a, MAP b, MAP o, const int4 *rows, const float *weights, int n, int k) {
    constexpr int STAGES = 2, BYTES = 3 * TILE;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 done;
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, column = blockIdx.x * 64, steps = (k + 63) / 64;
    rows += blockIdx.y * 32, weights += blockIdx.y * 128;
    if (warp == 4) allocate1<64>(&base);
    if (threadIdx.x == 0) init(&done, 1);
    ring.set_up(1);
    before_sync();
    __syncthreads();
    after_sync();
    if (warp == 4) {  // each lane gathers four rows; the first one does the rest
        Turn<STAGES> turn;
        int4 mine = rows[lane];
        for (int step = 0; step <= steps; step++, turn.next()) {
            if (step < steps) {
                uint8_t *to = memory + turn.stage * BYTES;
                wait(&ring.empty[turn.stage], turn.phase ^ 1);
                if (lane == 0) expect(&ring.full[turn.stage], BYTES);
                __syncwarp();
                gather(to + lane * 512, a, &ring.full[turn.stage], step * 64, mine);
                if (lane == 0) tensor_load(to + 2 * TILE, b, &ring.full[turn.stage], step * 64, column, blockIdx.y);
                __syncwarp();
            }
            if (step > 0 && one_lane()) {  // the step before
                int s = (step - 1) % STAGES;
                uint8_t *at = memory + s * BYTES;
                wait(&ring.full[s], (step - 1) / STAGES & 1);
                after_sync();
                for (int part = 0; part < 4; part++)
                    tensor_f16(base, tensor_tile(at) + 2 * part, tensor_tile(at + 2 * TILE) + 2 * part, F32_RESULT | sizes(128, 64), step - 1 + part);
                commit_products(&ring.empty[s]);
                if (step == steps) commit_products(&done);
            }
            __syncwarp();
        }
    } else {
        uint8_t *tile = memory + STAGES * BYTES;
        wait(&done, 0);
        after_sync();
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t r[32];
            load_rows(r, base + (warp << 21) + (half << 20));
            loaded();
            int row = 32 * warp + 16 * half;
            float low = weights[row + lane / 4], high = weights[row + 8 + lane / 4];
            #pragma unroll
            for (int j = 0; j < 8; j += 2) {
                uint32_t p[4];
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    float times = i % 2 ? high : low;
                    int e = 4 * (j + i / 2) + 2 * (i % 2);
                    __half2 v = __floats2half2_rn(__uint_as_float(r[e]) * times, __uint_as_float(r[e + 1]) * times);
                    p[i] = *(uint32_t *)&v;
                }
                asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(sh(tile + place<8>(row + lane % 16, j + lane / 16))), "r"(p[0]), "r"(p[1]),
                             "r"(p[2]), "r"(p[3]) : "memory");
            }
        }
        before_sync();
        written();
        __syncwarp();
        if (lane < 8) {  // four of the 32 rows of this warp
            int4 mine = rows[8 * warp + lane];
            scatter(o, tile + (8 * warp + lane) * 512, column, mine);
            commit_bulk();
            wait_bulk<0>();
        }
    }
    before_sync();
    __syncthreads();
    if (warp == 4) release1<64>(base);
}
