"""``oric_tables/ori_operands.py`` and ``c/tables/operand*.h``: the packed operand word and the predicates of selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..isa.model import KINDS
from ..render import template
from ..spec import Spec
from ..tables import operand_kinds, registers


def render(spec: Spec) -> dict[str, str]:
    """Render all, from the same rows."""
    found = operand_kinds.load(spec)
    values = {
        "fields": [_field(row.values, operand_kinds.bits_of(row)) for row in found["fields"]],
        "types": [row.values for row in found["types"]],
        "kinds": [row.values for row in found["kinds"]],
        "problems": [row.values for row in found["problems"]],
        "slots": sorted((row.values for row in found["slots"]), key=lambda s: KINDS[s["slot"]]),
        "predicates": [_predicate(spec, row.values) for row in found["predicates"]],
        "classes": {row.values["operand"]: row.values["class"] for row in found["register_class"]},
        "registers": {row.key: row.values for row in registers.load(spec)["fixed"]},
        "select": [row.values["select"] for row in registers.load(spec)["types"]],
        "pt_type": next(row.values["type"] for row in registers.load(spec)["types"] if row.values["name"] == "P"),
    }
    return {
        "oric_tables/ori_operands.py": template("ori_operands.py.j2", **values),
        "c/tables/operands.h": template("ori_operands.h.j2", **values),
        "c/tables/operand_fields.h": template("operand_fields.h.j2", **values),
        "c/tables/operands.c": template("ori_operands.c.j2", **values),
    }


def _field(row: Mapping[str, Any], bits: range) -> dict[str, Any]:
    mask = (1 << len(bits)) - 1
    return {**row, "shift": bits[0], "mask": mask, "in_place": mask << bits[0], "name": row["field"].lower()}


def _predicate(spec: Spec, row: Mapping[str, Any]) -> dict[str, Any]:
    """With the types of the operand, and those of the register in it, as masks of bits; RZ stands for URZ, PT for UPT too."""
    codes = {t.values["name"]: t.values["code"] for t in operand_kinds.load(spec)["types"]}
    wanted = row.get("files")
    types = registers.load(spec)["types"]
    passing = {r.values["sentinel"] for r in registers.load(spec)["fixed"] if not wanted or r.values["file"] in wanted}
    sentinels = {r.key: r.values["sentinel"] for r in registers.load(spec)["fixed"]}
    return {
        **row,
        "type_mask": sum(1 << codes[name] for name in row["types"]),
        "file_mask": sum(1 << t.values["type"] for t in types if t.values["file"] in wanted) if wanted else None,
        "rz": sentinels["RZ"] in passing,
        "pt": sentinels["PT"] in passing,
    }
