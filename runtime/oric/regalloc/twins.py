"""Copies that live beside what they are copies of: what comes behind reads the copy alone.

A word of a wide register and the register that it was copied from, or another copy of the same, hold one value, and allocation
gives them one place. Where registers do not suffice both would wait in memory, as what waits has a place for each register. So a
reader that the copy dominates reads the copy, where that is live anyway, and copies that nobody reads then are removed.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import MOV
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS

from .residence import Code, accesses, is_general

_AGAIN: Final = -2  # of a word that several instructions write


def join_twins(f: Function, code: Code) -> int:
    """Let readers of registers read copies of them; returns how many operands were changed.

    ``code``: of the function as it stands.
    """
    return _Twins(f, code).run()


@final
class _Twins:
    def __init__(self, f: Function, code: Code) -> None:
        self.f = f
        self.code = code
        self.made: dict[tuple[int, int], int] = {}  # register, word -> the instruction that writes it
        self.place: dict[int, int] = {}  # instruction -> its number in its block
        self.readers: dict[tuple[int, int], list[tuple[int, int]]] = {}  # register, word -> what reads it alone: operands
        self.last: dict[tuple[int, int], int] = {}  # register, block -> number of the last instruction that reads it
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            number = 0
            while i != NONE:
                self.place[i] = number
                self._note(b, i, number)
                number += 1
                i = f.next[i]
            b += 1
        self.copies: dict[int, list[tuple[int, int]]] = {}  # source -> the words that are copies of it
        for n, word in self.made:
            source = self._source(n, word)
            if source != NONE:
                self.copies.setdefault(source, []).append((n, word))

    def _note(self, b: int, i: int, number: int) -> None:
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and is_general(f, operand & opd.INDEX):
                n = operand & opd.INDEX
                if OPS.writes_at(f.op[i], at):
                    for word in range(opd.count_of(operand)):
                        key = n, opd.first_of(operand) + word
                        self.made[key] = _AGAIN if key in self.made else i
                else:
                    self.last[n, b] = number
                    if opd.count_of(operand) == 1:
                        self.readers.setdefault((n, opd.first_of(operand)), []).append((i, at))
            at += 1

    def run(self) -> int:
        """All of it."""
        f = self.f
        twins: dict[
            int, dict[int, list[tuple[int, int]]]
        ] = {}  # wide register -> word -> (register, the copy behind which it is the same)
        for (n, word), i in self.made.items():
            source = self._source(n, word)
            if source == NONE or f.reg_size[n] == 1:
                continue
            found = twins.setdefault(n, {}).setdefault(word, [])
            m = int(source & opd.INDEX), int(opd.first_of(source))
            if self.made.get(m, _AGAIN) >= 0 and f.reg_size[m[0]] == 1 and not f.reg_flags[m[0]] & FLAG_FIXED:
                found.append((m[0], i))
            for other, _ in self.copies.get(source, ()):
                if other != n and f.reg_size[other] == 1 and self._is_same(self.made[other, 0], i, source):
                    found.append((other, max(i, self.made[other, 0], key=self.place.__getitem__)))
        changed = 0
        for n, words in twins.items():
            together = self._live_together(n, words)
            changed += sum(self._join(n, word, *twin, together) for word, found in words.items() for twin in found)
        if changed:
            self._drop_unread()
        return changed

    def _drop_unread(self) -> None:
        """Remove the copies that nobody reads any more: each would be live for a moment, where its source is.

        Of registers of one word: these have lost readers only, while what is known of wide ones is from before they got some.
        """
        f, cursor = self.f, Cursor(self.f)
        b: i64 = 0
        while b < f.blocks():
            live = set(self.code.live_out[b])
            i = f.tail[b]
            while i != NONE:
                before = f.prev[i]
                if self._is_unread(i, live):
                    cursor.remove(i)
                else:
                    self._step(i, live)
                i = before
            b += 1

    def _is_unread(self, i: i64, live: set[int]) -> bool:
        """Whether an instruction is nothing but a copy to a register that is not live behind it."""
        f = self.f
        dest = f.get(i, 0) if f.op[i] == MOV and not f.guard[i] else opd.NO_OPERAND
        n = int(dest & opd.INDEX)
        if not opd.is_register(dest) or not is_general(f, n) or f.reg_size[n] > 1:
            return False
        return n not in live and not f.reg_flags[n] & FLAG_FIXED

    def _step(self, i: i64, live: set[int]) -> None:
        """What is live in front of an instruction."""
        f = self.f
        read, written = accesses(f, i)
        if not f.guard[i]:
            live.difference_update(n for n in written if f.reg_size[n] == 1)
        live.update(read)

    def _live_together(self, n: int, words: dict[int, list[tuple[int, int]]]) -> bool:
        """Whether each word of a register has a twin, and all of these live from block to block where one of them does."""
        firsts = [found[0][0] for found in words.values() if found]
        if len(firsts) < self.f.reg_size[n]:
            return False
        return all(len({m in live for m in firsts}) == 1 for live in self.code.live_out)

    def _source(self, n: int, word: int) -> int:
        """What a word is a copy of, if it is one and nothing else; NONE otherwise."""
        f, i = self.f, self.made[n, word]
        if i < 0 or f.op[i] != MOV or f.guard[i] or f.reg_flags[n] & FLAG_FIXED:
            return NONE
        source = int(f.get(i, 1))
        plain = opd.is_register(source) and not source & opd.SIGNS and is_general(f, source & opd.INDEX)
        return source if plain and source & opd.INDEX != n else NONE

    def _is_same(self, i: int, j: int, source: int) -> bool:
        """Whether two copies of a source stand in one block and nothing writes to it from one to the other."""
        f = self.f
        if f.block[i] != f.block[j]:
            return False
        first, last = sorted((i, j), key=self.place.__getitem__)
        while first != last:
            at: i64 = 0
            while at < f.count[first]:
                operand = f.get(first, at)
                if OPS.writes_at(f.op[first], at) and opd.is_register(operand) and not (operand ^ source) & opd.INDEX:
                    return False
                at += 1
            first = f.next[first]
        return True

    def _join(self, n: int, word: int, other: int, copy: int, together: bool) -> int:
        """What reads a register behind a copy reads word ``word`` of ``n``: where that is live, or everywhere."""
        f = self.f
        changed = 0
        left: list[tuple[int, int]] = []
        for reader, at in self.readers.get((other, 0), []):
            if reader == copy or not self._is_behind(reader, copy) or not (together or self._is_live(n, reader)):
                left.append((reader, at))
                continue
            operand = f.get(reader, at)
            f.set(reader, at, opd.with_first(opd.with_index(operand, n), word))
            self.readers.setdefault((n, word), []).append((reader, at))
            changed += 1
        self.readers[other, 0] = left
        return changed

    def _is_behind(self, i: int, copy: int) -> bool:
        """Whether the copy has been made whenever an instruction runs."""
        f = self.f
        if f.block[i] == f.block[copy]:
            return self.place[i] > self.place[copy]
        return self.code.cfg.number[f.block[i]] >= 0 and self.code.cfg.dominates(f.block[copy], f.block[i])

    def _is_live(self, n: int, i: int) -> bool:
        """Whether a register is needed at an instruction, or behind it."""
        b = int(self.f.block[i])
        return n in self.code.live_out[b] or self.last.get((n, b), -1) >= self.place[i]
