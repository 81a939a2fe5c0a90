/* Calls of functions that the driver provides; assertions, the heap. printf is in sim/print.c. */
#include "sim/external.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/memcheck.h"

#define MOST_STRING 65536u
#define HEAP_PATTERN 0xcd

uint32_t sim_argument32(const sim_warp *w, uint32_t lane, uint8_t reg) { return reg < w->nregs ? w->R[reg][lane] : 0; }

uint64_t sim_argument64(const sim_warp *w, uint32_t lane, uint8_t reg)
{
    return sim_argument32(w, lane, reg) | (uint64_t)sim_argument32(w, lane, (uint8_t)(reg + 1)) << 32;
}

static void give64(sim_warp *w, uint32_t lane, uint64_t value)
{
    if (sim_external_result + 1 < w->nregs) {
        w->R[sim_external_result][lane] = (uint32_t)value;
        w->R[sim_external_result + 1][lane] = (uint32_t)(value >> 32);
    }
}

int sim_call_external(sim_warp *w)
{
    const sim_group *g = &w->groups[w->current];
    uint64_t place = g->pc - ORIC_EXTERNAL_BASE, number = place / ORIC_INSN_BYTES, targets[SIM_LANES];
    uint32_t mask = g->mask;
    if (number >= ORIC_EXTERNAL_COUNT || place % ORIC_INSN_BYTES)
        return 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        targets[l] = mask >> l & 1 ? sim_argument64(w, l, (uint8_t)sim_external_return) : 0;
    w->pc = targets[sim_first_lane(mask)] - ORIC_INSN_BYTES; /* what goes wrong goes wrong at the call */
    if (w->sim->shared != w->sim) /* what the driver keeps is for one host thread: the launch begins again with one */
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "external function");
    else if (number >= sim_external_count)
        sim_fault_access(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), ORIC_MEM_NONE, g->pc, 0, 0);
    else
        sim_externals[number].call(w, mask, sim_externals[number].registers);
    if (!w->sim->fault.code)
        sim_goto_each(w, mask, targets);
    return 1;
}

const uint8_t *sim_generic_bytes(sim_warp *w, uint32_t lane, uint64_t address, uint32_t size)
{
    int space = sim_generic_space(w, &address);
    return sim_address(w, lane, space, address, size, 0);
}

char *sim_device_string(sim_warp *w, uint32_t lane, uint64_t address)
{
    uint32_t size = 0, room = 64;
    char *text = malloc(room);
    while (text) {
        const uint8_t *at = sim_generic_bytes(w, lane, address + size, 1);
        if (!at)
            break;
        text[size] = size + 1 < MOST_STRING ? (char)*at : 0;
        if (!text[size])
            return text;
        if (++size == room) {
            char *more = realloc(text, room *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    free(text);
    sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "string"); /* unless the address was the fault */
    return NULL;
}

/* Message, file, line, function; stops the launch. */
void sim_call_assert_failed(sim_warp *w, uint32_t mask, const uint8_t *registers)
{
    uint32_t lane = sim_first_lane(mask);
    char *texts[3] = {NULL, NULL, NULL}, detail[1024];
    static const uint8_t which[] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        uint64_t address = sim_argument64(w, lane, registers[which[i]]);
        texts[i] = address ? sim_device_string(w, lane, address) : calloc(1, 1);
    }
    if (texts[0] && texts[1] && texts[2]) {
        uint32_t line = sim_argument32(w, lane, registers[2]);
        snprintf(detail, sizeof detail, "%.400s\n%.300s\n%u\n%.200s", texts[0], texts[1], line, texts[2]);
        sim_fault(w, ORIC_FAULT_ASSERT, lane, detail);
    }
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

static uint64_t allocate(oric_sim *sim, uint64_t size)
{
    if (size == 0 || size > sim->launch.heap_bytes || sim->heap_used > sim->launch.heap_bytes - size)
        return 0;
    uint64_t address = oric_sim_alloc(sim, size, 0);
    if (!address)
        return 0;
    sim_alloc *fresh = &sim->allocs[sim->nallocs - 1]; /* addresses only grow */
    fresh->heap = 1;
    memset(fresh->data, HEAP_PATTERN, size);
    if (sim->launch.modes & ORIC_SIM_MEMCHECK)
        oric_sim_set_uninitialised(sim, address);
    sim->heap_used += size;
    return address;
}

void sim_call_allocate(sim_warp *w, uint32_t mask, const uint8_t *registers)
{
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            give64(w, l, allocate(w->sim, sim_argument64(w, l, registers[0])));
}

static void bad_free(sim_warp *w, uint32_t lane, uint64_t address)
{
    char text[120];
    oric_sim_report r = {.kind = ORIC_REPORT_BAD_FREE, .second = w->pc, .space = ORIC_MEM_GLOBAL, .address = address};
    if (w->shadow) {
        const sim_freed *gone = sim_find_freed(w->sim, address);
        r.first = gone ? gone->pc : 0;
        sim_report(w, lane, r);
        return;
    }
    snprintf(text, sizeof text, "0x%llx is no address that malloc has given and free has not taken back", (unsigned long long)address);
    sim_fault(w, ORIC_FAULT_BAD_FREE, lane, text);
}

void sim_call_release(sim_warp *w, uint32_t mask, const uint8_t *registers)
{
    for (uint32_t l = 0; l < SIM_LANES && !w->sim->fault.code; l++) {
        uint64_t address = mask >> l & 1 ? sim_argument64(w, l, registers[0]) : 0;
        const sim_alloc *a = address ? sim_find_alloc(w->sim, address) : NULL;
        if (address && (!a || !a->heap || a->base != address)) {
            bad_free(w, l, address);
        } else if (address) {
            w->sim->heap_used -= a->size;
            sim_release_from(w->sim, address, w->pc);
        }
    }
}
