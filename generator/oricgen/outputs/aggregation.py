"""``oric_tables/aggregation.py``: atomics of which one thread does those of all threads of its warp."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..render import header
from ..spec import Spec
from ..tables import aggregation
from ..tables.aggregation import Atomic

_TEXT = '''"""Atomics of which one thread does those of all threads of its warp, by operation.

``ACQUIRES``: the feature without which what an acquire reads counts as wanted. ``ROWS``: operation -> rows in the order in
which they are tried: (conditions, what the one thread does for threads with the same operand, whether what stood there may be
wanted, operation and sign of REDUX for operands that differ, the operand that changes nothing, the only operand or -1, what
stands in its place, bits of the modifiers that are cleared and set). A condition is (shift, mask, values): the modifier's value
is one of the bits of ``values``.
"""

from __future__ import annotations

from typing import Final

'''
_TYPE = "tuple[tuple[tuple[int, int, int], ...], int, bool, tuple[str, str], int, int, int, int, int]"


def render(spec: Spec) -> dict[str, str]:
    """Render the atomics."""
    rows = aggregation.load(spec)
    head = header("#", "oricgen.outputs.aggregation", ["spec/aggregation.yaml"])
    numbers = "".join(f"{name.upper()}: Final = {number}\n" for number, name in enumerate(aggregation.ALIKE))
    by_op = {row.op.number: row.op.name for row in rows}
    lines = "".join(
        f"    {number}: [  # {name}\n{_rows(r for r in rows if r.op.number == number)}    ],\n"
        for number, name in sorted(by_op.items())
    )
    feature = spec.load(aggregation.FILES[0])["acquires"]
    numbers += f'ACQUIRES: Final = "{feature}"\n'
    text = f"{numbers}Row = {_TYPE}\nROWS: Final[dict[int, list[Row]]] = {{\n{lines}}}\n"
    return {"oric_tables/aggregation.py": head + _TEXT + text}


def _rows(rows: Iterable[Atomic]) -> str:
    return "".join(f"        {_row(row)!r},\n" for row in rows)


def _row(row: Atomic) -> tuple[Any, ...]:
    return (
        row.conditions, row.alike, row.wanted, row.different, row.neutral, row.constant, row.as_constant, row.cleared, row.given,
    )  # fmt: skip
