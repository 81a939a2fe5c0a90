"""Video instructions: how bytes and halves of their operands are taken and put, as selectors of PRMT."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from oric.support import nodes

from .emit import integer
from .memory import Memory
from .program import OFF, E, F, M, Program

_WHOLE: Final = 0x3210
_OTHER: Final = 0x7654  # the whole of PRMT's other source
_ZERO: Final = 4  # a byte of the other source, which is RZ
_SIGN: Final = 8  # of a digit: the byte's sign in the place of the byte
_BYTES: Final = 4
_BITS: Final = {"": 32, "h": 16, "b": 8}  # of a part by its letter


def lanes(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """Run the lines of a rule; sources and the result may be parts of registers, sources of ``vmad`` negated.

    The lines read four numbers besides the operands: ``e``, ``f``, ``off`` and ``m``. By the first two PRMT extends the parts of
    a and b to words, by their types; in instructions on all lanes (option ``bits``: of one) it chooses the elements from a
    and b. By ``off`` it puts the part of its first source that d names into its other one. ``m`` is the largest value that the
    part of d holds.
    """
    parts: list[str] = []
    plain: list[Any] = []
    for node in operands:
        inner = node[1] if node[0] == nodes.NEG else node
        select = inner[0] == nodes.SELECT
        parts.append(inner[2] if select else "")
        plain.append(inner[1] if select else inner)
    types = program.types
    env = b.open(program)
    b.bind(program, env, plain)
    bits = int(program.options["bits"])
    if bits:
        env.put_value(E, integer(elements(parts[1], bits) if parts[1] else _WHOLE))
        env.put_value(F, integer(elements(parts[2], bits) if parts[2] else _OTHER))
        env.put_value(OFF, integer(merged(parts[0], bits)))
    else:
        env.put_value(E, integer(extended(parts[1], types[len(types) - 2][0] == "s")))
        env.put_value(F, integer(extended(parts[2], types[len(types) - 1][0] == "s")))
        env.put_value(OFF, integer(placed(parts[0])))
        env.put_value(M, integer((1 << _BITS[parts[0][:1]] - (types[0][0] == "s")) - 1))
    b.emit(program, env, guard)
    b.close()


def extended(part: str, signed: bool) -> int:
    """The selector that extends a part (``b2``, ``h1``, or "" for the whole) of the first source to a word, beside RZ."""
    if not part:
        return _WHOLE
    count = _BITS[part[0]] // 8
    first = int(part[1]) * count
    out = 0
    for digit in range(_BYTES):
        chosen = first + digit if digit < count else (first + count - 1 | _SIGN) if signed else _ZERO
        out |= chosen << 4 * digit
    return out


def placed(part: str) -> int:
    """The selector that puts a result, the first source, into a part of the other.

    What goes into ``h1`` is the result's upper half (observed: ptxas 13.0.88).
    """
    if not part:
        return _WHOLE
    count = _BITS[part[0]] // 8
    first = int(part[1]) * count
    out = _OTHER
    for digit in range(count):
        source = first + digit if part == "h1" else digit
        out = out & ~(15 << 4 * (first + digit)) | source << 4 * (first + digit)
    return out


def elements(part: str, bits: int) -> int:
    """The selector for elements of ``bits`` bits of a pair of words: ``h32``, ``b7610``."""
    count = bits // 8
    out = 0
    for digit in part[1:]:
        for byte in range(count - 1, -1, -1):
            out = out << 4 | int(digit) * count + byte
    return out


def merged(part: str, bits: int) -> int:
    """The selector that takes the elements that a mask names (``h1``, ``b310``; all without one) from the first source."""
    count = bits // 8
    out = _OTHER if part else _WHOLE
    for digit in part[1:]:
        for byte in range(count):
            at = int(digit) * count + byte
            out = out & ~(15 << 4 * at) | at << 4 * at
    return out
