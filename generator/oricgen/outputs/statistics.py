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
    further = [(row.values["text"], tuple(row.values["values"])) for row in found["further"]]
    counts = {row.values["field"]: _counted(spec, row) for row in found["counts"]}
    text = header("#", "generator/oricgen/outputs/statistics.py", ["spec/statistics.yaml", "spec/opcodes.yaml"]) + _INTRODUCTION
    text += f"FIELDS: Final[dict[str, int]] = {fields!r}  # DWORD index in the record\n"
    text += f"SIZE: Final = {max(fields.values()) + 1}  # DWORDs of the record\n"
    text += f"COMPUTED: Final[dict[str, tuple[str, ...]]] = {computed!r}  # fields that are added, or with - subtracted\n"
    text += f"LINES: Final = {lines!r}  # printf text, values, whether the short form has it\n"
    text += f"FURTHER: Final = {further!r}  # the same of the full form\n"
    text += f"ZEROS: Final = {tuple(row.values['field'] for row in found['zeros'])!r}  # fields that are always 0\n"
    text += f"ROWS: Final = {[_field(row) for row in found['fields']]!r}  # index, byte offset, name, type, text, doc\n"
    text += f"FLOATS: Final = {[_float(row) for row in found['floats']]!r}  # index, name, share\n"
    conditions = {row.values["prints"]: (row.values["field"], row.values["above"]) for row in found["conditions"]}
    text += f"CONDITIONS: Final = {conditions!r}  # what is printed -> the field that has to be above a number\n"
    text += f"COUNTS: Final[dict[str, frozenset[str]]] = {counts!r}  # names of the operations that a field counts\n"
    return {"oric_tables/statistics.py": text}


def _field(row: Row) -> tuple[int, int, str, str, str, str]:
    """A field; one that the profile does not show has no text."""
    v = row.values
    return v["index"], v["offset"], v["name"], v["type"], "" if v["text"] == "none" else v["text"], v["doc"]


def _float(row: Row) -> tuple[int, str, tuple[str, ...]]:
    """A float without a name has a share."""
    return row.values["index"], row.values["name"], tuple(row.values.get("share", ()))


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
