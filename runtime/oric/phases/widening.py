"""Phase 56: accesses of neighbours in shared or local memory become one, of 8 or 16 bytes.

They are in one block, name the same register and are weak (a volatile, relaxed or ordered access stays what it is), and the
address of the whole is known to be a multiple of its size. What a wide access reads it reads at the place of the first, what it
writes at that of the last: nothing between these may order memory, and nothing may access the same bytes in a way that would
see the difference. The memory model takes an access of several elements as one of each, in any order. Source: PTX ISA, "Memory
Consistency Model", "Vector Data-types"; observed (ptxas 13.0.88, which does it for these two spaces, not for global memory).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_rules.matchers import ABSENT, BASE, DEFAULT, OFFSET
from oric_tables import knobs, ops
from oric_tables.op import MOV

from oric.ir import operand as opd
from oric.ir.conditions import in_reach, signed
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import AUX_VOLATILE, NONE, Function, R
from oric.ir.optable import (
    ATOMIC,
    BARRIER,
    CALL,
    CONSTANT,
    CONTROL,
    CONVERGENCE,
    FENCE,
    GLOBAL,
    LOAD,
    LOCAL,
    OPS,
    SHARED,
    SIDE_EFFECT,
    STORE,
    WARP,
    WIDE,
    written_registers,
)
from oric.ir.passes import PassContext

from .lowbits import LowBits

_ORDERS: Final = ATOMIC | BARRIER | CALL | CONTROL | CONVERGENCE | FENCE | SIDE_EFFECT | WARP
_SPACES: Final = SHARED | LOCAL
WORD: Final = 4  # bytes
_BYTES: Final = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
SIZES: Final = {1: "32", 2: "64", 4: "128"}  # by words
_MOST: Final = 16  # bytes of an access
_MOST_CALLED: Final = 8  # ... where callers need not align the stack: four registers that wait there want it aligned


def widen_accesses(f: Function, ctx: PassContext) -> bool:
    """Returns whether any accesses became one."""
    if f.for_debugger:
        return False
    made = _Widening(f, ctx.target.bank0_stack).run()
    ctx.count("accesses of neighbours in one", made)
    return made != 0


@final
class _Access:
    """An instruction that accesses ``size`` bytes ``offset`` behind its register; ``place``: where it is in its block."""

    __slots__ = ("i", "offset", "place", "size")

    def __init__(self, i: int, place: int, offset: int, size: int) -> None:
        self.i = i
        self.place = place
        self.offset = offset
        self.size = size

    def meets(self, other: _Access) -> bool:
        """Whether two accesses of the same register have a byte in common."""
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@final
class _Group:
    """Accesses of one kind from one register that may be made together; ``stored``: stores between, for loads."""

    __slots__ = ("base", "members", "stored")

    def __init__(self, base: int) -> None:
        self.base = base
        self.members: list[_Access] = []
        self.stored: list[_Access] = []


_Groups = dict[int, _Group]  # by the operand of the register


@final
class _Widening:
    def __init__(self, f: Function, stack: i64) -> None:
        self.f = f
        self.stack: int = stack
        self.cursor = Cursor(f)
        self.bits: LowBits | None = None  # made when it is asked for
        self.most = _MOST if f.is_entry else _MOST_CALLED
        self.loads: dict[int, _Groups] = {SHARED: {}, LOCAL: {}}  # by space
        self.stores: dict[int, _Groups] = {SHARED: {}, LOCAL: {}}
        self.found: list[list[_Access]] = []  # what becomes one

    def run(self) -> int:
        """Returns how many accesses are no longer made."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            if self._has_two(b):
                place = 0
                i = f.head[b]
                while i != NONE:
                    self._visit(i, place)
                    place += 1
                    i = f.next[i]
                self._end_all()
            b += 1
        for members in self.found:
            self._join(members)
        return sum(len(members) - 1 for members in self.found)

    # -- which ------------------------------------------------------------------------------------------

    def _has_two(self, b: i64) -> bool:
        """Whether a block has two accesses that might be made together: most have not."""
        f = self.f
        found = 0
        i = f.head[b]
        while i != NONE:
            flags = OPS.flags[f.op[i]]
            if flags & _SPACES and flags & WIDE and flags & (LOAD | STORE):
                found += 1
                if found == 2:
                    return True
            i = f.next[i]
        return False

    def _visit(self, i: i64, place: int) -> None:
        f = self.f
        flags = OPS.flags[f.op[i]]
        if flags & _ORDERS or f.aux[i] & AUX_VOLATILE or OPS.is_strong(f, i):
            self._end_all()
        elif flags & (LOAD | STORE) and not flags & (CONSTANT | GLOBAL):
            access = self._access(i, place) if flags & WIDE else None
            if access is not None and flags & STORE:
                self._store(int(flags & _SPACES), int(f.get(i, BASE[f.op[i]] - 1)), access)
            elif access is not None:
                self._load(int(flags & _SPACES), int(f.get(i, BASE[f.op[i]] - 1)), access)
            else:
                for space in (SHARED, LOCAL):
                    if flags & space or not flags & _SPACES:
                        self._end_others(self.stores[space], opd.NO_OPERAND)
                        if flags & STORE:
                            self._end_others(self.loads[space], opd.NO_OPERAND)
        if self.loads[SHARED] or self.loads[LOCAL] or self.stores[SHARED] or self.stores[LOCAL]:
            self._end_changed(i)

    def _access(self, i: i64, place: int) -> _Access | None:
        """An access at a known distance from a register, that every thread makes that comes by."""
        f = self.f
        op = f.op[i]
        base, offset = f.get(i, BASE[op] - 1), f.get(i, OFFSET[op])
        if f.guard[i] or f.mods[i] & DEFAULT[op] or base & opd.SIGNS or base & opd.TYPE != opd.IS_REG:
            return None
        if ABSENT[op] >= 0 and not is_absent(f.get(i, ABSENT[op])):
            return None
        if is_absent(offset) or offset & opd.TYPE not in (opd.IS_IMM, opd.IS_POOL):
            return None
        size = _BYTES.get(str(ops.op(op).unpack(f.mods[i])["size"]), 0)
        return _Access(int(i), place, int(signed(f.imm_value(offset))), size) if size else None

    def _load(self, space: int, base: int, access: _Access) -> None:
        stores = self.stores[space]
        self._end_others(stores, base)
        if base in stores and any(m.meets(access) for m in stores[base].members):
            self._end_group(stores, base)
        group = self._group(self.loads[space], base, access)
        if any(stored.meets(access) for stored in group.stored):
            self._end_group(self.loads[space], base)
            group = self._group(self.loads[space], base, access)
        if access.size >= WORD and not any(m.meets(access) for m in group.members):
            group.members.append(access)

    def _store(self, space: int, base: int, access: _Access) -> None:
        loads, stores = self.loads[space], self.stores[space]
        self._end_others(loads, base)
        self._end_others(stores, base)
        if base in loads:
            loads[base].stored.append(access)
        group = self._group(stores, base, access)
        if any(m.meets(access) for m in group.members):
            self._end_group(stores, base)
            group = self._group(stores, base, access)
        if access.size >= WORD:
            group.members.append(access)

    def _group(self, groups: _Groups, base: int, access: _Access) -> _Group:
        """The group of a register; a new one where the old one began too far in front of an access."""
        group = groups.get(base)
        if group is not None and group.members and access.place - group.members[0].place > self.f.knobs.numbers[knobs.WIDE_LOOK]:
            self._end_group(groups, base)
            group = None
        if group is None:
            group = groups[base] = _Group(base)
        return group

    def _end_changed(self, i: i64) -> None:
        """End the groups of registers that an instruction writes."""
        for operand in written_registers(self.f, i):
            for n in range(opd.count_of(operand)):
                word = int(opd.word(operand, n))
                for groups in (*self.loads.values(), *self.stores.values()):
                    if word in groups:
                        self._end_group(groups, word)

    def _end_others(self, groups: _Groups, base: int) -> None:
        """End all groups but that of a register, whose bytes are told apart by offsets."""
        for other in list(groups):
            if other != base:
                self._end_group(groups, other)

    def _end_all(self) -> None:
        for groups in (*self.loads.values(), *self.stores.values()):
            self._end_others(groups, opd.NO_OPERAND)

    def _end_group(self, groups: _Groups, base: int) -> None:
        """Find what of a group can be made together; it takes no more."""
        group = groups.pop(base)
        if len(group.members) < 2:
            return
        if self.bits is None:
            self.bits = LowBits(self.f, self.stack)
        members = sorted(group.members, key=lambda m: m.offset)
        at = 0
        while at < len(members):
            run = self._run(members, at, base)
            if len(run) > 1:
                self.found.append(run)
            at += len(run)

    def _run(self, members: list[_Access], at: int, base: int) -> list[_Access]:
        """As many of the accesses from one on as can be one: they fill the whole without a gap."""
        assert self.bits is not None
        first = members[at]
        size = min(int(self.bits.alignment(base, first.offset)), self.most)
        while size > first.size:
            run = [first]
            end = first.offset + first.size
            while end < first.offset + size and at + len(run) < len(members) and members[at + len(run)].offset == end:
                run.append(members[at + len(run)])
                end += run[-1].size
            if end == first.offset + size and in_reach(first.offset):
                return run
            size //= 2
        return [first]

    # -- code -------------------------------------------------------------------------------------------

    def _join(self, members: list[_Access]) -> None:
        """Let one access do what several do, which become copies of its words."""
        f = self.f
        words = sum(m.size for m in members) // WORD
        op = f.op[members[0].i]
        is_load = OPS.flags[op] & LOAD != 0
        wanted = data_operand(op)
        last = max(members, key=lambda m: m.place)
        if not is_load and all(f.get(m.i, wanted) == opd.RZ_OPERAND for m in members):
            whole: i64 = opd.RZ_OPERAND
        else:
            whole = opd.reg(f.new_reg(R, words), 0, words)
        if is_load:
            self.cursor.in_front(min(members, key=lambda m: m.place).i)
        else:
            self.cursor.behind(last.i)
        made = self.cursor.clone(members[0].i)
        names = ops.op(op).unpack(f.mods[made])
        names["size"] = SIZES[words]
        f.set_mods(made, ops.op(op).pack(**names))
        f.set(made, wanted, whole)
        first = 0
        for m in members:
            count = m.size // WORD
            data = f.get(m.i, wanted)
            self.cursor.in_front(m.i)
            for n in range(count if whole != opd.RZ_OPERAND else 0):
                part = opd.reg(whole & opd.INDEX, first + n)
                other = opd.word(data, n) if data & opd.INDEX != opd.RZ else opd.RZ_OPERAND
                if not is_load:
                    self.cursor.make2(MOV, part, other)
                elif other != opd.RZ_OPERAND:
                    self.cursor.make2(MOV, other, part)
            first += count
            self.cursor.remove(m.i)


def data_operand(op: i64) -> i64:
    """The operand that a load writes, or that a store reads: the one whose size the modifier ``size`` says."""
    operands = ops.op(op).operands
    return next(n for n, operand in enumerate(operands) if not isinstance(operand.regs, int))
