"""``oric_tables/messages.py``: the parser's messages in ptxas's words."""

from __future__ import annotations

from ..render import header
from ..spec import Spec
from ..tables import messages

_INTRODUCTION = '''"""The parser's messages in ptxas's words: the first row whose pattern is all of a message counts."""

from typing import Final, NamedTuple


class Words(NamedTuple):
    """What ptxas says in place of a message; see spec/messages.yaml."""

    pattern: str
    texts: tuple[str, ...]
    late: tuple[str, ...]
    statement: str
    fatal: bool
    unplaced: bool
    alone: bool
    compiled: bool


WORDS: Final = (
'''


def render(spec: Spec) -> dict[str, str]:
    """Render the rows."""
    text = header("#", "generator/oricgen/outputs/messages.py", [f"spec/{messages.FILES[0]}"]) + _INTRODUCTION
    for row in messages.load(spec):
        now, late = (tuple(messages.texts(row, column)) for column in ("ptxas", "late"))
        flags = ", ".join(str(bool(row.values.get(name))) for name in ("fatal", "unplaced", "alone", "compiled"))
        text += f"    Words({messages.pattern(row)!r}, {now!r}, {late!r}, {row.values.get('statement', '')!r}, {flags}),\n"
    text += f")\nNAMES: Final = frozenset({sorted(messages.names(spec))!r})\n"
    return {"oric_tables/messages.py": text}
