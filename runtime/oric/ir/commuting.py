"""Sources that can change places: with which other one, so that an operand stands where the operation has a form for it."""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.rewrites import COMMUTE, NEGATED, REORDERED, TABLE

from . import legality as legal
from . import operand as opd
from .facts import is_absent
from .function import Function
from .legality import Legality
from .optable import OPS


def is_only_result(f: Function, i: i64) -> bool:
    """Whether an instruction writes nothing but its first operand."""
    mask = OPS.writes[f.op[i]]
    at: i64 = 1
    while mask >> at and at < f.count[i]:
        if mask >> at & 1 and opd.is_register(f.operand[f.first[i] + at]):
            return False
        at += 1
    return True


def other_place(f: Function, legality: Legality, i: i64, at: i64, value: i64, avoided: i64 = 0) -> i64:
    """The place of a source with which the one at ``at`` can change places so that ``value`` fits; -1: none.

    ``avoided``: places that are not to be taken, as bits.
    """
    commute = COMMUTE.get(f.op[i])
    if commute is None or at not in commute[0] or not (commute[2] or is_only_result(f, i)):
        return -1
    negated: i64 = NEGATED.get(f.op[i], -1)
    if negated >= f.count[i] or (negated >= 0 and is_absent(f.get(i, negated))):
        return -1
    for place in commute[0]:
        other: i64 = place
        if avoided >> other & 1 or other == at or legal.kind_of(f, f.get(i, other)) != legal.KIND_GPR:
            continue
        if legality.format_with_two(f, i, at, f.get(i, other), other, value):
            return other
    return -1


def change_places(f: Function, i: i64, at: i64, other: i64) -> None:
    """Exchange two sources of an instruction that means the same then, its modifiers with them."""
    operand = f.get(i, at)
    f.set(i, at, f.get(i, other))
    f.set(i, other, operand)
    op = f.op[i]
    mods = f.mods[i]
    for shift, mask, names in COMMUTE[op][1]:
        old = mods >> shift & mask
        mods ^= (old ^ names.get(old, old)) << shift
    table: i64 = TABLE.get(op, -1)
    if table >= 0:  # sources 1 and 2, 2 and 3, or 1 and 3
        places = at + other
        mods = reordered(mods, table, 2 if places == 3 else 1 if places == 5 else 5)
    f.set_mods(i, mods)
    negated: i64 = NEGATED.get(op, -1)
    if negated >= 0:
        f.set(i, negated, f.get(i, negated) ^ opd.NEGATE)


def reordered(mods: i64, table: i64, order: i64) -> i64:
    """Modifiers whose truth table (from bit ``table`` on) is that of the sources in another order."""
    if table < 0:
        return mods
    return mods & ~(0xFF << table) | REORDERED[order * 256 + (mods >> table & 0xFF)] << table
