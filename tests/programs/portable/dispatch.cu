// Calls by tables: pointers to functions, virtual functions, machines that interpret code.
#include <stdint.h>
#include <new>
#define KERNEL extern "C" __global__ void
#define STAYS __device__ __noinline__

typedef int (*Binary)(int, int);
STAYS int plus(int a, int b) { return a + b; }
STAYS int minus(int a, int b) { return a - b; }
STAYS int times(int a, int b) { return a * b; }
STAYS int larger(int a, int b) { return a > b ? a : b; }
STAYS int power(int a, int b) { int r = 1; for (b &= 7; b; b--) r *= a; return r; }
__device__ const Binary TABLE[5] = {plus, minus, times, larger, power};
__constant__ Binary CONSTANT[5] = {power, larger, times, minus, plus};
KERNEL table_global(const int *a, const int *which, int *o) {
    int t = threadIdx.x, x = a[t];
    for (int k = 0; k < 6; k++) x = TABLE[which[t * 6 + k]](x, k + t);
    o[t] = x;
}
KERNEL table_constant(const int *a, const int *which, int *o) {  // each thread by its own way
    int t = threadIdx.x, x = a[t];
    for (int k = 0; k < 6; k++) x = CONSTANT[which[t * 6 + k]](x, k - t) ^ CONSTANT[which[t * 6]](x, k);
    o[t] = x;
}

STAYS int compose(Binary f, Binary g, int x, int n) { return n ? compose(g, f, f(x, n), n - 1) : x; }
STAYS int fold(Binary f, const int *a, int n, int start) { for (int k = 0; k < n; k++) start = f(start, a[k]); return start; }
KERNEL higher_order(const int *a, int *o, int n) {
    int t = threadIdx.x;
    o[t] = compose(TABLE[t % 5], TABLE[t / 5 % 5], a[t * n], t % 7) + fold(TABLE[t % 4], a + t * n, n, 3);
}

struct Shape {
    float w;
    __device__ Shape(float w) : w(w) {}
    virtual __device__ float area() const = 0;
    virtual __device__ float round() const = 0;
    virtual __device__ int corners() const { return 4; }
};
struct Square : Shape {
    __device__ Square(float w) : Shape(w) {}
    __device__ float area() const override { return w * w; }
    __device__ float round() const override { return 4 * w; }
};
struct Box : Square {
    float h;
    __device__ Box(float w, float h) : Square(w), h(h) {}
    __device__ float area() const override { return w * h; }
    __device__ float round() const override { return 2 * (w + h); }
};
struct Triangle : Shape {
    __device__ Triangle(float w) : Shape(w) {}
    __device__ float area() const override { return w * w * 0.5f; }
    __device__ float round() const override { return 3 * w; }
    __device__ int corners() const override { return 3; }
};
__device__ Shape *made(void *room, int kind, float w, float h) {
    switch (kind) {
    case 0: return new (room) Square(w);
    case 1: return new (room) Box(w, h);
    default: return new (room) Triangle(w);
    }
}
KERNEL virtual_local(const int *kinds, const float *w, float *o) {  // objects on the stack, tables in .global
    alignas(8) char room[4][32];
    Shape *shapes[4];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) shapes[k] = made(room[k], kinds[4 * t + k], w[4 * t + k], k + 1);
    float total = 0;
    for (int k = 0; k < 4; k++) total += shapes[k]->area() * 2 + shapes[k]->round() * shapes[k]->corners();
    o[t] = total;
}
KERNEL virtual_heap(const int *kinds, const float *w, float *o) {  // objects of malloc()
    int t = threadIdx.x;
    Shape *shapes[3];
    for (int k = 0; k < 3; k++) shapes[k] = made(malloc(sizeof(Box)), kinds[4 * t + k], w[4 * t + k], k + 2);
    float total = 0;
    for (int k = 0; k < 3; k++) total += shapes[k]->area() - shapes[k]->round() * shapes[k]->corners();
    for (int k = 0; k < 3; k++) free(shapes[k]);
    o[t] = total;
}

struct Tree {
    virtual __device__ int value() const = 0;
};
struct Leaf : Tree {
    int v;
    __device__ int value() const override { return v; }
};
struct Sum : Tree {
    Tree *a, *b;
    __device__ int value() const override { return a->value() + b->value(); }
};
struct Product : Tree {
    Tree *a, *b;
    __device__ int value() const override { return a->value() * b->value() + 1; }
};
KERNEL virtual_recursion(const int *a, int *o) {  // a tree of objects that call each other
    int t = threadIdx.x;
    Leaf leaves[8];
    Sum sums[4];
    Product products[3];
    for (int k = 0; k < 8; k++) new (&leaves[k]) Leaf, leaves[k].v = a[t * 8 + k];
    for (int k = 0; k < 4; k++) new (&sums[k]) Sum, sums[k].a = &leaves[2 * k], sums[k].b = &leaves[2 * k + 1 - (t >> k & 1)];
    for (int k = 0; k < 3; k++) new (&products[k]) Product;
    products[0].a = &sums[0], products[0].b = &sums[1], products[1].a = t & 1 ? (Tree *)&sums[2] : &leaves[4], products[1].b = &sums[3];
    products[2].a = &products[0], products[2].b = &products[1];
    Tree *root = &products[2];
    o[t] = root->value();
}

