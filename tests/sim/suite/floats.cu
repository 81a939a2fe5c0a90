// Floating-point arithmetic: rounding modes, the mathematical functions of libdevice, halves and pairs of them.
// levels: O0 O1 G
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL f32_rounding(const float *a, const float *b, const float *c, float *o) {
    int i = THREAD;
    float x = a[i], y = b[i], z = c[i], *p = o + i * 16;
    p[0] = __fadd_rn(x, y), p[1] = __fadd_rz(x, y), p[2] = __fadd_ru(x, y), p[3] = __fadd_rd(x, y);
    p[4] = __fmul_rn(x, y), p[5] = __fmul_rz(x, y), p[6] = __fmul_ru(x, y), p[7] = __fmul_rd(x, y);
    p[8] = __fmaf_rn(x, y, z), p[9] = __fmaf_rz(x, y, z), p[10] = __fmaf_ru(x, y, z), p[11] = __fmaf_rd(x, y, z);
    p[12] = __fdiv_rn(x, y), p[13] = __fsqrt_rn(fabsf(x)), p[14] = __frcp_rn(y), p[15] = __fsub_rn(x, z);
}

KERNEL f64_rounding(const double *a, const double *b, const double *c, double *o) {
    int i = THREAD;
    double x = a[i], y = b[i], z = c[i], *p = o + i * 14;
    p[0] = __dadd_rn(x, y), p[1] = __dadd_rz(x, y), p[2] = __dadd_ru(x, y), p[3] = __dadd_rd(x, y);
    p[4] = __dmul_rn(x, y), p[5] = __dmul_rz(x, y), p[6] = __dmul_ru(x, y), p[7] = __dmul_rd(x, y);
    p[8] = __fma_rn(x, y, z), p[9] = __fma_rz(x, y, z), p[10] = __fma_ru(x, y, z), p[11] = __fma_rd(x, y, z);
    p[12] = x / y, p[13] = sqrt(fabs(x));
}

KERNEL f32_functions(const float *a, const float *b, float *o) {
    int i = THREAD;
    float x = a[i], y = b[i], *p = o + i * 20;
    p[0] = sinf(x), p[1] = cosf(x), p[2] = tanf(y), p[3] = expf(y), p[4] = logf(fabsf(x));
    p[5] = powf(fabsf(x), y), p[6] = atan2f(x, y), p[7] = asinf(y * 0.0625f), p[8] = sinhf(y), p[9] = tanhf(y);
    p[10] = erff(y), p[11] = tgammaf(fabsf(y) + 0.5f), p[12] = cbrtf(x), p[13] = hypotf(x, y), p[14] = exp2f(y);
    p[15] = log2f(fabsf(x)), p[16] = log1pf(fabsf(y)), p[17] = expm1f(y), p[18] = rsqrtf(fabsf(x)), p[19] = acoshf(1 + fabsf(y));
}

KERNEL f64_functions(const double *a, const double *b, double *o) {
    int i = THREAD;
    double x = a[i], y = b[i], *p = o + i * 16;
    p[0] = sin(x), p[1] = cos(x), p[2] = tan(y), p[3] = exp(y), p[4] = log(fabs(x));
    p[5] = pow(fabs(x), y), p[6] = atan2(x, y), p[7] = asin(y * 0.0625), p[8] = sinh(y), p[9] = tanh(y);
    p[10] = erf(y), p[11] = lgamma(fabs(y) + 0.5), p[12] = cbrt(x), p[13] = hypot(x, y), p[14] = rsqrt(fabs(x));
    p[15] = log10(fabs(x));
}

KERNEL float_parts(const float *a, const float *b, const double *d, float *o, double *q, int *e) {
    int i = THREAD, exponent;
    float x = a[i], y = b[i], *p = o + i * 14;
    p[0] = frexpf(x, &exponent), e[4 * i] = exponent;
    p[1] = ldexpf(y, i - 64), p[2] = nextafterf(x, y), p[3] = fmodf(x, y), p[4] = remainderf(x, y);
    p[5] = floorf(x), p[6] = ceilf(x), p[7] = truncf(x), p[8] = rintf(x), p[9] = roundf(x);
    p[10] = copysignf(x, y), p[11] = fdimf(x, y), p[12] = fminf(x, y), p[13] = fmaxf(x, y);
    e[4 * i + 1] = isnan(x) + 2 * isinf(x) + 4 * signbit(x) + 8 * isfinite(y) + 16 * (x < y) + 32 * !(x >= y) + 64 * (x != y);
    e[4 * i + 2] = ilogbf(y);
    e[4 * i + 3] = __float_as_int(x) ^ (int)(__double_as_longlong(d[i]) >> 32);
    double z = d[i], *r = q + i * 6;
    r[0] = floor(z), r[1] = rint(z), r[2] = fmod(z, 3.7), r[3] = fmin(z, (double)y), r[4] = nextafter(z, 0.0), r[5] = trunc(z);
}

