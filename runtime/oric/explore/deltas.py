"""Differences of sequences whose members occur once each, and numbers in little space.

What differs between two such sequences follows from the longest ascending run of places, which takes n log n steps.
Source: Schensted, "Longest increasing and decreasing subsequences", 1961 (the numbers at the ends of runs).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

Edit = list[int]


def ascending(places: Sequence[int]) -> list[int]:
    """Indices of a longest run of members that ascend, in order; the members are different."""
    ends: list[int] = []  # the least last member of a run of each length
    at_end: list[int] = []
    before: list[int] = []
    for index, place in enumerate(places):
        length = bisect_left(ends, place)
        before.append(at_end[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            at_end.append(index)
        else:
            ends[length] = place
            at_end[length] = index
    out = []
    index = at_end[-1] if at_end else -1
    while index >= 0:
        out.append(index)
        index = before[index]
    return out[::-1]


def edits(old: Sequence[int], new: Sequence[int]) -> list[Edit]:
    """How ``new`` comes of ``old``; each has every member once.

    An edit is ``[at, removed, first, count, first, count ...]``: at place ``at`` of ``old`` so many members go, and runs of
    ``count`` numbers that begin with ``first`` come. Edits are in order and do not touch.
    """
    place = {member: at for at, member in enumerate(old)}
    common = [(place[member], at) for at, member in enumerate(new) if member in place]
    kept = [common[index] for index in ascending([at for at, _ in common])]
    out = []
    from_old = from_new = 0
    for at_old, at_new in [*kept, (len(old), len(new))]:
        if at_old > from_old or at_new > from_new:
            out.append([from_old, at_old - from_old, *runs(new[from_new:at_new])])
        from_old, from_new = at_old + 1, at_new + 1
    return out


def runs(numbers: Sequence[int]) -> list[int]:
    """``first, count`` of every run of numbers that go up by one."""
    out: list[int] = []
    for number in numbers:
        if out and number == out[-2] + out[-1]:
            out[-1] += 1
        else:
            out += [number, 1]
    return out


def steps(numbers: Sequence[int]) -> list[int]:
    """The first number, and by how much each of the others is more than the one before it."""
    return [after - before for before, after in zip([0, *numbers], numbers, strict=False)]
