"""What the opcodes must fulfil as a whole, and together with the encoding rows, the targets and the scheduling classes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ..errors import Mistakes, SpecError
from ..isa import rows as machine_rows
from ..isa.model import EFFECTS, KINDS, Machine, Operation
from ..names import did_you_mean
from ..spec import Spec
from . import _line, opcodes, targets
from .opcodes import ASSIGNED, INFERRED, MARKER, Attribute, Opcode, Opcodes

_FILE = opcodes.FILES[0]
_PATH = Spec.path(_FILE)


def check(spec: Spec) -> None:
    """All checks.

    Raises:
        SpecError: the first mistake.
    """
    table = opcodes.load(spec)
    with Mistakes() as each:
        for whole in (_complete, _ranges, _second_numbering, _references, _samples):
            with each:
                whole(spec, table)
        for o in table.rows:
            with each:
                _evidence(o, table)
        with each:
            machine = machine_rows.load(spec)
            with each:
                _effects(machine, table)
            with each:
                _throughput(spec, machine, table)
            _isas(spec, machine, table)


def _fail(line: int, message: str, path: PurePath | str = _PATH) -> SpecError:
    return SpecError(path, line, message)


def _complete(spec: Spec, table: Opcodes) -> None:
    """Every id of the canonical numbering has a row, an unnamed id is a canonical one."""
    line = spec.load(_FILE).line_of("ids")
    for number in range(table.ids):
        if number not in table.by_id:
            raise _fail(line, f"ids: {number} has no row and is not among 'undocumented'")
    for o in table.rows:
        if not o.name and o.id >= table.ids:
            raise _fail(o.line, f"undocumented: {o.id} is above the last id, {table.ids - 1}")
        if o.name and (o.kind == MARKER) != (o.category == MARKER):
            raise _fail(o.line, f"{o.name}: column 'category': '{o.category}' does not fit the kind '{o.kind}'")


def _ranges(spec: Spec, table: Opcodes) -> None:
    data = spec.load(_FILE)["ranges"]
    start = 0
    for number, row in enumerate(data):
        line = data.line_of(number)
        if row["from"] != start or row["to"] < start:
            raise _fail(line, f"ranges: {row['from']} to {row['to']} stands where a range from {start} is expected")
        start = row["to"] + 1
        for end, at in (("first", row["from"]), ("last", row["to"])):
            found = table.by_name.get(row.get(end, ""))
            if end in row and (found is None or found.kind != MARKER or found.id != at):
                raise _fail(line, f"ranges: column '{end}': {row[end]} is no marker with the id {at}")
    if start != table.ids:
        raise _fail(data.line, f"ranges: they end at {start - 1}, not at the last id, {table.ids - 1}")


def _evidence(o: Opcode, table: Opcodes) -> None:
    """The neighbours of an inferred name are documented and on both sides; own ids are assigned, all others are not."""
    if o.basis == INFERRED:
        low, high = o.between or (0, 0)
        if not low < o.id < high:
            raise _fail(o.line, f"{o.name}: column 'between': {o.id} does not lie between {low} and {high}")
        for number in (low, high):
            found = table.by_id.get(number)
            if found is None or found.basis != "documented":
                raise _fail(o.line, f"{o.name}: column 'between': the name of {number} is not documented")
    elif (o.basis == ASSIGNED) != (o.id >= table.own):
        side = "from" if o.basis == ASSIGNED else "below"
        raise _fail(
            o.line, f"{o.name}: column 'source': {o.basis} ids are those {side} {table.own}" + (" on" if side == "from" else "")
        )


def _second_numbering(spec: Spec, table: Opcodes) -> None:
    """``ir_const`` and ``ir_constants`` say the same: every documented number belongs to one opcode."""
    data = spec.load(_FILE)["ir_constants"]
    lines: dict[int, int] = {}
    for index, row in enumerate(data):
        if row["value"] in lines:
            raise _fail(data.line_of(index), f"ir_constants: {row['value']} is listed twice")
        lines[row["value"]] = data.line_of(index)
    owner: dict[int, Opcode] = {}
    for o in table.rows:
        for value in o.ir_const:
            if value not in lines:
                raise _fail(o.line, f"{o.name}: column 'ir_const': {value} is not among 'ir_constants'")
            if value in owner:
                raise _fail(o.line, f"{o.name}: column 'ir_const': {value} is that of {owner[value].name}")
            owner[value] = o
    for value, line in lines.items():
        if value not in owner:
            raise _fail(line, f"ir_constants: {value} belongs to no opcode")


def _references(spec: Spec, table: Opcodes) -> None:
    """Attributes of categories and memory effects, effects of attributes, kinds of operand forms."""
    data = spec.load(_FILE)
    known = {a.name for a in table.attributes}
    for section in ("categories", "memory_effects"):
        for name, row in data[section].items():
            for word in row.get("attributes", ()):
                if word not in known:
                    where = row.line_of("attributes")
                    raise _fail(where, f"{name}: column 'attributes': there is no '{word}'{did_you_mean(word, known)}")
    for attribute in table.attributes:
        for effect in sorted(attribute.effects):
            if effect not in EFFECTS:
                hint = did_you_mean(effect, EFFECTS)
                raise _fail(attribute.line, f"{attribute.name}: column 'effects': operations have no '{effect}'{hint}")
    for form, kinds in data["operand_forms"].items():
        for kind in kinds:
            if kind not in KINDS:
                raise _fail(
                    data["operand_forms"].line_of(form), f"{form}: operands have no kind '{kind}'{did_you_mean(kind, KINDS)}"
                )


def _samples(spec: Spec, table: Opcodes) -> None:
    """The documented writes lie in the payload: four bytes an id behind a header of eight."""
    data = spec.load(_FILE)["attribute_samples"]
    known = {a.name for a in table.attributes}
    for index, row in enumerate(data):
        line = data.line_of(index)
        for offset in row["offsets"]:
            if not 8 <= offset < 8 + 4 * table.ids:
                raise _fail(line, f"attribute_samples: offset {offset} is not in the payload, 8 to {7 + 4 * table.ids}")
        if "attribute" in row and row["attribute"] not in known:
            raise _fail(line, f"attribute_samples: column 'attribute': there is no '{row['attribute']}'")


def _by_opcode(machine: Machine) -> dict[str, list[Operation]]:
    out: dict[str, list[Operation]] = {}
    for operation in machine.operations:
        out.setdefault(operation.opcode, []).append(operation)
    return out


def _effects(machine: Machine, table: Opcodes) -> None:
    """What operations do agrees with the attributes of their opcodes."""
    for name, operations in _by_opcode(machine).items():
        o = table.by_name[name]
        for attribute in table.attributes:
            if attribute.effects:
                _effect(o, attribute, operations)


def _effect(o: Opcode, attribute: Attribute, operations: list[Operation]) -> None:
    having = [op for op in operations if attribute.effects & set(op.effects)]
    if having and attribute.name not in o.attributes:
        effect = sorted(attribute.effects & set(having[0].effects))[0]
        raise _fail(
            o.line,
            f"{o.name}: has not the attribute '{attribute.name}', but its operation {having[0].name} has the effect '{effect}'",
        )
    if attribute.exact and not having and attribute.name in o.attributes:
        effects = ", ".join(sorted(attribute.effects))
        raise _fail(
            o.line, f"{o.name}: has the attribute '{attribute.name}', but none of its operations has an effect of {effects}"
        )


def _throughput(spec: Spec, machine: Machine, table: Opcodes) -> None:
    """A scheduling class of an operand form that no form of the opcode has says nothing."""
    forms = spec.load(_FILE)["operand_forms"]
    operations = _by_opcode(machine)
    for o in table.rows:
        kinds = set(_kinds(operations.get(o.name, []))) if o.throughput else set()
        for form in o.throughput:
            if not kinds & set(forms[form]):
                raise _fail(
                    o.line, f"{o.name}: column 'throughput': no form of it takes '{form}' operands ({', '.join(forms[form])})"
                )


def _kinds(operations: list[Operation]) -> Iterator[str]:
    """Kinds of the source operands of all forms."""
    for operation in operations:
        for form in (f for forms in operation.forms.values() for f in forms):
            yield from (p.kind for p in form.operands if not operation.operands[p.index].writes)


def _isas(spec: Spec, machine: Machine, table: Opcodes) -> None:
    """No operation has a form on a model with code that is older than its opcode."""
    places, have = _line.places(spec), {target.isa for target in targets.load(spec).with_code}
    for operation in machine.operations:
        o = table.by_name[operation.opcode]
        for isa in operation.forms:
            if isa in have and o.since in places and places[o.since] > places[isa]:
                raise _fail(
                    operation.line,
                    f"operation '{operation.name}' has a form on {isa}, but its opcode {o.name} ({o.id}) "
                    f"exists from {o.since} on",
                    operation.path,
                )
