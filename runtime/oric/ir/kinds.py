"""The ten operand kinds: what an operand of an instruction is to register allocation. Source: Ori IR, "Operand Kinds"."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.ori_operands import KIND_PREDICATED, KIND_REGISTER, KIND_REGULAR, kind_of

from . import operand as opd
from .function import Function
from .optable import OPS

GUARD: Final = 255  # the guard's number among the operands


def operand_kind(f: Function, i: i64, at: i64) -> int:
    """The kind of an operand, :data:`GUARD` or counted from 0; 0 for one that is left out.

    What an instruction of allocation's own making moves has the kind that allocation gave it.
    """
    if at == GUARD:
        return KIND_PREDICATED
    operand = f.get(i, at)
    if operand & opd.TYPE == opd.IS_NONE:
        return 0
    mark = f.attributes.marks.get(i, 0)
    if mark and opd.is_register(operand) and at == _moved(f, i):
        return mark
    slot = ops.op(f.op[i]).operands[at]
    kind = kind_of(slot.kind, slot.name)
    return KIND_REGULAR if kind == KIND_REGISTER and not opd.is_register(operand) else kind


def _moved(f: Function, i: i64) -> i64:
    """The operand that is written, or what is stored, which comes last."""
    at: i64 = 0
    while at < f.count[i]:
        if OPS.writes_at(f.op[i], at) and opd.is_register(f.get(i, at)) and f.get(i, at) & opd.INDEX != opd.RZ:
            return at
        at += 1
    return f.count[i] - 1
