"""Values of knobs, as what reads them finds them: arrays, and where each knob lies in them (:mod:`oric_tables.knobs`).

A function has them (``Function.knobs``); those of all functions are the same object unless a knob was set under a condition
(:class:`KnobSettings`, which :mod:`oric.driver.knobs` makes of texts). Nobody changes one that a function has: compilations in
other threads may have it, too.
Source: Data structures, "Knob Value Array" (the slots of 72 bytes are a projection).
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final, NamedTuple, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import knobs


class Span(NamedTuple):
    """Whole numbers from ``first`` to ``last``."""

    first: int
    last: int

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.first <= number <= self.last


EVERYTHING: Final = Span(0, (1 << 31) - 1)


@final
class Knobs:
    """A value of each knob.

    ``numbers``: of those that are whole numbers, one or several each; ``reals``, ``texts``; ``conditions``: of each when-string
    whether it is on here, and the instructions for which, None for all; ``pairs``: numbers by operation; ``opcodes``: operations.
    """

    def __init__(self) -> None:
        self.numbers = vec[i64](knobs.NUMBERS)
        self.reals: list[float] = list(knobs.REALS)
        self.texts: list[str] = list(knobs.TEXTS)
        self.conditions: list[list[Span]] = [[] for _ in range(knobs.CONDITIONS)]
        self.pairs: list[dict[int, int]] = [{} for _ in range(knobs.PAIRS)]
        self.opcodes: list[frozenset[int]] = [frozenset() for _ in range(knobs.OPCODES)]

    def listed(self, slot: int, count: int) -> list[int]:
        """The numbers of a knob that is a list."""
        return [int(self.numbers[at]) for at in range(slot, slot + count)]

    def is_on(self, slot: int, instruction: int) -> bool:
        """Whether a when-string is on for an instruction."""
        return any(instruction in span for span in self.conditions[slot])


DEFAULTS: Final = Knobs()


@final
class Condition:
    """Where something holds: in functions whose names match a pattern of the shell's, in phases (None: all), for instructions."""

    def __init__(self, function: str = "*", phases: frozenset[int] | None = None, span: Span = EVERYTHING) -> None:
        self.function = function
        self.phases = phases
        self.span = span

    def holds(self, function: str, phase: int) -> bool:
        """Whether it does in a phase on a function, for some instructions at least."""
        return (self.phases is None or phase in self.phases) and fnmatchcase(function, self.function)


@final
class When:
    """A when-string: conditions and what holds under them, the first that holds decides; off where none does."""

    def __init__(self, nodes: list[tuple[Condition, bool]]) -> None:
        self.nodes = nodes

    def spans(self, function: str, phase: int) -> list[Span]:
        """The instructions for which it is on, ascending."""
        nodes = [(condition.span, on) for condition, on in self.nodes if condition.holds(function, phase)]
        starts = sorted({span.first for span, _ in nodes} | {span.last + 1 for span, _ in nodes})
        out: list[Span] = []
        for first, following in pairwise(starts):
            if next((on for span, on in nodes if first in span), False):
                joins = bool(out) and out[-1].last + 1 == first
                out[-1:] = [Span(out[-1].first, following - 1)] if joins else [*out[-1:], Span(first, following - 1)]
        return out


@final
class Setting:
    """What one knob is set to, and where: ``holder`` is the array of :class:`Knobs`, ``slot`` where the value begins there."""

    def __init__(self, condition: Condition, holder: str, slot: int, value: object) -> None:
        self.condition = condition
        self.holder = holder
        self.slot = slot
        self.value = value

    def enter(self, values: Knobs, function: str, phase: int) -> None:
        """Put the value in its place."""
        value = self.value
        if isinstance(value, When):
            values.conditions[self.slot] = value.spans(function, phase)
        elif self.holder == "numbers":
            assert isinstance(value, list)
            for at, number in enumerate(value):
                values.numbers[self.slot + at] = number
        else:
            getattr(values, self.holder)[self.slot] = value


@final
class KnobSettings:
    """The knobs of a compilation: what is set, later settings above earlier ones.

    ``everywhere``: the values where no condition holds; ``conditional``: others may hold somewhere. ``texts``: what the
    settings were written as.
    """

    def __init__(self, settings: list[Setting], texts: tuple[str, ...] = ()) -> None:
        self.settings = settings
        self.texts = texts
        self.conditional = any(one.condition.phases is not None or one.condition.function != "*" for one in settings)
        self.conditional = self.conditional or any(isinstance(one.value, When) for one in settings)
        self.everywhere = self._made("", -1) if settings else DEFAULTS
        self._made_before: dict[tuple[str, int], Knobs] = {}

    def at(self, function: str, phase: int) -> Knobs:
        """The values in a phase on a function; ``phase`` -1: before the first."""
        if not self.conditional:
            return self.everywhere
        key = function, phase
        if key not in self._made_before:
            self._made_before[key] = self._made(function, phase)
        return self._made_before[key]

    def _made(self, function: str, phase: int) -> Knobs:
        values = Knobs()
        for one in self.settings:
            if one.condition.holds(function, phase):
                one.enter(values, function, phase)
        return values


UNSET: Final = KnobSettings([])
