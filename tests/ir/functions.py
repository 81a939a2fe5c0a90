"""Random functions with everything that a function can have, and what two functions have in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from oric.ir import operand as opd
from oric.ir.attributes import JumpTable
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, UP, UR, B, Function, P, R, signed64
from oric.ir.module import Module
from oric.ir.optable import INDIRECT, OPS
from oric.ir.passes import PassContext
from oric.ir.text import FACTS, OF_SIZE, TYPES, all_instructions, instructions_of, operands_of
from oric_tables import ops
from oric_tables.ori_operands import SLOT_TYPES
from oric_tables.targets import TARGETS


def context(arch: str = "sm_90", level: int = 3, **more: Any) -> PassContext:
    """What a phase gets besides the function."""
    return PassContext(TARGETS[arch], Module(arch), level, **more)


OPERATIONS = [op for op in ops.OPS if op is not None]
_NUMBERS = st.one_of(st.integers(0, 40), st.integers(-(1 << 63), (1 << 63) - 1))
_SMALL_NUMBERS = st.integers(0, 40)  # what no pool is needed for
_LABELS = st.sampled_from(["", "", "$L__BB0_1", "loop", "%x"])


def described(f: Function, *, exact: bool = True) -> dict[str, Any]:
    """Everything that is known about a function; ``exact``: with PTX lines and registers that nothing names."""
    instructions = [[_instruction(f, i, exact) for i in instructions_of(f, b)] for b in range(f.blocks())]
    named = {opd.index_of(o) for i in all_instructions(f) for o in (*operands_of(f, i), f.guard[i]) if opd.is_register(o)}
    registers = {
        r: (f.reg_type[r], f.reg_size[r], f.reg_flags[r], f.physical[r], f.hint[r], f.parent[r])
        for r in range(f.registers())
        if exact or r in named
    }
    return {
        "heading": (f.name, f.target, f.is_entry, f.final_flow, f.merged, f.expanded),
        "facts": {name: getattr(f.attributes, name) for name in FACTS},
        "tables": [(table.offset, table.targets) for table in f.attributes.jump_tables],
        "registers": registers,
        "blocks": [(f.labels[b], f.flags[b], [f.successor(b, at) for at in range(f.succ_count[b])]) for b in range(f.blocks())],
        "instructions": instructions,
    }


def _instruction(f: Function, i: int, exact: bool) -> tuple[Any, ...]:
    operands = [_operand(f, o) for o in operands_of(f, i)]
    return f.op[i], f.mods[i], _operand(f, f.guard[i]), f.aux[i], f.control[i], f.line[i] if exact else 0, operands


def _operand(f: Function, operand: int) -> tuple[int, int]:
    """An operand; of an immediate its value and signs, wherever the pool has it."""
    if operand & opd.TYPE == opd.IS_POOL:
        return operand & ~opd.INDEX, f.imm_value(operand)
    return operand, 0


class Maker:
    """Makes one function with ``draw`` of a hypothesis strategy."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.f = Function(draw(st.sampled_from(["f", "_Z3fooPi", "$a%b"])), draw(st.sampled_from(["sm_80", "sm_90"])))
        self.files: dict[str, list[int]] = {"gpr": [], "ugpr": [], "pred": [], "upred": [], "breg": []}
        self.block_count = draw(st.integers(1, 4))

    def pick(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def make(self) -> Function:
        f = self.f
        f.is_entry, f.final_flow, f.merged = self.pick(True, False), self.pick(True, False), self.pick(True, False)
        f.expanded = self.pick(0, 45, 78)
        for name, usual in FACTS.items():
            if self.number(0, 9) == 0:
                setattr(f.attributes, name, self._fact(usual))
        for _ in range(self.number(1, 14)):
            self._register()
        cursor = Cursor(f)
        for _ in range(self.block_count):
            b = cursor.new_block(self.draw(_LABELS))
            f.flags[b] = self.pick(0, 0, 1, 0x80)
        for _ in range(self.number(0, 2)):
            targets = self.draw(st.lists(st.integers(0, self.block_count - 1), max_size=3))
            f.attributes.jump_tables.append(JumpTable(self.number(0, 0xFFFF), targets))
        for b in range(self.block_count):
            cursor.at_end(b)
            for _ in range(self.number(0, 5)):
                self._instruction(cursor)
        cursor.begin_edges()
        for b in range(self.block_count):
            for target in self.draw(st.lists(st.integers(0, self.block_count - 1), max_size=3, unique=True)):
                cursor.edge(b, target)
        return f

    def _fact(self, usual: object) -> object:
        if isinstance(usual, bool):
            return self.pick(True, False)
        if isinstance(usual, str):
            return self.pick("weak", "local")
        return (self.number(1, 1024), self.number(1, 4), 1) if usual is None else self.number(0, 1 << 20)

    def _register(self) -> None:
        f = self.f
        file = self.pick("gpr", "gpr", "gpr", "ugpr", "pred", "upred", "breg", "other")
        size = self.pick(1, 1, 2, 4, 3, 16, 128, 256) if file in ("gpr", "ugpr", "other") else 1
        usual = {"gpr": OF_SIZE.get(size, R), "ugpr": UR, "pred": P, "upred": UP, "breg": B, "other": TYPES["ACC"]}[file]
        r: int = f.new_reg(self.pick(usual, usual, *([TYPES["R_ALT"], TYPES["EXTENDED"]] if file == "gpr" else [])), size)
        self.files["gpr" if file == "other" else file].append(r)
        if self.number(0, 3) == 0:
            f.physical[r], f.hint[r] = self.number(-1, 254), self.number(-1, 254)
            f.parent[r] = self.pick(NONE, *(one for registers in self.files.values() for one in registers))
            f.reg_flags[r] = self.pick(int(f.reg_flags[r]), 0, 0x1418)

    def _instruction(self, cursor: Cursor) -> None:
        f, op = self.f, self.pick(*OPERATIONS)
        if OPS.flags[op.number] & INDIRECT and not f.attributes.jump_tables:
            return
        mods = 0
        for mod in op.mods.values():
            if self.number(0, 3) == 0:
                mods |= self.number(0, mod.mask) << mod.shift
        operands = [self._operand(slot) for slot in op.operands]
        if None in operands:
            return  # no register of that file
        while operands and op.operands[len(operands) - 1].default is not None and self.number(0, 3) == 0:
            operands.pop()
        guard = 0
        if self.number(0, 2) == 0:
            guard = self._named("pred" if op.guard == "P" else "upred") or opd.PT_OPERAND
            guard |= self.pick(0, opd.NEGATE)
        cursor.line = self.number(0, 99)
        made: int = cursor.make(op.number, signed64(mods), guard)
        for operand in operands:
            cursor.put(operand)
        f.control[made] = self.pick(0, 0, self.number(1, (1 << 21) - 1))
        f.aux[made] = (
            self.number(0, len(f.attributes.jump_tables) - 1) if OPS.flags[op.number] & INDIRECT else self.pick(0, 1, 0x20)
        )

    def _named(self, file: str) -> int:
        """A register operand, with as many words as there may be; 0 when there is no register."""
        if not self.files[file]:
            return 0
        r = self.pick(*self.files[file])
        first = self.number(0, self.f.reg_size[r] - 1)
        return int(opd.reg(r, first, self.number(1, self.f.reg_size[r] - first)))

    def _operand(self, slot: ops.Operand) -> int | None:
        forms = {opd.REG, opd.SPECIAL} if slot.writes else set(SLOT_TYPES[slot.kind]) - {opd.NONE}
        if slot.default is not None:
            forms.add(opd.NONE)
        form = self.pick(*sorted(forms))
        if form == opd.NONE:
            return int(opd.NO_OPERAND)
        operand = self._of_type(form, slot)
        if operand is None:
            return None
        return operand | self.pick(
            0, 0, opd.NEGATE, opd.ABSOLUTE, opd.COMPLEMENT, opd.REUSE, opd.NEGATE | opd.ABSOLUTE | opd.REUSE
        )

    def _of_type(self, form: int, slot: ops.Operand) -> int | None:
        if form == opd.REG:
            file = slot.kind if slot.kind in self.files else "gpr"
            fixed = opd.PT_OPERAND if file in ("pred", "upred") else opd.RZ_OPERAND
            return self._named(file) or int(fixed)
        if form in (opd.IMM, opd.POOL):
            return int(self.f.imm(self.draw(_NUMBERS if opd.POOL in SLOT_TYPES[slot.kind] else _SMALL_NUMBERS)))
        if form == opd.LABEL:
            return int(opd.label(self.number(0, self.block_count - 1)))
        if form == opd.SYMBOL:
            if self.pick(True, False):
                return int(opd.const_bank(self.number(0, 17), self.number(0, 0xFFFF)))
            return int(opd.symbol(self.number(0, 99), self.number(0, (1 << 24) - 1)))
        return int(opd.special(self.number(0, 99)))


@st.composite
def functions(draw: Any) -> Function:
    """A function whose operands fit their slots; its edges and control flow need not go together."""
    return Maker(draw).make()
