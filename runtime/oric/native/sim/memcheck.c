/* The memory checker: faults of memory that do not stop the launch, and reads of what nobody has written. */
#include <stdlib.h>

#include "sim/shadow.h"
#include "tables/slots.h"

enum { MOST_FREED = 1 << 16, PATTERN = 0xcd };

/* Bits of a map for bytes [at, at + size). */
static int any_bit(const uint8_t *map, uint64_t at, uint32_t size)
{
    for (uint64_t i = at; i < at + size;) {
        if ((i & 7) == 0 && at + size - i >= 8) {
            if (map[i >> 3])
                return 1;
            i += 8;
        } else {
            if (map[i >> 3] >> (i & 7) & 1)
                return 1;
            i++;
        }
    }
    return 0;
}

static void set_bits(uint8_t *map, uint64_t at, uint64_t size)
{
    for (uint64_t i = at; i < at + size;) {
        if ((i & 7) == 0 && at + size - i >= 8) {
            map[i >> 3] = 0xff;
            i += 8;
        } else {
            map[i >> 3] |= (uint8_t)(1u << (i & 7));
            i++;
        }
    }
}

void sim_remember_freed(oric_sim *sim, const sim_alloc *gone, uint64_t pc)
{
    if (sim->nfreed == MOST_FREED) /* forget the older half; what lies there is then no allocation like any other address */
        memmove(sim->freed, sim->freed + MOST_FREED / 2, (sim->nfreed = MOST_FREED / 2) * sizeof *sim->freed);
    if (sim->nfreed == sim->room_freed) {
        uint32_t room = sim->room_freed ? 2 * sim->room_freed : 16;
        sim_freed *more = realloc(sim->freed, room * sizeof *more);
        if (!more)
            return;
        sim->freed = more;
        sim->room_freed = room;
    }
    uint32_t at = sim->nfreed++;
    for (; at > 0 && sim->freed[at - 1].base > gone->base; at--)
        sim->freed[at] = sim->freed[at - 1];
    sim->freed[at] = (sim_freed){gone->base, gone->size, pc};
}

const sim_freed *sim_find_freed(const oric_sim *sim, uint64_t address)
{
    uint32_t low = 0, high = sim->nfreed;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sim->freed[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address - sim->freed[low - 1].base < sim->freed[low - 1].size ? &sim->freed[low - 1] : NULL;
}

int oric_sim_set_uninitialised(oric_sim *sim, uint64_t address)
{
    for (uint32_t i = 0; i < sim->nallocs; i++) {
        sim_alloc *a = &sim->allocs[i];
        if (a->base != address)
            continue;
        if (!a->written)
            a->written = malloc(a->size / 8 + 1);
        if (!a->written)
            return -1;
        memset(a->written, 0, a->size / 8 + 1);
        memset(a->data, PATTERN, a->size);
        return 0;
    }
    return -1;
}

uint32_t oric_sim_heap(const oric_sim *sim, oric_sim_heap_block *out, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->nallocs; i++)
        if (sim->allocs[i].heap && count++ < room)
            out[count - 1] = (oric_sim_heap_block){sim->allocs[i].base, sim->allocs[i].size, 0};
    for (uint32_t i = 0; i < sim->nfreed; i++)
        if (sim->freed[i].pc && count++ < room)
            out[count - 1] = (oric_sim_heap_block){sim->freed[i].base, sim->freed[i].size, 1};
    return count;
}

void sim_mark_written(oric_sim *sim, uint64_t address, uint64_t size)
{
    const sim_alloc *a = sim_find_alloc(sim, address);
    if (a && a->written && size)
        set_bits(a->written, address - a->base, size);
}

/* A launch without the checker writes without a trace: from then on all memory counts as written. */
void sim_memcheck_launch(oric_sim *sim)
{
    if (sim->launch.modes & ORIC_SIM_MEMCHECK)
        return;
    for (uint32_t i = 0; i < sim->nallocs; i++) {
        free(sim->allocs[i].written);
        sim->allocs[i].written = NULL;
    }
}

int sim_memcheck_begin(sim_cta *cta)
{
    sim_shadow *s = calloc(1, sizeof *s);
    cta->shadow = s;
    if (!s)
        return 0;
    s->nwarps = cta->nwarps;
    s->warps = calloc(cta->nwarps, sizeof *s->warps);
    s->shared_written = calloc(cta->sim->launch.shared_bytes / 8 + 1, 1);
    if (s->shared_written && cta->sim->launch.system_end <= cta->sim->launch.shared_bytes)
        memset(s->shared_written, 0xff, cta->sim->launch.system_end / 8); /* the system's words are zero */
    return s->warps && s->shared_written && sim_race_begin(cta);
}

static void free_stand_ins(sim_stand_in *first)
{
    while (first) {
        sim_stand_in *gone = first;
        first = first->next;
        free(gone);
    }
}

void sim_memcheck_end(sim_cta *cta)
{
    sim_shadow *s = cta->shadow;
    if (!s)
        return;
    for (uint32_t i = 0; s->warps && i < s->nwarps; i++)
        free(s->warps[i].local_written), free(s->warps[i].doubts), free(s->warps[i].lanes);
    free(s->warps);
    free(s->shared_written);
    free_stand_ins(s->scratch[0]);
    free_stand_ins(s->scratch[1]);
    sim_race_end(s);
    free(s);
    cta->shadow = NULL;
}

void sim_memcheck_before(sim_warp *w, const oric_insn *in)
{
    sim_shadow *s = w->shadow;
    s->insn = in;
    s->atomic = in->op < ORIC_SLOT_OPS && (oric_flows[in->op].effects & ORIC_DOES_ATOMIC) != 0;
    s->overwrites = s->mbarrier = s->strong_read = 0;
    sim_race_before(w, in);
}

