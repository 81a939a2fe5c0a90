"""Phase 67: a load of several words of which some are never read loads the others alone, where one load can.

Words that nobody reads would have registers nevertheless, and whoever gets these next would wait for the load. A volatile,
relaxed or ordered load stays what it is. Source: observed (ptxas 13.0.88, which also makes two loads of the outer words of four).
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_rules.matchers import OFFSET
from oric_tables import ops
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.conditions import in_reach, signed
from oric.ir.facts import is_absent
from oric.ir.function import AUX_VOLATILE, NONE, Function, R
from oric.ir.optable import ATOMIC, CONSTANT, LOAD, OPS, STORE
from oric.ir.passes import PassContext
from oric.ir.text import all_instructions

from .makers import Makers, makers_of
from .widening import SIZES, WORD, data_operand

_OTHERS: Final = ATOMIC | CONSTANT | STORE
_WORDS: Final = {name: words for words, name in SIZES.items() if words > 1}


def narrow_loads(f: Function, ctx: PassContext) -> bool:
    """Returns whether any load reads less than before."""
    if f.for_debugger:
        return False
    loads = _loads(f)
    if not loads:
        return False
    makers = makers_of(f)
    instead = vec[i64]([opd.NO_OPERAND] * f.registers())  # by register: the operand of all words that stay
    narrowed = 0
    for i in loads:
        narrowed += _narrow(f, makers, instead, i)
    if narrowed:
        _rename(f, instead)
    ctx.count("loads of fewer words", narrowed)
    return narrowed != 0


def _loads(f: Function) -> list[int]:
    """The weak loads of several words at a known distance from something."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            flags = OPS.flags[f.op[i]]
            if flags & LOAD and not flags & _OTHERS and OFFSET[f.op[i]] and not f.aux[i] & AUX_VOLATILE:
                wide = opd.count_of(f.get(i, 0)) > 1  # soon told, and of most loads not so
                if wide and not OPS.is_strong(f, i) and _size(f, i) in _WORDS:
                    found.append(int(i))
            i = f.next[i]
        b += 1
    return found


def _size(f: Function, i: i64) -> str:
    return str(ops.op(f.op[i]).unpack(f.mods[i]).get("size", ""))


def _narrow(f: Function, makers: Makers, instead: vec[i64], i: i64) -> int:
    """Load what is read of a load's words, if that is a part that a load can have; returns how many loads are changed (0, 1)."""
    op = f.op[i]
    at = data_operand(op)
    result, offset = f.get(i, at), f.get(i, OFFSET[op])
    words: i64 = _WORDS[_size(f, i)]
    if not opd.is_register(result) or opd.count_of(result) != words or f.reg_size[result & opd.INDEX] != words:
        return 0
    if f.reg_flags[result & opd.INDEX] & FLAG_FIXED or not _is_number(offset):
        return 0
    first, count = _part(f, makers, i, result, words)
    if count == words:
        return 0
    distance: int = signed(f.imm_value(offset)) if not is_absent(offset) else 0
    distance += WORD * first
    if not in_reach(distance):
        return 0
    names = ops.op(op).unpack(f.mods[i])
    names["size"] = SIZES[count]
    part = opd.reg(f.new_reg(R, count), 0, count)
    f.set_mods(i, ops.op(op).pack(**names))
    f.set(i, at, part)
    f.set(i, OFFSET[op], f.imm(distance))
    instead[result & opd.INDEX] = opd.with_first(part, first)
    return 1


def _is_number(offset: i64) -> bool:
    return is_absent(offset) or offset & opd.TYPE == opd.IS_IMM or offset & opd.TYPE == opd.IS_POOL


def _part(f: Function, makers: Makers, i: i64, result: i64, words: i64) -> tuple[int, int]:
    """First word and number of words of the smallest part, aligned as loads are, that has all that are read; all of them where
    something else writes the register too, or nobody reads it.
    """
    start = f.words_of(result)
    wanted = 0
    n = 0
    while n < words:
        if makers.maker[start + n] != i:
            return 0, int(words)
        if makers.read[start + n]:
            wanted |= 1 << n
        n += 1
    count = 1
    while count < words:
        first = 0
        while first < words:
            if wanted and not wanted & ~(((1 << count) - 1) << first):
                return first, count
            first += count
        count *= 2
    return 0, int(words)


def _rename(f: Function, instead: vec[i64]) -> None:
    """Let everything read the words that stay where they are now."""
    known: i64 = len(instead)
    for i in all_instructions(f):
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and operand & opd.INDEX < known and instead[operand & opd.INDEX] != opd.NO_OPERAND:
                part = instead[operand & opd.INDEX]
                moved = opd.with_first(operand, opd.first_of(operand) - opd.first_of(part))
                f.set(i, at, opd.with_index(moved, part & opd.INDEX))
            at += 1
