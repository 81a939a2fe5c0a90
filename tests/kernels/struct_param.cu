// A structure passed by value, with members of every size; the kernel also changes its own copy and stores it.
struct Job {
    signed char bias;
    unsigned char clamp;
    short shift;
    int count;
    float gain[4];
    double offset;
    long long tag;
};

extern "C" __global__ void struct_param(Job job, const float *__restrict__ in, float *__restrict__ out, int stride,
                                        Job *__restrict__ copy)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < job.count) {
        float v = in[i];
        float p = ((job.gain[3] * v + job.gain[2]) * v + job.gain[1]) * v + job.gain[0];
        p = (float)((double)p + job.offset) + (float)job.bias + (float)(1 << job.shift);
        if (job.clamp)
            p = fminf(fmaxf(p, -(float)job.clamp), (float)job.clamp);
        out[i] = p;
    }
    if (i == 0) {
        job.count += 1;
        job.gain[stride & 3] = -1.0f;
        job.tag = ~job.tag;
        *copy = job;
    }
}
