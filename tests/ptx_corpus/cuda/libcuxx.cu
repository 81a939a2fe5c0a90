// libcu++: atomics of all scopes, barriers, pipelines, latches, semaphores, and the standard library's parts for devices.
#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

template <typename T, cuda::thread_scope S>
__global__ void atomics(T *data, T v) {
  cuda::atomic_ref<T, S> a(*data);
  T old = a.load(cuda::memory_order_acquire);
  a.store(v, cuda::memory_order_release);
  a.exchange(v, cuda::memory_order_acq_rel);
  a.compare_exchange_strong(old, v, cuda::memory_order_seq_cst);
  a.compare_exchange_weak(old, v + 1, cuda::memory_order_relaxed);
  a.fetch_add(v);
  a.fetch_sub(v, cuda::memory_order_relaxed);
  a.fetch_max(v);
  a.fetch_min(v);
  if constexpr (cuda::std::is_integral_v<T>) {
    a.fetch_and(v);
    a.fetch_or(v, cuda::memory_order_release);
    a.fetch_xor(v);
  }
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, S);
  data[1] = old;
}
template __global__ void atomics<int, cuda::thread_scope_block>(int *, int);
template __global__ void atomics<unsigned, cuda::thread_scope_device>(unsigned *, unsigned);
template __global__ void atomics<long long, cuda::thread_scope_system>(long long *, long long);
template __global__ void atomics<float, cuda::thread_scope_device>(float *, float);
template __global__ void atomics<double, cuda::thread_scope_block>(double *, double);
template __global__ void atomics<short, cuda::thread_scope_device>(short *, short);
template __global__ void atomics<char, cuda::thread_scope_system>(char *, char);

__global__ void barriers(int *data) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ alignas(128) int buffer[256];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(buffer + threadIdx.x, data + threadIdx.x, cuda::aligned_size_t<4>(4), barrier);
  auto token = barrier.arrive();
  barrier.wait(cuda::std::move(token));
  data[threadIdx.x] = buffer[threadIdx.x ^ 1];
  barrier.arrive_and_wait();
  if (!barrier.try_wait_for(barrier.arrive(), cuda::std::chrono::nanoseconds(100))) barrier.arrive_and_drop();
}

__global__ void pipelines(const int4 *in, int4 *out) {
  constexpr int STAGES = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
  __shared__ int4 buffer[STAGES][128];
  auto block = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline();
  for (int i = 0; i < 8; i++) {
    pipe.producer_acquire();
    cuda::memcpy_async(&buffer[i % STAGES][threadIdx.x], in + i, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    out[i] = buffer[i % STAGES][0];
    pipe.consumer_release();
  }
  out[9].x = int(block);
}

__device__ cuda::counting_semaphore<cuda::thread_scope_device, 5> semaphore(5);
__device__ cuda::latch<cuda::thread_scope_device> latch(3);

__global__ void waits(int *data) {
  semaphore.acquire();
  data[0]++;
  semaphore.release();
  latch.arrive_and_wait();
}

__global__ void library(float *data, int n) {
  cuda::std::span<float> span(data, n);
  cuda::std::mdspan<float, cuda::std::dextents<int, 2>> matrix(data, 4, n / 4);
  cuda::std::array<int, 4> counts{4, 3, 2, 1};
  cuda::std::complex<float> z(data[0], data[1]);
  z = cuda::std::exp(z) / cuda::std::sqrt(z) + cuda::std::polar(2.f, data[3]);
  cuda::std::optional<float> maybe = n > 3 ? cuda::std::optional<float>(data[2]) : cuda::std::nullopt;
  cuda::std::variant<int, float> either;
  if (n > 7) either = data[5];
  cuda::std::bitset<70> bits(n);
  cuda::std::expected<int, char> result = n > 5 ? cuda::std::expected<int, char>(n) : cuda::std::unexpected('x');
  matrix(1, 2) = z.real() + maybe.value_or(3.f) + cuda::std::popcount(unsigned(n)) + bits.count() + result.value_or(4) +
                 cuda::std::accumulate(span.begin(), span.end(), 0.f) + cuda::ceil_div(n, 7) +
                 cuda::std::visit([](auto v) { return float(v); }, either) + cuda::std::countl_zero(unsigned(n)) + counts[2];
  auto now = cuda::std::chrono::system_clock::now();
  data[9] = now.time_since_epoch().count();
}

__global__ void cached(int *data) {
  cuda::annotated_ptr<int, cuda::access_property::persisting> keep(data);
  cuda::annotated_ptr<int, cuda::access_property::streaming> once(data + 100);
  keep[threadIdx.x] = once[threadIdx.x];
  cuda::apply_access_property(data, 128, cuda::access_property::persisting{});
  cuda::discard_memory(data, 128);
}
