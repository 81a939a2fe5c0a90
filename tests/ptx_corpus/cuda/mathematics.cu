// The mathematical functions of CUDA in single and double precision, and the intrinsic ones.
#ifndef REAL
#define REAL float
#endif
__global__ void functions(REAL *x, int *k) {
  REAL a = x[0], b = x[1], c = x[2], s, t;
  sincos(a, &s, &t);
  x[3] = sin(a) + cos(b) + tan(c) + asin(a) + acos(b) + atan(c) + atan2(a, b) + s * t;
  x[4] = sinh(a) + cosh(b) + tanh(c) + asinh(a) + acosh(b) + atanh(c) + sinpi(a) + cospi(b);
  x[5] = exp(a) + exp2(b) + exp10(c) + expm1(a) + log(a) + log2(b) + log10(c) + log1p(a) + logb(b);
  x[6] = pow(a, b) + sqrt(a) + rsqrt(b) + cbrt(c) + rcbrt(a) + hypot(a, b) + rhypot(b, c) + norm3d(a, b, c) + rnorm4d(a, b, c, a);
  x[7] = erf(a) + erfc(b) + erfinv(c) + erfcinv(a) + erfcx(b) + normcdf(c) + normcdfinv(a) + tgamma(b) + lgamma(c);
  x[8] = j0(a) + j1(b) + jn(3, c) + y0(a) + y1(b) + yn(2, c) + cyl_bessel_i0(a) + cyl_bessel_i1(b);
  x[9] = fmod(a, b) + remainder(b, c) + fdim(a, c) + fma(a, b, c) + copysign(a, b) + nextafter(b, c) + ldexp(a, k[0]) + scalbn(b, k[1]);
  x[10] = floor(a) + ceil(b) + trunc(c) + round(a) + rint(b) + nearbyint(c) + fmin(a, b) + fmax(b, c) + fabs(a);
  x[11] = frexp(a, k + 2) + modf(b, &s) + remquo(a, c, k + 3);
  k[4] = ilogb(a) + isnan(b) + isinf(c) + isfinite(a) + signbit(b) + lrint(a) + llround(b);
}
__global__ void intrinsics_single(float *x, int *k, unsigned *u) {
  float a = x[0], b = x[1], c = x[2];
  x[3] = __sinf(a) + __cosf(b) + __tanf(c) + __expf(a) + __exp10f(b) + __logf(c) + __log2f(a) + __powf(a, b) + __saturatef(c);
  x[4] = __fadd_rn(a, b) + __fadd_rz(a, b) + __fmul_ru(a, b) + __fmaf_rd(a, b, c) + __fsub_rn(a, c) + __frcp_rn(a) + __frcp_rz(b);
  x[5] = __fsqrt_rn(a) + __fsqrt_ru(b) + __frsqrt_rn(c) + __fdiv_rn(a, b) + __fdiv_rd(b, c) + __fdividef(a, c) + __int_as_float(k[0]);
  k[3] = __float2int_rn(a) + __float2int_ru(b) + __float2uint_rz(c) + __float2ll_rd(a) + __float_as_int(b) + __float2ull_rn(c);
  x[6] = __int2float_rn(k[0]) + __uint2float_ru(u[0]) + __ll2float_rd(k[1]) + __ull2float_rz(u[1]);
  u[2] = __brev(u[0]) + __clz(k[0]) + __ffs(k[1]) + __popc(u[1]) + __byte_perm(u[0], u[1], 0x5410) + __sad(k[0], k[1], u[0]);
  u[3] = __umulhi(u[0], u[1]) + __mulhi(k[0], k[1]) + __mul24(k[0], k[1]) + __umul24(u[0], u[1]) + __hadd(k[0], k[1]) + __rhadd(k[0], k[1]);
  u[4] = __funnelshift_l(u[0], u[1], k[0]) + __funnelshift_rc(u[0], u[1], k[0]) + __dp4a(k[0], k[1], k[2]) + __dp2a_lo(u[0], u[1], u[2]);
  u[5] = __vadd2(u[0], u[1]) + __vaddss4(u[0], u[1]) + __vavgu4(u[1], u[2]) + __vabsdiffu4(u[0], u[2]) + __vcmpgts2(u[0], u[1]);
  u[6] = __vmaxs4(u[0], u[1]) + __vminu2(u[0], u[1]) + __vsadu4(u[0], u[1]) + __vseteq4(u[1], u[2]) + __vsub2(u[0], u[2]) + __vneg4(u[0]);
  u[7] = __viaddmax_s32(k[0], k[1], k[2]) + __vimin3_u16x2(u[0], u[1], u[2]) + __vimax_s32_relu(k[0], k[1]) + __vibmax_u32(u[0], u[1], (bool *)k);
}
__global__ void intrinsics_double(double *x, long long *k) {
  double a = x[0], b = x[1], c = x[2];
  x[3] = __dadd_rn(a, b) + __dmul_rz(a, b) + __fma_ru(a, b, c) + __drcp_rn(a) + __dsqrt_rd(b) + __ddiv_rn(a, b) + __dsub_ru(a, c);
  k[1] = __double2ll_rn(a) + __double2int_rz(b) + __double_as_longlong(c) + __double2hiint(a) + __double2loint(b) + __double2ull_ru(c);
  x[4] = __hiloint2double(int(k[0]), int(k[1])) + __ll2double_rn(k[0]) + __longlong_as_double(k[0]) + __double2float_ru(a);
  k[2] = __mul64hi(k[0], k[1]) + __umul64hi(k[0], k[1]) + __brevll(k[0]) + __clzll(k[1]) + __ffsll(k[0]) + __popcll(k[1]);
  __int128 wide = (__int128)k[0] * k[1];
  k[3] = (long long)(wide >> 17) + (long long)(wide / k[2]) + (long long)(wide % 10);
}
