"""``oric_tables/statistics.py``: the statistics record of a function and the lines of its profile."""

from __future__ import annotations

from ..errors import SpecError
from ..render import header
from ..rows import Row
from ..spec import Spec
from ..tables import opcodes, statistics

_INTRODUCTION = '''"""The statistics record of a function, and the profile that is printed of it; see spec/statistics.yaml.

A value of a line is a field, a computed value, or (numerator, denominator): a share.
"""

from typing import Final

'''


def render(spec: Spec) -> dict[str, str]:
    """Render the rows.

    Raises:
        SpecError: a count of a category or an operation that there is not.
    """
    found = statistics.load(spec)
    fields = {row.values["name"]: row.values["index"] for row in found["fields"]}
    computed = {row.values["name"]: tuple(row.values["terms"]) for row in found["computed"]}
    lines = [(row.values["text"], _values(row), "short" in row.values["forms"]) for row in found["lines"]]
    counts = {row.values["field"]: _counted(spec, row) for row in found["counts"]}
    text = header("#", "generator/oricgen/outputs/statistics.py", ["spec/statistics.yaml", "spec/opcodes.yaml"]) + _INTRODUCTION
    text += f"FIELDS: Final[dict[str, int]] = {fields!r}  # DWORD index in the record\n"
    text += f"SIZE: Final = {max(fields.values()) + 1}  # DWORDs of the record\n"
    text += f"COMPUTED: Final[dict[str, tuple[str, ...]]] = {computed!r}  # fields that are added, or with - subtracted\n"
    text += f"LINES: Final = {lines!r}  # printf text, values, whether the short form has it\n"
    text += f"COUNTS: Final[dict[str, frozenset[str]]] = {counts!r}  # names of the operations that a field counts\n"
    return {"oric_tables/statistics.py": text}


def _values(row: Row) -> tuple[str | tuple[str, str], ...]:
    """The values of a line, with the shares of this project where no document names one."""
    shares = iter(row.values.get("shares", ()))
    return tuple(tuple(next(shares)) if name == statistics.UNDOCUMENTED else name for name in row.values["values"])


def _counted(spec: Spec, row: Row) -> frozenset[str]:
    """The names of the operations that a field counts."""
    names = {name: opcode.category for name, opcode in opcodes.load(spec).by_name.items()}
    wanted = row.values.get("categories", ())
    for column, known in (("categories", set(names.values())), ("names", set(names))):
        for word in row.values.get(column, ()):
            if word not in known:
                raise SpecError(spec.path(statistics.FILES[0]), row.line, f"{row.key}: {column} '{word}': opcodes.yaml has none")
    return _Sorted([*(name for name, category in names.items() if category in wanted), *row.values.get("names", ())])


class _Sorted(frozenset[str]):
    """A set that is written in order."""

    def __repr__(self) -> str:
        return f"frozenset({sorted(self)!r})"
