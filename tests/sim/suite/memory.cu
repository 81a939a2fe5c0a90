// Memory: widths, spaces, generic addresses, caches, constants and variables of the module.
// levels: O0 O1 G
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL transpose(const float *a, float *o, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8) if (x < width && y + k < height) tile[k][threadIdx.x] = a[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += 8) if (x < height && y + k < width) o[(y + k) * height + x] = tile[threadIdx.x][k];
}

KERNEL widths(const uint4 *a, const uint2 *b, const unsigned short *c, const signed char *d, uint4 *o, unsigned short *p, signed char *q) {
    int i = THREAD;
    uint4 x = a[i];
    uint2 y = b[i];
    o[i] = make_uint4(x.w + y.x, x.z ^ y.y, x.y - c[i], x.x + d[i]);
    p[i] = c[i] * 3 + (unsigned char)d[i];
    q[i] = d[i] >> 1;
}

__constant__ int coefficients[64];
__constant__ float weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__device__ int counter = 100;
__device__ int grid_values[4][8];
KERNEL module_variables(const int *a, float *o) {
    int i = threadIdx.x;
    o[i] = coefficients[a[i] & 63] + weights[i & 7] + weights[a[i] & 7] * coefficients[3];
    grid_values[i & 3][i >> 2 & 7] = coefficients[i & 63] * 2;
    if (i == 0) counter += 11;
}

KERNEL generic_addresses(const int *a, int *o) {  // the same load and store of three memories
    __shared__ int s[64];
    int local[8], i = threadIdx.x;
    for (int k = 0; k < 8; k++) local[k] = a[(i + k) & 63];
    s[i] = a[i] * 2;
    __syncthreads();
    const int *places[3] = {a + (i ^ 1), s + (i ^ 2), local + (i & 7)};
    const int *p = places[a[i] % 3u];
    int space = __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p);
    o[2 * i] = *p, o[2 * i + 1] = space;
}

KERNEL cache_operators(const int *a, volatile int *v, int *o) {
    int i = THREAD, x;
    int sum = __ldg(a + i) + __ldcg(a + i) + __ldca(a + i) + __ldcs(a + i) + __ldcv(a + i) + __ldlu(a + i);
    asm volatile("prefetch.global.L2 [%0];" ::"l"(a));
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(a + i) : "memory");
    sum += x;
    asm volatile("ld.relaxed.sys.global.s32 %0, [%1];" : "=r"(x) : "l"(a + i) : "memory");
    sum += x;
    v[i] = sum;
    sum += v[i];
    __stcg(o + 4 * i, sum), __stcs(o + 4 * i + 1, x), __stwt(o + 4 * i + 2, -x);
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(o + 4 * i + 3), "r"(sum ^ x) : "memory");
}

extern __shared__ unsigned char dynamic_area[];
KERNEL dynamic_shared(const double *a, double *o, int n) {
    double *d = (double *)dynamic_area;
    int *order = (int *)(d + n);
    short *small = (short *)(order + n);
    for (int k = threadIdx.x; k < n; k += blockDim.x) d[k] = a[k], order[k] = n - 1 - k, small[k] = k * 3;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[k] = d[order[k]] + small[(k + 1) % n];
}

KERNEL packed_records(const unsigned char *a, unsigned char *o, int n) {  // records of 7 bytes, byte by byte
    for (int k = THREAD; k < n; k += gridDim.x * blockDim.x) {
        const unsigned char *p = a + 7 * k;
        unsigned key = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
        unsigned short tag = p[4] | p[5] << 8;
        key = key * 5 + tag;
        unsigned char *q = o + 7 * k;
        q[0] = key, q[1] = key >> 8, q[2] = key >> 16, q[3] = key >> 24, q[4] = tag >> 8, q[5] = tag, q[6] = ~p[6];
    }
}

KERNEL launch_geometry(int *o) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned lane, mask, warps;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(mask));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    int *p = o + 4 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
    p[0] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z;
    p[1] = gridDim.x + 10 * gridDim.y + 100 * gridDim.z + 1000 * blockDim.x + 100000 * blockDim.y + 10000000 * blockDim.z;
    p[2] = lane, p[3] = mask + (warps == 0);
}
