// targets: sm_75 sm_80 sm_90 sm_100 sm_120
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void
#define ID int i = blockIdx.x*blockDim.x+threadIdx.x
KERNEL fetch1d(cudaTextureObject_t t, float *out, const int *x) { ID; out[i] = tex1Dfetch<float>(t, x[i]); }
KERNEL fetch1d_u8x4(cudaTextureObject_t t, uint4 *out, const int *x) { ID; uchar4 v = tex1Dfetch<uchar4>(t, x[i]); out[i] = make_uint4(v.x,v.y,v.z,v.w); }
KERNEL at1d(cudaTextureObject_t t, float *out, const float *x) { ID; out[i] = tex1D<float>(t, x[i]); }
KERNEL at2d(cudaTextureObject_t t, float *out, const float *x, const float *y) { ID; out[i] = tex2D<float>(t, x[i], y[i]); }
KERNEL at2d_f4(cudaTextureObject_t t, float4 *out, const float *x, const float *y) { ID; out[i] = tex2D<float4>(t, x[i], y[i]); }
KERNEL at2d_s16x2(cudaTextureObject_t t, int2 *out, const float *x, const float *y) { ID; short2 v = tex2D<short2>(t, x[i], y[i]); out[i] = make_int2(v.x, v.y); }
KERNEL at3d(cudaTextureObject_t t, float *out, const float *x, const float *y, const float *z) { ID; out[i] = tex3D<float>(t, x[i], y[i], z[i]); }
KERNEL at1d_layer(cudaTextureObject_t t, float *out, const float *x, const int *layer) { ID; out[i] = tex1DLayered<float>(t, x[i], layer[i]); }
KERNEL at2d_layer(cudaTextureObject_t t, float *out, const float *x, const float *y, const int *layer) { ID; out[i] = tex2DLayered<float>(t, x[i], y[i], layer[i]); }
KERNEL at_cube(cudaTextureObject_t t, float *out, const float *x, const float *y, const float *z) { ID; out[i] = texCubemap<float>(t, x[i], y[i], z[i]); }
KERNEL at_cube_layer(cudaTextureObject_t t, float *out, const float *x, const float *y, const float *z, const int *layer) { ID; out[i] = texCubemapLayered<float>(t, x[i], y[i], z[i], layer[i]); }
KERNEL lod2d(cudaTextureObject_t t, float *out, const float *x, const float *y, const float *l) { ID; out[i] = tex2DLod<float>(t, x[i], y[i], l[i]); }
KERNEL lod3d(cudaTextureObject_t t, float *out, const float *x, const float *y, const float *z, const float *l) { ID; out[i] = tex3DLod<float>(t, x[i], y[i], z[i], l[i]); }
KERNEL lod2d_layer(cudaTextureObject_t t, float *out, const float *x, const float *y, const int *layer, const float *l) { ID; out[i] = tex2DLayeredLod<float>(t, x[i], y[i], layer[i], l[i]); }
KERNEL grad2d(cudaTextureObject_t t, float *out, const float *x, const float *y, const float *d) { ID; out[i] = tex2DGrad<float>(t, x[i], y[i], make_float2(d[i],0.f), make_float2(0.f,d[i])); }
KERNEL gather0(cudaTextureObject_t t, float4 *out, const float *x, const float *y) { ID; out[i] = tex2Dgather<float4>(t, x[i], y[i], 0); }
KERNEL gather2(cudaTextureObject_t t, float4 *out, const float *x, const float *y) { ID; out[i] = tex2Dgather<float4>(t, x[i], y[i], 2); }
KERNEL sread1d(cudaSurfaceObject_t s, int *out, const int *x) { ID; out[i] = surf1Dread<int>(s, x[i]*4); }
KERNEL sread2d(cudaSurfaceObject_t s, float *out, const int *x, const int *y) { ID; out[i] = surf2Dread<float>(s, x[i]*4, y[i]); }
KERNEL sread2d_clamp(cudaSurfaceObject_t s, float4 *out, const int *x, const int *y) { ID; out[i] = surf2Dread<float4>(s, x[i]*16, y[i], cudaBoundaryModeClamp); }
KERNEL sread2d_zero(cudaSurfaceObject_t s, unsigned char *out, const int *x, const int *y) { ID; out[i] = surf2Dread<unsigned char>(s, x[i], y[i], cudaBoundaryModeZero); }
KERNEL sread3d(cudaSurfaceObject_t s, short *out, const int *x, const int *y, const int *z) { ID; out[i] = surf3Dread<short>(s, x[i]*2, y[i], z[i], cudaBoundaryModeZero); }
KERNEL sread2d_layer(cudaSurfaceObject_t s, float2 *out, const int *x, const int *y, const int *z) { ID; out[i] = surf2DLayeredread<float2>(s, x[i]*8, y[i], z[i], cudaBoundaryModeClamp); }
KERNEL swrite1d(cudaSurfaceObject_t s, const int *v, const int *x) { ID; surf1Dwrite<int>(v[i], s, x[i]*4); }
KERNEL swrite2d(cudaSurfaceObject_t s, const float *v, const int *x, const int *y) { ID; surf2Dwrite<float>(v[i], s, x[i]*4, y[i], cudaBoundaryModeZero); }
KERNEL swrite2d_f4(cudaSurfaceObject_t s, const float4 *v, const int *x, const int *y) { ID; surf2Dwrite<float4>(v[i], s, x[i]*16, y[i]); }
KERNEL swrite3d(cudaSurfaceObject_t s, const short *v, const int *x, const int *y, const int *z) { ID; surf3Dwrite<short>(v[i], s, x[i]*2, y[i], z[i], cudaBoundaryModeZero); }
KERNEL swrite2d_layer(cudaSurfaceObject_t s, const float *v, const int *x, const int *y, const int *z) { ID; surf2DLayeredwrite<float>(v[i], s, x[i]*4, y[i], z[i], cudaBoundaryModeZero); }
KERNEL width2d(cudaTextureObject_t t, int *out) { unsigned w, h; asm("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t)); asm("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(t)); out[0]=w; out[1]=h; }
KERNEL swidth2d(cudaSurfaceObject_t t, int *out) { unsigned w, h; asm("suq.width.b32 %0, [%1];" : "=r"(w) : "l"(t)); asm("suq.height.b32 %0, [%1];" : "=r"(h) : "l"(t)); out[0]=w; out[1]=h; }
KERNEL sured(cudaSurfaceObject_t t, const int *x, const int *y, const unsigned *v) { ID; asm volatile("sured.b.add.2d.u32.zero [%0, {%1, %2}], %3;" :: "l"(t), "r"(x[i]*4), "r"(y[i]), "r"(v[i])); }
KERNEL many2d(const cudaTextureObject_t *t, float *out, const float *x, const float *y) { ID; out[i] = tex2D<float>(t[i], x[i], y[i]); }
KERNEL manyl(const cudaTextureObject_t *t, float *out, const float *x, const float *y, const int *l) { ID; out[i] = tex2DLayered<float>(t[i], x[i], y[i], l[i]); }
KERNEL many1d(const cudaTextureObject_t *t, float *out, const int *x) { ID; out[i] = tex1Dfetch<float>(t[i], x[i]); }
KERNEL manyg(const cudaTextureObject_t *t, float4 *out, const float *x, const float *y) { ID; out[i] = tex2Dgather<float4>(t[i], x[i], y[i]); }
KERNEL manyd(const cudaTextureObject_t *t, float *out, const float *x, const float *y) { ID; out[i] = tex2DGrad<float>(t[i], x[i], y[i], make_float2(1.f,x[i]), make_float2(y[i],2.f)); }
KERNEL manysl(const cudaSurfaceObject_t *t, float *out, const int *x, const int *y, const int *l) { ID; out[i] = surf2DLayeredread<float>(t[i], x[i], y[i], l[i], cudaBoundaryModeZero); }
KERNEL manyq(const cudaTextureObject_t *t, int *out) { ID; unsigned w; asm("txq.height.b32 %0, [%1];" : "=r"(w) : "l"(t[i])); out[i]=w;}
KERNEL off3d(cudaTextureObject_t t, float *out, const float *x, const float *y) { ID; float4 v; asm("tex.3d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}], {%9,%10,%11,%12};" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(t), "f"(x[i]), "f"(y[i]), "f"(1.f), "f"(0.f), "r"(1), "r"(-2), "r"(3), "r"(0)); out[i] = v.x; }
KERNEL sured_max(cudaSurfaceObject_t t, int *out, const int *x, const int *v) { ID; asm volatile("sured.b.max.2d.s32.clamp [%0, {%1, %2}], %3;" :: "l"(t), "r"(x[i]*4), "r"(0), "r"(v[i])); out[i] = 1; }
