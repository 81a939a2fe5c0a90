/* What sass/access.h and sass/schedule.h say, laid out for one look at each instruction. */
#include "sim/facts.h"

#include <stdlib.h>

#include "sass/access.h"
#include "tables/slots.h"

enum { NO_PLACE = 255 };

static sim_result result_of(int isa, const oric_insn *in, const sim_insn_facts *f, const oric_register_use *use, int k)
{
    oric_result r = oric_result_of(isa, in, &f->s, use->file, k);
    uint8_t limit = r.comes == ORIC_COMES_LATER ? oric_row_longest(isa, r.row) : 0;
    return (sim_result){oric_unit(use->file, use->number + (unsigned)k), r.comes, r.row, limit, r.boards};
}

static void find_places(int isa, const oric_insn *in, const oric_register_use *uses, int n, sim_insn_facts *f)
{
    uint8_t operand[ORIC_REUSE_PLACES];
    oric_reuse_places(isa, in, operand);
    for (int k = 0; k < ORIC_REUSE_PLACES; k++) {
        f->place[k] = ORIC_UNITS;
        for (int u = 0; u < n && operand[k] != NO_PLACE; u++) {
            if (uses[u].writes || uses[u].operand != operand[k])
                continue;
            f->place[k] = oric_unit(uses[u].file, uses[u].number);
            f->place_count[k] = (uint8_t)uses[u].count;
            if (in->ops[operand[k]].flags & ORIC_F_REUSE)
                f->keeps |= (uint8_t)(1 << k);
        }
    }
}

/* The facts of one instruction; its registers are stored from sources[f->first_source] and results[f->first_result] on unless
   these are NULL, and counted. */
static void look_at(int isa, const oric_insn *in, sim_insn_facts *f, sim_source *sources, sim_result *results)
{
    oric_register_use uses[ORIC_MOST_USES];
    int n = oric_accesses(in, uses);
    f->s = oric_schedule_of(isa, in);
    f->guard = ORIC_UNITS;
    f->read_ends = oric_read_ends(&f->s);
    uint32_t effects = in->op < ORIC_SLOT_OPS ? oric_flows[in->op].effects : 0;
    f->again = !(effects & ~(uint32_t)(ORIC_DOES_LOAD | ORIC_DOES_STORE | ORIC_DOES_SHARED | ORIC_DOES_LOCAL | ORIC_DOES_GLOBAL |
                                       ORIC_DOES_WIDE | ORIC_DOES_CONSTANT | ORIC_DOES_COMMON));
    for (int u = 0; u < n; u++) {
        const oric_register_use *use = &uses[u];
        if (use->operand == ORIC_BY_GUARD) {
            f->guard = oric_unit(use->file, use->number);
            f->guard_group = oric_source_group(&f->s, use, 0);
            continue;
        }
        for (int k = 0; k < use->count && use->number + k < ORIC_INSN_RZ; k++) {
            if (use->writes) {
                if (results)
                    results[f->first_result + f->results] = result_of(isa, in, f, use, k);
                f->results++;
            } else {
                if (sources)
                    sources[f->first_source + f->sources] =
                        (sim_source){oric_unit(use->file, use->number + (unsigned)k), oric_source_group(&f->s, use, k),
                                     (uint8_t)oric_source_is_late(&f->s, use)};
                f->sources++;
            }
        }
    }
    find_places(isa, in, uses, n, f);
}

int sim_facts_make(int isa, sim_code *code)
{
    uint64_t n = code->size / ORIC_INSN_BYTES;
    uint32_t sources = 0, results = 0;
    if (code->facts)
        return 1;
    struct sim_facts *facts = calloc(1, sizeof *facts);
    code->facts = facts;
    if (!facts)
        return 0;
    facts->insns = calloc(n + 1, sizeof *facts->insns);
    for (uint64_t i = 0; facts->insns && i < n; i++) {
        sim_insn_facts f = {0};
        look_at(isa, &code->insns[i], &f, NULL, NULL);
        facts->insns[i].first_source = sources, facts->insns[i].first_result = results;
        sources += f.sources, results += f.results;
    }
    facts->sources = malloc((sources + 1u) * sizeof *facts->sources);
    facts->results = malloc((results + 1u) * sizeof *facts->results);
    if (!facts->insns || !facts->sources || !facts->results) {
        sim_facts_free(code);
        return 0;
    }
    for (uint64_t i = 0; i < n; i++)
        look_at(isa, &code->insns[i], &facts->insns[i], facts->sources, facts->results);
    return 1;
}

void sim_facts_free(sim_code *code)
{
    if (!code->facts)
        return;
    free(code->facts->insns);
    free(code->facts->sources);
    free(code->facts->results);
    free(code->facts);
    code->facts = NULL;
}
