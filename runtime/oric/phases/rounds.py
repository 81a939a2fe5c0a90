"""Running blocks on what is constant in them: how often loops run, and what their rounds compute."""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables._native import lib
from oric_tables.numbers import F_ABSENT, F_IMM, INSN_OPERANDS

from oric.ir import legality as legal
from oric.ir import operand as opd
from oric.ir.facts import MASK32, NOT_CONSTANT, is_pair, joined
from oric.ir.function import NONE, Function
from oric.ir.legality import legality_of
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS
from oric.support.arrays import zeros
from oric.support.lend import lend

from .flow import Flow
from .folding import marks_of


def most_steps(f: Function) -> i64:
    """Instructions that the loops of a function are run for."""
    return f.knobs.numbers[knobs.UNROLL_STEPS]


@final
class Rounds:
    """Runs blocks on what is constant: ``known`` has the words that are, and predicates."""

    def __init__(self, flow: Flow, isa: str) -> None:
        self.flow = flow
        self.f: Function = flow.f
        self.legality = legality_of(isa)
        self.known: dict[int, int] = {}
        self.steps = 0
        self.marks = zeros(INSN_OPERANDS)
        self.sources = zeros(INSN_OPERANDS)
        self.results = zeros(INSN_OPERANDS)

    def count(self, b: i64, preds: list[list[int]]) -> i64:
        """How often a loop of one block runs each time that it is entered; 0: that is no constant, or too great to see."""
        entries = [p for p in preds[b] if p != b]
        if len(entries) != 1:
            return 0
        self.come_to(entries[0], preds)
        flow = self.flow
        rounds: i64 = 0
        while self.steps < most_steps(self.f):
            self._run(b)
            rounds += 1
            taken = self.condition(flow.node[b])
            if taken < 0:
                return 0
            if (flow.target[b] if taken else flow.other[b]) != b:
                return rounds
        return 0

    def come_to(self, b: i64, preds: list[list[int]]) -> None:
        """Know what is constant behind a block: it, and those before it as far as each has one predecessor, are run."""
        chain: list[int] = []
        steps: i64 = 0
        while b not in chain and steps < self.f.knobs.numbers[knobs.UNROLL_LOOK]:
            chain.append(b)
            i = self.f.head[b]
            while i != NONE:
                steps += 1
                i = self.f.next[i]
            if len(preds[b]) != 1:
                break
            b = preds[b][0]
        self.known = {}
        for block in reversed(chain):
            self._run(block)

    def condition(self, branch: i64) -> i64:
        """Whether a branch is taken, 1 or 0; -1 when that is not known."""
        f = self.f
        guard = f.guard[branch]
        met: i64 = self.predicate(guard) if guard else 1
        at: i64 = 0
        while at < f.count[branch] and met >= 0:
            operand = f.get(branch, at)
            if operand & opd.TYPE == opd.IS_REG:
                more = self.predicate(operand)
                met = more if more < 0 else met & more
            at += 1
        return met

    def predicate(self, operand: i64) -> i64:
        """A predicate operand, 1 or 0; -1 when it is not known."""
        inverted: i64 = 1 if operand & opd.NEGATE else 0
        if operand & opd.INDEX == opd.PT:
            return 1 ^ inverted
        if not opd.is_register(operand):
            return -1
        value: i64 = self.known.get(self.f.words_of(operand), -1)
        return value if value < 0 else value ^ inverted

    def _run(self, b: i64) -> None:
        f = self.f
        i = f.head[b]
        while i != NONE:
            self.steps += 1
            self.step(i)
            i = f.next[i]

    def step(self, i: i64) -> i64:
        """Run an instruction: 1 when its results are known now, 0 when they are not, -1 when its guard keeps it from running."""
        met: i64 = self.predicate(self.f.guard[i]) if self.f.guard[i] else 1
        if not met:
            return -1
        valued = met > 0 and self._evaluate(i)
        self._settle(i, valued)
        return 1 if valued else 0

    def _settle(self, i: i64, valued: bool) -> None:
        """Note what an instruction writes: its results, or that nobody knows."""
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            operand = f.get(i, at)
            if mask >> at & 1 and opd.is_register(operand):
                word = f.words_of(operand)
                bits: i64 = self.results[at]
                part: i64 = 0
                while part < opd.count_of(operand):
                    if valued:
                        self.known[word + part] = bits >> 32 * part & (1 if f.is_predicate(operand) else MASK32)
                    else:
                        self.known.pop(word + part, None)
                    part += 1
            at += 1

    def _evaluate(self, i: i64) -> bool:
        """Compute ``results``; False when a source is not known, or the operation has no value."""
        f = self.f
        mask = OPS.writes[f.op[i]]
        wide = self.legality.whole[f.op[i]] != 0
        at: i64 = 0
        while at < INSN_OPERANDS:
            operand = f.get(i, at) if at < f.count[i] else opd.NO_OPERAND
            if operand == opd.NO_OPERAND:
                self.marks[at] = F_ABSENT
            elif mask >> at & 1:
                self.marks[at] = 0
            elif not self._take(at, operand, wide):
                return False
            at += 1
        return bool(lib.oric_value(f.op[i], f.mods[i], lend(self.marks), 1, lend(self.sources), lend(self.results)))

    def _take(self, at: i64, operand: i64, wide: bool) -> bool:
        """Put a source into the arrays; False when it is not known."""
        f = self.f
        if wide or is_pair(operand):
            return self._take_whole(at, operand)
        marks = marks_of(operand)
        bare = operand & ~SIGNS
        if opd.is_register(bare):
            bits: i64 = NOT_CONSTANT if bare & opd.SPAN else self.known.get(f.words_of(bare), NOT_CONSTANT)
            if bits == NOT_CONSTANT:
                return False
        elif bare & opd.TYPE == opd.IS_REG:
            bits = 1 if bare & opd.INDEX == opd.PT else 0
        elif legal.kind_of(f, bare) == legal.KIND_IMM:
            bits = f.imm_value(bare) & MASK32
            marks |= F_IMM
        else:
            return False
        self.marks[at] = marks
        self.sources[at] = bits
        return True

    def _take_whole(self, at: i64, operand: i64) -> bool:
        """The same for a source of 64 bits."""
        f = self.f
        if is_pair(operand):
            low: i64 = self.known.get(f.words_of(operand), NOT_CONSTANT)
            high: i64 = self.known.get(f.words_of(operand) + 1, NOT_CONSTANT)
            if low == NOT_CONSTANT or high == NOT_CONSTANT:
                return False
            self.sources[at] = joined(low, high)
        elif operand == opd.RZ_OPERAND:
            self.sources[at] = 0
        elif legal.kind_of(f, operand) == legal.KIND_IMM:
            self.sources[at] = f.imm_value(operand)
        else:
            return False
        self.marks[at] = 0
        return True
