#include "support/bitvec.h"

#include <string.h>

static uint64_t tail_mask(uint32_t n) { return n % 64 ? ((uint64_t)1 << n % 64) - 1 : ~(uint64_t)0; }

static uint32_t words(uint32_t n) { return (n + 63) / 64; }

/* The last word is combined under its mask, so that bits beyond n keep their value. */
#define COMBINE(EXPRESSION)                                                                                                 \
    do {                                                                                                                    \
        uint64_t changed = 0;                                                                                               \
        uint32_t last = words(n);                                                                                           \
        for (uint32_t i = 0; i < last; i++) {                                                                               \
            uint64_t mask = i + 1 == last ? tail_mask(n) : ~(uint64_t)0;                                                    \
            uint64_t now = (dst[i] & ~mask) | ((EXPRESSION) & mask);                                                        \
            changed |= now ^ dst[i];                                                                                        \
            dst[i] = now;                                                                                                   \
        }                                                                                                                   \
        return changed != 0;                                                                                                \
    } while (0)

int oric_bv_or(uint64_t *dst, const uint64_t *src, uint32_t n) { COMBINE(dst[i] | src[i]); }

int oric_bv_and(uint64_t *dst, const uint64_t *src, uint32_t n) { COMBINE(dst[i] & src[i]); }

int oric_bv_and_not(uint64_t *dst, const uint64_t *src, uint32_t n) { COMBINE(dst[i] & ~src[i]); }

int oric_bv_transfer(uint64_t *dst, const uint64_t *gen, const uint64_t *out, const uint64_t *kill, uint32_t n) {
    COMBINE(gen[i] | (out[i] & ~kill[i]));
}

void oric_bv_copy(uint64_t *dst, const uint64_t *src, uint32_t n) {
    uint32_t full = n / 64;
    memmove(dst, src, full * sizeof *dst);
    if (n % 64) dst[full] = (dst[full] & ~tail_mask(n)) | (src[full] & tail_mask(n));
}

void oric_bv_clear(uint64_t *dst, uint32_t n) {
    uint32_t full = n / 64;
    memset(dst, 0, full * sizeof *dst);
    if (n % 64) dst[full] &= ~tail_mask(n);
}

int oric_bv_equal(const uint64_t *a, const uint64_t *b, uint32_t n) {
    uint32_t full = n / 64;
    if (memcmp(a, b, full * sizeof *a)) return 0;
    return n % 64 == 0 || ((a[full] ^ b[full]) & tail_mask(n)) == 0;
}

uint32_t oric_bv_count(const uint64_t *a, uint32_t n) {
    uint32_t total = 0, full = n / 64;
    for (uint32_t i = 0; i < full; i++) total += (uint32_t)__builtin_popcountll(a[i]);
    if (n % 64) total += (uint32_t)__builtin_popcountll(a[full] & tail_mask(n));
    return total;
}

uint32_t oric_bv_next(const uint64_t *a, uint32_t n, uint32_t from) {
    if (from >= n) return n;
    uint32_t word = from / 64;
    uint64_t bits = a[word] & (~(uint64_t)0 << from % 64);
    while (!bits) {
        if (++word >= words(n)) return n;
        bits = a[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
    return found < n ? found : n;
}

uint32_t oric_bv_members(const uint64_t *a, uint32_t n, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = oric_bv_next(a, n, 0); i < n; i = oric_bv_next(a, n, i + 1)) out[count++] = i;
    return count;
}
