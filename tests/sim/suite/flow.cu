// Control flow: divergence, loops, recursion, calls through pointers and tables, jump tables, stacks, block barriers.
// levels: O0 O1 G
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL divergence(const int *a, int *o) {
    int i = THREAD, x = a[i], r = 0;
    if (x & 1) {
        for (int k = 0; k < (x & 7); k++) { r += k * x; if (r > 5000) break; if (k == 3) continue; r ^= k; }
    } else if (x & 2) {
        do { r = r * 3 + x; x -= 7; } while (x > 0 && r < 100000);
    } else {
        for (int k = 0; k < 5; k++) {
            if ((x >> k) & 1) { for (int m = 0; m < k; m++) { if (m * k == 6) goto out; r += m; } }
            r = r * 2 + 1;
        }
    }
out:
    r += __popc(__ballot_sync(~0u, r & 1));
    o[i] = r;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL recursion(int *o) {
    int i = THREAD;
    o[2 * i] = fibonacci(i % 11);
    o[2 * i + 1] = ackermann(2, i & 7);
}

__device__ void quick(int *a, int low, int high) {
    while (low < high) {
        int pivot = a[(low + high) / 2], l = low, h = high;
        while (l <= h) {
            while (a[l] < pivot) l++;
            while (a[h] > pivot) h--;
            if (l <= h) { int t = a[l]; a[l++] = a[h]; a[h--] = t; }
        }
        if (h - low < high - l) { quick(a, low, h); low = l; } else { quick(a, l, high); high = h; }
    }
}
KERNEL quicksort(int *a, int n) { quick(a + THREAD * n, 0, n - 1); }

__device__ __noinline__ float add_one(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
__device__ __noinline__ float negate(float x) { return -x; }
__device__ __noinline__ float halve(float x) { return x * 0.5f; }
typedef float (*Function)(float);
__device__ Function table[4] = {add_one, twice, negate, halve};
KERNEL function_pointers(const float *a, const int *choice, float *o) {
    int i = THREAD;
    Function f = table[choice[i] & 3], g = choice[i] & 4 ? negate : twice;
    o[i] = g(f(a[i])) + f(3);
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int sides() const { return 0; }
};
struct Square : Shape {
    float a;
    __device__ Square(float a) : a(a) {}
    __device__ float area() const override { return a * a; }
    __device__ int sides() const override { return 4; }
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3 * r * r; }
};
struct Slab : Square {
    float b;
    __device__ Slab(float a, float b) : Square(a), b(b) {}
    __device__ float area() const override { return a * b; }
};
KERNEL virtual_functions(const float *a, float *o) {
    int i = THREAD;
    Square square(a[i]);
    Circle circle(a[i]);
    Slab slab(a[i], 2);
    Shape *shapes[3] = {&square, &circle, &slab};
    Shape *s = shapes[((unsigned)i * 7) % 3];
    o[2 * i] = s->area();
    o[2 * i + 1] = s->sides();
}

KERNEL dense_switch(const int *a, int *o) {
    int i = THREAD, x = a[i], r = 1;
    for (int k = 0; k < 4; k++) {
        switch ((x >> 4 * k) & 15) {
        case 0: r += 3; break;
        case 1: r *= 5;
        case 2: r ^= 0x55; break;
        case 3: r -= x; break;
        case 4: r = r << 3 | (unsigned)r >> 29; break;
        case 5: r = __popc(r); break;
        case 6: r = ~r; break;
        case 7: r += k * k; break;
        case 8: r = r / 3; break;
        case 9: r = r & x; break;
        case 10: r = max(r, x); break;
        case 11: r = __brev(r);
        case 12: r += 77; break;
        case 13: r = r % 1000; break;
        default: r ^= k << 20;
        }
    }
    o[i] = r;
}

KERNEL sparse_switch(const int *a, int *o) {
    int i = THREAD;
    switch (a[i]) {
    case -100000: o[i] = 1; break;
    case -5: o[i] = 22; break;
    case 0: o[i] = 333; break;
    case 17: o[i] = 4; break;
    case 1000: o[i] = 55; break;
    case 1 << 20: o[i] = 666; break;
    case 1 << 30: o[i] = 7; break;
    default: o[i] = -a[i];
    }
}

KERNEL interpreter(const unsigned char *programs, const int *inputs, int *o, int length) {  // a machine with a stack
    int i = THREAD, stack[16], top = 0, steps = 0;
    const unsigned char *code = programs + i * length;
    stack[top++] = inputs[i];
    for (int pc = 0; pc < length && steps < 200; steps++) {
        unsigned char op = code[pc++];
        switch (op) {
        case 0: pc = length; break;
        case 1: if (top < 16) stack[top++] = code[pc % length]; pc++; break;
        case 2: if (top > 1) { stack[top - 2] += stack[top - 1]; top--; } break;
        case 3: if (top > 1) { stack[top - 2] *= stack[top - 1]; top--; } break;
        case 4: if (top < 16) { stack[top] = stack[top - 1]; top++; } break;
        case 5: stack[top - 1] = -stack[top - 1]; break;
        case 6: if (top > 1) { int t = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = t; } break;
        case 7: if (stack[top - 1] & 1) pc++; break;
        case 8: stack[top - 1] -= 1; if (stack[top - 1] > 0 && steps < 100) pc = 0; break;
        default: stack[top - 1] ^= op;
        }
    }
    o[2 * i] = stack[top - 1];
    o[2 * i + 1] = top * 1000 + steps;
}

KERNEL queens(int n, int *count) {  // one thread for each place of the first queen
    int first = THREAD, total = 0, depth = 1;
    unsigned columns[16], left[16], right[16], open[16], all = (1u << n) - 1;
    if (first < n) {
        unsigned bit = 1u << first;
        columns[1] = bit, left[1] = bit << 1, right[1] = bit >> 1;
        open[1] = all & ~(columns[1] | left[1] | right[1]);
        while (depth > 0) {
            if (!open[depth]) { depth--; continue; }
            unsigned q = open[depth] & -open[depth];
            open[depth] ^= q;
            if (depth == n - 1) { total++; continue; }
            columns[depth + 1] = columns[depth] | q;
            left[depth + 1] = (left[depth] | q) << 1;
            right[depth + 1] = (right[depth] | q) >> 1;
            depth++;
            open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
        }
        count[first] = total;
    }
}

KERNEL block_barriers(const int *a, int *o) {
    int i = threadIdx.x, x = a[i], *p = o + 4 * i;
    p[0] = __syncthreads_count(x > 0);
    p[1] = __syncthreads_and(x > -2000) + 2 * __syncthreads_or(x == a[0]);
    __shared__ int box[128];
    if (i < 64) {  // producers and consumers on named barriers
        box[i] = x * 2;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
        p[2] = box[63 - i];
        p[3] = 1;
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        p[2] = box[i - 64] + 1;
        p[3] = 2;
    }
    asm volatile("barrier.sync 3;" ::: "memory");
    p[3] += box[i & 63];
}

struct Params { int n; short tag; double scale; int offsets[5]; char name[3]; };
__device__ __noinline__ Params changed(Params p, int by) { p.n += by; p.scale *= by; p.offsets[by % 5] = -by; return p; }
KERNEL structures(Params p, double *o) {
    int i = THREAD;
    Params q = changed(p, i);
    double sum = q.n + q.tag + q.scale + q.name[i % 3];
    for (int k = 0; k < 5; k++) sum += q.offsets[k] * (k + 1);
    o[i] = sum;
}

KERNEL big_stack(const int *order, int *o, int n) {  // an array of each thread that is indexed by data
    int i = THREAD, next[200];
    for (int k = 0; k < n; k++) next[k] = order[k];
    int at = i % n, steps = 0;
    do { int follow = next[at]; next[at] = i; at = follow; steps++; } while (next[at] != i && steps < n);
    int sum = 0;
    for (int k = 0; k < n; k++) sum += next[k] * (k & 3);
    o[2 * i] = steps, o[2 * i + 1] = sum;
}

KERNEL find_string(const char *text, int length, const char *word, int size, int *first) {
    int i = THREAD;
    for (; i + size <= length; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < size && text[i + k] == word[k]) k++;
        if (k == size) { atomicMin(first, i); return; }
        if (*(volatile int *)first < i) return;
    }
}
