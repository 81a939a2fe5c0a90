/* cdef */
/* Bit vectors: arrays of 64-bit words; n is a number of BITS and need not be a multiple of 64. Bits from n on in the
 * last word are never read as members and are left as they are by the writing operations. */
#ifndef ORIC_BITVEC_H
#define ORIC_BITVEC_H
#include <stdint.h>

/* dst |= src; returns 1 when dst changed. */
int oric_bv_or(uint64_t *dst, const uint64_t *src, uint32_t n);
/* dst &= src; returns 1 when dst changed. */
int oric_bv_and(uint64_t *dst, const uint64_t *src, uint32_t n);
/* dst &= ~src; returns 1 when dst changed. */
int oric_bv_and_not(uint64_t *dst, const uint64_t *src, uint32_t n);
/* dst = gen | (out & ~kill), the transfer of a backward or forward bit problem; returns 1 when dst changed. */
int oric_bv_transfer(uint64_t *dst, const uint64_t *gen, const uint64_t *out, const uint64_t *kill, uint32_t n);
void oric_bv_copy(uint64_t *dst, const uint64_t *src, uint32_t n);
void oric_bv_clear(uint64_t *dst, uint32_t n);
int oric_bv_equal(const uint64_t *a, const uint64_t *b, uint32_t n);
uint32_t oric_bv_count(const uint64_t *a, uint32_t n);
/* The first member >= from, or n when there is none: for (i = next(a, n, 0); i < n; i = next(a, n, i + 1)). */
uint32_t oric_bv_next(const uint64_t *a, uint32_t n, uint32_t from);
/* Members in increasing order into out (room for n); returns their number. */
uint32_t oric_bv_members(const uint64_t *a, uint32_t n, uint32_t *out);
#endif
