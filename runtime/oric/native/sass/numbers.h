/* Reading the numbers of instruction texts. */
#ifndef ORIC_SASS_NUMBERS_H
#define ORIC_SASS_NUMBERS_H
#include <stdint.h>

enum { ORIC_FLOAT32, ORIC_FLOAT64_HIGH, ORIC_FLOAT16, ORIC_BFLOAT16 };

/* Read "-0x1f" or "-31" at *text; 0 when there is no number or it does not fit 64 bits. */
int oric_read_integer(const char **text, int64_t *out);

/* Read a number as bits of the format, rounded to the nearest (of ORIC_FLOAT64_HIGH the upper 32 bits, and 0 unless the lower are
   zero); also +INF, -QNAN, +SNAN, and bits as 0x.... 0 when there is no number. */
int oric_read_float(const char **text, int format, uint32_t *out);
#endif
