// sm >= 75
// What the language asks for: virtual functions, recursion, function pointers, allocation, printing, structures, switches, assertions.
#include <cassert>
#include <cstdint>
#include <cstdio>

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Circle : Shape {
    float r;
    __device__ explicit Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.14159f * r * r; }
};
struct Box : Shape {
    float a, b;
    __device__ Box(float a, float b) : a(a), b(b) {}
    __device__ float area() const override { return a * b; }
};

extern "C" __global__ void virtual_calls(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Shape *s = in[i] > 1.0f ? (Shape *)new Circle(in[i]) : (Shape *)new Box(in[i], 2.0f);
    out[i] = s->area();
    delete s;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int *out, int n) { out[threadIdx.x] = fibonacci(n + threadIdx.x % 5); }

__device__ void quicksort(float *a, int lo, int hi) {
    while (lo < hi) {
        float p = a[(lo + hi) / 2];
        int i = lo, j = hi;
        while (i <= j) {
            while (a[i] < p) ++i;
            while (a[j] > p) --j;
            if (i <= j) { float t = a[i]; a[i++] = a[j]; a[j--] = t; }
        }
        if (j - lo < hi - i) { quicksort(a, lo, j); lo = i; } else { quicksort(a, i, hi); hi = j; }
    }
}

extern "C" __global__ void sorts(float *data, int n) { quicksort(data + (size_t)threadIdx.x * n, 0, n - 1); }

typedef float (*Operation)(float, float);
__device__ float op_add(float a, float b) { return a + b; }
__device__ float op_mul(float a, float b) { return a * b; }
__device__ float op_pow(float a, float b) { return powf(a, b); }
__device__ Operation operations[3] = {op_add, op_mul, op_pow};

extern "C" __global__ void pointers(const int *code, float *x, int n) {
    float a = x[threadIdx.x];
    for (int i = 0; i < n; ++i) a = operations[code[i]](a, x[i]);
    x[threadIdx.x] = a;
}

extern "C" __global__ void machine(const uint8_t *program, int length, int *stack) {
    int sp = 0, local[16];
    for (int pc = 0; pc < length; ++pc) {
        switch (program[pc]) {
        case 0: local[sp++ & 15] = program[++pc]; break;
        case 1: sp--; local[(sp - 1) & 15] += local[sp & 15]; break;
        case 2: sp--; local[(sp - 1) & 15] *= local[sp & 15]; break;
        case 3: local[(sp - 1) & 15] = -local[(sp - 1) & 15]; break;
        case 4: if (local[--sp & 15]) pc += (int8_t)program[++pc]; break;
        case 5: sp--; local[(sp - 1) & 15] /= local[sp & 15] | 1; break;
        case 6: local[sp & 15] = local[(sp - 1) & 15]; ++sp; break;
        case 7: stack[program[++pc]] = local[--sp & 15]; break;
        case 8: local[sp++ & 15] = stack[program[++pc]]; break;
        default: return;
        }
    }
    stack[threadIdx.x] = local[sp & 15];
}

extern "C" __global__ void prints(const double *x, int n) {
    assert(n > 3);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (x[i] != x[i]) printf("%d of %d is %f (%s)\n", i, n, x[i], "not a number");
}

struct Big { int a[24]; double d; short s; char c; };
__device__ __noinline__ Big changed(Big b, int i) {
    b.a[i & 15] += b.s;
    b.d *= b.c;
    return b;
}
extern "C" __global__ void structures(Big big, Big *out, int i) {
    Big b = changed(big, i);
    for (int k = 0; k < i; ++k) b = changed(b, k);
    out[threadIdx.x] = b;
}

extern "C" __global__ void bytes(const uint8_t *in, int8_t *out, uint16_t *wide, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        uint8_t a = in[i], b = in[i + 1];
        out[i] = (int8_t)(a > b ? a - b : (a << 3 | b >> 2));
        wide[i] = (uint16_t)(a * b + (int16_t)out[i]);
    }
}

__constant__ float filter[5][5];
extern "C" __global__ void convolve(cudaTextureObject_t texture, cudaSurfaceObject_t surface, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float4 s = make_float4(0, 0, 0, 0);
    for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i) {
            float4 v = tex2D<float4>(texture, x + i + 0.5f, y + j + 0.5f);
            float w = filter[j + 2][i + 2];
            s.x += v.x * w; s.y += v.y * w; s.z += v.z * w; s.w += v.w * w;
        }
    surf2Dwrite(make_uchar4(s.x * 255, s.y * 255, s.z * 255, s.w * 255), surface, x * 4, y);
}

extern "C" __global__ void layers(cudaTextureObject_t t, float *out, int n) {
    float s = tex1Dfetch<float>(t, threadIdx.x) + tex3D<float>(t, 0.1f, 0.2f, threadIdx.x * 0.3f) + tex2DLayered<float>(t, 0.5f, 0.25f, n);
    s += tex2DLod<float>(t, 0.5f, 0.5f, 2.0f) + texCubemap<float>(t, 1.0f, s, 0.5f) + tex2Dgather<float4>(t, 0.5f, s, 1).y;
    out[threadIdx.x] = s + tex2DGrad<float>(t, 0.5f, s, make_float2(0.1f, 0.2f), make_float2(s, 0.4f));
}
