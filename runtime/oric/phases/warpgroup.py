"""Phase 4: products of warp groups keep their accumulators and fragments in place while they are under way.

Lowering makes of each product one with registers of its own and copies between these and the registers of the PTX. Here the
registers of the PTX become words of the wide ones, and the copies go, where each of them has one place in all tuples that name
it; other products wait for their end at once, between copies. Then groups get their ends, and what the code does to registers
under way waits for them. Source: observed (code and messages C7511, C7517 and C7519 of ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import GROUP_END, HGMMA, MOV, WARPGROUP, WARPGROUP_DEPBAR
from oric_tables.registers import GROUP_ARRIVE_INJECTED, GROUP_SERIALIZED, GROUP_WAIT_INJECTED

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, control_flow
from oric.ir.lineinfo import line_of
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.warpgroup import (
    ADDEND,
    PRODUCTS,
    RESULT,
    Flight,
    end_group,
    flights,
    fragments,
    has_products,
    is_general,
)

_NOTHING: Final[int] = ops.op(HGMMA).pack(shape="64x8x16", ctype="F16")  # a product that nobody reads, the last of a group
_QUAD: Final = 4  # words of the widest register of the PTX
_ARRIVE: Final[int] = ops.op(WARPGROUP).pack(op="ARRIVE")


def settle_group_products(f: Function, ctx: PassContext) -> bool:
    """Give products of warp groups their registers, groups their ends, and code its waits."""
    if not has_products(f):
        return _end_groups(f)
    apart = _Places(f).settle()
    if apart and ctx.diag is not None:
        ctx.diag.info(GROUP_SERIALIZED % f.name)
    _end_groups(f)
    _Waits(f, ctx, apart).add()
    return True


def _each(f: Function) -> list[int]:
    """The instructions in their order."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            found.append(i)
            i = f.next[i]
        b += 1
    return found


@final
class _Copies:
    """Copies between a register of a product and others: word -> (instruction, the other register's operand)."""

    def __init__(self) -> None:
        self.into: dict[int, tuple[int, int]] = {}
        self.out: dict[int, tuple[int, int]] = {}
        self.twice = False  # something else than that and its product names it


