"""``oric_tables/dispatch.py``: legalization by opcode."""

from __future__ import annotations

from ..render import header, template
from ..spec import Spec
from ..tables import dispatch, opcodes
from ..tables.dispatch import Entry


def render(spec: Spec) -> dict[str, str]:
    """Render the dispatch table."""
    table, known = dispatch.load(spec), opcodes.load(spec)
    return {
        "oric_tables/dispatch.py": template(
            "dispatch.py.j2",
            header=header("#", "oricgen.outputs.dispatch", ["spec/dispatch.yaml", "spec/opcodes.yaml"]).rstrip(),
            mask=known.base_mask,
            default=table.default,
            predication=table.predication,
            predicates=table.predicates,
            entries=[_entry(table.by_id.get(number)) for number in range(known.ids)],
        )
    }


def _entry(e: Entry | None) -> str:
    """The entry as a Python expression."""
    if e is None:
        return "None"
    tail = "" if e.predication else ", predication=False"
    if e.handler:
        then = f'Entry("direct", "{e.handler}"{tail})'
    elif e.slot >= 0:
        then = f'Entry("vtable", slot={e.slot}{tail})'
    else:
        then = f'Entry("inline", emit={e.emit:#x}{tail})'
    if not e.when:
        return then
    other = f'Entry("vtable", slot={e.otherwise}{tail})' if e.otherwise >= 0 else "None"
    return f'Conditional("{e.when}", {then}, {other})'
