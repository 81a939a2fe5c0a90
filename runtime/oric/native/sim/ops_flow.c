/* Branches, convergence, CTA barriers: operands to the functions of sim/flow.c. */
#include "sim/async.h"
#include "sim/lanes.h"
#include "sim/mbarrier.h"
#include "sim/ops.h"

enum { MACTIVE = 26 }; /* among the convergence barriers: the threads that run */


static uint64_t relative(const sim_warp *w, sim_opd target) { return w->pc + ORIC_INSN_BYTES + (uint64_t)target->value; }

/* The lanes of mask for which the extra predicate holds. */
static uint32_t taken(const sim_warp *w, uint32_t mask, sim_opd Pp) { return mask & sim_getp(w, Pp, SIM_FULL); }

/*
 * Branch. Mode U, with a uniform predicate: all or none; without: all when all would take it, else none. Mode U.ANY: all when any would.
 * Mode DIV, with a mask in a uniform register: all lanes that are here, when not all live lanes of the mask are here with a guard
 * that holds. Mode CONV: the other way round, those whose guard holds.
 */
SIM_OP(branch, sim_opd target, sim_opd Pp, unsigned mode, sim_opd UPq)
{
    uint32_t lanes = taken(w, mask, Pp);
    if (mode == V_DIV || mode == V_CONV) {
        uint32_t wanted = UPq->kind == ORIC_K_UGPR ? sim_get_uniform(w, w->active, UPq) : SIM_FULL; /* ~URZ: all */
        int diverged = (wanted & ~w->dead & ~mask) != 0;
        if (mode == V_DIV)
            lanes = diverged ? w->active : 0;
        else if (diverged)
            lanes = 0;
    } else if (UPq->kind == ORIC_K_UPRED) {
        lanes &= sim_getp(w, UPq, SIM_FULL);
    } else if (mode == V_U) {
        lanes = lanes == w->active ? lanes : 0;
    } else if (mode == V_U_ANY) {
        lanes = lanes ? w->active : 0;
    }
    sim_goto(w, lanes, relative(w, target));
}

/* Branch to base register plus offset: relative to the next instruction, or absolute. */
SIM_OP(branch_indirect, sim_opd Ra, sim_opd off, sim_opd Pp, unsigned absolute)
{
    uint64_t room[SIM_LANES], targets[SIM_LANES];
    const uint64_t *base = sim_get64(w, mask, Ra, room, 0);
    uint64_t add = (uint64_t)off->value + (absolute ? 0 : w->pc + ORIC_INSN_BYTES);
    for (int l = 0; l < SIM_LANES; l++)
        targets[l] = base[l] + add;
    if (!w->sim->fault.code)
        sim_goto_each(w, taken(w, mask, Pp), targets);
}

SIM_OP(branch_absolute, sim_opd address, sim_opd Pp)
{
    sim_goto(w, taken(w, mask, Pp), (uint64_t)address->value);
}

SIM_OP(exit, sim_opd Pp)
{
    uint32_t lanes = taken(w, mask, Pp);
    if (lanes)
        sim_exit(w, lanes);
}

SIM_OP(set_convergence, sim_opd Bd, sim_opd Pp)
{
    uint32_t lanes = taken(w, mask, Pp);
    if (lanes)
        sim_bssy(w, lanes, Bd->reg % ORIC_CONVERGENCE_BARRIERS);
}

SIM_OP(converge, sim_opd Ba, sim_opd Pp)
{
    uint32_t lanes = taken(w, mask, Pp);
    if (lanes)
        sim_bsync(w, lanes, Ba->reg % ORIC_CONVERGENCE_BARRIERS);
}

SIM_OP(leave_convergence, sim_opd Ba, sim_opd Pp)
{
    uint32_t lanes = taken(w, mask, Pp);
    if (lanes)
        sim_break(w, lanes, Ba->reg % ORIC_CONVERGENCE_BARRIERS);
}

/* With `exclusive` the lanes of a mask go on without the lanes of the group that name another one. */
/* The lanes that each lane waits for: those of Ra, or all without an operand. */
static const uint32_t *wanted_of(sim_warp *w, uint32_t mask, sim_opd Ra, uint32_t *room)
{
    if (Ra->kind != ORIC_K_NONE)
        return sim_get32(w, mask, Ra, room, SIM_AS_BITS);
    for (int l = 0; l < SIM_LANES; l++)
        room[l] = SIM_FULL;
    return room;
}

SIM_OP(warpsync, sim_opd Ra, sim_opd Pp, unsigned exclusive)
{
    uint32_t room[SIM_LANES], lanes = taken(w, mask, Pp);
    const uint32_t *wanted = wanted_of(w, mask, Ra, room);
    if (lanes && !w->sim->fault.code)
        sim_warpsync(w, lanes, wanted, exclusive != 0);
}

