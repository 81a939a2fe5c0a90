/* Memory of the simulator: the allocation table, address spaces, constant banks. Every access is checked. */
#include <stdlib.h>

#include "sim_async.h"

/* Unmapped bytes between allocations, so that an index that is off by a little does not land in a neighbour. */
#define GUARD_BYTES 65536u
#define WINDOW_BYTES (1ull << 24)

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
    sim->next_address = (sim->next_address + size + GUARD_BYTES + 255) & ~255ull;
    return fresh->base;
}

int oric_sim_release(oric_sim *sim, uint64_t address)
{
    uint32_t above = upper_bound(sim, address);
    if (above == 0 || sim->allocs[above - 1].base != address)
        return -1;
    free(sim->allocs[above - 1].data);
    memmove(&sim->allocs[above - 1], &sim->allocs[above], (sim->nallocs - above) * sizeof(sim_alloc));
    sim->nallocs--;
    sim->last_alloc = 0;
    return 0;
}

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
    if (bank >= SIM_BANKS || offset > b->size || b->size - offset < size) {
        sim_fault_access(w, ORIC_FAULT_OUT_OF_BOUNDS, lane, ORIC_MEM_CONSTANT, offset, size, 0);
        return NULL;
    }
    if (offset & (size - 1)) {
        sim_fault_access(w, ORIC_FAULT_MISALIGNED, lane, ORIC_MEM_CONSTANT, offset, size, 0);
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
        memset(w->local, 0xcd, bytes * SIM_LANES); /* not zero, so that code that needs zeros is found out */
    }
    return w->local + lane * bytes;
}

/* The space that a generic address means; the address becomes one of that space. */
int sim_generic_space(const sim_warp *w, uint64_t *address)
{
    const oric_sim_launch *launch = &w->sim->launch;
    if (*address - launch->shared_window < WINDOW_BYTES) {
        *address -= launch->shared_window;
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

static int aligned(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    if (!(address & (size - 1)))
        return 1;
    sim_fault_access(w, ORIC_FAULT_MISALIGNED, lane, space, address, size, write);
    return 0;
}

static uint8_t *locate(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    oric_sim *sim = w->sim;
    uint8_t *found = NULL;
    if (space == ORIC_MEM_GLOBAL) {
        const sim_alloc *a = sim_find_alloc(sim, address);
        if (a && a->size - (address - a->base) >= size) {
            if (write && a->read_only) {
                sim_fault_access(w, ORIC_FAULT_READ_ONLY, lane, space, address, size, write);
                return NULL;
            }
            found = a->data + (address - a->base);
        }
    } else if (space == ORIC_MEM_SHARED) {
        if (inside(address, size, sim->launch.shared_base, sim->launch.shared_bytes))
            found = w->cta->shared + address;
    } else if (inside(address, size, 0, sim->launch.local_bytes)) {
        uint8_t *local = sim_local(w, lane);
        if (!local)
            return NULL;
        found = local + address;
    }
    if (!found)
        sim_fault_access(w, ORIC_FAULT_OUT_OF_BOUNDS, lane, space, address, size, write);
    else if (w->cta->async)
        sim_async_touch(w, lane, space, address, found, size, write);
    return found;
}

uint8_t *sim_address(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    return aligned(w, lane, space, address, size, write) ? locate(w, lane, space, address, size, write) : NULL;
}

const uint8_t *sim_address_part(sim_warp *w, uint32_t lane, int space, uint64_t address, uint32_t size, uint32_t need)
{
    return aligned(w, lane, space, address, size, 0) ? locate(w, lane, space, address, need, 0) : NULL;
}
