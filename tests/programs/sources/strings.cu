// Text, bytes and codes: one string or one block of text a thread.
#include <stdint.h>
#define KERNEL extern "C" __global__ void

// Knuth, Morris, Pratt: how often a pattern occurs in each text.
KERNEL match_kmp(const char *texts, const char *pattern, int *counts, int length, int m) {
    int fail[16], t = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    fail[0] = 0;
    for (int i = 1, k = 0; i < m; i++) {
        while (k && pattern[i] != pattern[k]) k = fail[k - 1];
        if (pattern[i] == pattern[k]) k++;
        fail[i] = k;
    }
    for (int i = 0, k = 0; i < length; i++) {
        char c = texts[t * length + i];
        while (k && (k == m || c != pattern[k])) k = fail[k - 1];
        if (c == pattern[k]) k++;
        if (k == m) found++;
    }
    counts[t] = found;
}

// Horspool: first place of a pattern, -1 without.
KERNEL match_horspool(const unsigned char *texts, const unsigned char *pattern, int *places, int length, int m) {
    __shared__ unsigned char skip[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) skip[i] = m;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i + 1 < m; i++) skip[pattern[i]] = m - 1 - i;
    __syncthreads();
    const unsigned char *text = texts + (blockIdx.x * blockDim.x + threadIdx.x) * length;
    int at = 0, place = -1;
    while (at + m <= length && place < 0) {
        int k = m - 1;
        while (k >= 0 && text[at + k] == pattern[k]) k--;
        if (k < 0) place = at;
        at += skip[text[at + m - 1]];
    }
    places[blockIdx.x * blockDim.x + threadIdx.x] = place;
}

// Base64 of three bytes a thread.
KERNEL base64_encode(const uint8_t *in, char *out) {
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v = in[3 * t] << 16 | in[3 * t + 1] << 8 | in[3 * t + 2];
    for (int k = 0; k < 4; k++) out[4 * t + k] = digits[v >> (18 - 6 * k) & 63];
}

KERNEL base64_decode(const char *in, uint8_t *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v = 0;
    for (int k = 0; k < 4; k++) {
        char c = in[4 * t + k];
        uint32_t d;
        if (c >= 'A' && c <= 'Z') d = c - 'A';
        else if (c >= 'a' && c <= 'z') d = c - 'a' + 26;
        else if (c >= '0' && c <= '9') d = c - '0' + 52;
        else d = c == '+' ? 62 : 63;
        v = v << 6 | d;
    }
    out[3 * t] = v >> 16, out[3 * t + 1] = v >> 8, out[3 * t + 2] = v;
}

// Code points of UTF-8 text, -1 at the first mistake; a row of bytes ends with 0.
KERNEL utf8_decode(const uint8_t *rows, int *points, int *lengths, int width) {
    int t = threadIdx.x, n = 0, i = 0;
    const uint8_t *s = rows + t * width;
    while (s[i]) {
        uint32_t c = s[i++];
        int more = c < 0x80 ? 0 : (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : -1;
        if (more < 0) { n = -1; break; }
        uint32_t v = more ? c & (0x3f >> more) : c;
        bool good = true;
        for (int k = 0; k < more; k++, i++) {
            if ((s[i] & 0xc0) != 0x80) { good = false; break; }
            v = v << 6 | (s[i] & 0x3f);
        }
        if (!good) { n = -1; break; }
        points[t * width + n++] = v;
    }
    lengths[t] = n;
}

// Numbers to text and back.
KERNEL number_text(const int64_t *numbers, char *texts, int64_t *back) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    char digits[24];
    char *out = texts + t * 24;
    int64_t v = numbers[t];
    uint64_t u = v < 0 ? -(uint64_t)v : v;
    do digits[n++] = '0' + u % 10, u /= 10;
    while (u);
    if (v < 0) digits[n++] = '-';
    for (int k = 0; k < n; k++) out[k] = digits[n - 1 - k];
    out[n] = 0;
    uint64_t sum = 0;
    for (int k = out[0] == '-'; out[k]; k++) sum = sum * 10 + (out[k] - '0');
    back[t] = out[0] == '-' ? -sum : sum;
}

// Longest common subsequence of two strings, one row of the table a step, a thread a column, by blocks.
KERNEL common_subsequence(const char *a, const char *b, int *out, int n) {
    __shared__ int rows[3][65];
    int t = threadIdx.x;
    a += blockIdx.x * n, b += blockIdx.x * n;
    for (int k = 0; k < 3; k++) rows[k][t + 1] = 0, rows[k][0] = 0;
    __syncthreads();
    for (int d = 0; d < 2 * n - 1; d++) {  // diagonals
        int i = d - t;
        int *now = rows[d % 3], *one = rows[(d + 2) % 3], *two = rows[(d + 1) % 3], v = 0;
        bool live = i >= 0 && i < n && t < n;
        if (live) v = a[i] == b[t] ? two[t] + 1 : max(one[t], one[t + 1]);
        if (live && i == 0) v = a[i] == b[t] ? 1 : one[t];
        __syncthreads();
        if (live) now[t + 1] = v;
        __syncthreads();
    }
    if (t == n - 1) out[blockIdx.x] = rows[(2 * n - 2) % 3][n];
}

