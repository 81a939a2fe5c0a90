"""Marks of the instructions that the container names because they are on an mbarrier (``mbarrier_records`` of spec/cubin.yaml).

Lowering marks what a PTX instruction has become: with the number of its kind plus one, in ``aux``. A macro hands its mark to
what takes its place. Observed: records MBARRIER_INSTR_OFFSETS of ptxas 13.0.88.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.cubin_layout import MBARRIER_KINDS

from .function import AUX_MBARRIER, NONE, Function
from .optable import OPS

_SHIFT: Final = 25
_NAMES: Final = list(MBARRIER_KINDS)
_INIT: Final = _NAMES.index("init")


def _numbers(names: tuple[str, ...]) -> frozenset[int]:
    return frozenset(op.number for op in ops.OPS if op is not None and op.name in names)


_OPERATIONS: Final = [_numbers(row[1]) for row in MBARRIER_KINDS.values()]


def kind_of(name: str) -> i64:
    """The kind that a rule names, -1 for none."""
    return _NAMES.index(name) if name else -1


def number_of(aux: i64) -> i64:
    """The number in the record of an instruction with a mark, -1 where it has none."""
    kind = ((aux & AUX_MBARRIER) >> _SHIFT) - 1
    return MBARRIER_KINDS[_NAMES[kind]][0] if kind >= 0 else -1


def mark(f: Function, made: i64, kind: i64) -> None:
    """Mark the instruction, from number ``made`` on, that has the record of its kind, if there is one."""
    name = _NAMES[kind]
    first = MBARRIER_KINDS[name][2]
    found: i64 = NONE
    while made < len(f.op) and not (first and found != NONE):
        op = f.op[made]
        if op in _OPERATIONS[kind] or OPS.expansion[op]:
            found = made
        made += 1
    facts = f.attributes
    if found != NONE:
        f.aux[found] |= kind + 1 << _SHIFT
        facts.mbarriers = max(facts.mbarriers, 0)
    if kind == _INIT:
        facts.mbarriers = max(facts.mbarriers, 0) + 1


def pass_on(f: Function, macro: i64, made: i64) -> None:
    """Give the mark of a macro to what has been made in its place, from number ``made`` on."""
    kind = ((f.aux[macro] & AUX_MBARRIER) >> _SHIFT) - 1
    while kind >= 0 and made < len(f.op):
        if f.op[made] in _OPERATIONS[kind]:
            f.aux[made] |= kind + 1 << _SHIFT
        made += 1
