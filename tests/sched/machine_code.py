"""What decoded machine words read and write, for the checker of control bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace

from oric.sass import Instruction
from oric_tables._native import lib
from oricgen.spec import Spec

from tests.sched.model import ROOT, Walker, class_flags, tables

_FIRST = {"gpr": lib.ORIC_U_R, "pred": lib.ORIC_U_P, "breg": lib.ORIC_U_B, "ugpr": lib.ORIC_U_UR, "upred": lib.ORIC_U_UP}
_NONE = {"gpr": 255, "pred": 7, "ugpr": 255, "upred": 7}
_FILE = {"gpr": "R", "pred": "P", "breg": "B", "ugpr": "UR", "upred": "UP"}


@dataclass
class Touch:
    """Consecutive units that one operand reads or writes."""

    kind: str
    first: int
    count: int
    writes: bool
    slot: int  # 255: guard


def touches(instruction: Instruction) -> list[Touch]:
    """Register accesses of a machine instruction, from its decoded operands and the widths of the operation's row."""
    out = []
    names = [slot.name for slot in instruction.op.operands]
    for operand in instruction.operands:
        number = names.index(operand.name)
        slot = instruction.op.operands[number]
        if operand.kind == "cbanku" and operand.reg != 255:
            out.append(Touch("ugpr", _FIRST["ugpr"] + operand.reg, 1, False, number))
        if operand.kind not in _FIRST or operand.reg == _NONE.get(operand.kind):
            continue
        count = instruction.op.regs(number, instruction.op.pack(**instruction.modifiers))
        out.append(Touch(operand.kind, _FIRST[operand.kind] + operand.reg, count, slot.writes, number))
    if instruction.guard != 7:
        kind = "upred" if instruction.op.guard == "UP" else "pred"
        out.append(Touch(kind, _FIRST[kind] + instruction.guard, 1, False, 255))
    return out


def registers(instruction: Instruction) -> tuple[set[int], set[int]]:
    """Units that a machine instruction reads and writes."""
    sets: tuple[set[int], set[int]] = (set(), set())
    for touch in touches(instruction):
        sets[touch.writes].update(range(touch.first, touch.first + touch.count))
    return sets


@dataclass
class Words:
    """Decoded code in the shape that the checker walks over."""

    nodes: list[SimpleNamespace] = field(default_factory=list)
    accesses: list[SimpleNamespace] = field(default_factory=list)

    @classmethod
    def of(cls, instructions: list[Instruction], isa: str) -> Words:
        out = cls()
        t = tables()
        names = list(t.classes)
        schedules = {o.operation.name: o for o in t.operations}
        for instruction in instructions:
            schedule = schedules[instruction.op.name]
            start = len(out.accesses)
            for touch in touches(instruction):
                out._add(touch, schedule, t, isa)
            flags = class_flags(isa, schedule.klass) | (lib.ORIC_I_GUARDED if instruction.guard != 7 else 0)
            if flags & lib.ORIC_I_COMPLETES:
                shift, width, completing, _ = schedule.order
                code = instruction.op.pack(**instruction.modifiers) >> shift & ((1 << width) - 1)
                flags &= -1 if completing >> code & 1 else ~lib.ORIC_I_COMPLETES
            out.nodes.append(SimpleNamespace(
                klass=names.index(schedule.klass), pads=0, control=instruction.control.pack(), access=start,
                access_count=len(out.accesses) - start, flags=flags,
            ))  # fmt: skip
        return out

    def _add(self, touch: Touch, schedule, t, isa: str) -> None:
        columns = t.classes[schedule.klass][isa]
        for k in range(touch.count):
            if touch.writes:
                pair = columns.results.get(_FILE[touch.kind])
                group = t.rows.index(f"{_FILE[touch.kind]} {pair[min(k, 1)]}") if pair else 255
            elif touch.slot == 255:
                group = t.groups.index("uguard" if touch.kind == "upred" else "guard")
            else:
                group = t.groups.index(schedule.readers[touch.slot][min(k, 1)])
            flags = (lib.ORIC_A_DEF if touch.writes else 0) | (lib.ORIC_A_GUARD if touch.slot == 255 else 0)
            self.accesses.append(SimpleNamespace(unit=touch.first + k, count=1, flags=flags, slot=touch.slot, group=group))


def evidence(isa: str) -> dict[str, dict[str, int]]:
    """Smallest distances seen: row -> reader group -> cycles."""
    return tables().distances[isa].least


@cache
def smallest_stalls() -> dict[str, int]:
    """Smallest stall counts seen, by class."""
    data = Spec(ROOT / "spec").load("latency/classes.yaml", "latency_classes")
    return {name: row["stall"][1] if "stall" in row else 0 for name, row in data["classes"].items()}


class VendorWalker(Walker):
    """The checker by the evidence, which our own figures may exceed, and with what ptxas relies on besides: what goes
    through one pipe in order reads and completes in order.
    """

    slow_read = 1

    def __init__(self, fn, isa: str) -> None:
        super().__init__(fn, isa)
        self.pipe_of: dict[int, str] = {}

    def _distance(self, row: str, group: str) -> int:
        return evidence(self.isa)[row].get(group, super()._distance(row, group))

    def _rewrite_distance(self, row: str, c) -> int:
        """Nearly free: a later write of the same pipe cannot overtake."""
        return 1

    def _drains(self, node, c) -> bool:
        """At a call ptxas knows what the function does."""
        return super()._drains(node, c) and self.names[node.klass] != "call"

    def _smallest_stall(self, node, c) -> int:
        return smallest_stalls()[self.names[node.klass]]

    def _expect(self, kind: str, unit: int, boards: set[int]) -> None:
        super()._expect(kind, unit, boards)
        self.pipe_of[self.serial] = self.pipe

    def step(self, position: int) -> None:
        node = self.fn.nodes[position]
        self.pipe = self.t.classes[self.names[node.klass]][self.isa].pipe
        super().step(position)
        boards = {b for b in (node.control >> 5 & 7, node.control >> 8 & 7) if b != 7}
        if boards:
            earlier = {t for tokens in self.pending.values() for t in tokens if self.pipe_of[t[2]] == self.pipe}
            for board in boards:
                self.pending[board] |= earlier

    def _outstanding(self, kind: str, unit: int) -> bool:
        return any(t[:2] == (kind, unit) and not (kind == "r" and self.pipe_of[t[2]] == self.pipe)
                   for tokens in self.pending.values() for t in tokens)  # fmt: skip
