"""The emitter: virtual registers, blocks, labels, and the loop that runs a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from oric.ir import code as ir
from oric.ir import operand as opd
from oric.ir.code import Block, CodeObject, Instruction
from oric.support import nodes
from oric.support.diagnostics import InternalError, NotSupported

from .program import (
    ARG_NAMES,
    FIRST_TEMP,
    LABEL,
    PART_MASK,
    SLOT_ANY_IMM,
    SLOT_F64,
    SLOT_FIELD,
    SLOT_FLOAT,
    SLOT_PRED,
    SLOT_VAR,
    SLOT_WIDE,
    D,
    Program,
    Q,
    Selector,
)

_BLANK: Final = [opd.RZ_OPERAND] * FIRST_TEMP
_BLANK[Q] = opd.PT_OPERAND
_NEGATE: Final = opd.NEGATE
_SIGNS: Final = opd.NEGATE | opd.ABSOLUTE | opd.COMPLEMENT
_MASK32: Final = 0xFFFFFFFF

_REG_TYPES: Final = {
    ("P", 1): (ir.P, 1, opd.reg(0)),
    ("R", 1): (ir.R, 1, opd.reg(0)),
    ("R", 2): (ir.R2, 2, opd.reg(0, 0, 1)),
    ("R", 4): (ir.R4, 4, opd.reg(0, 0, 2)),
    ("UR", 1): (ir.UR, 1, opd.reg(0)),
    ("UR", 2): (ir.UR, 2, opd.reg(0, 0, 1)),
}


class Emitter:
    """State of the function under construction. One at a time."""

    def __init__(self, target: Any, selector: Selector, source: Any) -> None:
        self.target = target
        self.selector = selector
        self.programs = selector.programs
        self.line_of: Callable[[int], int] = source.line_of if source is not None else _no_line
        self.code: CodeObject = CodeObject("", target.name)
        self.block: Block | None = None
        self.line = 0
        self.move_op, self.move_mods = selector.template("move").lines[0][:2]
        self.labels: list[int] = []  # label handle -> block index, -1 before it is placed
        self.fixups: list[tuple[Instruction, int, int]] = []
        self.flows: dict[int, tuple[list[int], bool]] = {}  # block index -> (target labels, falls through)

    # -- registers ---------------------------------------------------------------------------------------

    def new(self, kind: str, size: int = 1) -> int:
        """A new virtual register of a type letter and size, as an operand of its whole width."""
        reg_type, count, base = _REG_TYPES[kind, size]
        return base | self.code.new_reg(reg_type, count)

    def like(self, operand: int) -> int:
        """A new register of the width of ``operand``."""
        descriptor = self.code.regs[operand & opd.INDEX_MASK]
        assert descriptor is not None
        if descriptor.reg_type in (ir.P, ir.UP):
            return self.new("P")
        return self.new("R", 1 << (operand >> opd.WIDTH_SHIFT & 3))

    # -- blocks ------------------------------------------------------------------------------------------

    def new_label(self, name: str = "") -> int:
        """A label handle, to be placed later."""
        del name
        self.labels.append(-1)
        return len(self.labels) - 1

    def place(self, label: int, name: str = "") -> None:
        """Begin a block at ``label``."""
        self.labels[label] = self.open_block(name).index

    def open_block(self, name: str = "") -> Block:
        """Begin a new block; the one before falls through unless it has ended."""
        previous = self.block
        block = self.block = self.code.new_block(name)
        if previous is not None:
            self.flows[previous.index] = ([], True)
        return block

    def end_block(self, targets: list[int], falls: bool) -> None:
        """The current block ends with a branch to labels ``targets``, or an exit; ``falls``: it may go on."""
        assert self.block is not None
        self.flows[self.block.index] = (targets, falls)
        self.block = self.code.new_block() if falls else None

    def finish_flow(self) -> None:
        """Resolve labels and make the edges."""
        labels = self.labels
        blocks = self.code.blocks
        for instruction, index, label in self.fixups:
            instruction.operands[index] = opd.label(labels[label])
        for index, (targets, falls) in self.flows.items():
            for label in targets:
                self.code.add_edge(blocks[index], blocks[labels[label]])
            if falls:
                self.code.add_edge(blocks[index], blocks[index + 1])
        self.fixups = []
        self.flows = {}

    # -- instructions ------------------------------------------------------------------------------------

    def append(self, op: int, operands: list[int], mods: int, guard: int) -> Instruction:
        """Append an instruction to the current block."""
        block = self.block
        if block is None:
            block = self.block = self.code.new_block()
        return self.code.append(block, Instruction(op, operands, mods, guard, self.line))

    def env(self, program: Program) -> list[Any]:
        """A fresh environment with the program's temporaries."""
        env = _BLANK.copy()
        for kind, size in program.temps:
            env.append(self.new(kind, size))
        return env

    def run(self, program: Program, env: list[Any], guard: int = 0) -> None:
        """Emit the lines of a program on an environment. Entries are packed operands, or INT and FLOAT nodes."""
        if program.labels:
            self._run_with_labels(program, env, guard)
            return
        for op, mods, own, specs, dynamic, free in program.lines:
            operands = []
            plain = True
            for spec in specs:
                if spec.__class__ is int:
                    operands.append(spec)
                    continue
                index = spec[0]
                value = env[index] if index >= 0 else spec
                if value.__class__ is int:
                    operands.append((value & spec[1]) ^ spec[2])
                elif index >= 0:
                    value, plain = self._immediate(value, spec, program, plain)
                    operands.append(value)
                else:
                    operands.append(self.code.imm(spec[3]))
            if dynamic:
                mods |= _dynamic(env, dynamic)
            if own:
                own = own if own.__class__ is int else (env[own[0]] & own[1]) ^ own[2]
                self.append(op, operands, mods, own)
            else:
                self.append(op, operands, mods, 0 if free else guard)

    def _run_with_labels(self, program: Program, env: list[Any], guard: int) -> None:
        """A program with branches; a guard is a branch around it."""
        skip = -1
        if guard:
            skip = self.new_label()
            self.branch(skip, guard ^ _NEGATE)
        base = len(self.labels)
        for _ in range(program.labels):
            self.new_label()
        single = Program.__new__(Program)
        single.labels = 0
        single.wide = program.wide
        for line in program.lines:
            if line.__class__ is int:
                self.place(base + line)
                continue
            target = next((s[3] for s in line[3] if s.__class__ is not int and s[0] == LABEL), -1)
            if target < 0:
                single.lines = [line]
                self.run(single, env)
            else:
                own = line[2]
                own = own if own.__class__ is int else (env[own[0]] & own[1]) ^ own[2]
                self.branch(base + target, own)
        if skip >= 0:
            self.place(skip)

    def branch(self, label: int, guard: int = 0) -> None:
        """BRA to a label, and the end of the block."""
        op, mods = self.selector.template("branch").lines[0][:2]
        instruction = self.append(op, [opd.label(0)], mods, guard)
        self.fixups.append((instruction, 0, label))
        self.end_block([label], bool(guard))

    def leave(self, name: str, guard: int = 0) -> None:
        """An instruction of template ``name`` that ends the thread, and the end of the block."""
        op, mods = self.selector.template(name).lines[0][:2]
        self.append(op, [], mods, guard)
        self.end_block([], bool(guard))

    def template(self, name: str, guard: int = 0, **values: Any) -> list[Any]:
        """Run a named template with arguments by name; returns the environment."""
        program = self.selector.template(name)
        env = self.env(program)
        for key, value in values.items():
            env[_INDEX[key]] = value
        self.run(program, env, guard)
        return env

    def emit(self, program: Program, env: list[Any], guard: int) -> None:
        """Run a program for a PTX instruction: takes care of guards on guarded lines and of overlapping registers."""
        if (guard and program.guarded and not program.labels) or (program.hazard and _overlaps(env)):
            self._run_aside(program, env, guard)
        else:
            self.run(program, env, guard)

    def _run_aside(self, program: Program, env: list[Any], guard: int) -> None:
        """Compute into new registers, then move the results under the guard."""
        wanted = [(index, env[index]) for index in (D, Q) if env[index] & opd.INDEX_MASK not in ir.RESERVED_IDS]
        for index, operand in wanted:
            env[index] = self.like(operand)
        self.run(program, env, guard if program.labels else 0)
        for index, operand in wanted:
            self.move(operand, env[index], guard)

    def move(self, dest: int, source: Any, guard: int = 0) -> None:
        """Copy a register or immediate node of the width of ``dest``."""
        width = dest >> opd.WIDTH_SHIFT & 3
        if source.__class__ is int and width < 2 and not self.is_predicate(dest):
            op, mods = self.move_op, self.move_mods
            if width == 0:
                self.append(op, [dest, source], mods, guard)
                return
            self.append(op, [dest & PART_MASK, source & PART_MASK], mods, guard)
            high = 0 if source & opd.INDEX_MASK == opd.RZ else 1 << opd.COMPONENT_SHIFT
            self.append(op, [(dest & PART_MASK) + (1 << opd.COMPONENT_SHIFT), (source & PART_MASK) + high], mods, guard)
            return
        if self.is_predicate(dest):
            self.template("move_pred", guard, d=dest, a=source)
        elif width == 0 and source[0] == nodes.INT:
            value = source[1] & _MASK32
            operand = self.code.imm(value) if value else opd.RZ_OPERAND
            self.append(self.move_op, [dest, operand], self.move_mods, guard)
        else:
            self.template(("move", "move_wide", "move_quad")[width], guard, d=dest, a=source)

    def is_predicate(self, operand: int) -> bool:
        """True for a predicate register operand."""
        index = operand & opd.INDEX_MASK
        if index == opd.PT:
            return True
        if index == opd.RZ:
            return False
        descriptor = self.code.regs[index]
        return descriptor is not None and descriptor.reg_type in (ir.P, ir.UP)

    def _immediate(self, node: Any, spec: Any, program: Program, plain: bool) -> tuple[int, bool]:
        """An immediate in an operand slot: itself where a form allows it, else in a register."""
        slot, view, flags = spec[3], spec[4], spec[2] & _SIGNS
        if slot & SLOT_PRED:
            return opd.PT_OPERAND ^ flags ^ (0 if node[1] else _NEGATE), plain
        if node[0] == nodes.FLOAT:
            value = node[2] if (program.wide or view or slot & (SLOT_WIDE | SLOT_F64)) else node[1]
        else:
            value = node[1]
        wide = view == 0 and (bool(slot & SLOT_WIDE) or (bool(slot & SLOT_VAR) and program.wide))
        if view:
            value >>= 32 * (view - 1)
        if wide:
            return self._wide_immediate(value & 0xFFFFFFFFFFFFFFFF, slot, flags, plain)
        value &= _MASK32
        if slot & SLOT_FIELD:
            return self.code.imm(value), plain
        if value == 0:
            return opd.RZ_OPERAND ^ flags, plain
        if plain and slot & SLOT_ANY_IMM:
            return self.code.imm(_signed(value, flags, slot, 31)), False
        return self.constant(value) ^ flags, plain

    def _wide_immediate(self, value: int, slot: int, flags: int, plain: bool) -> tuple[int, bool]:
        if value == 0:
            return opd.RZ_OPERAND ^ flags, plain
        if plain and slot & SLOT_F64 and not value & _MASK32:
            return self.code.imm(_signed(value >> 32, flags, slot, 31)), False
        return self.constant64(value) ^ flags, plain

    def constant(self, value: int) -> int:
        """A register that holds a 32-bit pattern."""
        register = self.new("R")
        self.append(self.move_op, [register, self.code.imm(value)], self.move_mods, 0)
        return register

    def constant64(self, value: int) -> int:
        """A pair of registers that holds a 64-bit pattern."""
        register = self.new("R", 2)
        self.template("move_wide", d=register, a=(nodes.INT, value))
        return register

    def unexpected(self, node: Any, where: str) -> NotSupported | InternalError:
        """The error for an operand node that nothing is made of: of a known kind it is missing here, of any other a mistake."""
        kind = node[0]
        if 0 <= kind < len(nodes.KIND_NAMES):
            return NotSupported(f"{nodes.KIND_NAMES[kind]} {where}")
        return InternalError(f"operand of unknown kind {kind} {where} from line {self.line} of the PTX, in '{self.code.name}'")

    def set_line(self, loc: int) -> None:
        """Remember the source line of what follows."""
        self.line = self.line_of(loc)


