/* Constraint lists: for every unit the units that may not share its register. */
#ifndef ORIC_INTERFERENCE_H
#define ORIC_INTERFERENCE_H
#include "function/backend.h"

typedef struct {
    uint32_t *first; /* unit_count + 1 positions in list */
    uint32_t *list;
    uint32_t pairs;  /* constraints, each counted once, repeats included */
} oric_constraints;

int oric_constraints_build(const oric_fn *fn, oric_constraints *out);
void oric_constraints_free(oric_constraints *constraints);
#endif
