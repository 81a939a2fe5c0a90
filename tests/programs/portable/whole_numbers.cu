// Long numbers by chains of carries, and numbers at random.
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define UNROLL _Pragma("unroll")
#define MAD(op, d, a, b, c) asm volatile(op " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))
#define ADD(op, d, a, b) asm volatile(op " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))

template <int N> __device__ __forceinline__ void product(uint32_t *r, const uint32_t *a, const uint32_t *b) {  // of N words each
    UNROLL for (int k = 0; k < 2 * N; k++) r[k] = 0;
    UNROLL for (int i = 0; i < N; i++) {
        MAD("mad.lo.cc.u32", r[i], a[0], b[i], r[i]);
        UNROLL for (int j = 1; j < N; j++) MAD("madc.lo.cc.u32", r[i + j], a[j], b[i], r[i + j]);
        ADD("addc.u32", r[i + N], r[i + N], 0u);
        MAD("mad.hi.cc.u32", r[i + 1], a[0], b[i], r[i + 1]);
        UNROLL for (int j = 1; j < N - 1; j++) MAD("madc.hi.cc.u32", r[i + j + 1], a[j], b[i], r[i + j + 1]);
        MAD("madc.hi.u32", r[i + N], a[N - 1], b[i], r[i + N]);
    }
}
KERNEL long_product(const uint32_t *a, const uint32_t *b, uint32_t *o) {  // 256 bits by 256
    uint32_t x[8], y[8], r[16];
    UNROLL for (int k = 0; k < 8; k++) x[k] = a[threadIdx.x * 8 + k], y[k] = b[threadIdx.x * 8 + k];
    product<8>(r, x, y);
    UNROLL for (int k = 0; k < 16; k++) o[threadIdx.x * 16 + k] = r[k];
}

template <int N> __device__ __forceinline__ uint32_t take_away(uint32_t *r, const uint32_t *a, const uint32_t *b) {
    uint32_t borrow;
    ADD("sub.cc.u32", r[0], a[0], b[0]);
    UNROLL for (int k = 1; k < N; k++) ADD("subc.cc.u32", r[k], a[k], b[k]);
    ADD("subc.u32", borrow, 0u, 0u);
    return borrow;
}
template <int N> __device__ __forceinline__ void montgomery(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *m, uint32_t inverse) {
    uint32_t t[N + 2];
    UNROLL for (int k = 0; k < N + 2; k++) t[k] = 0;
    UNROLL for (int i = 0; i < N; i++) {
        UNROLL for (int turn = 0; turn < 2; turn++) {
            const uint32_t *x = turn ? m : a;
            uint32_t f = turn ? t[0] * inverse : b[i];
            MAD("mad.lo.cc.u32", t[0], x[0], f, t[0]);
            UNROLL for (int k = 1; k < N; k++) MAD("madc.lo.cc.u32", t[k], x[k], f, t[k]);
            ADD("addc.cc.u32", t[N], t[N], 0u);
            ADD("addc.u32", t[N + 1], t[N + 1], 0u);
            MAD("mad.hi.cc.u32", t[1], x[0], f, t[1]);
            UNROLL for (int k = 1; k < N; k++) MAD("madc.hi.cc.u32", t[k + 1], x[k], f, t[k + 1]);
            ADD("addc.u32", t[N + 1], t[N + 1], 0u);
        }
        UNROLL for (int k = 0; k < N + 1; k++) t[k] = t[k + 1];
        t[N + 1] = 0;
    }
    uint32_t s[N], low = take_away<N>(s, t, m);
    bool less = t[N] == 0 && low;
    UNROLL for (int k = 0; k < N; k++) r[k] = less ? t[k] : s[k];
}
KERNEL modular_power(const uint32_t *bases, const uint32_t *modulus, uint32_t *o, uint32_t exponent, uint32_t inverse) {
    uint32_t x[6], one[6], m[6];  // 192 bits; bases and the one are in Montgomery's form already
    UNROLL for (int k = 0; k < 6; k++) x[k] = bases[threadIdx.x * 6 + k], one[k] = modulus[6 + k], m[k] = modulus[k];
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) montgomery<6>(one, one, x, m, inverse);
        montgomery<6>(x, x, x, m, inverse);
    }
    uint32_t unit[6] = {1};
    montgomery<6>(one, one, unit, m, inverse);
    UNROLL for (int k = 0; k < 6; k++) o[threadIdx.x * 6 + k] = one[k];
}

