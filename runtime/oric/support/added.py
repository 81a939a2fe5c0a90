"""Qualifiers that options add to instructions of PTX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oric_tables.named import NamedTuple
from oric_tables.options import QUALIFIERS


class Added(NamedTuple):
    """A qualifier that instructions have as if it stood there: ``word`` in those of ``instructions`` that have none of ``unless``
    and, when it is not ``forced``, none of ``words``.
    """

    instructions: tuple[str, ...]
    word: str
    words: tuple[str, ...]
    unless: tuple[str, ...]
    forced: bool

    def to(self, family: str, words: Sequence[str]) -> list[str] | None:
        """The qualifiers of an instruction with this one in front of the others; None where it does not get it."""
        if family not in self.instructions or not set(self.unless).isdisjoint(words):
            return None
        kept = [word for word in words if word not in self.words]
        return [self.word, *kept] if self.forced or len(kept) == len(words) else None


def added(value: Callable[[str], str]) -> tuple[Added, ...]:
    """What the options ask for; ``value``: name of an option -> its value, "" where it is not given."""
    found = []
    for row in QUALIFIERS:
        for option, forced in ((row.default, False), (row.forced, True)):
            if value(option):
                found.append(Added(row.instructions, value(option), row.words, row.unless, forced))
    return tuple(found)
