// A tiny stack-free interpreter: a dense switch (a jump table in PTX) inside a loop, divergent in every warp.
extern "C" __global__ void interpret(const unsigned char *__restrict__ program, int length, const int *__restrict__ x,
                                     int *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int acc = x[i], reg = i;
    for (int pc = 0; pc < length; pc++) {
        switch ((program[pc] + i) % 13) {
        case 0: acc += reg; break;
        case 1: acc -= reg; break;
        case 2: acc *= 3; break;
        case 3: acc ^= reg << 2; break;
        case 4: reg = acc; break;
        case 5: reg = acc >> 3; acc = ~acc; break;
        case 6: acc = max(acc, reg); break;
        case 7: acc = __popc(acc) + (reg & 255); break;
        case 8: acc = (int)((unsigned)acc >> 5) | (reg << 27); break;
        case 9: acc = acc < 0 ? -acc : acc + 7; break;
        case 10: reg += x[(unsigned)acc % (unsigned)n]; break;
        case 11: acc &= 0xffff; reg |= 1; break;
        default: reg -= 5; acc += 1000; break;
        }
    }
    out[i] = acc ^ reg;
}

// The same switch is uniform in a block here: the selector is a parameter.
extern "C" __global__ void select_op(int op, const float *__restrict__ x, float *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    switch (op) {
    case 1: v = v * v; break;
    case 2: v = fabsf(v) + 1.0f; break;
    case 3: v = rintf(v); break;
    case 4: v = floorf(v) - ceilf(v * 0.5f); break;
    case 5: v = (float)(int)v; break;
    case 6: v = fminf(v, 0.5f); break;
    case 7: v = -v; break;
    case 8: v = v > 0.0f ? 1.0f : 0.0f; break;
    default: v = 0.0f; break;
    }
    out[i] = v;
}
