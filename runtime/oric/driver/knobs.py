"""Knobs as users write them: ``NAME=VALUE``, ``NAME[CONDITION]=VALUE``.

A condition is ``function=PATTERN``, ``phase=NAMES`` (names, numbers, ``N-M``, joined by ``+``), ``instruction=N-M``, joined by
commas; only when-strings ask for instructions. Values by type (``types`` of ``spec/knobs.yaml``): numbers are decimal or
hexadecimal; ``V:E`` of an int_extra; ``A..B`` of an int_range; ``A,B,C`` of a list; ``on``, ``off`` of a bool; ``OP:N,OP:N`` of
a value_pair_list; ``OP,OP`` of an opcode_list; of a when-string nodes ``CONDITION:on`` or ``CONDITION:off``, or one of both
alone, joined by ``;``. Source: Data structures, "Knob Value Slot", "Knob Descriptor" (types, names in ROT13, aliases); the form
of texts is this project's.
"""

from __future__ import annotations

import re
import shlex
from codecs import decode
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from math import isfinite
from typing import Any, Final

from oric_tables import ops
from oric_tables.knob_rows import ROWS, Row

from oric.ir.knobs import EVERYTHING, UNSET, Condition, KnobSettings, Setting, Span, When
from oric.phases.manager import select

_SETTING: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*(?:\[([^\]]*)\])?\s*=(.*)", re.DOTALL)
_INTEGER: Final = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)")
_TRUTHS: Final = {"on": 1, "true": 1, "1": 1, "yes": 1, "off": 0, "false": 0, "0": 0, "no": 0}
_SPAN: Final = re.compile(r"([0-9]+)(?:-([0-9]+)?)?")
_SHOWN: Final = 60  # characters of a value that a message repeats at most
_FROM_ENVIRONMENT: Final = "ORIC_KNOBS"


class KnobError(ValueError):
    """A setting that makes no sense; ``place``: where it stands."""

    def __init__(self, place: str, text: str) -> None:
        super().__init__(f"{place}: {text}")
        self.place = place


@cache
def rows_by_name() -> dict[str, Row]:
    """Each knob by its name, its alias and its number, which stand in the tables as the described system has them: in ROT13."""
    out: dict[str, Row] = {}
    for row in ROWS:
        for name in (decode(row.name, "rot13"), decode(row.alias, "rot13"), str(row.number)):
            if name:
                out[name] = row
    return out


def settings_of(given: Iterable[tuple[str, str]]) -> KnobSettings:
    """What (place, text) pairs set, later ones above earlier ones.

    Raises:
        KnobError: the first that makes no sense.
    """
    found = list(given)
    return KnobSettings([setting(place, text) for place, text in found], tuple(text for _, text in found)) if found else UNSET


def from_environment(text: str) -> list[tuple[str, str]]:
    """The settings of ``ORIC_KNOBS``: words as a shell has them.

    Raises:
        KnobError: a quotation that does not end.
    """
    try:
        return [(_FROM_ENVIRONMENT, word) for word in shlex.split(text)]
    except ValueError as error:
        raise KnobError(_FROM_ENVIRONMENT, str(error).lower()) from error


def from_file(name: str, text: str) -> list[tuple[str, str]]:
    """The settings of a file: one a line; ``#`` begins a comment at the start of a line."""
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            out.append((f"{name}:{number}:{len(line) - len(line.lstrip()) + 1}", line.strip()))
    return out


def setting(place: str, text: str) -> Setting:
    """One setting.

    Raises:
        KnobError: there is no such knob, a value that is none of its type or out of range, a broken condition.
    """
    found = _SETTING.fullmatch(text)
    if found is None:
        raise KnobError(place, f"'{text[:_SHOWN]}': expected NAME=VALUE or NAME[CONDITION]=VALUE")
    name, where, value = found[1], found[2], found[3].strip()
    row = rows_by_name().get(name)
    if row is None:
        raise KnobError(place, f"there is no knob '{name[:_SHOWN]}'" + (_meant(name, rows_by_name()) or " (see --list-knobs)"))
    try:
        condition = Condition() if where is None else _condition(where, with_instructions=False)
        return Setting(condition, row.holder, row.slot, _READERS[row.type](row, value))
    except KnobError:
        raise
    except ValueError as error:
        raise KnobError(place, f"knob {name}: {error}") from error


