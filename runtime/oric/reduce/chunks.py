"""Delta debugging: leaving out more and more of something while a failure stays.

Source: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Edit = TypeVar("Edit")


def drop_chunks(
    largest: int, edits: Callable[[int], Sequence[Edit]], keep: Callable[[Sequence[Edit]], int | None], ahead: int = 1
) -> bool:
    """Leave out chunks, large ones first, until no single element can go; returns whether anything was.

    ``edits`` gives, for a size, what leaves out each chunk of so many neighbours of what there is now, in order. ``keep`` tries
    some that follow each other, by themselves; the first with which the failure stays is done, and its number returned, None
    where there is none. ``ahead``: how many are tried at a time; what comes out does not depend on it.
    """
    size, changed = largest, False
    while size:
        if try_all(lambda size=size: edits(size), keep, ahead):  # type: ignore[misc]
            changed = True
        elif size == 1:
            break
        else:
            size //= 2
    return changed


def try_all(edits: Callable[[], Sequence[Edit]], keep: Callable[[Sequence[Edit]], int | None], ahead: int = 1) -> bool:
    """Try all edits in order, each on what those before it have left; returns whether one was done.

    An edit that has been done is none of those that ``edits`` gives afterwards: the one behind it stands in its place.
    """
    changed = False
    at = 0
    todo = edits()
    while at < len(todo):
        batch = todo[at : at + ahead]
        done = keep(batch)
        if done is None:
            at += len(batch)
        else:
            at += done
            changed = True
            todo = edits()
    return changed
