// What the driver gives to device code: printf, assertions, traps, the heap; stacks of variable size; the grid's barrier.
// levels: O0 G
#include <assert.h>
#include <cooperative_groups.h>
#include <stdint.h>
#include <stdio.h>
#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

KERNEL print_rows(const int *a, const double *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 3 == 0) {
        int printed = printf("%3d|%-6d|%+d|%#x|%5.2f|%e|%s|%c|%%\n", i, a[i], a[i], a[i], b[i], b[i], a[i] < 0 ? "below" : "above", 'a' + i % 26);
        if (printed != 8) printf("%d of 8\n", printed);
    }
    __syncthreads();
    if (threadIdx.x == 0) printf("block %u of %u: %lld %llx %p\n", blockIdx.x, gridDim.x, -(1ll << 40) - i, 1ull << 63, (void *)(uintptr_t)i);
}

KERNEL checked(const int *a, int *o, int limit) {
    int i = threadIdx.x;
    assert(a[i] >= 0);
    o[i] = a[i] * 2;
    __syncthreads();
    assert(a[i] < limit && "a value over the limit");
    o[i] = 0;
}

KERNEL trapped(const int *a, int *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[threadIdx.x] = a[i];
    __syncthreads();
    if (a[i] == 77) __trap();
}

KERNEL breakpoint(int *o) {
    if (threadIdx.x == 5) __brkpt();
    o[threadIdx.x] = 1;
}

struct Node { int value; Node *next; };

KERNEL heap_lists(const int *a, int *o, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, count = 0;
    Node *list = nullptr;
    for (int k = 0; k < each; k++) {  // a sorted list
        Node *made = (Node *)malloc(sizeof(Node)), **at = &list;
        if (!made) break;
        made->value = a[(i * 7 + k * 13) & 63];
        while (*at && (*at)->value < made->value) at = &(*at)->next;
        made->next = *at, *at = made;
    }
    while (list) {
        Node *old = list;
        sum += old->value * ++count;
        list = old->next;
        free(old);
    }
    o[i] = sum;
}

struct Counter {
    int step;
    __device__ Counter(int s) : step(s) {}
    __device__ virtual int next(int x) { return x + step; }
    __device__ virtual ~Counter() {}
};
struct Doubler : Counter {
    int *log;
    __device__ Doubler(int s) : Counter(s), log(new int[s + 1]) { log[s] = 0; }
    __device__ int next(int x) override { return ++log[step], 2 * x + step; }
    __device__ ~Doubler() override { delete[] log; }
};

KERNEL heap_objects(int *o, int turns) {
    __shared__ Counter *shared[2];
    int i = threadIdx.x;
    if (i == 0) shared[0] = new Counter(3), shared[1] = new Doubler(1);
    __syncthreads();
    Counter *own = i & 1 ? new Counter(i) : new Doubler(i);
    int x = i;
    for (int k = 0; k < turns; k++) x = own->next(x);
    x += shared[0]->step * 1000 + shared[1]->step;
    o[i] = x;
    delete own;
    __syncthreads();
    if (i < 2) delete shared[i];
}

KERNEL grid_wide(int *a, int *b, int steps) {
    cg::grid_group grid = cg::this_grid();
    int n = grid.size(), i = grid.thread_rank();
    for (int s = 0; s < steps; s++) {
        int *from = s & 1 ? b : a, *to = s & 1 ? a : b;
        to[i] = from[(i + 33) % n] + (grid.is_valid() ? from[i] : 0);
        grid.sync();
    }
}