SIM_OP(collective, sim_opd Ra, sim_opd target, sim_opd Pp)
{
    uint32_t room[SIM_LANES], lanes = taken(w, mask, Pp);
    const uint32_t *wanted = wanted_of(w, mask, Ra, room);
    if (lanes && !w->sim->fault.code)
        sim_collective(w, lanes, wanted, relative(w, target));
}

SIM_OP(end_collective, sim_opd Pp)
{
    sim_goto_each(w, taken(w, mask, Pp), w->collective);
}

SIM_OP(yield, sim_opd Pp)
{
    if (taken(w, mask, Pp))
        sim_yield(w);
}

/* Registers from ORIC_CONVERGENCE_BARRIERS on hold the state of the warp. */
SIM_OP(read_convergence, sim_opd Rd, sim_opd Ba, unsigned clear)
{
    uint32_t breg = Ba->reg % ORIC_CONVERGENCE_BARRIERS, values[SIM_LANES];
    if (Ba->reg >= ORIC_CONVERGENCE_BARRIERS) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "state register");
        return;
    }
    memcpy(values, w->B[breg], sizeof values);
    sim_put32(w, mask, Rd, values);
    for (int l = 0; clear && l < SIM_LANES; l++)
        if (mask >> l & 1)
            w->B[breg][l] = 0;
}

SIM_OP(write_convergence, sim_opd Bd, sim_opd Rb)
{
    uint32_t room[SIM_LANES], breg = Bd->reg % ORIC_CONVERGENCE_BARRIERS;
    if (Bd->reg >= ORIC_CONVERGENCE_BARRIERS) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "state register");
        return;
    }
    const uint32_t *values = sim_get32(w, mask, Rb, room, SIM_AS_BITS);
    for (int l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            w->B[breg][l] = values[l];
}

static uint32_t quads_of(uint32_t mask)
{
    uint32_t out = 0;
    for (uint32_t quad = 0xf; quad; quad <<= 4)
        out |= mask & quad ? quad : 0;
    return out;
}

/* Another set of threads goes on: those of the barrier, which run already, with the rest of their quads or without. */
static void choose_active(sim_warp *w, uint32_t mask, unsigned from, unsigned pquad)
{
    uint32_t value = w->B[from][sim_first_lane(mask)], own = w->groups[w->current].mask;
    if (value != own) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "other threads than those that run");
        return;
    }
    w->helpers = pquad ? quads_of(own) & ~own : 0;
    for (int l = 0; l < SIM_LANES; l++) /* a register of the warp */
        if (w->helpers >> l & 1)
            w->B[from][l] = value;
}

SIM_OP(move_active, sim_opd Bd, sim_opd Ba, unsigned pquad)
{
    if (Bd->reg == MACTIVE && Ba->reg < ORIC_CONVERGENCE_BARRIERS)
        choose_active(w, mask, Ba->reg, pquad);
    else
        sim_do_move_convergence(w, mask, Bd, Ba, 0);
}

SIM_OP(move_convergence, sim_opd Bd, sim_opd Ba, unsigned clear)
{
    if (Ba->reg == MACTIVE && Bd->reg < ORIC_CONVERGENCE_BARRIERS && !clear) {
        for (int l = 0; l < SIM_LANES; l++)
            if (mask >> l & 1)
                w->B[Bd->reg][l] = mask;
        return;
    }
    if (Bd->reg >= ORIC_CONVERGENCE_BARRIERS || Ba->reg >= ORIC_CONVERGENCE_BARRIERS) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, sim_first_lane(mask), "state register");
        return;
    }
    for (int l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1) {
            w->B[Bd->reg][l] = w->B[Ba->reg][l];
            if (clear)
                w->B[Ba->reg][l] = 0;
        }
}

/*
 * CTA barrier: Ra its number, Rb the number of threads (none or 0: all of the CTA). When both come from the same
 * register, it holds the number in its lower bits and the threads from bit 16 on.
 */
SIM_OP(barrier, sim_opd Ra, sim_opd Rb, sim_opd Pp, int wait, unsigned reduction)
{
    uint32_t index = sim_get_uniform(w, mask, Ra), threads = Rb->kind == ORIC_K_NONE ? 0 : sim_get_uniform(w, mask, Rb);
    if (Ra->kind == ORIC_K_GPR && Rb->kind == ORIC_K_GPR && Ra->reg == Rb->reg) {
        threads = index >> 16;
        index &= 0xffff;
    }
    if (index >= ORIC_CTA_BARRIERS || threads % SIM_LANES || threads > 1024) {
        sim_fault(w, ORIC_FAULT_ILLEGAL, sim_first_lane(mask), "barrier number or thread count");
        return;
    }
    int reducing = reduction == V_POPC ? 1 : reduction == V_AND ? 2 : reduction == V_OR ? 3 : 0;
    sim_barrier_arrive(w, mask, index, threads, wait, reducing, sim_getp(w, Pp, SIM_FULL));
}

