"""Which predicates are true for one thread of a warp at most: its number, compared with what is the same for all.

Source: observed (ptxas 13.0.88 takes SR_TID.X and SR_LANEID for such numbers, with what is the same for all added).
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import ELECT, IADD3, IMAD, ISETP, MOV
from oric_tables.operand_kinds import DISTINCT_SPECIAL

from oric.ir import operand as opd
from oric.ir.function import Function
from oric.ir.optable import OPS

from .comparing import OTHER, is_joined_by_and
from .lone import only_writers, truth
from .makers import Makers

_STEPS: Final = 4  # from a number to what is compared
_COMPARED: Final = ops.op(ISETP).mods["cmp"]
_EQUAL: Final[int] = _COMPARED.values["EQ"]
_NOT_EQUAL: Final[int] = _COMPARED.values["NE"]
_ELECTED: Final = [operand.name for operand in ops.op(ELECT).operands].index("Pd")


def single_predicates(f: Function, makers: Makers, different: vec[i64]) -> dict[int, int]:
    """Such predicates (:func:`oric.phases.lone.truth`), and the instructions that make them; of elections, too."""
    found: dict[int, int] = {}
    for i in only_writers(f):
        if f.op[i] == ELECT and opd.is_register(f.get(i, _ELECTED)):
            found[truth(f.get(i, _ELECTED))] = i
        elif f.op[i] == ISETP and opd.is_register(f.get(i, 0)):
            compared = f.mods[i] >> _COMPARED.shift & _COMPARED.mask
            if not is_joined_by_and(f, i) or not _is_of_one(f, makers, different, i):
                continue
            if compared == _EQUAL:
                found[truth(f.get(i, 0))] = i
            elif compared == _NOT_EQUAL and f.get(i, OTHER) in (0, opd.NO_OPERAND, opd.PT_OPERAND):
                found[truth(f.get(i, 0) ^ opd.NEGATE)] = i
    return found


def _is_of_one(f: Function, makers: Makers, different: vec[i64], i: i64) -> bool:
    """Whether a comparison is of the number of a thread with what is the same for all."""
    a, b = f.get(i, 1), f.get(i, 2)
    return (_is_distinct(f, makers, different, a, _STEPS) and _is_same(f, different, b)) or (
        _is_distinct(f, makers, different, b, _STEPS) and _is_same(f, different, a)
    )


def _is_same(f: Function, different: vec[i64], operand: i64) -> bool:
    return not opd.is_register(operand) or (opd.count_of(operand) == 1 and not different[f.words_of(operand)])


def _is_distinct(f: Function, makers: Makers, different: vec[i64], operand: i64, steps: int) -> bool:
    """Whether all threads of a warp have different values of an operand."""
    if not steps or not opd.is_register(operand):
        return False
    maker = makers.of(operand)
    if maker < 0 or f.guard[maker]:
        return False
    number = f.op[maker]
    if OPS.sreg[number] >= 0:
        return f.get(maker, OPS.sreg[number]) & opd.INDEX in DISTINCT_SPECIAL
    if number == MOV:
        return _is_distinct(f, makers, different, f.get(maker, 1), steps - 1)
    if number == IMAD:
        factors = _is_same(f, different, f.get(maker, 1)) and _is_same(f, different, f.get(maker, 2))
        return factors and _is_distinct(f, makers, different, f.get(maker, 3), steps - 1)
    if number != IADD3:
        return False
    terms = [f.get(maker, at) for at in (1, 2, 3)]
    moving = [term for term in terms if not _is_same(f, different, term)]
    return len(moving) == 1 and _is_distinct(f, makers, different, moving[0], steps - 1)
