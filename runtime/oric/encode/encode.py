"""Encoding: from a scheduled function on hardware registers to machine words and the places that the container names."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from oric_tables._native import ffi, lib
from oric_tables.phases import MACHINE

from oric.ir import machine
from oric.ir.encoded import FULL_MASK, EncodedFunction
from oric.ir.function import Function
from oric.ir.machine import MachineFunction
from oric.support.diagnostics import InternalError

if TYPE_CHECKING:
    from oric_tables.targets import Target

WORD_BYTES: Final = 16
# Marks of operations that the container names (see oric_emit).
_EXIT, _WARP, _WIDE, _INDIRECT, _CONVERGENCE = range(1, 6)
_ERRORS: Final = {
    lib.ORIC_E_OPERATION: "the target has no such operation",
    lib.ORIC_E_OPERANDS: "no form takes operands of these kinds",
    lib.ORIC_E_RANGE: "a value does not fit",
    lib.ORIC_E_SIGN: "a sign that the form does not have",
    lib.ORIC_E_MOD: "a modifier that the form does not have",
    lib.ORIC_E_FORM: "modifiers and operands ask for different forms",
    lib.ORIC_E_ALIGN: "a group of registers that is not aligned to its size",
    lib.ORIC_EMIT_BAD_OPERAND: "an operand that is none of the machine's",
}


def encode_function(f: Function, target: Target) -> EncodedFunction:
    """Encode a function whose registers are allocated and whose instructions have control bits.

    Raises:
        InternalError: an instruction has no encoding; the text names the operation and the PTX line.
    """
    view = machine.on_registers(f, target.isa, target.uniform_regs)
    f.analyses.forget(MACHINE)
    words, blocks, marks = _emit(view)
    facts = f.attributes
    out = EncodedFunction(f.name, words, max(facts.num_regs + target.reserved_regs, target.smallest_regs))
    starts = [WORD_BYTES * word for word in blocks]
    for word, mark, index in marks:
        offset = WORD_BYTES * word
        if mark == _EXIT:
            out.exits.append(offset)
        elif mark == _WARP:
            out.coop_groups.append((offset, FULL_MASK))
        elif mark == _WIDE:
            out.warp_wide.append(offset)
        elif mark == _INDIRECT:
            block = f.block[index]
            out.indirect_branches.append((offset, [starts[f.successor(block, at)] for at in range(f.succ_count[block])]))
        else:
            out.uses_convergence = True
    out.constant2 = _tables(facts, starts)
    return out


def _tables(facts: Any, starts: list[int]) -> bytes:
    """Bank 2 with the jump tables: code offsets of blocks from the start of the function."""
    data = bytearray(facts.constant2)
    for table in facts.jump_tables:
        struct.pack_into(f"<{len(table.targets)}I", data, table.offset, *(starts[t] for t in table.targets))
    return bytes(data)


def _emit(view: MachineFunction) -> tuple[bytes, list[int], list[tuple[int, int, int]]]:
    """Machine code, first word of every block, and (word, mark, instruction) of marked instructions."""
    nop, bra, marks = _operations()
    fn = view.fn
    size = lib.oric_emit_size(fn)
    words = ffi.new("uint64_t[]", 2 * size)
    blocks = ffi.new("uint32_t[]", fn.block_count + 1)
    found = ffi.new("oric_mark[]", fn.insn_count + 1)
    error = ffi.new("int32_t[2]")
    count = lib.oric_emit(fn, view.lent.c, nop, bra, marks, words, blocks, found, error)
    if count < 0:
        raise InternalError(f"{view.describe(error[1])} cannot be encoded: {_explain(error[0], view, error[1])}")
    return (
        bytes(ffi.buffer(words)),
        ffi.unpack(blocks, fn.block_count + 1),
        [(found[i].word, found[i].mark, found[i].index) for i in range(count)],
    )


def _explain(error: int, view: MachineFunction, i: int) -> str:
    from oric_tables import ops

    text = _ERRORS.get(error & 0xFF, f"error {error & 0xFF}")
    op = ops.op(view.f.op[i])
    which = error >> 8 & 0xFF
    if error & 0xFF in (lib.ORIC_E_RANGE, lib.ORIC_E_SIGN, lib.ORIC_E_ALIGN) and which < len(op.operands):
        return f"{text} (operand {op.operands[which].name})"
    if error & 0xFF == lib.ORIC_E_MOD and which < len(op.mods):
        return f"{text} ({list(op.mods)[which]})"
    return text


@cache
def _operations() -> tuple[int, int, bytes]:
    """Numbers of NOP and BRA, and the mark of every operation."""
    from oric_tables import op as numbers
    from oric_tables import ops

    marks = bytearray(len(ops.OPS))
    for op in ops.OPS:
        if op is None:
            continue
        writes_uniform = any(o.writes and o.kind == "ugpr" for o in op.operands)
        indirect = op.effects & numbers.E_BRANCH and not op.effects & (numbers.E_CALL | numbers.E_RETURN)
        if op.effects & numbers.E_EXIT:
            marks[op.number] = _EXIT
        elif op.effects & numbers.E_WARP:
            marks[op.number] = _WIDE if writes_uniform else _WARP
        elif op.effects & (numbers.E_CONVERGENCE | numbers.E_CALL):
            marks[op.number] = _CONVERGENCE
        elif indirect and any(o.kind == "gpr" for o in op.operands):
            marks[op.number] = _INDIRECT
    return numbers.NOP, numbers.BRA, bytes(marks)
