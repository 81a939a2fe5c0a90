"""What is known when a kernel is complete: places of its shared and local variables, its frame, what its entry loads.

Until here code names such variables by their symbols (:mod:`oric.lower.memory`).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.module import Module, Symbol
from oric.ir.optable import KIND_IMM, OPS, SLOTS
from oric.support.diagnostics import NotSupported

from .program import LITERAL, PACKED, tables_of

_STACK_HINT: Final = 1  # R1 is the stack pointer of the ABI
_STACK_ALIGN: Final = 16
_MASK32: Final = 0xFFFFFFFF
_MOST_OFFSET: Final = 1 << 23  # displacements of accesses have 24 bits with a sign
_ADDEND_SIGN: Final = 1 << 23


def lay_out(f: Function, module: Module, target: Any, own_shared: list[int]) -> None:
    """Give the variables that a kernel uses their places and put them into the code.

    ``own_shared``: symbols of shared variables declared inside the kernel; those that no code uses lie behind the others.

    Raises:
        NotSupported: a displacement that no access can have.
    """
    dynamic = _place_symbols(f, module, target)
    for number in own_shared:
        symbol = module.symbols[number]
        f.attributes.reserve_shared(number, symbol.size, symbol.align)
    for i, at in dynamic:
        _place_dynamic(f, i, at, module, target)
    _load_at_entry(f, target)


def _place_symbols(f: Function, module: Module, target: Any) -> list[tuple[int, int]]:
    """Put the places of static variables into operands, in the order of the code; returns the operands of dynamic ones."""
    dynamic: list[tuple[int, int]] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if operand & opd.TYPE == opd.IS_SYMBOL and not operand & opd.CONST_BANK:
                    symbol = module.symbols[operand & opd.INDEX]
                    if symbol.is_dynamic_shared:
                        f.attributes.uses_dynamic_shared = True
                        f.attributes.shared_align = max(f.attributes.shared_align, symbol.align)
                        dynamic.append((i, at))
                    else:
                        _put(f, i, at, _offset(f, operand & opd.INDEX, symbol, target) + _addend(operand))
                at += 1
            i = f.next[i]
        b += 1
    return dynamic


def _offset(f: Function, number: int, symbol: Symbol, target: Any) -> int:
    if symbol.space == "local":
        return f.attributes.reserve_local(number, symbol.size, symbol.align)
    base: int = target.shared_base
    return base + f.attributes.reserve_shared(number, symbol.size, symbol.align)


def _addend(operand: i64) -> int:
    addend = opd.aux_of(operand)
    return addend - 2 * _ADDEND_SIGN if addend & _ADDEND_SIGN else addend


def _place_dynamic(f: Function, i: i64, at: i64, module: Module, target: Any) -> None:
    operand = f.get(i, at)
    align = module.symbols[operand & opd.INDEX].align
    base = -(-f.attributes.static_shared // align) * align
    f.set(i, at, f.imm(target.shared_base + base + _addend(operand)))


def _put(f: Function, i: i64, at: i64, value: int) -> None:
    """Put an address in place of a symbol."""
    field = OPS.kind[f.op[i] * SLOTS + at] == KIND_IMM
    if field and not -_MOST_OFFSET <= value < _MOST_OFFSET:
        raise NotSupported(f"an access {value} bytes from the start of its memory")
    f.set(i, at, f.imm(value & _MASK32 if not field or value >= 0 else value) if value or field else opd.RZ_OPERAND)


def _load_at_entry(f: Function, target: Any) -> None:
    """Load the stack pointer and the descriptor of memory where the code uses them, and make room for the frame."""
    tables = tables_of(target.name)
    cursor = Cursor(f)
    cursor.line = 0
    if f.top:  # behind what the others make, which begins the function
        cursor.at_start(0)
        line = tables.template("move").first
        cursor.make2(tables.op[line], f.top, f.stack, tables.mods[line])
    for need in f.needs:
        if need == "top":
            continue
        if need == "stack":
            facts = f.attributes
            facts.local_size = -(-facts.local_size // _STACK_ALIGN) * _STACK_ALIGN
            facts.frame_size = facts.local_size
            f.hint[f.stack & opd.INDEX] = _STACK_HINT
            line = tables.template("add_constant").first
            cursor.at_start(0)
            cursor.line = 0
            size = f.imm(-facts.local_size & _MASK32)
            cursor.make4(tables.op[line], f.stack, f.stack, size, opd.RZ_OPERAND, tables.mods[line])
        program = tables.template("load_stack" if need == "stack" else "load_descriptor")
        line = program.first
        cursor.at_start(0)
        cursor.line = 0
        cursor.make(tables.op[line], tables.mods[line])
        cursor.put(f.stack if need == "stack" else f.descriptor)
        o = tables.start[line] + 1
        while o < tables.operands_end(line):
            assert tables.index[o] == PACKED or tables.index[o] == LITERAL
            cursor.put(tables.flip[o] if tables.index[o] == PACKED else f.imm(tables.flip[o]))
            o += 1
