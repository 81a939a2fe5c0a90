// Atomics, and what is built on them: histograms, hash tables, locks, tickets, barriers of a whole grid.
// levels: O0 O1 G
#include <cuda_fp16.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL atomic_integers(const int *a, int *s, unsigned *u, unsigned long long *l, int *tickets) {
    int i = THREAD, x = a[i];
    atomicAdd(s, x), atomicSub(s + 1, x), atomicMin(s + 2, x), atomicMax(s + 3, x), atomicAnd(s + 4, x), atomicOr(s + 5, x), atomicXor(s + 6, x);
    atomicMin(u, (unsigned)x), atomicMax(u + 1, (unsigned)x), atomicInc(u + 2, 17), atomicDec(u + 3, 9);
    atomicAdd(l, (unsigned long long)(long long)x), atomicMin((long long *)l + 1, (long long)x), atomicMax((long long *)l + 2, (long long)x);
    atomicOr(l + 3, 1ull << (x & 63)), atomicXor(l + 4, (unsigned long long)(long long)x), atomicAnd(l + 5, ~(1ull << (x & 63)));
    tickets[i] = atomicAdd(s + 7, 1);
    tickets[gridDim.x * blockDim.x + i] = atomicExch(s + 8, i);
}

KERNEL atomic_floats(const float *a, float *f, double *d, __half2 *h) {
    float x = a[THREAD];  // small whole numbers, so that the order does not matter
    atomicAdd(f, x), atomicAdd(d, (double)x), atomicAdd(h, __float2half2_rn(x));
    __shared__ float s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, x);
    __syncthreads();
    if (threadIdx.x == 0) f[1 + blockIdx.x] = s;
    int *bits = (int *)f + 8, seen = *(volatile int *)bits;  // a maximum of floats by compare and swap
    while (x > __int_as_float(seen)) {
        int was = atomicCAS(bits, seen, __float_as_int(x));
        if (was == seen) break;
        seen = was;
    }
}

KERNEL histogram_shared(const unsigned char *data, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) local[k] = 0;
    __syncthreads();
    for (int k = THREAD; k < n; k += gridDim.x * blockDim.x) atomicAdd(&local[data[k]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) if (local[k]) atomicAdd(&bins[k], local[k]);
}

KERNEL hash_table(const unsigned *keys, unsigned *table, unsigned *counts, int slots) {
    unsigned key = keys[THREAD], at = key * 2654435761u >> 8 & (slots - 1);
    while (true) {
        unsigned was = atomicCAS(&table[at], 0xffffffffu, key);
        if (was == 0xffffffffu || was == key) break;
        at = (at + 1) & (slots - 1);
    }
    atomicAdd(&counts[at], 1);
}

KERNEL spin_lock(int *lock, int *guarded, int times) {
    for (int k = 0; k < times; k++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                int v = *(volatile int *)guarded;
                *(volatile int *)guarded = v + 3;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}

__device__ unsigned blocks_done;
KERNEL last_block_sum(const int *a, int *partial, int *sum, int n) {  // fence, ticket, last block adds up
    __shared__ int s[128];
    __shared__ bool last;
    int v = 0;
    for (int k = THREAD; k < n; k += gridDim.x * blockDim.x) v += a[k];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += ((volatile int *)partial)[b];
        *sum = total;
    }
}

KERNEL warp_aggregated(const int *a, int *kept, int *count) {
    int x = a[THREAD];
    if (x % 3 == 0) {
        unsigned active = __activemask(), lane = threadIdx.x & 31;
        int leader = __ffs(active) - 1, base;
        if (lane == leader) base = atomicAdd(count, __popc(active));
        base = __shfl_sync(active, base, leader);
        kept[base + __popc(active & ((1u << lane) - 1))] = x;
    }
}

KERNEL work_queue(int *next, int *done, int items) {  // blocks take their number when they start
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= items) return;
        atomicAdd(&done[mine], (int)threadIdx.x + mine);
    }
}

__device__ unsigned arrived;
__device__ volatile unsigned phase;
__device__ void grid_barrier() {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned mine = phase;
        __threadfence();
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            phase = mine + 1;
        } else {
            while (phase == mine) { }
        }
        __threadfence();
    }
    __syncthreads();
}
KERNEL grid_sync(int *a, int *b, int steps) {  // each step reads what the neighbour block wrote in the one before
    int n = gridDim.x * blockDim.x, i = THREAD;
    volatile int *from = a, *to = b;
    for (int k = 0; k < steps; k++) {
        to[i] = from[(i + 1) % n] + from[(i + n - 1) % n];
        grid_barrier();
        volatile int *t = from; from = to; to = t;
    }
}

__device__ int free_list;
KERNEL linked_lists(const int *keys, int *heads, int2 *nodes, int buckets) {
    int i = THREAD, node = atomicAdd(&free_list, 1);
    nodes[node].x = keys[i];
    __threadfence();
    nodes[node].y = atomicExch(&heads[(unsigned)keys[i] % buckets], node);
}

KERNEL scan_lookback(const int *a, int *o, volatile int *state, unsigned *ticket) {  // one pass, blocks in the order of their tickets
    __shared__ int block, before, warps[4];
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    int i = block * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, x = a[i];
    for (int d = 1; d < 32; d <<= 1) { int y = __shfl_up_sync(~0u, x, d); if (lane >= d) x += y; }
    if (lane == 31) warps[threadIdx.x >> 5] = x;
    __syncthreads();
    for (int w = 0; w < threadIdx.x >> 5; w++) x += warps[w];
    if (threadIdx.x == blockDim.x - 1) {
        state[4 * block + 1] = x;  // the block's own sum
        __threadfence();
        state[4 * block] = 1;
        int sum = 0;
        for (int b = block - 1; b >= 0; b--) {
            int ready;
            while ((ready = state[4 * b]) == 0) { }
            __threadfence();
            sum += state[4 * b + ready];
            if (ready == 2) break;
        }
        state[4 * block + 2] = sum + x;  // with all before it
        __threadfence();
        state[4 * block] = 2;
        before = sum;
    }
    __syncthreads();
    o[i] = before + x;
}
