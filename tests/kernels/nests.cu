// Convergence in nests of loops and branches: every thread takes its own way through them.
#define KERNEL(name) extern "C" __global__ void name(int *out, const int *in, int n)
#define T const int t = blockIdx.x * blockDim.x + threadIdx.x
#define V(i) in[(t * 7 + (i) * 13) & 1023]

KERNEL(nested_break) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
#pragma unroll 1
        for (int j = 0; j < 64; j++) { s += v ^ j; if ((v & 31) == (j & 31)) break; s = s * 3 + 1; }
        s ^= V(s & 15);
    }
    out[t] = s;
}

KERNEL(break_two) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
#pragma unroll 1
        for (int j = 0; j < 40; j++) { s += v * j; if (s % 97 == 5) goto done; if ((v >> 3 & 15) == j) break; s ^= v >> j; }
        s += V(s & 31);
    }
done:
    out[t] = s;
}

KERNEL(with_continue) {
    T; int s = 1;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
        if (v & 1) { out[1024 + t] = s; continue; }
        s += v;
        if (v % 61 == 7) break;
        if (v & 4) { s = s * 5 + V(s & 7); if (v & 8) continue; s -= V(3); }
        s ^= v << 2;
    }
    out[t] = s;
}

KERNEL(return_inside) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
#pragma unroll 1
        for (int j = 0; j < (v & 15); j++) { s += v ^ j; if (s % 211 == 3) { out[t] = -s; return; } s *= 3; }
        s += V(i + s & 63);
    }
    out[t] = s;
}

KERNEL(fallthrough) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
        switch (v & 7) {
        case 0: s += V(1) / 3;
        case 1: s = s * 5 + V(s & 7); break;
        case 2: s -= V(2) % 11;
        case 3: s ^= V(s & 3); if (s % 127 == 1) goto done; break;
        case 4: s++; continue;
        default: s += V(v & 15);
        }
        s += i;
    }
done:
    out[t] = s;
}

KERNEL(collatz_nest) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        unsigned v = V(i) & 255;
        int k = 0;
#pragma unroll 1
        while (v > 1) { if (v & 1) v = 3 * v + 1; else v >>= 1; if (++k > 40) break; }
        s = s * 2 + k;
    }
    out[t] = s;
}

KERNEL(shared_tail) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
        if (v & 1) { s += V(1) * 3; if (v & 2) goto tail; s ^= V(2); }
        else { s -= V(3); if (v & 4) goto tail; s += V(4) / 7; }
        s = s * 5 + V(s & 7); s ^= V(s & 15) % 13; s += V(s & 3);
        if (v & 8) s++;
    tail:
        s = s * 3 + V(9); s ^= V(s & 31);
    }
    out[t] = s;
}

KERNEL(short_circuit) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int v = V(i);
        if ((v & 1 && V(v & 7) & 1) || (v & 2 && V(v & 3) & 2)) { s += V(5) / 3; s ^= V(s & 7); } else { s -= V(6) % 5; s += V(s & 3); }
        s = s * 3 + 1;
    }
    out[t] = s;
}

