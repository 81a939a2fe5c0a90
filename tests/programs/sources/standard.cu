// nvcc: -extended-lambda
// libcu++: atomics of all orders and scopes, barriers, latches, and the containers and algorithms of the standard library.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/__algorithm/copy.h>
#include <cuda/std/__algorithm/clamp.h>
#include <cuda/std/__algorithm/count_if.h>
#include <cuda/std/__algorithm/find.h>
#include <cuda/std/__algorithm/max_element.h>
#include <cuda/std/__algorithm/partial_sort.h>
#include <cuda/std/__algorithm/rotate.h>
#include <cuda/std/__algorithm/unique.h>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/inplace_vector>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
namespace std_ = cuda::std;

template <class T, cuda::thread_scope SCOPE> __device__ void added(T *cell, const T *a) {
    cuda::atomic_ref<T, SCOPE> ref(*cell);
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    switch (t % 5) {
    case 0: ref.fetch_add(a[t], std_::memory_order_relaxed); break;
    case 1: ref.fetch_add(a[t], std_::memory_order_acquire); break;
    case 2: ref.fetch_add(a[t], std_::memory_order_release); break;
    case 3: ref.fetch_add(a[t], std_::memory_order_acq_rel); break;
    default: ref.fetch_add(a[t], std_::memory_order_seq_cst);
    }
}
KERNEL add_orders(int *i, unsigned long long *l, float *f, double *d, const int *a, const unsigned long long *b, const float *c, const double *e) {
    added<int, cuda::thread_scope_device>(i, a);
    added<unsigned long long, cuda::thread_scope_system>(l, b);
    added<float, cuda::thread_scope_device>(f, c);
    added<double, cuda::thread_scope_system>(d, e);
}

KERNEL atomic_operations(int *cells, const int *a, int *seen) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> s[6];
    int t = threadIdx.x;
    if (t < 6) s[t].store(t == 3 ? -1 : t == 4 ? 0x7fffffff : 0, std_::memory_order_relaxed);
    __syncthreads();
    s[0].fetch_xor(a[t], std_::memory_order_acq_rel), s[1].fetch_or(1 << t % 31), s[2].fetch_sub(a[t], std_::memory_order_release);
    s[3].fetch_and(~(1 << (t * 7 & 31))), s[4].fetch_min(a[t], std_::memory_order_relaxed), s[5].fetch_max(a[t]);
    __syncthreads();
    if (t < 6) cells[t] = s[t].load(std_::memory_order_acquire);
    seen[t] = s[0].is_lock_free() + 2 * (s[5].exchange(a[t]) != 0x12345678);
}

KERNEL exchange_loops(float *least, uint64_t *packed, uint8_t *bytes, const float *a) {  // compare and swap, weak and strong
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<float, cuda::thread_scope_device> low(*least);
    float was = low.load(std_::memory_order_relaxed);
    while (a[t] < was && !low.compare_exchange_weak(was, a[t], std_::memory_order_release, std_::memory_order_relaxed)) {}
    cuda::atomic_ref<uint64_t, cuda::thread_scope_device> pair(*packed);
    uint64_t p = pair.load();
    while (!pair.compare_exchange_strong(p, ((p >> 32) + 1) << 32 | (uint32_t)(p + t))) {}
    cuda::atomic_ref<uint8_t, cuda::thread_scope_device>(bytes[t % 4]).fetch_add(t, std_::memory_order_relaxed);
}

KERNEL hand_over(const int *a, int *o, int rounds) {  // two blocks take turns by waits for a flag
    __shared__ int sum;
    cuda::atomic_ref<int, cuda::thread_scope_device> turn(o[2]);
    for (int k = 0; k < rounds; k++) {
        if (threadIdx.x == 0) {
            while (turn.load(std_::memory_order_acquire) != 2 * k + blockIdx.x) {}
            sum = o[0];
        }
        __syncthreads();
        if (threadIdx.x == 31) {
            o[0] = sum * 3 + a[2 * k + blockIdx.x];
            turn.store(2 * k + blockIdx.x + 1, std_::memory_order_release);
        }
        __syncthreads();
    }
}

