// Conversions between all types, with roundings, saturation, and the narrow floating-point types.
// levels: O0 O1 G
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL f32_to_int(const float *a, int *o, long long *q) {
    int i = THREAD;
    float x = a[i];
    int *p = o + i * 12;
    p[0] = __float2int_rn(x), p[1] = __float2int_rz(x), p[2] = __float2int_ru(x), p[3] = __float2int_rd(x);
    p[4] = __float2uint_rn(x), p[5] = __float2uint_rz(x), p[6] = __float2uint_ru(x), p[7] = __float2uint_rd(x);
    short s; unsigned short u;
    asm("cvt.rni.s16.f32 %0, %1;" : "=h"(s) : "f"(x));
    asm("cvt.rzi.u16.f32 %0, %1;" : "=h"(u) : "f"(x));
    p[8] = s, p[9] = u;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(p[10]) : "f"(x));
    asm("cvt.rzi.sat.u8.f32 %0, %1;" : "=r"(p[11]) : "f"(x));
    q[4 * i] = __float2ll_rn(x), q[4 * i + 1] = __float2ll_rd(x);
    q[4 * i + 2] = __float2ull_rz(x), q[4 * i + 3] = __float2ull_ru(x);
}

KERNEL f64_to_int(const double *a, int *o, long long *q) {
    int i = THREAD;
    double x = a[i];
    int *p = o + i * 6;
    p[0] = __double2int_rn(x), p[1] = __double2int_rz(x), p[2] = __double2int_ru(x), p[3] = __double2int_rd(x);
    p[4] = __double2uint_rz(x), p[5] = __double2uint_ru(x);
    q[4 * i] = __double2ll_rn(x), q[4 * i + 1] = __double2ll_rz(x), q[4 * i + 2] = __double2ull_rd(x), q[4 * i + 3] = __double2ull_ru(x);
}

KERNEL int_to_float(const long long *a, float *o, double *q, __half *h) {
    int i = THREAD;
    long long x = a[i];
    int s = (int)x;
    float *p = o + i * 14;
    p[0] = __int2float_rn(s), p[1] = __int2float_rz(s), p[2] = __int2float_ru(s), p[3] = __int2float_rd(s);
    p[4] = __uint2float_rn(s), p[5] = __uint2float_rd(s), p[6] = __ll2float_rn(x), p[7] = __ll2float_rz(x);
    p[8] = __ull2float_rn(x), p[9] = __ull2float_ru(x), p[10] = (float)(short)s, p[11] = (float)(unsigned char)s;
    p[12] = (float)(signed char)(s >> 8), p[13] = (float)(unsigned short)(s >> 16);
    double *d = q + i * 6;
    d[0] = s, d[1] = (unsigned)s, d[2] = __ll2double_rn(x), d[3] = __ll2double_rd(x), d[4] = __ull2double_rn(x), d[5] = __ull2double_rz(x);
    h[4 * i] = __int2half_rn(s), h[4 * i + 1] = __ull2half_rz(x), h[4 * i + 2] = __short2half_rn(s), h[4 * i + 3] = __uint2half_rd(s);
}

KERNEL float_to_float(const float *a, const double *b, float *o, double *q, __half *h, __nv_bfloat16 *g) {
    int i = THREAD;
    float x = a[i], *p = o + i * 6;
    double y = b[i];
    p[0] = __double2float_rn(y), p[1] = __double2float_rz(y), p[2] = __double2float_ru(y), p[3] = __double2float_rd(y);
    q[i] = x;
    h[5 * i] = __float2half_rn(x), h[5 * i + 1] = __float2half_rz(x), h[5 * i + 2] = __float2half_ru(x), h[5 * i + 3] = __float2half_rd(x);
    h[5 * i + 4] = __double2half(y);
    g[4 * i] = __float2bfloat16_rn(x), g[4 * i + 1] = __float2bfloat16_rz(x), g[4 * i + 2] = __float2bfloat16_ru(x);
    g[4 * i + 3] = __double2bfloat16(y);
    p[4] = __half2float(h[5 * i]), p[5] = __bfloat162float(g[4 * i]);
}

KERNEL half_to_int(const __half *a, int *o, long long *q) {
    int i = THREAD;
    __half x = a[i];
    int *p = o + i * 8;
    p[0] = __half2int_rn(x), p[1] = __half2int_rd(x), p[2] = __half2uint_rz(x), p[3] = __half2uint_ru(x);
    p[4] = __half2short_rn(x), p[5] = __half2ushort_rz(x), p[6] = __half2char_rz(x), p[7] = (int)__half_as_short(x);
    q[2 * i] = __half2ll_rn(x), q[2 * i + 1] = __half2ull_rz(x);
}

KERNEL fp8_codes(const float2 *a, unsigned short *o, __half2 *h) {  // instructions from sm_89 on, software before
    int i = THREAD;
    float2 x = a[i];
    o[2 * i] = __nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, __NV_E4M3);
    o[2 * i + 1] = __nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, __NV_E5M2);
    h[2 * i] = __half2(__nv_cvt_fp8x2_to_halfraw2(o[2 * i], __NV_E4M3));
    h[2 * i + 1] = __half2(__nv_cvt_fp8x2_to_halfraw2(o[2 * i + 1], __NV_E5M2));
}

KERNEL integers_narrowed(const int *a, const int *b, int *o) {
    int i = THREAD, x = a[i], y = b[i], *p = o + i * 8;
    short s; unsigned short u;
    asm("cvt.sat.s16.s32 %0, %1;" : "=h"(s) : "r"(x));
    asm("cvt.sat.u16.s32 %0, %1;" : "=h"(u) : "r"(x));
    p[0] = s, p[1] = u;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(p[2]) : "r"(x));
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(p[3]) : "r"(y));
    asm("cvt.sat.u32.s32 %0, %1;" : "=r"(p[4]) : "r"(y));
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(p[5]) : "r"(x), "r"(y));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(p[6]) : "r"(x), "r"(y), "r"(i));
    asm("cvt.sat.s32.s64 %0, %1;" : "=r"(p[7]) : "l"((long long)x * y));
}
