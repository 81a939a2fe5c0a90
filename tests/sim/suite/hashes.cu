// Hashes, ciphers, random numbers.
// levels: O0 O1 G
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
__device__ uint32_t turn(uint32_t x, int n) { return x << n | x >> (32 - n); }

__constant__ uint32_t round_constants[64];
KERNEL sha256(const uint8_t *messages, uint8_t *digests, int length) {  // messages of less than 56 bytes
    int i = THREAD;
    uint8_t block[64] = {};
    for (int k = 0; k < length; k++) block[k] = messages[i * length + k];
    block[length] = 0x80, block[62] = length * 8 >> 8, block[63] = length * 8;
    uint32_t w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s[8];
    for (int k = 0; k < 16; k++) w[k] = block[4 * k] << 24 | block[4 * k + 1] << 16 | block[4 * k + 2] << 8 | block[4 * k + 3];
    for (int k = 16; k < 64; k++) {
        uint32_t a = turn(w[k - 15], 25) ^ turn(w[k - 15], 14) ^ w[k - 15] >> 3, b = turn(w[k - 2], 15) ^ turn(w[k - 2], 13) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + a + w[k - 7] + b;
    }
    for (int k = 0; k < 8; k++) s[k] = h[k];
    for (int k = 0; k < 64; k++) {
        uint32_t t = s[7] + (turn(s[4], 26) ^ turn(s[4], 21) ^ turn(s[4], 7)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[k] + w[k];
        uint32_t u = (turn(s[0], 30) ^ turn(s[0], 19) ^ turn(s[0], 10)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t + u;
    }
    for (int k = 0; k < 8; k++) for (int b = 0; b < 4; b++) digests[32 * i + 4 * k + b] = (h[k] + s[k]) >> (24 - 8 * b);
}

__device__ const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
KERNEL blake2s(const uint32_t *messages, uint32_t *digests) {  // one block of 64 bytes
    int i = THREAD;
    const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint32_t m[16], v[16], h[8];
    for (int k = 0; k < 16; k++) m[k] = messages[16 * i + k];
    for (int k = 0; k < 8; k++) h[k] = start[k] ^ (k == 0 ? 0x01010020 : 0), v[k] = h[k], v[k + 8] = start[k];
    v[12] ^= 64, v[14] = ~v[14];
    #define MIX(a, b, c, d, n) \
        v[a] += v[b] + m[order[r][n]], v[d] = turn(v[d] ^ v[a], 16), v[c] += v[d], v[b] = turn(v[b] ^ v[c], 20), \
        v[a] += v[b] + m[order[r][n + 1]], v[d] = turn(v[d] ^ v[a], 24), v[c] += v[d], v[b] = turn(v[b] ^ v[c], 25)
    #pragma unroll 1
    for (int r = 0; r < 10; r++) {
        MIX(0, 4, 8, 12, 0); MIX(1, 5, 9, 13, 2); MIX(2, 6, 10, 14, 4); MIX(3, 7, 11, 15, 6);
        MIX(0, 5, 10, 15, 8); MIX(1, 6, 11, 12, 10); MIX(2, 7, 8, 13, 12); MIX(3, 4, 9, 14, 14);
    }
    for (int k = 0; k < 8; k++) digests[8 * i + k] = h[k] ^ v[k] ^ v[k + 8];
}

KERNEL philox(uint4 *o, uint32_t key0, uint32_t key1, float *uniform) {
    int i = THREAD;
    uint4 c = make_uint4(i, 7, i * 3, 0xabcdef);
    for (int r = 0; r < 10; r++) {
        uint64_t p = (uint64_t)0xd2511f53 * c.x, q = (uint64_t)0xcd9e8d57 * c.z;
        c = make_uint4((uint32_t)(q >> 32) ^ c.y ^ key0, (uint32_t)q, (uint32_t)(p >> 32) ^ c.w ^ key1, (uint32_t)p);
        key0 += 0x9e3779b9, key1 += 0xbb67ae85;
    }
    o[i] = c;
    uniform[i] = (c.x >> 8) * 5.9604645e-8f;
}

KERNEL chacha20(const uint32_t *key, uint32_t counter, const uint32_t *text, uint32_t *o) {
    int i = THREAD;
    uint32_t s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, v[16];
    for (int k = 0; k < 8; k++) s[4 + k] = key[k];
    s[12] = counter + i, s[13] = 1, s[14] = 2, s[15] = 3;
    for (int k = 0; k < 16; k++) v[k] = s[k];
    #define QUARTER(a, b, c, d) \
        v[a] += v[b], v[d] = turn(v[d] ^ v[a], 16), v[c] += v[d], v[b] = turn(v[b] ^ v[c], 12), \
        v[a] += v[b], v[d] = turn(v[d] ^ v[a], 8), v[c] += v[d], v[b] = turn(v[b] ^ v[c], 7)
    for (int r = 0; r < 10; r++) {
        QUARTER(0, 4, 8, 12); QUARTER(1, 5, 9, 13); QUARTER(2, 6, 10, 14); QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15); QUARTER(1, 6, 11, 12); QUARTER(2, 7, 8, 13); QUARTER(3, 4, 9, 14);
    }
    for (int k = 0; k < 16; k++) o[16 * i + k] = text[16 * i + k] ^ (v[k] + s[k]);
}

KERNEL crc32(const uint8_t *data, uint32_t *o, int length) {
    __shared__ uint32_t table[256];
    for (int n = threadIdx.x; n < 256; n += blockDim.x) {
        uint32_t c = n;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
        table[n] = c;
    }
    __syncthreads();
    uint32_t c = ~0u;
    for (int k = 0; k < length; k++) c = table[(c ^ data[THREAD * length + k]) & 255] ^ c >> 8;
    o[THREAD] = ~c;
}

KERNEL small_generators(uint64_t *o, uint64_t seed) {
    int i = THREAD;
    uint64_t z = seed + i * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    uint64_t x = z | 1;
    for (int k = 0; k < 5; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    uint64_t pcg = z * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t shifted = ((pcg >> 18) ^ pcg) >> 27;
    int by = pcg >> 59;
    o[3 * i] = z, o[3 * i + 1] = x, o[3 * i + 2] = shifted >> by | shifted << (-by & 31);
}
