// since: 90a
// nvcc: -diag-suppress 1556
// Attention by two warp groups, each with 64 queries of 128 elements: while weights are made of the scores of some keys, the product
// with the values of the keys before goes on. The groups take turns at the tensor cores.
#include "groups.cuh"

#define D64 D32, F8(32), F8(40), F8(48), F8(56)
__device__ inline void add_values(float (&d)[64], const uint32_t (&a)[4], uint64_t b, int more) {  // V is [k][n]
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
                 "{%64,%65,%66,%67}, %68, p, 1, 1, 1; }"
                 : D64 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(more) : "memory");
}
__device__ inline uint64_t described_apart(const void *p, int apart) { return described(p) & ~(0x3fffull << 16) | (uint64_t)(apart / 16) << 16; }

struct Weights {
    float most[2] = {-INFINITY, -INFINITY}, sum[2] = {}, less[2];
    // Scores become weights; what came before weighs `less` of what it did.
    __device__ void make(float (&s)[32], int first, const int (&end)[2], float scale) {
        int lane = threadIdx.x % 32;
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = most[h];
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                float &x = s[i / 2 * 4 + 2 * h + i % 2];
                x = first + i / 2 * 8 + lane % 4 * 2 + i % 2 < end[h] ? x * scale : -INFINITY;
                top = fmaxf(top, x);
            }
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float base = top == -INFINITY ? 0 : top;
            less[h] = exp2f(most[h] - base), most[h] = top, sum[h] *= less[h];
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                float &x = s[i / 2 * 4 + 2 * h + i % 2];
                x = exp2f(x - base), sum[h] += x;
            }
        }
    }
};
__device__ inline void pack(uint32_t (&w)[4][4], const float (&s)[32]) {
    #pragma unroll
    for (int i = 0; i < 16; i++) {
        __half2 pair = __floats2half2_rn(s[2 * i], s[2 * i + 1]);
        w[i / 4][i % 4] = *(uint32_t *)&pair;
    }
}

KERNEL __launch_bounds__(384, 1) group_attention_pair(MAP q, MAP k, MAP v, __half *o, int queries, int keys, float scale, int causal) {
    constexpr int BYTES = 2 * TILE, ORDER = 2;
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ Ring<2> ks, vs;
    __shared__ u64 start[2];
    uint8_t *k_at = memory + 2 * BYTES, *v_at = k_at + 2 * BYTES;
    int group = threadIdx.x / 128, end = causal ? min(keys, (int)blockIdx.x * 128 + 128 + keys - queries) : keys, steps = (end + 63) / 64;
    if (threadIdx.x == 0) init(&start[0], 1), init(&start[1], 1);
    ks.set_up(8), vs.set_up(8);
    __syncthreads();
    if (group == 0) {
        fewer_registers<40>();
        if (threadIdx.x >= 32 || !one_lane()) return;
        for (int i = 0; i < 2; i++) {
            expect(&start[i], BYTES);
            for (int part = 0; part < 2; part++) tensor_load(memory + i * BYTES + part * TILE, q, &start[i], 64 * part, blockIdx.x * 128 + 64 * i, blockIdx.y);
        }
        Turn<2> turn;
        for (int step = 0; step < steps; step++, turn.next()) {
            auto fetch = [&](Ring<2> &ring, uint8_t *to, const Map &map) {
                wait(&ring.empty[turn.stage], turn.phase ^ 1);
                expect(&ring.full[turn.stage], BYTES);
                for (int part = 0; part < 2; part++) tensor_load(to + turn.stage * BYTES + part * TILE, map, &ring.full[turn.stage], 64 * part, step * 64, blockIdx.y);
            };
            fetch(ks, k_at, k), fetch(vs, v_at, v);
        }
        return;
    }
    more_registers<232>();
    int me = group - 1, lane = threadIdx.x % 32, first = blockIdx.x * 128 + 64 * me, query = first + threadIdx.x % 128 / 32 * 16 + lane / 4, ends[2];
    for (int h = 0; h < 2; h++) ends[h] = causal ? min(keys, query + 8 * h + 1 + keys - queries) : keys;
    float s[32], out[64];
    uint32_t w[4][4];
    Weights weights;
    Turn<2> k_turn, v_turn;
    auto scores = [&] {
        fence_group();
        #pragma unroll
        for (int part = 0; part < 8; part++)
            group_f16(s, described(memory + me * BYTES + part / 4 * TILE) + part % 4 * 2, described(k_at + k_turn.stage * BYTES + part / 4 * TILE) + part % 4 * 2, part);
        commit_group();
    };
    auto values = [&](int more) {
        #pragma unroll
        for (int part = 0; part < 4; part++) add_values(out, w[part], described_apart(v_at + v_turn.stage * BYTES, TILE) + 128 * part, more + part);
        commit_group();
    };
    if (me == 1) named_arrive(ORDER, 256);
    wait(&start[me], 0);
    wait(&ks.full[0], 0);
    scores();
    wait_group<0>();
    if (lane == 0) arrive(&ks.empty[0]);
    k_turn.next();
    weights.make(s, 0, ends, scale);
    pack(w, s);
    for (int step = 1; step < steps; step++) {
        wait(&ks.full[k_turn.stage], k_turn.phase);
        named_sync(ORDER + me, 256);
        scores();
        wait(&vs.full[v_turn.stage], v_turn.phase);
        values(step - 1);
        named_arrive(ORDER + (me ^ 1), 256);
        wait_group<1>();
        if (lane == 0) arrive(&ks.empty[k_turn.stage]);
        weights.make(s, step * 64, ends, scale);
        wait_group<0>();
        if (lane == 0) arrive(&vs.empty[v_turn.stage]);
        k_turn.next(), v_turn.next();
        #pragma unroll
        for (int i = 0; i < 64; i++) out[i] *= weights.less[i / 2 % 2];
        pack(w, s);
    }
    if (me == 0) named_sync(ORDER, 256);
    wait(&vs.full[v_turn.stage], v_turn.phase);
    fence_group();
    values(steps - 1);
    wait_group<0>();
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        weights.sum[h] += __shfl_xor_sync(~0u, weights.sum[h], 1);
        weights.sum[h] += __shfl_xor_sync(~0u, weights.sum[h], 2);
        float weight = weights.sum[h] > 0 ? 1 / weights.sum[h] : 0;
        if (query + 8 * h < queries)
            #pragma unroll
            for (int i = 0; i < 16; i++)
                *(__half2 *)&o[((size_t)blockIdx.y * queries + query + 8 * h) * 128 + 8 * i + lane % 4 * 2] =
                    __floats2half2_rn(out[4 * i + 2 * h] * weight, out[4 * i + 2 * h + 1] * weight);
    }
}
