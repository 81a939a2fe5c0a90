/* The engine: code sections, launches, the round robin over CTAs and warps, faults. */
#include <stdio.h>
#include <stdlib.h>

#include "sass.h"
#include "sim_async.h"
#include "sim_facts.h"
#include "sim_memcheck.h"
#include "sim_modes.h"

#define FIRST_ADDRESS 0x7f4000000000ull
#define WARP_SLICE 256u         /* instructions of a warp before the next one's turn */
#define GROUP_SLICE 1024u       /* instructions of a group of threads while another one is ready */
#define CTA_SLICE (1u << 20)    /* instructions of a CTA before one more becomes resident */
#define RESIDENT_BYTES (1ull << 30)
#define POISON 0x7fbadbadu      /* registers start as a NaN that is no plausible index */

oric_sim *oric_sim_new(int isa)
{
    oric_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return NULL;
    sim->isa = isa;
    sim->next_address = FIRST_ADDRESS;
    return sim;
}

void oric_sim_delete(oric_sim *sim)
{
    if (!sim)
        return;
    oric_sim_stop(sim);
    for (uint32_t i = 0; i < sim->ncodes; i++)
        sim_facts_free(&sim->codes[i]), free(sim->codes[i].insns);
    for (uint32_t i = 0; i < sim->nallocs; i++)
        free(sim->allocs[i].data), free(sim->allocs[i].written);
    free(sim->freed);
    for (uint32_t i = 0; i < SIM_BANKS; i++)
        free(sim->banks[i].data);
    free(sim->codes);
    free(sim->allocs);
    free(sim->reports);
    free(sim);
}

/* Decode a section. A word that does not decode becomes an operation beyond the table and faults when it is executed. */
int oric_sim_add_code(oric_sim *sim, uint64_t address, const uint8_t *text, uint64_t size)
{
    uint64_t count = size / 16;
    sim_code *codes = realloc(sim->codes, (sim->ncodes + 1) * sizeof *codes);
    if (!codes)
        return -1;
    sim->codes = codes;
    oric_insn *insns = calloc(count ? count : 1, sizeof *insns);
    if (!insns)
        return -1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word[2];
        memcpy(word, text + i * 16, 16);
        if (oric_decode(sim->isa, word, &insns[i]) != 0) {
            memset(&insns[i], 0, sizeof insns[i]);
            insns[i].op = 0xffff;
            insns[i].guard = 7;
        }
    }
    sim_code *code = &sim->codes[sim->ncodes++];
    code->base = address;
    code->size = count * 16;
    code->insns = insns;
    code->facts = NULL;
    return 0;
}

static void set_fault(sim_warp *w, int code, uint32_t lane)
{
    oric_sim_fault *f = &w->sim->fault;
    memset(f, 0, sizeof *f);
    f->code = code;
    memcpy(f->ctaid, w->cta->ctaid, sizeof f->ctaid);
    sim_thread_id(w, lane, f->tid);
    f->warp = w->id;
    f->lane = lane;
    f->pc = w->pc;
}

void sim_fault(sim_warp *w, int code, uint32_t lane, const char *detail)
{
    if (w->sim->fault.code)
        return;
    set_fault(w, code, lane);
    snprintf(w->sim->fault.detail, sizeof w->sim->fault.detail, "%s", detail);
}

void sim_fault_access(sim_warp *w, int code, uint32_t lane, int space, uint64_t address, uint32_t size, int write)
{
    if (w->sim->fault.code)
        return;
    set_fault(w, code, lane);
    w->sim->fault.space = space;
    w->sim->fault.address = address;
    w->sim->fault.size = size;
    w->sim->fault.write = write;
}

static int find_code(sim_warp *w, uint64_t pc)
{
    if ((pc & 15) == 0) {
        for (uint32_t i = 0; i < w->sim->ncodes; i++) {
            if (pc - w->sim->codes[i].base < w->sim->codes[i].size) {
                w->code = &w->sim->codes[i];
                return 1;
            }
        }
    }
    sim_fault_access(w, ORIC_FAULT_WILD_BRANCH, sim_first_lane(w->groups[w->current].mask), ORIC_MEM_NONE, pc, 16, 0);
    return 0;
}

