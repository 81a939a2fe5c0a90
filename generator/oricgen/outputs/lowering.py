"""``oric_tables/lower_*.py``: the lowering rules, one module a file of spec/lowering, and their index."""

from __future__ import annotations

from pathlib import Path
from pprint import pformat
from typing import Any

from ..errors import SpecError
from ..lowering.compiler import Compiler
from ..lowering.operations import Operation
from ..lowering.provisional import load as load_operations
from ..render import header
from ..spec import Spec
from ..strictyaml import Map


def render(spec: Spec) -> dict[str, str]:
    """Render the rule modules and the index.

    Raises:
        SpecError: a mistake in a rule; an instruction family in two files; a set declared twice.
    """
    files = spec.family("lowering")
    if not files:
        return {}
    operations = load_operations(spec)
    sets = _sets(spec, files)
    out: dict[str, str] = {}
    owner: dict[str, str] = {}
    templates: dict[str, str] = {}
    for name, data in files.items():
        stem = Path(name).stem
        module = f"lower_{stem}"
        families = _families(spec, name, data, operations, sets)
        named = _templates(spec, name, data, operations, sets)
        for family in families:
            if family in owner:
                raise SpecError(spec.path(name), 1, f"rules for '{family}' stand in {owner[family]} too")
            owner[family] = module
        templates.update(dict.fromkeys(named, module))
        out[f"oric_tables/{module}.py"] = (
            header("#", __name__, [f"spec/{name}", "spec/encoding"])
            + "RULES = "
            + pformat(families, width=160, sort_dicts=False)
            + "\nTEMPLATES = "
            + pformat(named, width=160, sort_dicts=False)
            + "\n"
        )
    out["oric_tables/lower_index.py"] = _index(spec, files, owner, templates)
    return out


def _sets(spec: Spec, files: dict[str, Map]) -> dict[str, dict[str, str]]:
    sets: dict[str, dict[str, str]] = {}
    for name, data in files.items():
        rows = data.get("sets", {})
        for key, values in rows.items():
            if key in sets:
                raise SpecError(spec.path(name), rows.line_of(key), f"set '{key}' is declared twice")
            sets[key] = {str(k): v for k, v in values.items()}
    return sets


def _families(spec: Spec, name: str, data: Map, operations: dict[str, Operation], sets: dict[str, dict[str, str]]) -> dict[str, Any]:
    compiler = Compiler(operations, sets, str(spec.path(name)))
    families: dict[str, list[Any]] = {}
    for entry in data.get("rules", ()):
        family, rule = compiler.rule(entry)
        families.setdefault(family, []).append(rule)
    return {family: tuple(rules) for family, rules in families.items()}


def _templates(spec: Spec, name: str, data: Map, operations: dict[str, Operation], sets: dict[str, dict[str, str]]) -> dict[str, Any]:
    compiler = Compiler(operations, sets, str(spec.path(name)))
    return {key: compiler.template(row) for key, row in data.get("templates", {}).items()}


def _index(spec: Spec, files: dict[str, Map], owner: dict[str, str], templates: dict[str, str]) -> str:
    registers: dict[str, Any] = {}
    for data in files.values():
        for key, row in data.get("special_registers", {}).items():
            registers[key] = tuple(row)
    return (
        header("#", __name__, ["spec/lowering/*.yaml"])
        + f"FAMILIES = {pformat(owner, width=120)}\nTEMPLATES = {pformat(templates, width=120)}\n"
        + f"SPECIAL_REGISTERS = {pformat(registers, width=120)}\n"
    )
