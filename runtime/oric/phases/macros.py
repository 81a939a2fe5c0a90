"""Phase 19: sequences that become one macro operation, which stays whole until phase 55 takes it apart again.

Both halves of a product become one operation (:mod:`oric.phases.pairing`). A product of 64 bits that only a sum reads is taken
apart together with it: the sum goes into the widening product of the lower words, which saves both of its adds. Behind the rules
of phase 13, which make more of products by a constant or of words; passes from here on do not put anything between the two. The
documents have this at phase 8. Source: PTX-to-Ori, "Phase 8".
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables.op import ADD64, MAD64, MUL64

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_pair
from oric.ir.function import NONE, Function
from oric.ir.passes import PassContext
from oric.ir.words import WordList
from oric.support.arrays import nones, zeros

from .pairing import pair_products


def create_macros(f: Function, ctx: PassContext) -> bool:
    """Make the halves of products together, and fuse products with the sums that alone read them."""
    paired = pair_products(f)
    ctx.count("paired products", paired)
    if not _has_sum_of_product(f):
        return paired != 0
    fused = _Fusion(f).run()
    ctx.count("fused products", fused)
    return fused != 0 or paired != 0


def _has_sum_of_product(f: Function) -> bool:
    """Whether a sum reads what a product in front of it writes."""
    products: set[int] = set()
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == MUL64:
                products.add(f.get(i, 0) & opd.INDEX)
            elif products and f.op[i] == ADD64 and (f.get(i, 1) & opd.INDEX in products or f.get(i, 2) & opd.INDEX in products):
                return True
            i = f.next[i]
        b += 1
    return False


@final
class _Fusion:
    """By word: ``reads`` and ``writes`` of it, ``maker`` the instruction that wrote it last in the walk, ``written`` the place
    in the walk where that was; ``place``: of an instruction."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.scratch = WordList()
        self.reads = zeros(f.words)
        self.writes = zeros(f.words)
        self.maker = nones(f.words)
        self.written = zeros(f.words)
        self.place = zeros(f.instructions())

    def run(self) -> i64:
        """Walk over all blocks; returns how many were fused."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                self._touch(i, False)
                i = f.next[i]
            b += 1
        fused: i64 = 0
        clock: i64 = 0
        b = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                clock += 1
                self.place[i] = clock
                if f.op[i] == ADD64 and (self._fuse(i, 1) or self._fuse(i, 2)):
                    fused += 1
                self._touch(i, True)
                i = f.next[i]
            b += 1
        return fused

    def _touch(self, i: i64, walking: bool) -> None:
        """Count what an instruction reads and writes, or note in the walk that it has written."""
        words = self.scratch
        words.clear()
        words.add_writes(self.f, i)
        at: i64 = 0
        while at < words.count:
            word = words.words[at]
            if walking:
                self.maker[word] = i
                self.written[word] = self.place[i]
            else:
                self.writes[word] += 1
            at += 1
        if walking:
            return
        words.clear()
        words.add_reads(self.f, i)
        at = 0
        while at < words.count:
            self.reads[words.words[at]] += 1
            at += 1

    def _fuse(self, i: i64, at: i64) -> bool:
        """Let a sum take over the product that is its source ``at``, if nobody else reads that."""
        f = self.f
        product = f.get(i, at)
        addend = f.get(i, 3 - at)
        if not is_pair(product) or not is_pair(addend) or product == addend:
            return False
        word = f.words_of(product)
        made = self.maker[word]
        if made == NONE or f.op[made] != MUL64 or self.place[i] - self.place[made] > f.knobs.numbers[knobs.MACRO_REACH]:
            return False
        if f.block[made] != f.block[i] or f.guard[made] or f.get(made, 0) != product:
            return False
        part: i64 = 0
        while part < 2:
            if self.reads[word + part] != 1 or self.writes[word + part] != 1:
                return False
            part += 1
        if not self._holds(f.get(made, 1), made) or not self._holds(f.get(made, 2), made):
            return False
        dest = f.get(i, 0)
        cursor = Cursor(f)
        cursor.rewrite(i, MAD64, 0, 4)
        f.set(i, 0, dest)
        f.set(i, 1, f.get(made, 1))
        f.set(i, 2, f.get(made, 2))
        f.set(i, 3, addend)
        cursor.remove(made)
        return True

    def _holds(self, source: i64, made: i64) -> bool:
        """Whether a source of an instruction still has the value that it had there."""
        if not opd.is_register(source):
            return True
        word = self.f.words_of(source)
        end = word + opd.count_of(source)
        while word < end:
            if self.written[word] > self.place[made]:
                return False
            word += 1
        return True
