#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
#define G extern "C" __global__
#define T (blockIdx.x*blockDim.x+threadIdx.x)
G void rnd32(const float*a,const float*b,const float*c,float*o,int n){int i=T; if(i>=n)return; float x=a[i],y=b[i],z=c[i]; float*p=o+i*20;
 p[0]=__fadd_rn(x,y);p[1]=__fadd_rz(x,y);p[2]=__fadd_ru(x,y);p[3]=__fadd_rd(x,y);
 p[4]=__fmul_rn(x,y);p[5]=__fmul_rz(x,y);p[6]=__fmul_ru(x,y);p[7]=__fmul_rd(x,y);
 p[8]=__fmaf_rn(x,y,z);p[9]=__fmaf_rz(x,y,z);p[10]=__fmaf_ru(x,y,z);p[11]=__fmaf_rd(x,y,z);
 p[12]=__fdiv_rn(x,y);p[13]=__fsqrt_rn(fabsf(x));p[14]=__frcp_rn(x);p[15]=fminf(x,y);p[16]=fmaxf(x,y);p[17]=__saturatef(x);p[18]=__fdiv_rz(x,y);p[19]=__fsqrt_ru(fabsf(x));}
G void rnd64(const double*a,const double*b,const double*c,double*o,int n){int i=T; if(i>=n)return; double x=a[i],y=b[i],z=c[i]; double*p=o+i*20;
 p[0]=__dadd_rn(x,y);p[1]=__dadd_rz(x,y);p[2]=__dadd_ru(x,y);p[3]=__dadd_rd(x,y);
 p[4]=__dmul_rn(x,y);p[5]=__dmul_rz(x,y);p[6]=__dmul_ru(x,y);p[7]=__dmul_rd(x,y);
 p[8]=__fma_rn(x,y,z);p[9]=__fma_rz(x,y,z);p[10]=__fma_ru(x,y,z);p[11]=__fma_rd(x,y,z);
 p[12]=__ddiv_rn(x,y);p[13]=__dsqrt_rn(fabs(x));p[14]=__drcp_rn(x);p[15]=fmin(x,y);p[16]=fmax(x,y);p[17]=floor(x);p[18]=__ddiv_rz(x,y);p[19]=__dsqrt_ru(fabs(x));}
G void libm(const float*a,float*o,const double*d,double*q,int n){int i=T;if(i>=n)return;float x=a[i];float*p=o+i*12;
 p[0]=sinf(x);p[1]=cosf(x);p[2]=expf(x);p[3]=logf(fabsf(x));p[4]=tanhf(x);p[5]=powf(fabsf(x),1.7f);p[6]=rsqrtf(fabsf(x));p[7]=cbrtf(x);p[8]=atan2f(x,2.f);p[9]=erff(x);p[10]=__sinf(x);p[11]=__expf(x);
 double y=d[i];double*r=q+i*8;r[0]=sin(y);r[1]=exp(y);r[2]=log(fabs(y));r[3]=pow(fabs(y),0.3);r[4]=atan(y);r[5]=rsqrt(fabs(y));r[6]=tgamma(y*0.1);r[7]=fmod(y,1.7);}
G void cvt(const float*a,const double*d,const long long*l,int*oi,unsigned*ou,long long*ol,unsigned long long*oul,float*of,double*od,int n){int i=T;if(i>=n)return;
 float x=a[i];double y=d[i];long long z=l[i];unsigned long long uz=z;int zi=(int)z;unsigned zu=(unsigned)z;
 int*p=oi+i*12;p[0]=__float2int_rn(x);p[1]=__float2int_rz(x);p[2]=__float2int_ru(x);p[3]=__float2int_rd(x);p[4]=__double2int_rn(y);p[5]=__double2int_rz(y);p[6]=__double2int_ru(y);p[7]=__double2int_rd(y);
 p[8]=(signed char)__float2int_rz(x);p[9]=(short)z;p[10]=(int)(signed char)(z>>8);p[11]=__float2int_rn(rintf(x*0.5f));
 unsigned*u=ou+i*4;u[0]=__float2uint_rn(x);u[1]=__float2uint_rz(x);u[2]=__double2uint_rz(y);u[3]=__double2uint_ru(y);
 long long*q=ol+i*4;q[0]=__float2ll_rn(x);q[1]=__float2ll_rz(x);q[2]=__double2ll_rd(y);q[3]=__double2ll_rz(y);
 unsigned long long*w=oul+i*2;w[0]=__float2ull_rz(x);w[1]=__double2ull_rz(y);
 float*f=of+i*16;f[0]=__int2float_rn(zi);f[1]=__int2float_rz(zi);f[2]=__int2float_ru(zi);f[3]=__int2float_rd(zi);f[4]=__uint2float_rn(zu);f[5]=__uint2float_rd(zu);
 f[6]=__ll2float_rn(z);f[7]=__ll2float_rz(z);f[8]=__ll2float_ru(z);f[9]=__ull2float_rn(uz);f[10]=__double2float_rn(y);f[11]=__double2float_rz(y);f[12]=__double2float_ru(y);f[13]=__double2float_rd(y);f[14]=rintf(x);f[15]=truncf(x);
 double*g=od+i*8;g[0]=__int2double_rn(zi);g[1]=__uint2double_rn(zu);g[2]=__ll2double_rn(z);g[3]=__ll2double_rz(z);g[4]=__ull2double_ru(uz);g[5]=(double)x;g[6]=rint(y);g[7]=ceil(y);}
