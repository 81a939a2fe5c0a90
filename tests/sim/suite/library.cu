// libcu++: barriers, atomics of every scope and order, complex numbers, and other parts of the standard library.
// levels: O0 G
// nvcc: --expt-relaxed-constexpr
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#define KERNEL extern "C" __global__ void
#pragma nv_diag_suppress static_var_with_dynamic_init

// Half of the block fills buffers, the other half takes them.
KERNEL barrier_pipeline(const int *a, int *o, int rounds) {
    typedef cuda::barrier<cuda::thread_scope_block> Barrier;
    __shared__ Barrier ready[2], filled[2];
    __shared__ int buffer[2][64];
    int i = threadIdx.x;
    if (i < 2) init(&ready[i], blockDim.x), init(&filled[i], blockDim.x);
    __syncthreads();
    if (i < 64) {
        for (int r = 0; r < rounds; r++) {
            ready[r & 1].arrive_and_wait();
            buffer[r & 1][i] = a[r * 64 + i] + r;
            (void)filled[r & 1].arrive();
        }
    } else {
        (void)ready[0].arrive(), (void)ready[1].arrive();
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            filled[r & 1].arrive_and_wait();
            sum = sum * 3 + buffer[r & 1][127 - i];
            (void)ready[r & 1].arrive();
        }
        o[i - 64] = sum;
    }
}

template <cuda::thread_scope scope, typename T> __device__ void every_order(T *cell, T x, int k) {
    cuda::atomic_ref<T, scope> ref(*cell);
    const cuda::std::memory_order orders[] = {cuda::std::memory_order_relaxed, cuda::std::memory_order_acquire, cuda::std::memory_order_release,
                                              cuda::std::memory_order_acq_rel, cuda::std::memory_order_seq_cst};
    ref.fetch_add(x, cuda::std::memory_order_relaxed);
    ref.fetch_add(x, cuda::std::memory_order_acquire);
    ref.fetch_add(x, cuda::std::memory_order_release);
    ref.fetch_sub(x, cuda::std::memory_order_acq_rel);
    ref.fetch_add(x, cuda::std::memory_order_seq_cst);
    ref.fetch_add(x, orders[k % 5]);
    T seen = ref.load(cuda::std::memory_order_acquire);
    while (!ref.compare_exchange_weak(seen, seen + 1, cuda::std::memory_order_acq_rel, cuda::std::memory_order_relaxed)) {
    }
}

KERNEL atomic_refs(const int *a, int *cells, unsigned long long *wide, float *f, double *d, int *flags) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i];
    every_order<cuda::thread_scope_block>(cells + 1 + blockIdx.x, x, i);
    every_order<cuda::thread_scope_device>(cells, x, i);
    every_order<cuda::thread_scope_system>(wide, (unsigned long long)(x + 5000), i);
    every_order<cuda::thread_scope_device>(f, (float)(x & 7), i);
    every_order<cuda::thread_scope_system>(d, (double)x, i);
    cuda::atomic_ref<int, cuda::thread_scope_device> low(cells[6]), high(cells[7]), bits(cells[8]), mask(cells[9]), turn(cells[10]);
    low.fetch_min(x), high.fetch_max(x), bits.fetch_or(1 << (x & 31)), mask.fetch_and(~(1 << (x & 15))), turn.fetch_xor(x);
    if (threadIdx.x == 0) {  // one block after the other
        cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]);
        while (flag.load(cuda::std::memory_order_acquire) != blockIdx.x) __nanosleep(100);
        flags[1] = flags[1] * 10 + blockIdx.x + 1;
        flag.store(blockIdx.x + 1, cuda::std::memory_order_release);
    }
}

KERNEL semaphores(int *o) {
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block> *lock;
    __shared__ cuda::latch<cuda::thread_scope_block> *done;
    __shared__ alignas(16) char room[64], place[64];
    __shared__ int count;
    if (threadIdx.x == 0) {
        lock = new (room) cuda::binary_semaphore<cuda::thread_scope_block>(1);
        done = new (place) cuda::latch<cuda::thread_scope_block>(blockDim.x);
        count = 7;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        lock->acquire();
        count = count * 3 + 1;
        lock->release();
    }
    done->arrive_and_wait();
    o[threadIdx.x] = count;
}

KERNEL complex_numbers(const cuda::std::complex<float> *a, const cuda::std::complex<double> *b, cuda::std::complex<float> *o, cuda::std::complex<double> *p) {
    int i = threadIdx.x;
    auto z = a[i];
    auto w = b[i];
    o[i * 4] = z * z + conj(z), o[i * 4 + 1] = z / a[(i + 1) & 63], o[i * 4 + 2] = exp(z), o[i * 4 + 3] = sqrt(z);
    p[i * 4] = w * w - w / b[(i + 1) & 63], p[i * 4 + 1] = log(w), p[i * 4 + 2] = cuda::std::polar(abs(w), arg(w)), p[i * 4 + 3] = pow(w, 3);
}

__device__ cuda::std::optional<int> root(int x) {
    for (int k = 0; k * k <= x; k++)
        if (k * k == x) return k;
    return {};
}

KERNEL standard_types(const int *a, int *o, int n) {
    namespace s = cuda::std;
    int i = threadIdx.x;
    s::span<const int> all(a, n);
    s::array<int, 6> parts{};
    for (int v : all.subspan(i % (n - 8), 8)) parts[(v & 0x7fffffff) % parts.size()] += v;
    s::variant<int, float, s::tuple<int, short>> any;
    if (i % 3 == 0) any = parts[0];
    else if (i % 3 == 1) any = 0.5f * i;
    else any = s::make_tuple(parts[1], (short)i);
    int value = 0;
    if (auto *x = s::get_if<int>(&any)) value = *x;
    else if (auto *x = s::get_if<float>(&any)) value = s::bit_cast<int>(*x);
    else value = s::get<0>(s::get<2>(any)) * 100 + s::get<1>(s::get<2>(any));
    o[i * 4] = value;
    o[i * 4 + 1] = root(i).value_or(-1);
    o[i * 4 + 2] = s::popcount((unsigned)parts[2]) + 100 * s::countl_zero((unsigned)parts[3]) + 10000 * s::countr_zero((unsigned)parts[4] | 1u << 20);
    o[i * 4 + 3] = s::rotl((unsigned)parts[5], i) ^ s::numeric_limits<int>::max();
}
