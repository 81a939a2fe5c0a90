"""The opcode tables: ``oric_tables/opcodes.py``, ``c/tables/opcodes.{h,c}``, and ``flat/opcodes.txt`` to read."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from ..render import header, template
from ..spec import Spec
from ..tables import dispatch, opcodes
from ..tables.opcodes import Opcode, Opcodes

_SOURCES = ["spec/opcodes.yaml"]


def render(spec: Spec) -> dict[str, str]:
    """Render the three forms of the table."""
    table = opcodes.load(spec)
    canonical = [table.by_id[number] for number in range(table.ids)]
    own = _own(table)
    values = {
        "ids": table.ids, "own_first": table.own, "canonical": canonical, "own": own, "attributes": table.attributes,
        "words": _lines([f"{table.word(o):#06x}" for o in canonical]), "mask": table.base_mask,
        "own_words": _lines([f"{table.word(o):#06x}" for o in own]),
    }  # fmt: skip
    head = header("//", "oricgen.outputs.opcodes", _SOURCES).rstrip()
    return {
        "oric_tables/opcodes.py": template(
            "opcodes.py.j2", header=_head(), rows=table.rows, **values, **_texts([*canonical, *own])
        ),
        "c/tables/opcodes.h": template("opcodes.h.j2", header=head, **values),
        "c/tables/opcodes.c": template("opcodes.c.j2", header=head, **values),
        "flat/opcodes.txt": _flat(table, dispatch.load(spec)),
    }


def _own(table: Opcodes) -> list[Opcode]:
    """This project's own ids without gaps: families of instructions have ranges of their own, which are not full."""
    numbers = range(table.own, max(table.own - 1, *table.by_id) + 1)
    nothing = Opcode(0, "", "", "", "", "", (), {}, (), "", "", "", (), "", 0)
    return [table.by_id.get(n) or replace(nothing, id=n) for n in numbers]


def _head() -> str:
    return header("#", "oricgen.outputs.opcodes", _SOURCES).rstrip()


def _texts(rows: list[Opcode]) -> dict[str, str]:
    return {"names": _lines([f'"{o.name}"' for o in rows]), "categories": _lines([f'"{o.category}"' for o in rows])}


def _lines(items: list[str]) -> str:
    """``items`` as indented lines of at most 120 columns, with commas."""
    return textwrap.indent(textwrap.fill(", ".join(items) + ",", 116, break_on_hyphens=False), "    ")


def _flat(table: Opcodes, goes: dispatch.Dispatch) -> str:
    lines = [
        header("#", "oricgen.outputs.opcodes", [*_SOURCES, "spec/dispatch.yaml"]).rstrip(),
        "# id name category | attributes | memory | since | name is | legalization | other columns",
    ]
    lines += [_line(o, table, goes) for o in table.rows]
    return "\n".join(lines) + "\n"


def _line(o: Opcode, table: Opcodes, goes: dispatch.Dispatch) -> str:
    entry = goes.by_id.get(o.id)
    legalization = "" if entry is None else entry.text + ("" if entry.predication else " without predication")
    more = [f"throughput {form} {value:#x}" for form, value in o.throughput.items()]
    more += [f"ir_const {value}" for value in o.ir_const]
    basis = o.basis + (f" between {o.between[0]} and {o.between[1]}" if o.between else "")
    name = f"{o.id} {o.name or '-'} {o.category or '-'}"
    attributes = f"{table.word(o):#06x} {' '.join(o.attributes)}".rstrip()
    return " | ".join([name, attributes, o.memory, o.since, basis, legalization, ", ".join(more)]).replace("  ", " ").rstrip("| ")
