/* printf of the device: the format is read from its memory, each conversion is the host's with an argument of checked size. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/external.h"

#define MOST_PRINTED (64u << 20)
#define MOST_WIDTH 4096

void sim_print(sim_warp *w, uint32_t lane, const char *text, size_t size)
{
    oric_sim *sim = w->sim;
    if (size > MOST_PRINTED - sim->nprinted) {
        sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "more than 64 MiB are printed");
        return;
    }
    if (sim->nprinted + size > sim->room_printed) {
        uint64_t room = 2 * (sim->nprinted + size);
        char *more = realloc(sim->printed, room);
        if (!more) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "printed text");
            return;
        }
        sim->printed = more;
        sim->room_printed = room;
    }
    if (size)
        memcpy(sim->printed + sim->nprinted, text, size);
    sim->nprinted += size;
}

const char *oric_sim_printed(const oric_sim *sim, uint64_t *size)
{
    *size = sim->nprinted;
    return sim->printed;
}

/* One call: the lane, the arguments that are left. */
typedef struct {
    sim_warp *w;
    uint32_t lane;
    uint64_t next; /* address of the next argument */
    uint32_t taken;
} call;

/* The next argument, of 4 or 8 bytes at a multiple of that. */
static uint64_t argument(call *c, uint32_t size)
{
    uint64_t value = 0;
    c->next = (c->next + size - 1) & ~(uint64_t)(size - 1);
    const uint8_t *at = sim_generic_bytes(c->w, c->lane, c->next, size);
    if (at)
        memcpy(&value, at, size);
    c->next += size;
    c->taken++;
    return value;
}

/* One conversion, as it stands in the format. */
typedef struct {
    char flags[8];
    int width, precision; /* -1: not given */
    uint32_t bytes;       /* of an integer argument */
    uint32_t narrow;      /* bits of it that count: 8 (hh), 16 (h), else 64 */
    char kind;
} conversion;

