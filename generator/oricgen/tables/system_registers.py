"""What system registers hold in the simulator: ``spec/system_registers.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import known
from ..ctext.expressions import Expressions
from ..ctext.headers import Names
from ..ctext.types import NUMBERS, TextError, Value, unfit
from ..errors import Mistakes, SpecError
from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "system_registers"
FILES = ("system_registers.yaml",)
_GROUP = "meanings"
_RESULT = NUMBERS["uint64_t"]


@dataclass(frozen=True)
class Meaning:
    """A system register: its number in instructions, the C of its content, and where that stands."""

    name: str
    number: int
    text: str
    path: str
    line: int


@dataclass
class _Lane:
    """What a text may name: nothing but C's names."""

    names: Names
    values: dict[str, list[str]] = field(default_factory=dict)

    def named(self, name: str, member: str, offset: int) -> tuple[Value, str] | None:
        """A register has no names of its own."""
        return None


def load(spec: Spec) -> Any:
    """Name -> C expression."""
    return spec.load(FILES[0])[_GROUP]


def rows(spec: Spec) -> list[Row]:
    """One row a register (``SR_TID.X``)."""
    return entries(spec.load(FILES[0]), _GROUP, f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"registers with a meaning": len(load(spec))}


def check(spec: Spec) -> None:
    """Every register has a number, and its text is a number of one lane.

    Raises:
        SpecError: a name that formats.yaml does not have, a text that is not right.
    """
    meanings(spec)


def meanings(spec: Spec) -> tuple[Meaning, ...]:
    """The registers that have a meaning.

    Raises:
        SpecError: see :func:`check`.
    """
    return spec.memo("meanings of system registers", lambda: _meanings(spec))


def _meanings(spec: Spec) -> tuple[Meaning, ...]:
    names = known.of_special(spec)
    numbers = {name: int(n) for part in spec.load("formats.yaml")["names"]["sreg"].values() for n, name in part.items()}
    texts = load(spec)
    out = []
    with Mistakes() as each:
        for name, text in texts.items():
            with each:
                path = spec.path(FILES[0])
                if name not in numbers:
                    raise SpecError(path, texts.line_of(name), f"{name}: formats.yaml has no such system register")
                try:
                    code = _read(str(text), names)
                except TextError as error:
                    line, column = texts.spot(name, error.offset)
                    raise SpecError(path, line, f"{name}: {error.message}", column) from error
                out.append(Meaning(name, numbers[name], code, str(path), texts.line_of(name)))
    return tuple(out)


def _read(text: str, names: Names) -> str:
    """The C of a text.

    Raises:
        TextError: it is no number, or not right.
    """
    reader = Expressions(text, _Lane(names))
    value = reader.whole()
    if why := unfit(value, _RESULT):
        raise TextError(0, why)
    return reader.written(0, len(text))
