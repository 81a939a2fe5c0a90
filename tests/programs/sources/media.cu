// Images, sound and their codings.
#include <stdint.h>
#define KERNEL extern "C" __global__ void

// 3 by 3 median of bytes; a tile of 16 by 8 with its rim in shared memory, the image's rim repeated.
__device__ __forceinline__ void ordered(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b), a = low;
}
KERNEL median_tile(const uint8_t *__restrict__ image, uint8_t *__restrict__ o, int width, int height) {
    __shared__ uint8_t tile[10][18];
    int x0 = blockIdx.x * 16, y0 = blockIdx.y * 8;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 180; k += 128) {
        int x = min(max(x0 + k % 18 - 1, 0), width - 1), y = min(max(y0 + k / 18 - 1, 0), height - 1);
        tile[k / 18][k % 18] = image[y * width + x];
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) return;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
    ordered(v[1], v[2]), ordered(v[4], v[5]), ordered(v[7], v[8]);
    ordered(v[0], v[1]), ordered(v[3], v[4]), ordered(v[6], v[7]);
    ordered(v[1], v[2]), ordered(v[4], v[5]), ordered(v[7], v[8]);
    ordered(v[0], v[3]), ordered(v[5], v[8]), ordered(v[4], v[7]);
    ordered(v[3], v[6]), ordered(v[1], v[4]), ordered(v[2], v[5]);
    ordered(v[4], v[7]), ordered(v[4], v[2]), ordered(v[6], v[4]), ordered(v[4], v[2]);
    o[y * width + x] = v[4];
}

// Pixels of four bytes at any size, between four neighbours, half a pixel off.
__device__ float4 pixel(const uchar4 *image, int x, int y, int stride) {
    uchar4 p = image[y * stride + x];
    return make_float4(p.x, p.y, p.z, p.w);
}
__device__ float4 between(float4 a, float4 b, float t) {
    return make_float4(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t, a.w + (b.w - a.w) * t);
}
KERNEL resize_bilinear(const uchar4 *from, float4 *to, int from_width, int from_height, int to_width, int to_height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= to_width || y >= to_height) return;
    float sx = (x + 0.5f) * from_width / to_width - 0.5f, sy = (y + 0.5f) * from_height / to_height - 0.5f;
    sx = fminf(fmaxf(sx, 0.f), from_width - 1), sy = fminf(fmaxf(sy, 0.f), from_height - 1);
    int left = (int)sx, top = (int)sy, right = min(left + 1, from_width - 1), bottom = min(top + 1, from_height - 1);
    float4 upper = between(pixel(from, left, top, from_width), pixel(from, right, top, from_width), sx - left);
    float4 lower = between(pixel(from, left, bottom, from_width), pixel(from, right, bottom, from_width), sx - left);
    to[y * to_width + x] = between(upper, lower, sy - top);
}

// Histogram, its running sum by doubling steps, and the table that spreads the values: one block of 256.
KERNEL equalise(uint8_t *image, unsigned *histogram, int n) {
    __shared__ unsigned counts[256], sums[256], least;
    __shared__ uint8_t table[256];
    int t = threadIdx.x;
    counts[t] = 0;
    if (t == 0) least = 0xffffffffu;
    __syncthreads();
    const uint32_t *packed = reinterpret_cast<const uint32_t *>(image);
    for (int i = t; i < n / 4; i += 256) {
        uint32_t four = packed[i];
        for (int k = 0; k < 4; k++, four >>= 8) atomicAdd(&counts[four & 255], 1u);
    }
    __syncthreads();
    unsigned sum = counts[t];
    histogram[t] = sum;
    sums[t] = sum;
    for (int step = 1; step < 256; step <<= 1) {
        __syncthreads();
        unsigned before = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] = sum += before;
    }
    if (counts[t]) atomicMin(&least, sum);
    __syncthreads();
    unsigned range = n - least;
    table[t] = range ? ((sum - min(sum, least)) * 255u + range / 2) / range : t;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) image[i] = table[image[i]];
}

