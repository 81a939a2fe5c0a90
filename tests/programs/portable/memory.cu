// What the driver does for a program: memory, text, assertions; and room on the stack.
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#define KERNEL extern "C" __global__ void
#define STAYS __device__ __noinline__

struct Item { int value; Item *next; };
KERNEL heap_list(const int *a, int *o, int n) {  // a list, sorted as it grows; what is even is taken out again
    Item *first = nullptr;
    for (int k = 0; k < n; k++) {
        Item *fresh = (Item *)malloc(sizeof(Item)), **at = &first;
        while (*at && (*at)->value < a[threadIdx.x * n + k]) at = &(*at)->next;
        fresh->value = a[threadIdx.x * n + k], fresh->next = *at, *at = fresh;
    }
    for (Item **at = &first; *at;) {
        Item *it = *at;
        if (it->value & 1) at = &it->next;
        else *at = it->next, free(it);
    }
    int count = 0;
    while (first) {
        Item *next = first->next;
        o[threadIdx.x * n + count++] = first->value;
        free(first), first = next;
    }
    for (; count < n; count++) o[threadIdx.x * n + count] = -1000;
}

struct Branch { int key; Branch *side[2]; };
STAYS Branch *grown(Branch *b, int key) {
    if (!b) {
        b = (Branch *)malloc(sizeof(Branch));
        b->key = key, b->side[0] = b->side[1] = nullptr;
    } else if (key != b->key) b->side[key > b->key] = grown(b->side[key > b->key], key);
    return b;
}
STAYS long long felled(Branch *b, int level) {  // the sum of keys times levels, and nothing is left
    if (!b) return 0;
    long long sum = felled(b->side[0], level + 1) + felled(b->side[1], level + 1) + (long long)b->key * level;
    free(b);
    return sum;
}
KERNEL heap_tree(const int *a, long long *o, int n) {
    Branch *root = nullptr;
    for (int k = 0; k < n; k++) root = grown(root, a[threadIdx.x * n + k]);
    o[threadIdx.x] = felled(root, 1);
}

KERNEL printed_lines(const int *a, const double *d, int *o) {
    for (int t = 0; t < blockDim.x; t++) {
        if (t == threadIdx.x) {
            int n = printf("%d: %5d|%-6x|%c %s %.3f %lld %%\n", t, a[t], a[t], 'a' + t, t & 1 ? "odd" : "even", d[t], (long long)a[t] << 33);
            o[t] = n;
        }
        __syncwarp();
    }
    if (threadIdx.x == 2) printf("the end of %s\n", "two");
}

STAYS int told(int n, int depth) {  // text from a recursion, on the way down and back
    if (n <= 1) return 1;
    printf("%*s", depth, "");
    printf("down %d\n", n);
    int r = told(n & 1 ? 3 * n + 1 : n / 2, depth + 1) + 1;
    printf("back %d %d\n", n, r);
    return r;
}
KERNEL printed_recursion(int *o, int n) { if (threadIdx.x == 3) o[0] = told(n, 0); }

STAYS int checked(const int *a, int n) {
    assert(n >= 0 && n < 64);
    return n ? checked(a, n - 1) + a[n] : a[0];
}
KERNEL assert_holds(const int *a, int *o) { o[threadIdx.x] = checked(a, threadIdx.x); assert(o[threadIdx.x] > -100000); }
KERNEL assert_fires(const int *a, int *o, int limit) {
    int v = a[threadIdx.x];
    assert(v < limit);
    o[threadIdx.x] = v;
}

KERNEL stack_room(const int *sizes, int *o) {  // as much of the stack as the thread asks for
    int n = sizes[threadIdx.x], *a = (int *)alloca(n * sizeof(int)), sum = 0;
    for (int k = 0; k < n; k++) a[k] = k ? a[k - 1] * 3 + k : threadIdx.x;
    for (int k = 0; k < n; k++) sum = sum * 7 + (a[n - 1 - k] ^ k);
    o[threadIdx.x] = sum;
}

struct Row { int v[30]; };  // 120 bytes
__device__ __noinline__ Row doubled(Row r, int k) { for (int i = 0; i < 30; i++) r.v[i] = r.v[(i + k) % 30] * 2 + i; return r; }
__device__ __noinline__ int total(Row a, Row b) { int s = 0; for (int i = 0; i < 30; i++) s = s * 3 + (a.v[i] ^ b.v[29 - i]); return s; }
KERNEL large_structs(const Row *a, int *o, int k) {  // by value, with indices that are known when it runs
    Row r = doubled(a[threadIdx.x], k), s = doubled(r, k + 3);
    o[threadIdx.x] = total(r, s) + total(s, a[threadIdx.x]);
}
STAYS int counted(Row r, int n) {  // arguments of 120 bytes to a function that calls itself
    if (n == 0) return r.v[0];
    Row next;
    for (int i = 0; i < 30; i++) next.v[i] = r.v[(i + 7) % 30] + n;
    return counted(next, n - 1) * 3 + r.v[n];
}
KERNEL large_arguments(const Row *a, int *o) { o[threadIdx.x] = counted(a[threadIdx.x], threadIdx.x & 3); }

KERNEL heap_full(int *o) {  // malloc says so when there is no more
    void *first = malloc(64), *much = malloc((size_t)1 << 40);
    o[threadIdx.x] = (first != nullptr) + 2 * (much == nullptr);
    free(first), free(much), free(nullptr);
}

struct Queue { int head, tail, cells[16]; };
KERNEL heap_shared(const int *a, int *o) {  // one thread allocates, all threads write, the last one frees
    __shared__ int *memory;
    __shared__ Queue *queue;
    if (threadIdx.x == 0) memory = (int *)malloc(blockDim.x * sizeof(int)), queue = (Queue *)malloc(sizeof(Queue)), queue->head = queue->tail = 0;
    __syncthreads();
    memory[threadIdx.x] = a[threadIdx.x];
    if (a[threadIdx.x] > 90) { int at = atomicAdd(&queue->tail, 1); if (at < 16) queue->cells[at] = a[threadIdx.x]; }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < min(queue->tail, 16); k++) sum += queue->cells[k];
    o[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x] + 1000 * sum;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) free(memory), free(queue);
}
