"""Alignment of two instruction sequences by their opcodes.

Stretches of opcodes that occur once in either sequence are anchors, of which the longest run that ascends in both counts; what
lies between two anchors is aligned by shorter stretches, and at last by a longest common subsequence where it is short enough.
Source: Cohen, "Patience Diff Advantages", 2010 (unique lines as anchors).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from .deltas import ascending

_STRETCHES: Final = (8, 5, 3)  # shorter ones are often once in either by chance
_MOST_CELLS: Final = 90_000  # of a table of common subsequences; longer gaps are cut at their middle
Span = tuple[int, int, int, int]  # from, to in the first sequence; from, to in the second


def align(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places with equal opcodes, ascending in both sequences."""
    pairs: list[tuple[int, int]] = []
    waiting: list[tuple[Span, int]] = [((0, len(a), 0, len(b)), 0)]
    while waiting:
        span, level = waiting.pop()
        begin_a, end_a, begin_b, end_b = span
        while begin_a < end_a and begin_b < end_b and a[begin_a] == b[begin_b]:
            pairs.append((begin_a, begin_b))
            begin_a, begin_b = begin_a + 1, begin_b + 1
        while begin_a < end_a and begin_b < end_b and a[end_a - 1] == b[end_b - 1]:
            end_a, end_b = end_a - 1, end_b - 1
            pairs.append((end_a, end_b))
        if begin_a == end_a or begin_b == end_b:
            continue
        waiting += _parts(a, b, (begin_a, end_a, begin_b, end_b), level, pairs)
    return sorted(pairs)


def runs_of(pairs: Sequence[tuple[int, int]], len_a: int, len_b: int) -> list[tuple[str, int]]:
    """Rows of both side by side: ``"="`` both, ``"-"`` the first only, ``"+"`` the second only, with their number."""
    return [(kind, len(list(group))) for kind, group in groupby(_rows(pairs, len_a, len_b))]


def _rows(pairs: Sequence[tuple[int, int]], len_a: int, len_b: int) -> Iterator[str]:
    at_a = at_b = 0
    for in_a, in_b in [*pairs, (len_a, len_b)]:
        yield from "-" * (in_a - at_a) + "+" * (in_b - at_b)
        if in_a < len_a:
            yield "="
        at_a, at_b = in_a + 1, in_b + 1


def _parts(a: Sequence[str], b: Sequence[str], span: Span, level: int, pairs: list[tuple[int, int]]) -> list[tuple[Span, int]]:
    """What is left of a span that begins and ends differently; pairs that are found are added."""
    begin_a, end_a, begin_b, end_b = span
    if (end_a - begin_a) * (end_b - begin_b) <= _MOST_CELLS:
        pairs += _common(a, b, span)
        return []
    for at in range(level, len(_STRETCHES)):
        anchors = _anchors(a, b, span, _STRETCHES[at])
        if anchors:
            pairs += anchors
            edges = [(begin_a - 1, begin_b - 1), *anchors, (end_a, end_b)]
            return [((x + 1, next_x, y + 1, next_y), at) for (x, y), (next_x, next_y) in pairwise(edges)]
    middle_a, middle_b = (begin_a + end_a) // 2, (begin_b + end_b) // 2
    return [((begin_a, middle_a, begin_b, middle_b), level), ((middle_a, end_a, middle_b, end_b), level)]


def _anchors(a: Sequence[str], b: Sequence[str], span: Span, length: int) -> list[tuple[int, int]]:
    """First places of stretches that occur once in both parts, those that ascend in both."""
    begin_a, end_a, begin_b, end_b = span
    once_a, once_b = _unique(a, begin_a, end_a, length), _unique(b, begin_b, end_b, length)
    found = [(place, once_b[stretch]) for stretch, place in once_a.items() if stretch in once_b]
    return [found[index] for index in ascending([place for _, place in found])]


def _unique(words: Sequence[str], begin: int, end: int, length: int) -> dict[tuple[str, ...], int]:
    """Stretches that occur once, by where they begin, in order."""
    places: dict[tuple[str, ...], int] = {}
    for at in range(begin, end - length + 1):
        stretch = tuple(words[at : at + length])
        places[stretch] = -1 if stretch in places else at
    return {stretch: at for stretch, at in places.items() if at >= 0}


def _common(a: Sequence[str], b: Sequence[str], span: Span) -> list[tuple[int, int]]:
    """A longest common subsequence of two short parts."""
    begin_a, end_a, begin_b, end_b = span
    width = end_b - begin_b
    longest = [[0] * (width + 1)]
    for x in range(end_a - 1, begin_a - 1, -1):
        below = longest[-1]
        row = [0] * (width + 1)
        for y in range(width - 1, -1, -1):
            row[y] = below[y + 1] + 1 if a[x] == b[begin_b + y] else max(below[y], row[y + 1])
        longest.append(row)
    longest.reverse()
    out = []
    x, y = begin_a, 0
    while x < end_a and y < width:
        if a[x] == b[begin_b + y]:
            out.append((x, begin_b + y))
            x, y = x + 1, y + 1
        elif longest[x - begin_a + 1][y] >= longest[x - begin_a][y + 1]:
            x += 1
        else:
            y += 1
    return out
