/* The plain lines of debug sections: bytes, numbers, addresses. */
#include "ptx/chars.h"
#include "ptx/scan.h"

enum { MOST_DIGITS = 9, MOST_BYTE = 255 };

static int is_name(uint8_t c) { return ptx_is(c, PTX_FIRST) && c != '%'; }

/* Behind a number of at most nine digits without zeros in front; -1 when there is none. */
static int64_t number(ptx_text t, int64_t p, int64_t most) {
    int64_t begin = p, value = 0;
    for (; p < t.n && ptx_is(t.s[p], PTX_DIGIT) && p - begin < MOST_DIGITS; p++)
        value = value * 10 + (t.s[p] - '0');
    int whole = p == t.n || !ptx_is(t.s[p], PTX_NAME);
    return p > begin && whole && value <= most && !(t.s[begin] == '0' && p - begin > 1) ? p : -1;
}

/* Behind 1, 2, 3. */
static int64_t bytes(ptx_text t, int64_t p) {
    for (;;) {
        p = number(t, p, MOST_BYTE);
        if (p < 0 || p == t.n || t.s[p] != ',')
            return p;
        p = ptx_skip(t, p + 1, PTX_BLANK);
    }
}

/* Behind a number, a name or .name and what is added to it, or name-name. */
static int64_t word(ptx_text t, int64_t p) {
    if (p < t.n && ptx_is(t.s[p], PTX_DIGIT))
        return number(t, p, INT64_MAX);
    int dotted = p < t.n && t.s[p] == '.';
    p += dotted;
    if (p == t.n || !is_name(t.s[p]))
        return -1;
    p = ptx_skip(t, p, dotted ? PTX_WORD : PTX_NAME);
    if (p < t.n && t.s[p] == '+')
        return number(t, p + 1, INT64_MAX);
    if (!dotted && p + 1 < t.n && t.s[p] == '-' && is_name(t.s[p + 1]))
        return ptx_skip(t, p + 1, PTX_NAME);
    return p;
}

/* Behind .b8, .b32 or .b64 and its values, which begin at p; -1 when it is of another form. */
static int64_t line(ptx_text t, int64_t p) {
    int byte = ptx_at(t, p, ".b8");
    if (!byte && !ptx_at(t, p, ".b32") && !ptx_at(t, p, ".b64"))
        return -1;
    p += byte ? 3 : 4;
    int64_t values = ptx_skip(t, p, PTX_BLANK);
    if (values == p)
        return -1;
    return byte ? bytes(t, values) : word(t, values);
}

int64_t oric_ptx_data(const char *text, int64_t length, int64_t position) {
    ptx_text t = {(const uint8_t *)text, length};
    int64_t p = ptx_skip_space(t, position);
    for (;;) {
        int64_t end = line(t, p);
        if (end < 0)
            return position;
        p = ptx_skip_space(t, end);
        if (p == t.n || p == end || !(t.s[p] == '.' || t.s[p] == '}' || ptx_is(t.s[p], PTX_FIRST)))
            return position;
        position = p;
    }
}