static int number(call *c, const char **at)
{
    int value = 0;
    if (**at == '*') {
        ++*at;
        value = (int32_t)argument(c, 4);
        return value < -MOST_WIDTH ? -MOST_WIDTH : value > MOST_WIDTH ? MOST_WIDTH : value;
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value > MOST_WIDTH ? MOST_WIDTH : value * 10 + (**at - '0');
    return value > MOST_WIDTH ? MOST_WIDTH : value;
}

static void length(conversion *v, const char **at)
{
    v->bytes = 4;
    v->narrow = 64;
    for (; **at && strchr("hlLqjzt", **at); ++*at) {
        if (**at == 'h')
            v->narrow = v->narrow == 64 ? 16 : 8;
        else
            v->bytes = 8;
    }
}

/* Reads what follows a %; the format is behind it then. */
static conversion read_conversion(call *c, const char **at)
{
    conversion v = {.width = -1, .precision = -1};
    size_t flags = 0;
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (!strchr(v.flags, **at) && flags < sizeof v.flags - 1)
            v.flags[flags++] = **at;
    if (**at == '*' || (**at >= '1' && **at <= '9')) {
        v.width = number(c, at);
        if (v.width < 0) { /* of a *: left-justified */
            v.width = -v.width;
            if (!strchr(v.flags, '-'))
                v.flags[flags++] = '-';
        }
    }
    if (**at == '.') {
        ++*at;
        v.precision = number(c, at);
    }
    length(&v, at);
    v.kind = **at;
    if (**at)
        ++*at;
    return v;
}

/* The host's format for it: %, flags, width, precision, length and kind. */
static void host_format(const conversion *v, const char *size, char out[64])
{
    char width[16] = "", precision[16] = "";
    if (v->width >= 0)
        snprintf(width, sizeof width, "%d", v->width);
    if (v->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", v->precision);
    snprintf(out, 64, "%%%s%s%s%s%c", v->flags, width, precision, size, v->kind);
}

static int64_t narrowed(uint64_t value, const conversion *v)
{
    uint32_t bits = v->narrow < 8 * v->bytes ? v->narrow : 8 * v->bytes;
    int is_signed = v->kind == 'd' || v->kind == 'i';
    uint64_t shifted = value << (64 - bits);
    return is_signed ? (int64_t)shifted >> (64 - bits) : (int64_t)(shifted >> (64 - bits));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void emit_text(call *c, const conversion *v, const char *format)
{
    uint64_t address = argument(c, 8);
    char *text = address ? sim_device_string(c->w, c->lane, address) : NULL;
    if (c->w->sim->fault.code)
        return;
    const char *shown = text ? text : "(null)";
    size_t room = strlen(shown) + MOST_WIDTH + 1;
    char *out = malloc(room);
    if (out) {
        snprintf(out, room, format, shown);
        sim_print(c->w, c->lane, out, strlen(out));
    }
    (void)v;
    free(out);
    free(text);
}

/* One conversion with its argument; 0: the kind is none, and the text stands for itself. */
static int emit(call *c, conversion v)
{
    char format[64], out[2 * MOST_WIDTH + 512];
    int size;
    if (v.kind == '%') {
        sim_print(c->w, c->lane, "%", 1);
        return 1;
    }
    if (!v.kind || !strchr("diouxXcsfFeEgGaApn", v.kind))
        return 0;
    if (strchr("fFeEgGaA", v.kind)) {
        uint64_t bits = argument(c, 8);
        double value;
        memcpy(&value, &bits, 8);
        host_format(&v, "", format);
        size = snprintf(out, sizeof out, format, value);
    } else if (v.kind == 's') {
        host_format(&v, "", format);
        emit_text(c, &v, format);
        return 1;
    } else if (v.kind == 'n') { /* the device does not count */
        (void)argument(c, 8);
        return 1;
    } else if (v.kind == 'c') {
        host_format(&v, "", format);
        size = snprintf(out, sizeof out, format, (int)argument(c, 4));
    } else if (v.kind == 'p') {
        host_format(&v, "", format);
        size = snprintf(out, sizeof out, format, (void *)(uintptr_t)argument(c, 8));
    } else {
        host_format(&v, "ll", format);
        size = snprintf(out, sizeof out, format, (long long)narrowed(argument(c, v.bytes), &v));
    }
    if (size > 0 && !c->w->sim->fault.code)
        sim_print(c->w, c->lane, out, (size_t)size < sizeof out ? (size_t)size : sizeof out - 1);
    return 1;
}

#pragma GCC diagnostic pop

static void print_all(call *c, const char *format)
{
    while (*format && !c->w->sim->fault.code) {
        const char *stop = strchr(format, '%');
        size_t plain = stop ? (size_t)(stop - format) : strlen(format);
        sim_print(c->w, c->lane, format, plain);
        format += plain;
        if (!stop)
            return;
        const char *start = format++;
        conversion v = read_conversion(c, &format);
        if (!emit(c, v))
            sim_print(c->w, c->lane, start, (size_t)(format - start));
    }
}

/* Format and packed arguments; gives the number of arguments, -1 without a format. */
void sim_call_print(sim_warp *w, uint32_t mask, const uint8_t *registers)
{
    for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++) {
        if (!(mask >> l & 1))
            continue;
        uint64_t at[2] = {0, 0};
        for (int i = 0; i < 2; i++)
            if (registers[i] + 1u < w->nregs)
                at[i] = w->R[registers[i]][l] | (uint64_t)w->R[registers[i] + 1][l] << 32;
        call c = {w, l, at[1], 0};
        char *format = at[0] ? sim_device_string(w, l, at[0]) : NULL;
        if (format)
            print_all(&c, format);
        if (sim_external_result < w->nregs)
            w->R[sim_external_result][l] = at[0] ? c.taken : UINT32_MAX;
        free(format);
    }
}
