"""``oric_tables/lower_*.py``: the lowering rules, one module a file of spec/lowering, and their index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import Any

from ..errors import Mistakes, SpecError
from ..isa import rows as machine
from ..lowering.compiler import Compiler, instances
from ..lowering.operations import load as load_operations
from ..lowering.operations import special_registers
from ..render import header
from ..spec import Spec
from ..strictyaml import Map
from ..tables import simulator, targets


def render(spec: Spec) -> dict[str, str]:
    """Render the rule modules and the index.

    Raises:
        SpecError: a mistake in a rule; a set or macro declared twice.
    """
    files = spec.family("lowering")
    out: dict[str, str] = {}
    owner: dict[str, tuple[str, ...]] = {}
    templates: dict[str, str] = {}
    for name, found in compiled(spec).items():
        module = f"lower_{Path(name).stem}"
        families: dict[str, list[Any]] = {}
        for _, family, rule in found.rules:
            families.setdefault(family, []).append(rule)
        for family in families:
            owner[family] = (*owner.get(family, ()), module)
        templates.update(dict.fromkeys(found.named, module))
        rules = {family: tuple(rows) for family, rows in families.items()}
        out[f"oric_tables/{module}.py"] = (
            header("#", "oricgen.outputs.lowering", [f"spec/{name}", "spec/encoding"])
            + f"RULES = {rules!r}\nTEMPLATES = {found.named!r}\n"
        )
    out["oric_tables/lower_index.py"] = _index(spec, files, owner, templates)
    return out


@dataclass(frozen=True)
class Compiled:
    """The rules of one file: (entry with its columns, instruction, compiled rule), and the named templates."""

    rules: tuple[tuple[Map, str, tuple[Any, ...]], ...]
    named: dict[str, Any]


def compiled(spec: Spec) -> dict[str, Compiled]:
    """The content of ``spec/lowering`` compiled, by file, made once.

    Raises:
        SpecError: a mistake in a rule; a set or macro declared twice.
    """
    return spec.memo("lowering", lambda: {name: _compiled(spec, name, data) for name, data in spec.family("lowering").items()})


def _compiled(spec: Spec, name: str, data: Map) -> Compiled:
    compiler = compiler_of(spec, name)

    def rules(entry: Map) -> tuple[tuple[Map, str, tuple[Any, ...]], ...]:
        """An entry, once for each row of its `each`: compiled again only when it or what all rules share was edited."""
        return spec.part((entry, *compiler.shared), (), lambda: tuple((one, *compiler.rule(one)) for one in instances(entry)))

    found: list[tuple[Map, str, tuple[Any, ...]]] = []
    with Mistakes() as each:
        for entry in data.get("rules", ()):
            with each:
                found += rules(entry)
        with each:
            templates = _templates(compiler, data)
    return Compiled(tuple(found), templates)


def compiler_of(spec: Spec, name: str) -> Compiler:
    """The compiler of the rules of ``spec/NAME``."""
    files = spec.family("lowering")
    operations = spec.memo("lowering operations", lambda: load_operations(spec), same=True)
    sets, macros = merged(spec, files, "sets"), merged(spec, files, "macros")
    special = spec.memo("system registers of lines", lambda: special_registers(spec), same=True)
    columns = spec.memo("target columns", lambda: _columns(spec), same=True)
    isas = spec.memo("encoding models of rules", lambda: tuple(machine.load(spec).isas), same=True)
    return Compiler(operations, sets, macros, special, str(spec.path(name)), columns, isas)


def _columns(spec: Spec) -> dict[str, tuple[str, ...] | None]:
    """Numbers of a target that lines may name, and the encoding models that have them, None for all."""
    found: dict[str, tuple[str, ...] | None] = {
        name: None
        for target in targets.load(spec).with_code
        for name in (
            *(f"bank0_{key}" for key in target.bank0),
            *target.limits,
            "shared_base",
            "number",
            "encoded_arch",
        )
    }
    isas = targets.isa_names(spec)
    for name, at in simulator.places(spec).items():
        found[f"bank0_{name}"] = None if len(at) == len(isas) else tuple(at)
    return found


def merged(spec: Spec, files: dict[str, Map], key: str) -> dict[str, Any]:
    """The entries of a section of all files, made once for the same sections.

    Raises:
        SpecError: an entry that two files declare.
    """
    sections = {name: data[key] for name, data in files.items() if key in data}
    return spec.part(tuple(sections.values()), (), lambda: _merged(spec, sections, key))


def _merged(spec: Spec, sections: dict[str, Map], key: str) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name, rows in sections.items():
        for entry, value in rows.items():
            if entry in merged:
                raise SpecError(
                    spec.path(name),
                    rows.line_of(entry),
                    f"{entry}: another file has an entry of '{key}' of that name",
                )
            merged[entry] = value
    return merged


def _templates(compiler: Compiler, data: Map) -> dict[str, Any]:
    named = {key: compiler.named(f"template {key}", row) for key, row in data.get("templates", {}).items()}
    named.update({f"%{key}": compiler.named(f"%{key}", row) for key, row in data.get("special_registers", {}).items()})
    return named


def _index(spec: Spec, files: dict[str, Map], owner: dict[str, tuple[str, ...]], templates: dict[str, str]) -> str:
    registers = {
        key: 2 if row.get("wide") else 0 if row.get("predicate") else 1
        for data in files.values()
        for key, row in data.get("special_registers", {}).items()
    }
    return (
        header("#", "oricgen.outputs.lowering", ["spec/lowering/*.yaml"])
        + f"FAMILIES = {pformat(owner, width=120)}\nTEMPLATES = {pformat(templates, width=120)}\n"
        + f"SPECIAL_REGISTERS = {pformat(registers, width=120)}\n"
    )
