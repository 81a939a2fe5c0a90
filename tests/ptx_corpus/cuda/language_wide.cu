// The C++ of devices: virtual functions, function pointers, recursion, exceptions off, placement new, printf, assert, globals.
#include <cassert>
#include <cstdio>
#include <new>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  double radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return float(3.14159 * radius * radius); }
};

typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ Operation operations[] = {add, multiply};
__constant__ float weights[16] = {1.f, .5f, .25f, 1e-30f, -3.f};
__constant__ struct { char a; short b; int c; double d; const char *text; } record = {'x', -3, 77, 1.5e300, "a \"quoted\" text\n\t\\"};
__device__ __managed__ int managed_counter = 5;
__device__ const char *words[] = {"one", "two", "three"};
__shared__ int shared_counter;
extern __shared__ char dynamic_memory[];
__device__ volatile int flag;
__device__ long long table[2][3] = {{1, 2, 3}, {-4, 5000000000ll, 6}};

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

template <typename... T>
__device__ auto total(T... values) { return (values + ... + 0); }

__global__ void __launch_bounds__(256, 2) objects(float *out, int n) {
  Shape *shape = n > 3 ? (Shape *)new Square(2.f) : (Shape *)new Circle(3.f);
  out[threadIdx.x] = shape->area() + total(1, 2.5f, n);
  delete shape;
  char *room = (char *)malloc(n);
  if (room) {
    Square *square = new (room) Square(n);
    out[1] = square->area();
    free(room);
  }
}
__global__ void __maxnreg__(64) pointers(int *out, int which);
__global__ void __maxnreg__(64) pointers(int *out, int which) {
  out[0] = operations[which](out[1], out[2]) + ackermann(2, which) + managed_counter;
  assert(which < 2);
  printf("%d %s %f %lld\n", which, words[which], double(weights[which]), table[which & 1][which]);
  flag = 1;
  while (flag) __nanosleep(20);
  if (which == 7) __trap();
  if (which == 8) __brkpt();
}
struct Large {
  int values[40];
  char tail[3];
};
__device__ __noinline__ Large change(Large value, int i) {
  value.values[i] += value.tail[i % 3];
  return value;
}
__global__ void structures(Large in, Large *out, __grid_constant__ const Large fixed) {
  int local[64];
  for (int i = 0; i < 64; i++) local[i] = in.values[i % 40] ^ i;
  Large changed = change(in, threadIdx.x % 40);
  changed.values[3] += local[threadIdx.x % 64] + fixed.values[threadIdx.x % 40];
  *out = changed;
  dynamic_memory[threadIdx.x] = record.a;
  atomicAdd(&shared_counter, record.b);
}
__global__ void flow(int *data, int n) {
  switch (data[0]) {
    case 0: data[1] = 3; break;
    case 1: data[2] = 4; break;
    case 2: data[1] = 5; break;
    case 3: data[2] = 1; break;
    case 4: data[3] = 1; break;
    case 5: data[4] = 1; [[fallthrough]];
    case 9: data[5] = 1; break;
    default: goto out;
  }
#pragma unroll 4
  for (int i = 0; i < n; i++) {
    if (data[i] < 0) continue;
    if (data[i] > 100) break;
    data[i] = (data[i] << 3) % 7;
  }
out:
  __syncthreads();
  if (__syncthreads_or(data[n])) data[n] = __syncthreads_count(data[1] > 2);
}
__global__ void warps(unsigned *d, long long *l) {
  unsigned v = d[threadIdx.x];
  v += __shfl_up_sync(~0u, v, 2) + __shfl_xor_sync(0xff, v, 3, 8) + __ballot_sync(~0u, v > 3) + __any_sync(~0u, v) + __all_sync(~0u, v == 3);
  v += __match_any_sync(~0u, v);
  int p;
  v += __match_all_sync(~0u, l[0], &p) + p + __activemask();
#if __CUDA_ARCH__ >= 800
  v += __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, int(v)) + __reduce_xor_sync(~0u, v);
#endif
  __syncwarp();
  d[threadIdx.x] = v + clock() + unsigned(clock64()) + __isGlobal(d) + __isShared(l) + unsigned(__cvta_generic_to_shared(d));
  atomicCAS((unsigned long long *)l, 3ull, 4ull);
  atomicInc(d, 7);
  atomicDec_block(d, 7);
  atomicMax_system(d, 3u);
  atomicExch((float *)d, 2.f);
  atomicAdd((double *)l, 2.0);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}
