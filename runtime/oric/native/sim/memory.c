/* Memory of the simulator: the allocation table, address spaces, constant banks. Every access is checked. */
#include <stdlib.h>

#include "sim/async.h"
#include "sim/clock.h"
#include "sim/memcheck.h"

/* Unmapped bytes between allocations, so that an index that is off by a little does not land in a neighbour. */
#define GUARD_BYTES 65536u
#define WINDOW_BYTES (1ull << 24)
#define CLUSTER_WINDOW_BYTES ((uint64_t)ORIC_MAX_CLUSTER << ORIC_RANK_SHIFT)
#define OFFSET_MASK ((1u << ORIC_RANK_SHIFT) - 1)

/* Index of the first allocation with a base above address. */
static uint32_t upper_bound(const oric_sim *sim, uint64_t address)
{
    uint32_t low = 0, high = sim->nallocs;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sim->allocs[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const sim_alloc *sim_find_alloc(oric_sim *sim, uint64_t address)
{
    if (sim->last_alloc < sim->nallocs) {
        const sim_alloc *last = &sim->allocs[sim->last_alloc];
        if (address - last->base < last->size)
            return last;
    }
    uint32_t above = upper_bound(sim, address);
    if (above == 0)
        return NULL;
    const sim_alloc *found = &sim->allocs[above - 1];
    if (address - found->base >= found->size)
        return NULL;
    sim->last_alloc = above - 1;
    return found;
}

uint64_t oric_sim_alloc(oric_sim *sim, uint64_t size, int read_only)
{
    if (size > (1ull << 40))
        return 0;
    if (sim->nallocs == sim->room_allocs) {
        uint32_t room = sim->room_allocs ? sim->room_allocs * 2 : 16;
        sim_alloc *bigger = realloc(sim->allocs, room * sizeof *bigger);
        if (!bigger)
            return 0;
        sim->allocs = bigger;
        sim->room_allocs = room;
    }
    uint8_t *data = calloc(size ? size : 1, 1);
    if (!data)
        return 0;
    sim_alloc *fresh = &sim->allocs[sim->nallocs++]; /* addresses only grow, so the table stays sorted */
    fresh->base = sim->next_address;
    fresh->size = size;
    fresh->data = data;
    fresh->read_only = read_only;
    fresh->heap = 0;
    fresh->written = NULL;
    sim->next_address = (sim->next_address + size + GUARD_BYTES + 255) & ~255ull;
    return fresh->base;
}

/* Free memory at the end of the launch; 0: now. */
static int bury(oric_sim *sim, uint8_t *data)
{
    if (!sim->ring || !(sim->launch.modes & ORIC_SIM_STRICT))
        return 0;
    if (sim->ngraves == sim->room_graves) {
        uint32_t room = sim->room_graves ? 2 * sim->room_graves : 16;
        uint8_t **more = realloc(sim->graves, room * sizeof *more);
        if (!more)
            return 0;
        sim->graves = more;
        sim->room_graves = room;
    }
    sim->graves[sim->ngraves++] = data;
    return 1;
}

int sim_release_from(oric_sim *sim, uint64_t address, uint64_t pc)
{
    uint32_t above = upper_bound(sim, address);
    if (above == 0 || sim->allocs[above - 1].base != address)
        return -1;
    sim_remember_freed(sim, &sim->allocs[above - 1], pc);
    if (!bury(sim, sim->allocs[above - 1].data))
        free(sim->allocs[above - 1].data);
    free(sim->allocs[above - 1].written);
    memmove(&sim->allocs[above - 1], &sim->allocs[above], (sim->nallocs - above) * sizeof(sim_alloc));
    sim->nallocs--;
    sim->last_alloc = 0;
    return 0;
}

int oric_sim_release(oric_sim *sim, uint64_t address) { return sim_release_from(sim, address, 0); }

/* The host bytes of [address, address + size), or NULL when they do not lie in one allocation. */
static uint8_t *host_range(oric_sim *sim, uint64_t address, uint64_t size)
{
    uint32_t above = upper_bound(sim, address);
    if (above == 0)
        return NULL;
    const sim_alloc *a = &sim->allocs[above - 1];
    if (address - a->base > a->size || a->size - (address - a->base) < size)
        return NULL;
    return a->data + (address - a->base);
}

int oric_sim_write(oric_sim *sim, uint64_t address, const uint8_t *data, uint64_t size)
{
    uint8_t *to = host_range(sim, address, size);
    if (!to)
        return -1;
    if (size)
        memcpy(to, data, size);
    sim_mark_written(sim, address, size);
    return 0;
}

int oric_sim_read(oric_sim *sim, uint64_t address, uint8_t *data, uint64_t size)
{
    const uint8_t *from = host_range(sim, address, size);
    if (!from)
        return -1;
    if (size)
        memcpy(data, from, size);
    return 0;
}

int oric_sim_set_bank(oric_sim *sim, int bank, const uint8_t *data, uint64_t size)
{
    if (bank < 0 || bank >= SIM_BANKS)
        return -1;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return -1;
    if (size)
        memcpy(copy, data, size);
    free(sim->banks[bank].data);
    sim->banks[bank].data = copy;
    sim->banks[bank].size = size;
    return 0;
}

const uint8_t *sim_constant(sim_warp *w, uint32_t lane, uint32_t bank, uint64_t offset, uint32_t size)
{
    const sim_bank *b = &w->sim->banks[bank % SIM_BANKS];
    int fault = offset & (size - 1) ? ORIC_FAULT_MISALIGNED : ORIC_FAULT_NONE;
    if (bank >= SIM_BANKS || offset > b->size || b->size - offset < size)
        fault = ORIC_FAULT_OUT_OF_BOUNDS;
    if (fault && w->shadow)
        return sim_memcheck_access(w, lane, NULL, fault, ORIC_MEM_CONSTANT, offset, size, 0);
    if (fault) {
        sim_fault_access(w, fault, lane, ORIC_MEM_CONSTANT, offset, size, 0);
        return NULL;
    }
    return b->data + offset;
}

uint8_t *sim_local(sim_warp *w, uint32_t lane)
{
    uint64_t bytes = w->sim->launch.local_bytes;
    if (!w->local) {
        w->local = malloc(bytes ? bytes * SIM_LANES : 1);
        if (!w->local) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "local memory");
            return NULL;
        }
        memset(w->local, sim_fill(w->sim), bytes * SIM_LANES); /* not zero, so that code that needs zeros is found out */
    }
    return w->local + lane * bytes;
}

