// since: 100a
// nvcc: -diag-suppress 1556
// Attention with roles for groups of warps: two make weights, each of 128 queries, one corrects results, a warp multiplies, one fetches.
#include "tensor_memory.cuh"

constexpr int BYTES = 2 * TILE, WEIGHTS = 128, RESULTS = 192, COLUMNS = 512;  // scores from column 0 on; 64, 32, 64 columns for each half
struct Part {  // of 256 queries
    u64 start, scored, weighed, told, corrected, added;
    float told_of[128];  // of each query: how much less what came before weighs, at the end one by the sum of weights
};
KERNEL __launch_bounds__(512, 1) tensor_attention_roles(MAP q, MAP k, MAP v, __half *o, int queries, int keys, float scale) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<2> ring;
    __shared__ Part halves[2];
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, group = threadIdx.x / 128, steps = (keys + 63) / 64;
    uint8_t *qs = memory + 2 * BYTES;
    if (warp == 12) allocate1<COLUMNS>(&base);
    if (threadIdx.x < 2) {
        Part &h = halves[threadIdx.x];
        init(&h.start, 1), init(&h.scored, 1), init(&h.weighed, 4), init(&h.told, 4), init(&h.corrected, 4), init(&h.added, 1);
        fence_init();
    }
    ring.set_up(1);
    before_sync();
    __syncthreads();
    after_sync();
    uint32_t lanes = warp % 4 << 21;
    if (group == 3) {
        fewer_registers<48>();
        if (warp == 13 && one_lane()) {
            for (int i = 0; i < 2; i++) {
                expect(&halves[i].start, BYTES);
                tensor_load(qs + i * BYTES, q, &halves[i].start, 0, blockIdx.x * 256 + 128 * i, blockIdx.y);
            }
            Turn<2> turn;
            for (int step = 0; step < steps; step++, turn.next()) {
                uint8_t *to = memory + turn.stage * BYTES;
                wait(&ring.empty[turn.stage], turn.phase ^ 1);
                expect(&ring.full[turn.stage], BYTES);
                tensor_load(to, k, &ring.full[turn.stage], 0, step * 64, blockIdx.y);
                tensor_load(to + TILE, v, &ring.full[turn.stage], 0, step * 64, blockIdx.y);
            }
        } else if (warp == 12 && one_lane()) {
            auto score = [&](int i, int step) {
                for (int part = 0; part < 4; part++)
                    tensor_f16(base + 64 * i, tensor_tile(qs + i * BYTES) + 2 * part, tensor_tile(memory + step % 2 * BYTES) + 2 * part, F32_RESULT | sizes(128, 64), part);
                commit_products(&halves[i].scored);
            };
            wait(&ring.full[0], 0);
            for (int i = 0; i < 2; i++) {
                wait(&halves[i].start, 0);
                after_sync();
                score(i, 0);
            }
            for (int step = 0; step < steps; step++) {
                if (step + 1 < steps) wait(&ring.full[(step + 1) % 2], (step + 1) / 2 & 1);
                for (int i = 0; i < 2; i++) {
                    Part &h = halves[i];
                    wait(&h.weighed, step & 1);
                    if (step > 0) wait(&h.corrected, (step - 1) & 1);
                    after_sync();
                    for (int part = 0; part < 4; part++)
                        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(base + RESULTS + 64 * i),
                                     "r"(base + WEIGHTS + 32 * i + 8 * part), "l"(tensor_turned(memory + step % 2 * BYTES + TILE, TILE) + 128 * part),
                                     "r"(F32_RESULT | sizes(128, 64) | 1 << 16), "r"(step + part) : "memory");
                    commit_products(&h.added);
                    if (i == 1) commit_products(&ring.empty[step % 2]);
                    if (step + 1 < steps) score(i, step + 1);
                }
            }
        }
        __syncwarp();
    } else if (group == 2) {
        fewer_registers<64>();
        for (int step = 1; step <= steps; step++)
            for (int i = 0; i < 2; i++) {
                Part &h = halves[i];
                wait(&h.told, (step - 1) & 1);
                wait(&h.added, (step - 1) & 1);
                after_sync();
                float times = h.told_of[threadIdx.x % 128];
                int query = blockIdx.x * 256 + 128 * i + threadIdx.x % 128;
                #pragma unroll
                for (int part = 0; part < 64; part += 32) {
                    uint32_t r[32], at = base + lanes + RESULTS + 64 * i + part;
                    load_columns(r, at);
                    loaded();
                    #pragma unroll
                    for (int e = 0; e < 32; e++) r[e] = __float_as_uint(__uint_as_float(r[e]) * times);
                    if (step < steps) {
                        store_columns(at, r);
                    } else if (query < queries) {
                        uint4 *to = (uint4 *)&o[((size_t)blockIdx.y * queries + query) * 64 + part];
                        #pragma unroll
                        for (int p = 0; p < 4; p++) {
                            uint32_t pairs[4];
                            #pragma unroll
                            for (int e = 0; e < 4; e++) {
                                __half2 pair = __floats2half2_rn(__uint_as_float(r[8 * p + 2 * e]), __uint_as_float(r[8 * p + 2 * e + 1]));
                                pairs[e] = *(uint32_t *)&pair;
                            }
                            to[p] = *(uint4 *)pairs;
                        }
                    }
                    __syncwarp();
                }
                stored();
                before_sync();
                __syncwarp();
                if (threadIdx.x % 32 == 0) arrive(&h.corrected);
            }
    } else {
        more_registers<192>();
        Part &h = halves[group];
        float most = -INFINITY, sum = 0;
        auto tell = [&](float value) {
            h.told_of[threadIdx.x % 128] = value;
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive(&h.told);
        };
        for (int step = 0; step < steps; step++) {
            uint32_t r[64], w[32], at = base + lanes + 64 * group;
            wait(&h.scored, step & 1);
            after_sync();
            load_columns(r, at), load_columns(r + 32, at + 32);
            loaded();
            float top = most;
            #pragma unroll
            for (int i = 0; i < 64; i++) {
                float s = step * 64 + i < keys ? __uint_as_float(r[i]) * scale : -INFINITY;
                r[i] = __float_as_uint(s), top = fmaxf(top, s);
            }
            float less = exp2f(most - top);
            most = top, sum *= less;
            if (step > 0) tell(less);
            #pragma unroll
            for (int i = 0; i < 32; i++) {
                float x = exp2f(__uint_as_float(r[2 * i]) - top), y = exp2f(__uint_as_float(r[2 * i + 1]) - top);
                __half2 pair = __floats2half2_rn(x, y);
                sum += x + y, w[i] = *(uint32_t *)&pair;
            }
            store_columns(base + lanes + WEIGHTS + 32 * group, w);
            stored();
            before_sync();
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive(&h.weighed);
        }
        if (steps > 1) wait(&h.corrected, (steps - 2) & 1);  // what was told before has been read
        tell(1 / sum);
    }
    before_sync();
    __syncthreads();
    if (warp == 12) release1<COLUMNS>(base);
}
