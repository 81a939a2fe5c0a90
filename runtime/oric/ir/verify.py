"""Checks that a function is well formed; every message names function, block and instruction.

Source: PTX-to-Ori, "Phase 0: OriCheckInitialProgram"; Instructions (linkage).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import BSYNC, WARPGROUP
from oric_tables.ori_operands import KIND_TEXTS, SLOT_TYPES, TYPE_TEXTS, kind_of

from . import operand as opd
from .edges import is_conditional, target_of
from .function import NONE, UP, UR, Function
from .function import P as P_FILE
from .lineinfo import line_of
from .optable import BRANCH, EXIT, INDIRECT, KIND_PRED, KIND_UPRED, OPS, SLOTS
from .phis import several
from .text import format_instruction

MAX_MESSAGES: Final = 20
_KIND_NAMES: Final = ("none", "gpr", "ugpr", "pred", "upred", "imm", "cbank", "cbanku", "label", "breg", "sb", "sreg")
# Mask of the operand types that may stand in a slot of each kind.
_TYPES: Final = vec[i64]([sum(1 << t for t in SLOT_TYPES[name]) for name in _KIND_NAMES])
_WRITABLE: Final = 1 << opd.REG | 1 << opd.SPECIAL  # a destination is a register


@final
class MalformedCode(Exception):
    """A function that breaks a rule of Ori. ``problems`` holds one line per finding."""

    def __init__(self, where: str, problems: list[str]) -> None:
        super().__init__("\n".join([f"malformed Ori in {where}:", *problems]))
        self.problems = problems


def verify(f: Function, where: str = "") -> None:
    """Check everything that holds between phases.

    Args:
        f: the function.
        where: what ran last, for the message.

    Raises:
        MalformedCode: at least one rule is broken.
    """
    checker = Checker(f)
    checker.run()
    _raise(checker, where)


def verify_flow(f: Function, where: str = "") -> None:
    """Check that the edges are those of the code.

    Raises:
        MalformedCode: they are not.
    """
    checker = Checker(f)
    checker.flow()
    _raise(checker, where)


def _raise(checker: Checker, where: str) -> None:
    if checker.problems:
        raise MalformedCode(f"{checker.f.name}{' after ' + where if where else ''}", checker.problems)


@final
class Checker:
    """Collects problems of one function, at most ``MAX_MESSAGES``."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.problems: list[str] = []
        self.before: list[list[int]] = []  # of blocks with a MovPhi, where control comes from

    def run(self) -> None:
        """Check blocks, edges, links and instructions."""
        f = self.f
        blocks = f.blocks()
        if blocks == 0:
            self._say("the function has no blocks", NONE, NONE)
            return
        b: i64 = 0
        while b < blocks:
            if self._links(b):
                self._edges(b)
                self._phis(b)
                i = f.head[b]
                while i != NONE:
                    self._instruction(b, i)
                    i = f.next[i]
            b += 1
        if f.in_window:
            for register in several(f):
                self._say(f"register {register} of partial SSA form has more than one definition", NONE, NONE)
        tail = f.tail[blocks - 1]
        if tail == NONE or not OPS.flags[f.op[tail]] & (BRANCH | EXIT) or is_conditional(f, tail):
            self._say("control runs off the end of the function", blocks - 1, tail)

    def flow(self) -> None:
        """Check the edges alone."""
        b: i64 = 0
        while b < self.f.blocks():
            self._edges(b)
            b += 1

    def _say(self, text: str, b: i64, i: i64) -> None:
        if len(self.problems) >= MAX_MESSAGES:
            return
        place = f"bix{b}: " if b != NONE else ""
        shown = f": {format_instruction(self.f, i)} (line {line_of(self.f.line[i])})" if i != NONE else ""
        self.problems.append(f"  {place}{text}{shown}")

    def _links(self, b: i64) -> bool:
        """Whether the list of a block's instructions is one; each knows the one before it, so none stands there twice."""
        f = self.f
        before: i64 = NONE
        i = f.head[b]
        while i != NONE:
            if not 0 <= i < f.instructions() or f.prev[i] != before or f.block[i] != b:
                self._say("broken link", b, i if 0 <= i < f.instructions() else NONE)
                return False
            if before != NONE and f.op[before] == BSYNC and not OPS.flags[f.op[i]] & (BRANCH | EXIT):
                self._say("threads that wait go on behind this", b, i)
            before = i
            i = f.next[i]
        if f.tail[b] != before:
            self._say("the tail is not the last instruction", b, NONE)
            return False
        return True

    def _edges(self, b: i64) -> None:
        f = self.f
        at: i64 = 0
        while at < f.succ_count[b]:
            target = f.successor(b, at)
            if not 0 <= target < f.blocks():
                self._say(f"edge to block {target}, which does not exist", b, NONE)
            before: i64 = 0
            while before < at:
                if f.successor(b, before) == target:
                    self._say("an edge is listed twice", b, NONE)
                before += 1
            at += 1
        if f.final_flow:
            self._ends_as_edges(b)

    def _ends_as_edges(self, b: i64) -> None:
        f = self.f
        tail = f.tail[b]
        flags = OPS.flags[f.op[tail]] if tail != NONE and self._known(tail) else 0
        expected: i64 = 0  # number of targets that have an edge
        missing = False
        if tail == NONE or not flags & (BRANCH | EXIT) or is_conditional(f, tail):
            missing = not f.goes_to(b, b + 1)
            expected = 1
        if flags & INDIRECT:
            if not 0 <= f.aux[tail] < len(f.attributes.jump_tables):
                self._say(f"there is no jump table {f.aux[tail]}", b, tail)
                return
            targets = set(f.attributes.jump_tables[f.aux[tail]].targets)
            missing = missing or any(not f.goes_to(b, target) for target in targets)
            expected += len(targets)
        elif flags & BRANCH:
            to = target_of(f, tail)
            missing = missing or not f.goes_to(b, to)
            expected += 0 if expected and to == b + 1 else 1
        if missing or expected != f.succ_count[b]:
            edges = sorted(f.successor(b, at) for at in range(f.succ_count[b]))
            self._say(f"edges to {edges}, but the code goes elsewhere", b, tail)
        all_flags = OPS.flags
        i = f.head[b]
        while i != NONE and i != tail:
            number = f.op[i]
            if 0 < number < len(all_flags) and all_flags[number] & (BRANCH | EXIT):
                self._say("control flow that is not last in its block", b, i)
            i = f.next[i]

    def _phis(self, b: i64) -> None:
        """Check what merges values: first in its block, one definition each, a value for every way into the block and no more."""
        f = self.f
        i = f.head[b]
        merges = True
        while i != NONE:
            if self._known(i) and OPS.repeats[f.op[i]]:
                if not f.in_window:
                    self._say("a MovPhi outside of partial SSA form", b, i)
                if not merges:
                    self._say("a MovPhi behind other instructions", b, i)
                if f.guard[i]:
                    self._say("a MovPhi under a guard", b, i)
                ways = self._ways(b)
                named = [int(f.get(i, at) & opd.INDEX) for at in range(2, f.count[i], 2)]
                if sorted(named) != ways:
                    self._say(f"values from {sorted(named)}, but control comes from {ways}", b, i)
            else:
                merges = False
            i = f.next[i]

    def _ways(self, b: i64) -> list[int]:
        """The blocks that go to a block, in order."""
        if not self.before:
            self.before = [[] for _ in range(self.f.blocks())]
            source: i64 = 0
            while source < self.f.blocks():
                at: i64 = 0
                while at < self.f.succ_count[source]:
                    target = self.f.successor(source, at)
                    if 0 <= target < self.f.blocks():
                        self.before[target].append(int(source))
                    at += 1
                source += 1
        return self.before[b]

    def _known(self, i: i64) -> bool:
        number = self.f.op[i]
        return 0 < number < len(OPS.flags)

    def _instruction(self, b: i64, i: i64) -> None:
        f = self.f
        if not self._known(i):
            self._say(f"no operation has the number {f.op[i]}", b, i)
            return
        number = f.op[i]
        if 0 < OPS.expansion[number] <= f.expanded:
            name = ops.op(number).name
            self._say(f"the macro operation {name} is left behind phase {OPS.expansion[number]}, which expands it", b, i)
        slots = OPS.slots[number]
        repeats = OPS.repeats[number]
        behind = OPS.writes[number] < 0 or number == WARPGROUP  # what the convention says of registers, or an arrival waits for
        if f.count[i] > slots and not behind and not (repeats and (f.count[i] - slots) % repeats == 0):
            self._say(f"{f.count[i]} operands, it takes {slots}", b, i)
            return
        at: i64 = f.count[i]
        while at < slots:
            if not OPS.optional[number] >> at & 1:
                self._say(f"operand {ops.op(number).operands[at].name} is missing", b, i)
            at += 1
        at = 0
        first = f.first[i]
        end = f.count[i]
        if behind or repeats:  # that follows, or the same again
            end = min(end, slots)
        while at < end:
            operand = f.operand[first + at]
            if not self._is_sound(number, at, operand):
                problem = self._operand(number, at, operand)
                if problem:
                    self._say(f"operand {ops.op(number).operands[at].name}: {problem}", b, i)
            at += 1
        if f.guard[i]:
            problem = self._guard(f.guard[i], OPS.uniform[number] != 0)
            if problem:
                self._say(f"guard: {problem}", b, i)

    def _is_sound(self, number: i64, at: i64, operand: i64) -> bool:
        """Whether an operand is a register, or an immediate by itself, without a mistake: most are, and need no closer look."""
        form = opd.type_of(operand)
        if form != opd.REG:
            return form == opd.IMM and not OPS.writes_at(number, at) and _TYPES[OPS.kind[number * SLOTS + at]] >> form & 1 != 0
        f = self.f
        index = operand & opd.INDEX
        if index == opd.RZ or index == opd.PT or index >= len(f.reg_type):
            return False
        kind = OPS.kind[number * SLOTS + at]
        file = f.reg_type[index]
        if not _TYPES[kind] >> form & 1 or (file == P_FILE or file == UP) != (kind == KIND_PRED or kind == KIND_UPRED):
            return False
        return opd.first_of(operand) + opd.span_of(operand) < f.reg_size[index]

    def _operand(self, number: i64, at: i64, operand: i64) -> str:
        form = opd.type_of(operand)
        kind = OPS.kind[number * SLOTS + at]
        writes = OPS.writes_at(number, at)
        if form == opd.NONE:
            return "" if OPS.optional[number] >> at & 1 else "it cannot be left out"
        if not (_WRITABLE if writes else _TYPES[kind]) >> form & 1:
            return self._misfit(number, at, form)
        if form == opd.POOL and operand & opd.INDEX >= len(self.f.immediates):
            return "there is no such immediate"
        if form == opd.LABEL and operand & opd.INDEX >= self.f.blocks():
            return "there is no such block"
        if form == opd.REG:
            return self._register(operand, kind == KIND_PRED or kind == KIND_UPRED)
        return ""

    def _misfit(self, number: i64, at: i64, form: i64) -> str:
        slot = ops.op(number).operands[at]
        wanted = KIND_TEXTS[kind_of(slot.kind, slot.name)]
        return f"an operand of type {form} ({TYPE_TEXTS[form]}) does not fit a slot for {slot.kind} ({wanted})"

    def _guard(self, operand: i64, uniform: bool) -> str:
        problem = self._register(operand, True)
        if problem or operand & opd.INDEX == opd.PT:
            return problem
        kind = self.f.reg_type[operand & opd.INDEX]
        return f"register {operand & opd.INDEX} is of the wrong file" if (kind == UP or kind == UR) != uniform else ""

    def _register(self, operand: i64, predicate: bool) -> str:
        f = self.f
        index = operand & opd.INDEX
        if operand & opd.TYPE != opd.IS_REG:
            return "it is no register"
        if index == opd.RZ or index == opd.PT:
            return "" if (index == opd.PT) == predicate else "RZ and PT are mixed up"
        if index >= f.registers() or f.reg_size[index] == 0:
            return f"there is no register {index}"
        kind = f.reg_type[index]
        if (kind == P_FILE or kind == UP) != predicate:
            return f"register {index} is of the wrong file"
        last = opd.first_of(operand) + opd.span_of(operand)
        if last >= f.reg_size[index]:
            return f"word {last} of register {index}, which has {f.reg_size[index]}"
        return ""
