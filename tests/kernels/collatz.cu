// Steps of the 3n + 1 sequence down to 1 and the highest value met: a loop whose length differs in every thread.
extern "C" __global__ void collatz(const unsigned *__restrict__ start, unsigned *__restrict__ steps,
                                   unsigned long long *__restrict__ peak, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = start[i], top = v;
    unsigned count = 0;
    while (v > 1) {
        if (v & 1) {
            v = 3 * v + 1;
            if (v > top)
                top = v;
        } else {
            v >>= 1;
        }
        if (++count == 10000)
            break;
    }
    steps[i] = count;
    peak[i] = top;
}
