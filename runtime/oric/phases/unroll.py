"""Phase 22: loops of one block whose number of rounds is a constant.

Whole rounds stand one behind the other, as many as the recipe of the NvOpt level allows and divide the number of rounds; only the
last one has the branch back, and none where they are all. A register that a round writes as a whole has a name of its own in
each, so that rounds can overlap. How many rounds there are is found by running the block on what is constant in it.
Source: PTX-to-Ori, "Phase 1"; Ori IR, "Partial SSA" (its place).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import op as op_numbers
from oric_tables import thresholds
from oric_tables._native import lib
from oric_tables.knobs import CONTEXT
from oric_tables.numbers import F_ABS, F_ABSENT, F_IMM, F_INV, F_NEG, INSN_OPERANDS
from oric_tables.phases import PHASES

from oric.ir import legality as legal
from oric.ir import operand as opd
from oric.ir.function import AUX_CONTRACT, AUX_MBARRIER, BLOCK_NOUNROLL, NONE, Function
from oric.ir.legality import legality_of
from oric.ir.operand import SIGNS
from oric.ir.optable import ATOMIC, BARRIER, CONTROL, CONVERGENCE, FENCE, OPS, WARP
from oric.ir.passes import PassContext
from oric.ir.values import MASK32, NOT_CONSTANT, is_pair, joined
from oric.support.arrays import zeros
from oric.support.lend import lend

from .flow import COND, JUMP, Flow
from .recipes import strength

_PHASE: Final = next(phase.index for phase in PHASES if phase.function == "unroll_loops")
_MOST: Final = CONTEXT["unroll_factor_default"]
# A copy of these is another place where threads meet, or that others wait at.
_NEVER: Final = (
    CONTROL | BARRIER | CONVERGENCE | FENCE | WARP | ATOMIC | op_numbers.E_CALL | op_numbers.E_SIDE_EFFECT | op_numbers.E_SPECIAL
)


def unroll_loops(f: Function, ctx: PassContext) -> bool:
    """Unroll the loops that can be, where a recipe asks for it."""
    most = min(strength(ctx, _PHASE), _MOST)
    if most < 2 or f.attributes.nounroll or not _has_short_loop(f):
        return False
    flow = Flow(f)
    flow.drop_unreachable()
    preds = _predecessors(flow)
    done = 0
    b: i64 = 0
    while b < len(preds):
        if flow.kind[b] == COND and _is_fit(flow, b):
            rounds = _Rounds(flow, ctx.target.isa_name).count(b, preds)
            copies = _copies(_length(f, b), rounds, most)
            if copies > 1:
                _unroll(flow, b, copies, copies == rounds)
                done += 1
        b += 1
    flow.rebuild()
    ctx.count("unrolled loops", done)
    if done:
        f.merged = True
    return True


def _has_short_loop(f: Function) -> bool:
    b: i64 = 0
    while b < f.blocks():
        if f.goes_to(b, b):
            return True
        b += 1
    return False


def _predecessors(flow: Flow) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in range(flow.blocks())]
    for b in range(flow.blocks()):
        for target in flow.successors(b):
            out[target].append(b)
    return out


def _is_fit(flow: Flow, b: i64) -> bool:
    """Whether a block is a loop of which copies do the same."""
    f = flow.f
    if flow.target[b] == flow.other[b] or (flow.target[b] != b and flow.other[b] != b) or f.flags[b] & BLOCK_NOUNROLL:
        return False
    i = f.head[b]
    while i != NONE:
        if OPS.flags[f.op[i]] & _NEVER or f.aux[i] & ~(AUX_CONTRACT | AUX_MBARRIER) or OPS.is_strong(f, i):
            return False
        i = f.next[i]
    return True


def _length(f: Function, b: i64) -> i64:
    count: i64 = 1
    i = f.head[b]
    while i != NONE:
        count += 1
        i = f.next[i]
    return count


def _copies(length: i64, rounds: i64, most: i64) -> i64:
    """The largest divisor of the number of rounds (0: nobody knows it) that is allowed and not too long."""
    copies = min(most, thresholds.UNROLL_SIZE // length, rounds)
    while copies > 1 and rounds % copies:
        copies -= 1
    return copies


def _unroll(flow: Flow, b: i64, copies: i64, whole: bool) -> None:
    """Put so many rounds into a block; ``whole``: these are all, and it goes on behind the last."""
    f = flow.f
    names = _Names(f, b)
    items = vec[i64]()
    i = flow.cursor.empty(b)
    while i != NONE:
        items = append(items, i)
        i = f.next[i]
    flow.cursor.at_end(b)
    turn: i64 = 0
    while turn < copies:
        at: i64 = 0
        while at < len(items):
            _copy(flow, items[at], names, turn == copies - 1)
            at += 1
        turn += 1
    at = 0
    while at < len(items):
        f.block[items[at]] = NONE
        at += 1
    if whole:
        flow.set_end(b, JUMP, NONE, flow.other[b] if flow.target[b] == b else flow.target[b], -1)


def _copy(flow: Flow, i: i64, names: _Names, last: bool) -> None:
    f = flow.f
    flow.cursor.line = f.line[i]
    made = flow.cursor.clone(i)
    f.set_guard(made, names.read(f.guard[i]))
    mask = OPS.writes[f.op[i]]
    at: i64 = 0
    while at < f.count[i]:
        if not mask >> at & 1:
            f.set(made, at, names.read(f.get(i, at)))
        at += 1
    at = 0
    while mask >> at and at < f.count[i]:
        if mask >> at & 1:
            f.set(made, at, names.written(f.get(i, at), last))
        at += 1


@final
class _Names:
    """The register that stands for each one in the round at hand. Others than those that the block writes as wholes and without a
    guard keep their names, and so do all in the last round."""

    def __init__(self, f: Function, b: i64) -> None:
        self.f = f
        self.now: dict[int, int] = {}
        self.kept: set[int] = set()
        i = f.head[b]
        while i != NONE:
            mask = OPS.writes[f.op[i]]
            at: i64 = 0
            while mask >> at and at < f.count[i]:
                operand = f.get(i, at)
                if mask >> at & 1 and opd.is_register(operand):
                    index: i64 = operand & opd.INDEX
                    if f.guard[i] or opd.count_of(operand) != f.reg_size[index]:
                        self.kept.add(index)
                at += 1
            i = f.next[i]

    def read(self, operand: i64) -> i64:
        """A source under its name of now."""
        if not opd.is_register(operand):
            return operand
        index: i64 = operand & opd.INDEX
        now: i64 = self.now.get(index, index)
        return opd.with_index(operand, now)

    def written(self, operand: i64, last: bool) -> i64:
        """A result under a new name; under its own in the last round."""
        if not opd.is_register(operand):
            return operand
        f = self.f
        index: i64 = operand & opd.INDEX
        if index in self.kept:
            return operand
        now = index if last else f.new_reg(f.reg_type[index], f.reg_size[index])
        self.now[index] = now
        return opd.with_index(operand, now)


@final
class _Rounds:
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
        chain = [entries[0]]
        while len(preds[chain[-1]]) == 1 and preds[chain[-1]][0] not in chain:
            chain.append(preds[chain[-1]][0])
        for block in reversed(chain):
            self._run(block)
        flow = self.flow
        rounds: i64 = 0
        while self.steps < thresholds.UNROLL_STEPS:
            self._run(b)
            rounds += 1
            taken = self._condition(flow.node[b])
            if taken < 0:
                return 0
            if (flow.target[b] if taken else flow.other[b]) != b:
                return rounds
        return 0

    def _condition(self, branch: i64) -> i64:
        """Whether a branch is taken, 1 or 0; -1 when that is not known."""
        f = self.f
        guard = f.guard[branch]
        met: i64 = self._predicate(guard) if guard else 1
        at: i64 = 0
        while at < f.count[branch] and met >= 0:
            operand = f.get(branch, at)
            if operand & opd.TYPE == opd.IS_REG:
                more = self._predicate(operand)
                met = more if more < 0 else met & more
            at += 1
        return met

    def _predicate(self, operand: i64) -> i64:
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
            met: i64 = self._predicate(f.guard[i]) if f.guard[i] else 1
            if met:
                self._settle(i, met > 0 and self._evaluate(i))
            i = f.next[i]

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
        marks: i64 = 0
        if operand & opd.NEGATE:
            marks |= F_NEG
        if operand & opd.ABSOLUTE:
            marks |= F_ABS
        if operand & opd.COMPLEMENT:
            marks |= F_INV
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
