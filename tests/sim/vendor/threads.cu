#include <cooperative_groups.h>
#include <stdint.h>
namespace cg=cooperative_groups;
#define G extern "C" __global__
#define T (blockIdx.x*blockDim.x+threadIdx.x)
G void shfl(const int*a,int*o,int n){int i=T;int x=a[i];int*p=o+i*12;
 p[0]=__shfl_sync(~0u,x,(i*7)&31);p[1]=__shfl_up_sync(~0u,x,3);p[2]=__shfl_down_sync(~0u,x,5);p[3]=__shfl_xor_sync(~0u,x,9);
 p[4]=__shfl_sync(~0u,x,i&3,8);p[5]=__shfl_up_sync(~0u,x,2,8);p[6]=__shfl_down_sync(~0u,x,3,16);p[7]=__shfl_xor_sync(~0u,x,1,4);
 p[8]=__ballot_sync(~0u,x&1);p[9]=__any_sync(~0u,x==5)|__all_sync(~0u,x>-1000)<<1;p[10]=__match_any_sync(~0u,x&7);int pr;p[11]=__match_all_sync(~0u,x>>20,&pr);p[11]+=pr;}
G void part(const int*a,int*o){int i=T;int x=a[i]; if(x&1){ unsigned m=__activemask(); o[4*i]=__shfl_sync(m,x,__ffs(m)-1); o[4*i+1]=__reduce_add_sync(m,x);o[4*i+2]=__reduce_max_sync(m,x);o[4*i+3]=__popc(m);} else { unsigned m=__activemask(); o[4*i]=__reduce_min_sync(m,(unsigned)x);o[4*i+1]=__reduce_or_sync(m,x);o[4*i+2]=__reduce_xor_sync(m,x);o[4*i+3]=__ballot_sync(m,x>7);} }
G void atomg(int*s,unsigned*u,float*f,double*d,unsigned long long*l,const int*a,int*o){int i=T;int x=a[i];
 atomicAdd(&s[0],x);atomicMin(&s[1],x);atomicMax(&s[2],x);atomicAnd(&s[3],x);atomicOr(&s[4],x);atomicXor(&s[5],x);atomicExch(&s[6],5);atomicSub(&s[7],x);
 atomicInc(&u[0],17);atomicDec(&u[1],9);atomicMin(&u[2],(unsigned)x);atomicMax(&u[3],(unsigned)x);atomicCAS(&u[4],0u,7u);
 atomicAdd(&f[0],1.0f);atomicAdd(&d[0],2.0);atomicAdd(&l[0],(unsigned long long)(long long)x);atomicMax(&l[1],(unsigned long long)(unsigned)x);atomicMin((long long*)&l[2],(long long)x);atomicOr(&l[3],1ull<<(i&63));atomicCAS(&l[4],0ull,9ull);atomicExch(&l[5],11ull);
 o[i]=atomicAdd(&s[8],1); }
G void atoms(int*out,const int*a,float*fo){__shared__ int s[10];__shared__ unsigned u[6];__shared__ float f[2];__shared__ unsigned long long l[5];__shared__ double d;int i=threadIdx.x;
 if(i<10)s[i]=0;if(i<6)u[i]=0;if(i<2)f[i]=0;if(i<5)l[i]=0;if(i==0){s[1]=0x7fffffff;s[2]=0x80000000;s[3]=-1;d=0;u[2]=~0u;} __syncthreads();int x=a[T];
 atomicAdd(&s[0],x);atomicMin(&s[1],x);atomicMax(&s[2],x);atomicAnd(&s[3],x);atomicOr(&s[4],x);atomicXor(&s[5],x);atomicExch(&s[6],5);atomicInc(&u[0],17);atomicDec(&u[1],9);atomicMin(&u[2],(unsigned)x);
 atomicAdd(&f[0],1.5f);atomicAdd(&d,0.25);atomicAdd(&l[0],(unsigned long long)x);atomicCAS(&u[4],0u,7u);atomicCAS(&l[1],0ull,9ull);atomicAdd(&s[7],1);atomicMax(&l[2],(unsigned long long)(unsigned)x);
 __syncthreads(); if(i<8)out[i]=s[i];if(i<6)out[8+i]=u[i];if(i==0){fo[0]=f[0];fo[1]=d;out[14]=(int)l[0];out[15]=(int)l[1];out[16]=(int)l[2];}}
G void casloop(int*lock,int*v,float*fm,const float*a){int i=T; /* spin lock per thread */
 bool done=false; while(!done){ if(atomicCAS(lock,0,1)==0){ v[0]=v[0]*3%1000003+1; v[1]++; __threadfence(); atomicExch(lock,0); done=true;} }
 int*p=(int*)fm;int old=*p,as; do{as=old; old=atomicCAS(p,as,__float_as_int(fmaxf(a[i],__int_as_float(as))));}while(as!=old);}
