// Quotient and remainder by variables, 32 and 64 bits, signed and unsigned; gcd has the remainder in a loop.
template <typename T>
__device__ __forceinline__ void divide(const T *a, const T *b, T *q, T *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        q[i] = a[i] / b[i];
        r[i] = a[i] % b[i];
    }
}

extern "C" __global__ void divrem_s32(const int *a, const int *b, int *q, int *r, int n) { divide(a, b, q, r, n); }

extern "C" __global__ void divrem_u32(const unsigned *a, const unsigned *b, unsigned *q, unsigned *r, int n)
{
    divide(a, b, q, r, n);
}

extern "C" __global__ void divrem_s64(const long long *a, const long long *b, long long *q, long long *r, int n)
{
    divide(a, b, q, r, n);
}

extern "C" __global__ void divrem_u64(const unsigned long long *a, const unsigned long long *b, unsigned long long *q,
                                      unsigned long long *r, int n)
{
    divide(a, b, q, r, n);
}

extern "C" __global__ void gcd_u32(const unsigned *a, const unsigned *b, unsigned *g, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i];
    while (y != 0) {
        unsigned t = x % y;
        x = y;
        y = t;
    }
    g[i] = x;
}
