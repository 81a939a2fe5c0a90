"""Reads ``spec/encoding`` and resolves every row into its forms on every ISA."""

from __future__ import annotations

from typing import Any

from ..errors import Mistakes, SpecError
from ..spec import Spec
from ..strictyaml import Map
from ..tables import opcodes
from . import bits, notation, ranges, widths
from .forms import FormBuilder, RowContext
from .model import Form, Implicit, Machine, ModField, Modifier, Operation
from .places import Formats, formats_on
from .references import mistakes


def load(spec: Spec) -> Machine:
    """The whole machine model, made once.

    Raises:
        SpecError: any mistake in the rows, with file and line.
    """
    return spec.memo("machine", lambda: _load(spec))


def _load(spec: Spec) -> Machine:
    formats = spec.load("formats.yaml")
    known, markers = opcodes.load(spec).by_name, opcodes.load(spec).markers
    isas = tuple(formats["isas"])
    on_isa = spec.part((formats,), (), lambda: _formats(spec, formats, isas))
    aliases: list[tuple[str, tuple[tuple[int, str], ...]]] = []
    operations: list[Operation] = []
    seen: dict[str, Operation] = {}
    words: dict[tuple[str, int], Operation] = {}
    rows = [(path, name, row, data["operations"].line_of(name)) for path, data in spec.family("encoding").items()
            for name, row in data["operations"].items()]  # fmt: skip
    with Mistakes() as each:
        for path, name, row, line in rows:
            with each:
                where = str(spec.path(path))
                if name in seen:
                    raise SpecError(where, line, f"{name}: the operation is also in {seen[name].path}:{seen[name].line}")
                opcode = row.get("opcode", name)
                if opcode not in known:
                    raise SpecError(
                        where,
                        row.line_of("opcode") if "opcode" in row else line,
                        f"{name}: there is no opcode '{opcode}' in opcodes.yaml",
                    )
                if opcode in markers:
                    at = row.line_of("opcode") if "opcode" in row else line
                    raise SpecError(
                        where, at, f"operation '{name}': {opcode} is a range marker of opcodes.yaml; it cannot be encoded"
                    )
                numbers = len(operations) + 1, len(aliases)

                def make(
                    row: Map = row, where: str = where, line: int = line, name: str = name, numbers: tuple[int, int] = numbers
                ) -> Any:
                    more: list[Any] = [None] * numbers[1]
                    return _operation(on_isa, formats, where, line, name, row, numbers[0], more), more[numbers[1] :]

                operation, more = spec.part((row, formats), (*numbers, line), make)
                aliases += more
                key = (operation.opcode, operation.sub)
                if key in words:
                    raise SpecError(where, line, f"{name}: opcode {key[0]} and sub {key[1]} are those of {words[key].name}")
                seen[name] = words[key] = operation
                operations.append(operation)
        for path, name, row, _ in rows:
            if "unread" in row and name in seen:
                with each:
                    _check_unread(str(spec.path(path)), row, seen[name], seen)
    machine = Machine(isas, tuple(operations), tuple(aliases))
    check_overlap(machine)
    return machine


def _formats(spec: Spec, formats: Map, isas: tuple[str, ...]) -> dict[str, Formats]:
    """formats.yaml on every ISA; ISAs on which it is the same share the object."""
    out: dict[str, Formats] = {}
    for isa in isas:
        try:
            found = formats_on(isa, isas, formats)
        except ValueError as error:
            raise SpecError(spec.path("formats.yaml"), formats.line_of("isas"), str(error)) from error
        out[isa] = next((f for f in out.values() if f == found), found)
    return out


