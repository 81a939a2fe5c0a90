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
from oric_tables import knobs
from oric_tables import op as op_numbers
from oric_tables.phases import PHASES

from oric.ir import operand as opd
from oric.ir.function import AUX_CONTRACT, AUX_MBARRIER, BLOCK_NOUNROLL, NONE, Function, control_flow
from oric.ir.optable import ATOMIC, BARRIER, CONTROL, CONVERGENCE, FENCE, OPS, WARP, written_registers
from oric.ir.passes import PassContext

from .ahead import Ahead, Count, can_be_tested, count_of, enter_ahead
from .flow import COND, JUMP, Flow
from .naming import is_written_whole
from .recipes import strength
from .rotate import rotate_loops
from .rounds import Rounds
from .wholly import unroll_wholly

_PHASE: Final = next(phase.index for phase in PHASES if phase.function == "unroll_loops")
# A copy of these is another place where threads meet, or that others wait at.
_NEVER: Final = (
    CONTROL | BARRIER | CONVERGENCE | FENCE | WARP | ATOMIC | op_numbers.E_CALL | op_numbers.E_SIDE_EFFECT | op_numbers.E_SPECIAL
)
_APART: Final = CONTROL | BARRIER | CONVERGENCE | WARP | op_numbers.E_CALL | op_numbers.E_SIDE_EFFECT


def unroll_loops(f: Function, ctx: PassContext) -> bool:
    """Unroll the loops that can be, where a recipe asks for it."""
    most = min(strength(ctx, _PHASE), f.knobs.numbers[knobs.UNROLL_FACTOR_DEFAULT])
    if f.attributes.nounroll:
        return False
    if ctx.recipes is None and ctx.opt_level >= f.knobs.numbers[knobs.UNROLL_LEVEL]:
        return _unroll_by_level(f, ctx)
    if most < 2 or not _has_short_loop(f):
        return False
    flow = Flow(f)
    flow.drop_unreachable()
    preds = _predecessors(flow)
    done = 0
    b: i64 = 0
    while b < len(preds):
        if flow.kind[b] == COND and _is_fit(flow, b):
            rounds = Rounds(flow, ctx.target.isa_name).count(b, preds)
            copies = _copies(f, _length(f, b), rounds, most)
            if copies > 1:
                _unroll(flow, b, copies, copies == rounds)
                done += 1
        b += 1
    flow.rebuild()
    ctx.count("unrolled loops", done)
    if done:
        f.merged = True
    return True


def _unroll_by_level(f: Function, ctx: PassContext) -> bool:
    """Without a recipe: loops that end are put down round by round."""
    if not control_flow(f).loops().count:
        return False
    flow = Flow(f)
    flow.drop_unreachable()
    done = unroll_wholly(flow, ctx.target.isa_name)
    ctx.count("rotated loops", rotate_loops(flow))
    done += _unroll_counted(flow)
    flow.rebuild()
    ctx.count("unrolled loops", done)
    if done:
        f.merged = True
    return True


def _unroll_counted(flow: Flow) -> int:
    """Let rounds of short loops that count at run time stand one behind the other."""
    preds = _predecessors(flow)
    done = 0
    numbers = flow.f.knobs.numbers
    copies: i64 = numbers[knobs.UNROLL_AHEAD]
    longest: i64 = numbers[knobs.UNROLL_AHEAD + 1]
    b: i64 = 0
    while b < len(preds):
        if flow.kind[b] == COND and _is_short(flow, b) and _length(flow.f, b) * copies <= longest:
            count = count_of(flow, b)
            if count is not None and can_be_tested(count, copies - 1):
                _enter_turns(flow, b, [p for p in preds[b] if p != b], count, copies)
                done += 1
        b += 1
    return done


def _is_short(flow: Flow, b: i64) -> bool:
    """Whether a block is a loop of which copies do the same, whoever else is there."""
    f = flow.f
    if flow.target[b] == flow.other[b] or (flow.target[b] != b and flow.other[b] != b) or f.flags[b] & BLOCK_NOUNROLL:
        return False
    if b in flow.follower:
        return False
    i = f.head[b]
    while i != NONE:
        if OPS.flags[f.op[i]] & _APART or f.aux[i] & ~(AUX_CONTRACT | AUX_MBARRIER):
            return False
        i = f.next[i]
    return True


def _enter_turns(flow: Flow, b: i64, entries: list[int], count: Count, copies: i64) -> None:
    """Put a loop of so many rounds a turn in front of a loop."""
    turns = flow.new_block(-1)
    names = _Names(flow.f, b)
    flow.cursor.at_end(turns)
    turn: i64 = 0
    while turn < copies:
        i = flow.f.head[b]
        while i != NONE:
            _copy(flow, i, names, turn == copies - 1)
            i = flow.f.next[i]
        turn += 1
    enter_ahead(flow, b, entries, Ahead(flow, count, copies - 1), turns)


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


def _copies(f: Function, length: i64, rounds: i64, most: i64) -> i64:
    """The largest divisor of the number of rounds (0: nobody knows it) that is allowed and not too long."""
    copies = min(most, f.knobs.numbers[knobs.UNROLL_SIZE] // length, rounds)
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
            for operand in written_registers(f, i):
                if not is_written_whole(f, i, operand):
                    self.kept.add(operand & opd.INDEX)
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
