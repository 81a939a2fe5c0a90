// targets: sm_100a sm_120a
// 256-bit loads and stores, reductions over a multicast object, hints to the caches.
#include <cstdint>

extern "C" __global__ void wide(int *x, int *out)
{
    int v[8], *from = x + 8 * threadIdx.x, *to = out + 32 * threadIdx.x;
    asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]) : "l"(from) : "memory");
    asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(to), "r"(v[7]), "r"(v[6]), "r"(v[5]), "r"(v[4]), "r"(v[3]), "r"(v[2]), "r"(v[1]), "r"(v[0]) : "memory");
    asm volatile("ld.global.v8.b32 {%0, _, %1, _, _, %2, _, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(from) : "memory");
    for (int i = 0; i < 4; i++)
        to[8 + i] = v[i];
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.s32 %0, [%1];" : "=r"(v[0]) : "l"(from + 3) : "memory");
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];" : "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]) : "l"(from + 4) : "memory");
    for (int i = 0; i < 5; i++)
        to[12 + i] = v[i];
    asm volatile("multimem.st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to + 17), "r"(77) : "memory");
    asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(to + 17), "r"(1) : "memory");
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("prefetch.global.L2 [%0]; applypriority.global.L2::evict_normal [%1], 128;" ::"l"(from), "l"(x) : "memory");
    asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(v[0]) : "l"(from), "l"(policy) : "memory");
    to[18] = v[0];
}
