// Whole numbers: wide and narrow arithmetic, division, bit tricks, byte-wise and dynamic-programming intrinsics.
// levels: O0 O1 G
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned __int128 u128;
typedef __int128 s128;

KERNEL int_mix(const int *a, const int *b, int *o) {
    int i = THREAD, x = a[i], y = b[i], *p = o + i * 12;
    p[0] = x + y * 3 - (x >> 5);
    p[1] = min(x, y) ^ max(x, -y);
    p[2] = abs(x) + __sad(x, y, 17u);
    p[3] = __mulhi(x, y);
    p[4] = __umulhi(x, y);
    p[5] = __mul24(x, y) + __umul24(x, y);
    p[6] = __hadd(x, y) ^ __rhadd(x, y) ^ (int)__uhadd(x, y) ^ (int)__urhadd(x, y);
    p[7] = (x & y) | (~x & 0x55aa55aa) ^ (y << (x & 31));
    p[8] = (x < y) + 2 * (x <= y) + 4 * ((unsigned)x < (unsigned)y) + 8 * (x == y) + 16 * (x != 0 && y > 7);
    p[9] = (unsigned)x >> (y & 31) | x >> (y & 15);
    p[10] = x * y + y * 77 + (x ^ y) * x;
    p[11] = x > 0 ? y * 5 : x < -1000000 ? y - x : ~y;
}

KERNEL bit_tricks(const unsigned *a, unsigned *o) {
    int i = THREAD;
    unsigned x = a[i], *p = o + i * 10;
    unsigned long long w = (unsigned long long)x << 32 | a[i ^ 1];
    p[0] = __popc(x) | __popcll(w) << 8 | __clz(x) << 16 | __clzll(w) << 24;
    p[1] = __ffs(x) | __ffsll(w) << 8;
    p[2] = __brev(x);
    p[3] = (unsigned)(__brevll(w) >> 7);
    p[4] = __byte_perm(x, a[i ^ 1], x & 0x7777);
    p[5] = __funnelshift_l(x, a[i ^ 1], i) ^ __funnelshift_rc(x, a[i ^ 1], i + 20);
    p[6] = __funnelshift_r(x, a[i ^ 1], i) + __funnelshift_lc(x, a[i ^ 1], i + 20);
    unsigned m = 0;  // Morton code of two 16-bit numbers
    for (int k = 0; k < 16; k++) m |= (x >> k & 1) << 2 * k | (x >> (k + 16) & 1) << (2 * k + 1);
    p[7] = m;
    unsigned field, inserted;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "r"(i & 31), "r"(i % 37));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(inserted) : "r"(x), "r"(a[i ^ 1]), "r"(i & 31), "r"(i % 37));
    p[8] = field ^ inserted;
    int high;
    asm("bfind.s32 %0, %1;" : "=r"(high) : "r"(x));
    p[9] = high ^ (x ^ x >> 1);
}

KERNEL divisions(const long long *a, const long long *b, long long *o, int constant) {
    int i = THREAD;
    long long x = a[i], y = b[i];
    int s = (int)x, t = (int)y | 1;
    unsigned u = (unsigned)x, v = (unsigned)y | 1;
    long long *p = o + i * 10;
    y |= 1;
    p[0] = x / y, p[1] = x % y;
    p[2] = (unsigned long long)x / (unsigned long long)y;
    p[3] = (unsigned long long)x % (unsigned long long)(unsigned)y;
    p[4] = s / t, p[5] = s % t, p[6] = u / v, p[7] = u % v;
    p[8] = s / 7 + u % 1000u + x / 1000003 + x % 10;
    p[9] = s / constant + (short)s / (short)t * 3 + (unsigned char)u % (unsigned char)v;
}

KERNEL int128(const unsigned long long *a, unsigned long long *o) {
    int i = THREAD;
    u128 x = (u128)a[4 * i] << 64 | a[4 * i + 1], y = (u128)a[4 * i + 2] << 64 | a[4 * i + 3];
    unsigned long long *p = o + i * 16;
    u128 r[8] = {x + y, x - y, x * y, x / (y | 1), x % (y | 1), (u128)((s128)x >> (i & 127)), x << (y & 127),
                 (u128)((s128)x / (s128)(y >> 70 | 1))};
    for (int k = 0; k < 8; k++) p[2 * k] = (unsigned long long)(r[k] >> 64), p[2 * k + 1] = (unsigned long long)r[k];
}

KERNEL dot_products(const int *a, const int *b, int *o) {
    int i = THREAD, x = a[i], y = b[i], *p = o + i * 8;
    p[0] = __dp4a(x, y, 100);
    p[1] = __dp4a((unsigned)x, (unsigned)y, 7u);
    p[2] = __dp2a_lo(x, y, i);
    p[3] = __dp2a_hi(x, y, -i);
    p[4] = __dp2a_lo((unsigned)x, (unsigned)y, 3u);
    p[5] = __dp2a_hi((unsigned)x, (unsigned)y, 4u);
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(p[6]) : "r"(x), "r"(y), "r"(i));
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(p[7]) : "r"(x), "r"(y), "r"(i));
}

