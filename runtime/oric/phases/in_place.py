"""Parameters of functions that the convention has on the stack and whose address is taken: they are used where they lie.

The caller has made a copy that is the function's own. Source: observed (ptxas 13.0.88 reads and writes them there).
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from mypy_extensions import i64
from oric_tables.op import ARG_IN, STL
from oric_tables.registers import ARGUMENTS

from oric.ir import operand as opd
from oric.ir.calls import STACK_ARGUMENTS, WORD, CallSite
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R
from oric.support.diagnostics import InternalError

from .passing import placed

_MOST_ALIGN: Final = 16  # bytes: what callers give arguments on the stack
_DATA: Final = 2  # operand of a store


def stack_arguments(body: Function, site: CallSite) -> dict[int, int]:
    """The variables of a body that can be used where its caller has put them: byte offset among arguments on the stack.

    Their words are no arguments in registers any more: those of ``site`` are cleared.
    """
    found: dict[int, int] = {}
    pairs, _ = placed(site.shapes, False)
    for n, first in pairs:
        variable = body.formals[n].variable
        actual = site.actuals[n]
        if variable is not None and not isinstance(actual, int):
            if variable.home >= 0 and first >= ARGUMENTS and site.shapes[n].align <= _MOST_ALIGN:
                found[variable.home] = WORD * (first - ARGUMENTS)
                actual.words = [0] * len(actual.words)
    return found


def leave_in_place(f: Function, places: dict[int, int], words: Container[int]) -> None:
    """Let the copy of a body name those variables where they lie.

    ``places``: as :func:`stack_arguments` says; ``words``: registers whose stores are the copies into the frame.
    """
    arguments = opd.reg(f.new_reg(R))
    cursor = Cursor(f)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if _names(f, i, places):
                if f.op[i] == STL and f.get(i, _DATA) & opd.INDEX in words:
                    cursor.remove(i)
                else:
                    _base_on(f, i, arguments)
            i = following
        b += 1
    f.attributes.stack_arguments.update(places)
    cursor.behind(f.head[0])  # what tells the stack pointer
    made = cursor.make1(ARG_IN, arguments)
    f.aux[made] = STACK_ARGUMENTS


def _names(f: Function, i: i64, places: Container[int]) -> bool:
    """Whether an instruction has one of the variables as an operand."""
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if operand & opd.TYPE == opd.IS_SYMBOL and not operand & opd.CONST_BANK and int(operand & opd.INDEX) in places:
            return True
        at += 1
    return False


def _base_on(f: Function, i: i64, base: i64) -> None:
    """Put another register in place of that of the frame.

    Raises:
        InternalError: an address that is not the sum of that register and a place.
    """
    changed = False
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if opd.is_register(operand) and operand & opd.INDEX == f.stack & opd.INDEX:
            f.set(i, at, opd.with_index(operand, base & opd.INDEX))
            changed = True
        at += 1
    if not changed:
        raise InternalError(f"a parameter on the stack of '{f.name}' is named without the register of the frame")
