// Functions that call themselves, by one way or another.
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define STAYS __device__ __noinline__

STAYS void quick(int *a, int low, int high) {  // both halves by recursion
    if (low >= high) return;
    int pivot = a[(low + high) >> 1], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    quick(a, low, j);
    quick(a, i, high);
}
KERNEL quicksort(int *a, int n) { quick(a + threadIdx.x * n, 0, n - 1); }

STAYS void merge_halves(int *a, int *b, int n) {
    if (n < 2) return;
    int h = n / 2;
    merge_halves(a, b, h);
    merge_halves(a + h, b + h, n - h);
    for (int i = 0, j = h, k = 0; k < n; k++) b[k] = j >= n || (i < h && a[i] <= a[j]) ? a[i++] : a[j++];
    for (int k = 0; k < n; k++) a[k] = b[k];
}
KERNEL mergesort(int *a, int *scratch, int n) { merge_halves(a + threadIdx.x * n, scratch + threadIdx.x * n, n); }

STAYS int place(int n, unsigned columns, unsigned left, unsigned right) {
    unsigned all = (1u << n) - 1;
    if (columns == all) return 1;
    int found = 0;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned bit = open & -open;
        found += place(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}
KERNEL queens(int *o) { o[threadIdx.x] = place(1 + (threadIdx.x & 7) % 7, 0, 0, 0); }

struct Node { int key, left, right; };
STAYS int insert(Node *nodes, int at, int fresh) {  // returns the root of the tree
    if (at < 0) return fresh;
    if (nodes[fresh].key < nodes[at].key) nodes[at].left = insert(nodes, nodes[at].left, fresh);
    else nodes[at].right = insert(nodes, nodes[at].right, fresh);
    return at;
}
STAYS int visit(const Node *nodes, int at, int *o, int n) {
    if (at < 0) return n;
    n = visit(nodes, nodes[at].left, o, n);
    o[n++] = nodes[at].key;
    return visit(nodes, nodes[at].right, o, n);
}
STAYS int depth(const Node *nodes, int at) {
    if (at < 0) return 0;
    int a = depth(nodes, nodes[at].left), b = depth(nodes, nodes[at].right);
    return 1 + (a > b ? a : b);
}
KERNEL search_tree(const int *keys, int *o, int *depths, int n) {
    Node nodes[12];
    int root = -1, t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        nodes[k].key = keys[t * n + k], nodes[k].left = nodes[k].right = -1;
        root = insert(nodes, root, k);
    }
    visit(nodes, root, o + t * n, 0);
    depths[t] = depth(nodes, root);
}

STAYS int female(int n);
STAYS int male(int n) { return n ? n - female(male(n - 1)) : 0; }
STAYS int female(int n) { return n ? n - male(female(n - 1)) : 1; }
KERNEL hofstadter(int *o) { o[2 * threadIdx.x] = male(threadIdx.x & 15), o[2 * threadIdx.x + 1] = female(threadIdx.x & 15); }

STAYS int tak(int x, int y, int z) { return y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z; }
KERNEL takeuchi(int *o) { int t = threadIdx.x; o[t] = tak(t & 7, t >> 1 & 3, t >> 3); }

STAYS void arrange(char *p, int k, int n, unsigned *count, unsigned *sum) {  // Heap's algorithm
    if (k == 1) {
        unsigned v = 0;
        for (int i = 0; i < n; i++) v = v * 7 + p[i];
        *sum = *sum * 31 + v, ++*count;
        return;
    }
    for (int i = 0; i < k; i++) {
        arrange(p, k - 1, n, count, sum);
        int j = k & 1 ? 0 : i;
        char t = p[j]; p[j] = p[k - 1]; p[k - 1] = t;
    }
}
KERNEL permute(unsigned *o) {
    char p[5];
    unsigned count = 0, sum = 0;
    int n = 2 + threadIdx.x % 4;
    for (int i = 0; i < n; i++) p[i] = i + threadIdx.x;
    arrange(p, n, n, &count, &sum);
    o[2 * threadIdx.x] = count, o[2 * threadIdx.x + 1] = sum;
}

