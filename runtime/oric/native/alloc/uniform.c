#include "alloc/uniform.h"

#include <stdlib.h>

#include "alloc/spans.h"

/* The spans of registers, from those of their words; returns how many there are. */
static int32_t whole_registers(const oric_fn *fn, oric_span *spans, int32_t *size) {
    int32_t count = 0;
    for (int32_t u = 0; u < fn->unit_count; u++) {
        oric_span span = spans[u];
        if (fn->unit_file[u] != ORIC_FILE_UR || span.end < 0) continue;
        if (count && fn->unit_register[spans[count - 1].unit] == fn->unit_register[u]) {
            oric_span *own = &spans[count - 1];
            if (span.start < own->start) own->start = span.start;
            if (span.end > own->end) own->end = span.end;
            size[own->unit]++;
        } else {
            size[u] = 1;
            spans[count++] = span;
        }
    }
    return count;
}

/* Go through the spans in the order of their starts; `active` are those that reach the current one. */
static int32_t choose(const oric_span *spans, int32_t count, const int32_t *size, const uint8_t *fixed, int32_t limit, oric_span *active,
                      uint32_t *chosen) {
    int32_t active_count = 0, held = 0, found = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t kept = 0;
        for (int32_t k = 0; k < active_count; k++) {
            if (active[k].end >= spans[i].start) active[kept++] = active[k];
            else held -= size[active[k].unit];
        }
        active[kept] = spans[i], active_count = kept + 1;
        held += size[spans[i].unit];
        while (held > limit) {
            int32_t last = -1;
            for (int32_t k = 0; k < active_count; k++)
                if (!fixed[active[k].unit] && (last < 0 || active[k].end > active[last].end)) last = k;
            if (last < 0) break;
            chosen[found++] = active[last].unit;
            held -= size[active[last].unit];
            active[last] = active[--active_count];
        }
    }
    return found;
}

int32_t oric_uniform_choose(const oric_fn *fn, const uint8_t *fixed, int32_t limit, uint32_t *chosen) {
    oric_span *spans = oric_uniform_spans(fn), *active = malloc(((size_t)fn->unit_count + 1) * sizeof *active);
    int32_t *size = calloc((size_t)fn->unit_count + 1, sizeof *size), found = -1;
    if (spans && active && size) {
        int32_t count = whole_registers(fn, spans, size);
        qsort(spans, (size_t)count, sizeof *spans, oric_compare_spans);
        found = choose(spans, count, size, fixed, limit, active, chosen);
    }
    free(spans), free(active), free(size);
    return found;
}
