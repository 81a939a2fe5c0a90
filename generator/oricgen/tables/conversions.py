"""What the instruction converter does with the cases of ``dispatch.yaml``: ``spec/conversions.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .. import handlers
from ..errors import SpecError
from ..isa import rows as machine_rows
from ..isa.model import Modifier, Operation
from ..names import did_you_mean
from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map
from . import _numbers, dispatch, macros, opcodes
from ._shared import numbered

NAME = "conversions"
FILES = ("conversions.yaml",)
_PATH = Spec.path(FILES[0])

# A condition: the modifier's bits, shifted down and masked, are one of the numbers whose bits are set in the third.
Condition = tuple[int, int, int]


@dataclass(frozen=True)
class Conversion:
    """One row, for the models on which it is.

    ``entry``: only in entries. ``predicate``: name of the predicate of the case, "" for none, whose ``conditions`` are those of
    the row too. ``to``: the operation that it becomes. ``moves``: (shift, mask, shift in the other operation) of modifiers.
    """

    op: Operation
    id: int
    family: str
    isas: tuple[str, ...]
    entry: bool
    predicate: str
    predication: bool
    conditions: tuple[Condition, ...]
    to: Operation | None
    moves: tuple[tuple[int, int, int], ...]
    template: str
    takes: tuple[str, ...]
    line: int


def load(spec: Spec) -> tuple[Conversion, ...]:
    """The rows in their order.

    Raises:
        SpecError: an unknown name, an operation whose opcode is no case, modifiers that do not match.
    """
    return spec.memo(NAME, lambda: tuple(_load(spec)))


def converted(spec: Spec) -> dict[str, list[tuple[tuple[str, ...], tuple[Condition, ...]]]]:
    """Operation -> models that do not have it, on which it is converted, with the conditions, a pair for each row."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[Condition, ...]]]] = {}
    for row in load(spec):
        lacking = tuple(isa for isa in row.isas if not row.op.forms.get(isa))
        if lacking:
            found.setdefault(row.op.name, []).append((lacking, row.conditions))
    return found


def fits(mods: int, conditions: tuple[Condition, ...]) -> bool:
    """Whether packed modifiers are among those of the conditions."""
    return all(allowed >> (mods >> shift & mask) & 1 for shift, mask, allowed in conditions)


def absent(spec: Spec) -> dict[int, str]:
    """Case -> why no instruction is one.

    Raises:
        SpecError: a range that does not go up, an id that is no case, that is there twice, or that a row converts.
    """
    out: dict[int, str] = {}
    cases, busy = dispatch.load(spec).by_id, {row.id for row in load(spec)}
    for number, row in enumerate(spec.load(FILES[0])["absent"]):
        for one, line in _numbers.expand(row["ids"], _PATH, f"absent, item {number + 1}: column 'ids'"):
            if one not in cases or one in out or one in busy:
                raise SpecError(_PATH, line, f"absent, item {number + 1}: {one} is no case, is converted, or is there twice")
            out[one] = row["why"]
    return out


def rows(spec: Spec) -> list[Row]:
    """One row a conversion, called by its operation."""
    table = spec.load(FILES[0])["conversions"]
    return numbered(Row(row["op"], plain(row), str(_PATH), table.line_of(number)) for number, row in enumerate(table))


def counts(spec: Spec) -> dict[str, int]:
    """Rows and families."""
    return {"conversions": len(load(spec)), "families of conversions": len(spec.load(FILES[0])["families"])}


def check(spec: Spec) -> None:
    """Families are functions that some row names; templates are there.

    Raises:
        SpecError: the first mistake.
    """
    absent(spec)
    found = load(spec)
    families = spec.load(FILES[0])["families"]
    for name in families:
        if name not in {row.family for row in found} or name not in handlers.registered(handlers.FAMILIES):
            raise SpecError(_PATH, families.line_of(name), f"{name}: no row names it, or the compiler has no function for it")
    templates = {name for data in spec.family("lowering").values() for name in data.get("templates", ())}
    for row in found:
        if row.template and row.template not in templates:
            raise SpecError(_PATH, row.line, f"{row.op.name}: spec/lowering has no template '{row.template}'")