void sim_memcheck_mbarrier(sim_warp *w) { w->shadow->mbarrier = 1; }

void sim_memcheck_overwrites(sim_warp *w) { w->shadow->overwrites = !w->shadow->learns; }

void sim_memcheck_strong(sim_warp *w, int store)
{
    sim_shadow *s = w->shadow;
    s->strong_read = !store;
    s->atomic = s->overwrites = store;
}

void sim_memcheck_after(sim_warp *w) { sim_race_after(w); }

static void report(sim_warp *w, uint32_t lane, int kind, int space, uint64_t address, uint32_t size, int write)
{
    oric_sim_report r = {0};
    const sim_freed *gone = space == ORIC_MEM_GLOBAL ? sim_find_freed(w->sim, address) : NULL;
    if (gone && kind == ORIC_REPORT_OUT_OF_BOUNDS) {
        kind = ORIC_REPORT_USE_AFTER_FREE;
        r.first = gone->pc;
    }
    uint64_t at = address;
    const sim_cta *owner = space == ORIC_MEM_CLUSTER ? sim_shared_owner(w, &at) : w->cta;
    if (space == ORIC_MEM_CLUSTER && owner && owner->live_warps == 0 && at < w->sim->launch.shared_bytes)
        kind = ORIC_REPORT_USE_AFTER_FREE;
    r.needed = (int32_t)(space == ORIC_MEM_LOCAL ? w->sim->launch.local_bytes : owner ? w->sim->launch.shared_bytes : 0);
    r.kind = kind;
    r.second = w->pc;
    r.space = space;
    r.address = address;
    r.size = size;
    r.write = write;
    r.second_access = w->shadow->atomic ? ORIC_ACCESS_ATOMIC : write ? ORIC_ACCESS_WRITE : ORIC_ACCESS_READ;
    sim_report(w, lane, r);
}

static uint8_t *stand_in(sim_warp *w, uint32_t lane, uint32_t size, int write)
{
    sim_stand_in **first = &w->shadow->scratch[write != 0];
    if (!*first || (*first)->size < size) {
        uint32_t room = size > SHADOW_SCRATCH ? size : SHADOW_SCRATCH;
        sim_stand_in *fresh = malloc(sizeof *fresh + room);
        if (!fresh) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "memory checker");
            return NULL;
        }
        fresh->next = *first;
        fresh->size = room;
        *first = fresh;
    }
    memset((*first)->bytes, PATTERN, size);
    return (*first)->bytes;
}

/* The map of written bytes of one lane's local memory; NULL without memory. */
static uint8_t *local_map(sim_warp *w, uint32_t lane)
{
    sim_warp_shadow *own = sim_shadow_of(w);
    size_t bytes = w->sim->launch.local_bytes / 8 + 1;
    if (!own->local_written)
        own->local_written = calloc(bytes, SIM_LANES);
    if (!own->local_written)
        sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "memory checker");
    return own->local_written ? own->local_written + lane * bytes : NULL;
}

/* The map of written bytes for an access, and in *at its first bit; NULL: everything is written. */
static uint8_t *written_map(sim_warp *w, uint32_t lane, const uint8_t *found, int space, uint64_t address, uint64_t *at)
{
    *at = address;
    if (space == ORIC_MEM_GLOBAL) {
        const sim_alloc *a = sim_find_alloc(w->sim, address);
        *at = a ? address - a->base : 0;
        return a ? a->written : NULL;
    }
    if (space == ORIC_MEM_LOCAL)
        return local_map(w, lane);
    const sim_cta *owner = space == ORIC_MEM_CLUSTER ? sim_shared_owner(w, &address) : w->cta;
    if (!owner)
        return NULL;
    *at = (uint64_t)((uintptr_t)found - (uintptr_t)owner->shared);
    return *at < w->sim->launch.shared_bytes && owner->shadow ? owner->shadow->shared_written : NULL;
}

uint8_t *sim_memcheck_access(sim_warp *w, uint32_t lane, uint8_t *found, int fault, int space, uint64_t address, uint32_t size, int write)
{
    static const int kinds[] = {
        [ORIC_FAULT_OUT_OF_BOUNDS] = ORIC_REPORT_OUT_OF_BOUNDS,
        [ORIC_FAULT_MISALIGNED] = ORIC_REPORT_MISALIGNED,
        [ORIC_FAULT_READ_ONLY] = ORIC_REPORT_READ_ONLY,
    };
    sim_shadow *s = w->shadow;
    if (w->sim->fault.code)
        return NULL;
    if (!found) {
        report(w, lane, kinds[fault], space, address, size, write);
        return stand_in(w, lane, size, write);
    }
    uint64_t at;
    uint8_t *map = written_map(w, lane, found, space, address, &at);
    if (map && (!write || (s->atomic && !s->overwrites)) && !any_bit(map, at, size))
        report(w, lane, ORIC_REPORT_UNINITIALISED, space, address, size, write);
    if (map && write)
        set_bits(map, at, size);
    uint64_t offset = address;
    sim_cta *owner = space == ORIC_MEM_SHARED ? w->cta : space == ORIC_MEM_CLUSTER ? sim_shared_owner(w, &offset) : NULL;
    if (s->mbarrier)
        sim_memcheck_sync(w, found);
    else if (owner && (at = (uint64_t)((uintptr_t)found - (uintptr_t)owner->shared)) < w->sim->launch.shared_bytes)
        sim_race_access(w, lane, owner, at, size,
                        s->atomic ? ORIC_ACCESS_ATOMIC : write ? ORIC_ACCESS_WRITE : ORIC_ACCESS_READ);
    return w->sim->fault.code ? NULL : found;
}