_INDEX: Final = {name: index for index, name in enumerate(ARG_NAMES)}


def _no_line(loc: int) -> int:
    """Line numbers of a builder without a source."""
    del loc
    return 0


def _signed(value: int, flags: int, slot: int, sign_bit: int) -> int:
    """A constant with the sign changes of its slot folded in."""
    if slot & SLOT_FLOAT:
        if flags & opd.ABSOLUTE:
            value &= ~(1 << sign_bit)
        if flags & _NEGATE:
            value ^= 1 << sign_bit
        return value & _MASK32
    if flags & opd.COMPLEMENT:
        value = ~value
    if flags & _NEGATE:
        value = -value
    return value & _MASK32


def _dynamic(env: list[Any], dynamic: Sequence[tuple[int, int, int]]) -> int:
    bits = 0
    for index, shift, mask in dynamic:
        bits |= (env[index][1] & mask) << shift
    return bits


def _overlaps(env: list[Any]) -> bool:
    """True when a destination's register is also a source."""
    for index in (D, Q):
        dest = env[index]
        if dest & opd.INDEX_MASK in ir.RESERVED_IDS:
            continue
        for other in range(1, FIRST_TEMP):
            value = env[other]
            if other != index and value.__class__ is int and not (value ^ dest) & (opd.INDEX_MASK | 7 << opd.TYPE_SHIFT):
                return True
    return False
