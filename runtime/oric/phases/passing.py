"""What goes into calls that stay and what comes out of them, at the places of the calling convention.

A result of more than 48 bytes lies in the stack: the caller makes room and passes, in front of all arguments, where that is.
Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import ARG_IN, ARG_OUT, IADD3, LDL, PRMT, STL
from oric_tables.registers import ARGUMENTS

from oric.ir import operand as opd
from oric.ir.calls import WORD, CallSite, ParamVariable, Shape, hidden_result, places
from oric.ir.cursor import Cursor
from oric.ir.function import Function, R
from oric.ir.module import Module, Symbol
from oric.support.diagnostics import NotSupported

_POINTER: Final = Shape(WORD, WORD, False)  # to the room for a result: an address of local memory
_ROOM_ALIGN: Final = 16  # of that room
_BYTES: Final = {1: "U8", 2: "U16", 4: "32"}  # of an access


@final
class Rooms:
    """Room in frames for results in memory: one variable of each size, whichever function it is that calls."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[int, int] = {}

    def symbol(self, size: int) -> int:
        """The module's id of the variable for results of ``size`` bytes."""
        found = self._known.get(size, -1)
        if found < 0:
            found = self.module.add_symbol(Symbol(f"result of {size} bytes", "local", size, _ROOM_ALIGN), scoped=True)
            self._known[size] = found
        return found


def pass_words(f: Function, cursor: Cursor, site: CallSite, results: bool, op: i64) -> int:
    """Move arguments, or results, to or from the places of the convention, at the cursor; returns how many words those are.

    Not the pointer to a result in memory, and not that result.

    Raises:
        NotSupported: several results that do not fit into the registers for them, a predicate.
    """
    hidden = hidden_result(site.shapes) is not None
    if results and hidden:
        return 0
    pairs, words = placed(site.shapes, results)
    if results and words > ARGUMENTS:
        size = sum(site.shapes[n].size for n, _ in pairs)
        raise NotSupported(f"results of {size} bytes together of a call that stays one", site.loc)
    left = set(range(int(hidden), min(words, ARGUMENTS)))
    if op == ARG_OUT:  # what goes to the stack goes first, while the registers of arguments are free
        pairs.sort(key=lambda pair: pair[1] < ARGUMENTS)
    for n, first in pairs:
        for at, operand in enumerate(_words_of(f, site.actuals[n], site.loc)):
            if operand:
                made = cursor.make1(op, operand)
                f.aux[made] = first + at
                left.discard(first + at)
    if op == ARG_OUT:  # what nobody has written is read as well, as registers are passed in a row
        for word in sorted(left):
            made = cursor.make1(op, opd.RZ_OPERAND)
            f.aux[made] = word
    return words


def placed(shapes: Sequence[Shape], results: bool) -> tuple[list[tuple[int, int]], int]:
    """The arguments, or the results, by their numbers among both with their first words; and how many words there are."""
    hidden = hidden_result(shapes) is not None
    wanted = [n for n, shape in enumerate(shapes) if shape.is_result == results]
    found, words = places([*([_POINTER] if hidden else []), *(shapes[n] for n in wanted)])
    return list(zip(wanted, found[hidden:], strict=True)), words


def _words_of(f: Function, actual: ParamVariable | int, loc: int) -> list[int]:
    """The words of an argument or result as operands, 0 for those that nothing is in.

    Raises:
        NotSupported: a predicate.
    """
    if isinstance(actual, ParamVariable):
        return list(actual.words)
    if not actual:
        return []
    if f.is_predicate(actual):
        raise NotSupported("a predicate as an argument or result of a call that stays one", loc)
    return [opd.word(actual, n) for n in range(opd.count_of(actual))]


# -- results in memory ----------------------------------------------------------------------------------------------------


def make_room(f: Function, cursor: Cursor, rooms: Rooms, site: CallSite) -> None:
    """Tell the callee, at the cursor in front of a call, where its result goes, if that is to be in memory."""
    shape = hidden_result(site.shapes)
    if shape is None:
        return
    if not f.stack:
        f.stack = opd.reg(f.new_reg(R))
        f.needs.append("stack")
    pointer = opd.reg(f.new_reg(R))
    cursor.make4(IADD3, pointer, f.stack, opd.symbol(rooms.symbol(shape.size), 0), opd.RZ_OPERAND)
    made = cursor.make1(ARG_OUT, pointer)
    f.aux[made] = 0


def take_from_room(f: Function, cursor: Cursor, rooms: Rooms, site: CallSite) -> None:
    """Read, behind a call, the words of a result in memory that somebody wants."""
    shape = hidden_result(site.shapes)
    if shape is None:
        return
    for at, operand in enumerate(_words_of(f, site.actuals[0], site.loc)):
        if operand:
            cursor.make(LDL, _size(LDL, WORD))
            cursor.put(operand)
            cursor.put(f.stack)
            cursor.put(opd.symbol(rooms.symbol(shape.size), WORD * at))


def take_pointer(f: Function, cursor: Cursor, site: CallSite) -> int:
    """The register of a function, at the cursor where it begins, with where its result goes; 0: into registers."""
    if hidden_result(site.shapes) is None:
        return 0
    pointer = opd.reg(f.new_reg(R))
    made = cursor.make1(ARG_IN, pointer)
    f.aux[made] = 0
    return pointer


def give_to_room(f: Function, cursor: Cursor, site: CallSite, pointer: int) -> None:
    """Write the result of a function, at the cursor where it ends, to where its caller wants it, and no other bytes.

    The room of other compilers is aligned as the result is.
    """
    shape = hidden_result(site.shapes)
    if shape is None:
        return
    step = min(shape.align, WORD)
    for at, operand in enumerate(_words_of(f, site.actuals[0], site.loc)):
        if operand:
            for offset, size in _pieces(min(shape.size - WORD * at, WORD), step):
                data = operand
                if offset:
                    data = opd.reg(f.new_reg(R))
                    cursor.make4(PRMT, data, operand, opd.imm(_selector(offset, size)), opd.RZ_OPERAND)
                cursor.make(STL, _size(STL, size))
                cursor.put(pointer)
                cursor.put(f.imm(WORD * at + offset))
                cursor.put(data)


def _pieces(size: int, step: int) -> Iterator[tuple[int, int]]:
    """Place and size of accesses to so many bytes of a word, that lie at multiples of their sizes, none larger than ``step``."""
    offset = 0
    while offset < size:
        piece = step
        while offset + piece > size:
            piece //= 2
        yield offset, piece
        offset += piece


def _selector(offset: int, size: int) -> int:
    """Of the PRMT that puts bytes of a word in front of zeros."""
    return sum((offset + k if k < size else 4) << 4 * k for k in range(WORD))


@cache
def _size(op: int, size: int) -> int:
    """Modifiers of an access to local memory."""
    mods: int = ops.op(op).pack(size=_BYTES[size])
    return mods
