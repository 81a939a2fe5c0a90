"""Operations of Ori that no machine form has: ``spec/macros.yaml``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from .. import handlers
from ..errors import SpecError
from ..isa import notation
from ..isa import rows as machine_rows
from ..isa.model import EFFECTS, SLOTS, Modifier, Operand, Operation, Registers
from ..lowering.template import USUAL_ARGS
from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map
from . import phases

NAME = "macros"
SOURCES = ("Ra", "Rb", "Rc")
FILES = ("macros.yaml",)


def load(spec: Spec) -> tuple[Operation, ...]:
    """The macros as operations without forms, numbered behind those of the machine."""
    return spec.memo("macros", lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row a macro, called by its name."""
    table = spec.load(FILES[0])["macros"]
    load(spec)
    return [Row(name, plain(row), f"spec/{FILES[0]}", table.line_of(name)) for name, row in table.items()]


def counts(spec: Spec) -> dict[str, int]:
    """Number of macros."""
    return {"macro operations": len(load(spec))}


def check(spec: Spec) -> None:
    """Operands, effects, names.

    Raises:
        SpecError: the first row that breaks a rule.
    """
    load(spec)


def _load(spec: Spec) -> tuple[Operation, ...]:
    machine = machine_rows.load(spec)
    taken = {o.ident: o.name for o in machine.operations}
    table = spec.load(FILES[0])["macros"]
    path = spec.path(FILES[0])
    out: list[Operation] = []
    for name, row in table.items():
        line = table.line_of(name)
        ident = name.replace(".", "_")
        if ident in taken:
            raise SpecError(path, line, f"{name}: the machine has an operation {taken[ident]}")
        for effect in row.get("effects", ()):
            if effect not in EFFECTS:
                raise SpecError(path, row.line_of("effects"), f"{name}: there is no effect '{effect}': {', '.join(EFFECTS)}")
        try:
            operands = notation.operands(row.get("ops", ""))
            widths = tuple(_width(operand) for operand in operands)
        except ValueError as error:
            raise SpecError(path, row.line_of("ops"), f"{name}: {error}") from error
        number = len(machine.operations) + 1 + len(out)
        out.append(
            Operation(
                number,
                name,
                "macro",
                0,
                str(path),
                line,
                "P",
                operands,
                _modifiers(spec, name, row, {o.name: o for o in machine.operations}),
                tuple(row.get("effects", ())),
                name,
                registers=widths,
                takes=_takes(spec, name, row, operands),
                template=row.get("template", ""),
                expansion=_expansion(spec, name, row),
                repeats=_repeats(spec, name, row, len(operands)),
                of=_of(spec, name, row, taken.values()),
            )
        )
    for operation in (*machine.operations, *out):
        if len(operation.operands) > SLOTS:
            raise SpecError(operation.path, operation.line, f"{operation.name}: more than {SLOTS} operands")
    return tuple(out)


def _modifiers(spec: Spec, name: str, row: Map, machine: Mapping[str, Operation]) -> tuple[Modifier, ...]:
    """The modifiers of a macro, one behind the other in its packed word."""
    out: list[Modifier] = []
    for key, of in row.get("mods", {}).items():
        found = next((m for m in machine[of].mods if m.name == key), None) if of in machine else None
        if found is None:
            raise SpecError(spec.path(FILES[0]), row["mods"].line_of(key), f"{name}: no operation '{of}' has a modifier '{key}'")
        out.append(replace(found, shift=sum(m.width for m in out)))
    return tuple(out)


def _repeats(spec: Spec, name: str, row: Map, operands: int) -> int:
    """How many of the last operands may stand any number of times: fewer than there are."""
    found: int = row.get("repeats", 0)
    if found >= max(operands, 1):
        raise SpecError(spec.path(FILES[0]), row.line_of("repeats"), f"{name}: {found} of {operands} operands cannot be repeated")
    return found


def _of(spec: Spec, name: str, row: Map, machine: Collection[str]) -> str:
    """The operation of the machine whose opcode a macro has."""
    found: str = row.get("of", "")
    if found and found not in machine:
        raise SpecError(spec.path(FILES[0]), row.line_of("of"), f"{name}: the machine has no operation '{found}'")
    return found


