// Digests and ciphers, their rounds unrolled.
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define INLINE __device__ __forceinline__
INLINE uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }
INLINE uint32_t rotl(uint32_t x, int n) { return x << n | x >> (32 - n); }
INLINE uint64_t rotr(uint64_t x, int n) { return x >> n | x << (64 - n); }
INLINE uint64_t rotl(uint64_t x, int n) { return x << n | x >> (64 - n); }

__constant__ uint32_t K256[64];
KERNEL sha256(const uint32_t *blocks, uint32_t *o, int n) {  // words as the machine has them; the last blocks are padded
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    blocks += threadIdx.x * 16 * n;
    for (; n; n--, blocks += 16) {
        uint32_t w[16], s[8];
#pragma unroll
        for (int k = 0; k < 16; k++) w[k] = __byte_perm(blocks[k], 0, 0x0123);
#pragma unroll
        for (int k = 0; k < 8; k++) s[k] = h[k];
#pragma unroll
        for (int k = 0; k < 64; k++) {
            if (k >= 16) {
                uint32_t a = w[(k + 1) & 15], b = w[(k + 14) & 15];
                w[k & 15] += w[(k + 9) & 15] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
            }
            uint32_t e = s[4], a = s[0];
            uint32_t t = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + K256[k] + w[k & 15];
            uint32_t u = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
#pragma unroll
            for (int j = 7; j > 0; j--) s[j] = s[j - 1];
            s[4] += t, s[0] = t + u;
        }
#pragma unroll
        for (int k = 0; k < 8; k++) h[k] += s[k];
    }
#pragma unroll
    for (int k = 0; k < 8; k++) o[threadIdx.x * 8 + k] = __byte_perm(h[k], 0, 0x0123);
}

__constant__ uint64_t K512[80];
KERNEL sha512(const uint8_t *blocks, uint64_t *o) {  // one block
    const uint64_t first[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                               0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    uint64_t w[16], s[8];
#pragma unroll
    for (int k = 0; k < 16; k++) {
        uint2 v = ((const uint2 *)blocks)[threadIdx.x * 16 + k];
        w[k] = (uint64_t)__byte_perm(v.x, 0, 0x0123) << 32 | __byte_perm(v.y, 0, 0x0123);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) s[k] = first[k];
#pragma unroll 1
    for (int turn = 0; turn < 80; turn += 16)
#pragma unroll
        for (int k = 0; k < 16; k++) {
            if (turn) {
                uint64_t a = w[(k + 1) & 15], b = w[(k + 14) & 15];
                w[k & 15] += w[(k + 9) & 15] + (rotr(a, 1) ^ rotr(a, 8) ^ a >> 7) + (rotr(b, 19) ^ rotr(b, 61) ^ b >> 6);
            }
            uint64_t e = s[4], a = s[0];
            uint64_t t = s[7] + (rotr(e, 14) ^ rotr(e, 18) ^ rotr(e, 41)) + ((e & s[5]) ^ (~e & s[6])) + K512[turn + k] + w[k & 15];
            uint64_t u = (rotr(a, 28) ^ rotr(a, 34) ^ rotr(a, 39)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
#pragma unroll
            for (int j = 7; j > 0; j--) s[j] = s[j - 1];
            s[4] += t, s[0] = t + u;
        }
#pragma unroll
    for (int k = 0; k < 8; k++) o[threadIdx.x * 8 + k] = first[k] + s[k];
}

#define QUARTER(a, b, c, d)                                                                                                    \
    a += b, d = rotl(d ^ a, 16), c += d, b = rotl(b ^ c, 12), a += b, d = rotl(d ^ a, 8), c += d, b = rotl(b ^ c, 7)
KERNEL chacha20(const uint32_t *key, const uint32_t *nonce, const uint32_t *text, uint32_t *o, uint32_t counter) {
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
#pragma unroll
    for (int k = 0; k < 8; k++) in[4 + k] = key[k];
    in[12] = counter + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 3; k++) in[13 + k] = nonce[k];
#pragma unroll
    for (int k = 0; k < 16; k++) x[k] = in[k];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        QUARTER(x[0], x[4], x[8], x[12]); QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]); QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]); QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]); QUARTER(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (int k = 0; k < 16; k++) o[threadIdx.x * 16 + k] = text[threadIdx.x * 16 + k] ^ (x[k] + in[k]);
}

#define SIPROUND                                                                                                               \
    a += b, b = rotl(b, 13) ^ a, a = rotl(a, 32), c += d, d = rotl(d, 16) ^ c, a += d, d = rotl(d, 21) ^ a, c += b,            \
        b = rotl(b, 17) ^ c, c = rotl(c, 32)