// Distance of strings with a bit for each letter of a pattern of up to 64 (Myers).
KERNEL distance_bits(const char *patterns, const char *texts, int *out, int m, int n) {
    int t = threadIdx.x, score = m;
    const char *p = patterns + t * m, *s = texts + t * n;
    uint64_t positive = ~0ull, negative = 0, last = 1ull << (m - 1);
    for (int j = 0; j < n; j++) {
        uint64_t same = 0;
        for (int i = 0; i < m; i++) same |= (uint64_t)(p[i] == s[j]) << i;
        uint64_t x = same | negative, d = (((same & positive) + positive) ^ positive) | same;
        uint64_t up = negative | ~(d | positive), down = positive & d;
        score += ((up & last) != 0) - ((down & last) != 0);
        up = up << 1 | 1, down <<= 1;
        positive = down | ~(x | up), negative = up & x;
    }
    out[t] = score;
}

// Bits of prefix codes to symbols; a table of lengths and symbols by the next eight bits.
KERNEL prefix_decode(const uint32_t *bits, const uint8_t *lengths, const uint8_t *symbols, uint8_t *out, int words, int count) {
    int t = threadIdx.x, at = 0;
    uint64_t window = 0;
    int held = 0;
    const uint32_t *in = bits + t * words;
    for (int k = 0; k < count; k++) {
        if (held < 8) window |= (uint64_t)__byte_perm(in[at++], 0, 0x0123) << (32 - held), held += 32;
        int index = window >> 56, size = lengths[index];
        out[t * count + k] = symbols[index];
        window <<= size, held -= size;
    }
}

// Copies of what came before (LZ77): tokens of literal, or distance and length.
KERNEL expand_copies(const uint16_t *tokens, const int *counts, uint8_t *out, int most, int size) {
    int t = threadIdx.x, n = 0;
    uint8_t *o = out + t * size;
    for (int k = 0; k < counts[t]; k++) {
        uint16_t token = tokens[t * most + k];
        if (token < 256) o[n++] = token;
        else
            for (int length = token >> 12, back = token >> 8 & 15, i = 0; i < length; i++, n++) o[n] = o[n - back];
    }
}

// A finite automaton over classes of letters: identifiers, numbers and others, counted by kind.
__constant__ uint8_t NEXT[4][4] = {{0, 1, 2, 3}, {0, 1, 1, 3}, {0, 3, 2, 3}, {0, 3, 3, 3}};
KERNEL count_tokens(const char *texts, int *counts, int length) {
    int t = threadIdx.x, kinds[4] = {}, state = 0;
    for (int i = 0; i < length; i++) {
        char c = texts[t * length + i];
        int kind = c == ' ' ? 0 : (c | 32) >= 'a' && (c | 32) <= 'z' ? 1 : c >= '0' && c <= '9' ? 2 : 3;
        int next = NEXT[state][kind];
        if (next == 0) kinds[state]++;
        state = next;
    }
    kinds[state]++;
    for (int k = 0; k < 4; k++) counts[t * 4 + k] = kinds[k];
}

// Patterns with ? and *, without recursion.
KERNEL wildcards(const char *texts, const char *patterns, uint8_t *out, int n, int m) {
    int t = threadIdx.x, i = 0, j = 0, star = -1, mark = 0;
    const char *s = texts + t * n, *p = patterns + t * m;
    bool good = true;
    while (s[i]) {
        if (p[j] == '*') star = j++, mark = i;
        else if (p[j] == '?' || p[j] == s[i]) i++, j++;
        else if (star >= 0) j = star + 1, i = ++mark;
        else { good = false; break; }
    }
    while (good && p[j] == '*') j++;
    out[t] = good && !p[j];
}

// Runs of equal bytes as pairs, the places by a scan of the block.
KERNEL run_lengths(const uint8_t *in, uint8_t *values, int *starts, int *total) {
    __shared__ int scan[256];
    int t = threadIdx.x;
    bool head = t == 0 || in[t] != in[t - 1];
    scan[t] = head;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int v = t >= step ? scan[t - step] : 0;
        __syncthreads();
        scan[t] += v;
        __syncthreads();
    }
    if (head) values[scan[t] - 1] = in[t], starts[scan[t] - 1] = t;
    if (t == 255) *total = scan[255];
}

// Order of all suffixes of a text by doubling of ranks.
KERNEL suffix_order(const uint8_t *text, int *order) {
    __shared__ int rank[2][128];
    int t = threadIdx.x, n = blockDim.x, from = 0;
    rank[0][t] = text[t];
    __syncthreads();
    for (int step = 1; step <= n; step *= 2) {
        int mine = 0;
        int64_t own = (int64_t)rank[from][t] << 32 | (t + step < n ? rank[from][t + step] + 1 : 0);
        for (int k = 0; k < n; k++) {
            int64_t other = (int64_t)rank[from][k] << 32 | (k + step < n ? rank[from][k + step] + 1 : 0);
            mine += other < own;
        }
        rank[!from][t] = mine;
        from = !from;
        __syncthreads();
    }
    order[rank[from][t]] = t;
}
