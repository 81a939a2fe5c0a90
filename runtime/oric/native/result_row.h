/* cdef */
/* Which row of the distance tables a result has. */
#ifndef ORIC_RESULT_ROW_H
#define ORIC_RESULT_ROW_H
#include "oric_insn.h"

/* The row of the k-th register that a decoded instruction writes in a register file (ORIC_FILE_*); 255 = it has none. */
uint8_t oric_result_row(int isa, const oric_insn *insn, uint8_t file, int k);
#endif
