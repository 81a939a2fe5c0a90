/* cdef */
/* The control flow of a section of machine code, as the hazard checker sees it. */
#ifndef ORIC_CHECK_CFG_H
#define ORIC_CHECK_CFG_H
#include "check/check.h"

enum { ORIC_CALL_NONE = -1, ORIC_CALL_OUTSIDE = -2 };
enum { ORIC_EDGE_NEXT = 0, ORIC_EDGE_TAKEN = 1 };

typedef struct {
    int32_t count;       /* blocks */
    int32_t *first;      /* count + 1: first instruction */
    int32_t *block_of;   /* by instruction */
    int32_t *succ_first; /* count + 1 */
    int32_t *succs;
    uint8_t *edge;       /* parallel to succs: ORIC_EDGE_* */
    int32_t *call;       /* by block: the block that its last instruction calls, ORIC_CALL_* */
    uint8_t *returns;    /* by block: its last instruction may return */
    uint8_t *leaves;     /* by block: control goes on behind the end of the section */
} oric_check_graph;

/* Whether an instruction does what it does for every thread that comes to it. */
int oric_unconditional(const oric_insn *insn);

/* Instruction that a direct branch or a region's operand names, -1 = none or outside of the section. */
int32_t oric_target_of(const oric_checked_code *code, int32_t i);

/* Build the graph: 0, or -1 without memory (what was made is freed). */
int oric_check_graph_build(oric_check_graph *graph, const oric_checked_code *code);
void oric_check_graph_free(oric_check_graph *graph);
#endif