def _load(spec: Spec) -> Iterator[Conversion]:
    machine = machine_rows.load(spec)
    operations = {o.name: o for o in (*machine.operations, *macros.load(spec))}
    data = spec.load(FILES[0])
    table = data["conversions"]
    for number, row in enumerate(table):
        line = table.line_of(number)
        for column, known in (("op", operations), ("to", operations), ("family", data["families"])):
            if column in row and row[column] not in known:
                word = row[column]
                raise SpecError(_PATH, line, f"{row['op']}: column '{column}': there is no '{word}'{did_you_mean(word, known)}")
        yield _row(spec, row, line, operations, machine.isas)


def _row(spec: Spec, row: Map, line: int, operations: Mapping[str, Operation], isas: tuple[str, ...]) -> Conversion:
    op = operations[row["op"]]
    to = operations[row["to"]] if "to" in row else None
    if {"rename": to is None, "expand": "template" not in row}.get(row["family"]):
        raise SpecError(_PATH, line, f"{op.name}: {row['family']} needs 'to' or 'template'")
    number = row.get("id", -1)
    if number < 0 and op.opcode in opcodes.load(spec).by_name:
        number = opcodes.load(spec).by_name[op.opcode].id
    table = dispatch.load(spec)
    entry = table.by_id.get(number)
    if entry is None:
        raise SpecError(_PATH, line, f"{op.name}: its opcode is no case of dispatch.yaml")
    predicate = next((p for p in table.predicates if p.name == entry.when), None)
    conditions = _conditions(op, row.get("where", {}), line)
    if predicate is not None:
        if not predicate.where:
            raise SpecError(_PATH, line, f"{op.name}: dispatch.yaml does not say where '{predicate.name}' holds here")
        conditions += _conditions(op, predicate.where, line)
    has = [isa for isa in isas if predicate is not None or not op.forms.get(isa)]
    has = [isa for isa in has if to is None or to.forms.get(isa)]
    return Conversion(
        op, number, row["family"], tuple(has), row.get("entry", False), entry.when, entry.predication, conditions, to,
        _moves(op, to, row, conditions, line), row.get("template", ""), tuple(row.get("takes", ())), line,
    )  # fmt: skip


def _modifier(op: Operation, name: str, line: int) -> Modifier:
    found = next((m for m in op.mods if m.name == name), None)
    if found is None:
        raise SpecError(_PATH, line, f"{op.name} has no modifier '{name}'")
    return found


def _conditions(op: Operation, where: Mapping[str, tuple[str, ...]], line: int) -> tuple[Condition, ...]:
    out = []
    for name, values in where.items():
        modifier, allowed = _modifier(op, name, line), 0
        for value in values:
            if value not in modifier.codes:
                raise SpecError(_PATH, line, f"{op.name}: modifier '{name}' has no value '{value}'")
            allowed |= 1 << modifier.codes[value]
        out.append((modifier.shift, (1 << modifier.width) - 1, allowed))
    return tuple(out)


def _moves(
    op: Operation, to: Operation | None, row: Map, conditions: tuple[Condition, ...], line: int
) -> tuple[tuple[int, int, int], ...]:
    """Where the values of modifiers go: into the other operation's, or to the arguments of a template in their order."""
    names = row.get("mods", {})
    if to is None:
        found = [_modifier(op, name, line) for name in names]
        return tuple((m.shift, (1 << m.width) - 1, 0) for m in found)
    out = []
    for name, of in names.items():
        there, here = _modifier(to, name, line), _modifier(op, of, line)
        allowed = next((bits for shift, _, bits in conditions if shift == here.shift), -1)
        for value, code in here.codes.items():
            if allowed >> code & 1 and there.codes.get(value) != code:
                raise SpecError(_PATH, line, f"{op.name}: '{value}' of its modifier '{of}' is another in {to.name}")
        out.append((here.shift, (1 << here.width) - 1, there.shift))
    return tuple(out)