KERNEL dynamic_programming(const int *a, const int *b, const int *c, int *o) {  // the DPX intrinsics
    int i = THREAD, x = a[i], y = b[i], z = c[i], *p = o + i * 14;
    bool first, second;
    p[0] = __viaddmax_s32(x, y, z), p[1] = __viaddmin_u32(x, y, z), p[2] = __viaddmax_s32_relu(x, y, z);
    p[3] = __vimax3_s32(x, y, z), p[4] = __vimin3_u32(x, y, z), p[5] = __vimax3_s32_relu(x, y, z);
    p[6] = __vibmax_s32(x, y, &first) * 2 + first, p[7] = __vimax_s32_relu(x, y);
    p[8] = __viaddmax_s16x2(x, y, z), p[9] = __vimin3_s16x2(x, y, z), p[10] = __vimax3_u16x2(x, y, z);
    p[11] = __viaddmin_s16x2_relu(x, y, z);
    p[12] = __vibmin_u16x2(x, y, &first, &second);
    p[13] = first + 2 * second;
}

KERNEL byte_wise(const unsigned *a, const unsigned *b, unsigned *o) {
    int i = THREAD;
    unsigned x = a[i], y = b[i], *p = o + i * 12;
    p[0] = __vadd4(x, y), p[1] = __vsub4(x, y), p[2] = __vaddss4(x, y), p[3] = __vaddus4(x, y);
    p[4] = __vabsdiffu4(x, y), p[5] = __vmaxs4(x, y), p[6] = __vminu4(x, y), p[7] = __vavgu4(x, y);
    p[8] = __vcmpgtu4(x, y), p[9] = __vadd2(x, y), p[10] = __vsads4(x, y), p[11] = __vabs2(x);
}

KERNEL number_theory(const unsigned *a, unsigned *o) {
    int i = THREAD;
    unsigned x = a[i], y = a[i ^ 1] | 1, *p = o + i * 5;
    unsigned g = x, h = y;
    while (h) { unsigned r = g % h; g = h; h = r; }
    p[0] = g;
    unsigned long long base = x % 1000000007u, power = 1;
    for (unsigned e = y; e; e >>= 1) {
        if (e & 1) power = power * base % 1000000007u;
        base = base * base % 1000000007u;
    }
    p[1] = (unsigned)power;
    unsigned root = 0;
    for (int k = 15; k >= 0; k--) { unsigned t = root | 1u << k; if (t * t <= x) root = t; }
    p[2] = root;
    unsigned steps = 0;
    for (unsigned long long n = x & 0xffff | 1; n != 1; n = n & 1 ? 3 * n + 1 : n >> 1) steps++;
    p[3] = steps;
    unsigned inverse = y;  // modulo 2^32, Newton's method
    for (int k = 0; k < 5; k++) inverse *= 2 - y * inverse;
    p[4] = inverse;
}

KERNEL wide_numbers(const unsigned *a, const unsigned *b, unsigned *o) {  // 256-bit sums and products with carries
    int i = THREAD;
    const unsigned *x = a + i * 8, *y = b + i * 8;
    unsigned *s = o + i * 24, *product = s + 8;
    asm("add.cc.u32 %0, %8, %16;\n addc.cc.u32 %1, %9, %17;\n addc.cc.u32 %2, %10, %18;\n addc.cc.u32 %3, %11, %19;\n"
        "addc.cc.u32 %4, %12, %20;\n addc.cc.u32 %5, %13, %21;\n addc.cc.u32 %6, %14, %22;\n addc.u32 %7, %15, %23;"
        : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]), "=r"(s[4]), "=r"(s[5]), "=r"(s[6]), "=r"(s[7])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]),
          "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    unsigned r[16] = {};
    #pragma unroll
    for (int j = 0; j < 8; j++) {
        unsigned long long c = 0;
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            c += (unsigned long long)x[j] * y[k] + r[j + k];
            r[j + k] = (unsigned)c;
            c >>= 32;
        }
        r[j + 8] = (unsigned)c;
    }
    for (int k = 0; k < 16; k++) product[k] = r[k];
}

KERNEL sieve(unsigned *primes, int limit) {
    extern __shared__ unsigned char composite[];
    for (int n = threadIdx.x; n < limit; n += blockDim.x) composite[n] = n < 2;
    __syncthreads();
    for (int d = 2; d * d < limit; d++) {
        if (!composite[d]) for (int n = d * d + d * threadIdx.x; n < limit; n += d * blockDim.x) composite[n] = 1;
        __syncthreads();
    }
    for (int n = threadIdx.x; n < limit; n += blockDim.x) primes[n] = !composite[n];
}

KERNEL narrow(const signed char *a, const unsigned short *b, signed char *c, unsigned short *d, short *e) {
    int i = THREAD;
    signed char x = a[i];
    unsigned short y = b[i];
    c[i] = (signed char)(x * 3 + (y >> 4));
    d[i] = (unsigned short)(y * y + x) >> 1;
    e[i] = (short)(x << 8 | (y & 255)) % (short)(x | 1);
}
