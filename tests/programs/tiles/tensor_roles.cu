// since: 100a
// nvcc: -diag-suppress 1556
// Products in tensor memory where warps keep their roles from tile to tile: fetch, multiply, bring out; and attention.
#include "tensor_memory.cuh"

constexpr int STAGES = 3, BYTES = 3 * TILE;
// Tiles in turn, as many as there are.
struct Planned {
    int tiles;
    __device__ Planned(int tiles) : tiles(tiles) {}
    __device__ void set_up() {}
    __device__ void give_out() {}
    struct Walk {
        int tiles;
        __device__ Walk(Planned &p) : tiles(p.tiles) {}
        __device__ bool next(int &tile, bool) { return (tile += gridDim.x) < tiles; }
    };
};
// Each block takes over blocks of the grid that have not begun: a warp asks, all others read its answers.
struct Asked {
    static constexpr int SLOTS = 2, READERS = 7;  // who fetches, who multiplies, four warps, who asks
    Ring<SLOTS> ring;
    uint4 answers[SLOTS];
    struct Walk {
        Asked &p;
        Turn<SLOTS> turn;
        __device__ Walk(Asked &p) : p(p) {}
        __device__ bool next(int &tile, bool all) {  // `all`: a whole warp reads
            int more, x;
            wait(&p.ring.full[turn.stage], turn.phase);
            asm volatile("{ .reg .b128 r; .reg .pred q; .reg .b32 c, z; ld.shared.b128 r, [%2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 q, r; "
                         "selp.b32 %0, 1, 0, q; mov.b32 %1, 0; @q clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, c, z, _}, r; }"
                         : "=r"(more), "=r"(x) : "r"(sh(&p.answers[turn.stage])) : "memory");
            written();
            if (all) __syncwarp();
            if (!all || threadIdx.x % 32 == 0) arrive(&p.ring.empty[turn.stage]);
            turn.next();
            tile = x;
            return more;
        }
    };
    __device__ void give_out() {
        Walk walk(*this);
        Turn<SLOTS> turn;
        int tile;
        do {
            wait(&ring.empty[turn.stage], turn.phase ^ 1);
            expect(&ring.full[turn.stage], 16);
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(sh(&answers[turn.stage])),
                         "r"(sh(&ring.full[turn.stage])) : "memory");
            turn.next();
        } while (walk.next(tile, false));
    }
};
struct Shared {
    Ring<STAGES> ring;
    Ring<2> results;  // the two accumulators: `full` when a tile is multiplied, `empty` when it is brought out
    uint32_t base;
};

