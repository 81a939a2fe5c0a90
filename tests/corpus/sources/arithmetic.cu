// sm >= 75
// Arithmetic of applications: elementary functions with their slow paths, wide integers, hashing, fixed point, packed video.
#include <cstdint>

__device__ uint64_t splitmix(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

extern "C" __global__ void elementary_float(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    float s = sinf(x) + cosf(x * 3.0f) * tanf(x);
    s += expf(x) - logf(fabsf(x)) + powf(fabsf(x), 1.7f) + atan2f(x, s) + cbrtf(x) + erff(x);
    s += hypotf(x, s) + fmodf(s, 3.0f) + rintf(x) + truncf(s) + ldexpf(x, 5) + tanhf(x);
    out[i] = s / x + sqrtf(s) + rsqrtf(x) + __fdividef(x, s);
}

extern "C" __global__ void elementary_double(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i];
    double s = sin(x) * exp(x) + log(fabs(x)) - pow(fabs(x), 2.5);
    out[i] = s / x + sqrt(s) + fma(x, s, 1.0) + floor(x) + rint(s) + 1.0 / s + atan(x) + lgamma(x);
}

extern "C" __global__ void integers_64(const int64_t *a, const uint64_t *b, int64_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int64_t x = a[i];
    uint64_t y = b[i];
    int64_t q = x / (int64_t)(y | 1), r = x % (int64_t)(y | 1);
    uint64_t u = y / 10, v = y % 1000;
    out[i] = q + r * 7 + (int64_t)__umul64hi(x, y) + (x >> (i & 63)) + (int64_t)(y << (i & 31)) + u + v + __popcll(y) + __clzll(x) + __ffsll(y)
             + __brevll(x) + (x < (int64_t)y ? x : -x) + llabs(x);
}

extern "C" __global__ void integers_128(const uint64_t *a, uint64_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned __int128 x = ((unsigned __int128)a[i] << 64) | a[i + 1], y = (unsigned __int128)a[i + 2] * a[i + 3];
    unsigned __int128 z = x * y + (x >> 17) - (y << 5);
    out[2 * i] = (uint64_t)z;
    out[2 * i + 1] = (uint64_t)(z >> 64);
}

extern "C" __global__ void sha256_rounds(const uint32_t *block, uint32_t *state) {
    uint32_t w[16], h[8];
    for (int i = 0; i < 16; ++i) w[i] = __byte_perm(block[threadIdx.x * 16 + i], 0, 0x0123);
    for (int i = 0; i < 8; ++i) h[i] = state[threadIdx.x * 8 + i];
#pragma unroll 4
    for (int t = 0; t < 64; ++t) {
        uint32_t s1 = __funnelshift_r(h[4], h[4], 6) ^ __funnelshift_r(h[4], h[4], 11) ^ __funnelshift_r(h[4], h[4], 25);
        uint32_t t1 = h[7] + s1 + ((h[4] & h[5]) ^ (~h[4] & h[6])) + w[t & 15] + 0x428a2f98u * t;
        uint32_t s0 = __funnelshift_r(h[0], h[0], 2) ^ __funnelshift_r(h[0], h[0], 13) ^ __funnelshift_r(h[0], h[0], 22);
        uint32_t t2 = s0 + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        h[7] = h[6]; h[6] = h[5]; h[5] = h[4]; h[4] = h[3] + t1;
        h[3] = h[2]; h[2] = h[1]; h[1] = h[0]; h[0] = t1 + t2;
        w[t & 15] += w[(t + 9) & 15] + (w[(t + 1) & 15] >> 3);
    }
    for (int i = 0; i < 8; ++i) state[threadIdx.x * 8 + i] += h[i];
}

extern "C" __global__ void packed(const uint32_t *a, const uint32_t *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t x = a[i], y = b[i];
    int s = __dp4a((int)x, (int)y, 5) + __dp2a_lo((int)x, (int)y, 1) + (int)__vadd4(x, y) + (int)__vabsdiffu4(x, y) + (int)__vmaxs2(x, y);
    s += (int)__vcmpgts4(x, y) + (int)__vavgs2(x, y) + (int)__vsadu4(x, y) + __sad(x, y, 3) + __mulhi((int)x, (int)y) + __mul24(x, y);
    out[i] = s;
}

extern "C" __global__ void mandelbrot(int *out, int width, float scale, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y;
    float cx = px * scale - 2.0f, cy = py * scale - 1.0f, x = 0, y = 0;
    int k = 0;
    while (k < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++k;
    }
    out[py * width + px] = k;
}

extern "C" __global__ void random_walk(uint64_t seed, float *out, int steps) {
    uint64_t s = splitmix(seed + threadIdx.x + (uint64_t)blockIdx.x * blockDim.x);
    float x = 0;
    for (int i = 0; i < steps; ++i) {
        s = splitmix(s);
        float u = (uint32_t)s * 2.3283064e-10f, v = (uint32_t)(s >> 32) * 2.3283064e-10f;
        x += sqrtf(-2.0f * __logf(u + 1e-9f)) * __cosf(6.2831853f * v);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void bodies(const float4 *p, float4 *v, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = p[i], f = make_float4(0, 0, 0, 0);
    __shared__ float4 tile[128];
    for (int b = 0; b < n; b += 128) {
        tile[threadIdx.x] = p[b + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; ++j) {
            float4 q = tile[j];
            float dx = q.x - a.x, dy = q.y - a.y, dz = q.z - a.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), w = q.w * r * r * r;
            f.x += dx * w; f.y += dy * w; f.z += dz * w;
        }
        __syncthreads();
    }
    v[i] = make_float4(v[i].x + f.x * dt, v[i].y + f.y * dt, v[i].z + f.z * dt, 0);
}

template <int N> __device__ double determinant(double (&m)[N][N]) {
    double d = 1;
    for (int k = 0; k < N; ++k) {
        int p = k;
        for (int r = k + 1; r < N; ++r)
            if (fabs(m[r][k]) > fabs(m[p][k])) p = r;
        if (p != k) {
            for (int c = 0; c < N; ++c) { double t = m[p][c]; m[p][c] = m[k][c]; m[k][c] = t; }
            d = -d;
        }
        d *= m[k][k];
        for (int r = k + 1; r < N; ++r) {
            double q = m[r][k] / m[k][k];
            for (int c = k; c < N; ++c) m[r][c] -= q * m[k][c];
        }
    }
    return d;
}

extern "C" __global__ void determinants(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double m[5][5];
    for (int r = 0; r < 5; ++r)
        for (int c = 0; c < 5; ++c) m[r][c] = in[i * 25 + r * 5 + c];
    out[i] = determinant(m);
}
