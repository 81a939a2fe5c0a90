"""Encoding: from a scheduled function on hardware registers to machine words and the places that the container names."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.cubin_layout import GENERIC_MBARRIERS, MBARRIER_SCALE, PLACE_RECORDS, is_of_driver
from oric_tables.named import NamedTuple
from oric_tables.op import BRA, CALL_ABS, LEPC, NOP
from oric_tables.phases import MACHINE

from oric.ir import machine, mbarriers
from oric.ir import operand as opd
from oric.ir.attributes import UNPLACED
from oric.ir.calls import FrameMove
from oric.ir.encoded import FULL_MASK, EncodedFunction
from oric.ir.function import AUX_MBARRIER, Function
from oric.ir.legality import KIND_GPR
from oric.ir.machine import MachineFunction
from oric.ir.optable import BRANCH, CALL, CONVERGENCE, EXIT, OPS, RETURN, SLOTS, WARP
from oric.support.diagnostics import InternalError

from .calls import is_recursive, settle_calls, settle_tables, stack_of
from .links import linked_places
from .registers import register_ranges

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
_HERE: Final = 7
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


def encode_function(f: Function, target: Target, separate: bool = False, banks: tuple[int, ...] = ()) -> EncodedFunction:
    """Encode a kernel and the functions behind it: registers are allocated, instructions have control bits.

    ``separate``: who links or loads the code settles calls. ``banks``: constant banks of which it is told where the code names
    them.

    Raises:
        InternalError: an instruction has no encoding; the text names the operation and the PTX line.
    """
    units = [f, *f.functions]
    views = [machine.on_registers(unit, target.isa, target.uniform_regs) for unit in units]
    lead = target.prologue if f.is_entry else b""
    emitted = _emit_all(views, lead)
    settled = settle_tables(units, emitted)
    if not separate and any(unit.kept for unit in units):
        settle_calls(units, emitted)
        settled = True
    if settled:
        emitted = _emit_all(views, lead)
    facts = f.attributes
    registers = max(unit.attributes.num_regs for unit in units)
    out = EncodedFunction(f.name, emitted[-1].words, max(registers + target.reserved_regs, target.smallest_regs))
    out.frame_ready += len(lead)
    out.instructions = sum(unit.length() for unit in units) + len(lead) // WORD_BYTES
    for view, part in zip(views, emitted, strict=True):
        out.links += linked_places(view, part, f.name, banks)
    for view, part in zip(views, emitted, strict=True):
        _note_places(view, part, out)
        if f.sources is not None and not view.f.subroutine:
            out.origins.append(_origins(view, part))
        if f.for_debugger:
            out.frame = _frame(view, part)
            out.registers = register_ranges(view, part.blocks)
        view.f.analyses.forget(MACHINE)
    out.functions = [(unit.name, part.start, part.end - part.start) for unit, part in zip(units, emitted, strict=True)][1:]
    out.shared = len(f.shared_code)
    out.stack = stack_of(units, f.addressed)
    out.recursive = is_recursive(f)
    names = {unit.callee: unit.name for unit in units}
    out.addressed = [names.get(callee, "") for callee in f.addressed]
    out.calls = any(not call.shared for call in f.kept)
    out.constant2 = _tables(facts, [WORD_BYTES * word for word in emitted[0].blocks])
    return out


class Emitted(NamedTuple):
    """The code of a unit: all words up to its end and the padding behind it, first word of every block and of what is behind the
    last, (word, mark, instruction) of marked instructions. ``start`` in bytes.
    """

    words: bytes
    start: int
    blocks: list[int]
    marks: list[tuple[int, int, int]]

    @property
    def end(self) -> int:
        """Where its code ends, in bytes."""
        return WORD_BYTES * self.blocks[-1]


def _emit_all(views: list[MachineFunction], lead: bytes) -> list[Emitted]:
    """The code of a kernel and its functions, one behind the other."""
    found: list[Emitted] = []
    for view in views:
        words, blocks, marks = _emit(view, lead)
        found.append(Emitted(words, len(lead) if found else 0, blocks, marks))
        lead = words[: found[-1].end]
    return found


def _note_places(view: MachineFunction, part: Emitted, out: EncodedFunction) -> None:
    """What the container names of a unit."""
    f, facts = view.f, view.f.attributes
    starts = [WORD_BYTES * word for word in part.blocks]
    for word, mark, index in part.marks:
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
        elif mark == _HERE:
            pass
        elif mark == _SPECIAL:
            out.special.add(int(f.get(index, OPS.sreg[f.op[index]]) & opd.INDEX))
        else:
            out.uses_convergence = True
            if f.op[index] == CALL_ABS and is_of_driver(f.kept[f.aux[index]].external):
                out.syscalls.append((offset, f.kept[f.aux[index]].external))
    if facts.mbarriers >= 0:
        out.mbarriers += _mbarriers(view, part.blocks)


def _origins(view: MachineFunction, part: Emitted) -> list[tuple[int, int]]:
    """The offsets at which the origin of the code changes, and the origin from there on."""
    fn = view.fn
    starts = ffi.new("uint32_t[]", fn.insn_count + 1)
    origins = ffi.new("int64_t[]", fn.insn_count + 1)
    count = lib.oric_emit_origins(fn, view.lent.c, part.blocks[0], starts, origins)
    return [(WORD_BYTES * starts[k], origins[k]) for k in range(count)]


def _frame(view: MachineFunction, part: Emitted) -> list[tuple[int, FrameMove]]:
    """What changes of the frame, each with the offset behind the instruction that changes it."""
    f, fn = view.f, view.fn
    moves = {move.instruction: move for move in f.frame_moves}
    found: list[tuple[int, FrameMove]] = []
    for b in range(fn.block_count):
        word = part.blocks[b]
        for k in range(fn.block_first[b], fn.block_first[b + 1]):
            word += int(fn.nodes[k].pads) + 1
            move = moves.get(int(fn.nodes[k].index))
            if move is not None:
                found.append((WORD_BYTES * word, move))
    return found


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
        if table.offset == UNPLACED:
            continue
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
        return _CONVERGENCE if flags & RETURN else _EXIT
    if flags & WARP:
        return _PLACES.get(PLACE_RECORDS.get(ops.op(number).name, ""), 0)
    if OPS.sreg[number] >= 0:
        return _SPECIAL
    if flags & (CONVERGENCE | CALL):
        return _CONVERGENCE
    if number == LEPC:
        return _HERE
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