def _meant(text: str, names: Iterable[str]) -> str:
    """The end of a message: what may have been meant."""
    near = get_close_matches(text, names, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _condition(text: str, with_instructions: bool) -> Condition:
    """Raises ValueError."""
    function, phases, span = "*", None, EVERYTHING
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not value:
            forms = "function=PATTERN, phase=PHASES or instruction=N-M"
            raise ValueError(f"'{part.strip()[:_SHOWN]}' is no condition: expected {forms}")
        if key == "function":
            function = value
        elif key == "phase":
            phases = _phases(value)
        elif key == "instruction" and with_instructions:
            span = _span(value)
        elif key == "instruction":
            raise ValueError("only when-strings have conditions on instructions")
        else:
            raise ValueError(f"there are no conditions on '{key[:_SHOWN]}'" + _meant(key, ("function", "phase", "instruction")))
    return Condition(function, phases, span)


def _phases(text: str) -> frozenset[int]:
    """Phases by name, number or range, joined by ``+``. Raises ValueError."""
    out: set[int] = set()
    for word in text.split("+"):
        found = _SPAN.fullmatch(word.strip())
        if found is not None and "-" in word:
            span = _span(word.strip())
            out.update(range(span.first, min(span.last, 1 << 12) + 1))
        else:
            out.update(select([word.strip()]))
    return frozenset(out)


def _span(text: str) -> Span:
    """``N``, ``N-M`` or ``N-``. Raises ValueError."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text[:_SHOWN]}' is no range: expected N, N-M or N-")
    first = int(found[1])
    last = int(found[2]) if found[2] else (EVERYTHING.last if "-" in text else first)
    if last < first:
        raise ValueError(f"the range '{text[:_SHOWN]}' ends before it begins")
    return Span(first, last)


def _integer(row: Row, text: str) -> int:
    """Raises ValueError."""
    if len(text) > _SHOWN or not _INTEGER.fullmatch(text.strip()):
        raise ValueError(f"'{text.strip()[:_SHOWN]}' is no whole number")
    number = int(text.strip(), 0) if "x" in text.lower() else int(text)
    if not row.least <= number <= row.most:
        raise ValueError(f"{number} is out of range: {row.least} to {row.most}")
    return number


def _several(separator: str) -> Callable[[Row, str], list[int]]:
    def read(row: Row, text: str) -> list[int]:
        parts = text.split(separator)
        if len(parts) != row.count:
            raise ValueError(f"{row.count} numbers are expected ('{row.default}' for example), {len(parts)} are there")
        return [_integer(row, part) for part in parts]

    return read


def _range(row: Row, text: str) -> list[int]:
    first, last = _several("..")(row, text)
    if last < first:
        raise ValueError(f"the range '{text[:_SHOWN]}' ends before it begins")
    return [first, last]


def _bool(row: Row, text: str) -> list[int]:
    if text.lower() not in _TRUTHS:
        raise ValueError(f"'{text[:_SHOWN]}' is neither on nor off")
    return [_TRUTHS[text.lower()]]


def _real(row: Row, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"'{text[:_SHOWN]}' is no number") from None
    if not isfinite(number) or not row.least <= number <= row.most:
        raise ValueError(f"{text[:_SHOWN]} is out of range: {row.least} to {row.most}")
    return number


def _choice(row: Row, text: str) -> str:
    if text not in row.choices:
        raise ValueError(f"'{text[:_SHOWN]}' is none of {', '.join(row.choices)}" + _meant(text, row.choices))
    return text


def _operation(text: str) -> int:
    """The number of an operation of Ori. Raises ValueError."""
    number = _operations().get(text.strip())
    if number is None:
        raise ValueError(f"there is no operation '{text.strip()[:_SHOWN]}'" + _meant(text.strip(), _operations()))
    return number


@cache
def _operations() -> dict[str, int]:
    return {op.name: op.number for op in ops.OPS if op is not None}


def _pairs(row: Row, text: str) -> dict[int, int]:
    out: dict[int, int] = {}
    for part in text.split(",") if text else ():
        name, colon, number = part.partition(":")
        if not colon:
            raise ValueError(f"'{part.strip()[:_SHOWN]}': expected OPERATION:NUMBER")
        out[_operation(name)] = _integer(row, number)
    return out


def _when(row: Row, text: str) -> When:
    nodes: list[tuple[Condition, bool]] = []
    for node in text.split(";") if text else ():
        where, colon, value = node.rpartition(":")
        if value.strip().lower() not in _TRUTHS:
            raise ValueError(f"'{node.strip()[:_SHOWN]}': expected CONDITION:on or CONDITION:off, or one of both alone")
        condition = _condition(where, with_instructions=True) if colon else Condition()
        nodes.append((condition, bool(_TRUTHS[value.strip().lower()])))
    return When(nodes)


_READERS: Final[dict[str, Callable[[Row, str], Any]]] = {
    "bool": _bool,
    "int": lambda row, text: [_integer(row, text)],
    "int_extra": _several(":"),
    "int_range": _range,
    "int_list": _several(","),
    "float": _real,
    "double": _real,
    "string": lambda row, text: text,
    "string_alt": _choice,
    "when_string": _when,
    "value_pair_list": _pairs,
    "opcode_list": lambda row, text: frozenset(_operation(word) for word in text.split(",")) if text else frozenset(),
}
