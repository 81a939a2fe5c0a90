// Texts and streams of bits: what branches on every byte.
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define STAYS __device__ __noinline__

STAYS int here(const char *p, const char *s);
STAYS int star(int c, const char *p, const char *s) {
    do { if (here(p, s)) return 1; } while (*s && (*s++ == c || c == '.'));
    return 0;
}
STAYS int here(const char *p, const char *s) {  // . * + ? $ and (from a set) [
    if (!*p) return 1;
    if (*p == '$' && !p[1]) return !*s;
    if (p[1] == '*') return star(*p, p + 2, s);
    if (p[1] == '+') return *s && (*p == '.' || *p == *s) && star(*p, p + 2, s + 1);
    if (p[1] == '?') return (*s && (*p == '.' || *p == *s) && here(p + 2, s + 1)) || here(p + 2, s);
    return *s && (*p == '.' || *p == *s) && here(p + 1, s + 1);
}
KERNEL match_pattern(const char *patterns, const char *texts, int *o, int room) {
    const char *p = patterns + threadIdx.x * room, *s = texts + threadIdx.x * room;
    int found = -1, at = 0;
    if (*p == '^') found = here(p + 1, s) ? 0 : -1;
    else do { if (here(p, s + at)) { found = at; break; } } while (s[at++]);
    o[threadIdx.x] = found;
}

struct Parser { const char *at; int wrong; };
STAYS int expression(Parser *p);
STAYS int factor(Parser *p) {
    if (*p->at == '-') return p->at++, -factor(p);
    if (*p->at == '(') {
        p->at++;
        int v = expression(p);
        if (*p->at == ')') p->at++;
        else p->wrong = 1;
        return v;
    }
    int v = 0;
    if (*p->at < '0' || *p->at > '9') p->wrong = 1;
    while (*p->at >= '0' && *p->at <= '9') v = v * 10 + *p->at++ - '0';
    return v;
}
STAYS int term(Parser *p) {
    int v = factor(p);
    for (char c; (c = *p->at) == '*' || c == '/' || c == '%';) {
        p->at++;
        int w = factor(p);
        if (c == '*') v *= w;
        else if (w == 0) p->wrong = 2;
        else v = c == '/' ? v / w : v % w;
    }
    return v;
}
STAYS int expression(Parser *p) {
    int v = term(p);
    for (char c; (c = *p->at) == '+' || c == '-';) {
        p->at++;
        int w = term(p);
        v = c == '+' ? v + w : v - w;
    }
    return v;
}
KERNEL parse_expressions(const char *texts, int *o, int *wrong, int room) {
    Parser p = {texts + threadIdx.x * room, 0};
    o[threadIdx.x] = expression(&p);
    wrong[threadIdx.x] = p.wrong ? p.wrong : *p.at ? 3 : 0;
}

KERNEL levenshtein(const char *a, const char *b, int *o, int n, int m) {
    int row[17];
    a += threadIdx.x * n, b += threadIdx.x * m;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int was = row[j];
            row[j] = min(min(row[j] + 1, row[j - 1] + 1), corner + (a[i - 1] != b[j - 1]));
            corner = was;
        }
    }
    o[threadIdx.x] = row[m];
}

__constant__ char LETTERS[64] = {'A','B','C','D','E','F','G','H','I','J','K','L','M','N','O','P','Q','R','S','T','U','V','W','X','Y','Z',
    'a','b','c','d','e','f','g','h','i','j','k','l','m','n','o','p','q','r','s','t','u','v','w','x','y','z','0','1','2','3','4','5','6','7','8','9','+','/'};
KERNEL base64_both(const uint8_t *bytes, const int *lengths, char *o, uint8_t *back, int room, int wide) {
    int t = threadIdx.x, n = lengths[t], m = 0;
    bytes += t * room, o += t * wide, back += t * room;
    for (int k = 0; k < n; k += 3) {
        uint32_t v = bytes[k] << 16 | (k + 1 < n ? bytes[k + 1] << 8 : 0) | (k + 2 < n ? bytes[k + 2] : 0);
        o[m++] = LETTERS[v >> 18], o[m++] = LETTERS[v >> 12 & 63];
        o[m++] = k + 1 < n ? LETTERS[v >> 6 & 63] : '=', o[m++] = k + 2 < n ? LETTERS[v & 63] : '=';
    }
    for (int k = m; k < wide; k++) o[k] = 0;
    uint32_t v = 0, bits = 0, out = 0;
    for (int k = 0; k < m && o[k] != '='; k++) {
        char c = o[k];
        int d = c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 : c == '+' ? 62 : 63;
        v = v << 6 | d, bits += 6;
        if (bits >= 8) bits -= 8, back[out++] = v >> bits;
    }
    for (; out < room; out++) back[out] = 0;
}

KERNEL prefix_codes(const uint32_t *stream, const uint8_t *lengths, uint8_t *o, int *used, int n, int words) {  // canonical codes of 16 symbols
    __shared__ uint16_t first[17], offset[17];
    __shared__ uint8_t symbols[16];
    if (threadIdx.x == 0) {
        int code = 0, at = 0;
        for (int len = 1; len <= 15; len++) {
            first[len] = code, offset[len] = at;
            for (int s = 0; s < 16; s++) if (lengths[s] == len) symbols[at++] = s, code++;
            code <<= 1;
        }
    }
    __syncthreads();
    stream += threadIdx.x * words;
    uint64_t buffer = 0;
    int bits = 0, word = 0;
    for (int k = 0; k < n; k++) {
        uint32_t code = 0;
        int len = 0;
        while (true) {
            if (!bits) buffer = stream[word++], bits = 32;
            code = code << 1 | (buffer >> --bits & 1), len++;
            uint32_t count = (len < 15 ? offset[len + 1] : 16) - offset[len];
            if (code - first[len] < count) break;
        }
        o[threadIdx.x * n + k] = symbols[offset[len] + code - first[len]];
    }
    used[threadIdx.x] = word * 32 - bits;
}

KERNEL lz_decode(const uint8_t *in, const int *sizes, uint8_t *o, int *lengths, int room, int most) {  // as LZ4 has it
    in += threadIdx.x * room, o += threadIdx.x * most;
    const uint8_t *end = in + sizes[threadIdx.x];
    int at = 0;
    while (in < end) {
        int token = *in++, n = token >> 4, m = token & 15, c;
        if (n == 15) do n += c = *in++; while (c == 255);
        while (n--) o[at++] = *in++;
        if (in >= end) break;
        int back = in[0] | in[1] << 8;
        in += 2;
        if (m == 15) do m += c = *in++; while (c == 255);
        for (m += 4; m--; at++) o[at] = o[at - back];
    }
    lengths[threadIdx.x] = at;
}

KERNEL json_depths(const char *text, int *o, int n) {  // each text by a table of what a letter does in a state
    text += threadIdx.x * n;
    int depth = 0, most = 0, names = 0, quoted = 0;
    for (int k = 0; k < n; k++) {
        switch (text[k] + (quoted ? 256 : 0)) {
        case '{': case '[': most = max(most, ++depth); break;
        case '}': case ']': depth--; break;
        case ':': names++; break;
        case '"': quoted = 1; break;
        case '"' + 256: quoted = 0; break;
        case '\\' + 256: k++; break;
        case 't': case 'f': names += 100; break;
        default: names += text[k] >= '0' && text[k] <= '9' && !quoted ? 10000 : 0;
        }
    }
    o[threadIdx.x * 3] = depth, o[threadIdx.x * 3 + 1] = most, o[threadIdx.x * 3 + 2] = names;
}