// Code of bytes: a stack machine with a jump table ...
enum Op : uint8_t { PUSH, ADD, SUB, MUL, XOR, DUP, SWAP, OVER, DROP, ROT, SHL, SHR, NOT, NEG, JNZ, JMP, LESS, LOAD, STORE, HALT };
KERNEL byte_code(const uint8_t *code, const int *a, int *o, int length) {
    int stack[12], cells[4] = {a[2 * threadIdx.x], a[2 * threadIdx.x + 1], 0, 0}, sp = 0, pc = threadIdx.x % 3 * length, steps = 0;
    for (bool on = true; on && steps < 1000; steps++) {
        switch (code[pc++]) {
        case PUSH: stack[sp++] = (int8_t)code[pc++]; break;
        case ADD: sp--, stack[sp - 1] += stack[sp]; break;
        case SUB: sp--, stack[sp - 1] -= stack[sp]; break;
        case MUL: sp--, stack[sp - 1] *= stack[sp]; break;
        case XOR: sp--, stack[sp - 1] ^= stack[sp]; break;
        case DUP: stack[sp] = stack[sp - 1], sp++; break;
        case SWAP: { int t = stack[sp - 1]; stack[sp - 1] = stack[sp - 2], stack[sp - 2] = t; break; }
        case OVER: stack[sp] = stack[sp - 2], sp++; break;
        case DROP: sp--; break;
        case ROT: { int t = stack[sp - 3]; stack[sp - 3] = stack[sp - 2], stack[sp - 2] = stack[sp - 1], stack[sp - 1] = t; break; }
        case SHL: sp--, stack[sp - 1] <<= stack[sp] & 31; break;
        case SHR: sp--, stack[sp - 1] = (unsigned)stack[sp - 1] >> (stack[sp] & 31); break;
        case NOT: stack[sp - 1] = ~stack[sp - 1]; break;
        case NEG: stack[sp - 1] = -stack[sp - 1]; break;
        case JNZ: { int to = (int8_t)code[pc++]; if (stack[--sp]) pc += to; break; }
        case JMP: { int to = (int8_t)code[pc++]; pc += to; break; }
        case LESS: sp--, stack[sp - 1] = stack[sp - 1] < stack[sp]; break;
        case LOAD: stack[sp++] = cells[code[pc++] & 3]; break;
        case STORE: cells[code[pc++] & 3] = stack[--sp]; break;
        default: on = false;
        }
    }
    for (int k = 0; k < 4; k++) o[5 * threadIdx.x + k] = cells[k];
    o[5 * threadIdx.x + 4] = steps;
}

// ... and a machine of registers, whose operations are functions.
struct Machine { int r[4]; unsigned pc, steps; };
typedef void (*Step)(Machine *, unsigned);
STAYS void op_add(Machine *m, unsigned i) { m->r[i >> 4 & 3] = m->r[i >> 6 & 3] + m->r[i >> 8 & 3]; }
STAYS void op_mul(Machine *m, unsigned i) { m->r[i >> 4 & 3] = m->r[i >> 6 & 3] * m->r[i >> 8 & 3]; }
STAYS void op_sub(Machine *m, unsigned i) { m->r[i >> 4 & 3] = m->r[i >> 6 & 3] - m->r[i >> 8 & 3]; }
STAYS void op_set(Machine *m, unsigned i) { m->r[i >> 4 & 3] = (int)i >> 16; }
STAYS void op_loop(Machine *m, unsigned i) { if (--m->r[i >> 4 & 3] > 0) m->pc = i >> 16; }
STAYS void op_halt(Machine *m, unsigned i) { m->steps |= 1u << 31; }
__device__ const Step STEPS[6] = {op_add, op_mul, op_sub, op_set, op_loop, op_halt};
KERNEL register_machine(const unsigned *code, int *o, int length) {
    Machine m = {{(int)threadIdx.x, 1, 2, 3}, threadIdx.x % 2 * length, 0};
    while (m.steps < 200) {
        unsigned i = code[m.pc++];
        m.steps++;
        STEPS[i & 15](&m, i);
    }
    for (int k = 0; k < 4; k++) o[5 * threadIdx.x + k] = m.r[k];
    o[5 * threadIdx.x + 4] = m.steps & 0x7fffffff;
}

typedef int (*State)(int *, int);
STAYS int blanks(int *, int), word(int *, int), number(int *, int);
STAYS int blanks(int *n, int c) { return c >= '0' && c <= '9' ? (n[1]++, 2) : c > ' ' ? (n[0]++, 1) : 0; }
STAYS int word(int *n, int c) { n[2] = n[2] * 31 + c; return c > ' ' ? 1 : 0; }
STAYS int number(int *n, int c) { n[3] += c - '0'; return c >= '0' && c <= '9' ? 2 : c > ' ' ? 1 : 0; }
__constant__ State STATES[3] = {blanks, word, number};
KERNEL state_machine(const char *text, int *o, int n) {
    int seen[4] = {0, 0, 0, 0}, state = 0;
    for (int k = 0; k < n; k++) state = STATES[state](seen, text[threadIdx.x * n + k]);
    for (int k = 0; k < 4; k++) o[threadIdx.x * 4 + k] = seen[k];
}
