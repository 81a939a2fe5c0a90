// targets: sm_80 sm_90a sm_100a
// Atomics and reductions of every type and width that the target has, in global, generic and shared memory.
#include <cstdint>

typedef unsigned long long u64;
typedef unsigned short u16;
__device__ uint32_t sh(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

#define ATOM(SPACE, OP, C, V) \
    asm volatile("atom." SPACE "." OP " %0, [%1], %2;" : "=" C(old) : ADDRESS(cell), C(V) : "memory")

// One cell for each operation; every thread applies its x in turn and keeps what it found.
#define INTEGERS(SPACE, T, C, U, S, B)                                  \
    switch (op) {                                                       \
    case 0: ATOM(SPACE, "add." U, C, x); break;                         \
    case 1: ATOM(SPACE, "min." U, C, x); break;                         \
    case 2: ATOM(SPACE, "max." U, C, x); break;                         \
    case 3: ATOM(SPACE, "min." S, C, x); break;                         \
    case 4: ATOM(SPACE, "max." S, C, x); break;                         \
    case 5: ATOM(SPACE, "and." B, C, x); break;                         \
    case 6: ATOM(SPACE, "or." B, C, x); break;                          \
    case 7: ATOM(SPACE, "xor." B, C, x); break;                         \
    case 8: ATOM(SPACE, "exch." B, C, x); break;                        \
    }

#define ADDRESS(p) "l"(p)
extern "C" __global__ void global32(uint32_t *cells, const uint32_t *xs, uint32_t *olds)
{
    int op = blockIdx.x, i = op * 32 + threadIdx.x;
    uint32_t x = xs[i], old = 0, *cell = cells + op;
    for (int t = 0; t < 32; t++) {
        if (threadIdx.x == t) {
            INTEGERS("global", uint32_t, "r", "u32", "s32", "b32");
            if (op == 9)
                ATOM("global", "inc.u32", "r", x);
            if (op == 10)
                ATOM("global", "dec.u32", "r", x);
            if (op == 11)
                asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(cell), "r"(x & 3), "r"((x >> 2) & 3) : "memory");
        }
        __syncwarp();
    }
    olds[i] = old;
}
extern "C" __global__ void global64(u64 *cells, const u64 *xs, u64 *olds)
{
    int op = blockIdx.x, i = op * 32 + threadIdx.x;
    u64 x = xs[i], old = 0, *cell = cells + op;
    for (int t = 0; t < 32; t++) {
        if (threadIdx.x == t) {
            INTEGERS("global", u64, "l", "u64", "s64", "b64");
            if (op == 11)
                asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(cell), "l"(x & 3), "l"((x >> 2) & 3) : "memory");
        }
        __syncwarp();
    }
    olds[i] = old;
}
#undef ADDRESS
#define ADDRESS(p) "r"(sh(p))
extern "C" __global__ void shared32(uint32_t *cells, const uint32_t *xs, uint32_t *olds)
{
    __shared__ uint32_t memory[16];
    int op = blockIdx.x, i = op * 32 + threadIdx.x;
    uint32_t x = xs[i], old = 0, *cell = memory + op;
    if (threadIdx.x == 0)
        *cell = cells[op];
    __syncthreads();
    for (int t = 0; t < 32; t++) {
        if (threadIdx.x == t) {
            INTEGERS("shared", uint32_t, "r", "u32", "s32", "b32");
            if (op == 9)
                ATOM("shared", "inc.u32", "r", x);
            if (op == 10)
                ATOM("shared", "dec.u32", "r", x);
            if (op == 11)
                asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "r"(sh(cell)), "r"(x & 3), "r"((x >> 2) & 3) : "memory");
        }
        __syncwarp();
    }
    olds[i] = old;
    __syncthreads();
    if (threadIdx.x == 0)
        cells[op] = *cell;
}
extern "C" __global__ void shared64(u64 *cells, const u64 *xs, u64 *olds)
{
    __shared__ u64 memory[16];
    int op = blockIdx.x, i = op * 32 + threadIdx.x;
    u64 x = xs[i], old = 0, *cell = memory + op;
    if (threadIdx.x == 0)
        *cell = cells[op];
    __syncthreads();
    for (int t = 0; t < 32; t++) {
        if (threadIdx.x == t) {
            INTEGERS("shared", u64, "l", "u64", "s64", "b64");
            if (op == 11)
                asm volatile("atom.shared.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "r"(sh(cell)), "l"(x & 3), "l"((x >> 2) & 3) : "memory");
        }
        __syncwarp();
    }
    olds[i] = old;
    __syncthreads();
    if (threadIdx.x == 0)
        cells[op] = *cell;
}

// Floats: cells and operands are words; thread t does its part alone.
extern "C" __global__ void floats(uint32_t *m, const uint32_t *x, uint32_t *olds)
{
    __shared__ float mine;
    uint32_t o[4];
    for (int t = 0; t < 8; t++, x += 16) {
        float f;
        asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(f) : "l"(m), "f"(__uint_as_float(x[0])) : "memory");
        olds[0] = __float_as_uint(f);
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(m + 1), "f"(__uint_as_float(x[1])) : "memory");
        double d;
        asm volatile("atom.global.add.f64 %0, [%1], %2;" : "=d"(d) : "l"(m + 2), "d"(__hiloint2double(x[3], x[2])) : "memory");
        olds[2] = __double2loint(d);
        olds[3] = __double2hiint(d);
        asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(o[0]) : "l"(m + 4), "r"(x[4]) : "memory");
        olds[4] = o[0];
        asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(m + 5), "r"(x[5]) : "memory");
        mine = __uint_as_float(m[6]);
        asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(f) : "r"(sh(&mine)), "f"(__uint_as_float(x[6])) : "memory");
        m[6] = __float_as_uint(mine);
