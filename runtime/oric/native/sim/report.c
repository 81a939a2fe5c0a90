/* Reports: what strict mode and the memory checker found. */
#include <stdlib.h>

#include "sim/state.h"

enum { MOST_REPORTS = 10000 };

void sim_report(sim_warp *w, uint32_t lane, oric_sim_report report)
{
    oric_sim *sim = w->sim;
    for (uint32_t i = 0; i < sim->nreports; i++) {
        oric_sim_report *known = &sim->reports[i];
        if (known->kind == report.kind && known->first == report.first && known->second == report.second && known->file == report.file) {
            known->repeats += known->repeats != UINT32_MAX;
            return;
        }
    }
    if (sim->nreports == MOST_REPORTS)
        return;
    if (sim->nreports == sim->room_reports) {
        uint32_t room = sim->room_reports ? 2 * sim->room_reports : 16;
        oric_sim_report *more = realloc(sim->reports, room * sizeof *more);
        if (!more) {
            sim_fault(w, ORIC_FAULT_NO_MEMORY, lane, "reports");
            return;
        }
        sim->reports = more;
        sim->room_reports = room;
    }
    memcpy(report.ctaid, w->cta->ctaid, sizeof report.ctaid);
    sim_thread_id(w, lane, report.tid);
    sim->reports[sim->nreports++] = report;
}

uint32_t oric_sim_report_count(const oric_sim *sim) { return sim->nreports; }

const oric_sim_report *oric_sim_report_at(const oric_sim *sim, uint32_t index)
{
    return index < sim->nreports ? &sim->reports[index] : NULL;
}