// 128 x 64 of relu(A * B + bias) a tile, as halves. Threads 128 to 255 bring out, by a tensor copy.
template <typename Work> __device__ void persistent(const Map &a, const Map &b, const Map &o, const float *bias, int n, int k, Work &work) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Shared s;
    uint8_t *tile_out = memory + STAGES * BYTES;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = (k + 63) / 64, wide = (n + 63) / 64, tile = blockIdx.x;
    if (warp == 2) allocate1<128>(&s.base);
    s.ring.set_up(1);
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) init(&s.results.full[i], 1), init(&s.results.empty[i], 4);
        fence_init();
    }
    before_sync();
    __syncthreads();
    after_sync();
    typename Work::Walk walk(work);
    Turn<STAGES> turn;
    Turn<2> result;
    if (warp == 0 && one_lane()) {
        do
            for (int step = 0; step < steps; step++, turn.next()) {
                uint8_t *to = memory + turn.stage * BYTES;
                wait(&s.ring.empty[turn.stage], turn.phase ^ 1);
                expect(&s.ring.full[turn.stage], BYTES);
                tensor_load(to, a, &s.ring.full[turn.stage], step * 64, tile / wide * 128);
                tensor_load(to + 2 * TILE, b, &s.ring.full[turn.stage], step * 64, tile % wide * 64);
            }
        while (walk.next(tile, false));
    } else if (warp == 1 && one_lane()) {
        do {
            wait(&s.results.empty[result.stage], result.phase ^ 1);
            after_sync();
            for (int step = 0; step < steps; step++, turn.next()) {
                uint8_t *at = memory + turn.stage * BYTES;
                wait(&s.ring.full[turn.stage], turn.phase);
                after_sync();
                for (int part = 0; part < 4; part++)
                    tensor_f16(s.base + 64 * result.stage, tensor_tile(at) + 2 * part, tensor_tile(at + 2 * TILE) + 2 * part, F32_RESULT | sizes(128, 64), step + part);
                commit_products(&s.ring.empty[turn.stage]);
            }
            commit_products(&s.results.full[result.stage]);
            result.next();
        } while (walk.next(tile, false));
    } else if (warp == 3 && one_lane()) {
        work.give_out();
    } else if (warp >= 4) {
        int row = threadIdx.x - 128;
        do {
            uint32_t r[64], from = s.base + (warp % 4 << 21) + 64 * result.stage;
            int column = tile % wide * 64;
            wait(&s.results.full[result.stage], result.phase);
            after_sync();
            load_columns(r, from), load_columns(r + 32, from + 32);
            loaded();
            before_sync();
            __syncwarp();
            if (lane == 0) arrive(&s.results.empty[result.stage]);
            result.next();
            if (row == 0) wait_bulk_read<0>();  // the tile before has left
            named_sync(1, 128);
            #pragma unroll
            for (int p = 0; p < 8; p++) {
                uint32_t piece[4];
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    int col = 8 * p + 2 * i;
                    float x = column + col < n ? bias[column + col] : 0, y = column + col + 1 < n ? bias[column + col + 1] : 0;
                    __half2 v = __floats2half2_rn(fmaxf(__uint_as_float(r[col]) + x, 0), fmaxf(__uint_as_float(r[col + 1]) + y, 0));
                    piece[i] = *(uint32_t *)&v;
                }
                *(uint4 *)(tile_out + place<8>(row, p)) = *(uint4 *)piece;
            }
            written();
            named_sync(1, 128);
            if (row == 0) {
                tensor_store(o, tile_out, column, tile / wide * 128);
                commit_bulk();
            }
        } while (walk.next(tile, true));
        if (row == 0) wait_bulk<0>();
    }
    __syncwarp();
    before_sync();
    __syncthreads();
    if (warp == 2) release1<128>(s.base);
}
KERNEL __launch_bounds__(256) tensor_persistent(MAP a, MAP b, MAP o, const float *bias, int m, int n, int k) {
    Planned work((m + 127) / 128 * ((n + 63) / 64));
    persistent(a, b, o, bias, n, k, work);
}
KERNEL __launch_bounds__(256) tensor_asked(MAP a, MAP b, MAP o, const float *bias, int m, int n, int k) {
    __shared__ Asked work;
    work.ring.set_up(Asked::READERS);
    persistent(a, b, o, bias, n, k, work);
}

