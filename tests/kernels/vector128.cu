// 16-byte loads and stores: float4, int4, double2 and uchar4 inside uint4, in global and shared memory.
extern "C" __global__ void vec_float4(const float4 *__restrict__ x, float4 *__restrict__ y, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = x[i];
        y[i] = make_float4(v.w * s, v.z + s, v.y - s, v.x);
    }
}

extern "C" __global__ void vec_int4(const int4 *__restrict__ x, int4 *__restrict__ y, int n)
{
    __shared__ int4 buffer[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    int4 v = make_int4(0, 0, 0, 0);
    if (i < n)
        v = x[i];
    buffer[threadIdx.x] = v;
    __syncthreads();
    int4 w = buffer[threadIdx.x ^ 127];
    if (i < n)
        y[i] = make_int4(v.x + w.x, v.y ^ w.y, v.z * w.z, min(v.w, w.w));
}

extern "C" __global__ void vec_double2(const double2 *__restrict__ x, double2 *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double2 a = x[i], b = y[i];
        y[i] = make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    }
}

extern "C" __global__ void vec_bytes(const uint4 *__restrict__ x, unsigned *__restrict__ sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 v = x[i];
        unsigned words[4] = {v.x, v.y, v.z, v.w}, s = 0;
        for (int k = 0; k < 4; k++)
            for (int b = 0; b < 32; b += 8)
                s += (words[k] >> b) & 255u;
        sums[i] = s;
    }
}
