"""Contraction: a product and a sum that nobody says how to round become one fused operation, which rounds once.

The lowering rules mark the products and sums that may be fused (``AUX_CONTRACT``); which operations belong together, and which of
their modifiers, stands under ``contract`` in ``spec/rewrites``. A product is fused where it is not guarded and all of its readers
are sums of the same block that it can be fused with, so that it is not computed twice. Where both sources of a sum are
products, one of them is fused:

1. products with one reader first: sum by sum, the first source before the second;
2. then, sum by sum, the product with fewer readers, of two that have as many the first source. What has become the addend of a
   fused operation stays a product, and is fused nowhere from then on.

A factor that is written again before the sum is copied in front of the product. Source: observed, what ptxas 13.0.88 fuses: its
choice on random sums of products is this one.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import MOV
from oric_tables.rewrites import CONTRACT_FIRST, CONTRACT_FUSED, CONTRACT_PRODUCT, CONTRACT_ROLE, CONTRACT_VALUES

from oric.ir import legality as legal
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.dataflow import DataFlow
from oric.ir.function import AUX_CONTRACT, NONE, R2, Function, R, control_flow
from oric.ir.legality import Legality, legality_of
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.support.arrays import nones, zeros

_PRODUCT: Final = 1
_SUM: Final = 2
_VALUES: Final = 5  # numbers of a row of CONTRACT_VALUES
_NO_WAY: Final = -1
_ONCE: Final = 1
_READ_FIRST: Final = 1  # of a word in a block
_WRITTEN_FIRST: Final = 2


def contract_products(f: Function, ctx: PassContext) -> bool:
    """Phase 17: fuse products with their sums where the options allow it, and take the marks away."""
    fused: i64 = 0
    if ctx.contract and _has_products(f):
        work = _Contraction(f, legality_of(ctx.target.isa_name))
        work.run()
        fused = work.fused
        ctx.count("products that were fused", fused)
    _clear(f)
    return fused != 0


def _has_products(f: Function) -> bool:
    i: i64 = 0
    while i < f.instructions():
        if f.aux[i] & AUX_CONTRACT and CONTRACT_ROLE[f.op[i]] == _PRODUCT:
            return True
        i += 1
    return False


def _clear(f: Function) -> None:
    i: i64 = 0
    while i < f.instructions():
        f.aux[i] &= ~AUX_CONTRACT
        i += 1


def _modifiers(f: Function, product: i64, total: i64) -> i64:
    """The modifiers of what a product and a sum become, ``_NO_WAY`` when they cannot be fused."""
    op = f.op[total]
    if CONTRACT_PRODUCT[op] != f.op[product]:
        return _NO_WAY
    left = f.mods[product]
    rest = f.mods[total]
    made: i64 = 0
    at = CONTRACT_FIRST[op]
    while at < CONTRACT_FIRST[op + 1]:
        if left & CONTRACT_VALUES[at] == CONTRACT_VALUES[at + 1] and rest & CONTRACT_VALUES[at + 2] == CONTRACT_VALUES[at + 3]:
            left &= ~CONTRACT_VALUES[at]
            rest &= ~CONTRACT_VALUES[at + 2]
            made |= CONTRACT_VALUES[at + 4]
        at += _VALUES
    return made if left == 0 and rest == 0 else _NO_WAY


@final
class _Contraction:
    """The products and sums of one function.

    Product p: ``insn[p]``; ``since[p]``: its place; ``readers[p]``: how many sums read it; ``spoilt[p]``: something else does, or
    did when a sum was fused that it is the addend of; ``left[p]``: sums that still read it.
    Word w: ``at_hand[w]``: the product that it holds at this point of the block, ``NONE`` for anything else; ``written[w]``:
    place of its last writer; ``reads[w]``, ``writers[w]``: in the whole function; ``order[w]``: what comes first in a block.
    Sum s: ``total[s]``, and the products that are its sources, ``first[s]`` and ``second[s]``; ``stale_first[s]``,
    ``stale_second[s]``: bit n where source n of that product is written in between; ``done[s]``: fused. Places are counted on.
    """

    def __init__(self, f: Function, legality: Legality) -> None:
        self.f = f
        self.legality = legality
        self.cursor = Cursor(f)
        self.fused: int = 0
        self.place: int = 0
        self.insn = vec[i64]()
        self.since = vec[i64]()
        self.readers = vec[i64]()
        self.left = vec[i64]()
        self.spoilt = vec[i64]()
        self.total = vec[i64]()
        self.first = vec[i64]()
        self.second = vec[i64]()
        self.stale_first = vec[i64]()
        self.stale_second = vec[i64]()
        self.done = vec[i64]()
        self.at_hand = nones(f.words)
        self.written = zeros(f.words)
        self.reads = zeros(f.words)
        self.writers = zeros(f.words)
        self.order = zeros(f.words)
        self.live: DataFlow | None = None

    def run(self) -> None:
        """Look at every block."""
        f = self.f
        self._count()
        b: i64 = 0
        while b < f.blocks():
            self._read_block(b)
            self._choose()
            b += 1

    def _count(self) -> None:
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                mask = OPS.writes[f.op[i]]
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.operand[f.first[i] + at]
                    if opd.is_register(operand):
                        word = f.words_of(operand)
                        end = word + opd.count_of(operand)
                        while word < end:
                            if mask >> at & 1:
                                self.writers[word] += 1
                            else:
                                self.reads[word] += 1
                            word += 1
                    at += 1
                i = f.next[i]
            b += 1

    # -- a block -----------------------------------------------------------------------------------------

    def _read_block(self, b: i64) -> None:
        """Find the products and sums of a block, and who reads the products."""
        f = self.f
        self.insn, self.since = vec[i64](), vec[i64]()
        self.readers, self.left, self.spoilt = vec[i64](), vec[i64](), vec[i64]()
        self.total, self.first, self.second, self.done = vec[i64](), vec[i64](), vec[i64](), vec[i64]()
        self.stale_first, self.stale_second = vec[i64](), vec[i64]()
        i = f.head[b]
        while i != NONE:
            self.place += 1
            self._read_sources(i)
            self._note_results(i)
            i = f.next[i]
        p: i64 = 0
        while p < len(self.insn):
            word = f.words_of(f.get(self.insn[p], 0))
            end = word + opd.count_of(f.get(self.insn[p], 0))
            while word < end:
                if self.at_hand[word] == p:
                    if self._leaves(b, word, p):
                        self.spoilt[p] = 1
                    self.at_hand[word] = NONE
                word += 1
            p += 1

    def _read_sources(self, i: i64) -> None:
        f = self.f
        is_sum = f.aux[i] & AUX_CONTRACT != 0 and CONTRACT_ROLE[f.op[i]] == _SUM
        found: i64 = 0
        if is_sum:
            first, second = self._product_of(i, 1), self._product_of(i, 2)
            if first != NONE and second != NONE and self._equal(self.insn[first], self.insn[second]):
                self.spoilt[first] = 1
                self.spoilt[second] = 1
                first, second = NONE, NONE
            found = (2 if first != NONE else 0) | (4 if second != NONE else 0)
            if found:
                self.total = append(self.total, i)
                self.first = append(self.first, first)
                self.second = append(self.second, second)
                self.stale_first = append(self.stale_first, self._stale(first))
                self.stale_second = append(self.stale_second, self._stale(second))
                self.done = append(self.done, 0)
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if not (mask | found) >> at & 1 and opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    if self.at_hand[word] != NONE:
                        self.spoilt[self.at_hand[word]] = 1
                    word += 1
            at += 1

    def _product_of(self, i: i64, at: i64) -> i64:
        """The product that a source of a sum is and that may be fused with it, which gets one more reader; or ``NONE``."""
        f = self.f
        operand = f.get(i, at)
        if not opd.is_register(operand) or operand & (opd.ABSOLUTE | opd.COMPLEMENT):
            return NONE
        p = self.at_hand[f.words_of(operand)]
        if p == NONE or operand & ~opd.NEGATE != f.get(self.insn[p], 0) or _modifiers(f, self.insn[p], i) == _NO_WAY:
            return NONE
        self.readers[p] += 1
        self.left[p] += 1
        return p

    def _equal(self, one: i64, other: i64) -> bool:
        """Whether two products have the same factors: their sum is twice the one, which nothing is gained by fusing."""
        f = self.f
        if one == other:
            return True
        a, b = f.get(one, 1), f.get(one, 2)
        c, d = f.get(other, 1), f.get(other, 2)
        return f.mods[one] == f.mods[other] and ((a == c and b == d) or (a == d and b == c))

    def _note_results(self, i: i64) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    if f.guard[i] and self.at_hand[word] != NONE:
                        self.spoilt[self.at_hand[word]] = 1  # what is read from here on may still be the product
                    self.at_hand[word] = NONE
                    self.written[word] = self.place
                    word += 1
            at += 1
        dest = f.get(i, 0)
        if f.aux[i] & AUX_CONTRACT and CONTRACT_ROLE[f.op[i]] == _PRODUCT and not f.guard[i] and opd.is_register(dest):
            word = f.words_of(dest)
            end = word + opd.count_of(dest)
            while word < end:
                self.at_hand[word] = len(self.insn)
                word += 1
            self.insn = append(self.insn, i)
            self.since = append(self.since, self.place)
            self.readers = append(self.readers, 0)
            self.left = append(self.left, 0)
            self.spoilt = append(self.spoilt, 0)

    # -- what lives behind a block -----------------------------------------------------------------------

    def _leaves(self, b: i64, word: i64, p: i64) -> bool:
        """Whether somebody else may read a product that is still there at the end of its block."""
        if self.reads[word] == self.readers[p]:
            return False
        if self.writers[word] == _ONCE:
            return True
        if self.live is None:
            self.live = self._liveness()
        return self.live.in_front(b, word)

    def _liveness(self) -> DataFlow:
        f = self.f
        live = DataFlow(control_flow(f), f.words, backward=True)
        b: i64 = 0
        while b < f.blocks():
            i = f.tail[b]
            while i != NONE:
                self._note_order(i, True, 3 * b + _WRITTEN_FIRST)  # writes first: the walk goes backward
                self._note_order(i, False, 3 * b + _READ_FIRST)
                i = f.prev[i]
            i = f.head[b]
            while i != NONE:
                self._tell_order(i, b, live)
                i = f.next[i]
            b += 1
        live.solve()
        return live

    def _note_order(self, i: i64, writes: bool, mark: i64) -> None:
        """Mark the words that an instruction surely writes, or those that it reads."""
        f = self.f
        if writes and f.guard[i]:
            return
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if (mask >> at & 1 != 0) == writes and opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    self.order[word] = mark
                    word += 1
            at += 1

    def _tell_order(self, i: i64, b: i64, live: DataFlow) -> None:
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    if self.order[word] == 3 * b + _READ_FIRST:
                        live.make(b, word)
                    elif self.order[word] == 3 * b + _WRITTEN_FIRST:
                        live.stop(b, word)
                    word += 1
            at += 1

    # -- fusing ------------------------------------------------------------------------------------------

    def _choose(self) -> None:
        """Fuse the sums of the block that was read."""
        s: i64 = 0
        while s < len(self.total):
            if self._is_single(self.first[s]):
                self._fuse(s, 1)
            elif self._is_single(self.second[s]):
                self._fuse(s, 2)
            s += 1
        s = 0
        while s < len(self.total):
            if not self.done[s]:
                first, second = self.first[s], self.second[s]
                one = first != NONE and not self.spoilt[first]
                other = second != NONE and not self.spoilt[second]
                if one and (not other or self.readers[first] <= self.readers[second]):
                    self._fuse(s, 1)
                elif other:
                    self._fuse(s, 2)
            s += 1

    def _is_single(self, p: i64) -> bool:
        return p != NONE and self.readers[p] == 1 and not self.spoilt[p]

    def _fuse(self, s: i64, at: i64) -> None:
        """Make sum ``s`` and the product that is its source ``at`` one operation."""
        f = self.f
        self.done[s] = 1
        self.fused += 1
        i = self.total[s]
        p, addend, stale = self.first[s], self.second[s], self.stale_first[s]
        if at == 2:
            p, addend, stale = self.second[s], self.first[s], self.stale_second[s]
        if addend != NONE:
            self.spoilt[addend] = 1
        product = self.insn[p]
        mods = _modifiers(f, product, i)
        for source in (1, 2):
            if stale >> source & 1 and self._is_stale(product, source, self.since[p]):
                self._copy_factor(product, source)
        a = f.get(product, 1) ^ f.get(i, at) & opd.NEGATE
        b = f.get(product, 2)
        c = f.get(i, 3 - at)
        op = CONTRACT_FUSED[f.op[i]]
        self.cursor.in_front(i)
        if not self.legality.takes(f, op, a, b, c):
            b = self._in_register(b, f.get(i, 0))
        if not self.legality.takes(f, op, a, b, c):
            a = self._in_register(a, f.get(i, 0))
        if not self.legality.takes(f, op, a, b, c):
            c = self._in_register(c, f.get(i, 0))
        self.cursor.rewrite(i, op, mods, 4)
        f.set(i, 1, a)
        f.set(i, 2, b)
        f.set(i, 3, c)
        self.left[p] -= 1
        if self.left[p] == 0 and not self.spoilt[p]:
            self.cursor.remove(product)

    def _stale(self, p: i64) -> i64:
        """Which factors of a product are written between it and this place."""
        if p == NONE:
            return 0
        found: i64 = 0
        for source in (1, 2):
            if self._is_stale(self.insn[p], source, self.since[p]):
                found |= 1 << source
        return found

    def _is_stale(self, product: i64, source: i64, since: i64) -> bool:
        f = self.f
        operand = f.get(product, source)
        if not opd.is_register(operand):
            return False
        word = f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            if word < len(self.written) and self.written[word] >= since:
                return True
            word += 1
        return False

    def _copy_factor(self, product: i64, source: i64) -> None:
        """Let a product take a factor from a register that nobody else writes."""
        f = self.f
        self.cursor.in_front(product)
        f.set(product, source, self._in_register(f.get(product, source), f.get(product, 0)))

    def _in_register(self, operand: i64, like: i64) -> i64:
        """A new register with the value of an operand, as wide as another; the signs stay with the operand that names it."""
        f = self.f
        signs = operand & opd.SIGNS
        bare = operand & ~opd.SIGNS
        if opd.count_of(like) == 1:
            made = opd.IS_REG | f.new_reg(R)
            self.cursor.make2(MOV, made, bare)
            return made | signs
        made = opd.with_span(opd.IS_REG | f.new_reg(R2, 2), 1)
        kind = legal.kind_of(f, bare)
        for number in (0, 1):
            if kind == legal.KIND_IMM:  # a constant of 64 bits is its upper word
                part = bare if number else opd.RZ_OPERAND
            elif kind == legal.KIND_CBANK:
                part = bare + 4 * number
            else:
                part = bare if bare == opd.RZ_OPERAND else opd.word(bare, number)
            self.cursor.make2(MOV, opd.word(made, number), part)
        return made | signs
