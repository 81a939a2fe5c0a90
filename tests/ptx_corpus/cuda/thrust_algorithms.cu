// Thrust's algorithms on the CUDA back end.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/remove.h>
#include <thrust/scatter.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/random.h>

#ifndef PART
#define PART 0
#endif

struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Random {
  __host__ __device__ float operator()(unsigned i) const {
    thrust::default_random_engine engine;
    thrust::uniform_real_distribution<float> uniform(0.f, 1.f);
    engine.discard(i);
    return uniform(engine);
  }
};

void run(float *x, float *y, int *k, int n) {
  auto p = thrust::device;
#if PART == 0
  thrust::transform(p, x, x + n, y, y, Saxpy{2.f});
  thrust::transform(p, thrust::make_counting_iterator(0u), thrust::make_counting_iterator(1000u), x, Random{});
  thrust::sort_by_key(p, k, k + n, x);
#elif PART == 1
  k[0] = thrust::transform_reduce(p, x, x + n, [] __device__(float v) { return int(v); }, 0, thrust::plus<int>());
  x[0] = thrust::inner_product(p, x, x + n, y, 0.f);
  k[1] = thrust::count_if(p, k, k + n, Even{});
  k[2] = *thrust::max_element(p, k, k + n);
#elif PART == 2
  auto end = thrust::remove_if(p, k, k + n, Even{});
  thrust::unique(p, k, end);
  thrust::scatter(p, x, x + n, k, y);
  thrust::adjacent_difference(p, x, x + n, y);
#elif PART == 3
  thrust::set_intersection(p, k, k + n, k + n, k + 2 * n, k + 3 * n);
  thrust::lower_bound(p, k, k + n, k, k + n, k + n);
  thrust::inclusive_scan_by_key(p, k, k + n, x, y);
#else
  auto zip = thrust::make_zip_iterator(thrust::make_tuple(x, k));
  thrust::for_each(p, zip, zip + n, [] __device__(thrust::tuple<float &, int &> t) {
    thrust::complex<float> z(thrust::get<0>(t), 1.f);
    z = thrust::exp(z) * thrust::sqrt(z) / thrust::pow(z, 0.3f);
    thrust::get<0>(t) = z.real();
    thrust::get<1>(t) = int(z.imag());
  });
  thrust::stable_sort(p, x, x + n, thrust::greater<float>());
#endif
}
