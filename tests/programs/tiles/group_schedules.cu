// since: 90a
// nvcc: -diag-suppress 1556
// Products of warp groups whose work is parted otherwise: over many problems with tensor maps made on the device, along k in a cluster.
#include "groups.cuh"

constexpr int STAGES = 3, BYTES = 2 * TILE;
__device__ inline void fetch_steps(Ring<STAGES> &ring, Turn<STAGES> &turn, uint8_t *memory, const Map &a, const Map &b, int first, int last, int row, int column) {
    for (int step = first; step < last; step++, turn.next()) {
        uint8_t *to = memory + turn.stage * BYTES;
        wait(&ring.empty[turn.stage], turn.phase ^ 1);
        expect(&ring.full[turn.stage], BYTES);
        tensor_load(to, a, &ring.full[turn.stage], step * 64, row);
        tensor_load(to + TILE, b, &ring.full[turn.stage], step * 64, column);
    }
}
__device__ inline void multiply_steps(Ring<STAGES> &ring, Turn<STAGES> &turn, uint8_t *memory, float (&d)[32], int steps) {
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
}

struct Problem {
    int m, n, k, ldc;
    long long a, b, c, lda, ldb;  // where in `operands` (bytes) and `results` they begin; bytes of a row
};
// A map of another matrix, made in shared memory from one that is there, then written to global memory for the copies.
__device__ inline void make_map(Map *global, Map *shared, const Map &like, const char *data, int rows, int columns, long long pitch) {
    int lane = threadIdx.x % 32;
    if (lane < 8) ((uint4 *)shared)[lane] = ((const uint4 *)&like)[lane];
    __syncwarp();
    if (lane == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(sh(shared)), "l"(data) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(sh(shared)), "r"(columns) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(sh(shared)), "r"(rows) : "memory");
        asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(sh(shared)), "l"(pitch) : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(global), "r"(sh(shared)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(global) : "memory");
}
KERNEL __launch_bounds__(160) group_problems(MAP a, MAP b, Map *maps, const Problem *problems, int count, const char *operands, float *results) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ __align__(128) Map made[2];
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    int which = 0, before = 0, mapped = -1;
    maps += 2 * blockIdx.x;
    for (int tile = blockIdx.x;; tile += gridDim.x) {
        int wide = 0, tiles = 0;
        for (; which < count; which++, before += tiles) {
            wide = (problems[which].n + 63) / 64, tiles = wide * ((problems[which].m + 63) / 64);
            if (tile < before + tiles) break;
        }
        if (which == count) break;
        const Problem &p = problems[which];
        int row = (tile - before) / wide * 64, column = (tile - before) % wide * 64, steps = (p.k + 63) / 64;
        if (threadIdx.x >= 128) {
            if (which != mapped) {
                for (int s = 0; s < STAGES; s++, turn.next()) wait(&ring.empty[turn.stage], turn.phase ^ 1);  // all copies have ended
                turn.phase ^= 1;
                make_map(&maps[0], &made[0], a, operands + p.a, p.m, p.k, p.lda);
                make_map(&maps[1], &made[1], b, operands + p.b, p.n, p.k, p.ldb);
                mapped = which;
            }
            if (one_lane()) fetch_steps(ring, turn, memory, maps[0], maps[1], 0, steps, row, column);
            else turn.skip(steps);
            __syncwarp();
        } else {
            float d[32], *c = results + p.c;
            multiply_steps(ring, turn, memory, d, steps);
            each_pair(d, [&](int r, int col, float x, float y) { store_pair(c, p.ldc, p.m, p.n, row + r, column + col, x, y); });
        }
    }
}

// Four blocks have parts of k. Each warp sends its sums to the block that adds up these rows.
KERNEL __launch_bounds__(160) __cluster_dims__(4, 1, 1) group_cluster_sum(MAP a, MAP b, float *c, int m, int n, int k) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    __shared__ u64 sums;
    int part = rank_of(), steps = (k + 63) / 64, row = blockIdx.y * 64, column = blockIdx.x / 4 * 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = steps * part / 4, last = steps * (part + 1) / 4;
    float4 *inbox = (float4 *)(memory + STAGES * BYTES);  // [part][register / 4][lane]
    if (threadIdx.x == 0) init(&sums, 1);
    ring.set_up(4);
    __syncthreads();
    if (threadIdx.x == 0) expect(&sums, 4 * 32 * 128);
    meet();
    Turn<STAGES> turn;
    if (warp == 4) {
        if (one_lane()) fetch_steps(ring, turn, memory, a, b, first, last, row, column);
        __syncwarp();
    } else {
        float d[32];
        if (first == last)
            for (int i = 0; i < 32; i++) d[i] = 0;
        multiply_steps(ring, turn, memory, d, last - first);
        uint32_t bar = there(&sums, warp);
        #pragma unroll
        for (int i = 0; i < 8; i++)
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(there(&inbox[(part * 8 + i) * 32 + lane], warp)),
                         "r"(__float_as_int(d[4 * i])), "r"(__float_as_int(d[4 * i + 1])), "r"(__float_as_int(d[4 * i + 2])), "r"(__float_as_int(d[4 * i + 3])), "r"(bar)
                         : "memory");
        wait(&sums, 0);
        #pragma unroll
        for (int i = 2 * warp; i < 2 * warp + 2; i++) {
            float4 v = inbox[i * 32 + lane];
            #pragma unroll
            for (int other = 1; other < 4; other++) {
                float4 w = inbox[(other * 8 + i) * 32 + lane];
                v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
            }
            int r = row + part * 16 + lane / 4, col = column + 8 * i + lane % 4 * 2;
            store_pair(c, n, m, n, r, col, v.x, v.y), store_pair(c, n, m, n, r + 8, col, v.z, v.w);
        }
    }
    meet();
}

// Blocks that have parts of k add their tiles to the result by copies that add.
KERNEL __launch_bounds__(160) group_reduce(MAP a, MAP b, MAP c, int k) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<STAGES> ring;
    int steps = (k + 63) / 64, part = blockIdx.z, parts = gridDim.z, row = blockIdx.y * 64, column = blockIdx.x * 64, warp = threadIdx.x / 32;
    int first = steps * part / parts, last = steps * (part + 1) / parts;
    uint8_t *tile = memory + STAGES * BYTES;  // two of 64 rows of 32 floats
    ring.set_up(4);
    __syncthreads();
    Turn<STAGES> turn;
    if (warp == 4) {
        if (one_lane()) fetch_steps(ring, turn, memory, a, b, first, last, row, column);
        return;
    }
    float d[32];
    multiply_steps(ring, turn, memory, d, last - first);
    each_pair(d, [&](int r, int col, float x, float y) {
        *(float2 *)(tile + col / 32 * TILE + place<8>(r, col % 32 / 4) + col % 4 * 4) = make_float2(x, y);
    });
    written();
    named_sync(1, 128);
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++)
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(sh(tile + i * TILE)), "l"(&c),
                         "r"(column + 32 * i), "r"(row) : "memory");
        commit_bulk();
        wait_bulk<0>();
    }
}
