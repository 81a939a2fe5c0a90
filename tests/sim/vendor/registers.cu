// targets: sm_90a sm_100a sm_120a
// Warp groups of which one gives registers back and the others take them (setmaxnreg).
extern "C" __global__ void __launch_bounds__(384, 1) specialised(const float *x, float *out, int rounds)
{
    __shared__ float passed[128];
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        passed[threadIdx.x] = 3.0f * x[threadIdx.x];
        asm volatile("barrier.sync 1, 384;" ::: "memory");
        out[threadIdx.x] = 1.0f;
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float values[200], sum = 0;
    for (int i = 0; i < 200; i++)
        values[i] = x[i * 128 + threadIdx.x % 128];
    asm volatile("barrier.sync 1, 384;" ::: "memory");
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < 200; i++)
            values[i] = values[i] * 0.5f + values[199 - i];
    }
#pragma unroll
    for (int i = 0; i < 200; i++)
        sum += values[i] * (float)(i % 3);
    out[threadIdx.x] = sum + passed[threadIdx.x % 128];
}

// Nobody gives any.
extern "C" __global__ void __launch_bounds__(384, 1) greedy(float *out)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[threadIdx.x] = 1.0f;
}
