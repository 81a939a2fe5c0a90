"""Words of constant banks come into registers where no operation takes them as operands.

Until this phase code for every target has such operands: passes carry them along, and copies of them (``MOV Rd, c[..][..]``), as
if they were there. Where the target has none (:mod:`oric.ir.bankwords`), each word that the code wants is loaded once, in front
of all its readers and outside of loops: into a uniform register if each reader has a form for one, else into a general register;
a word that a register gets besides other values is loaded in its place. Source: observed (what ptxas 13.0.88 makes for sm_100
and up).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import knobs
from oric_tables.op import BSYNC, LDC, LDCU, MOV

from oric.ir import operand as opd
from oric.ir.bankwords import FARTHEST, bank_of, is_far
from oric.ir.cfg import Cfg
from oric.ir.commuting import change_places, other_place
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, R2, UR, Function, R, control_flow
from oric.ir.journal import Journal
from oric.ir.legality import Legality, legality_of
from oric.ir.optable import CONTROL, OPS
from oric.ir.passes import PassContext
from oric.support.arrays import nones, zeros

from .program import tables_of

_WORD: Final = 4  # bytes
_PAIR: Final = 1 << 40  # mark of the key of a pair: bank << 20 and offset stand below


def load_bank_words(f: Function, ctx: PassContext) -> bool:
    """Phase 79: load what operations read of constant banks; returns whether there was anything."""
    legality = legality_of(ctx.target.isa_name)
    if legality.takes_words:
        return False
    pass_ = _Words(f, ctx, legality)
    pass_.find()
    if ctx.opt_level > 0:
        pass_.share()
    pass_.load_in_place()
    ctx.count("constant words loaded", pass_.loads)
    return pass_.loads != 0


@final
class _Reader:
    """A place that reads a word or pair: an instruction and the position of its operand there."""

    __slots__ = ("at", "i")

    def __init__(self, i: int, at: int) -> None:
        self.i = i
        self.at = at


@final
class _Words:
    """``value[n]``: key of the word or pair that register n holds all the time, -1 for none. Readers are a list each key."""

    def __init__(self, f: Function, ctx: PassContext, legality: Legality) -> None:
        self.f = f
        self.ctx = ctx
        self.legality = legality
        self.cursor = Cursor(f)
        self.loads: int = 0
        self.copies = vec[i64]()  # MOVs of words
        self.places = vec[i64]()  # (instruction, operand) of words in other operations
        self.defs = zeros(f.words)
        self.value = nones(len(f.reg_type))
        self.order: list[int] = []  # keys in order of the code
        self.readers: dict[int, list[_Reader]] = {}
        self.journal = Journal()
        self.reader_at: dict[tuple[int, int], _Reader] = {}
        self.wide_mods: int = _mods_of(ctx, "load_constant_u64")
        self.uniform_words: int = 0

    # -- what there is -----------------------------------------------------------------------------------

    def find(self) -> None:
        """Note where words stand, and count definitions."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                self._look(i)
                i = f.next[i]
            b += 1

    def _look(self, i: i64) -> None:
        f = self.f
        op = f.op[i]
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if OPS.writes_at(op, at):
                if opd.is_register(operand):
                    word = f.words_of(operand)
                    end = word + opd.count_of(operand)
                    while word < end:
                        self.defs[word] += 1
                        word += 1
            elif operand & opd.TYPE == opd.IS_SYMBOL and operand & opd.CONST_BANK and self.legality.is_source(op, at):
                if op == MOV:
                    self.copies = append(self.copies, i)
                else:
                    self.places = append(append(self.places, i), at)
            at += 1

    # -- words that are the same everywhere -----------------------------------------------------------------

    def share(self) -> None:
        """Load once what registers hold that get nothing else, and what stands in operations."""
        if not len(self.copies) and not len(self.places):
            return
        self._find_values()
        self._find_readers()
        graph = control_flow(self.f)
        for key in self.order:
            if not self._is_part_of_pair(key):
                self._load_once(graph, key)
        self._drop_copies()

    def _find_values(self) -> None:
        """Registers all of whose words are copied once, from neighbouring words."""
        f = self.f
        found: dict[int, int] = {}  # register -> words that fit
        at: i64 = 0
        while at < len(self.copies):
            i = self.copies[at]
            dest = f.get(i, 0)
            n = dest & opd.INDEX
            size = f.reg_size[n]
            source = f.get(i, 1)
            word = opd.first_of(dest)
            fits = not f.guard[i] and not f.mods[i] and self.defs[f.words_of(dest)] == 1 and not source & opd.SIGNS
            if fits and size <= 2 and (f.reg_type[n] == R or f.reg_type[n] == R2):
                key = _key_of(source - _WORD * word) | (_PAIR if size == 2 else 0)
                if word == 0 or self.value[n] < 0:
                    self.value[n] = key
                if self.value[n] == key and (source & opd.INDEX) >= _WORD * word:
                    found[n] = found.get(n, 0) + 1
            at += 1
        n = 0
        while n < len(self.value):
            if self.value[n] >= 0 and (found.get(n, 0) != f.reg_size[n] or (f.reg_size[n] == 2 and self.value[n] & 7)):
                self.value[n] = -1
            n += 1

    def _find_readers(self) -> None:
        """Operands that read those registers, and words in operations."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.get(i, at)
                    if opd.is_register(operand) and not OPS.writes_at(f.op[i], at):
                        value = self.value[operand & opd.INDEX]
                        if value >= 0:
                            whole = value & _PAIR and opd.count_of(operand) == 2
                            self._note(value if whole else (value & ~_PAIR) + _WORD * opd.first_of(operand), i, at)
                    at += 1
                i = f.next[i]
            b += 1
        place: i64 = 0
        left = vec[i64]()
        while place < len(self.places):
            i = self.places[place]
            at = self.places[place + 1]
            if f.guard[i] and is_far(f, i):  # nobody may come to it
                left = append(append(left, i), at)
            else:
                self._note(_key_of(f.get(i, at)), i, at)
            place += 2
        self.places = left

    def _note(self, key: int, i: int, at: int) -> None:
        known = self.readers.get(key)
        if known is None:
            known = self.readers[key] = []
            self.order.append(key)
        reader = self.reader_at[i, at] = _Reader(i, at)
        known.append(reader)

    def _is_part_of_pair(self, key: int) -> bool:
        """Whether a word is in a pair that is loaded anyhow."""
        return not key & _PAIR and key & ~7 | _PAIR in self.readers

    # -- loads -------------------------------------------------------------------------------------------

    def _load_once(self, graph: Cfg, key: int) -> None:
        """Load a word or pair for all its readers; those of the words of a pair read it, too."""
        f = self.f
        size = 2 if key & _PAIR else 1
        parts = [(self.readers[key], 0, size)]
        if size == 2:
            parts += [(self.readers.get((key & ~_PAIR) + _WORD * word, []), word, 1) for word in (0, 1)]
        readers = [(reader, first, count) for part, first, count in parts for reader in part]
        register: int = -1
        uniform = self.uniform_words + size <= f.knobs.numbers[knobs.UNIFORM_WORDS]
        if uniform:
            register = f.new_reg(UR, size)
            uniform = self._give(readers, register)
        if uniform:
            self.uniform_words += size
        else:
            register = f.new_reg(R2 if size == 2 else R, size)
            for reader, first, count in readers:
                f.set(reader.i, reader.at, opd.reg(register, first, count) | f.get(reader.i, reader.at) & opd.SIGNS)
        self._stand(graph, [reader.i for reader, _, _ in readers])
        self._make(opd.reg(register, 0, size), key, uniform)

    def _give(self, readers: list[tuple[_Reader, int, int]], register: int) -> bool:
        """Let all readers read a uniform register; False, and nothing changed, when one has no form for it."""
        f = self.f
        mark = self.journal.count
        before: list[tuple[_Reader, int]] = []
        for reader, first, count in readers:
            before.append((reader, reader.at))
            self.journal.keep(f, reader.i)
            if not self._read_uniform(reader, opd.reg(register, first, count)):
                break
        else:
            self.journal.count = mark
            return True
        self.journal.roll_back_code(f, mark)
        for reader, at in reversed(before):
            self._move(reader, at)
        return False

    def _read_uniform(self, reader: _Reader, new: int) -> bool:
        """Let a reader read a uniform register, in its place or in that of a source which can change places with it. What
        :meth:`_give` takes back when it fails may be half done."""
        f, legality = self.f, self.legality
        i: i64 = reader.i
        at: i64 = reader.at
        op = f.op[i]
        old = f.get(i, at)
        if not legality.is_source(op, at) or legality.halves[op]:
            return False
        f.set(i, at, new | old & opd.SIGNS)
        if legality.takes_with(f, i, at, f.get(i, at)):
            return True
        f.set(i, at, old)
        other = other_place(f, legality, i, at, new) if opd.count_of(old) == 1 else -1
        if other < 0:
            return False
        f.set(i, at, new | old & opd.SIGNS)
        change_places(f, i, at, other)
        self._move(reader, other)
        return legality.takes_with(f, i, other, f.get(i, other))

    def _move(self, reader: _Reader, at: int) -> None:
        """A reader has changed places with what is read at another position."""
        i, before = reader.i, reader.at
        if at == before:
            return
        other = self.reader_at.pop((i, at), None)
        self.reader_at[i, at] = reader
        reader.at = at
        if other is None:
            del self.reader_at[i, before]
        else:
            self.reader_at[i, before] = other
            other.at = before

    def _stand(self, graph: Cfg, readers: list[int]) -> None:
        """Put the cursor where a load for the readers stands: in front of all of them, in no loop if that can be."""
        f, inside = self.f, set(readers)
        block = f.block[readers[0]]
        if graph.number[block] >= 0:
            idom = graph.idom()
            for i in readers:
                other = f.block[i]
                while graph.number[other] >= 0 and not graph.dominates(block, other):
                    block = idom[block]
            loops = graph.loops()
            while block != 0 and (loops.depth[block] > 0 or self._meets(block, inside)):
                block = idom[block]
        i = self._first(block, inside)
        if i != NONE:
            self.cursor.in_front(i)
        else:
            self.cursor.at_end(block)

    def _first(self, block: i64, readers: set[int]) -> i64:
        """The first instruction of a block that reads the word or leads away, ``NONE``: there is none."""
        f = self.f
        i = f.head[block]
        while i != NONE and i not in readers and not OPS.flags[f.op[i]] & CONTROL and f.op[i] != BSYNC:
            i = f.next[i]
        return i

    def _meets(self, block: i64, readers: set[int]) -> bool:
        """Whether threads wait for one another in front of the readers: where they go on nothing may stand in front of."""
        i = self._first(block, readers)
        return i != NONE and self.f.op[i] == BSYNC

    def _make(self, dest: int, key: int, uniform: bool, guard: i64 = 0) -> None:
        """A load in front of the cursor; one that is not uniform may have a guard."""
        bank = opd.const_bank(key >> 20 & 0xF, 0)
        offset: int = key & opd.INDEX
        mods = self.wide_mods if key & _PAIR else 0
        self.loads += 1
        if uniform:
            if key & _PAIR:
                mods = self.uniform_wide_mods()
            self.cursor.make4(LDCU, dest, opd.RZ_OPERAND, bank, self.f.imm(offset), mods)
            return
        base, offset = self._base(offset)
        self.cursor.make4(LDC, dest, base, bank, self.f.imm(offset), mods, guard)

    def uniform_wide_mods(self) -> int:
        """The modifiers of LDCU.64."""
        return _mods_of(self.ctx, "load_descriptor")

    def _base(self, offset: int) -> tuple[int, int]:
        """Base register and offset of a place in a bank."""
        if offset < FARTHEST:
            return opd.RZ_OPERAND, offset
        base = opd.reg(self.f.new_reg(R))
        self.cursor.make2(MOV, base, self.f.imm(offset))
        return base, 0

    # -- words that are loaded in their place -----------------------------------------------------------------

    def load_in_place(self) -> None:
        """Make loads of the copies that are left, and load what stands in operations in front of them."""
        f = self.f
        cursor = self.cursor
        at: i64 = 0
        while at < len(self.copies):
            i = self.copies[at]
            at += 1
            if f.block[i] == NONE:
                continue
            source = f.get(i, 1)
            cursor.in_front(i)
            base, offset = self._base(source & opd.INDEX)
            cursor.rewrite(i, LDC, 0, 4)
            f.set(i, 1, base)
            f.set(i, 2, bank_of(source))
            f.set(i, 3, f.imm(offset))
            self.loads += 1
        at = 0
        while at < len(self.places):
            i = self.places[at]
            place = self.places[at + 1]
            at += 2
            operand = f.get(i, place)
            cursor.in_front(i)
            register = opd.reg(f.new_reg(R))
            guard = f.guard[i] if is_far(f, i) else 0
            self._make(register, _key_of(operand), False, guard)
            f.set(i, place, register | operand & opd.SIGNS)

    def _drop_copies(self) -> None:
        """Take out the copies whose registers nobody reads any more."""
        f = self.f
        at: i64 = 0
        while at < len(self.copies):
            i = self.copies[at]
            if self.value[f.get(i, 0) & opd.INDEX] >= 0:
                self.cursor.remove(i)
            at += 1


def _key_of(operand: i64) -> int:
    """Bank and offset of a word as one number."""
    return opd.aux_of(operand) << 20 | operand & opd.INDEX


def _mods_of(ctx: PassContext, template: str) -> int:
    """The modifiers of the first line of a template."""
    tables = tables_of(ctx.target.name)
    first: i64 = tables.template(template).first
    return tables.mods[first]
