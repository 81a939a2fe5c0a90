"""Knobs: where their values lie and their defaults, for Python and C; their rows, for those who set or list them."""

from __future__ import annotations

from codecs import encode
from typing import Any

from ..render import template
from ..spec import Spec
from ..tables import knobs, thresholds

_HOLDERS = {  # the array of values that each type lies in
    "bool": "numbers", "int": "numbers", "int_extra": "numbers", "int_range": "numbers", "int_list": "numbers",
    "float": "reals", "double": "reals", "string": "texts", "string_alt": "texts",
    "when_string": "conditions", "value_pair_list": "pairs", "opcode_list": "opcodes",
}  # fmt: skip


def render(spec: Spec) -> dict[str, str]:
    """Render all four from the same rows."""
    placed = _placed(knobs.settable(spec))
    lengths = {holder: sum(row["count"] for row in placed if row["holder"] == holder) for holder in set(_HOLDERS.values())}
    by_holder = {
        "numbers": [number for row in placed if row["holder"] == "numbers" for number in knobs.numbers(row["knob"])],
        "reals": [float(row["knob"].default) for row in placed if row["holder"] == "reals"],
        "texts": [row["knob"].default for row in placed if row["holder"] == "texts"],
    }
    in_c = [row for row in placed if thresholds.read_by_c(row["knob"].reader)]
    values: dict[str, Any] = {"rows": placed, "lengths": lengths, **by_holder}
    return {
        "oric_tables/knobs.py": template("knobs.py.j2", **values),
        "oric_tables/knob_rows.py": template("knob_rows.py.j2", **values, listed=knobs.listed(spec), types=_types(spec)),
        "c/tables/knobs.h": template("knobs.h.j2", rows=in_c, total=lengths["numbers"]),
        "c/tables/knobs.c": template("knobs.c.j2", numbers=by_holder["numbers"]),
    }


def _placed(rows: list[knobs.Knob]) -> list[dict[str, Any]]:
    """Each knob with the array that its value lies in, where it begins there, and how many places it has."""
    used: dict[str, int] = {}
    out = []
    for knob in rows:
        holder = _HOLDERS[knob.type]
        count = knobs.slots(knob) or 1
        slot = used.get(holder, 0)
        used[holder] = slot + count
        names = encode(knob.name, "rot13"), encode(knob.alias, "rot13")
        out.append({"knob": knob, "holder": holder, "slot": slot, "count": count, "rot13": names})
    return out


def _types(spec: Spec) -> dict[str, int]:
    """The tag of each type."""
    return {row.values["name"]: row.values["tag"] for row in knobs.load(spec)["types"]}
