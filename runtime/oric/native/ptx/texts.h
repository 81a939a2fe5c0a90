/* Texts of operands and mnemonics as numbers: each distinct text has a row, which says what it is. */
#ifndef ORIC_PTX_TEXTS_H
#define ORIC_PTX_TEXTS_H
#include "ptx/chars.h"
#include "ptx/scan.h"

/* The row of the text from `from` to `to`, which is not empty; -1 when there is no room for another one. */
int64_t ptx_row(oric_ptx_scan *scan, int64_t from, int64_t to);
#endif
