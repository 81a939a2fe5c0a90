// Ordinary C for a GPU; each PART is a module of its own. Compiled by clang to LLVM IR and by llc to PTX.
#define KERNEL __attribute__((nvptx_kernel))
#define SHARED __attribute__((address_space(3)))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define CTA __nvvm_read_ptx_sreg_ctaid_x()
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));

#if PART == 0  // sorting and searching
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static int part(int *a, int lo, int hi) {
  int pivot = a[hi], i = lo;
  for (int j = lo; j < hi; j++) if (a[j] < pivot) swap(&a[i++], &a[j]);
  swap(&a[i], &a[hi]);
  return i;
}
__attribute__((noinline)) void quicksort(int *a, int lo, int hi) {
  while (lo < hi) {
    int p = part(a, lo, hi);
    if (p - lo < hi - p) { quicksort(a, lo, p - 1); lo = p + 1; }
    else { quicksort(a, p + 1, hi); hi = p - 1; }
  }
}
int find(const int *a, int n, int x) {
  int lo = 0, hi = n;
  while (lo < hi) { int m = (lo + hi) / 2; if (a[m] < x) lo = m + 1; else hi = m; }
  return lo < n && a[lo] == x ? lo : -1;
}
KERNEL void sort(int *a, int n) { quicksort(a + TID * n, 0, n - 1); a[TID] = find(a, n, 7); }
#elif PART == 1  // hashes and bits
u32 crc(const u8 *p, int n) {
  u32 c = ~0u;
  while (n--) { c ^= *p++; for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1; }
  return ~c;
}
u64 mix(u64 h) { h ^= h >> 33; h *= 0xff51afd7ed558ccdull; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ull; return h ^ h >> 33; }
u32 rotate(u32 x, int k) { return x << k | x >> (32 - k); }
u32 sha(const u32 *w, u32 a, u32 e) {
  for (int i = 0; i < 16; i++) { u32 s = rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7); a += s + w[i]; e = a ^ (e & a) ^ (~e & s); }
  return a + e;
}
KERNEL void hash(const u8 *p, u32 *out, int n) {
  out[TID] = crc(p, n) + (u32)mix(n) + sha((const u32 *)p, n, 7) + __builtin_popcountll(n) + __builtin_clz(n) + __builtin_ctz(n) + __builtin_bswap32(n);
}
#elif PART == 2  // matrices through shared memory
static SHARED float ta[16][16], tb[16][17];
KERNEL void multiply(const float *a, const float *b, float *c, int n) {
  int x = TID & 15, y = TID >> 4;
  float s = 0;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[(CTA * 16 + y) * n + k + x];
    tb[y][x] = b[(k + y) * n + x];
    __nvvm_bar_sync(0);
    for (int i = 0; i < 16; i++) s += ta[y][i] * tb[i][x];
    __nvvm_bar_sync(0);
  }
  c[(CTA * 16 + y) * n + x] = s;
}
KERNEL void vectors(f4 *x, i4 *y, float a) {
  f4 v = x[TID] * a + x[TID + 1].wzyx;
  i4 m = v > (f4)1.0f;
  y[TID] = m & y[TID + 3];
  x[TID] = __builtin_elementwise_max(v, x[TID + 2]);
}
#elif PART == 3  // structures, unions, bit fields, function pointers
struct Bits { u32 a : 3; int b : 11; u64 c : 40; };
union Any { float f; u32 u; u8 b[4]; };
struct Node { struct Node *left, *right; int key; short tag; struct Bits bits; };
typedef int (*Visit)(const struct Node *, void *);
static int count(const struct Node *n, void *p) { return ++*(int *)p + n->tag; }
static int total(const struct Node *n, void *p) { return *(int *)p += n->bits.b + (int)n->bits.c; }
int walk(const struct Node *n, Visit visit, void *p) {
  return n ? walk(n->left, visit, p) + visit(n, p) + walk(n->right, visit, p) : 0;
}
const Visit visits[2] = {count, total};
struct Node root = {0, 0, 5, -3, {1, -2, 3}};
struct Bits change(struct Bits b, union Any u) { b.a ^= u.b[1]; b.c += u.u; return b; }
KERNEL void tree(struct Node *n, int *out, int which) {
  union Any u = {.f = 2.5f};
  out[TID] = walk(n, visits[which & 1], out) + root.key;
  n->bits = change(n->bits, u);
}
#elif PART == 4  // whole numbers: division, 128 bits, saturation, overflow
__int128 wide(__int128 a, long long b) { return (a * b >> 7) + (a << 3) - b; }
KERNEL void numbers(long long *a, int *b, u16 *c, signed char *d) {
  a[1] = a[0] / 7 + a[0] % b[0] + (u64)a[2] / 10 + a[3] / a[4];
  b[1] = b[0] / 3 + b[2] % 5 + b[3] / b[4] + (u32)b[5] % 1000;
  c[1] = c[0] / 3 + c[2] % c[3];
  d[1] = d[0] / d[2] + d[3] * d[4];
  int sum; long long product;
  if (__builtin_add_overflow(b[6], b[7], &sum)) sum = 0x7fffffff;
  if (__builtin_mul_overflow(a[6], a[7], &product)) product = -1;
  a[8] = wide((__int128)a[9] << 64 | a[10], a[11]) >> 64;
  b[8] = sum + __builtin_rotateleft32(b[9], b[10]) + __builtin_bitreverse32(b[11]);
  a[12] = product;
}
#elif PART == 5  // floats of all sizes
KERNEL void floats(float *f, double *d, _Float16 *h, h2 *p, __bf16 *b) {
  f[1] = __builtin_sqrtf(f[0]) + __builtin_fabsf(f[2]) + __builtin_floorf(f[3]) + __builtin_fmaf(f[0], f[2], f[3]) + f[4] / f[5];
  d[1] = __builtin_sqrt(d[0]) + d[2] / d[3] + __builtin_fma(d[4], d[5], 1e-300) + __builtin_ceil(d[6]) + (double)f[7];
  h[1] = h[0] * h[2] + (_Float16)f[8] - (_Float16)d[8] + (h[3] < h[4] ? h[5] : (_Float16)2);
  p[1] = p[0] * p[2] + p[3];
  f[9] = (float)b[0] + (float)h[6] + __builtin_copysignf(f[10], f[11]) + __builtin_truncf(f[12]);
  d[9] = (int)d[10] + (u64)f[13] + (signed char)d[11] + (u32)d[12] + __builtin_rint(d[13]);
  f[14] = __builtin_isnan(f[15]) + __builtin_isinf(f[16]) + (f[17] != f[17]) + !(f[18] >= f[19]);
  f[20] = __nvvm_ex2_approx_f(f[0]) + __nvvm_lg2_approx_f(f[1]) + __nvvm_sin_approx_f(f[2]) + __nvvm_rcp_approx_ftz_f(f[3]) + __nvvm_rsqrt_approx_f(f[4]);
  f[21] = __nvvm_add_rz_f(f[0], f[1]) + __nvvm_fma_rm_ftz_f(f[0], f[1], f[2]) + __nvvm_mul_rp_f(f[3], f[4]) + __nvvm_div_rn_f(f[5], f[6]);
}
#elif PART == 6  // atomics and fences of C
KERNEL void atomics(int *a, u64 *b, float *f, SHARED int *s) {
  int old = __atomic_fetch_add(a, 1, __ATOMIC_RELAXED) + __atomic_exchange_n(a + 1, 3, __ATOMIC_SEQ_CST) + __atomic_fetch_xor(a + 2, 5, __ATOMIC_ACQ_REL);
  old += __atomic_fetch_min(a + 3, 7, __ATOMIC_RELAXED) + __atomic_fetch_max((u32 *)a + 4, 7u, __ATOMIC_RELEASE);
  int want = old;
  __atomic_compare_exchange_n(a + 5, &want, 4, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  b[1] = __atomic_fetch_or(b, 7, __ATOMIC_SEQ_CST) + __atomic_load_n(b + 2, __ATOMIC_RELAXED) + want;
  __atomic_store_n(a + 6, old, __ATOMIC_RELAXED);
  __nvvm_atom_add_gen_f(f, 2.0f);
  __nvvm_atom_inc_gen_ui((u32 *)a + 7, 9);
  __nvvm_atom_cas_gen_ll((long long *)b + 3, 4, 5);
  __atomic_fetch_add(s, 4, __ATOMIC_RELAXED);
  __nvvm_membar_cta();
  __nvvm_membar_gl();
  __nvvm_membar_sys();
}
#elif PART == 7  // warps
KERNEL void warps(u32 *d, float *f) {
  u32 v = d[TID];
  for (int k = 16; k; k >>= 1) v += __nvvm_shfl_sync_bfly_i32(~0u, v, k, 31);
  f[TID] = __nvvm_shfl_sync_down_f32(~0u, f[TID], 1, 31) + __nvvm_shfl_sync_idx_f32(~0u, f[0], v, 31);
  v += __nvvm_vote_ballot_sync(~0u, v > 3) + __nvvm_vote_any_sync(~0u, v == 2) + __nvvm_vote_all_sync(~0u, v != 1) + __nvvm_match_any_sync_i32(~0u, v);
  __nvvm_bar_warp_sync(~0u);
  v += __nvvm_bar0_popc(v) + __nvvm_bar0_or(v) + __nvvm_read_ptx_sreg_laneid() + __nvvm_read_ptx_sreg_lanemask_lt() + __nvvm_read_ptx_sreg_clock();
  d[TID] = v + __nvvm_read_ptx_sreg_nctaid_y() + __nvvm_read_ptx_sreg_smid() + (u32)__nvvm_read_ptx_sreg_clock64() + __nvvm_read_ptx_sreg_ntid_x();
}
#elif PART == 8  // variable arguments, arrays on the stack, strings
static int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
__attribute__((noinline)) int total(int n, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, n);
  int sum = 0;
  for (int i = 0; i < n; i++) sum += __builtin_va_arg(list, int);
  sum += (int)__builtin_va_arg(list, double);
  __builtin_va_end(list);
  return sum;
}
const char *const names[] = {"add", "subtract", "multiply", "a \"quoted\" word\n"};
KERNEL void strings(char *out, int n) {
  char text[64];
  const char *name = names[n & 3];
  int l = length(name), at = 0;
  for (int i = l - 1; i >= 0; i--) text[at++] = name[i];
  __builtin_memcpy(out, text, sizeof text);
  __builtin_memset(out + 64, 0x20, 100);
  out[200] = total(3, l, at, n, 2.5);
}
#elif PART == 9  // assembly written by hand
KERNEL void assembly(u32 *d, u64 *l, float *f) {
  u32 a, b;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(a));
  asm("{ .reg .pred p; setp.eq.u32 p, %1, 3; selp.u32 %0, 1, 0, p; }" : "=r"(b) : "r"(a));
  asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(f[0]) : "f"(f[1]), "f"(f[2]));
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(d) : "memory");
  asm volatile("prmt.b32 %0, %1, %2, 0x4321;" : "=r"(d[1]) : "r"(a), "r"(b));
  asm volatile("bfe.u64 %0, %1, 3, 17;" : "=l"(l[1]) : "l"(l[0]));
}
#elif PART == 10  // state machines
enum { START, NUMBER, WORD, SPACE, END };
int lex(const char *s, int *out) {
  int state = START, n = 0, value = 0;
  for (;; s++) {
    char c = *s;
    switch (state) {
      case START: state = c >= '0' && c <= '9' ? NUMBER : c == ' ' ? SPACE : c ? WORD : END; value = 0; s--; break;
      case NUMBER: if (c >= '0' && c <= '9') value = value * 10 + c - '0'; else { out[n++] = value; state = START; s--; } break;
      case WORD: if (c > ' ') value = value * 31 + c; else { out[n++] = -value; state = START; s--; } break;
      case SPACE: if (c != ' ') { state = START; s--; } break;
      default: return n;
    }
  }
}
int operation(int code, int a, int b) {
  switch (code) {
    case 0: return a + b; case 1: return a - b; case 2: return a * b; case 3: return b ? a / b : 0;
    case 4: return a & b; case 5: return a | b; case 6: return a ^ b; case 7: return a << (b & 31); case 8: return ~a;
    case 100: return a > b; case 101: return a < b;
  }
  __builtin_trap();
}
KERNEL void machine(const char *s, int *out) { out[0] = lex(s, out + 1); out[1] = operation(out[2], out[3], out[4]); }
#elif PART == 11  // numerical loops in double precision
double simpson(double a, double b, int n) {
  double h = (b - a) / n, s = 0;
  for (int i = 0; i <= n; i++) { double x = a + i * h; s += (i == 0 || i == n ? 1 : i & 1 ? 4 : 2) * (x * x * x - 2 * x + 1 / (1 + x * x)); }
  return s * h / 3;
}
void fft(double *re, double *im, int n) {
  for (int i = 1, j = 0; i < n; i++) {
    int bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) { double t = re[i]; re[i] = re[j]; re[j] = t; t = im[i]; im[i] = im[j]; im[j] = t; }
  }
}
KERNEL void numeric(double *x, int n) { x[TID] = simpson(x[1], x[2], n); fft(x, x + n, n); }
#endif