static void execute(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    if (in->op >= sim_op_count)
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "no such instruction");
    else if (!sim_exec_table[in->op])
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), sim_op_names[in->op]);
    else
        sim_exec_table[in->op](w, in, mask);
}

static uint32_t guard_mask(const sim_warp *w, const oric_insn *in)
{
    int uniform = in->op < sim_op_count && sim_op_uniform_guard[in->op];
    uint32_t bits = (uniform ? w->UP : w->P)[in->guard & 7];
    return in->guard_neg ? ~bits : bits;
}

/* Executes one instruction with what the modes of the launch do around it. */
static void observed(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    int strict = (w->sim->launch.modes & ORIC_SIM_STRICT) != 0;
    if (strict)
        mask = sim_strict_before(w, in, mask);
    if (w->shadow)
        sim_memcheck_before(w, in);
    if (mask && !w->sim->fault.code)
        execute(w, in, mask);
    if (w->shadow)
        sim_memcheck_after(w);
    if (strict)
        sim_strict_after(w, in, mask);
}

/* Run a warp for at most `budget` instructions; returns how many it took. Stops early when no group is ready. */
static uint32_t run_warp(sim_warp *w, uint32_t budget)
{
    oric_sim *sim = w->sim;
    uint32_t taken = 0;
    if (w->ngroups == 0)
        return 0;
    if (w->groups[w->current].state != SIM_READY && !sim_pick_group(w))
        return 0;
    uint64_t lanes = 0;
    while (taken < budget) {
        sim_group *g = &w->groups[w->current];
        w->pc = g->pc;
        if ((g->pc - w->code->base >= w->code->size || (g->pc & 15)) && !find_code(w, g->pc))
            break;
        const oric_insn *in = &w->code->insns[(g->pc - w->code->base) >> 4];
        uint32_t mask = g->mask & guard_mask(w, in);
        w->active = g->mask;
        w->moved = 0;
        taken++;
        lanes += (uint64_t)__builtin_popcount(mask);
        if (sim->launch.modes)
            observed(w, in, mask);
        else if (mask)
            execute(w, in, mask);
        if (sim->fault.code)
            break;
        if (!w->moved) {
            g->pc += 16;
        } else if (w->ngroups == 0) {
            break;
        } else if (w->groups[w->current].state != SIM_READY && !sim_pick_group(w)) {
            break;
        }
        if (w->ngroups > 1 && ++w->since_switch >= GROUP_SLICE)
            sim_pick_group(w);
    }
    sim->stats.warp_instructions += taken;
    sim->stats.thread_instructions += lanes;
    return taken;
}

static void free_cta(sim_cta *cta)
{
    if (!cta)
        return;
    sim_async_end(cta);
    if (cta->warps)
        for (uint32_t i = 0; i < cta->nwarps; i++) {
            sim_strict_end(&cta->warps[i]);
            free(cta->warps[i].local);
        }
    sim_memcheck_end(cta);
    free(cta->warps);
    free(cta->registers);
    free(cta->shared);
    free(cta);
}

/* 0: no memory. */
static int start_warp(sim_cta *cta, uint32_t id)
{
    oric_sim *sim = cta->sim;
    sim_warp *w = &cta->warps[id];
    uint32_t first = id * SIM_LANES;
    uint32_t left = sim->threads - first;
    uint32_t mask = left >= SIM_LANES ? SIM_FULL : (1u << left) - 1;
    w->sim = sim;
    w->cta = cta;
    w->shadow = cta->shadow;
    w->code = &sim->codes[0];
    w->id = id;
    w->nregs = sim->launch.num_regs;
    w->R = (uint32_t(*)[SIM_LANES])(cta->registers + (size_t)id * w->nregs * SIM_LANES);
    w->dead = ~mask;
    w->P[7] = w->UP[7] = SIM_FULL;
    for (uint32_t i = 0; i < 255; i++)
        w->UR[i] = POISON;
    w->ngroups = 1;
    w->groups[0].pc = sim->launch.entry;
    w->groups[0].mask = mask;
    return !(sim->launch.modes & ORIC_SIM_STRICT) || sim_strict_begin(w);
}

