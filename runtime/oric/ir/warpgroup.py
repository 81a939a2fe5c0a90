"""What products of warp groups have under way: their registers are the tensor cores' until a wait for their group is over."""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import (
    BGMMA,
    HGMMA,
    HGMMA_SP,
    IGMMA,
    IGMMA_SP,
    QGMMA,
    QGMMA_SP,
    WARPGROUP_DEPBAR,
)

from . import operand as opd
from .function import NONE, R2, R4, Function, R, control_flow
from .optable import CALL, EXIT, OPS

PRODUCTS: Final = frozenset({HGMMA, HGMMA_SP, IGMMA, IGMMA_SP, QGMMA, QGMMA_SP, BGMMA})
RESULT: Final = 0  # places of their operands: the accumulators ...
ADDEND: Final = 4  # ... which are read here
_LAST: Final = 9  # groups that are older count as this old
_OPEN: Final[dict[int, int]] = {
    n: ops.op(n).pack(gsb="NONE") for n in PRODUCTS
}  # modifiers of one that is not the last of its group
_GENERAL: Final = frozenset({R, R2, R4})
_COUNT: Final = 0  # place of the number of groups that a wait leaves


def ends_group(f: Function, i: i64) -> bool:
    """Whether a product is the last of its group."""
    return int(f.mods[i]) & _OPEN[int(f.op[i])] == 0


def end_group(f: Function, i: i64) -> None:
    """Let a product be the last of its group."""
    f.set_mods(i, int(f.mods[i]) & ~_OPEN[int(f.op[i])])


def has_products(f: Function) -> bool:
    """Whether there is any."""
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if int(f.op[i]) in PRODUCTS:
                return True
            i = f.next[i]
        b += 1
    return False


def fragments(f: Function, i: i64) -> list[int]:
    """The registers that a product only reads: a fragment of A, what says which of its elements there are."""
    found: list[int] = []
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if at != RESULT and at != ADDEND and opd.is_register(operand) and is_general(f, operand):
            found.append(int(operand & opd.INDEX))
        at += 1
    return found


def is_general(f: Function, operand: i64) -> bool:
    """Whether a register operand is of the general file."""
    return int(f.reg_type[operand & opd.INDEX]) in _GENERAL


@final
class Flight:
    """Registers under way at a place: how many groups were begun since their last product, for those written and those read."""

    def __init__(self) -> None:
        self.results: dict[int, int] = {}
        self.sources: dict[int, int] = {}

    def copy(self) -> Flight:
        """The same, to be changed."""
        made = Flight()
        made.results = dict(self.results)
        made.sources = dict(self.sources)
        return made

    def join(self, other: Flight) -> bool:
        """What is under way here or there; whether that is more than here."""
        changed = False
        for mine, theirs in ((self.results, other.results), (self.sources, other.sources)):
            for register, age in theirs.items():
                if mine.get(register, _LAST + 1) > age:
                    mine[register] = age
                    changed = True
        return changed

    def all(self) -> list[int]:
        """All of these registers."""
        return sorted({*self.results, *self.sources})

    def is_open(self) -> bool:
        """Whether products are under way that belong to no group yet."""
        return 0 in self.results.values() or 0 in self.sources.values()

    def begin(self, f: Function, i: i64) -> None:
        """A product."""
        result = f.get(i, RESULT)
        if opd.is_register(result):
            self.results[int(result & opd.INDEX)] = 0
        for register in fragments(f, i):
            self.sources[register] = 0
        if ends_group(f, i):
            for ages in (self.results, self.sources):
                for register in ages:
                    ages[register] = min(ages[register] + 1, _LAST)

    def wait(self, left: int) -> list[int]:
        """A wait for all but some groups; returns what is over."""
        over = {r for ages in (self.results, self.sources) for r, age in ages.items() if age > left}
        for ages in (self.results, self.sources):
            for register in [r for r, age in ages.items() if age > left]:
                del ages[register]
        return sorted(over.difference(self.all()))

    def touched_by(self, f: Function, i: i64) -> bool:
        """Whether an instruction names what it must not as long as it is under way."""
        if not self.results and not self.sources:
            return False
        if OPS.flags[f.op[i]] & CALL:
            return True
        product = int(f.op[i]) in PRODUCTS
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand):
                register = int(operand & opd.INDEX)
                writes = OPS.writes_at(f.op[i], at)
                if register in self.results and not (product and (at == RESULT or at == ADDEND)):
                    return True
                if writes and register in self.sources:
                    return True
            at += 1
        return False

    def step(self, f: Function, i: i64) -> None:
        """What is under way behind an instruction."""
        if int(f.op[i]) in PRODUCTS:
            self.begin(f, i)
        elif f.op[i] == WARPGROUP_DEPBAR:
            self.wait(left_by(f, i))


def left_by(f: Function, i: i64) -> int:
    """How many groups a wait leaves under way."""
    return int(f.imm_value(f.get(i, _COUNT)))


def flights(f: Function) -> list[Flight]:
    """What is under way where each block begins, on some way there."""
    graph = control_flow(f)
    found = [Flight() for _ in range(f.blocks())]
    seen = [False] * len(found)
    work = [0]
    seen[0] = True
    while work:
        b = work.pop()
        state = found[b].copy()
        i: i64 = f.head[b]
        while i != NONE:
            state.step(f, i)
            i = f.next[i]
        e: i64 = graph.succ_start[b]
        while e < graph.succ_start[b + 1]:
            after = int(graph.succ[e])
            if found[after].join(state) or not seen[after]:
                seen[after] = True
                work.append(after)
            e += 1
    return found


def leaves(f: Function, i: i64) -> bool:
    """Whether an instruction ends the thread."""
    return OPS.flags[f.op[i]] & EXIT != 0