KERNEL latch_and_semaphore(int *o) {
    __shared__ cuda::latch<cuda::thread_scope_block> *ready;
    __shared__ alignas(cuda::latch<cuda::thread_scope_block>) char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block> lock;
    __shared__ int s[96], total;
    int t = threadIdx.x;
    if (t == 0) ready = new (room) cuda::latch<cuda::thread_scope_block>(96), new (&lock) cuda::binary_semaphore<cuda::thread_scope_block>(1), total = 0;
    __syncthreads();
    s[t] = t * t;
    ready->arrive_and_wait();
    if (t % 32 == 0) {
        lock.acquire();
        total += s[95 - t];
        lock.release();
    }
    o[t] = s[95 - t];
    __syncthreads();
    if (t == 0) o[96] = total;
}

KERNEL barrier_drops(int *o) {  // with a function at the end of each phase, threads that leave
    __shared__ int steps;
    auto finish = [] __device__() { steps++; };
    typedef cuda::barrier<cuda::thread_scope_block, decltype(finish)> Barrier;
    __shared__ alignas(Barrier) char room[sizeof(Barrier)];
    Barrier *bar = (Barrier *)room;
    if (threadIdx.x == 0) steps = 0, new (bar) Barrier(blockDim.x, finish);
    __syncthreads();
    int mine = 0;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x >= 128 - 32 * k) {  // whole warps
            bar->arrive_and_drop();
            break;
        }
        bar->arrive_and_wait();
        mine = mine * 10 + steps;
    }
    o[threadIdx.x] = mine;
}

KERNEL copy_pipeline(const int4 *in, int4 *out, int turns) {
    constexpr auto scope = cuda::thread_scope_block;
    __shared__ cuda::pipeline_shared_state<scope, 3> state;
    __shared__ int4 stage[3][32];
    struct Block { __device__ unsigned size() const { return blockDim.x; } __device__ unsigned thread_rank() const { return threadIdx.x; }
                   __device__ void sync() const { __syncthreads(); } } block;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int k = 0, sent = 0; k < turns; k++) {
        for (; sent < turns && sent < k + 3; sent++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[sent % 3][threadIdx.x], in + sent * 32 + threadIdx.x, sizeof(int4), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        int4 v = stage[k % 3][31 - threadIdx.x];
        out[k * 32 + threadIdx.x] = make_int4(v.w, v.z + k, v.y, v.x);
        pipe.consumer_release();
    }
}

KERNEL algorithms(const int *a, int *o, int n) {
    std_::array<int, 12> v;
    int t = threadIdx.x;
    for (int k = 0; k < 12; k++) v[k] = a[t * 12 + k];
    std_::partial_sort(v.begin(), v.begin() + 9, v.begin() + 9);
    std_::rotate(v.begin(), v.begin() + 4, v.end());
    int *row = o + t * 20;
    for (int k = 0; k < 12; k++) row[k] = v[k];
    row[12] = std_::accumulate(v.begin(), v.end(), 0), row[13] = std_::inner_product(v.begin(), v.begin() + 6, v.begin() + 6, 7);
    row[14] = *std_::max_element(v.begin(), v.end()), row[15] = std_::find(v.begin(), v.end(), n) - v.begin();
    row[16] = std_::unique(v.begin(), v.end()) - v.begin(), row[17] = std_::gcd(v[0], v[1]);
    row[18] = std_::clamp(v[2], -50, 50), row[19] = std_::count_if(v.begin(), v.end(), [=](int x) { return x > n; });
}