KERNEL(deep20) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if ((V(i + 0) & 15) > 1) { s += V(s & 3);
        if ((V(i + 1) & 15) > 2) { s += V(s & 4);
        if ((V(i + 2) & 15) > 1) { s += V(s & 5);
        if ((V(i + 3) & 15) > 2) { s += V(s & 6);
        if ((V(i + 4) & 15) > 1) { s += V(s & 7);
        if ((V(i + 5) & 15) > 2) { s += V(s & 8);
        if ((V(i + 6) & 15) > 1) { s += V(s & 9);
        if ((V(i + 7) & 15) > 2) { s += V(s & 10);
        if ((V(i + 8) & 15) > 1) { s += V(s & 11);
        if ((V(i + 9) & 15) > 2) { s += V(s & 12);
        if ((V(i + 10) & 15) > 1) { s += V(s & 13);
        if ((V(i + 11) & 15) > 2) { s += V(s & 14);
        if ((V(i + 12) & 15) > 1) { s += V(s & 15);
        if ((V(i + 13) & 15) > 2) { s += V(s & 16);
        if ((V(i + 14) & 15) > 1) { s += V(s & 17);
        if ((V(i + 15) & 15) > 2) { s += V(s & 18);
        if ((V(i + 16) & 15) > 1) { s += V(s & 19);
        if ((V(i + 17) & 15) > 2) { s += V(s & 20);
        if ((V(i + 18) & 15) > 1) { s += V(s & 21);
        if ((V(i + 19) & 15) > 2) { s += V(s & 22);
        s = s * 3 + V(s & 20); } else { s ^= 20; out[1024 + t] = s; }
        s = s * 3 + V(s & 19); } else { s ^= 19; out[1024 + t] = s; }
        s = s * 3 + V(s & 18); } else { s ^= 18; out[1024 + t] = s; }
        s = s * 3 + V(s & 17); } else { s ^= 17; out[1024 + t] = s; }
        s = s * 3 + V(s & 16); } else { s ^= 16; out[1024 + t] = s; }
        s = s * 3 + V(s & 15); } else { s ^= 15; out[1024 + t] = s; }
        s = s * 3 + V(s & 14); } else { s ^= 14; out[1024 + t] = s; }
        s = s * 3 + V(s & 13); } else { s ^= 13; out[1024 + t] = s; }
        s = s * 3 + V(s & 12); } else { s ^= 12; out[1024 + t] = s; }
        s = s * 3 + V(s & 11); } else { s ^= 11; out[1024 + t] = s; }
        s = s * 3 + V(s & 10); } else { s ^= 10; out[1024 + t] = s; }
        s = s * 3 + V(s & 9); } else { s ^= 9; out[1024 + t] = s; }
        s = s * 3 + V(s & 8); } else { s ^= 8; out[1024 + t] = s; }
        s = s * 3 + V(s & 7); } else { s ^= 7; out[1024 + t] = s; }
        s = s * 3 + V(s & 6); } else { s ^= 6; out[1024 + t] = s; }
        s = s * 3 + V(s & 5); } else { s ^= 5; out[1024 + t] = s; }
        s = s * 3 + V(s & 4); } else { s ^= 4; out[1024 + t] = s; }
        s = s * 3 + V(s & 3); } else { s ^= 3; out[1024 + t] = s; }
        s = s * 3 + V(s & 2); } else { s ^= 2; out[1024 + t] = s; }
        s = s * 3 + V(s & 1); } else { s ^= 1; out[1024 + t] = s; }
        s++;
    }
    out[t] = s;
}

KERNEL(deep6_goto) {
    T; int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if ((V(i + 0) & 15) > 1) { s += V(s & 3);
        if ((V(i + 1) & 15) > 2) { s += V(s & 4);
        if ((V(i + 2) & 15) > 1) { s += V(s & 5);
        if ((V(i + 3) & 15) > 2) { s += V(s & 6);
        if ((V(i + 4) & 15) > 1) { s += V(s & 7);
        if ((V(i + 5) & 15) > 2) { s += V(s & 8);
        if (s % 5 == 1) goto next;
        s = s * 3 + V(s & 6); } else { s ^= 6; out[1024 + t] = s; }
        s = s * 3 + V(s & 5); } else { s ^= 5; out[1024 + t] = s; }
        s = s * 3 + V(s & 4); } else { s ^= 4; out[1024 + t] = s; }
        s = s * 3 + V(s & 3); } else { s ^= 3; out[1024 + t] = s; }
        s = s * 3 + V(s & 2); } else { s ^= 2; out[1024 + t] = s; }
        s = s * 3 + V(s & 1); } else { s ^= 1; out[1024 + t] = s; }
        s++;
    next:;
    }
    out[t] = s;
}
