"""Encoding: from a scheduled function on hardware registers to machine words and the places that the container names."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.cubin_layout import GENERIC_MBARRIERS, MBARRIER_SCALE, PLACE_RECORDS
from oric_tables.op import BRA, NOP
from oric_tables.phases import MACHINE

from oric.ir import machine, mbarriers
from oric.ir import operand as opd
from oric.ir.encoded import FULL_MASK, EncodedFunction
from oric.ir.function import AUX_MBARRIER, Function
from oric.ir.legality import KIND_GPR
from oric.ir.machine import MachineFunction
from oric.ir.optable import BRANCH, CALL, CONVERGENCE, EXIT, OPS, RETURN, SLOTS, WARP
from oric.support.diagnostics import InternalError

if TYPE_CHECKING:
    from oric_tables.targets import Target

WORD_BYTES: Final = 16
# Marks of operations that the container names (see oric_emit).
_EXIT: Final = 1
_WARP: Final = 2
_WIDE: Final = 3
_INDIRECT: Final = 4
_CONVERGENCE: Final = 5
_SPECIAL: Final = 6
_PLACES: Final = {"COOP_GROUP_INSTR_OFFSETS": _WARP, "INT_WARP_WIDE_INSTR_OFFSETS": _WIDE}
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
    lead = target.prologue if f.is_entry else b""
    words, blocks, marks = _emit(view, lead)
    facts = f.attributes
    out = EncodedFunction(f.name, words, max(facts.num_regs + target.reserved_regs, target.smallest_regs))
    out.frame_ready += len(lead)
    out.instructions = f.length() + len(lead) // WORD_BYTES
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
        elif mark == _SPECIAL:
            out.special.add(int(f.get(index, OPS.sreg[f.op[index]]) & opd.INDEX))
        else:
            out.uses_convergence = True
    if facts.mbarriers >= 0:
        out.mbarriers = _mbarriers(view, blocks)
    out.constant2 = _tables(facts, starts)
    return out


def _mbarriers(view: MachineFunction, blocks: list[int]) -> list[tuple[int, int, int, int, int]]:
    """The marked instructions on mbarriers (:attr:`EncodedFunction.mbarriers`)."""
    f, fn = view.f, view.fn
    out = []
    for b in range(fn.block_count):
        word = blocks[b]
        for k in range(fn.block_first[b], fn.block_first[b + 1]):
            i: int = fn.nodes[k].index
            word += int(fn.nodes[k].pads)
            if f.aux[i] & AUX_MBARRIER:
                out.append((WORD_BYTES * word, *_mbarrier(f, i)))
            word += 1
    return sorted(out)


def _mbarrier(f: Function, i: int) -> tuple[int, int, int, int]:
    """Register, displacement, number and uniform register of a marked instruction."""
    op = ops.op(f.op[i])
    found = {"Ra": -1, "off": 0, "URa": -1}
    for at, operand in enumerate(op.operands):
        if operand.name in found and at < f.count[i]:
            given = f.get(i, at)
            if opd.is_register(given):
                found[operand.name] = f.physical[given & opd.INDEX] + opd.first_of(given)
            elif operand.name == "off" and given & opd.TYPE in (opd.IS_IMM, opd.IS_POOL):
                found["off"] = f.imm_value(given)
    scale = op.mods.get("scale")
    times = f.mods[i] >> scale.shift & scale.mask if scale is not None else 0
    number = mbarriers.number_of(f.aux[i]) | times << MBARRIER_SCALE | GENERIC_MBARRIERS.get(op.name, 0)
    return found["Ra"], found["off"], number, found["URa"]


def _tables(facts: Any, starts: list[int]) -> bytes:
    """Bank 2 with the jump tables: code offsets of blocks from the start of the function."""
    data = bytearray(facts.constant2)
    for table in facts.jump_tables:
        struct.pack_into(f"<{len(table.targets)}I", data, table.offset, *(starts[t] for t in table.targets))
    return bytes(data)


def _emit(view: MachineFunction, lead: bytes) -> tuple[bytes, list[int], list[tuple[int, int, int]]]:
    """Machine code behind ``lead``, first word of every block, and (word, mark, instruction) of marked instructions."""
    fn = view.fn
    before = len(lead) // WORD_BYTES
    size = lib.oric_emit_size(fn, before)
    words = ffi.new("uint64_t[]", 2 * size)
    ffi.memmove(words, lead, len(lead))
    blocks = ffi.new("uint32_t[]", fn.block_count + 1)
    found = ffi.new("oric_mark[]", fn.insn_count + 1)
    error = ffi.new("int32_t[2]")
    count = lib.oric_emit(fn, view.lent.c, NOP, BRA, _marks(), before, words, blocks, found, error)
    if count < 0:
        raise InternalError(f"{view.describe(error[1])} cannot be encoded: {_explain(error[0], view, error[1])}")
    return (
        bytes(ffi.buffer(words)),
        ffi.unpack(blocks, fn.block_count + 1),
        [(found[i].word, found[i].mark, found[i].index) for i in range(count)],
    )


def _explain(error: int, view: MachineFunction, i: int) -> str:
    text = _ERRORS.get(error & 0xFF, f"error {error & 0xFF}")
    op = ops.op(view.f.op[i])
    which = error >> 8 & 0xFF
    if error & 0xFF in (lib.ORIC_E_RANGE, lib.ORIC_E_SIGN, lib.ORIC_E_ALIGN) and which < len(op.operands):
        return f"{text} (operand {op.operands[which].name})"
    if error & 0xFF == lib.ORIC_E_MOD and which < len(op.mods):
        return f"{text} ({list(op.mods)[which]})"
    return text


@cache
def _marks() -> bytes:
    """The mark of every operation."""
    return bytes(_mark(number) for number in range(len(OPS.flags)))


def _mark(number: i64) -> i64:
    flags = OPS.flags[number]
    if flags & EXIT:
        return _EXIT
    if flags & WARP:
        return _PLACES.get(PLACE_RECORDS.get(ops.op(number).name, ""), 0)
    if OPS.sreg[number] >= 0:
        return _SPECIAL
    if flags & (CONVERGENCE | CALL):
        return _CONVERGENCE
    if flags & BRANCH and not flags & (CALL | RETURN) and _has(number, KIND_GPR):
        return _INDIRECT
    return 0


def _has(number: i64, kind: i64) -> bool:
    """Whether an operation has an operand of a kind."""
    at: i64 = 0
    while at < SLOTS:
        if OPS.kind[number * SLOTS + at] == kind:
            return True
        at += 1
    return False