// The cosine transform of JPEG in whole numbers, a row or a column a thread, then quantised and in zigzag order.
__constant__ uint8_t ZIGZAG[64] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55,
        62, 63};
__device__ __forceinline__ int rounded(int x, int bits) { return (x + (1 << (bits - 1))) >> bits; }
template <bool SECOND>
__device__ void cosine_line(int *d, int stride) {
    const int down = SECOND ? 15 : 11;
    int t0 = d[0] + d[7 * stride], t7 = d[0] - d[7 * stride], t1 = d[stride] + d[6 * stride], t6 = d[stride] - d[6 * stride];
    int t2 = d[2 * stride] + d[5 * stride], t5 = d[2 * stride] - d[5 * stride];
    int t3 = d[3 * stride] + d[4 * stride], t4 = d[3 * stride] - d[4 * stride];
    int u0 = t0 + t3, u3 = t0 - t3, u1 = t1 + t2, u2 = t1 - t2;
    d[0] = SECOND ? rounded(u0 + u1, 2) : (u0 + u1) << 2;
    d[4 * stride] = SECOND ? rounded(u0 - u1, 2) : (u0 - u1) << 2;
    int z1 = (u2 + u3) * 4433;
    d[2 * stride] = rounded(z1 + u3 * 6270, down), d[6 * stride] = rounded(z1 - u2 * 15137, down);
    z1 = (t4 + t7) * -7373;
    int z2 = (t5 + t6) * -20995, z3 = t4 + t6, z4 = t5 + t7, z5 = (z3 + z4) * 9633;
    z3 = z3 * -16069 + z5, z4 = z4 * -3196 + z5;
    d[7 * stride] = rounded(t4 * 2446 + z1 + z3, down), d[5 * stride] = rounded(t5 * 16819 + z2 + z4, down);
    d[3 * stride] = rounded(t6 * 25172 + z2 + z3, down), d[stride] = rounded(t7 * 12299 + z1 + z4, down);
}
KERNEL dct_quantise(const uint8_t *image, const uint16_t *quants, int16_t *o, int width) {
    __shared__ int s[8][8][9];
    int block = threadIdx.y, line = threadIdx.x, blocks = width / 8, number = blockIdx.x * 8 + block;
    const uint8_t *from = image + (number / blocks * 8 + line) * width + number % blocks * 8;
    for (int k = 0; k < 8; k++) s[block][line][k] = from[k] - 128;
    cosine_line<false>(&s[block][line][0], 1);
    __syncthreads();
    cosine_line<true>(&s[block][0][line], 9);
    __syncthreads();
    for (int k = line; k < 64; k += 8) {
        int place = ZIGZAG[k], value = s[block][place / 8][place % 8], q = quants[place] * 8;
        int size = (abs(value) + q / 2) / q;
        o[number * 64 + k] = value < 0 ? -size : size;
    }
}

// Filters of second order in a row, a channel a thread, samples of the channels side by side.
struct Section { float b0, b1, b2, a1, a2; };
KERNEL biquads(const float *in, float *o, const Section *sections, float2 *states, int channels, int samples, int count) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    for (int n = 0; n < samples; n++) {
        float x = in[n * channels + c];
        for (int k = 0; k < count; k++) {
            const Section f = sections[k];
            float2 z = states[k * channels + c];
            float y = f.b0 * x + z.x;
            z.x = f.b1 * x - f.a1 * y + z.y;
            z.y = f.b2 * x - f.a2 * y;
            states[k * channels + c] = z;
            x = y;
        }
        o[n * channels + c] = x;
    }
}