// Attention: 128 queries, one a thread; scores, weights (as halves) and results are in tensor memory.
KERNEL __launch_bounds__(160) tensor_attention(MAP q, MAP k, MAP v, __half *o, int queries, int keys, float scale) {
    constexpr int WEIGHTS = 64, RESULT = 128;  // columns
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<2> ring;
    __shared__ u64 start, scored, weighed, added;
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, first = blockIdx.x * 128, steps = (keys + 63) / 64;
    uint8_t *qs = memory + 4 * TILE;
    if (warp == 4) allocate1<256>(&base);
    if (threadIdx.x == 0) init(&start, 1), init(&scored, 1), init(&weighed, 4), init(&added, 1);
    ring.set_up(1);
    before_sync();
    __syncthreads();
    after_sync();
    if (warp == 4) {
        if (one_lane()) {
            auto fetch = [&](int step) {
                uint8_t *to = memory + step % 2 * 2 * TILE;
                wait(&ring.empty[step % 2], (step / 2 & 1) ^ 1);
                expect(&ring.full[step % 2], 2 * TILE);
                tensor_load(to, k, &ring.full[step % 2], 0, step * 64, blockIdx.y);
                tensor_load(to + TILE, v, &ring.full[step % 2], 0, step * 64, blockIdx.y);
            };
            expect(&start, 2 * TILE);
            tensor_load(qs, q, &start, 0, first, blockIdx.y);
            fetch(0);
            wait(&start, 0);
            for (int step = 0; step < steps; step++) {
                uint8_t *at = memory + step % 2 * 2 * TILE;
                if (step + 1 < steps) fetch(step + 1);
                wait(&ring.full[step % 2], step / 2 & 1);
                after_sync();
                for (int part = 0; part < 4; part++) tensor_f16(base, tensor_tile(qs) + 2 * part, tensor_tile(at) + 2 * part, F32_RESULT | sizes(128, 64), part);
                commit_products(&scored);
                wait(&weighed, step & 1);
                after_sync();
                for (int part = 0; part < 4; part++)
                    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(base + RESULT),
                                 "r"(base + WEIGHTS + 8 * part), "l"(tensor_turned(at + TILE, TILE) + 128 * part),
                                 "r"(F32_RESULT | sizes(128, 64) | 1 << 16), "r"(step + part) : "memory");
                commit_products(&ring.empty[step % 2]);
                commit_products(&added);
            }
        }
        __syncwarp();
    } else {
        float most = -INFINITY, sum = 0;
        uint32_t r[64], mine = base + (warp << 21);
        for (int step = 0; step < steps; step++) {
            wait(&scored, step & 1);
            after_sync();
            load_columns(r, mine), load_columns(r + 32, mine + 32);
            loaded();
            float top = most;
            #pragma unroll
            for (int i = 0; i < 64; i++) {
                float s = step * 64 + i < keys ? __uint_as_float(r[i]) * scale : -INFINITY;
                r[i] = __float_as_uint(s), top = fmaxf(top, s);
            }
            float less = exp2f(most - top);
            sum *= less, most = top;
            uint32_t weights[32];
            #pragma unroll
            for (int i = 0; i < 32; i++) {
                float x = exp2f(__uint_as_float(r[2 * i]) - top), y = exp2f(__uint_as_float(r[2 * i + 1]) - top);
                __half2 pair = __floats2half2_rn(x, y);
                sum += x + y, weights[i] = *(uint32_t *)&pair;
            }
            if (step > 0) {
                wait(&added, (step - 1) & 1);
                after_sync();
                if (__any_sync(~0u, less != 1)) {
                    load_columns(r, mine + RESULT), load_columns(r + 32, mine + RESULT + 32);
                    loaded();
                    #pragma unroll
                    for (int i = 0; i < 64; i++) r[i] = __float_as_uint(__uint_as_float(r[i]) * less);
                    store_columns(mine + RESULT, r), store_columns(mine + RESULT + 32, r + 32);
                }
            }
            store_columns(mine + WEIGHTS, weights);
            stored();
            before_sync();
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive(&weighed);
        }
        wait(&added, (steps - 1) & 1);
        after_sync();
        load_columns(r, mine + RESULT), load_columns(r + 32, mine + RESULT + 32);
        loaded();
        float weight = 1 / sum;
        if (first + threadIdx.x < queries)
            #pragma unroll
            for (int i = 0; i < 32; i++)
                *(__half2 *)&o[((size_t)blockIdx.y * queries + first + threadIdx.x) * 64 + 2 * i] =
                    __floats2half2_rn(__uint_as_float(r[2 * i]) * weight, __uint_as_float(r[2 * i + 1]) * weight);
    }
    before_sync();
    __syncthreads();
    if (warp == 4) release1<256>(base);
}
