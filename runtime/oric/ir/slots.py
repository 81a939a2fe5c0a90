"""Dense numbers for the 32-bit components of registers.

Analyses that need sets or tables of registers index them by *slot*: register r of n components has the slots
``bases[r] .. bases[r] + n - 1``; predicates have one.
"""

from __future__ import annotations

from typing import Final

from . import operand as opd
from .code import CodeObject

WHOLE: Final = 3  # width code of an operand that means all components


class SlotMap:
    """Slots of a function's registers; ``count`` is their number, ``bases`` is indexed by register id."""

    __slots__ = ("bases", "count", "sizes")

    def __init__(self, code: CodeObject) -> None:
        self.sizes = [0 if reg is None else reg.size for reg in code.regs]
        self.bases: list[int] = []
        total = 0
        for size in self.sizes:
            self.bases.append(total)
            total += size
        self.count = total
        # RZ and PT have no slots; operands of theirs must be sorted out before

    def of(self, operand: int) -> range:
        """The slots of a register operand; empty for RZ, PT and other kinds of operand."""
        if operand >> opd.TYPE_SHIFT & 7 != opd.REG:
            return range(0)
        index = operand & opd.INDEX_MASK
        if index in (opd.RZ, opd.PT):
            return range(0)
        first = self.bases[index]
        width = operand >> opd.WIDTH_SHIFT & 3
        if width == WHOLE:
            return range(first, first + self.sizes[index])
        first += operand >> opd.COMPONENT_SHIFT & 3
        return range(first, first + (1 << width))


def slot_map(code: CodeObject) -> SlotMap:
    """The slot map of ``code``, made anew when registers were added."""
    known = code.analyses.get("slots")
    if isinstance(known, SlotMap) and len(known.sizes) == len(code.regs):
        return known
    made = code.analyses["slots"] = SlotMap(code)
    return made