struct Range { double low, high; };
STAYS double simpson(double a, double fa, double b, double fb, double m, double fm, double whole, double eps, int deep) {
    double lm = 0.5 * (a + m), rm = 0.5 * (m + b), flm = 1 / (1 + lm * lm), frm = 1 / (1 + rm * rm);
    double left = (m - a) / 6 * (fa + 4 * flm + fm), right = (b - m) / 6 * (fm + 4 * frm + fb), d = left + right - whole;
    if (deep <= 0 || fabs(d) <= 15 * eps) return left + right + d / 15;
    return simpson(a, fa, m, fm, lm, flm, left, eps / 2, deep - 1) + simpson(m, fm, b, fb, rm, frm, right, eps / 2, deep - 1);
}
KERNEL integrate(const double *ends, double *o) {  // nine doubles in each call: some of them on the stack
    double a = 0, b = ends[threadIdx.x], m = 0.5 * (a + b), fa = 1, fb = 1 / (1 + b * b), fm = 1 / (1 + m * m);
    o[threadIdx.x] = simpson(a, fa, b, fb, m, fm, (b - a) / 6 * (fa + 4 * fm + fb), 1e-6, 6);
}

STAYS int fill(char *grid, int w, int h, int x, int y) {
    if (x < 0 || y < 0 || x >= w || y >= h || grid[y * w + x] != '.') return 0;
    grid[y * w + x] = '#';
    return 1 + fill(grid, w, h, x + 1, y) + fill(grid, w, h, x - 1, y) + fill(grid, w, h, x, y + 1) + fill(grid, w, h, x, y - 1);
}
KERNEL flood(char *grids, int *sizes, int w, int h) {  // every thread its picture: the sizes of its areas
    char *grid = grids + threadIdx.x * w * h;
    int n = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (int size = fill(grid, w, h, x, y)) sizes[threadIdx.x * 8 + n++ % 8] = size;
}

STAYS int64_t chain_end(int64_t x, int n);
STAYS int64_t link_a(int64_t x, int n) { return n & 8 ? chain_end(x * 3, n - 1) + 1 : x ^ n; }
STAYS int64_t link_b(int64_t x, int n) { return link_a(x + n, n) * 2; }
STAYS int64_t link_c(int64_t x, int n) { return link_b(x, n) - link_b(x >> 1, n - 1); }
STAYS int64_t link_d(int64_t x, int n) { return link_c(x, n) ^ x; }
STAYS int64_t link_e(int64_t x, int n) { return link_d(x + 1, n) + link_d(x - 1, n); }
STAYS int64_t chain_end(int64_t x, int n) { return n ? link_e(x, n - 1) + n : x; }
KERNEL call_chain(const int64_t *a, int64_t *o) { o[threadIdx.x] = chain_end(a[threadIdx.x], threadIdx.x % 12); }

struct Big { int v[10]; double d; };  // 48 bytes: by value, in and out
STAYS Big fold(Big b, int n) {
    if (n == 0) return b;
    Big c;
    for (int k = 0; k < 10; k++) c.v[k] = b.v[(k + 3) % 10] + n * k;
    c.d = b.d * 0.5 + n;
    c = fold(c, n - 1);
    for (int k = 0; k < 10; k++) c.v[k] ^= b.v[k];
    c.d += b.d;
    return c;
}
KERNEL struct_values(const int *a, int *o, double *od) {
    Big b;
    for (int k = 0; k < 10; k++) b.v[k] = a[threadIdx.x * 10 + k];
    b.d = threadIdx.x;
    b = fold(b, threadIdx.x & 7);
    for (int k = 0; k < 10; k++) o[threadIdx.x * 10 + k] = b.v[k];
    od[threadIdx.x] = b.d;
}