@final
class _Places:
    """``home``: register of the PTX -> the wide register that it is in, and the word of that which it begins at."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.home: dict[int, tuple[int, int]] = {}
        self.same: dict[int, int] = {}  # wide register -> the one that stands for it

    def settle(self) -> list[int]:
        """Returns the products that have to be waited for at once."""
        f = self.f
        code = _each(f)
        products = [i for i in code if int(f.op[i]) in PRODUCTS]
        copies = self._copies(code, products)
        foreign = self._foreign()
        apart: list[int] = []
        gone: list[int] = []
        for i in products:
            result = f.get(i, RESULT)
            if opd.is_register(result) and not self._place(int(result & opd.INDEX), copies, foreign, gone, f.for_debugger):
                apart.append(i)
        for i in products:
            for wide in fragments(f, i):
                if opd.count_of(f.get(i, 1)) > 1 and wide in copies:
                    self._place(wide, copies, foreign, gone, f.for_debugger)
        self._rename(code)
        for i in gone:
            self.cursor.remove(i)
        return apart

    def _copies(self, code: list[int], products: list[int]) -> dict[int, _Copies]:
        f = self.f
        found: dict[int, _Copies] = {}
        for i in products:
            for operand in (f.get(i, RESULT), f.get(i, 1)):
                if opd.is_register(operand):
                    found[int(operand & opd.INDEX)] = _Copies()
        for i in code:
            if int(f.op[i]) in PRODUCTS:
                continue
            at: i64 = 0
            plain = f.op[i] == MOV and f.mods[i] == 0 and f.count[i] == 2
            while at < f.count[i]:
                operand = f.get(i, at)
                copies = found.get(int(operand & opd.INDEX)) if opd.is_register(operand) else None
                if copies is not None:
                    other = f.get(i, 1 - at) if plain else opd.NO_OPERAND
                    word = int(opd.first_of(operand))
                    side = copies.into if at == 0 else copies.out
                    if not plain or not self._word(other) or word in side:
                        copies.twice = True
                    else:
                        side[word] = (int(i), int(other))
                at += 1
        return found

    def _word(self, operand: i64) -> bool:
        """Whether an operand is a word of a general register."""
        if not opd.is_register(operand) or operand & (opd.SIGNS | opd.SPAN):
            return False
        return is_general(self.f, operand)

    def _foreign(self) -> set[int]:
        """Registers that more than instructions name."""
        f = self.f
        found = {int(formal.operand & opd.INDEX) for formal in f.formals if formal.operand}
        for site in f.calls:
            found.update(int(a & opd.INDEX) for a in site.actuals if isinstance(a, int) and a)
        return found

    def _place(self, wide: int, copies: dict[int, _Copies], foreign: set[int], gone: list[int], never: bool) -> bool:
        """Let a register of a product be where the registers are that it is copied from and to; whether that can be."""
        of = copies[wide]
        size = int(self.f.reg_size[wide])
        places: dict[int, int] = {}  # register -> the word of the wide one that it begins at
        at = 0
        while at < size:
            named = {int(side[at][1]) for side in (of.into, of.out) if at in side}
            first = named.pop() if len(named) == 1 else opd.NO_OPERAND
            register = int(first & opd.INDEX)
            if first == opd.NO_OPERAND or opd.first_of(first) or register in places or not self._fits(of, register, at, size):
                return False
            places[register] = at
            at += int(self.f.reg_size[register])
        if never or of.twice or foreign.intersection(places):
            return False
        known = self.home.get(min(places, key=lambda register: places[register]))
        stands = wide if known is None else known[0]
        for register, at in places.items():
            if self.home.get(register) != (None if known is None else (stands, at)):
                return False
        if int(self.f.reg_size[stands]) != size:
            return False
        for register, at in places.items():
            self.home[register] = (stands, at)
        self.same[wide] = stands
        gone += [i for side in (of.into, of.out) for i, _ in side.values()]
        return True

    def _fits(self, of: _Copies, register: int, at: int, size: int) -> bool:
        """Whether all words of a register are copied to and from the words behind a place, where it may begin."""
        words = int(self.f.reg_size[register])
        if at + words > size or at % min(words, _QUAD) or words > _QUAD:
            return False
        for word in range(words):
            for side in (of.into, of.out):
                if at + word in side and side[at + word][1] != opd.reg(register, word):
                    return False
            if at + word not in of.into and at + word not in of.out:
                return False
        return True

    def _rename(self, code: list[int]) -> None:
        f = self.f
        for i in code:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if opd.is_register(operand):
                    place = self.home.get(int(operand & opd.INDEX))
                    same = self.same.get(int(operand & opd.INDEX))
                    if place is not None:
                        moved = opd.first_of(operand) + place[1]
                        f.set(i, at, opd.with_first(opd.with_index(operand, place[0]), moved))
                    elif same is not None:
                        f.set(i, at, opd.with_index(operand, same))
                at += 1


def _end_groups(f: Function) -> bool:
    """Let a group end with its last product; one that has none in its block gets one that makes nothing."""
    cursor = Cursor(f)
    changed = False
    b: i64 = 0
    while b < f.blocks():
        last: i64 = NONE
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if int(f.op[i]) in PRODUCTS:
                last = i
            elif f.op[i] == GROUP_END:
                changed = True
                if last == NONE:
                    cursor.in_front(i)
                    _end(cursor)
                else:
                    end_group(f, last)
                cursor.remove(i)
                last = NONE
            elif f.op[i] == WARPGROUP_DEPBAR and last != NONE:
                end_group(f, last)
                last = NONE
            i = following
        b += 1
    return changed


def _end(cursor: Cursor) -> i64:
    """End a group at the cursor, with a product that makes nothing."""
    made = cursor.make(HGMMA, _NOTHING)
    for operand in (opd.RZ_OPERAND, opd.NO_OPERAND, opd.RZ_OPERAND, opd.NO_OPERAND, opd.RZ_OPERAND, opd.NOT_PT_OPERAND):
        cursor.put(operand)
    return made


@final
class _Waits:
    """What the PTX leaves out: waits before registers under way are named, arrivals before products name registers."""

    def __init__(self, f: Function, ctx: PassContext, apart: list[int]) -> None:
        self.f = f
        self.ctx = ctx
        self.apart = set(apart)
        self.cursor = Cursor(f)

    def add(self) -> None:
        """Put them in."""
        f = self.f
        cursor = self.cursor
        entries = flights(f)
        b: i64 = 0
        while b < f.blocks():
            state = entries[b].copy()
            last: i64 = NONE  # product that belongs to no group yet
            i = f.head[b]
            while i != NONE:
                following = f.next[i]
                if state.touched_by(f, i):
                    cursor.in_front(i)
                    self._wait(state, last)
                    self._tell(GROUP_WAIT_INJECTED, i)
                    last = NONE
                state.step(f, i)
                if int(f.op[i]) in PRODUCTS:
                    last = i
                    if int(i) in self.apart:
                        cursor.behind(i)
                        self._wait(state, last)
                        last = NONE
                elif f.op[i] == WARPGROUP_DEPBAR:
                    last = NONE
                i = following
            b += 1
        self._arrive()

    def _wait(self, state: Flight, last: i64) -> None:
        """Wait for all that is under way at the cursor."""
        if state.is_open():
            if last != NONE:
                end_group(self.f, last)
            else:
                _end(self.cursor)
        self.cursor.make1(WARPGROUP_DEPBAR, opd.imm(0))
        state.results.clear()
        state.sources.clear()

    def _arrive(self) -> None:
        """An arrival in front of each product whose registers something has written since the last one."""
        f = self.f
        entries = _settled(f)
        b: i64 = 0
        while b < f.blocks():
            clean = set(entries[b])
            i = f.head[b]
            while i != NONE:
                if int(f.op[i]) in PRODUCTS and not clean.issuperset(_named(f, i)):
                    self.cursor.in_front(i)
                    self.cursor.make(WARPGROUP, _ARRIVE)
                    if int(i) not in self.apart:
                        self._tell(GROUP_ARRIVE_INJECTED, i)
                    clean = _all(f)
                _settle(f, i, clean)
                i = f.next[i]
            b += 1

    def _tell(self, text: str, i: i64) -> None:
        if self.ctx.diag is not None:
            self.ctx.diag.info(text % (line_of(self.f.line[i]), self.f.name))


def _named(f: Function, i: i64) -> list[int]:
    """The general registers of a product."""
    found = fragments(f, i)
    for at in (RESULT, ADDEND):
        operand = f.get(i, at)
        if opd.is_register(operand):
            found.append(int(operand & opd.INDEX))
    return found


def _all(f: Function) -> set[int]:
    """The general registers of all products."""
    return {register for i in _each(f) if int(f.op[i]) in PRODUCTS for register in _named(f, i)}


def _settle(f: Function, i: i64, clean: set[int], every: frozenset[int] = frozenset()) -> None:
    """Which registers are as an arrival has left them, behind an instruction."""
    if f.op[i] == WARPGROUP and f.mods[i] == _ARRIVE:
        clean |= every or _all(f)
        return
    if int(f.op[i]) in PRODUCTS:
        return
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if opd.is_register(operand) and OPS.writes_at(f.op[i], at):
            clean.discard(int(operand & opd.INDEX))
        at += 1


def _settled(f: Function) -> list[frozenset[int]]:
    """Which registers of products are so on all ways to a block."""
    graph = control_flow(f)
    every = frozenset(_all(f))
    found: list[frozenset[int]] = [every for _ in range(f.blocks())]
    found[0] = frozenset()
    work = list(range(f.blocks()))
    while work:
        b = work.pop()
        clean = set(found[b])
        i: i64 = f.head[b]
        while i != NONE:
            _settle(f, i, clean, every)
            i = f.next[i]
        e: i64 = graph.succ_start[b]
        while e < graph.succ_start[b + 1]:
            after = int(graph.succ[e])
            if not found[after] <= clean:
                found[after] = found[after] & clean
                work.append(after)
            e += 1
    return found