def _operation(
    on_isa: dict[str, Formats], formats: Map, where: str, line: int, name: str, row: Map, number: int, aliases: list[Any]
) -> Operation:
    def fail(key: str, message: object) -> SpecError:
        return SpecError(where, row.line_of(key) if key in row else line, f"{name}: {message}")

    sets = formats["sets"]
    try:
        operands = notation.operands(row["ops"])
    except ValueError as error:
        raise fail("ops", error) from error
    fields: dict[str, dict[str, ModField]] = {}
    for mod, text in row.get("mods", {}).items():
        try:
            by_region = text if isinstance(text, Map) else {"": text}
            fields[mod] = {region: notation.modifier(mod, t, sets) for region, t in by_region.items()}
        except ValueError as error:
            raise fail("mods", error) from error
    first = len(aliases)
    for alias in row.get("aliases", []):
        aliases.append(_alias(alias, {o.name: i for i, o in enumerate(operands)}, fail))
    isas = tuple(on_isa)
    context = RowContext(
        where, name, line, row, operands, fields, sets, (first, len(aliases) - first), formats, isas, on_isa,
    )  # fmt: skip
    builder = FormBuilder(context)
    try:
        have = [isa for isa in isas if ranges.holds(row.get("isa", isas), isa, isas)]
    except ValueError as error:
        raise fail("isa", error) from error
    forms = {isa: builder.forms(isa) for isa in have}
    if any(len(f) == 0 for f in forms.values()):
        raise fail("forms", f"there is no form for {next(i for i, f in forms.items() if not f)}")
    mods = builder.modifiers()
    if sum(m.width for m in mods) > 64:
        raise fail("mods", f"the modifiers need {sum(m.width for m in mods)} bits, more than the 64 of the packed word")
    for wrong, message in mistakes(row, isas, operands, mods, forms):
        raise SpecError(where, wrong or line, f"{name}: {message}")
    try:
        registers = tuple(widths.registers(o, mods, row.get("widths", {})) for o in operands)
    except ValueError as error:
        raise fail("widths", error) from error
    implicit: tuple[Implicit, ...] = ()
    for column in ("implicit_reads", "implicit_writes"):
        try:
            implicit += notation.implicit(row.get(column, ""), column == "implicit_writes", operands)
        except ValueError as error:
            raise fail(column, f"column '{column}': {error}") from error
    try:
        flow = notation.flow(row, operands, mods)
    except ValueError as error:
        message, column = error.args
        raise fail(column, message) from error
    for operand_name in row.get("align", {}):
        if all(o.name != operand_name for o in operands):
            raise SpecError(
                where, row["align"].line_of(operand_name), f"{name}: column 'align': there is no operand '{operand_name}'"
            )
    return Operation(
        number, name, row.get("opcode", name), int(row.get("sub", 0)), where, line, row.get("guard", "P"), operands, mods,
        tuple(row.get("effects", [])), row["text"], {isa: builder.finish(f, number, mods) for isa, f in forms.items()},
        registers, implicit, flow, tuple(row.get("align", {}).get(o.name, 0) for o in operands), row.get("unread", ""),
    )  # fmt: skip


def _check_unread(where: str, row: Map, operation: Operation, known: dict[str, Operation]) -> None:
    """What an operation becomes where nobody reads its results must have what else it has."""
    other = known.get(operation.unread)
    at = row.line_of("unread")
    if other is None:
        raise SpecError(where, at, f"{operation.name}: column 'unread': there is no operation '{operation.unread}'")
    kept = {o.name for o in operation.operands if not o.writes}
    if {o.name for o in other.operands} != kept or {m.name for m in other.mods} != {m.name for m in operation.mods}:
        raise SpecError(where, at, f"{operation.name}: column 'unread': {other.name} has other sources or modifiers")


def _alias(alias: Map, operands: dict[str, int], fail: Any) -> tuple[str, tuple[tuple[int, str], ...]]:
    conditions = []
    for operand, test in alias["when"].items():
        if operand not in operands:
            raise fail("aliases", f"alias {alias['name']}: there is no operand '{operand}'")
        conditions.append((operands[operand], test))
    return "." + alias["name"], tuple(conditions)


def check_overlap(machine: Machine) -> None:
    """No word may belong to two forms of an ISA.

    Raises:
        SpecError: two forms that some word fits, naming both.
    """
    by_opcode: dict[tuple[str, int], list[tuple[Operation, Form]]] = {}
    for operation in machine.operations:
        for isa, forms in operation.forms.items():
            for form in forms:
                by_opcode.setdefault((isa, form.value & 0xFFF), []).append((operation, form))
    checked: set[tuple[int, ...]] = set()
    for (isa, _), group in by_opcode.items():
        same = tuple(id(form) for _, form in group)
        if same in checked:
            continue
        checked.add(same)
        for i, (one, a) in enumerate(group):
            for two, b in group[i + 1 :]:
                if not a.mask & b.mask & (a.value ^ b.value):
                    raise SpecError(
                        two.path, b.line,
                        f"{two.name}: form {b.name} and {one.name}'s form {a.name} ({one.path}:{a.line}) fit the same words "
                        f"on {isa}: they agree in {bits.said(a.mask & b.mask)}",
                    )  # fmt: skip


def opcode_words(spec: Spec, machine: Machine) -> dict[str, int]:
    """Operation name -> Ori opcode word (id in bits 0-11, sub-operation in bits 12-13).

    Raises:
        SpecError: a mistake in opcodes.yaml.
    """
    known = opcodes.load(spec).by_name
    return {o.name: known[o.opcode].id | o.sub << 12 for o in machine.operations}


__all__ = ["Machine", "Modifier", "check_overlap", "load", "opcode_words"]
