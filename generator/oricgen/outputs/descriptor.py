"""``oric_tables/descriptor.py``: the tables of the encoding descriptor; ``flat/descriptor.txt``: the same to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import SpecError
from ..isa import rows as machine
from ..isa.model import REGISTER_KINDS
from ..render import header, template
from ..spec import Spec
from ..tables import descriptor, memory_spaces, opcodes, regclass
from ..tables._numbers import bits, numbers, spans
from ..tables.descriptor import ClassField, Descriptor
from ..tables.regclass import Case, RegClass

_SOURCES = ["spec/descriptor.yaml", "spec/regclass.yaml", "spec/memory_spaces.yaml"]
_TAGGED = (1, 2, 4)  # numbers of registers that documents have tags for
_WITH_TAG = (REGISTER_KINDS | {"breg"}) - {"pred", "upred"}  # predicates have a word of their own


def render(spec: Spec) -> dict[str, str]:
    """Render the tables.

    Raises:
        SpecError: an operand that no register type tag fits, an access that no sub-opcode of the extended path fits.
    """
    model, table = descriptor.load(spec), regclass.load(spec)
    _check_operands(spec, model)
    facts = _opcodes(spec, model, table)
    text = template(
        "descriptor.py.j2",
        header=header("#", "generator/oricgen/outputs/descriptor.py", _SOURCES),
        model=model,
        data=model.data,
        cases=table.cases,
        fields=model.class_fields,
        opcodes=facts,
        bits=bits,
        tags=[row.values for row in model.sections["register_tags"]],
        rows={name: [row.values for row in rows] for name, rows in model.sections.items()},
        memory_ids=[numbers(row.values["class"]) for row in model.sections["memory_fields"]],
        word=_by_part(model, "register_word"),
        predicate=_by_part(model, "predicate_word"),
    )
    return {"oric_tables/descriptor.py": text, "flat/descriptor.txt": _flat(spec, model, table, facts)}


def _by_part(model: Descriptor, section: str) -> dict[str, Mapping[str, Any]]:
    return {row.values["part"]: row.values for row in model.sections[section]}


def _check_operands(spec: Spec, model: Descriptor) -> None:
    """Every register operand has a tag, and every access on the extended path a sub-opcode.

    No document tells what the words of other operands than the tags' are (fragments of matrix products, coordinates of
    textures): the descriptor of such an instruction is refused when it is asked for.
    """
    tags = {(r.values["kind"], r.values["registers"]) for r in model.sections["register_tags"] if "kind" in r.values}
    widest = {kind: max(n for k, n in tags if k == kind) for kind, _ in tags}
    for operation in machine.load(spec).operations:
        counts = {o.name: set(r.table) for o, r in zip(operation.operands, operation.registers, strict=True)}
        for operand in operation.operands:
            for count in sorted(counts[operand.name]) if operand.kind in _WITH_TAG else ():
                if (operand.kind, count) not in tags and count in _TAGGED and count <= widest[operand.kind]:
                    what = f"{count} registers of kind {operand.kind} ({operation.name}, {operand.name})"
                    raise _error(spec, "register_tags", f"register_tags: no tag for {what}")
        extended = model.extended_opcodes.get(operation.opcode)
        if extended is not None:
            data = next(name for name in extended.data if name in counts)
            for count in sorted(n for n in counts[data] - set(extended.registers) if n <= max(extended.registers)):
                what = f"{operation.name} with {count} registers of {data}"
                raise _error(spec, "extended_opcodes", f"extended_opcodes: no sub-opcode for {what}")


def _error(spec: Spec, section: str, message: str) -> SpecError:
    name = descriptor.FILES[0]
    return SpecError(spec.path(name), spec.load(name).line_of(section), message)


def _opcodes(spec: Spec, model: Descriptor, table: RegClass) -> dict[int, dict[str, Any]]:
    """What is known of each opcode that anything is known of: id -> columns."""
    known = opcodes.load(spec).by_name
    spaces = memory_spaces.load(spec)
    counted = set(model.data["operand_count"]["names"])
    unplaced = {value for row in model.sections["parts"] for value in row.values.get("unplaced", ())}
    names = {*table.of, *table.handlers, *spaces.input_of, *model.extended_opcodes, *counted}
    out = {}
    for name in sorted(names, key=lambda n: known[n].id):
        space = spaces.categories[spaces.input_of[name]] if name in spaces.input_of else None
        space = None if space in unplaced else space
        out[known[name].id] = {
            "name": name,
            "case": table.cases.index(table.of[name]) if name in table.of else None,
            "handler": table.handlers.get(name, ""),
            "space": space,
            "operand_count": model.data["operand_count"]["value"] if name in counted else 0,
            "extended": model.extended_opcodes.get(name),
        }
    return out


def _flat(spec: Spec, model: Descriptor, table: RegClass, facts: Mapping[int, Mapping[str, Any]]) -> str:
    """What each opcode's descriptor is made from, and where each field lies."""
    spaces = memory_spaces.load(spec).names
    has = _sources(spec)
    lines = [header("#", "generator/oricgen/outputs/descriptor.py", _SOURCES).rstrip()]
    lines.append("# opcode (id): regclass_op, category | sub-handler | memory space | fields: where their values are from")
    for number, row in facts.items():
        case = table.cases[row["case"]] if row["case"] is not None else None
        space = "-" if row["space"] is None else f"{spaces[row['space']]} ({row['space']})"
        found = [f for f in case.fields if f.source == "guard" or f.source in has.get(row["name"], ())] if case else []
        fields = "; ".join(f"{_ids(f)} {f.name} = {f.source}" for f in found)
        lines.append(f"{row['name']} ({number}): {_case(case, row)} | {row['handler'] or '-'} | {space} | {fields or '-'}")
    lines.append("# class field: name | group | place | lookup tables")
    lines += [
        f"{f.id}: {f.name or '-'} | {f.group or '-'} | {_place(f)} | {' '.join(f.tables) or '-'}" for f in model.class_fields
    ]
    return "\n".join(lines) + "\n"


def _sources(spec: Spec) -> dict[str, set[str]]:
    """What the operations of an opcode have that a field can be made from."""
    out: dict[str, set[str]] = {}
    for operation in machine.load(spec).operations:
        out.setdefault(operation.opcode, set()).update(f"mod {m.name}" for m in operation.mods)
        out[operation.opcode].update(f"operand {o.name}" for o in operation.operands)
    return out


def _ids(field: regclass.CaseField) -> str:
    return ("operand field " if field.place == "operand" else "") + spans(field.ids)


def _case(case: Case | None, row: Mapping[str, Any]) -> str:
    if row["extended"] is not None:
        subs = sorted({row["extended"].narrow, *row["extended"].registers.values()})
        return "extended path, sub-opcodes " + " ".join(f"{s:#x}" for s in subs)
    if case is None:
        return "no case"
    ids = " ".join(f"{n:#04x}" for n in case.ids)
    if not case.categories:
        return f"{ids}, category unknown"
    return f"{ids}, {'category' if len(case.categories) == 1 else 'one of'} {spans(case.categories)}"


def _place(field: ClassField) -> str:
    return descriptor.describe(field.place) if field.place else f"unknown ({field.within})"
