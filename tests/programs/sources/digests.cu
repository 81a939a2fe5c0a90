// Digests, ciphers and generators of random numbers, a message or a stream a thread.
#include <stdint.h>
#define KERNEL extern "C" __global__ void
typedef uint32_t u32;
typedef uint64_t u64;
__device__ inline u32 left(u32 x, int n) { return x << n | x >> (32 - n); }
__device__ inline u64 left(u64 x, int n) { return x << n | x >> (64 - n); }
__device__ inline u64 right(u64 x, int n) { return x >> n | x << (64 - n); }

// One block of 64 bytes, padded by the host.
__constant__ u32 SINES[64];
__constant__ uint8_t TURNS[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
KERNEL md5(const u32 *blocks, u32 *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 s[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, a = s[0], b = s[1], c = s[2], d = s[3];
    for (int i = 0; i < 64; i++) {
        int round = i / 16, g = round == 0 ? i : round == 1 ? (5 * i + 1) & 15 : round == 2 ? (3 * i + 5) & 15 : 7 * i & 15;
        u32 f = round == 0 ? (b & c) | (~b & d) : round == 1 ? (d & b) | (~d & c) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
        u32 v = a + f + SINES[i] + blocks[16 * t + g];
        a = d, d = c, c = b, b += left(v, TURNS[round * 4 + i % 4]);
    }
    out[4 * t] = s[0] + a, out[4 * t + 1] = s[1] + b, out[4 * t + 2] = s[2] + c, out[4 * t + 3] = s[3] + d;
}

KERNEL sha1(const u32 *blocks, u32 *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 w[80], h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (int i = 0; i < 16; i++) w[i] = __byte_perm(blocks[16 * t + i], 0, 0x0123);
    for (int i = 16; i < 80; i++) w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 80; i++) {
        u32 f, k;
        if (i < 20) f = (b & c) | (~b & d), k = 0x5a827999;
        else if (i < 40) f = b ^ c ^ d, k = 0x6ed9eba1;
        else if (i < 60) f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        else f = b ^ c ^ d, k = 0xca62c1d6;
        u32 v = left(a, 5) + f + e + k + w[i];
        e = d, d = c, c = left(b, 30), b = a, a = v;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
    for (int i = 0; i < 5; i++) out[5 * t + i] = __byte_perm(h[i], 0, 0x0123);
}

// The sponge of SHA-3: 25 words a thread.
__constant__ u64 ROUNDS[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
    0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
KERNEL sha3(const u64 *blocks, u64 *out) {  // one block of 136 bytes gives a digest of 32
    int t = threadIdx.x;
    u64 a[25] = {}, b[25], c[5];
    for (int i = 0; i < 17; i++) a[i] = blocks[17 * t + i];
    for (int round = 0; round < 24; round++) {
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ left(c[(i + 1) % 5], 1);
        int x = 1, y = 0;
        b[0] = a[0];
        for (int k = 0; k < 24; k++) {
            int turn = (k + 1) * (k + 2) / 2 % 64, next = (2 * x + 3 * y) % 5;
            b[y + 5 * next] = turn ? left(a[x + 5 * y], turn) : a[x + 5 * y];
            x = y, y = next;
        }
        for (int i = 0; i < 25; i++) a[i] = b[i] ^ (~b[i / 5 * 5 + (i + 1) % 5] & b[i / 5 * 5 + (i + 2) % 5]);
        a[0] ^= ROUNDS[round];
    }
    for (int i = 0; i < 4; i++) out[4 * t + i] = a[i];
}

KERNEL siphash(const u64 *messages, const u64 *key, u64 *out, int words) {
    int t = threadIdx.x;
    u64 v0 = key[0] ^ 0x736f6d6570736575, v1 = key[1] ^ 0x646f72616e646f6d, v2 = key[0] ^ 0x6c7967656e657261, v3 = key[1] ^ 0x7465646279746573;
    auto step = [&](int n) {
        for (int i = 0; i < n; i++) {
            v0 += v1, v1 = left(v1, 13) ^ v0, v0 = left(v0, 32), v2 += v3, v3 = left(v3, 16) ^ v2;
            v0 += v3, v3 = left(v3, 21) ^ v0, v2 += v1, v1 = left(v1, 17) ^ v2, v2 = left(v2, 32);
        }
    };
    for (int i = 0; i <= words; i++) {
        u64 m = i < words ? messages[t * words + i] : (u64)(8 * words) << 56;
        v3 ^= m, step(2), v0 ^= m;
    }
    v2 ^= 0xff, step(4);
    out[t] = v0 ^ v1 ^ v2 ^ v3;
}

KERNEL small_hashes(const uint8_t *data, u32 *fnv, u32 *adler, u32 *murmur, u32 *jenkins, int length) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = data + t * length;
    u32 f = 2166136261u, a = 1, b = 0, j = 0, m = 42;
    for (int i = 0; i < length; i++) {
        f = (f ^ p[i]) * 16777619u;
        a = (a + p[i]) % 65521, b = (b + a) % 65521;
        j += p[i], j += j << 10, j ^= j >> 6;
    }
    for (int i = 0; i + 4 <= length; i += 4) {
        u32 k = p[i] | p[i + 1] << 8 | p[i + 2] << 16 | (u32)p[i + 3] << 24;
        m = left(m ^ left(k * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u;
    }
    m ^= length, m = (m ^ m >> 16) * 0x85ebca6bu, m = (m ^ m >> 13) * 0xc2b2ae35u;
    j += j << 3, j ^= j >> 11, j += j << 15;
    fnv[t] = f, adler[t] = b << 16 | a, jenkins[t] = j, murmur[t] = m ^ m >> 16;
}

// A block of 16 bytes a thread; the box is made by the host, columns are multiplied by hand.
__device__ inline uint8_t twice(uint8_t x) { return x << 1 ^ (x & 0x80 ? 0x1b : 0); }
KERNEL aes(const uint8_t *in, const uint8_t *keys, const uint8_t *box, uint8_t *out) {
    __shared__ uint8_t sbox[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) sbox[i] = box[i];
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint8_t s[16], r[16];
    for (int i = 0; i < 16; i++) s[i] = in[16 * t + i] ^ keys[i];
    for (int round = 1; round <= 10; round++) {
        for (int i = 0; i < 16; i++) r[i] = sbox[s[(i + i % 4 * 4) % 16]];
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < 4; k++) {
                uint8_t *v = r + 4 * c;
                s[4 * c + k] = round == 10 ? v[k] : twice(v[k]) ^ twice(v[(k + 1) % 4]) ^ v[(k + 1) % 4] ^ v[(k + 2) % 4] ^ v[(k + 3) % 4];
            }
        for (int i = 0; i < 16; i++) s[i] ^= keys[16 * round + i];
    }
    for (int i = 0; i < 16; i++) out[16 * t + i] = s[i];
}

KERNEL xtea(const u32 *in, const u32 *key, u32 *out, u32 *back) {
    int t = threadIdx.x;
    u32 a = in[2 * t], b = in[2 * t + 1], sum = 0;
    for (int i = 0; i < 32; i++) {
        a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9u;
        b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
    }
    out[2 * t] = a, out[2 * t + 1] = b;
    for (int i = 0; i < 32; i++) {
        b -= ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
        sum -= 0x9e3779b9u;
        a -= ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
    }
    back[2 * t] = a, back[2 * t + 1] = b;
}

// A permutation of 256 bytes in local memory.
KERNEL rc4(const uint8_t *keys, uint8_t *out, int size, int count) {
    uint8_t s[256], t = threadIdx.x, j = 0;
    for (int i = 0; i < 256; i++) s[i] = i;
    for (int i = 0; i < 256; i++) {
        j += s[i] + keys[t * size + i % size];
        uint8_t x = s[i];
        s[i] = s[j], s[j] = x;
    }
    j = 0;
    for (int k = 0; k < count; k++) {
        uint8_t i = k + 1, x = s[i];
        j += x, s[i] = s[j], s[j] = x;
        out[t * count + k] = s[(uint8_t)(s[i] + x)];
    }
}

// Products of polynomials over GF(2) modulo that of GHASH, bit by bit, 128 bits a thread.
KERNEL ghash(const u64 *a, const u64 *b, u64 *out) {
    int t = threadIdx.x;
    u64 zh = 0, zl = 0, vh = b[2 * t], vl = b[2 * t + 1];
    for (int i = 0; i < 128; i++) {
        u64 bit = i < 64 ? a[2 * t] >> (63 - i) & 1 : a[2 * t + 1] >> (127 - i) & 1;
        if (bit) zh ^= vh, zl ^= vl;
        u64 low = vl & 1;
        vl = vl >> 1 | vh << 63, vh = vh >> 1 ^ (low ? 0xe100000000000000 : 0);
    }
    out[2 * t] = zh, out[2 * t + 1] = zl;
}

// Powers modulo an odd number of 256 bits, in Montgomery's form.
struct Wide { u32 w[8]; };
__device__ Wide product(const Wide &a, const Wide &b, const Wide &n, u32 inverse) {
    u32 t[10] = {};
    for (int i = 0; i < 8; i++) {
        u64 carry = 0;
        for (int j = 0; j < 8; j++) carry += (u64)a.w[j] * b.w[i] + t[j], t[j] = carry, carry >>= 32;
        carry += t[8], t[8] = carry, t[9] = carry >> 32;
        u32 m = t[0] * inverse;
        carry = ((u64)m * n.w[0] + t[0]) >> 32;
        for (int j = 1; j < 8; j++) carry += (u64)m * n.w[j] + t[j], t[j - 1] = carry, carry >>= 32;
        carry += t[8], t[7] = carry, t[8] = t[9] + (carry >> 32);
    }
    Wide less, out;
    int64_t borrow = 0;
    for (int j = 0; j < 8; j++) borrow += (int64_t)t[j] - n.w[j], less.w[j] = borrow, borrow >>= 32;
    bool keep = borrow + t[8] < 0;
    for (int j = 0; j < 8; j++) out.w[j] = keep ? t[j] : less.w[j];
    return out;
}
KERNEL wide_powers(const Wide *bases, const u32 *exponents, const Wide *modulus, const Wide *square, u32 inverse, Wide *out) {
    int t = threadIdx.x;
    Wide n = *modulus, one = {{1}}, x = product(bases[t], *square, n, inverse), y = product(one, *square, n, inverse);
    for (int i = 31; i >= 0; i--) {
        y = product(y, y, n, inverse);
        if (exponents[t] >> i & 1) y = product(y, x, n, inverse);
    }
    out[t] = product(y, one, n, inverse);
}

// The generator of Matsumoto and Nishimura, its state in shared memory, a block a stream.
KERNEL mersenne(const u32 *seeds, u32 *out, int count) {
    __shared__ u32 s[624];
    int t = threadIdx.x;
    if (t == 0) {
        s[0] = seeds[blockIdx.x];
        for (int i = 1; i < 624; i++) s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
    }
    __syncthreads();
    for (int part = 0; part < 3; part++) {
        int i = part * 227 + t;
        u32 v = 0;
        bool live = t < 227 && i < 624;
        if (live) {
            u32 y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
            v = s[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        __syncthreads();
        if (live) s[i] = v;
        __syncthreads();
    }
    for (int i = t; i < count; i += blockDim.x) {
        u32 y = s[i];
        y ^= y >> 11, y ^= y << 7 & 0x9d2c5680u, y ^= y << 15 & 0xefc60000u;
        out[blockIdx.x * count + i] = y ^ y >> 18;
    }
}

KERNEL generators(const u64 *seeds, u32 *pcg, u64 *star, u64 *plus, int count) {
    int t = threadIdx.x;
    u64 z = seeds[t], state = z, s[4];
    for (int i = 0; i < 4; i++) {
        u64 x = z += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9, x = (x ^ x >> 27) * 0x94d049bb133111eb, s[i] = x ^ x >> 31;
    }
    u64 a = s[0], b = s[1];
    for (int k = 0; k < count; k++) {
        u32 x = ((state >> 18) ^ state) >> 27, turn = state >> 59;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        pcg[t * count + k] = x >> turn | x << (-turn & 31);
        star[t * count + k] = left(s[1] * 5, 7) * 9;
        u64 kept = s[1] << 17;
        s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= kept, s[3] = left(s[3], 45);
        plus[t * count + k] = a + b;
        u64 p = a, q = b;
        a = q, p ^= p << 23, b = p ^ q ^ p >> 17 ^ q >> 26;
    }
}

// Points of a quarter circle by a counter-based generator; counts of a warp, a block, a grid.
KERNEL circle_points(unsigned *inside, int each) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
    for (int k = 0; k < each; k++) {
        u32 x = t * each + k;
        x = (x ^ 61) ^ x >> 16, x *= 9, x ^= x >> 4, x *= 0x27d4eb2du, x ^= x >> 15;
        u32 a = x & 0xffff, b = x >> 16;
        mine += (u64)a * a + (u64)b * b < 1ull << 32;
    }
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, mine);
}

// Shuffles by Fisher and Yates, a permutation a thread in shared memory.
KERNEL permutations(const u32 *seeds, uint8_t *out, int n) {
    extern __shared__ uint8_t cards[];
    uint8_t *mine = cards + threadIdx.x * n;
    u32 x = seeds[threadIdx.x];
    for (int i = 0; i < n; i++) mine[i] = i;
    for (int i = n - 1; i > 0; i--) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        int j = __umulhi(x, i + 1);
        uint8_t c = mine[i];
        mine[i] = mine[j], mine[j] = c;
    }
    for (int i = 0; i < n; i++) out[threadIdx.x * n + i] = mine[i];
}