static sim_cta *new_cta(oric_sim *sim, uint64_t number)
{
    sim_cta *cta = calloc(1, sizeof *cta);
    if (!cta)
        return NULL;
    const uint32_t *grid = sim->launch.grid;
    size_t words;
    cta->sim = sim;
    cta->ctaid[0] = (uint32_t)(number % grid[0]);
    cta->ctaid[1] = (uint32_t)(number / grid[0] % grid[1]);
    cta->ctaid[2] = (uint32_t)(number / grid[0] / grid[1]);
    cta->nwarps = cta->live_warps = (sim->threads + SIM_LANES - 1) / SIM_LANES;
    words = (size_t)cta->nwarps * sim->launch.num_regs * SIM_LANES;
    cta->warps = calloc(cta->nwarps, sizeof *cta->warps);
    cta->registers = malloc(words * 4 + 4);
    cta->shared = malloc(sim->launch.shared_bytes + 1u);
    if (!cta->warps || !cta->registers || !cta->shared) {
        free_cta(cta);
        return NULL;
    }
    for (size_t i = 0; i < words; i++)
        cta->registers[i] = POISON;
    memset(cta->shared, 0xcd, sim->launch.shared_bytes);
    if ((sim->launch.modes & ORIC_SIM_MEMCHECK) && !sim_memcheck_begin(cta)) {
        free_cta(cta);
        return NULL;
    }
    for (uint32_t i = 0; i < cta->nwarps; i++)
        if (!start_warp(cta, i)) {
            free_cta(cta);
            return NULL;
        }
    return cta;
}

/* Bring the next CTA of the grid in, behind the others. 0: no memory. */
static int admit_cta(oric_sim *sim)
{
    sim_cta *cta = new_cta(sim, sim->next_cta);
    if (!cta)
        return 0;
    sim->next_cta++;
    sim->resident++;
    if (sim->ring) {
        cta->next = sim->ring->next;
        sim->ring->next = cta;
    } else {
        cta->next = cta;
    }
    sim->ring = cta;
    return 1;
}

static void retire_cta(oric_sim *sim)
{
    sim_cta *cta = sim->ring, *before = cta;
    while (before->next != cta)
        before = before->next;
    before->next = cta->next;
    sim->ring = before == cta ? NULL : cta->next;
    sim->resident--;
    sim->stats.ctas++;
    free_cta(cta);
}

int oric_sim_start(oric_sim *sim, const oric_sim_launch *launch)
{
    oric_sim_stop(sim);
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1];
    int too_many = launch->block[0] > 1024 || launch->block[1] > 1024 || launch->block[2] > 1024 || threads > 1024;
    if (too_many || threads == 0 || ctas == 0 || launch->grid[2] == 0 || launch->num_regs > 255 || !sim->ncodes)
        return -1;
    if (ctas > UINT64_MAX / launch->grid[2])
        return -1;
    if ((launch->modes & ORIC_SIM_STRICT) && !sim_strict_start(sim))
        return -1;
    sim->launch = *launch;
    sim->threads = (uint32_t)threads;
    sim->num_ctas = ctas * launch->grid[2];
    sim->next_cta = 0;
    memset(&sim->stats, 0, sizeof sim->stats);
    memset(&sim->fault, 0, sizeof sim->fault);
    sim->nreports = 0;
    sim_memcheck_launch(sim);
    return 0;
}

void oric_sim_stop(oric_sim *sim)
{
    while (sim->ring)
        retire_cta(sim);
    sim->num_ctas = sim->next_cta = 0;
}