#if __CUDA_ARCH__ >= 900
        asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(o[0]) : "l"(m + 7), "r"(x[7]) : "memory");
        olds[7] = o[0];
        float a, b, c, e;
        asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};" : "=f"(a), "=f"(b) : "l"(m + 8), "f"(__uint_as_float(x[8])), "f"(__uint_as_float(x[9])) : "memory");
        olds[8] = __float_as_uint(a);
        olds[9] = __float_as_uint(b);
        asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                     : "=f"(a), "=f"(b), "=f"(c), "=f"(e)
                     : "l"(m + 12), "f"(__uint_as_float(x[12])), "f"(__uint_as_float(x[13])), "f"(__uint_as_float(x[14])), "f"(__uint_as_float(x[15]))
                     : "memory");
        olds[15] = __float_as_uint(e);
#endif
    }
}

#if __CUDA_ARCH__ >= 900
#define HALVES(NAME, T)                                                                                                              \
    extern "C" __global__ void NAME(uint32_t *m, const uint32_t *x, uint32_t *olds)                                                  \
    {                                                                                                                                \
        uint32_t o[4];                                                                                                               \
        for (int t = 0; t < 8; t++, x += 12) {                                                                                       \
            asm volatile("atom.global.v4." T "x2.add.noftz {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"                                 \
                         : "=r"(o[0]), "=r"(o[1]), "=r"(o[2]), "=r"(o[3]) : "l"(m), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory"); \
            olds[0] = o[0], olds[3] = o[3];                                                                                          \
            asm volatile("atom.global.v2." T "x2.min.noftz {%0, %1}, [%2], {%3, %4};" : "=r"(o[0]), "=r"(o[1]) : "l"(m + 4), "r"(x[4]), "r"(x[5]) : "memory"); \
            olds[4] = o[0], olds[5] = o[1];                                                                                          \
            asm volatile("red.global.v2." T "x2.max.noftz [%0], {%1, %2};" ::"l"(m + 6), "r"(x[6]), "r"(x[7]) : "memory");             \
            asm volatile("red.global.v4." T "x2.max.noftz [%0], {%1, %2, %3, %4};" ::"l"(m + 8), "r"(x[8]), "r"(x[9]), "r"(x[10]), "r"(x[11]) : "memory"); \
        }                                                                                                                            \
    }
HALVES(halves_f16, "f16")
HALVES(halves_bf16, "bf16")

// 128 bits: exchange and compare-and-swap in global and shared memory.
extern "C" __global__ void wide(u64 *m, const u64 *x, u64 *olds)
{
    __shared__ __align__(16) u64 mine[2];
    mine[0] = m[4];
    mine[1] = m[5];
    asm volatile("{ .reg .b128 a, b; mov.b128 a, {%3, %4}; atom.global.exch.b128 b, [%2], a; mov.b128 {%0, %1}, b; }"
                 : "=l"(olds[0]), "=l"(olds[1]) : "l"(m), "l"(x[0]), "l"(x[1]) : "memory");
    for (int i = 0; i < 2; i++) // the second one finds what it expects
        asm volatile("{ .reg .b128 a, b, c; mov.b128 a, {%3, %4}; mov.b128 c, {%5, %6}; atom.global.cas.b128 b, [%2], a, c; mov.b128 {%0, %1}, b; }"
                     : "=l"(olds[2 + 2 * i]), "=l"(olds[3 + 2 * i]) : "l"(m + 2), "l"(x[2 + 2 * i]), "l"(x[3 + 2 * i]), "l"(x[6]), "l"(x[7]) : "memory");
    asm volatile("{ .reg .b128 a, b, c; mov.b128 a, {%3, %4}; mov.b128 c, {%5, %6}; atom.shared.cas.b128 b, [%2], a, c; mov.b128 {%0, %1}, b; }"
                 : "=l"(olds[6]), "=l"(olds[7]) : "r"(sh(mine)), "l"(x[8]), "l"(x[9]), "l"(x[10]), "l"(x[11]) : "memory");
    asm volatile("{ .reg .b128 a, b; mov.b128 a, {%3, %4}; atom.shared.exch.b128 b, [%2], a; mov.b128 {%0, %1}, b; }"
                 : "=l"(olds[8]), "=l"(olds[9]) : "r"(sh(mine)), "l"(x[12]), "l"(x[13]) : "memory");
    m[4] = mine[0];
    m[5] = mine[1];
}
#endif

// Generic addresses: op 0 to 7 in global, shared, local memory and (sm_90 and up) that of a cluster; all of them end up the same.
extern "C" __global__ void generic(u64 *m, const u64 *xs, u64 *out)
{
    __shared__ u64 shared[8];
    u64 local[8];
    for (int i = 0; i < 8; i++)
        shared[i] = local[i] = m[i];
    for (int where = 0; where < 3; where++) {
        u64 *cells = where == 0 ? m : where == 1 ? shared : local;
        asm volatile("" : "+l"(cells)); // the compiler does not know where it points
        for (int t = 0; t < 4; t++) {
            const u64 *x = xs + 8 * t;
            u64 old;
            unsigned low;
            float f;
            double d;
            asm volatile("atom.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(cells), "l"(x[0]) : "memory");
            asm volatile("atom.min.s64 %0, [%1], %2;" : "=l"(old) : "l"(cells + 1), "l"(x[1]) : "memory");
            asm volatile("atom.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(cells + 2), "l"(x[2]) : "memory");
            out[where] += old;
            asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(cells + 3), "l"(x[3]), "l"(x[3] + 1) : "memory");
            asm volatile("atom.add.f32 %0, [%1], %2;" : "=f"(f) : "l"(cells + 4), "f"(__uint_as_float((unsigned)x[4])) : "memory");
            asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(d) : "l"(cells + 5), "d"(__longlong_as_double(x[5])) : "memory");
            asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(low) : "l"(cells + 6), "r"((unsigned)x[6]) : "memory");
            asm volatile("atom.xor.b32 %0, [%1], %2;" : "=r"(low) : "l"(cells + 7), "r"((unsigned)x[7]) : "memory");
            out[where] += low;
        }
    }
    for (int i = 0; i < 8; i++) {
        out[8 + i] = shared[i];
        out[16 + i] = local[i];
    }
}