KERNEL long_division(const uint32_t *a, const uint32_t *b, uint32_t *q, uint32_t *r) {  // 128 bits by 64, bit by bit
    uint32_t n[4], d0 = b[2 * threadIdx.x], d1 = b[2 * threadIdx.x + 1];
    uint64_t rest = 0, d = (uint64_t)d1 << 32 | d0;
    UNROLL for (int k = 0; k < 4; k++) n[k] = a[threadIdx.x * 4 + k];
    for (int bit = 0; bit < 128; bit++) {
        uint32_t top = rest >> 63;
        rest = rest << 1 | n[3] >> 31;
        ADD("add.cc.u32", n[0], n[0], n[0]);
        UNROLL for (int k = 1; k < 3; k++) ADD("addc.cc.u32", n[k], n[k], n[k]);
        ADD("addc.u32", n[3], n[3], n[3]);
        if (top || rest >= d) rest -= d, n[0] |= 1;
    }
    UNROLL for (int k = 0; k < 4; k++) q[threadIdx.x * 4 + k] = n[k];
    r[threadIdx.x * 2] = rest, r[threadIdx.x * 2 + 1] = rest >> 32;
}

KERNEL factorials(uint32_t *o, int words) {  // in memory, word by word
    uint32_t *x = o + threadIdx.x * words;
    x[0] = 1;
    for (int k = 1; k < words; k++) x[k] = 0;
    for (uint32_t n = 2; n <= threadIdx.x + 2; n++) {
        uint32_t carry = 0;
        for (int k = 0; k < words; k++) {
            uint64_t p = (uint64_t)x[k] * n + carry;
            x[k] = p, carry = p >> 32;
        }
    }
}

KERNEL twister(const uint32_t *seeds, uint32_t *o, int n) {  // MT19937; a block has one state in shared memory
    __shared__ uint32_t s[624], fresh[624];
    if (threadIdx.x == 0) {
        s[0] = seeds[blockIdx.x];
        for (int k = 1; k < 624; k++) s[k] = 1812433253u * (s[k - 1] ^ s[k - 1] >> 30) + k;
    }
    for (int at = 0; at < n; at++) {
        if (at % 624 == 0) {
            for (int lap = 0; lap < 3; lap++) {  // those that need no others of this turn, in laps
                __syncthreads();
                for (int k = lap * 227 + threadIdx.x; k < min(624, lap * 227 + 227); k += blockDim.x) {
                    uint32_t y = (s[k] & 0x80000000) | ((k < 623 ? s[k + 1] : fresh[0]) & 0x7fffffff);
                    fresh[k] = (k < 227 ? s[k + 397] : fresh[k - 227]) ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
                }
            }
            __syncthreads();
            for (int k = threadIdx.x; k < 624; k += blockDim.x) s[k] = fresh[k];
            __syncthreads();
        }
        if (threadIdx.x == at % blockDim.x) {
            uint32_t y = s[at % 624];
            y ^= y >> 11, y ^= y << 7 & 0x9d2c5680, y ^= y << 15 & 0xefc60000, y ^= y >> 18;
            o[blockIdx.x * n + at] = y;
        }
    }
}

KERNEL xorshifts(const uint64_t *seeds, uint64_t *o, int n) {  // xorshift64*, splitmix and xoshiro256** one behind the other
    uint64_t a = seeds[threadIdx.x], b = a, s[4];
    for (int k = 0; k < n; k++) a ^= a >> 12, a ^= a << 25, a ^= a >> 27;
    o[threadIdx.x * 2] = a * 0x2545F4914F6CDD1Dull;
    for (int k = 0; k < 4; k++) {
        uint64_t z = b += 0x9E3779B97F4A7C15ull;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull, z = (z ^ z >> 27) * 0x94D049BB133111EBull, s[k] = z ^ z >> 31;
    }
    uint64_t r = 0;
    for (int k = 0; k < n; k++) {
        uint64_t x = s[1] * 5, t = s[1] << 17;
        r = (x << 7 | x >> 57) * 9;
        s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = s[3] << 45 | s[3] >> 19;
    }
    o[threadIdx.x * 2 + 1] = r;
}

KERNEL philox(uint4 *o, uint2 key) {
    uint4 c = {threadIdx.x, 1, 2, 3};
    UNROLL for (int k = 0; k < 10; k++) {
        uint32_t h0 = __umulhi(0xD2511F53, c.x), l0 = 0xD2511F53 * c.x, h1 = __umulhi(0xCD9E8D57, c.z), l1 = 0xCD9E8D57 * c.z;
        c = {h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0};
        key.x += 0x9E3779B9, key.y += 0xBB67AE85;
    }
    o[threadIdx.x] = c;
}

KERNEL primes(const uint64_t *a, int *o) {  // Miller and Rabin; products of 64 by 64 bits in 128
    uint64_t n = a[threadIdx.x], d = n - 1;
    int s = 0, prime = 1;
    while (!(d & 1)) d >>= 1, s++;
    for (int k = 0; k < 3 && prime; k++) {
        uint64_t base = k == 0 ? 2 : k == 1 ? 3 : 5, x = 1, b = base;
        for (uint64_t e = d; e; e >>= 1) {
            if (e & 1) x = (unsigned __int128)x * b % n;
            b = (unsigned __int128)b * b % n;
        }
        if (x == 1 || x == n - 1) continue;
        prime = 0;
        for (int r = 1; r < s && !prime; r++) {
            x = (unsigned __int128)x * x % n;
            prime = x == n - 1;
        }
    }
    o[threadIdx.x] = prime;
}
