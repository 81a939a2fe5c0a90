"""What is known when a kernel is complete: places of its shared and local variables, its frame, what its entry loads.

Until here code names such variables by their symbols (:mod:`oric.lower.symbols`).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import ARG_IN, LINKED, LOP3

from oric.ir import operand as opd
from oric.ir.attributes import FunctionAttributes
from oric.ir.calls import FREE_STACK, INDIRECT, STACK_ALIGN, reached
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R
from oric.ir.module import Module
from oric.ir.optable import KIND_IMM, OPS, SLOTS
from oric.support.diagnostics import NotSupported

from .program import FIRST_TEMP, LITERAL, PACKED, D, Program, Tables, tables_of

_STACK_HINT: Final = 1  # R1 is the stack pointer of the ABI
_MASK32: Final = 0xFFFFFFFF
_AND: Final = 0xC0  # of the first two sources
_MOST_OFFSET: Final = 1 << 23  # displacements of accesses have 24 bits with a sign
_ADDEND_SIGN: Final = 1 << 23


def lay_out(f: Function, module: Module, target: Any, own_shared: list[int]) -> None:
    """Give the variables that a kernel and its functions use their places and put them into the code.

    ``own_shared``: symbols of shared variables declared inside the kernel. They lie in front of the module's, and those that no
    code uses behind all others, each group in the order of its declarations: so does ptxas 13.0 lay them out.

    Raises:
        NotSupported: a displacement that no access can have.
    """
    shared: list[tuple[Function, int, int]] = []
    told: set[int] = set()
    for code in (f, *f.functions):
        _place_local(code, module, shared)
        if module.preserved:
            _find_told(code, module, told)
    _place_shared(f, module, target, shared, own_shared, told)
    for code in (f, *f.functions):
        _load_at_entry(code, target)


def lay_out_together(module: Module, target: Any) -> None:
    """The same for all kernels of a module and the functions that are code of their own, which find a shared variable at one
    place whoever calls them: those that they use lie in front of those of the kernels.

    Raises:
        NotSupported: a displacement that no access can have.
    """
    places: dict[str, list[tuple[Function, int, int]]] = {code.name: [] for code in module.functions}
    for code in module.functions:
        _place_local(code, module, places[code.name])
    used = {name: {int(f.get(i, at) & opd.INDEX) for f, i, at in found} for name, found in places.items()}
    dynamic = {number for number, symbol in enumerate(module.symbols) if symbol.is_dynamic_shared}
    common = FunctionAttributes()
    for number in sorted(set[int]().union(*(used[f.name] for f in module.functions if not f.is_entry)) - dynamic):
        common.reserve_shared(number, module.symbols[number].size, module.symbols[number].align)
    below = _reached_shared(module, used)
    align = module.dynamic_shared_align
    behind = 0
    for code in module.functions:
        if code.is_entry:
            if not common.shared_offsets.keys().isdisjoint(below[code.name]):
                code.attributes.take_shared(common)
            _reserve_shared(code, module, used[code.name], code.own_shared)
            if not dynamic.isdisjoint(below[code.name]):
                behind = max(behind, -(-code.attributes.static_shared // align) * align)
    for code in module.functions:
        facts = code.attributes if code.is_entry else common
        if code.is_entry and not dynamic.isdisjoint(below[code.name]):
            facts.uses_dynamic_shared, facts.static_shared = True, behind
        _put_shared(module, target, facts, places[code.name], facts.static_shared if code.is_entry else behind)
        _load_at_entry(code, target)


def _reached_shared(module: Module, used: dict[str, set[int]]) -> dict[str, set[int]]:
    """The shared variables of each kernel and of the functions that it may call."""
    functions = {f.callee: f for f in module.functions if not f.is_entry}
    calls = {f.name: {call.callee for call in f.kept} for f in module.functions}
    below = {f.callee: calls[f.name] for f in functions.values()} | {INDIRECT: set(functions)}
    found: dict[str, set[int]] = {}
    for code in module.functions:
        callees = calls[code.name].union(*(reached(callee, below) for callee in calls[code.name] if callee in below))
        found[code.name] = used[code.name].union(*(used[functions[n].name] for n in callees if n in functions))
    return found


def _place_local(f: Function, module: Module, shared: list[tuple[Function, int, int]]) -> None:
    """Put the places of local variables into operands, in the order of the code; adds those of shared ones to ``shared``."""
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if operand & opd.TYPE == opd.IS_SYMBOL and not operand & opd.CONST_BANK:
                    number = int(operand & opd.INDEX)
                    symbol = module.symbols[number]
                    if symbol.space == "end":
                        _put(f, i, at, symbol.offset + _addend(operand))
                    elif symbol.space == "local":
                        _put(f, i, at, f.attributes.place_local(number, symbol.size, symbol.align) + _addend(operand))
                    else:
                        shared.append((f, i, at))
                at += 1
            i = f.next[i]
        b += 1


def _find_told(f: Function, module: Module, told: set[int]) -> None:
    """Shared variables that the code names by what is put into it in the end."""
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == LINKED:
                link = module.links[f.imm_value(f.get(i, 1))]
                if link.space == "shared":
                    told.add(link.symbol)
            i = f.next[i]
        b += 1


def _place_shared(
    kernel: Function, module: Module, target: Any, places: list[tuple[Function, int, int]], own: list[int], told: set[int]
) -> None:
    """Lay the shared variables out, those of ``told`` among them, and put their places into the operands ``places``."""
    _reserve_shared(kernel, module, told | {int(f.get(i, at) & opd.INDEX) for f, i, at in places}, own)
    _put_shared(module, target, kernel.attributes, places, kernel.attributes.static_shared)


def _reserve_shared(kernel: Function, module: Module, used: set[int], own: list[int]) -> None:
    """Places for the shared variables that code uses and those declared inside the kernel."""
    facts = kernel.attributes
    static = [number for number in sorted(used) if not module.symbols[number].is_dynamic_shared]
    first = [number for number in own if number in static]
    for number in [*first, *(n for n in static if n not in first), *(n for n in own if n not in first)]:
        facts.reserve_shared(number, module.symbols[number].size, module.symbols[number].align)
    if len(static) < len(used):
        facts.uses_dynamic_shared = True
        facts.shared_align = max(facts.shared_align, module.dynamic_shared_align)


def _put_shared(
    module: Module, target: Any, facts: FunctionAttributes, places: list[tuple[Function, int, int]], end: int
) -> None:
    """Put the places of shared variables into operands; dynamic ones lie behind ``end``."""
    for f, i, at in places:
        operand = f.get(i, at)
        number = int(operand & opd.INDEX)
        symbol = module.symbols[number]
        if symbol.is_dynamic_shared:
            align = module.dynamic_shared_align
            place = -(-end // align) * align
        else:
            place = facts.reserve_shared(number, symbol.size, symbol.align)
        _put(f, i, at, target.shared_base + place + _addend(operand))


def _addend(operand: i64) -> int:
    addend = opd.aux_of(operand)
    return addend - 2 * _ADDEND_SIGN if addend & _ADDEND_SIGN else addend


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
    if f.top:
        _begin(f, cursor)
        made = cursor.make1(ARG_IN, f.top)
        f.aux[made] = FREE_STACK
    for need in f.needs:
        if need == "top":
            continue
        if need == "stack":
            facts = f.attributes
            f.local_bytes = facts.local_size
            facts.local_size = -(-facts.local_size // STACK_ALIGN) * STACK_ALIGN
            line = tables.template("add_constant").first
            size = f.imm(-facts.local_size & _MASK32)
            if facts.local_align > STACK_ALIGN:  # than the stack pointer has; observed: ptxas does it the same way
                _begin(f, cursor)
                mask = f.imm(-facts.local_align & _MASK32)
                cursor.make4(LOP3, f.stack, f.stack, mask, opd.RZ_OPERAND, ops.op(LOP3).pack(lut=_AND))
                facts.local_size += facts.local_align - STACK_ALIGN
            facts.frame_size = facts.local_size
            _begin(f, cursor)
            cursor.make4(tables.op[line], f.stack, f.sp or f.stack, size, opd.RZ_OPERAND, tables.mods[line])
            if f.sp:
                continue
            f.hint[f.stack & opd.INDEX] = _STACK_HINT
        _begin(f, cursor)
        _run(f, cursor, tables, tables.template(f"load_{need}"), {"stack": f.stack, "shared": f.shared}.get(need, f.descriptor))


def _begin(f: Function, cursor: Cursor) -> None:
    """Go to where a function begins: behind what tells a function that is called its stack pointer."""
    if f.sp:
        cursor.behind(f.head[0])
    else:
        cursor.at_start(0)
    cursor.line = 0


def _run(f: Function, cursor: Cursor, tables: Tables, program: Program, dest: i64) -> None:
    """Insert the lines of a template that has no sources; it may have one temporary."""
    temporary: i64 = f.new_reg(R) | opd.IS_REG if program.temps else 0
    line: i64 = program.first
    while line < program.last:
        cursor.make(tables.op[line], tables.mods[line])
        o = tables.start[line]
        while o < tables.operands_end(line):
            index, flip = tables.index[o], tables.flip[o]
            if index == PACKED or index == LITERAL:
                cursor.put(flip if index == PACKED else f.imm(flip))
            else:
                assert index == D or index == FIRST_TEMP
                cursor.put(dest if index == D else temporary)
            o += 1
        line += 1
