"""What the rules of ``spec/lowering`` name must exist, and every rule must be chosen somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import handlers
from ..errors import Mistakes, SpecError
from ..ptx import families
from ..spec import Spec
from ..strictyaml import Map
from ..tables import targets
from . import reach
from .compiler import instances

if TYPE_CHECKING:
    from ..outputs.lowering import Compiled

FOLDER = "lowering"
_INTRINSICS = "ocg_"  # instructions that calls of intrinsics become begin so


def check(spec: Spec, compiled: Mapping[str, Compiled]) -> None:
    """All of them.

    Raises:
        SpecError: the first mistake.
    """
    features = {name for target in targets.load(spec).with_code for name in target.features}
    records = set(spec.load("cubin.yaml")["mbarrier_records"]["kinds"])
    with Mistakes() as each:
        for name, data in spec.family(FOLDER).items():
            for which, rows in _named(data):
                for line, column, message in _mistaken(rows, features, records):
                    with each:
                        raise SpecError(spec.path(name), line, f"{which}: column '{column}': {message}")
            with each:
                _special_registers(spec, name, data)
        with each:
            _unused(spec, compiled)
    with Mistakes() as each:  # a rule that names what does not exist hides others
        for rule, case, why in _dead(spec, compiled):
            with each:
                which = f"case {case + 1}" if len(rule.alternatives) > 1 else "the rule"
                raise SpecError(rule.path, rule.case_lines[case], f"{rule.name}: {which} is never chosen: {why}")


def _named(data: Map) -> Iterator[tuple[str, list[Map]]]:
    """What the rules, templates and special registers of a file are called, and their rows: of a rule, one an instance."""
    for entry in data.get("rules", ()):
        yield entry["ptx"], list(instances(entry))
    for key in ("templates", "special_registers"):
        for name, row in data.get(key, {}).items():
            yield name, [row]


def _mistaken(rows: list[Map], features: set[str], records: set[str]) -> dict[tuple[int, str, str], None]:
    """Line, column and mistake of what rows, and their cases, name that does not exist."""
    found: dict[tuple[int, str, str], None] = {}
    for rule in rows:
        for row in (rule, *rule.get("cases", ())):
            for column, message in _references(row, features, records):
                found[row.line_of(column), column, message] = None
    return found


def _references(row: Map, features: set[str], records: set[str]) -> Iterator[tuple[str, str]]:
    """Columns of a rule or case that name what does not exist, and what is wrong."""
    for name in row.get("when", "").split():
        if name.removeprefix("!") not in features:
            yield "when", f"no target has the feature '{name.removeprefix('!')}'"
    if "if" in row and row["if"] not in handlers.functions(handlers.PREDICATES):
        yield "if", f"there is no function '{row['if']}' in oric/{handlers.PREDICATES}.py"
    if row.get("expand") and row["expand"] not in handlers.registered(handlers.EXPANSIONS):
        yield "expand", f"there is no function '{row['expand']}' in oric/{handlers.EXPANSIONS}.py"
    record = row.get("with", {}).get("record", "")
    if record and record not in records:
        yield "with", f"mbarrier_records of cubin.yaml has no kind '{record}'"


def _special_registers(spec: Spec, name: str, data: Map) -> None:
    known = spec.load("ptx/special_registers.yaml", "ptx_special_registers")["registers"]
    rows = data.get("special_registers", {})
    for key in rows:
        register, _, component = key.partition(".")
        row = known.get(register) or known.get(re.sub(r"\d+(?=_|$)", "", register, count=1), {})
        if not row or (component and component not in row.get("components", ())):
            raise SpecError(spec.path(name), rows.line_of(key), f"%{key}: ptx/special_registers.yaml does not have it")


def _unused(spec: Spec, compiled: Mapping[str, Compiled]) -> None:
    """Sets and macros that nothing names."""
    files = spec.family(FOLDER)
    rules = [one for found in compiled.values() for one, _, _ in found.rules]
    others = [data.get(key, {}) for data in files.values() for key in ("macros", "templates", "special_registers")]
    text = "\n".join(_texts([*rules, *others]))
    for name, data in files.items():
        for key in data.get("sets", ()):
            if not re.search(rf"\{{{key}(_of_\w+)?\}}|\.{key}\b", text):
                raise SpecError(spec.path(name), data["sets"].line_of(key), f"{key}: no rule names this set")
        for key in data.get("macros", ()):
            if not re.search(rf"\${key}\b", text):
                raise SpecError(spec.path(name), data["macros"].line_of(key), f"{key}: no line uses this macro")


def _texts(value: Any) -> Iterator[str]:
    """All texts below a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _dead(spec: Spec, compiled: Mapping[str, Compiled]) -> Iterator[tuple[reach.Rule, int, str]]:
    """Rules and cases that are never chosen; an instruction is looked at again only when one of its rules was edited."""
    signatures = spec.memo("slots of signatures", lambda: _signatures(spec), same=True)
    contexts = spec.memo("targets that rules tell apart", lambda: _contexts(spec), same=True)
    for family, found in rules_of(spec, compiled).items():
        if family.startswith(_INTRINSICS):  # the rows of spec/ocg choose among them
            continue

        def make(family: str = family, found: list[tuple[object, reach.Rule]] = found) -> list[tuple[reach.Rule, int, str]]:
            return list(reach.dead([rule for _, rule in found], signatures.get(family, []), contexts))

        yield from spec.part((*(row for row, _ in found), signatures, contexts), (), make)


def rules_of(spec: Spec, compiled: Mapping[str, Compiled]) -> dict[str, list[tuple[object, reach.Rule]]]:
    """The rules by instruction, in the order in which the compiler tries them, each with what it was made from."""
    out: dict[str, list[tuple[object, reach.Rule]]] = {}
    for name, found in compiled.items():
        for made in found.rules:
            entry, family, (slots, count, alternatives) = made
            lines = tuple(entry["cases"].lines) if "cases" in entry else (entry.line_of("ptx"),)
            rule = reach.Rule(entry["ptx"], str(spec.path(name)), entry.line_of("ptx"), lines, slots, count, alternatives)
            out.setdefault(family, []).append((made, rule))
    return out


def _signatures(spec: Spec) -> dict[str, list[reach.Slots]]:
    """Slots of the PTX signatures by the first word of the instruction."""
    out: dict[str, list[reach.Slots]] = {}
    for family in families(spec):
        for instruction in family.instructions:
            first = instruction.name.partition(".")[0]
            for form in instruction.forms:
                out.setdefault(first, []).append([(name, values, not needed) for name, values, needed in form.slots])
    return out


def _contexts(spec: Spec) -> list[reach.Context]:
    """The targets as far as rules can tell them apart."""
    return sorted({(t.isa, frozenset(t.features)) for t in targets.load(spec).with_code}, key=lambda c: (c[0], sorted(c[1])))
