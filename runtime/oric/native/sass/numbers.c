/* Reading the numbers of instruction texts. */
#include "sass/numbers.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400 }; /* characters of a decimal number */

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_word(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

int oric_read_integer(const char **text, int64_t *out) {
    const char *t = *text;
    int negative = *t == '-';
    t += negative;
    if (!is_digit(*t))
        return 0;
    char *end;
    int base = t[0] == '0' && (t[1] == 'x' || t[1] == 'X') ? 16 : 10;
    errno = 0;
    unsigned long long v = strtoull(t, &end, base);
    if (errno || is_word(*end) || end == t + (base == 16))
        return 0;
    *out = (int64_t)(negative ? 0 - (uint64_t)v : (uint64_t)v);
    *text = end;
    return 1;
}

/* The length of a decimal number: a dot or an exponent belongs to it when digits follow ("1.H1" is 1 with a part selector). */
static size_t decimal(const char *t) {
    const char *p = t + (*t == '-' || *t == '+');
    const char *first = p;
    while (is_digit(*p))
        p++;
    if (p == first)
        return 0;
    if (*p == '.' && is_digit(p[1]))
        for (p++; is_digit(*p);)
            p++;
    if (*p == 'e' && is_digit(p[1 + (p[1] == '-' || p[1] == '+')]))
        for (p += 2; is_digit(*p);)
            p++;
    return (size_t)(p - t);
}

static uint32_t bits_of(float f) {
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    return v;
}

/* Round to a float of the given fraction and exponent bits, to nearest even. */
static uint32_t rounded(double v, int fraction_bits, int exponent_bits) {
    int bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint32_t sign = (uint32_t)(signbit(v) != 0) << (fraction_bits + exponent_bits);
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    double m = fabs(v);
    if (m == 0)
        return sign;
    frexp(m, &exponent);
    int least = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1; /* exponent of the binade, subnormals share the lowest */
    double steps = nearbyint(ldexp(m, fraction_bits - least));
    if (steps >= ldexp(1, fraction_bits + 2))
        return sign | infinity;
    uint32_t code = (uint32_t)steps + ((uint32_t)(least + bias - 1) << fraction_bits);
    return sign | (code > infinity ? infinity : code);
}

static int special(const char **text, int format, uint32_t *out) {
    static const struct {
        const char *name;
        uint32_t bits[4]; /* by format */
    } values[] = {
        {"INF", {0x7f800000, 0x7ff00000, 0x7c00, 0x7f80}},
        {"QNAN", {0x7fc00000, 0x7ff80000, 0x7e00, 0x7fc0}},
        {"SNAN", {0x7f800001, 0x7ff00001, 0x7c01, 0x7f81}},
    };
    const char *t = *text;
    int negative = *t == '-';
    t += *t == '-' || *t == '+';
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        size_t size = strlen(values[i].name);
        if (strncmp(t, values[i].name, size) == 0 && !is_word(t[size])) {
            *out = values[i].bits[format] | (uint32_t)negative << (format >= ORIC_FLOAT16 ? 15 : 31);
            *text = t + size;
            return 1;
        }
    }
    return 0;
}

int oric_read_float(const char **text, int format, uint32_t *out) {
    const char *t = *text;
    int64_t bits;
    if (special(text, format, out))
        return 1;
    if (t[0] == '0' && (t[1] == 'x' || t[1] == 'X')) {
        if (!oric_read_integer(text, &bits) || (uint64_t)bits >> (format >= ORIC_FLOAT16 ? 16 : 32))
            return 0;
        *out = (uint32_t)bits;
        return 1;
    }
    char digits[LONGEST];
    size_t size = decimal(t);
    if (size == 0 || size >= sizeof digits || is_word(t[size]))
        return 0;
    memcpy(digits, t, size);
    digits[size] = 0;
    double v = strtod(digits, NULL);
    uint64_t whole;
    memcpy(&whole, &v, sizeof whole);
    switch (format) {
    case ORIC_FLOAT32: *out = bits_of(strtof(digits, NULL)); break;
    case ORIC_FLOAT64_HIGH:
        if (whole & 0xffffffff)
            return 0;
        *out = (uint32_t)(whole >> 32);
        break;
    case ORIC_FLOAT16: *out = rounded(v, 10, 5); break;
    default: *out = rounded(v, 7, 8);
    }
    *text = t + size;
    return 1;
}
