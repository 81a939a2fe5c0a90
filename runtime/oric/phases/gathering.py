"""Barriers of the block that threads of one warp reach at different places: they meet, and go through one of them together.

PTX lets the threads of a warp come to ``barrier`` without ``.aligned`` at different places and times, while the hardware's BAR is
of a whole warp. All such barriers of one kind become one block: a thread leaves its place and operands in registers, waits for
the others of its warp, and goes back to the place that it came from. ptxas 13.0.88 does the same by a function around the barrier
(up to sm_89) or a collective (later) to which threads go that are apart; here it is control flow as any other.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import B2R, BRA, ISETP, MOV, SEL

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.function import AUX_APART, NONE, Function, P, R
from oric.ir.optable import BARRIER, OPS
from oric.ir.passes import PassContext
from oric.support.arrays import zeros

from .divergence import Definitions, blocks_apart, divergence
from .flow import COND, STOP, Flow

_EQUAL: Final[int] = ops.op(ISETP).pack(cmp="EQ", sign="U32", bop="AND")
_NOT_EQUAL: Final[int] = ops.op(ISETP).pack(cmp="NE", sign="U32", bop="AND")


def gather_barriers(flow: Flow, ctx: PassContext) -> set[int]:
    """Lead the threads of a warp together for barriers that they may reach apart.

    Gives the barriers, in front of each of which all threads of the warp are to wait for one another.
    """
    sites = _sites(flow.f)
    if not sites:
        return set()
    apart = _apart(flow)
    sites = [i for i in sites if apart is None or flow.f.block[i] in apart]
    kinds: dict[tuple[int, ...], list[int]] = {}
    for i in sites:
        kinds.setdefault(_kind(flow.f, i), []).append(i)
    found = set[int]()
    for alike in kinds.values():
        found.add(_Gathering(flow, alike[0]).run(alike) if len(alike) > 1 else alike[0])
    ctx.count("barriers that threads reach apart", len(sites))
    return found


def _sites(f: Function) -> list[int]:
    """The barriers for which the threads of a warp need not be together."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if OPS.flags[f.op[i]] & BARRIER and f.aux[i] & AUX_APART:
                found.append(i)
            i = f.next[i]
        b += 1
    return found


def _apart(flow: Flow) -> set[int] | None:
    """The blocks in which threads of a warp may be apart; None: it may be anywhere."""
    cfg: Cfg = flow.graph(without_bare_exits=True)
    if cfg.loops().irreducible:
        return None
    stops = zeros(cfg.blocks)  # threads that end there may have been at a barrier before
    b: i64 = 0
    while b < cfg.blocks:
        stops[b] = 1 if flow.kind[b] == STOP else 0
        b += 1
    points = cfg.postdominators(stops)
    branches, _ = divergence(flow, cfg, Definitions(flow), points)
    return blocks_apart(cfg, points, branches)


def _result(f: Function, i: i64) -> i64:
    """The instruction behind a barrier that fetches its result, NONE where it has none."""
    following = f.next[i]
    return following if following != NONE and f.op[following] == B2R else NONE


def _kind(f: Function, i: i64) -> tuple[int, ...]:
    """What two barriers that become one have in common: the operation, constant operands, the form of the result."""
    what = [f.op[i], f.mods[i]]
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        what.append(-1 - _first_place(f, i, at) if opd.is_register(operand) else operand)
        at += 1
    taken = _result(f, i)
    if taken != NONE:
        what += [f.mods[taken], int(opd.is_register(f.get(taken, 0))), int(opd.is_register(f.get(taken, 1)))]
    return tuple(what)


def _first_place(f: Function, i: i64, at: i64) -> i64:
    """Where the operand at ``at`` stands first: the two words of a barrier with a count are one register."""
    place: i64 = 0
    while f.get(i, place) != f.get(i, at):
        place += 1
    return place


