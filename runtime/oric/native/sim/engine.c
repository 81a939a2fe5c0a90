/* The engine: code sections, faults, the instructions of a warp. Launches are in sim/grid.c. */
#include <stdio.h>
#include <stdlib.h>

#include "sass/access.h"
#include "sass/sass.h"
#include "sim/clock.h"
#include "sim/external.h"
#include "sim/facts.h"
#include "sim/memcheck.h"
#include "sim/modes.h"

/* Bits that no field explains and that change no result: 102 and 103 (performance monitors), 122 to 125 (reuse of operands). */
#define NO_OPERATION_BITS (3ull << 38 | 15ull << 58)

#define FIRST_ADDRESS 0x7f4000000000ull
#define GROUP_SLICE 1024u       /* instructions of a group of threads while another one is ready */

oric_sim *oric_sim_new(int isa)
{
    oric_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return NULL;
    sim->isa = isa;
    sim->next_address = FIRST_ADDRESS;
    sim->shared = sim;
    sim->op_counts = calloc(sim_op_count + 1u, sizeof *sim->op_counts);
    if (!sim->op_counts) {
        free(sim);
        return NULL;
    }
    return sim;
}

void oric_sim_delete(oric_sim *sim)
{
    if (!sim)
        return;
    sim_stop_grid(sim);
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
    free(sim->textures);
    sim_clock_free(sim);
    free(sim->steps);
    free(sim->printed);
    free(sim->op_counts);
    free(sim->graves);
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
    int in_order = 0;
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
        insns[i].residue[1] &= ~NO_OPERATION_BITS;
        in_order |= sim_in_order(&insns[i]);
    }
    sim_code *code = &sim->codes[sim->ncodes++];
    code->base = address;
    code->size = count * 16;
    code->insns = insns;
    code->in_order = in_order;
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

/* The section of an address. Without one the branch there is at fault, or the instruction before it, behind which code must go on. */
static int find_code(sim_warp *w, uint64_t pc)
{
    const sim_group *g = &w->groups[w->current];
    if ((pc & 15) == 0) {
        for (uint32_t i = 0; i < w->sim->ncodes; i++) {
            if (pc - w->sim->codes[i].base < w->sim->codes[i].size) {
                w->code = &w->sim->codes[i];
                return 1;
            }
        }
    }
    w->pc = g->to == pc ? g->from : pc - 16;
    sim_fault_access(w, ORIC_FAULT_WILD_BRANCH, sim_first_lane(g->mask), ORIC_MEM_NONE, pc, 16, 0);
    return 0;
}

static void execute(sim_warp *w, const oric_insn *in, uint32_t mask)
{
    if (in->op >= sim_op_count)
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "no such instruction");
    else if (oric_two_signs(in) >= 0)
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "two operands with a sign of which one may have it");
    else if (!sim_exec_table[in->op] || in->residue[0] || in->residue[1])
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
    if (w->sim->launch.modes & ORIC_SIM_STEPS)
        sim_note_step(w, w->active, mask);
    if (w->shadow)
        sim_memcheck_before(w, in);
    if (w->sim->clock)
        sim_clock_before(w, in, mask);
    if (mask && !w->sim->fault.code)
        execute(w, in, mask);
    if (w->sim->clock)
        sim_clock_after(w);
    if (w->shadow)
        sim_memcheck_after(w);
    if (strict)
        sim_strict_after(w, in, mask);
}

/* Run a warp for at most `budget` instructions; returns how many it took. Stops early when no group is ready. */
uint32_t sim_run_warp(sim_warp *w, uint32_t budget)
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
        if (g->pc - w->code->base >= w->code->size || (g->pc & 15)) {
            uint32_t lanes_here = g->mask;
            if (sim_call_external(w)) {
                taken++;
                if (sim->launch.modes & ORIC_SIM_STEPS)
                    sim_note_step(w, lanes_here, lanes_here);
                if (w->pending)
                    sim_strict_outside(w, lanes_here);
                if (sim->fault.code)
                    break;
                continue;
            }
            if (!find_code(w, g->pc))
                break;
        }
        const oric_insn *in = &w->code->insns[(g->pc - w->code->base) >> 4];
        w->active = g->mask | w->helpers;
        uint32_t mask = w->active & guard_mask(w, in);
        w->moved = 0;
        w->slice_steps = ++taken;
        lanes += (uint64_t)__builtin_popcount(mask);
        sim->op_counts[in->op < sim_op_count ? in->op : sim_op_count]++;
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
        /* Only where control flow goes on: vendor code sets uniform registers in divergent code and reads them before the next branch. */
        if (w->ngroups > 1 && ++w->since_switch >= GROUP_SLICE && w->moved)
            sim_pick_group(w);
    }
    if (w->traffic.count)
        sim_count_traffic(w);
    w->slice_steps = 0;
    w->cta->steps += taken;
    sim->stats.warp_instructions += taken;
    sim->stats.thread_instructions += lanes;
    return taken;
}

const oric_sim_fault *oric_sim_fault_info(const oric_sim *sim) { return &sim->fault; }
const oric_sim_stats *oric_sim_statistics(const oric_sim *sim) { return &sim->stats; }
