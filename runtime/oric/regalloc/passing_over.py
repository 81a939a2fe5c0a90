"""Which registers allocation passes over: they keep what they have, and nothing of them waits elsewhere.

The reasons are rows of ``spec/registers.yaml`` (``passed_over``). Source: Registers, "Architectural Predicate Indices" (the skip
check: fixed indices, a phi of barriers, the exclusion set).
"""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.registers import PASSED_OVER, PASSED_OVER_PHIS

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS


def passed_over(f: Function) -> list[bool]:
    """By register, whether it is passed over."""
    found = [f.reg_flags[n] & PASSED_OVER != 0 for n in range(f.registers())]
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE and OPS.repeats[f.op[i]]:  # a MovPhi stands in front of everything else
            n = f.get(i, 0) & opd.INDEX
            if f.reg_type[n] in PASSED_OVER_PHIS:
                found[n] = True
            i = f.next[i]
        b += 1
    return found
