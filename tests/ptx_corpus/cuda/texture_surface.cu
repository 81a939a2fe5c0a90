// Textures and surfaces through objects, in all shapes.
template <typename T>
__device__ float sum(T v);
template <> __device__ float sum(float v) { return v; }
template <> __device__ float sum(int v) { return v; }
template <> __device__ float sum(float4 v) { return v.x + v.y + v.z + v.w; }
template <> __device__ float sum(uint4 v) { return v.x + v.y + v.z + v.w; }
template <> __device__ float sum(short2 v) { return v.x + v.y; }
template <> __device__ float sum(uchar4 v) { return v.x + v.y + v.z + v.w; }

template <typename T>
__global__ void textures(cudaTextureObject_t t, float *out, float x, float y, float z) {
  float s = sum(tex1Dfetch<T>(t, int(x))) + sum(tex1D<T>(t, x)) + sum(tex1DLod<T>(t, x, y)) + sum(tex1DGrad<T>(t, x, y, z));
  s += sum(tex2D<T>(t, x, y)) + sum(tex2DLod<T>(t, x, y, z)) + sum(tex2DGrad<T>(t, x, y, make_float2(x, y), make_float2(y, z)));
  s += sum(tex3D<T>(t, x, y, z)) + sum(tex3DLod<T>(t, x, y, z, 1.f));
  s += sum(tex3DGrad<T>(t, x, y, z, make_float4(x, y, z, 0), make_float4(x, y, z, 1)));
  s += sum(tex1DLayered<T>(t, x, 3)) + sum(tex2DLayered<T>(t, x, y, 2)) + sum(tex2DLayeredLod<T>(t, x, y, 2, z));
  s += sum(texCubemap<T>(t, x, y, z)) + sum(texCubemapLod<T>(t, x, y, z, 1.f)) + sum(texCubemapLayered<T>(t, x, y, z, 1));
  bool resident = false;
  s += sum(tex2D<T>(t, x, y, &resident)) + (resident ? 1.f : 0.f);
  s += sum(tex3D<T>(t, x, y, z, &resident)) + (resident ? 1.f : 0.f);
  out[threadIdx.x] = s;
}
template __global__ void textures<float>(cudaTextureObject_t, float *, float, float, float);
template __global__ void textures<float4>(cudaTextureObject_t, float *, float, float, float);
template __global__ void textures<uint4>(cudaTextureObject_t, float *, float, float, float);
template __global__ void textures<short2>(cudaTextureObject_t, float *, float, float, float);
template __global__ void textures<uchar4>(cudaTextureObject_t, float *, float, float, float);

__global__ void gather(cudaTextureObject_t t, float *out, float x, float y) {
  out[0] = sum(tex2Dgather<float4>(t, x, y, 0)) + sum(tex2Dgather<float4>(t, x, y, 3)) + sum(tex2Dgather<uint4>(t, x, y, 1));
}

template <typename T>
__global__ void surfaces(cudaSurfaceObject_t s, int x, int y, int z) {
  T v = surf1Dread<T>(s, x);
  surf1Dwrite(v, s, x + 4, cudaBoundaryModeZero);
  v = surf2Dread<T>(s, x, y, cudaBoundaryModeClamp);
  surf2Dwrite(v, s, x + 4, y);
  v = surf3Dread<T>(s, x, y, z);
  surf3Dwrite(v, s, x, y, z + 1, cudaBoundaryModeClamp);
  v = surf1DLayeredread<T>(s, x, 2);
  surf1DLayeredwrite(v, s, x, 3);
  v = surf2DLayeredread<T>(s, x, y, z);
  surf2DLayeredwrite(v, s, x, y, z + 1);
  v = surfCubemapread<T>(s, x, y, 3);
  surfCubemapwrite(v, s, x, y, 4);
  v = surfCubemapLayeredread<T>(s, x, y, 7);
  surfCubemapLayeredwrite(v, s, x, y, 8);
}
template __global__ void surfaces<int>(cudaSurfaceObject_t, int, int, int);
template __global__ void surfaces<uchar4>(cudaSurfaceObject_t, int, int, int);
template __global__ void surfaces<short2>(cudaSurfaceObject_t, int, int, int);
template __global__ void surfaces<float4>(cudaSurfaceObject_t, int, int, int);
template __global__ void surfaces<long long>(cudaSurfaceObject_t, int, int, int);
