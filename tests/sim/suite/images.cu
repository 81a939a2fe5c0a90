// Textures and surfaces, all bindless.
// levels: O0 G
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)

KERNEL texture_line(cudaTextureObject_t t, const float *at, float *o) { o[X] = tex1D<float>(t, at[X]) + tex1Dfetch<float>(t, (int)at[X]); }

KERNEL texture_turn(cudaTextureObject_t t, float *o, int width, int height, float c, float s) {
    float x = X - width * 0.5f + 0.5f, y = Y - height * 0.5f + 0.5f;
    if (X < width && Y < height)
        o[Y * width + X] = tex2D<float>(t, fmaf(c, x, fmaf(-s, y, width * 0.5f)), fmaf(s, x, fmaf(c, y, height * 0.5f)));
}

KERNEL texture_box(cudaTextureObject_t t, float4 *o, int depth) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (int z = 0; z < depth; z++) {
        float4 v = tex3D<float4>(t, X + 0.5f, Y + 0.5f, z + 0.5f);
        sum.x += v.x, sum.y += v.y, sum.z = fmaxf(sum.z, v.z), sum.w = v.w;
    }
    o[Y * gridDim.x * blockDim.x + X] = sum;
}

KERNEL texture_layers(cudaTextureObject_t lines, cudaTextureObject_t planes, int *o, int layers) {
    int sum = 0;
    for (int k = 0; k < layers; k++) sum = sum * 5 + tex2DLayered<short>(planes, X, Y, k) - tex1DLayered<signed char>(lines, X, k);
    o[Y * gridDim.x * blockDim.x + X] = sum;
}

KERNEL texture_choice(const cudaTextureObject_t *t, const int *which, uchar4 *o) {
    uchar4 a = tex2D<uchar4>(t[which[X]], threadIdx.x, blockIdx.x), b = tex2D<uchar4>(t[which[0]], threadIdx.x, blockIdx.x);
    o[X] = make_uchar4(a.x, a.y, b.z, b.w);
}

KERNEL surface_steps(cudaSurfaceObject_t a, cudaSurfaceObject_t b, int steps) {  // one block
    int x = threadIdx.x, y = threadIdx.y;
    for (int s = 0; s < steps; s++) {
        cudaSurfaceObject_t from = s & 1 ? b : a, to = s & 1 ? a : b;
        int sum = 0;
        for (int d = -1; d <= 1; d++) sum += surf2Dread<int>(from, (x + d) * 4, y, cudaBoundaryModeZero) + surf2Dread<int>(from, x * 4, y + d, cudaBoundaryModeClamp);
        surf2Dwrite(sum, to, x * 4, y);
        __syncthreads();
    }
}

KERNEL surface_box(cudaSurfaceObject_t s, cudaSurfaceObject_t planes, int depth) {
    for (int z = 0; z < depth; z++) {
        float2 v;
        surf3Dread(&v, s, X * 8, Y, z);
        surf3Dwrite(make_float2(v.y * 2, v.x + z), s, X * 8, Y, z);
        surf2DLayeredwrite((short)(v.x * 64), planes, X * 2, Y, z, cudaBoundaryModeTrap);
    }
}
