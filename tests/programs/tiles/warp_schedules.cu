// since: 80
// Products of matrices whose work is parted otherwise than by tiles of the result: along k, evenly, or over many problems.
#include "tiles.cuh"
#define TILED KERNEL __launch_bounds__(128)
__device__ int acquired(const int *at) {
    int v;
    asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}
__device__ void released(int *at, int v) { asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(at), "r"(v) : "memory"); }
__device__ void wait_for(int *at, int v) {
    if (threadIdx.x == 0) while (acquired(at) != v) {}
    __syncthreads();
}
__device__ void signal(int *at, int v) {
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) released(at, v);
}

// Parts of k one after another: a block waits for its turn at the tile, adds to what is there, and lets the next one have it.
TILED split_in_turn(const void *a, int lda, const void *b, int ldb, float *c, int *turns, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<F16, 3> p(memory, {a, lda}, {b, ldb}, m, n, k);
    int steps = p.steps(), part = blockIdx.z, parts = gridDim.z, *turn = turns + blockIdx.y * gridDim.x + blockIdx.x;
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, steps * part / parts, steps * (part + 1) / parts);
    wait_for(turn, part);
    p.each([&](int r, int col, float *d) {
        r += p.row, col += p.column;
        for (int e = 0; e < 2; e++) if (r < m && col + e < n) c[r * n + col + e] = d[e] + (part ? __ldcg(&c[r * n + col + e]) : 0);
    });
    signal(turn, part + 1 == parts ? 0 : part + 1);
}

// Parts of k at the same time: all add to the result by atomics, the last one of a tile takes its root and makes it 16 bits.
TILED split_atomic(const void *a, int lda, const void *b, int ldb, float *sums, int *tickets, __half *c, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    __shared__ int ticket;
    Products<F16, 3> p(memory, {a, lda}, {b, ldb}, m, n, k);
    int steps = p.steps(), part = blockIdx.z, parts = gridDim.z;
    p.clear();
    p.run(blockIdx.y * 64, blockIdx.x * 64, steps * part / parts, steps * (part + 1) / parts);
    p.each([&](int r, int col, float *d) {
        r += p.row, col += p.column;
        for (int e = 0; e < 2; e++) if (r < m && col + e < n) atomicAdd(&sums[r * n + col + e], d[e]);
    });
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicInc((unsigned *)&tickets[blockIdx.y * gridDim.x + blockIdx.x], parts - 1);
    __syncthreads();
    if (ticket != parts - 1) return;
    __threadfence();
    for (int i = threadIdx.x; i < 64 * 64; i += 128) {
        int r = p.row + i / 64, col = p.column + i % 64;
        if (r < m && col < n) c[r * n + col] = __float2half(sqrtf(fabsf(__ldcg(&sums[r * n + col]))));
    }
}

// Stream-K: the steps of all tiles are one line, of which each block has an equal part. Who begins a tile stores it, after others who
// have parts of it have left theirs in `partial` and raised a flag.
TILED stream_k(const void *a, int lda, const void *b, int ldb, float *c, float *partial, int *flags, int m, int n, int k) {
    extern __shared__ __align__(128) char memory[];
    Products<F16, 4> p(memory, {a, lda}, {b, ldb}, m, n, k);
    int steps = p.steps(), wide = (n + 63) / 64, all = wide * ((m + 63) / 64) * steps, blocks = gridDim.x, me = blocks - 1 - blockIdx.x;
    int share = (all + blocks - 1) / blocks, end = min(all, (me + 1) * share);
    for (int at = me * share; at < end;) {
        int tile = at / steps, first = at - tile * steps, last = min(steps, end - tile * steps);
        p.clear();
        p.run(tile / wide * 64, tile % wide * 64, first, last);
        at += last - first;
        if (first > 0) {  // another block has the beginning
            float *to = partial + me * 4096 + threadIdx.x;
            #pragma unroll
            for (int i = 0; i < 32; i++) to[i * 128] = (&p.d[0][0][0])[i];
            signal(&flags[me], 1);
            continue;
        }
        for (int other = me + 1, got = last; got < steps; other++) {
            wait_for(&flags[other], 1);
            const float *from = partial + other * 4096 + threadIdx.x;
            #pragma unroll
            for (int i = 0; i < 32; i++) (&p.d[0][0][0])[i] += __ldcg(&from[i * 128]);
            got += min(share, steps - got);
        }
        p.each([&](int r, int col, float *d) { store_pair(c, n, m, n, p.row + r, p.column + col, d[0], d[1]); });
    }
}

// Problems of any sizes, their tiles one after another; blocks go on through all of them.
struct Problem {
    int m, n, k, lda, ldb, ldc;  // lda, ldb: bytes
    long long a, b, c;           // where in `operands` (bytes) and `results` they begin
};
TILED grouped(const Problem *problems, int count, const char *operands, float *results) {
    extern __shared__ __align__(128) char memory[];
    int before = 0, which = 0;
    for (int tile = blockIdx.x;; tile += gridDim.x) {
        int wide = 0, tiles = 0;
        for (; which < count; which++, before += tiles) {
            wide = (problems[which].n + 63) / 64, tiles = wide * ((problems[which].m + 63) / 64);
            if (tile < before + tiles) break;
        }
        if (which == count) break;
        Problem q = problems[which];
        int here = tile - before;
        Products<Bf16, 3, false, true> p(memory, {operands + q.a, q.lda}, {operands + q.b, q.ldb}, q.m, q.n, q.k);
        p.clear();
        p.run(here / wide * 64, here % wide * 64, 0, p.steps());
        p.each([&](int r, int col, float *d) { store_pair(results + q.c, q.ldc, q.m, q.n, p.row + r, p.column + col, d[0], d[1]); });
    }
}
