// Matrix fragments of nvcuda::wmma in all types and layouts.
#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, typename A, typename C, typename LA, typename LB, typename SA = A>
__global__ void multiply(const SA *a, const SA *b, C *c) {
  wmma::fragment<wmma::matrix_a, M, N, K, A, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, A, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fill_fragment(fc, C(0));
  wmma::load_matrix_sync(fa, a, 64);
  wmma::load_matrix_sync(fb, b, 64);
  wmma::load_matrix_sync(fc, c, 64, wmma::mem_col_major);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + C(1);
  wmma::store_matrix_sync(c, fc, 64, wmma::mem_row_major);
}
using R = wmma::row_major;
using L = wmma::col_major;
template __global__ void multiply<16, 16, 16, half, float, R, L>(const half *, const half *, float *);
template __global__ void multiply<16, 16, 16, half, half, L, R>(const half *, const half *, half *);
template __global__ void multiply<32, 8, 16, half, float, R, R>(const half *, const half *, float *);
template __global__ void multiply<8, 32, 16, half, half, L, L>(const half *, const half *, half *);
template __global__ void multiply<16, 16, 16, signed char, int, R, L>(const signed char *, const signed char *, int *);
template __global__ void multiply<32, 8, 16, unsigned char, int, L, R>(const unsigned char *, const unsigned char *, int *);
using B4 = wmma::experimental::precision::s4;
using U4 = wmma::experimental::precision::u4;
template __global__ void multiply<8, 8, 32, B4, int, R, L, int>(const int *, const int *, int *);
template __global__ void multiply<8, 8, 32, U4, int, R, L, unsigned>(const unsigned *, const unsigned *, int *);
#if __CUDA_ARCH__ >= 800
#include <cuda_bf16.h>
template __global__ void multiply<16, 16, 16, __nv_bfloat16, float, R, L>(const __nv_bfloat16 *, const __nv_bfloat16 *, float *);
template __global__ void multiply<8, 8, 4, double, double, R, L>(const double *, const double *, double *);
template __global__ void multiply<16, 16, 8, wmma::precision::tf32, float, L, R, float>(const float *, const float *, float *);
#endif

__global__ void bits(const unsigned *a, const unsigned *b, int *c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, R> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, L> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::fill_fragment(fc, 0);
  wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpXOR);
#if __CUDA_ARCH__ >= 800
  wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpAND);
#endif
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
