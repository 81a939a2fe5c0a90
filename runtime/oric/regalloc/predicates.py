"""Predicates that do not fit wait in general registers.

A spilled predicate lives as 0 or 1 in a general register of its own: ``SEL r, RZ, 1, !p`` follows each write of it,
``ISETP.NE p', r, RZ`` goes before each instruction that reads it, with a short-lived p'. Source: Register Model, "Flag Bits
at +48" (spilled predicates live in general registers); hardware has no half predicates.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from oric_tables import ops

from oric.ir import operand as opd
from oric.ir.code import RESERVED_IDS, CodeObject, Instruction, P, R
from oric.ir.optable import INFO

SPILLED: Final = 0x4000  # flag of a register descriptor: it belongs to a spill and is not spilled again


@cache
def _test_mods() -> int:
    mods: int = ops.op(ops.ISETP).pack(cmp="NE", sign="U32", bop="AND")
    return mods


def spill_predicates(code: CodeObject, count: int) -> int:
    """Move ``count`` predicates with long lives and few uses into general registers; returns how many it found."""
    victims = _victims(code, count)
    if victims:
        homes = {p: code.new_reg(R) for p in victims}
        for block in code.blocks:
            for node in block:
                _rewrite(code, node, homes)
    return len(victims)


def _victims(code: CodeObject, count: int) -> list[int]:
    """The predicates whose span of code is longest for what it costs to spill them."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    uses: dict[int, int] = {}
    for position, node in enumerate(code.instructions()):
        for operand in (node.guard, *node.operands):
            number = _predicate(code, operand)
            if number >= 0:
                first.setdefault(number, position)
                last[number] = position
                uses[number] = uses.get(number, 0) + 1
    scores = [
        ((last[n] - first[n]) / uses[n], n)
        for n in first
        if last[n] - first[n] > uses[n] and not getattr(code.regs[n], "flags", 0) & SPILLED
    ]
    scores.sort(key=lambda item: (-item[0], item[1]))
    return [number for _, number in scores[:count]]


def _predicate(code: CodeObject, operand: int) -> int:
    """The predicate register that an operand names, -1 when it names none (0, the missing guard, names none)."""
    if not opd.is_reg(operand):
        return -1
    index = opd.index_of(operand)
    if index in RESERVED_IDS:
        return -1
    register = code.regs[index]
    return index if register is not None and register.reg_type == P else -1


def _rewrite(code: CodeObject, node: Instruction, homes: dict[int, int]) -> None:
    """Give an instruction short-lived predicates for the spilled ones that it names."""
    used = {n for operand in (node.guard, *node.operands) if (n := _predicate(code, operand)) in homes}
    if not used:
        return
    info = INFO[node.op]
    written = {_predicate(code, node.operands[i]) for i in info.writes if i < len(node.operands)} & used
    read = {_predicate(code, node.operands[i]) for i in info.reads if i < len(node.operands)} & used
    if _predicate(code, node.guard) in used:
        read.add(_predicate(code, node.guard))
    if node.guard:
        read |= written  # where the guard is false the old value stays
    renamed = {}
    for number in sorted(used):
        short = code.new_reg(P)
        register = code.regs[short]
        assert register is not None
        register.flags |= SPILLED
        renamed[number] = short
        if number in read:
            load = Instruction(ops.ISETP, [opd.reg(short), opd.reg(homes[number]), opd.RZ_OPERAND], _test_mods(), line=node.line)
            code.insert_before(node, load)
        if number in written:
            keep = Instruction(
                ops.SEL, [opd.reg(homes[number]), opd.RZ_OPERAND, code.imm(1), opd.reg(short) | opd.NEGATE], line=node.line
            )
            code.insert_after(node, keep)
    node.guard = _renamed(code, node.guard, renamed)
    node.operands = [_renamed(code, operand, renamed) for operand in node.operands]


def _renamed(code: CodeObject, operand: int, renamed: dict[int, int]) -> int:
    number = _predicate(code, operand)
    return operand ^ number ^ renamed[number] if number in renamed else operand
