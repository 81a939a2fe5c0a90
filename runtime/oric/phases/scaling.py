"""Phase 60: addresses of shared memory that are shifted words take the word and a scale.

An access of shared memory can multiply its register by 4, 8 or 16, so that the shift in front of it is not needed. Sums, masks
and products between a shift and the accesses are made of the smaller numbers, too, where nothing else reads them, and numbers in
them go into the offsets. It is done where a shift or a sum is saved by it. The product wraps around at 32 bits as the shift does.
Source: observed (ptxas 13.0.88 scales words whose highest bits are set, too, and does it on sm_75 to sm_89).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_rules.matchers import ABSENT, BASE, OFFSET
from oric_tables import ops
from oric_tables.op import IADD3, IMAD, LEA, LOP3, MOV, SHF

from oric.ir import operand as opd
from oric.ir.conditions import reachable, signed
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import AUX_MBARRIER, NONE, Function
from oric.ir.passes import PassContext

from .cleanup import remove_dead_code
from .makers import makers_of
from .multiples import LEFT, Multiple, Multiples

_FEATURE: Final = "scaled_addresses"
_LEA_SHIFT: Final = ops.op(LEA).mods["shift"]
_SCALES: Final = {op.number: op.mods["scale"] for op in ops.OPS if op is not None and "scale" in op.mods}
_LEAST, _MOST = 2, 4  # what words can be shifted by: scales of 4, 8 and 16


def scale_addresses(f: Function, ctx: PassContext) -> bool:
    """Returns whether any addresses are scaled now."""
    if f.for_debugger or _FEATURE not in ctx.target.features:
        return False
    users = _accesses(f)
    if not users:
        return False
    made = _Scaling(f, users).run()
    ctx.count("accesses with a scaled address", made)
    if made:
        remove_dead_code(f, ctx)
    return made != 0


def _accesses(f: Function) -> dict[int, list[int]]:
    """The accesses that can scale their register, by the word that it is."""
    found: dict[int, list[int]] = {}
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] in _SCALES and _takes(f, i):
                found.setdefault(int(f.words_of(f.get(i, BASE[f.op[i]] - 1))), []).append(int(i))
            i = f.next[i]
        b += 1
    return found


def _takes(f: Function, i: i64) -> bool:
    op = f.op[i]
    if BASE[op] <= 0 or f.aux[i] & AUX_MBARRIER:
        return False
    base, offset, scale = f.get(i, BASE[op] - 1), f.get(i, OFFSET[op]), _SCALES[op]
    if f.mods[i] >> scale.shift & scale.mask or not opd.is_register(base) or base & opd.SIGNS or opd.count_of(base) != 1:
        return False
    if ABSENT[op] >= 0 and not is_absent(f.get(i, ABSENT[op])):
        return False
    if is_absent(offset) or offset & opd.TYPE not in (opd.IS_IMM, opd.IS_POOL):
        return False
    return offset & opd.TYPE == opd.IS_IMM or not 0 <= f.imm_value(offset) <= opd.INDEX  # a place that is told later


@final
class _Group:
    """Sums and masks that read each other, which change together or not at all; ``leaves``: shifts that they read, how often;
    ``longer``: those by more than ``amount``, which stay and shift by less; ``worth``: something is saved."""

    __slots__ = ("amount", "bad", "leaves", "longer", "members", "worth")

    def __init__(self) -> None:
        self.members: list[Multiple] = []
        self.leaves: dict[int, int] = {}
        self.longer: list[Multiple] = []
        self.amount: int = 0
        self.bad = False
        self.worth = False


@final
class _Scaling:
    def __init__(self, f: Function, users: dict[int, list[int]]) -> None:
        self.f = f
        self.users = users
        self.cursor = Cursor(f)
        self.makers = makers_of(f)
        self.known = Multiples(f, self.makers)
        self.claimed: dict[int, int] = {}  # word -> how many reads of it are by accesses and by sums and masks
        self.group: dict[int, _Group] = {}  # by word, of all but leaves

    def run(self) -> int:
        """Returns how many accesses have a scale now."""
        self.known.find()
        groups = self._groups()
        for group in groups:
            self._judge(group)
        saved = self._saved(groups)
        changed = 0
        for group in groups:
            if group.worth and not group.bad:
                for leaf in group.longer:
                    self._shorten(leaf, group.amount)
                for one in group.members:
                    self._divide(one, group)
                    changed += self._scale(one, int(opd.NO_OPERAND), group.amount)
        for leaf in saved:
            changed += self._scale(leaf, leaf.smaller, leaf.amount)
        return changed

    # -- which ------------------------------------------------------------------------------------------

    def _groups(self) -> list[_Group]:
        """Put together what reads each other: a sum joins the groups of its terms, the smaller ones go into the largest."""
        groups: list[_Group] = []
        for one in self.known.order:
            word = one.word
            self.claimed[word] = self.claimed.get(word, 0) + len(self.users.get(word, []))
            if one.smaller != opd.NO_OPERAND:
                continue
            group = _Group()
            groups.append(group)
            group.members.append(one)
            self.group[word] = group
            for term in one.terms:
                self.claimed[term] += 1
                if term in self.group:
                    group = self._united(group, self.group[term])
                else:
                    group.leaves[term] = group.leaves.get(term, 0) + 1
        return [group for group in groups if group.members]

    def _united(self, one: _Group, other: _Group) -> _Group:
        if one is other:
            return one
        if len(one.members) > len(other.members):
            one, other = other, one
        for member in one.members:
            self.group[member.word] = other
        other.members += one.members
        for leaf, count in one.leaves.items():
            other.leaves[leaf] = other.leaves.get(leaf, 0) + count
        one.members = []
        return other

    def _judge(self, group: _Group) -> None:
        """Whether a group can change: nothing else reads its members, and shifted words are there where they are read."""
        known = self.known.of
        group.amount = min(one.amount for one in group.members)
        group.bad = not _LEAST <= group.amount <= _MOST
        for word, count in group.leaves.items():
            if known[word].amount > group.amount:
                group.longer.append(known[word])
                group.bad |= count != self.makers.read[word]
        for one in group.members:
            if group.bad:
                return
            group.bad = self.claimed[one.word] != self.makers.read[one.word] or not self._reach(one)
            for term in one.terms:
                if term in group.leaves and known[term].amount == group.amount:
                    group.bad |= not self._is_there(known[term], one.at)
            group.worth |= self.f.op[one.at] == IADD3 and len(one.terms) == 1

    def _reach(self, one: Multiple) -> bool:
        """Whether the offsets of all accesses of a word can hold its number as well."""
        f = self.f
        return all(reachable(one.number, f.imm_value(f.get(i, OFFSET[f.op[i]]))) for i in self.users.get(one.word, []))

    def _saved(self, groups: list[_Group]) -> list[Multiple]:
        """The shifts that nothing reads any more; groups without one are not worth it."""
        reads: dict[int, int] = {}  # leaf -> how many of its reads end
        for group in groups:
            if not group.bad:
                for leaf, count in group.leaves.items():
                    if self.known.of[leaf].amount == group.amount:
                        reads[leaf] = reads.get(leaf, 0) + count
        saved: list[Multiple] = []
        for one in reversed(self.known.order):  # copies in front of what they copy
            if one.smaller != opd.NO_OPERAND and _LEAST <= one.amount <= _MOST and self._ends(one, reads.get(one.word, 0)):
                saved.append(one)
                if one.copied >= 0:
                    reads[one.copied] = reads.get(one.copied, 0) + 1
        words = {one.word for one in saved}
        for group in groups:
            for leaf in group.leaves:
                group.worth |= leaf in words
        return saved

    def _ends(self, leaf: Multiple, others: int) -> bool:
        """Whether accesses that can take the word itself, and ``others``, are all that reads a shifted word."""
        users = self.users.get(leaf.word, [])
        if len(users) + others != self.makers.read[leaf.word] or not self._reach(leaf):
            return False
        return len(users) + others > 0 and all(self._is_there(leaf, i) for i in users)

    def _is_there(self, leaf: Multiple, i: i64) -> bool:
        """Whether a word is, where its shifted word is read, what was shifted."""
        return self.makers.reaches(leaf.at, i) and self.makers.is_settled(leaf.smaller, i)

    # -- code -------------------------------------------------------------------------------------------

    def _scale(self, one: Multiple, register: i64, amount: i64) -> int:
        """Let the accesses of a word scale it, or ``register`` in its place; returns how many they are."""
        f = self.f
        users = self.users.get(one.word, [])
        for i in users:
            op = f.op[i]
            scale, offset = _SCALES[op], OFFSET[op]
            if register != opd.NO_OPERAND:
                f.set(i, BASE[op] - 1, register)
            f.set(i, offset, f.imm(signed(signed(f.imm_value(f.get(i, offset))) + signed(one.number))))
            f.set_mods(i, f.mods[i] | scale.values[f"X{1 << amount}"] << scale.shift)
        return len(users)

    def _divide(self, one: Multiple, group: _Group) -> None:
        """Let an instruction make the smaller number, of smaller numbers."""
        f, i = self.f, one.at
        op = f.op[i]
        at: i64 = 1
        while at < f.count[i] and at <= 3:
            operand = f.get(i, at)
            if opd.is_register(operand) and self._is_term(one, i, at):
                word = int(f.words_of(operand))
                if word in group.leaves and self.known.of[word].amount == group.amount:
                    f.set(i, at, self.known.of[word].smaller)
            elif op == IADD3:
                f.set(i, at, opd.RZ_OPERAND)
            elif (
                (op == IMAD or op == LOP3)
                and not opd.is_register(operand)
                and operand != opd.RZ_OPERAND
                and not is_absent(operand)
            ):
                f.set(i, at, f.imm(self.known.number(operand) >> group.amount))
            at += 1
        if op == LEA:
            self._divide_shift(i, group.amount)
        elif op == IADD3 and len(one.terms) == 1:
            self._copy(i)
        f.code_epoch += 1

    def _shorten(self, leaf: Multiple, amount: int) -> None:
        """Let a shift be by less: its number, if it has one, is in the offsets."""
        self.cursor.rewrite(leaf.at, SHF, LEFT, 4)
        self.f.set(leaf.at, 1, leaf.smaller)
        self.f.set(leaf.at, 2, self.f.imm(leaf.amount - amount))
        self.f.set(leaf.at, 3, opd.RZ_OPERAND)

    def _is_term(self, one: Multiple, i: i64, at: i64) -> bool:
        """Whether an operand is one of the terms: the first ones of products and of LEA are read as they are."""
        op = self.f.op[i]
        return (op == IADD3 or op == LOP3) or (op == IMAD and at == 3) or (op == LEA and at == 2)

    def _divide_shift(self, i: i64, amount: i64) -> None:
        f = self.f
        left = (f.mods[i] >> _LEA_SHIFT.shift & _LEA_SHIFT.mask) - amount
        if left:
            f.set_mods(i, f.mods[i] & ~(_LEA_SHIFT.mask << _LEA_SHIFT.shift) | left << _LEA_SHIFT.shift)
            return
        a, b = f.get(i, 1), f.get(i, 2)
        self.cursor.rewrite(i, IADD3, 0, 4)
        f.set(i, 1, a)
        f.set(i, 2, b)
        f.set(i, 3, opd.RZ_OPERAND)

    def _copy(self, i: i64) -> None:
        """A sum of one term."""
        f = self.f
        source: i64 = opd.RZ_OPERAND
        at: i64 = 1
        while at <= 3:
            if f.get(i, at) != opd.RZ_OPERAND:
                source = f.get(i, at)
            at += 1
        self.cursor.rewrite(i, MOV, 0, 2)
        f.set(i, 1, source)
