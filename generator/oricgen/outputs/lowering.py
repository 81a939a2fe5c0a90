"""``oric_tables/lower_*.py``: the lowering rules, one module a file of spec/lowering, and their index."""

from __future__ import annotations

from pathlib import Path
from pprint import pformat
from typing import Any

from ..errors import SpecError
from ..lowering.compiler import Compiler
from ..lowering.operations import load as load_operations
from ..lowering.operations import special_registers
from ..render import header
from ..spec import Spec
from ..strictyaml import Map


def render(spec: Spec) -> dict[str, str]:
    """Render the rule modules and the index.

    Raises:
        SpecError: a mistake in a rule; a set or macro declared twice.
    """
    files = spec.family("lowering")
    if not files:
        return {}
    out: dict[str, str] = {}
    owner: dict[str, tuple[str, ...]] = {}
    templates: dict[str, str] = {}
    for name, data in files.items():
        module = f"lower_{Path(name).stem}"
        compiler = compiler_of(spec, name)
        families = _families(compiler, data)
        named = _templates(compiler, data)
        for family in families:
            owner[family] = (*owner.get(family, ()), module)
        templates.update(dict.fromkeys(named, module))
        out[f"oric_tables/{module}.py"] = (
            header("#", "oricgen.outputs.lowering", [f"spec/{name}", "spec/encoding"])
            + f"RULES = {families!r}\nTEMPLATES = {named!r}\n"
        )
    out["oric_tables/lower_index.py"] = _index(spec, files, owner, templates)
    return out


def compiler_of(spec: Spec, name: str) -> Compiler:
    """The compiler of the rules of ``spec/NAME``."""
    files = spec.family("lowering")
    operations = spec.memo("lowering operations", lambda: load_operations(spec))
    sets, macros = merged(spec, files, "sets"), merged(spec, files, "macros")
    return Compiler(operations, sets, macros, special_registers(spec), str(spec.path(name)))


def merged(spec: Spec, files: dict[str, Map], key: str) -> dict[str, Any]:
    """The entries of a section of all files.

    Raises:
        SpecError: an entry that two files declare.
    """
    merged: dict[str, Any] = {}
    for name, data in files.items():
        rows = data.get(key, {})
        for entry, value in rows.items():
            if entry in merged:
                raise SpecError(spec.path(name), rows.line_of(entry), f"{entry} is declared twice in {key}")
            merged[entry] = value
    return merged


def _families(compiler: Compiler, data: Map) -> dict[str, Any]:
    families: dict[str, list[Any]] = {}
    for entry in data.get("rules", ()):
        for family, rule in compiler.rules(entry):
            families.setdefault(family, []).append(rule)
    return {family: tuple(rules) for family, rules in families.items()}


def _templates(compiler: Compiler, data: Map) -> dict[str, Any]:
    named = {key: compiler.named(row) for key, row in data.get("templates", {}).items()}
    named.update({f"%{key}": compiler.named(row) for key, row in data.get("special_registers", {}).items()})
    return named


def _index(spec: Spec, files: dict[str, Map], owner: dict[str, tuple[str, ...]], templates: dict[str, str]) -> str:
    registers = {
        key: 2 if row.get("wide") else 1 for data in files.values() for key, row in data.get("special_registers", {}).items()
    }
    return (
        header("#", "oricgen.outputs.lowering", ["spec/lowering/*.yaml"])
        + f"FAMILIES = {pformat(owner, width=120)}\nTEMPLATES = {pformat(templates, width=120)}\n"
        + f"SPECIAL_REGISTERS = {pformat(registers, width=120)}\n"
    )
