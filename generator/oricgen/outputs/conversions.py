"""``oric_tables/conversions.py``: what phase 5 puts in the place of operations, by case and encoding model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..isa import rows as machine_rows
from ..render import header
from ..spec import Spec
from ..tables import conversions, macros
from ..tables.conversions import Conversion

_TEXT = '''"""Conversions of phase 5, by cases of the dispatch table.

``CASES``: encoding model -> the case of each operation, 0 for those that no row may convert: little-endian words of 16 bits.
``ROWS``: case -> rows in the order in which they are tried: (operation, models, for entries only, conditions, family, predication
step, number of the other operation, modifiers that are taken over, template). A condition is (shift, mask, values): the
modifier's value is one of the bits of ``values``. A modifier is (shift, mask, shift in the other operation).
"""

from __future__ import annotations

from typing import Any, Final

'''


def render(spec: Spec) -> dict[str, str]:
    """Render the conversions."""
    rows = conversions.load(spec)
    count = 1 + max(o.number for o in macros.load(spec))
    head = header("#", "oricgen.outputs.conversions", ["spec/conversions.yaml", "spec/dispatch.yaml"])
    cases = "".join(f'    "{isa}": bytes.fromhex("{_cases(rows, isa, count)}"),\n' for isa in machine_rows.load(spec).isas)
    lines = "".join(f"    {case}: [\n{_rows(r for r in rows if r.id == case)}    ],\n" for case in sorted({r.id for r in rows}))
    text = f"CASES: Final[dict[str, bytes]] = {{\n{cases}}}\nROWS: Final[dict[int, list[tuple[Any, ...]]]] = {{\n{lines}}}\n"
    return {"oric_tables/conversions.py": head + _TEXT + text}


def _cases(rows: Iterable[Conversion], isa: str, count: int) -> str:
    found = {row.op.number: row.id for row in rows if isa in row.isas}
    return b"".join(found.get(number, 0).to_bytes(2, "little") for number in range(count)).hex()


def _rows(rows: Iterable[Conversion]) -> str:
    return "".join(f"        {(*_head(r), r.to.number if r.to else 0, r.moves, r.template)!r},  # {r.op.name}\n" for r in rows)


def _head(row: Conversion) -> tuple[Any, ...]:
    return row.op.number, row.isas, row.entry, row.conditions, row.family, row.predication
