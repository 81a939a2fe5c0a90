"""Registers that are made again instead of waiting in memory: constants, and special registers that do not change."""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.op import LDC, MOV, S2R
from oric_tables.operand_kinds import STABLE_SPECIAL

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS


def repeatable(f: Function, copies: set[int], split: dict[int, int]) -> dict[int, list[int]]:
    """Register -> the instructions that make its words, for registers that are the same wherever these are repeated.

    Each word has one, a pair may have one for both; of parts of such a register several, which are its ``copies``. What else was
    ``split`` is not looked at: its parts have few definitions, and yet the register had others.
    """
    found: dict[int, list[int]] = {}
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            _note_definitions(f, i, found)
            i = f.next[i]
        b += 1
    return {
        n: made
        for n, made in found.items()
        if (n in copies or (sum(opd.count_of(f.get(i, 0)) for i in made) == f.reg_size[n] and n not in split))
        and _is_repeatable(f, n, made)
    }


def _note_definitions(f: Function, i: i64, found: dict[int, list[int]]) -> None:
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if opd.is_register(operand) and OPS.writes_at(f.op[i], at):
            found.setdefault(operand & opd.INDEX, []).append(i)
        at += 1


def _is_repeatable(f: Function, n: i64, made: list[int]) -> bool:
    """Whether the instructions make each a word of a register, or all of it, always of the same that does not change."""
    words: dict[int, int] = {}
    size: i64 = 0
    for i in made:
        dest = f.get(i, 0)
        if f.guard[i] or not is_constant(f, i):
            return False
        first = opd.first_of(dest)
        if first not in words:
            size += opd.count_of(dest)
        other = words.setdefault(first, i)
        if not is_same(f, other, i):
            return False
    return size == f.reg_size[n]


def is_same(f: Function, i: i64, j: i64) -> bool:
    """Whether two instructions differ in their destination's register at most."""
    if f.op[i] != f.op[j] or f.mods[i] != f.mods[j] or f.count[i] != f.count[j]:
        return False
    at: i64 = 1
    while at < f.count[i]:
        if f.get(i, at) != f.get(j, at):
            return False
        at += 1
    return opd.count_of(f.get(i, 0)) == opd.count_of(f.get(j, 0))


def is_constant(f: Function, i: i64) -> bool:
    """Whether an instruction makes a word of a constant, a word of a constant bank or a special register that does not change."""
    number, source = f.op[i], f.get(i, 1)
    if number == LDC:
        return f.count[i] == 4 and source == opd.RZ_OPERAND
    if f.count[i] != 2 or f.mods[i] or opd.count_of(f.get(i, 0)) != 1:
        return False
    form = source & opd.TYPE
    if number == S2R:
        return form == opd.IS_SPECIAL and source & opd.INDEX in STABLE_SPECIAL
    return number == MOV and (form in (opd.IS_IMM, opd.IS_POOL) or (form == opd.IS_SYMBOL and source & opd.CONST_BANK != 0))
