"""Two cubins as a loader would see them: what they say that is not the same, and what either says of its code that is not so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from oric.support.elf import Cubin

from .loader_check import Problem, problems
from .loader_view import Key, view

MISSING: Final = None  # no fact has this value


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that two files do not share; ``a`` and ``b`` are what each says, MISSING where it says nothing."""

    key: Key
    a: Any
    b: Any


@dataclass(slots=True)
class Comparison:
    """What came of comparing: differences by kind, and for each file (0, 1) what does not fit its code."""

    differences: list[Difference] = field(default_factory=list)
    problems: tuple[list[Problem], list[Problem]] = field(default_factory=lambda: ([], []))

    @property
    def same(self) -> bool:
        """Whether a loader sees the same."""
        return not self.differences and not any(self.problems)


def compare(a: Cubin, b: Cubin) -> Comparison:
    """Compare two cubins.

    Raises:
        CubinError: the encodings of a target are not known.
    """
    return Comparison(list(differences(view(a), view(b))), (problems(a), problems(b)))


def differences(a: dict[Key, Any], b: dict[Key, Any]) -> Iterator[Difference]:
    """The facts that are not the same, those of ``a`` in its order and then those that only ``b`` has.

    Of something that only one of both has there is one difference, with all its facts by field.
    """
    things_a, things_b = {key[:2] for key in a}, {key[:2] for key in b}
    told = set()
    for key in (*a, *(k for k in b if k not in a)):
        thing = key[:2]
        if thing in things_a and thing in things_b:
            if a.get(key, MISSING) != b.get(key, MISSING):
                yield Difference(key, a.get(key, MISSING), b.get(key, MISSING))
        elif thing not in told:
            told.add(thing)
            side = a if thing in things_a else b
            facts = {k.field: value for k, value in side.items() if k[:2] == thing}
            whole = Key(*thing, "")
            yield Difference(whole, facts, MISSING) if side is a else Difference(whole, MISSING, facts)
