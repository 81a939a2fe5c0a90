"""``c/value/values.c``: what operations of Ori compute of their operands; ``oric_tables/values.py``: which ones have a value."""

from __future__ import annotations

from ..render import header, numbered, template
from ..spec import Spec
from ..tables import values

_ME = "generator/oricgen/outputs/values.py"
_CODE = "c/value/values.c"
_SOURCES = ["spec/values", "spec/encoding", "spec/macros.yaml"]


def render(spec: Spec) -> dict[str, str]:
    """Render the functions and the table of them.

    Raises:
        SpecError: a row that does not fit its operation.
    """
    found = values.load(spec)
    known = [value.meaning for value in found if value.meaning is not None]
    by_number = {value.operation.number: value for value in found}
    table = [by_number.get(number) for number in range(max(by_number) + 1)]
    code = template("values.c.j2", meanings=known, table=table)
    names = template(
        "values.py.j2",
        numbers=[value.operation.number for value in found if value.meaning is not None],
        unseen=[value.operation.number for value in found if value.unseen],
    )
    return {
        _CODE: numbered(header("//", _ME, _SOURCES) + code, _CODE),
        "oric_tables/values.py": header("#", _ME, _SOURCES) + names,
    }