/* The space that a generic address means (own shared memory is that of the CTA); the address becomes one of that space. */
int sim_generic_space(const sim_warp *w, uint64_t *address)
{
    const oric_sim_launch *launch = &w->sim->launch;
    if (*address - launch->shared_window < CLUSTER_WINDOW_BYTES) {
        *address -= launch->shared_window;
        if (*address >> ORIC_RANK_SHIFT != w->cta->rank)
            return ORIC_MEM_CLUSTER;
        *address &= OFFSET_MASK;
        return ORIC_MEM_SHARED;
    }
    if (*address - launch->local_window < WINDOW_BYTES) {
        *address -= launch->local_window;
        return ORIC_MEM_LOCAL;
    }
    return ORIC_MEM_GLOBAL;
}

static int inside(uint64_t address, uint32_t size, uint64_t low, uint64_t high)
{
    return address >= low && address <= high && high - address >= size;
}

/* The program's shared memory, and the words of the system's part that code uses. */
static int in_shared(const sim_warp *w, uint64_t address, uint32_t size)
{
    const oric_sim_launch *launch = &w->sim->launch;
    return inside(address, size, launch->shared_base, launch->shared_bytes) ||
           (launch->system_end <= launch->shared_base && inside(address, size, launch->system_words, launch->system_end));
}

/* Shared memory of a CTA of the cluster, as long as it runs. */
static uint8_t *locate_cluster(sim_warp *w, uint64_t address, uint32_t size)
{
    const sim_cta *owner = sim_shared_owner(w, &address);
    if (!owner || owner->live_warps == 0 || !in_shared(w, address, size))
        return NULL;
    return owner->shared + address;
}

