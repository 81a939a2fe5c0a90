"""Parameters and results of functions whose address is taken: they lie in the frame, in what is called local memory.

Code is made as if all lay in registers, as the address may be taken behind the first access. When a body is complete, every
access to such a register becomes one to memory. Where the convention has it in a register a parameter goes to memory where the
function begins; a result comes back from there where it returns. One that the convention has on the stack stays there, where the
function is no copy in a caller (:mod:`oric.phases.in_place`). Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import LDL, MOV, RETURN, STL

from oric.ir import operand as opd
from oric.ir.calls import WORD, Formal, ParamVariable
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R
from oric.ir.optable import OPS

_WORD_BITS: Final = "32"


def settle_parameters(f: Function, zeroed: list[tuple[ParamVariable, int]], stack: int) -> None:
    """See to the ``.param`` variables of a complete body.

    ``zeroed``: words of variables that are to be 0 where the body begins: their bytes are written one by one. ``stack``: the
    register with the address of the frame, where a variable lies there.
    """
    cursor = Cursor(f)
    cursor.line = 0
    addressed = [formal for formal in f.formals if formal.variable is not None and formal.variable.home >= 0]
    for formal in addressed:
        _make_words(f, formal)
    if addressed:
        _move_accesses(f, cursor, addressed, stack)
    cursor.at_start(0)
    for variable, word in zeroed:
        cursor.make2(MOV, variable.words[word], opd.RZ_OPERAND)
    for formal in addressed:
        if not formal.is_result:
            assert formal.variable is not None
            for at, word in enumerate(formal.variable.words):
                _store(cursor, formal.variable, at, word, stack, 0)


def _make_words(f: Function, formal: Formal) -> None:
    """A register for every word: any may be found by its address."""
    variable = formal.variable
    assert variable is not None
    for at, word in enumerate(variable.words):
        if not word:
            variable.words[at] = opd.reg(f.new_reg(R))


def _move_accesses(f: Function, cursor: Cursor, addressed: list[Formal], stack: int) -> None:
    """What reads or writes one of the registers does so in memory."""
    where: dict[int, tuple[ParamVariable, int]] = {}  # register -> variable, word
    results: list[ParamVariable] = []
    for formal in addressed:
        variable = formal.variable
        assert variable is not None
        where.update((int(word & opd.INDEX), (variable, at)) for at, word in enumerate(variable.words))
        if formal.is_result:
            results.append(variable)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if f.op[i] == RETURN:
                cursor.in_front(i)
                for variable in results:
                    for at, word in enumerate(variable.words):
                        _load(cursor, variable, at, word, stack)
            else:
                _move_operands(f, cursor, i, where, stack)
            i = following
        b += 1


def _move_operands(f: Function, cursor: Cursor, i: i64, where: dict[int, tuple[ParamVariable, int]], stack: int) -> None:
    n: i64 = 0
    while n < f.count[i]:
        operand = f.get(i, n)
        found = where.get(int(operand & opd.INDEX)) if opd.is_register(operand) else None
        if found is not None:
            variable, at = found
            own = opd.reg(f.new_reg(R))
            f.set(i, n, opd.with_index(operand, own & opd.INDEX))
            if OPS.writes_at(f.op[i], n):
                cursor.behind(i)
                _store(cursor, variable, at, own, stack, f.guard[i])
            else:
                cursor.in_front(i)
                _load(cursor, variable, at, own, stack)
        n += 1


def _store(cursor: Cursor, variable: ParamVariable, at: int, data: int, stack: int, guard: i64) -> None:
    cursor.make(STL, _word(STL), guard)
    cursor.put(stack)
    cursor.put(opd.symbol(variable.home, WORD * at))
    cursor.put(data)


def _load(cursor: Cursor, variable: ParamVariable, at: int, data: int, stack: int) -> None:
    cursor.make(LDL, _word(LDL))
    cursor.put(data)
    cursor.put(stack)
    cursor.put(opd.symbol(variable.home, WORD * at))


@cache
def _word(op: int) -> int:
    """Modifiers of an access to a word."""
    mods: int = ops.op(op).pack(size=_WORD_BITS)
    return mods