G void small(const signed char*c,const unsigned char*u,const short*s,float*o,int n){int i=T;if(i>=n)return;float*p=o+i*4;p[0]=c[i];p[1]=u[i];p[2]=s[i];p[3]=(float)(unsigned short)s[i];}
G void half1(const __half*a,const __half*b,const __half*c,__half*o,float*f,int*k,int n){int i=T;if(i>=n)return;__half x=a[i],y=b[i],z=c[i];__half*p=o+i*12;
 p[0]=__hadd(x,y);p[1]=__hmul(x,y);p[2]=__hfma(x,y,z);p[3]=__hsub(x,y);p[4]=__hdiv(x,y);p[5]=__hmin(x,y);p[6]=__hmax(x,y);p[7]=__hneg(x);p[8]=__habs(x);p[9]=__hfma_sat(x,y,z);p[10]=__hfma_relu(x,y,z);p[11]=__float2half_rz(__half2float(x)*1.0009765f);
 f[i]=__half2float(x);k[4*i]=__hlt(x,y);k[4*i+1]=__heq(x,y)|__hne(x,y)<<1;k[4*i+2]=__half2int_rn(x);k[4*i+3]=__half2ushort_rz(__habs(y));}
G void half2k(const __half2*a,const __half2*b,__half2*o,int n){int i=T;if(i>=n)return;__half2 x=a[i],y=b[i];__half2*p=o+i*6;
 p[0]=__hadd2(x,y);p[1]=__hmul2(x,__low2half2(y));p[2]=__hfma2(x,__high2half2(y),y);p[3]=__hmax2(x,y);p[4]=__hgt2(x,y);p[5]=__lowhigh2highlow(x);}
G void bf(const __nv_bfloat16*a,const __nv_bfloat16*b,__nv_bfloat16*o,float*f,int n){int i=T;if(i>=n)return;__nv_bfloat16 x=a[i],y=b[i];__nv_bfloat16*p=o+i*6;
 p[0]=__hadd(x,y);p[1]=__hmul(x,y);p[2]=__hfma(x,y,x);p[3]=__hmax(x,y);p[4]=__hmin(x,y);p[5]=__float2bfloat16(__bfloat162float(x)*1.00390625f);f[i]=__bfloat162float(x);}
G void ints(const int*a,const int*b,int*o,int n){int i=T;if(i>=n)return;int x=a[i],y=b[i];unsigned ux=x,uy=y;int*p=o+i*32;
 p[0]=x*y;p[1]=__mulhi(x,y);p[2]=__umulhi(ux,uy);p[3]=__mul24(x,y);p[4]=min(x,y);p[5]=max(ux,uy);p[6]=abs(x);p[7]=__clz(x);p[8]=__ffs(x);p[9]=__popc(x);p[10]=__brev(x);p[11]=__byte_perm(x,y,0x6135);p[12]=__funnelshift_l(x,y,y);p[13]=__funnelshift_r(x,y,y);p[14]=__funnelshift_lc(x,y,y&63);p[15]=__funnelshift_rc(x,y,y&63);
 p[16]=x<<(y&31);p[17]=x>>(y&31);p[18]=ux>>(uy&31);p[19]=__dp4a(x,y,7);p[20]=__dp4a(ux,uy,9u);p[21]=__dp2a_lo(x,y,3);p[22]=__dp2a_hi(ux,uy,3u);p[23]=__sad(x,y,5);p[24]=__hadd(x,y);p[25]=__rhadd(x,y);p[26]=__vadd2(x,y);p[27]=__vmaxs2(x,y);p[28]=__vabsdiffu4(x,y);p[29]=__vcmpgtu4(x,y);p[30]=(x&0xff00)|(y&~0xff00);p[31]=__vsadu4(x,y);}
G void ints64(const long long*a,const long long*b,long long*o,int n){int i=T;if(i>=n)return;long long x=a[i],y=b[i];unsigned long long ux=x,uy=y;long long*p=o+i*18;
 p[0]=x+y;p[1]=x-y;p[2]=x*y;p[3]=__mul64hi(x,y);p[4]=__umul64hi(ux,uy);p[5]=x<<(y&63);p[6]=x>>(y&63);p[7]=ux>>(uy&63);p[8]=min(x,y);p[9]=max(ux,uy);p[10]=__clzll(x);p[11]=__ffsll(x);p[12]=__popcll(x);p[13]=__brevll(x);p[14]=x/(y?y:1);p[15]=ux%(uy?uy:1);p[16]=llabs(x);p[17]=(x<y)|(ux<uy)<<1|(x==y)<<2|(x>=0)<<3;}
