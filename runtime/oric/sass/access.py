"""The registers that decoded instructions read and write; the C code of ``sass/access.c`` does the work."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from oric_tables._native import ffi, lib
from oric_tables.registers import UNITS

FILES: Final[tuple[str, ...]] = UNITS  # order of ORIC_FILE_*
GUARD: Final = lib.ORIC_BY_GUARD
IMPLICIT: Final = lib.ORIC_BY_IMPLICIT
_USES_GUESS: Final = 6  # accesses an instruction


class Use(NamedTuple):
    """Consecutive registers that an instruction reads or writes.

    ``file`` is of FILES, ``number`` the first register, ``width`` in 32-bit registers (predicates: 1), ``operand`` the
    index of the operand, GUARD, or IMPLICIT for registers that no operand names; ``align``: ``number`` should be a multiple.
    """

    file: str
    number: int
    width: int
    writes: bool
    operand: int
    align: int

    @property
    def names(self) -> list[str]:
        """The registers by name: ``["R4", "R5"]``."""
        return [f"{self.file}{self.number + i}" for i in range(self.width)]


def uses(insns: Any, count: int) -> list[list[Use]]:
    """The accesses of each of ``count`` instructions, from a C array of ``oric_insn`` (:class:`oric.sass.code.Code`)."""
    first = ffi.new("int32_t[]", count + 1)
    room = max(count * _USES_GUESS, 1)
    found = ffi.new("oric_register_use[]", room)
    total = lib.oric_accesses_all(insns, count, found, room, first)
    if total > room:
        found = ffi.new("oric_register_use[]", total)
        lib.oric_accesses_all(insns, count, found, total, first)
    rows = [Use(FILES[u.file], u.number, u.count, bool(u.writes), u.operand, u.align) for u in found[0:total]]
    bounds = ffi.unpack(first, count + 1)
    return [rows[bounds[i] : bounds[i + 1]] for i in range(count)]