// A plane of light and one of colours at half the size, to pixels of four bytes; two by two a thread.
__device__ __forceinline__ uint8_t clipped(int x) { return x < 0 ? 0 : x > 255 ? 255 : x; }
__device__ uchar4 coloured(int y, int u, int v) {
    int c = 298 * (y - 16) + 128, d = u - 128, e = v - 128;
    return make_uchar4(clipped((c + 409 * e) >> 8), clipped((c - 100 * d - 208 * e) >> 8), clipped((c + 516 * d) >> 8), 255);
}
KERNEL nv12_to_rgba(const uint8_t *light, const uint8_t *colour, uchar4 *o, int width, int height, int pitch) {
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    uchar2 uv = *(const uchar2 *)(colour + y / 2 * pitch + x);
#pragma unroll
    for (int row = 0; row < 2; row++) {
        uchar2 two = *(const uchar2 *)(light + (y + row) * pitch + x);
        uchar4 *to = o + (y + row) * width + x;
        to[0] = coloured(two.x, uv.x, uv.y);
        if (x + 1 < width) to[1] = coloured(two.y, uv.x, uv.y);
    }
}

// Runs as PackBits has them: a row a thread.
KERNEL pack_bits(const uint8_t *rows, uint8_t *packed, int *sizes, int n, int room) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *in = rows + row * n, *end = in + n;
    uint8_t *to = packed + row * room, *start = to;
    while (in < end) {
        int run = 1;
        while (in + run < end && run < 128 && in[run] == *in) run++;
        if (run >= 3) {
            *to++ = 257 - run, *to++ = *in;
            in += run;
            continue;
        }
        int single = 0;
        uint8_t *length = to++;
        do {
            *to++ = *in++;
            single++;
        } while (in < end && single < 128 && !(in + 2 < end && in[0] == in[1] && in[1] == in[2]));
        *length = single - 1;
    }
    sizes[row] = to - start;
}

// Sound of four bits a sample (IMA): a block of its own start a thread.
__constant__ short STEPS[89] = {
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118,
    130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166,
        1282,
    1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493,
    10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
__device__ const signed char TURNS[8] = {-1, -1, -1, -1, 2, 4, 6, 8};
KERNEL adpcm_decode(const uint8_t *blocks, short *o, int block_bytes, int count) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= count) return;
    const uint8_t *in = blocks + b * block_bytes;
    int value = (short)(in[0] | in[1] << 8), index = in[2] > 88 ? 88 : in[2];
    short *to = o + b * (1 + 2 * (block_bytes - 4));
    *to++ = value;
    for (int i = 4; i < block_bytes; i++)
        for (int shift = 0; shift < 8; shift += 4) {
            int code = in[i] >> shift & 15, step = STEPS[index], change = step >> 3;
            if (code & 1) change += step >> 2;
            if (code & 2) change += step >> 1;
            if (code & 4) change += step;
            value += code & 8 ? -change : change;
            value = max(-32768, min(32767, value));
            index = max(0, min(88, index + TURNS[code & 7]));
            *to++ = value;
        }
}

// One sample of three, behind a filter whose length the template has; samples of 16 bits in shared memory as floats.
template <int TAPS, int APART>
__device__ void decimate(const short *__restrict__ in, float *__restrict__ o, const float *__restrict__ taps, int n) {
    __shared__ float window[64 * APART + TAPS], weights[TAPS];
    int first = blockIdx.x * 64 * APART - TAPS / 2;
    for (int k = threadIdx.x; k < 64 * APART + TAPS; k += blockDim.x)
        window[k] = first + k >= 0 && first + k < n ? in[first + k] * (1.f / 32768) : 0.f;
    if (threadIdx.x < TAPS) weights[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();
    float even = 0, odd = 0;
#pragma unroll
    for (int k = 0; k + 1 < TAPS; k += 2) {
        even += weights[k] * window[threadIdx.x * APART + k];
        odd += weights[k + 1] * window[threadIdx.x * APART + k + 1];
    }
    if (TAPS & 1) even += weights[TAPS - 1] * window[threadIdx.x * APART + TAPS - 1];
    int place = blockIdx.x * 64 + threadIdx.x;
    if (place * APART < n) o[place] = even + odd;
}
KERNEL fir_decimate(const short *in, float *o, const float *taps, int n) { decimate<31, 3>(in, o, taps, n); }
