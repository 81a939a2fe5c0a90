// targets: sm_75 sm_80 sm_90 sm_100 sm_120
// What the driver does for device code: printf, assertions, the heap; launch values; calls of every kind.
#include <cassert>
#include <cstdio>

extern "C" __global__ void prints(int count)
{
    int i = threadIdx.x;
    if (i < count)
        printf("%d of %u: %s %.3f %c %lld %x %-5d| %5.1e %% %08llX %hd %p %i %o\n", i, blockDim.x, i ? "text" : "", i * 0.5, 'a' + i, 1LL << 40,
               255, i, 12345.678, 0xabcdefULL, 70000, (void *)0x1234, -i, 8);
}

extern "C" __global__ void print_results(int *out) { out[threadIdx.x] = printf("%d %d\n", threadIdx.x, 1) * 10 + printf("x"); }

extern "C" __global__ void asserts(int *p)
{
    assert(p[threadIdx.x] > 0);
    p[threadIdx.x] = 7;
}

extern "C" __global__ void heap(long long *out, int n)
{
    int *mine = (int *)malloc(n * sizeof(int));
    long long sum = 0;
    for (int i = 0; i < n; i++)
        mine[i] = i + threadIdx.x;
    __syncthreads();
    for (int i = 0; i < n; i++)
        sum += mine[i];
    out[threadIdx.x] = sum;
    free(mine);
}

extern "C" __global__ void too_much(long long *out, long long bytes) { out[0] = (long long)malloc(bytes); }

extern "C" __global__ void free_twice()
{
    void *p = malloc(8);
    free(p);
    free(p);
}

extern "C" __global__ void free_other(void *p) { free(p); }

extern "C" __global__ void traps()
{
    if (threadIdx.x == 3)
        __trap();
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int plus3(int x) { return x + 3; }
__device__ __noinline__ int times5(int x) { return x * 5; }
__device__ __noinline__ int minus7(int x) { return x - 7; }
typedef int (*function)(int);
__device__ function table[3] = {plus3, times5, minus7};

extern "C" __global__ void pointers(int *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

__device__ __noinline__ int down(int n)
{
    volatile int pad[4];
    pad[n & 3] = n;
    return n == 0 ? 0 : down(n - 1) + pad[n & 3];
}
extern "C" __global__ void deep(int *out, int n) { out[threadIdx.x] = down(n); }

extern "C" __global__ void jumps(int *out, int u)
{
    int i = threadIdx.x, r = 0;
    for (int turn = 0; turn < 2; turn++)
        switch (turn ? u : i % 8) {
        case 0: r = i * 3; break;
        case 1: r -= 77; break;
        case 2: r = r * 5 ^ 0x55; break;
        case 3: r = i << 4; break;
        case 4: r = ~r; break;
        case 5: r += 1000; break;
        case 6: r ^= 0x1234; break;
        default: r = r * 9 - i; break;
        }
    out[i] = r;
}

#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(value)); out[at++] = value
extern "C" __global__ void special(unsigned *out)
{
    unsigned value, first, second;
    unsigned long long grid;
    int at = 0;
    if (blockIdx.x != 1 || threadIdx.x != 37)
        return;
    READ("laneid");
    READ("warpid");
    READ("nwarpid");
    READ("nsmid");
    READ("lanemask_lt");
    READ("total_smem_size");
    READ("dynamic_smem_size");
    READ("pm3");
    READ("envreg3");
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
    out[at++] = grid;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(first));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(second));
    out[at++] = second > first;
    READ("nctaid.y");
    READ("ntid.z");
}

extern "C" __global__ void far_store(int *p)
{
    if (blockIdx.x >= 5)
        p[1 << 28] = 3;
    p[blockIdx.x] = 1;
}
extern "C" __global__ void count(int *bins, int n)
{
    for (int k = 0; k < n; k++)
        atomicAdd(&bins[(threadIdx.x * 7 + k) & 31], k);
}
extern "C" __global__ void ticket(int *counter, int *out)
{
    if (threadIdx.x == 0)
        out[blockIdx.x] = atomicAdd(counter, 1);
}
extern "C" __global__ void forever()
{
    for (;;)
        __nanosleep(10);
}

extern "C" __global__ void traffic(int *p, int stride)
{
    extern __shared__ int cells[];
    int i = threadIdx.x;
    cells[(i * stride) & 1023] = p[i * stride];
    if (i & 1)
        p[i] = cells[i];
}