static void deadlock(sim_cta *cta)
{
    static const char *const names[] = {"", "BSYNC", "WARPSYNC", "BAR"};
    if (cta->shadow)
        sim_memcheck_deadlock(cta);
    for (uint32_t i = 0; i < cta->nwarps; i++) {
        sim_warp *w = &cta->warps[i];
        if (w->ngroups == 0)
            continue;
        const sim_group *g = &w->groups[0];
        char text[100];
        w->pc = g->pc;
        snprintf(text, sizeof text, "%u warps wait for ever; this one at %s %u with lanes 0x%08x", cta->live_warps,
                 names[g->state & 3], g->index, g->mask);
        sim_fault(w, ORIC_FAULT_DEADLOCK, sim_first_lane(g->mask), text);
        return;
    }
}

/* Run a CTA for about `budget` instructions; returns how many it took. */
static uint64_t run_cta(sim_cta *cta, uint64_t budget)
{
    uint64_t taken = 0;
    uint32_t idle = 0;
    while (taken < budget && cta->live_warps) {
        uint32_t took = run_warp(&cta->warps[cta->next_warp], WARP_SLICE);
        if (cta->sim->fault.code)
            return taken + took;
        cta->next_warp = cta->next_warp + 1 == cta->nwarps ? 0 : cta->next_warp + 1;
        idle = took ? 0 : idle + 1;
        taken += took;
        if (idle > cta->nwarps) {
            deadlock(cta);
            return taken;
        }
    }
    return taken;
}

static void step_limit(oric_sim *sim)
{
    for (uint32_t i = 0; i < sim->ring->nwarps; i++) {
        sim_warp *w = &sim->ring->warps[i];
        if (w->ngroups == 0)
            continue;
        w->pc = w->groups[w->current].pc;
        sim_fault(w, ORIC_FAULT_STEP_LIMIT, sim_first_lane(w->groups[w->current].mask), "");
        return;
    }
}

/* Whether one more CTA may become resident: as many as a GPU could hold, within a bound on the host's memory. */
static int may_admit(const oric_sim *sim)
{
    uint64_t each = sizeof(sim_cta) + sim->launch.shared_bytes +
                    (uint64_t)sim->threads * (sim->launch.num_regs * 4ull + sim->launch.local_bytes) + 2048 * sim->threads / 32;
    return sim->next_cta < sim->num_ctas && (sim->resident == 0 || (sim->resident + 1) * each < RESIDENT_BYTES);
}

int oric_sim_run(oric_sim *sim, uint64_t steps)
{
    uint64_t taken = 0;
    if (sim->fault.code)
        return ORIC_SIM_FAULT;
    while (sim->ring || sim->next_cta < sim->num_ctas) {
        if (!sim->ring && !admit_cta(sim)) {
            sim->fault.code = ORIC_FAULT_NO_MEMORY;
            return ORIC_SIM_FAULT;
        }
        if (sim->stats.warp_instructions >= sim->launch.max_steps)
            step_limit(sim);
        uint64_t left = sim->launch.max_steps - sim->stats.warp_instructions;
        if (!sim->fault.code)
            taken += run_cta(sim->ring, left < CTA_SLICE ? left : CTA_SLICE);
        if (sim->fault.code)
            return ORIC_SIM_FAULT;
        if (sim->ring->live_warps == 0)
            retire_cta(sim);
        else if (may_admit(sim) && sim->stats.warp_instructions < sim->launch.max_steps)
            (void)admit_cta(sim); /* it may be the one that this CTA waits for; without memory the others go on */
        else
            sim->ring = sim->ring->next;
        if (taken >= steps)
            break;
    }
    return sim->ring || sim->next_cta < sim->num_ctas ? ORIC_SIM_PAUSED : ORIC_SIM_DONE;
}

const oric_sim_fault *oric_sim_fault_info(const oric_sim *sim) { return &sim->fault; }
const oric_sim_stats *oric_sim_statistics(const oric_sim *sim) { return &sim->stats; }