/* An answer on its way to code that asked for work. */
typedef struct {
    uint8_t *to, *mbarrier;
    uint32_t words[4], lane;
} work_answer;

static void land_answer(sim_warp *w, void *what)
{
    const work_answer *a = what;
    memcpy(a->to, a->words, sizeof a->words);
    sim_mbarrier_update(w, a->lane, a->mbarrier, (sim_mbarrier_step){.bytes = -(int64_t)sizeof a->words});
}

/* 16 bytes, and their arrival at an mbarrier, in one CTA of the cluster. */
static void answer(sim_warp *w, uint32_t lane, uint32_t rank, const uint32_t *place, const uint32_t words[4])
{
    const uint64_t cta = (uint64_t)rank << ORIC_RANK_SHIFT, offsets = (1u << ORIC_RANK_SHIFT) - 1;
    uint64_t mbarrier = cta | (place[1] & offsets);
    work_answer a = {.lane = lane};
    memcpy(a.words, words, sizeof a.words);
    a.to = sim_address(w, lane, ORIC_MEM_CLUSTER, cta | (place[0] & offsets), sizeof a.words, SIM_WRITE);
    a.mbarrier = a.to ? sim_mbarrier_place(w, lane, mbarrier) : NULL;
    if (!a.mbarrier)
        return;
    sim_cta *owner = sim_shared_owner(w, &mbarrier);
    sim_async *copy = sim_async_add_mbarrier(w, owner ? owner : w->cta, a.mbarrier, w->active, land_answer, &a, sizeof a);
    sim_async_covers(w, copy, a.to, sizeof a.words, SIM_WRITE);
}

/*
 * Take the work of a cluster that has not begun: its first CTA's place (x; y and z as halves), then 1, or 0 when there is none.
 * BROADCAST: every CTA of the cluster gets the answer.
 */
SIM_OP(next_work, sim_opd URa, unsigned cast)
{
    const uint32_t place[2] = {sim_uniform_word(w, URa, 0), sim_uniform_word(w, URa, 1)}, lane = sim_first_lane(mask);
    uint32_t words[4] = {0, 0, 0, 0}, ctaid[3];
    oric_sim *sim = w->sim;
    if (sim->shared != sim) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, lane, "work of a launch on several threads");
        return;
    }
    if (sim->next_cluster < sim->num_clusters) {
        sim_place_of(sim, sim->next_cluster++, 0, ctaid);
        words[0] = ctaid[0];
        words[1] = (ctaid[1] & 0xffff) | ctaid[2] << 16;
        words[2] = 1;
    }
    for (uint32_t rank = 0; rank < w->cta->cluster->nctas; rank++)
        if (cast == V_BROADCAST || rank == w->cta->rank)
            answer(w, lane, rank, place, words);
}

SIM_OP(cluster_arrive, int unused)
{
    (void)unused;
    sim_cluster_arrive(w, mask);
}

SIM_OP(cluster_wait, int unused)
{
    (void)unused;
    sim_cluster_wait(w, mask);
}

SIM_OP(barrier_result, sim_opd Rd, sim_opd Pu)
{
    uint32_t values[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        values[l] = w->result_value;
    sim_put32(w, mask, Rd, values);
    sim_putp(w, mask, Pu, w->result_pred ? SIM_FULL : 0);
}

/* The address of the instruction itself, or of a label. */
SIM_OP(program_counter, sim_opd Rd, sim_opd target)
{
    uint64_t values[SIM_LANES];
    for (int l = 0; l < SIM_LANES; l++)
        values[l] = target->kind == ORIC_K_NONE ? w->pc : relative(w, target);
    sim_put64(w, mask, Rd, values);
}

SIM_OP(trap, unsigned code)
{
    char text[32] = "code 0";
    text[5] = (char)('0' + code % 8);
    sim_fault(w, ORIC_FAULT_TRAP, sim_first_lane(mask), text);
}

SIM_OP(nothing, int unused)
{
    (void)w;
    (void)mask;
    (void)unused;
}

/* Rpc, the register of return addresses: code of ptxas keeps other values there for a while. */
SIM_OP(set_scratch, sim_opd Rb, int high)
{
    uint32_t room[SIM_LANES];
    const uint32_t *values = sim_get32(w, mask, Rb, room, SIM_AS_BITS);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1)
            w->scratch[high][l] = values[l];
}

SIM_OP(get_scratch, sim_opd Rd, int high) { sim_put32(w, mask, Rd, w->scratch[high]); }
