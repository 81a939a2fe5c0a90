"""Operands of Ori instructions: ``spec/operand_kinds.yaml``."""

from __future__ import annotations

from collections import Counter

from ..errors import SpecError
from ..isa import rows as machine
from ..isa.model import KINDS, Operation
from ..rows import Row
from ..spec import Spec
from . import _rows, registers

NAME = "operand_kinds"
FILES = ("operand_kinds.yaml",)
_FILE = FILES[0]
_KEYS = {
    "fields": "field {field}",
    "types": "type {name}",
    "kinds": "kind {name}",
    "problems": "problem {problem}",
    "slots": "slot {slot}",
    "predicates": "{name}",
    "register_class": "getRegClass {operand}",
}
_DOCUMENTED = {"types": 8, "kinds": 10, "problems": 13, "predicates": 5, "register_class": 3}
WORD_BITS = 64


def counts(spec: Spec) -> dict[str, int]:
    """Kinds and codes, and how many operands of forms have each kind."""
    found = load(spec)
    of_forms = kinds_of_forms(spec)
    out = {"operand type codes": len(found["types"]), "operand kinds": len(found["kinds"])}
    out |= {"allocation problems": len(found["problems"]), "selection predicates": len(found["predicates"])}
    for row in found["kinds"]:
        if row.values["from"] == "form":
            out[f"operands of forms: {row.values['text']}"] = of_forms[row.values["name"]]
    return out


def bits_of(row: Row) -> range:
    """The bits of a field."""
    first, _, last = row.values["bits"].partition("-")
    return range(int(first), int(last or first) + 1)


def kind_of(slot: Row, operand: str) -> str:
    """Name of the kind of an operand called ``operand`` in this slot."""
    return str(slot.values.get("named", {}).get(operand, slot.values["kind"]))


def kinds_of_forms(spec: Spec) -> Counter[str]:
    """Operands of all forms by the name of their kind."""
    slots = {row.values["slot"]: row for row in load(spec)["slots"]}
    return Counter(kind_of(slots[kind], name) for kind, name, _ in _operands(spec))


def _operands(spec: Spec) -> list[tuple[str, str, Operation]]:
    """Encoder's kind and name of every operand of every form, with its operation."""
    return [
        (operand.kind, operation.operands[operand.index].name, operation)
        for operation in machine.load(spec).operations
        for forms in operation.forms.values()
        for form in forms
        for operand in form.operands
    ]


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Counts, numbering, references; every operand of every form has exactly one kind.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    _rows.check_numbers(spec, _FILE, found["types"], "code")
    _rows.check_numbers(spec, _FILE, found["kinds"], "kind", 1)
    _rows.check_numbers(spec, _FILE, found["problems"], "problem", 1)
    names: dict[str, Row] = {}
    for row in found["problems"]:
        if (first := names.setdefault(row.values["name"], row)) is not row:
            raise _error(spec, row, f"{first.key} is called {row.values['name']} already")
    types = {row.values["name"] for row in found["types"]}
    kinds = {row.values["name"] for row in found["kinds"]}
    fields = {row.values["field"] for row in found["fields"]}
    files = {row.values["file"] for row in registers.load(spec)["files"]}
    for section in ("fields", "slots", "predicates"):
        _rows.check_refers(spec, _FILE, found[section], "types", types, "operand type")
    _rows.check_refers(spec, _FILE, found["predicates"], "files", files, "register file of registers.yaml")
    _rows.check_refers(spec, _FILE, found["predicates"], "flag", fields, "field of the operand word")
    _rows.check_refers(spec, _FILE, found["problems"], "kind", kinds | {"any"}, "operand kind")
    general = next(row.values["select"] for row in registers.load(spec)["types"] if row.values["name"] == "R")
    for row in found["register_class"]:
        if row.values["operand"] == "GPR" and row.values["class"] != general:
            raise _error(spec, row, f"class is {row.values['class']}, registers.yaml selects {general} for type R")
    _check_fields(spec, found["fields"])
    _check_slots(spec, found["slots"], {row.values["name"]: row.values["from"] for row in found["kinds"]})


def _error(spec: Spec, row: Row, message: str) -> SpecError:
    return SpecError(spec.path(_FILE), row.line, f"{row.key}: {message}")


def _check_fields(spec: Spec, rows: tuple[Row, ...]) -> None:
    """No bit belongs to two fields that operands of one type have; masks may hold bits of others."""
    taken: dict[int, list[Row]] = {}
    for row in rows:
        bits, use = bits_of(row), row.values["use"]
        if not bits or bits[-1] >= WORD_BITS:
            raise _error(spec, row, f"bits {row.values['bits']} are not within 0-{WORD_BITS - 1}")
        single = use in ("flag", "image")
        if single != (len(bits) == 1):
            raise _error(spec, row, f"a {use} has {'one bit' if single else 'several bits'}, not {row.values['bits']}")
        for bit in bits if use != "mask" else ():
            for other in taken.get(bit, ()):
                if _meet(row, other):
                    raise _error(spec, row, f"bit {bit} is that of {other.key}")
            taken.setdefault(bit, []).append(row)


def _meet(one: Row, other: Row) -> bool:
    """Whether operands of some type have both fields."""
    first, second = one.values.get("types"), other.values.get("types")
    return first is None or second is None or bool(set(first) & set(second))


def _check_slots(spec: Spec, rows: tuple[Row, ...], origins: dict[str, str]) -> None:
    """Every operand kind of the encoder has a slot; the kinds are those that forms give; every form operand gets one."""
    slots = {row.values["slot"]: row for row in rows}
    names = {(kind, name) for kind, name, _ in _operands(spec)}
    for row in rows:
        if row.values["slot"] not in KINDS:
            raise _error(spec, row, f"the encoder has no operand kind '{row.values['slot']}'")
        for kind in (row.values["kind"], *row.values.get("named", {}).values()):
            if kind != "none" and origins.get(kind) != "form":
                raise _error(spec, row, f"'{kind}' is no operand kind that forms give")
        for name in row.values.get("named", {}):
            if (row.values["slot"], name) not in names:
                raise _error(spec, row, f"no form has an operand '{name}' in such a slot")
    for kind, name, operation in _operands(spec):
        if kind not in slots or kind_of(slots[kind], name) == "none":
            line = spec.load(_FILE).line_of("slots")
            raise SpecError(
                spec.path(_FILE), line, f"slots: operand {name} of {operation.name} is '{kind}', which has no operand kind"
            )


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