KERNEL siphash_keyed(const uint64_t *key, const uint8_t *text, const int *lengths, uint64_t *o, int room) {
    int t = threadIdx.x, n = lengths[t];
    text += t * room;
    uint64_t a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d, c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
    for (int at = 0; at <= n; at += 8) {
        uint64_t m = at + 8 > n ? (uint64_t)n << 56 : 0;
        for (int k = 0; k < 8 && at + k < n; k++) m |= (uint64_t)text[at + k] << 8 * k;
        d ^= m;
        SIPROUND; SIPROUND;
        a ^= m;
    }
    c ^= 255;
    SIPROUND; SIPROUND; SIPROUND; SIPROUND;
    o[t] = a ^ b ^ c ^ d;
}

KERNEL checksums(const uint8_t *text, uint32_t *o, int n) {  // FNV-1a, CRC-32 and Adler-32
    __shared__ uint32_t table[256];
    for (uint32_t k = threadIdx.x; k < 256; k += blockDim.x) {
        uint32_t c = k;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        table[k] = c;
    }
    __syncthreads();
    uint32_t fnv = 0x811c9dc5, crc = ~0u, a = 1, b = 0;
    for (int k = 0; k < n; k++) {
        uint32_t x = text[threadIdx.x * n + k];
        fnv = (fnv ^ x) * 0x01000193, crc = crc >> 8 ^ table[(crc ^ x) & 255], a = (a + x) % 65521, b = (b + a) % 65521;
    }
    o[threadIdx.x * 3] = fnv, o[threadIdx.x * 3 + 1] = ~crc, o[threadIdx.x * 3 + 2] = b << 16 | a;
}

// AES-128 of 32 blocks in slices: register k of a byte holds bit k of that byte of all blocks. Four threads have a column each. The
// inverse in the field is the 254th power; squares are linear, so that each is a handful of sums of slices.
INLINE void multiply(uint32_t *r, const uint32_t *a, const uint32_t *b) {
    uint32_t p[15];
#pragma unroll
    for (int k = 0; k < 15; k++) p[k] = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) p[i + j] ^= a[i] & b[j];
#pragma unroll
    for (int k = 14; k >= 8; k--) p[k - 4] ^= p[k], p[k - 5] ^= p[k], p[k - 7] ^= p[k], p[k - 8] ^= p[k];
#pragma unroll
    for (int k = 0; k < 8; k++) r[k] = p[k];
}
INLINE void square(uint32_t *r, const uint32_t *a) {
    uint32_t p[15];
#pragma unroll
    for (int k = 0; k < 15; k++) p[k] = k & 1 ? 0 : a[k / 2];
#pragma unroll
    for (int k = 14; k >= 8; k--) p[k - 4] ^= p[k], p[k - 5] ^= p[k], p[k - 7] ^= p[k], p[k - 8] ^= p[k];
#pragma unroll
    for (int k = 0; k < 8; k++) r[k] = p[k];
}
INLINE void substitute(uint32_t *s) {
    uint32_t a[8], b[8], c[8];
    square(a, s), multiply(b, a, s);                             // 2, 3
    square(a, b), square(a, a), multiply(c, a, b);               // 12, 15
    square(c, c), square(c, c), square(c, c), square(c, c);      // 240
    multiply(c, c, a), square(a, s), multiply(c, c, a);          // 252, 254
#pragma unroll
    for (int k = 0; k < 8; k++) {
        s[k] = c[k] ^ c[(k + 4) & 7] ^ c[(k + 5) & 7] ^ c[(k + 6) & 7] ^ c[(k + 7) & 7];
        if (0x63 >> k & 1) s[k] = ~s[k];
    }
}
KERNEL aes_sliced(const uint32_t *slices, const uint8_t *keys, uint32_t *o) {  // slices [byte][bit]; the keys of ten rounds
    uint32_t s[4][8];
    int column = threadIdx.x & 3;
    slices += threadIdx.x * 32, o += threadIdx.x * 32, keys += 4 * column;
#pragma unroll
    for (int k = 0; k < 32; k++) s[k / 8][k % 8] = slices[k] ^ -(uint32_t)(keys[k / 8] >> k % 8 & 1);
#pragma unroll 1
    for (int round = 1; round <= 10; round++) {
        uint32_t t[4][8];
#pragma unroll
        for (int r = 0; r < 4; r++) {
#pragma unroll
            for (int b = 0; b < 8; b++) t[r][b] = __shfl_sync(~0u, s[r][b], column + r & 3, 4);
            substitute(t[r]);
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const uint32_t *a0 = t[r], *a1 = t[(r + 1) & 3], *a2 = t[(r + 2) & 3], *a3 = t[(r + 3) & 3];
#pragma unroll
            for (int b = 0; b < 8; b++) {
                uint32_t twice = (b ? a0[b - 1] ^ a1[b - 1] : 0) ^ (0x1b >> b & 1 ? a0[7] ^ a1[7] : 0);
                uint32_t mixed = twice ^ a1[b] ^ a2[b] ^ a3[b];
                s[r][b] = (round < 10 ? mixed : a0[b]) ^ -(uint32_t)(keys[16 * round + r] >> b & 1);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 32; k++) o[k] = s[k / 8][k % 8];
}
