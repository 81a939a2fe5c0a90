// Bit manipulation on 32- and 64-bit words; a block of results for each element.
__device__ __forceinline__ unsigned bfe_u(unsigned a, unsigned pos, unsigned len)
{
    unsigned d;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(pos), "r"(len));
    return d;
}

__device__ __forceinline__ int bfe_s(int a, unsigned pos, unsigned len)
{
    int d;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(pos), "r"(len));
    return d;
}

__device__ __forceinline__ unsigned bfi(unsigned a, unsigned b, unsigned pos, unsigned len)
{
    unsigned d;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(pos), "r"(len));
    return d;
}

template <int lut>
__device__ __forceinline__ unsigned lop3(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(lut));
    return d;
}

extern "C" __global__ void bits32(const unsigned *__restrict__ x, const unsigned *__restrict__ y,
                                  unsigned *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = x[i], b = y[i];
    out[i] = __popc(a);
    out[n + i] = __clz(a);
    out[2 * n + i] = __brev(a);
    out[3 * n + i] = __ffs(a);
    out[4 * n + i] = bfe_u(a, b & 31, (b >> 5) & 31);
    out[5 * n + i] = bfe_s(a, b & 31, (b >> 5) & 31);
    out[6 * n + i] = bfi(a, b, b & 31, (b >> 5) & 31);
    out[7 * n + i] = __byte_perm(a, b, b >> 16);
    out[8 * n + i] = __byte_perm(a, b, 0x5140);
    out[9 * n + i] = lop3<0x96>(a, b, i);
    out[10 * n + i] = lop3<0xe8>(a, b, i);
    out[11 * n + i] = __funnelshift_l(a, b, i);
    out[12 * n + i] = __funnelshift_r(a, b, i);
    out[13 * n + i] = __funnelshift_lc(a, b, i);
    out[14 * n + i] = __funnelshift_rc(a, b, i);
    out[15 * n + i] = (a << (b & 31)) ^ (a >> (i & 31)) ^ (unsigned)((int)b >> (i & 31));
    out[16 * n + i] = bfe_u(a, 5, 9) + (unsigned)bfe_s(b, 11, 13);
    out[17 * n + i] = bfi(a, b, 12, 8);
}

extern "C" __global__ void bits64(const unsigned long long *__restrict__ x, unsigned long long *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long a = x[i];
    int s = i & 63;
    out[i] = __popcll(a) + 256 * __clzll(a) + 65536 * __ffsll(a);
    out[n + i] = __brevll(a);
    out[2 * n + i] = (a << s) ^ (a >> (63 - s));
    out[3 * n + i] = (unsigned long long)((long long)a >> s);
    out[4 * n + i] = a * 0x9e3779b97f4a7c15ull + __umul64hi(a, a);
}