uint8_t *sim_locate(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write, int *fault)
{
    oric_sim *sim = w->sim;
    *fault = ORIC_FAULT_OUT_OF_BOUNDS;
    if (space == ORIC_MEM_GLOBAL) {
        const sim_alloc *a = sim_find_alloc(sim, address);
        if (!a || a->size - (address - a->base) < size)
            return NULL;
        if (write && a->read_only) {
            *fault = ORIC_FAULT_READ_ONLY;
            return NULL;
        }
        return a->data + (address - a->base);
    }
    if (space == ORIC_MEM_SHARED)
        return in_shared(w, address, size) ? w->cta->shared + address : NULL;
    if (space == ORIC_MEM_CLUSTER)
        return locate_cluster(w, address, size);
    if (!inside(address, size, 0, sim->launch.local_bytes))
        return NULL;
    uint8_t *local = sim_local(w, lane);
    if (!local)
        *fault = ORIC_FAULT_NO_MEMORY;
    return local ? local + address : NULL;
}

/* Own shared memory under the address with its rank, and under the cluster's name, is own shared memory. */
static void plain_shared(const sim_warp *w, int *space, uint64_t *address)
{
    if ((*space == ORIC_MEM_SHARED || *space == ORIC_MEM_CLUSTER) && *address >> ORIC_RANK_SHIFT == w->cta->rank) {
        *space = ORIC_MEM_SHARED;
        *address &= OFFSET_MASK;
    }
}

uint8_t *sim_address_span(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t align, uint32_t need, int write)
{
    int fault = ORIC_FAULT_MISALIGNED;
    plain_shared(w, &space, &address);
    uint8_t *found = address & (align - 1) ? NULL : sim_locate(w, lane, space, address, need, write, &fault);
    if (found)
        sim_note_traffic(w, space, address, need);
    if (found && w->sim->clock)
        sim_clock_access(w, space, address, need, found, write);
    if (found && w->cta->async)
        sim_async_touch(w, lane, space, address, found, need, write);
    if (w->shadow)
        return sim_memcheck_access(w, lane, found, found ? ORIC_FAULT_NONE : fault, space, address, need, write);
    if (!found)
        sim_fault_access(w, fault, lane, space, address, fault == ORIC_FAULT_MISALIGNED ? align : need, write);
    return found;
}

/* The allocation that holds [low, end), for an access of that kind. */
static uint8_t *whole_global(oric_sim *sim, uint64_t low, uint64_t end, int write)
{
    const sim_alloc *a = sim_find_alloc(sim, low);
    return a && end > low && end - a->base <= a->size && !(write && a->read_only) ? a->data + (low - a->base) : NULL;
}

uint8_t *sim_address_warp(sim_warp *w, uint32_t mask, int space, const uint64_t at[SIM_LANES], uint32_t bytes, int write, uint64_t *base)
{
    uint64_t low = UINT64_MAX, high = 0, all = 0;
    if (w->shadow || w->sim->clock || w->cta->async)
        return NULL;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        uint64_t in = 0 - (uint64_t)(mask >> l & 1), least = at[l] | ~in, most = at[l] & in;
        low = least < low ? least : low;
        high = most > high ? most : high;
        all |= most;
    }
    uint8_t *found = NULL;
    *base = low;
    if (all & (bytes - 1)) /* a fault */
        return NULL;
    if (space == ORIC_MEM_SHARED) {
        uint64_t rank = (uint64_t)w->cta->rank << ORIC_RANK_SHIFT, start = low & rank ? rank : 0;
        uint64_t first = start + w->sim->launch.shared_base, end = start + w->sim->launch.shared_bytes;
        if (low >= first && high < end && end - high >= bytes)
            found = w->cta->shared + (low - start);
    } else if (space == ORIC_MEM_GLOBAL) {
        found = whole_global(w->sim, low, high + bytes, write);
    }
    if (found)
        sim_count_warp(w, space, mask, at, bytes, low, high);
    return found;
}

uint8_t *sim_address(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    return sim_address_span(w, lane, space, address, size, size, write);
}

const uint8_t *sim_address_part(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, uint32_t need)
{
    return sim_address_span(w, lane, space, address, size, need, 0);
}