KERNEL bits(const uint32_t *a, const uint64_t *b, int *o) {
    int t = threadIdx.x, *row = o + t * 10;
    uint32_t x = a[t];
    uint64_t y = b[t];
    row[0] = std_::popcount(x), row[1] = std_::countl_zero(x), row[2] = std_::countr_one(y), row[3] = std_::bit_width(y);
    row[4] = std_::rotl(x, t % 40), row[5] = std_::rotr(y, t) >> 32, row[6] = std_::has_single_bit(x & x - 1);
    row[7] = std_::bit_ceil(x >> 3), row[8] = std_::bit_floor(y) >> 20, row[9] = std_::bit_cast<int>(std_::bit_cast<float>(x) * 0.5f);
}

KERNEL choices(const int *a, int *o) {
    typedef std_::variant<int, float, std_::array<short, 4>> Choice;
    int t = threadIdx.x, x = a[t];
    Choice c;
    if (x % 3 == 0) c = x;
    else if (x % 3 == 1) c = x * 0.5f;
    else c = std_::array<short, 4>{short(x), short(x + 1), short(x * 2), 9};
    struct Sum {
        __device__ int operator()(int v) const { return v; }
        __device__ int operator()(float v) const { return v * 4; }
        __device__ int operator()(const std_::array<short, 4> &v) const { return v[0] + v[1] * v[2] - v[3]; }
    };
    std_::optional<int> found = x > 50 ? std_::optional<int>(x - 50) : std_::nullopt;
    auto tuple = std_::make_tuple(x, x * 1.5, (short)(x >> 1));
    auto [p, q, r] = tuple;
    o[t] = std_::visit(Sum(), c) + found.value_or(-3) * 1000 + (p + int(q * 2) + r) * 7;
    std_::expected<int, char> e = x & 1 ? std_::expected<int, char>(x) : std_::expected<int, char>(std_::unexpected<char>('e'));
    o[t + blockDim.x] = e ? *e : -e.error();
}

KERNEL spans(const float *a, float *o, int rows, int columns) {
    std_::mdspan<const float, std_::dextents<int, 2>> in(a, rows, columns);
    std_::mdspan<float, std_::dextents<int, 2>, std_::layout_left> out(o, columns, rows);
    std_::span<const float> flat(a, rows * columns);
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
        int r = i / columns, c = i % columns;
        out(c, r) = in(r, c) + flat.subspan(i).front() * 2 + flat.last(1)[0];
    }
}

KERNEL complex_powers(const float2 *a, float2 *o, double *p) {
    int t = threadIdx.x;
    std_::complex<float> z(a[t].x, a[t].y), c = z;
    int n = 0;
    for (; n < 30 && std_::norm(z) < 4; n++) z = z * z + c;
    std_::complex<float> w = (c + std_::complex<float>(1, 2)) / (c - std_::complex<float>(3, 1)) * std_::conj(c);
    o[t] = make_float2(w.real(), w.imag());
    p[t] = n + std_::abs(std_::complex<double>(a[t].x, a[t].y));
}

KERNEL calendar(const int *days, int *o) {
    using namespace cuda::std::chrono;
    int t = threadIdx.x;
    year_month_day ymd{sys_days{cuda::std::chrono::days{days[t]}}};
    weekday w{sys_days{cuda::std::chrono::days{days[t]}}};
    o[4 * t] = (int)ymd.year(), o[4 * t + 1] = (unsigned)ymd.month(), o[4 * t + 2] = (unsigned)ymd.day();
    o[4 * t + 3] = w.c_encoding() + 10 * ymd.year().is_leap() + sys_days{ymd}.time_since_epoch().count() * 100;
}

KERNEL small_vectors(const int *a, int *o) {
    std_::inplace_vector<int, 8> v;
    int t = threadIdx.x;
    for (int k = 0; k < 12 && v.size() < 8; k++) {
        int x = a[t * 12 + k];
        if (x > 0) v.push_back(x);
        else if (!v.empty() && x % 2) v.pop_back();
        else if (v.size() > 2) v.erase(v.begin() + 1);
    }
    o[9 * t] = v.size();
    for (int k = 0; k < 8; k++) o[9 * t + 1 + k] = k < v.size() ? v[k] : -1;
}
