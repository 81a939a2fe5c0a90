// c = a + b in double precision, grid-stride loop.
extern "C" __global__ void vecadd_f64(const double *__restrict__ a, const double *__restrict__ b,
                                      double *__restrict__ c, unsigned long long n)
{
    unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        c[i] = a[i] + b[i];
}
