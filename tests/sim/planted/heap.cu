// malloc and free of device code. what: 0 right, 1 a read before a write, 2 past the end, 3 after free, 4 freed twice,
// 5 freed in the middle, 6 freed memory of the host, 7 never freed, 8 a write after free, 9 in front of the beginning
#define K extern "C" __global__ void

__device__ __noinline__ int *make(int n)
{
    return (int *)malloc(n * sizeof(int));
}

K heap(int *o, int what)
{
    if (threadIdx.x != 3 || blockIdx.x != 1)
        return;
    int *volatile p = make(16);
    if (what != 1)
        for (int i = 0; i < 16; i++)
            p[i] = i;
    int v = p[5]; // FAULT heap_uninitialised
    if (what == 2)
        v += p[16]; // FAULT heap_past
    if (what == 9)
        v += p[-1]; // FAULT heap_before
    if (what == 5)
        free((int *)p + 4); // FAULT heap_middle
    if (what == 6)
        free(o); // FAULT heap_foreign
    if (what != 7)
        free(p); // FREE heap
    if (what == 3)
        v += p[2]; // FAULT heap_after_free
    if (what == 8)
        p[2] = v; // FAULT heap_write_after_free
    if (what == 4)
        free(p); // FAULT heap_twice
    *o = v;
}
