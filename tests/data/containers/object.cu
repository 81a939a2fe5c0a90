#include <cstdio>
extern __device__ int ext(int);
__device__ int g = 3; extern __device__ int h;
__constant__ int tab[64]={1}; extern __constant__ int tab2[4];
extern __shared__ int dyn[];
__device__ int sq(int a){ return ext(a)*g+h; }
__device__ __noinline__ int two(int a){ return a*2+tab[a]; }
typedef int (*fp)(int);
__device__ fp tabf[2]={sq,two};
__global__ void k(int*x){ __shared__ int s[64]; int i=threadIdx.x; s[i]=x[i]; __syncthreads(); dyn[i]=two(s[63-i]); x[i]=sq(dyn[i])+tabf[i&1](i)+tab2[i&3]; fp p=sq; if(x[0]) p=two; x[i+1]=p(3); printf("%d\n",i); 
 switch(x[3]){case 0:x[1]=2;break;case 1:x[1]=ext(3);break;case 2:x[1]=5;break;case 3:x[2]=7;break;case 4: x[3]=two(x[5]);break;} }
