"""PTX to Ori: the rules of ``spec/lowering``, resolved: rows of `each`, macros and sets written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..lowering import checks, template
from ..lowering.compiler import Compiler, instances
from ..outputs.lowering import compiled, compiler_of, merged
from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map
from ._shared import numbered, without_empty

NAME = "lowering"
FILES = ("lowering",)


@dataclass(frozen=True)
class Rules:
    """The content of the folder: files as they stand, sets of all files together."""

    files: dict[str, Map]
    sets: dict[str, Any]


def load(spec: Spec) -> Rules:
    """The files of the folder."""
    files = spec.family(FILES[0])
    return Rules(files, merged(spec, files, "sets"))


def rows(spec: Spec) -> list[Row]:
    """A rule is called by its pattern (``add[.rnd].f32``), others ``template NAME``, ``%tid.x``, ``set NAME``, ``macro NAME``."""
    rules = load(spec)
    out: list[Row] = []
    for name, data in rules.files.items():
        path = f"spec/{name}"
        compiler = compiler_of(spec, name)
        for one, family, (_, _, alternatives) in compiled(spec)[name].rules:
            values = _rule(one, family, alternatives, data["source"], compiler, rules)
            out.append(Row(one["ptx"], values, path, one.line_of("ptx")))
        for group, mark in (("templates", "template "), ("special_registers", "%")):
            table = data.get(group, {})
            for key, row in table.items():
                cases = [_alternative(case, row, compiler, rules) for case in row.get("cases") or [row]]
                out.append(Row(mark + key, _numbered_cases(cases), path, table.line_of(key)))
        for group, mark in (("sets", "set "), ("macros", "macro ")):
            table = data.get(group, {})
            out += [Row(mark + key, plain(row), path, table.line_of(key)) for key, row in table.items()]
    return numbered(out)


def _numbered_cases(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of a row with one case are those of the case."""
    return cases[0] if len(cases) == 1 else {f"case {number}": case for number, case in enumerate(cases, 1)}


def _rule(
    one: Map, family: str, alternatives: tuple[tuple[Any, ...], ...], source: str, compiler: Compiler, rules: Rules
) -> dict[str, Any]:
    """The columns of a rule; ``isa`` names the encoding models that can do it, when not all can."""
    isas = [alternative[0] for alternative in alternatives]
    cases = [_alternative(row, one, compiler, rules) for row in one.get("cases") or [one]]
    values: dict[str, Any] = {
        "instruction": family,
        "isa": sorted({isa for part in isas if part for isa in part}) if None not in isas else [],
        "operands": one.get("operands"),
        **_numbered_cases(cases),
        "source": one.get("source", source),
    }
    return without_empty(values)


def _alternative(row: Map, entry: Map, compiler: Compiler, rules: Rules) -> dict[str, Any]:
    """One alternative: condition, lines with macros written out, the sets that the lines name."""
    columns = {
        key: row.get(key, entry.get(key)) for key in ("when", "if", "args", "expand", "with", "commute", "contract", "wide")
    }
    emit = row.get("emit", entry.get("emit"))
    lines = compiler.expanded(emit) if emit else []
    values = {key: plain(value) for key, value in columns.items()}
    return without_empty({**values, "emit": lines, "sets": {name: _set(name, rules) for name in _sets_of(lines)}})


def _sets_of(lines: list[str]) -> Iterator[str]:
    """Names of the sets in order of first use, once each."""
    found = (name for line in lines for name in template.parse(line, "", 0).sets)
    return iter(dict.fromkeys(name.partition("_of_")[0] for name in found))


def _set(name: str, rules: Rules) -> str:
    return ", ".join(f"{token} {_said(text)}" for token, text in rules.sets[name].items())


def _said(text: Any) -> str:
    """What a set has for a qualifier, by encoding models where it is not the same on all."""
    return text or "nothing" if isinstance(text, str) else " ".join(f"{isas} {t or 'nothing'}" for isas, t in text.items())


def counts(spec: Spec) -> dict[str, int]:
    """Rules before and after `each` is written out, templates, macros, sets."""
    files = load(spec).files.values()
    sums = {key: sum(len(data.get(key, ())) for data in files) for key in ("templates", "special_registers", "macros", "sets")}
    written = sum(len(instances(entry)) for data in files for entry in data.get("rules", ()))
    return {"rules": sum(len(data.get("rules", ())) for data in files), "rules written out": written, **sums}


def check(spec: Spec) -> None:
    """Every rule compiles, calls what exists, and can be chosen.

    Raises:
        SpecError: the first rule that does not.
    """
    checks.check(spec, compiled(spec))
