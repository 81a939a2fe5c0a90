"""Where the numbers of a jump of many ways lead, and what is made of that: tables, bits, comparisons.

Source: this project; observed: where ptxas 13.0.88 makes tables.
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from oric_tables import knobs

from oric.ir.facts import MASK32
from oric.ir.function import Function

_WORD_BITS: Final = 32
_FEWEST: Final = 4  # blocks that a table leads to, one among them for what has no case


class Way(NamedTuple):
    """Where the numbers from ``first`` on lead to: to block ``target``, but with ``entries`` to one of them for each number, and
    with ``bits`` those to ``other`` whose bit is set there. The next way ends it."""

    first: int
    target: int
    entries: tuple[int, ...] = ()
    bits: int = 0
    other: int = -1

    def leads_to(self, target: int) -> bool:
        """Whether all its numbers lead to one block."""
        return self.target == target and not self.entries and not self.bits


@final
class Limits:
    """What is worth a table or bits: thresholds of a function."""

    def __init__(self, f: Function) -> None:
        numbers = f.knobs.numbers
        self.bits: int = numbers[knobs.SWITCH_BITS]
        self.table: int = numbers[knobs.SWITCH_TABLE]
        self.run: int = numbers[knobs.SWITCH_RUN]
        self.sparse: int = numbers[knobs.SWITCH_SPARSE]
        self.fewest = min(self.bits, self.table)  # numbers that may be worth more than comparisons


def choose(limits: Limits, ways: list[Way], room: int) -> list[Way]:
    """The same ways, with tables of at most ``room`` entries and bits where they are worth it."""
    out: list[Way] = []
    at = 0
    while at < len(ways):
        end = _end_of_table(limits, ways, at, room)
        if end > at:
            out.append(_table(ways, at, end))
        else:
            end = at + 1
            out.append(ways[at])
        at = end
    return with_bits(limits, out)


def _end_of_table(limits: Limits, ways: list[Way], at: int, room: int) -> int:
    """Up to where ways from one on are worth a table; ``at`` itself: there is none."""
    rest = ways[-1].target
    best = at
    counted = 0
    targets = {rest}
    end = at
    while ways[at].target != rest and end < len(ways) - 1 and past(ways, end) - ways[at].first <= room:
        if ways[end].target != rest:
            counted += min(past(ways, end) - ways[end].first, limits.run)
            targets.add(ways[end].target)
        end += 1
        span = ways[end].first - ways[at].first
        if ways[end].target == rest and _is_for_table(limits, end - at, len(targets), counted, span, room):
            best = end
    return best


def keeps_table(limits: Limits, ways: list[Way], span: int, room: int) -> bool:
    """Whether all ways of a table of ``span`` entries are worth it."""
    counted = 0
    for n, way in enumerate(ways):
        counted += min(min(past(ways, n), span) - way.first, limits.run)
    return _is_for_table(limits, len(ways), 1 + len({way.target for way in ways}), counted, span, room)


def _is_for_table(limits: Limits, ways: int, targets: int, counted: int, span: int, room: int) -> bool:
    if ways < limits.table or targets < _FEWEST or span > room:
        return False
    return limits.sparse * counted >= span


def _table(ways: list[Way], at: int, end: int) -> Way:
    entries: list[int] = []
    for n in range(at, end):
        entries += [ways[n].target] * (past(ways, n) - ways[n].first)
    return Way(ways[at].first, -1, tuple(entries))


def origin_of(cases: dict[int, int]) -> int:
    """The number from which on cases lie: the least with a sign where there are some on both sides of 0."""
    signed = [number - (number >> 31 << 32) for number in cases]
    return min(signed) & MASK32 if min(signed) < 0 <= max(signed) else 0


def past(ways: list[Way], at: int) -> int:
    """The first number behind those of a way."""
    return ways[at + 1].first if at + 1 < len(ways) else 1 << _WORD_BITS


def most(ways: list[Way]) -> int:
    """The block that most ways lead to, of several the last one's."""
    counts: dict[int, int] = {}
    for way in reversed(ways):
        counts[way.target] = counts.get(way.target, 0) + 1
    return max(counts, key=lambda target: counts[target])


def ways_of_table(targets: list[int]) -> list[Way]:
    """Those of a table; the last is that of all numbers from there on."""
    out: list[Way] = []
    for number, target in enumerate(targets):
        if not out or out[-1].target != target:
            out.append(Way(number, target))
    return out


def ways_of_cases(cases: dict[int, int], rest: int) -> list[Way]:
    """Those of numbers with blocks of their own; ``rest``: the block of all others."""
    out: list[Way] = []
    behind = 0
    for number in sorted(cases):
        if number > behind and (not out or out[-1].target != rest):
            out.append(Way(behind, rest))
        if not out or out[-1].target != cases[number]:
            out.append(Way(number, cases[number]))
        behind = number + 1
    if behind <= MASK32 and out[-1].target != rest:
        out.append(Way(behind, rest))
    return out


def with_bits(limits: Limits, ways: list[Way]) -> list[Way]:
    """The same ways, with bits where they are worth it."""
    out: list[Way] = []
    at = 0
    while at < len(ways):
        end = _end_of_bits(limits, ways, at)
        out.append(_bits(ways, at, end) if end > at else ways[at])
        at = max(end, at + 1)
    return out


def _end_of_bits(limits: Limits, ways: list[Way], at: int) -> int:
    """Up to where ways from one on lead to two blocks in turn within as many numbers as a word has bits."""
    if at + 1 >= len(ways):
        return at
    pair = {ways[at].target, ways[at + 1].target}
    end = at
    while end < len(ways) and ways[end].target in pair and past(ways, end) - ways[at].first <= _WORD_BITS:
        end += 1
    if end == len(ways) or ways[end].target not in pair or ways[at].target == ways[end].target:
        return at
    around = not at or ways[at - 1].leads_to(ways[end].target)
    return end if around and (end - at + 1) // 2 >= limits.bits else at


def _bits(ways: list[Way], at: int, end: int) -> Way:
    """Numbers that lead elsewhere than those around them are bits."""
    first, target = ways[at].first, ways[end].target
    bits = 0
    for n in range(at, end):
        if ways[n].target != target:
            bits |= ((1 << past(ways, n) - ways[n].first) - 1) << ways[n].first - first
    other = next(way.target for way in ways[at:end] if way.target != target)
    return Way(first, target, (), bits, other)