def _check_shared(spec: Spec, name: str, row: Map) -> None:
    """Code that kernels have once has the name that ptxas has for it, and registers of one width for up to two sources."""
    path, shared = spec.path(FILES[0]), row["shared"]
    if shared["name"] not in {helper["helper"] for helper in spec.load("helpers.yaml")["helpers"]}:
        raise SpecError(path, shared.line_of("name"), f"{name}: spec/helpers.yaml has no '{shared['name']}'")
    operands = row.get("ops", "").split()
    if "mods" in row or not 2 <= len(operands) <= 3 or len({operand.partition(":")[2] for operand in operands}) > 1:
        message = f"{name}: shared code has one or two sources as wide as its result, and no modifiers"
        raise SpecError(path, row.line_of("shared"), message)


def _check_wide(spec: Spec, name: str, row: Map) -> None:
    """The macro that takes the place of another has the same operands."""
    other = spec.load("macros.yaml")["macros"].get(row["wide"])
    if other is None or "template" not in other or other.get("ops") != row.get("ops") or "mods" in other:
        message = f"{name}: '{row['wide']}' is no macro with a template and the same operands"
        raise SpecError(spec.path(FILES[0]), row.line_of("wide"), message)


def _takes(spec: Spec, name: str, row: Map, operands: tuple[Operand, ...]) -> tuple[str, ...]:
    """Names of the sources that may be constants."""
    names = tuple(row.get("takes", "").split())
    for taken in names:
        if taken not in SOURCES or not any(o.name == taken for o in operands):
            message = f"{name}: '{taken}' is no source of it: {', '.join(SOURCES)} may take constants"
            raise SpecError(spec.path(FILES[0]), row.line_of("takes"), message)
    return names


def _check_template(spec: Spec, name: str, row: Map, column: str) -> None:
    """The template that a column names exists and takes as many operands as the macro has."""
    path, line, template = spec.path(FILES[0]), row.line_of(column), row[column]
    found = [data["templates"][template] for data in spec.family("lowering").values() if template in data.get("templates", ())]
    if not found:
        raise SpecError(path, line, f"{name}: spec/lowering has no template '{template}'")
    taken, given = len(found[0].get("args", USUAL_ARGS).split()), len(row.get("ops", "").split()) + len(row.get("mods", {}))
    if given > taken:
        raise SpecError(path, line, f"{name}: {given} operands and modifiers, its template takes {taken}")


def _expansion(spec: Spec, name: str, row: Map) -> int:
    """Index of the phase that expands a macro, 0 for none."""
    if ("template" in row) != ("phase" in row):
        raise SpecError(spec.path(FILES[0]), row.line, f"{name}: 'template' and 'phase' belong together")
    if "by" in row:
        return _phase_of(spec, name, row)
    if "template" not in row:
        return 0
    if "shared" in row:
        _check_shared(spec, name, row)
    path, line = spec.path(FILES[0]), row.line_of("template")
    for column in ("template", "long"):
        if column in row:
            _check_template(spec, name, row, column)
    if "wide" in row:
        _check_wide(spec, name, row)
    for phase in phases.load(spec):
        if phase["name"] == row["phase"]:
            if phase["function"] not in handlers.registered(handlers.MACROS):
                raise SpecError(path, line, f"{name}: phase {phase['index']} {phase['name']} runs nothing that expands macros")
            index: int = phase["index"]
            return index
    raise SpecError(path, row.line_of("phase"), f"{name}: there is no phase '{row['phase']}'")


def _phase_of(spec: Spec, name: str, row: Map) -> int:
    """Index of the phase whose pass takes a macro apart that has no template."""
    if "template" in row:
        raise SpecError(spec.path(FILES[0]), row.line_of("by"), f"{name}: a template says already what it stands for")
    for phase in phases.load(spec):
        if phase["function"] == row["by"]:
            index: int = phase["index"]
            return index
    raise SpecError(spec.path(FILES[0]), row.line_of("by"), f"{name}: no phase runs '{row['by']}'")


def _width(operand: Operand) -> Registers:
    if not operand.width.isdigit():
        raise ValueError(f"operand '{operand.name}': the width of a macro's operand is a number")
    return Registers((), (int(operand.width),))