KERNEL half_pairs(const __half2 *a, const __half2 *b, const __half2 *c, __half2 *o, float *f) {
    int i = THREAD;
    __half2 x = a[i], y = b[i], z = c[i], *p = o + i * 12;
    p[0] = __hadd2(x, y), p[1] = __hsub2(x, y), p[2] = __hmul2(x, y), p[3] = __hfma2(x, y, z);
    p[4] = __hfma2_sat(x, y, z), p[5] = __hmin2(x, y), p[6] = __hmax2(x, z), p[7] = __hneg2(__habs2(x));
    p[8] = __hgt2(x, y), p[9] = __halves2half2(__low2half(x) + __high2half(y), __high2half(x) * __low2half(z));
    p[10] = __hfma2_relu(x, y, z), p[11] = __hadd2_sat(x, y);
    f[2 * i] = __low2float(x) * __high2float(y), f[2 * i + 1] = __half2float(h2floor(x).x) + __half2float(hrint(y.y));
}

#if __CUDA_ARCH__ >= 800
KERNEL bf16_pairs(const __nv_bfloat162 *a, const __nv_bfloat162 *b, const __nv_bfloat162 *c, __nv_bfloat162 *o) {
    int i = THREAD;
    __nv_bfloat162 x = a[i], y = b[i], z = c[i], *p = o + i * 8;
    p[0] = __hadd2(x, y), p[1] = __hsub2(x, y), p[2] = __hmul2(x, y), p[3] = __hfma2(x, y, z);
    p[4] = __hmin2(x, y), p[5] = __hmax2(x, z), p[6] = __hneg2(__habs2(x)), p[7] = __hle2(x, y);
}
#endif

KERNEL half_functions(const __half *a, __half *o, __nv_bfloat16 *q) {
    int i = THREAD;
    __half x = a[i], *p = o + i * 8;
    p[0] = hexp(x), p[1] = hlog(__habs(x)), p[2] = hsqrt(__habs(x)), p[3] = hrcp(x), p[4] = hsin(x), p[5] = hcos(x);
    p[6] = hrsqrt(__habs(x)), p[7] = hexp2(x);
    __nv_bfloat16 y = __float2bfloat16(__half2float(x));
    q[4 * i] = hexp(y), q[4 * i + 1] = hsqrt(__habs(y)), q[4 * i + 2] = hrcp(y), q[4 * i + 3] = y / __nv_bfloat16(3.0f);
}

KERNEL fast_functions(const float *a, float *o) {
    int i = THREAD;
    float x = a[i], *p = o + i * 8;
    p[0] = __sinf(x), p[1] = __cosf(x), p[2] = __expf(x), p[3] = __logf(fabsf(x)), p[4] = __powf(fabsf(x), 0.75f);
    p[5] = __fdividef(x, 3.25f), p[6] = __saturatef(x), p[7] = __frsqrt_rn(fabsf(x));
}

KERNEL mandelbrot(int *o, int width, float left, float top, float step, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = fmaf(x, step, left), ci = fmaf(y, step, top), zr = 0, zi = 0;  // no contraction is left to the compiler
    int n = 0;
    while (n < limit) {
        float square = __fmul_rn(zi, zi);
        if (!(fmaf(zr, zr, square) <= 4.0f)) break;
        float t = __fadd_rn(fmaf(zr, zr, -square), cr);
        zi = fmaf(2 * zr, zi, ci);
        zr = t;
        n++;
    }
    o[y * width + x] = n;
}

KERNEL n_body(const float4 *body, float4 *force, int n) {
    __shared__ float4 tile[64];
    int i = THREAD;
    float4 me = body[i], sum = {};
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
        #pragma unroll 4
        for (int k = 0; k < 64; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float w = tile[k].w * inverse * inverse * inverse;
            sum.x += dx * w, sum.y += dy * w, sum.z += dz * w;
        }
        __syncthreads();
    }
    sum.w = me.w;
    force[i] = sum;
}

KERNEL compensated(const float *a, float *sum, double2 *pairs, const double *d, int n) {  // Kahan's sum; exact products
    int i = THREAD;
    float s = 0, c = 0;
    for (int k = 0; k < n; k++) {
        float y = __fsub_rn(a[i * n + k], c), t = __fadd_rn(s, y);
        c = __fsub_rn(__fsub_rn(t, s), y);
        s = t;
    }
    sum[i] = s;
    double x = d[2 * i], y = d[2 * i + 1], p = x * y;
    pairs[i] = make_double2(p, fma(x, y, -p));
}

struct Quaternion { double w, x, y, z; };
__device__ Quaternion operator*(const Quaternion &a, const Quaternion &b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
KERNEL quaternions(const Quaternion *a, Quaternion *o, int times) {
    Quaternion q = a[THREAD], r = {1, 0, 0, 0};
    for (int k = 0; k < times; k++) {
        r = r * q;
        double norm = 1 / sqrt(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z);
        r = {r.w * norm, r.x * norm, r.y * norm, r.z * norm};
    }
    o[THREAD] = r;
}