G void diverge(const int*a,int*o,int n){int i=T;if(i>=n)return;int x=a[i],r=0;
 for(int k=0;k<x%17+3;k++){ if((k^x)%3==0)continue; for(int j=0;j<(x+k)%7;j++){ if(j*k>x%11+5)break; r+=j*k+x; if(r>100000) goto out; } if(r%5==0) r+=3; else if(r%5==1){ r^=x; while(r&8) r-=5; } else r*=2; }
out: switch(x%6){case 0:r+=1;break;case 1:r*=3;case 2:r-=7;break;case 3:for(int j=0;j<x%9;j++)r+=j;break;case 4:r=~r;break;default:r^=0x55;} o[i]=r;}
__device__ __noinline__ int fib(int n){return n<2?n:fib(n-1)+fib(n-2);}
G void recurse(const int*a,int*o,int n){int i=T;if(i<n)o[i]=fib(a[i]&7);}
__device__ __noinline__ int f0(int x){return x+1;} __device__ __noinline__ int f1(int x){return x*3;} __device__ __noinline__ int f2(int x){return x^0xff;}
typedef int(*fp)(int); __device__ fp tab[3]={f0,f1,f2};
G void fptr(const int*a,int*o,int n){int i=T;if(i<n)o[i]=tab[(unsigned)a[i]%3](a[i]);}
G void local(const int*a,int*o,int n){int i=T;if(i>=n)return;int b[40];for(int k=0;k<40;k++)b[k]=a[(i+k)%n]*k;int s=0,j=a[i]&31;for(int k=0;k<20;k++){s+=b[j];j=(j*5+b[j]%7+7)%40; if(j<0)j+=40;}o[i]=s;}
G void generic(int*g,int sel,int n){__shared__ int sh[64];int loc[4]={1,2,3,4};int i=threadIdx.x;sh[i]=i*2;__syncthreads();int*p=sel==0?&g[i]:sel==1?&sh[i]:&loc[i&3];*p+=5;int q=*p; g[64+i]=q+__isShared(p)*1000+__isGlobal(p)*2000+__isLocal(p)*4000; if(sel<2)atomicAdd(p,7);__syncthreads();g[128+i]=sh[i]+g[i];}
G void dynsh(int*o,int n){extern __shared__ int d[];__shared__ int st[10];int i=threadIdx.x;d[i]=i;if(i<10)st[i]=i*100;__syncthreads();o[i]=d[(i+1)%n]+st[i%10];}
G void counts(const int*a,int*o){int i=T;int c=__syncthreads_count(a[i]&1);int d=__syncthreads_and(a[i]>-5);int e=__syncthreads_or(a[i]==77);o[i]=c*4+!!d*2+!!e;}
G void named(int*o,int r){__shared__ int buf[32];int w=threadIdx.x>>5,l=threadIdx.x&31; 
 if(w==0){buf[l]=l*3;__threadfence_block();asm volatile("barrier.cta.arrive 1,64;"::: "memory");asm volatile("barrier.cta.sync %0,%1;"::"r"(r),"r"(64):"memory");o[l]=buf[l];}
 else if(w==1){asm volatile("barrier.cta.sync 1,64;":::"memory");int v=buf[31-l];buf[31-l]=v+1;__threadfence_block();asm volatile("barrier.cta.arrive %0,%1;"::"r"(r),"r"(64):"memory");o[32+l]=v;}
 asm volatile("{.reg .pred p;.reg .pred q; setp.gt.s32 p,%1,5; barrier.cta.red.and.pred q,%2,p; selp.s32 %0,1,2,q;}":"=r"(r):"r"((int)threadIdx.x),"r"(r)); o[64+threadIdx.x]=r;}
G void cg1(const int*a,int*o){auto b=cg::this_thread_block();auto t=cg::tiled_partition<8>(b);int x=a[T];for(int d=4;d;d/=2)x+=t.shfl_xor(x,d);auto c=cg::coalesced_threads();o[T]=x+t.meta_group_rank()*1000+c.size();
 if(a[T]%3==0){auto q=cg::coalesced_threads();o[T]+=q.thread_rank()*100000+q.shfl(a[T],0);}}
G void cpasync(const int4*a,int4*o){__shared__ int4 s[64];int i=threadIdx.x;unsigned p=(unsigned)__cvta_generic_to_shared(&s[i]);asm volatile("cp.async.cg.shared.global [%0],[%1],16;"::"r"(p),"l"(a+i));asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;");__syncthreads();int4 v=s[63-i];
 __syncthreads(); int k=i%5; asm volatile("cp.async.ca.shared.global [%0],[%1],8,%2;"::"r"(p),"l"(a+i),"r"(k>1?8:k*4));asm volatile("cp.async.wait_all;");__syncthreads(); v.w+=s[i].x+s[i].y; o[i]=v;}
G void lastblock(const float*a,float*part,unsigned*cnt,float*out,int n){__shared__ float s[64];__shared__ bool last;float v=0;for(int i=T;i<n;i+=gridDim.x*blockDim.x)v+=a[i];s[threadIdx.x]=v;__syncthreads();for(int d=32;d;d/=2){if(threadIdx.x<d)s[threadIdx.x]+=s[threadIdx.x+d];__syncthreads();}
 if(threadIdx.x==0){part[blockIdx.x]=s[0];__threadfence();last=atomicAdd(cnt,1)==gridDim.x-1;}__syncthreads();if(last&&threadIdx.x==0){float t=0;for(int i=0;i<gridDim.x;i++)t+=((volatile float*)part)[i];*out=t;}}
G void gridsync(volatile int*flag,int*o){if(threadIdx.x==0){atomicAdd((int*)flag,1);while(*flag<gridDim.x);} __syncthreads(); o[T]=flag[0];}
G void ids(int*o){int i=((blockIdx.z*gridDim.y+blockIdx.y)*gridDim.x+blockIdx.x)*blockDim.x*blockDim.y*blockDim.z+(threadIdx.z*blockDim.y+threadIdx.y)*blockDim.x+threadIdx.x;unsigned l,w,eq,lt;asm("mov.u32 %0,%%laneid;":"=r"(l));asm("mov.u32 %0,%%warpid;":"=r"(w));asm("mov.u32 %0,%%lanemask_eq;":"=r"(eq));asm("mov.u32 %0,%%lanemask_lt;":"=r"(lt));long long c=clock64();o[4*i]=blockIdx.x+10*blockIdx.y+100*blockIdx.z+1000*threadIdx.x+10000*threadIdx.y+100000*threadIdx.z;o[4*i+1]=l;o[4*i+2]=eq;o[4*i+3]=lt+(c<0);}