@final
class _Gathering:
    """One block in place of barriers of a kind."""

    def __init__(self, flow: Flow, first: i64) -> None:
        self.flow = flow
        self.f = flow.f
        self.place: int = opd.reg(self.f.new_reg(R))  # which barrier a thread came from
        self.given: dict[int, int] = {}  # operand of the barrier -> the register that has it
        at: i64 = 0
        while at < self.f.count[first]:
            if opd.is_register(self.f.get(first, at)):
                place = _first_place(self.f, first, at)
                self.given[at] = self.given[place] if place < at else opd.reg(self.f.new_reg(R))
            at += 1
        self.result: int = opd.reg(self.f.new_reg(R))

    def run(self, alike: list[int]) -> i64:
        """Make the block; gives its barrier."""
        f, cursor = self.f, self.flow.cursor
        back = [self._leave(i, number) for number, i in enumerate(alike)]
        shared = self.flow.new_block(back[-1])
        for i in alike:
            self.flow.target[f.block[i]] = shared
        cursor.at_end(shared)
        cursor.line = f.line[alike[0]]
        barrier = self._barrier(alike[0])
        for i in alike:
            taken = _result(f, i)
            if taken != NONE:
                cursor.remove(taken)
            cursor.remove(i)
        block = shared
        for number, rest in enumerate(back[:-1]):
            block = self._choose(block, number, rest, back[-1])
        return barrier

    def _leave(self, i: i64, number: int) -> i64:
        """In front of a barrier leave what the block asks for; gives the block behind, which begins with the result."""
        f, cursor = self.f, self.flow.cursor
        cursor.in_front(i)
        cursor.line = f.line[i]
        for at, register in self.given.items():
            operand = f.get(i, at)
            if f.reg_type[operand & opd.INDEX] == P:
                cursor.make4(SEL, register, opd.RZ_OPERAND, opd.imm(1), operand ^ opd.NEGATE)
            else:
                cursor.make2(MOV, register, operand)
        cursor.make2(MOV, self.place, opd.imm(number))
        taken = _result(f, i)
        rest = self.flow.split_behind(i if taken == NONE else taken)
        del self.flow.follower[f.block[i]]
        if taken != NONE:
            cursor.at_start(rest)
            dest, predicate = f.get(taken, 0), f.get(taken, 1)
            if opd.is_register(dest):
                cursor.make2(MOV, dest, self.result)
            if opd.is_register(predicate):
                self._test(predicate, self.result, opd.RZ_OPERAND, _NOT_EQUAL)
        return rest

    def _barrier(self, like: i64) -> i64:
        """The barrier, and what keeps its result, at the cursor."""
        f, cursor = self.f, self.flow.cursor
        tests: dict[int, int] = {}
        for at, register in self.given.items():
            if f.reg_type[f.get(like, at) & opd.INDEX] == P:
                tests[at] = opd.reg(f.new_reg(P))
                self._test(tests[at], register, opd.RZ_OPERAND, _NOT_EQUAL)
        made = cursor.clone(like)
        for at, register in self.given.items():
            f.set(made, at, tests.get(at, register))
        taken = _result(f, like)
        if taken != NONE:
            fetched = cursor.clone(taken)
            if opd.is_register(f.get(taken, 0)):
                f.set(fetched, 0, self.result)
            elif opd.is_register(f.get(taken, 1)):
                predicate = opd.reg(f.new_reg(P))
                f.set(fetched, 1, predicate)
                cursor.make4(SEL, self.result, opd.RZ_OPERAND, opd.imm(1), predicate ^ opd.NEGATE)
        return made

    def _choose(self, block: i64, number: int, rest: i64, other: i64) -> i64:
        """Threads that came from that barrier go back to it; gives the block in which the others are."""
        flow, cursor = self.flow, self.flow.cursor
        cursor.at_end(block)
        here = opd.reg(self.f.new_reg(P))
        self._test(here, self.place, opd.imm(number), _EQUAL)
        node = cursor.make1(BRA, opd.label(rest), 0, here)
        cursor.remove(node)
        following = flow.new_block(other)
        flow.set_end(block, COND, node, rest, following)
        return following

    def _test(self, predicate: i64, register: i64, value: i64, mods: i64) -> None:
        cursor = self.flow.cursor
        cursor.make(ISETP, mods)
        for operand in (predicate, register, value):
            cursor.put(operand)
