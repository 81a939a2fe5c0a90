"""The opcode register class table: ``spec/regclass.yaml``.

Source: Registers, "Opcode Register Class Table".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..isa import rows as machine
from ..rows import Row
from ..spec import Spec
from . import _rows, opcodes
from ._numbers import numbers, spans

NAME = "regclass"
FILES = ("regclass.yaml",)
HANDLERS = 10
UNKNOWN = "unknown"
_FILE = FILES[0]
_KEYS = {"handlers": "{handler}", "cases": "{text}", "choices": "{name}", "unmatched": "{name}"}
_PLACES = ("class", "operand", "value", "table")  # what a field of a case is known by


@dataclass(frozen=True)
class CaseField:
    """One value that a case packs.

    ``place`` is class, operand, value or table: what the field is known by, ``ids`` or ``table``. ``source`` is where an Ori
    instruction has the value, "" when none has it.
    """

    place: str
    ids: tuple[int, ...]
    table: str
    name: str
    source: str


@dataclass(frozen=True)
class Case:
    """One number of the regclass_op numbering, or several that the document does not tell apart.

    ``categories`` holds one number when the category is known, the candidates when it is one of several, none when no
    document gives it. ``handler`` and ``flag`` are "" when there is none.
    """

    ids: tuple[int, ...]
    names: tuple[str, ...]
    categories: tuple[int, ...]
    text: str
    operands: str
    handler: str
    flag: str
    fields: tuple[CaseField, ...]
    source: str
    line: int

    @property
    def key(self) -> str:
        """Its number (the first, when there are several) and what it is called."""
        name = self.names[0] if len(self.names) == 1 else self.text
        return f"{self.ids[0]:#04x} {name}"


@dataclass(frozen=True)
class RegClass:
    """The table, resolved.

    ``cases`` in the order of their first number; ``of`` maps the opcodes of opcodes.yaml to their cases, ``handlers`` to the
    sub-handlers that they are delegated to. ``unlisted`` is the number of cases that no document names.
    """

    cases: tuple[Case, ...]
    of: Mapping[str, Case]
    handlers: Mapping[str, str]
    addresses: Mapping[str, str]
    unlisted: int
    first: int
    last: int


def load(spec: Spec) -> RegClass:
    """The table, checked.

    Raises:
        SpecError: the first row that is wrong.
    """
    return spec.memo(NAME, lambda: _Loader(spec).load())


def rows(spec: Spec) -> list[Row]:
    """One row a case, as far as the document tells cases apart, and one a sub-handler, choice and unmatched mnemonic."""
    table = load(spec)
    out = [Row(c.key, _values(c), f"spec/{_FILE}", c.line) for c in table.cases]
    sections = _read(spec)
    for section, word in (("handlers", "handler"), ("choices", "choice"), ("unmatched", "unmatched")):
        out += [Row(f"{word} {r.key}", r.values, r.path, r.line) for r in sections[section]]
    return out


def counts(spec: Spec) -> dict[str, int]:
    """Cases by what is known of them, sub-handlers, opcodes that have a case."""
    table = load(spec)
    listed = [c for c in table.cases if c.categories]
    return {
        "regclass cases": sum(len(c.ids) for c in table.cases) + table.unlisted,
        "regclass cases with a category": sum(len(c.ids) for c in listed),
        "regclass cases with a sub-handler only": sum(len(c.ids) for c in table.cases if not c.categories),
        "regclass cases that are unknown": table.unlisted,
        "sub-handlers": len(table.addresses),
        "opcodes with a regclass case": len(table.of),
        "opcodes with a sub-handler": len(table.handlers),
    }


def check(spec: Spec) -> None:
    """Ranges, uniqueness, references.

    Raises:
        SpecError: the first row that is wrong.
    """
    load(spec)


def _values(case: Case) -> dict[str, Any]:
    category: Any = case.categories[0] if len(case.categories) == 1 else f"one of {spans(case.categories)}"
    out: dict[str, Any] = {
        "ids": list(case.ids),
        "names": list(case.names),
        "text": case.text,
        "category": category if case.categories else UNKNOWN,
    }
    if case.operands:
        out["operands"] = case.operands
    for column, value in (("handler", case.handler), ("flag", case.flag)):
        if value:
            out[column] = value
    out["fields"] = [_field_values(f) for f in case.fields]
    return out | {"source": case.source}


def _field_values(field: CaseField) -> dict[str, Any]:
    out: dict[str, Any] = {"name": field.name, field.place: field.table or spans(field.ids)}
    return out | ({"from": field.source} if field.source else {})


def _read(spec: Spec) -> _rows.Sections:
    return _rows.read(spec, _FILE, _KEYS)


class _Loader:
    """Resolves the file row by row."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.data = spec.load(_FILE)
        self.sections = _read(spec)
        self.known = opcodes.load(spec).by_name
        self.addresses = {r.key: str(r.values["address"]) for r in self.sections["handlers"]}
        self.modifiers, self.operands = _notation(spec)

    def load(self) -> RegClass:
        _rows.check_count(self.spec, _FILE, self.sections, {"handlers": HANDLERS})
        cases = sorted((c for row in self.sections["cases"] for c in self._cases(row)), key=lambda c: c.ids)
        self._check_numbers(cases)
        of = self._join(cases)
        numbering = self.data["numbering"]
        listed = sum(len(c.ids) for c in cases)
        unlisted = numbering["cases"] - listed
        if unlisted < 0:
            line = self.data.line_of("numbering")
            raise self._error(line, f"numbering: there are {numbering['cases']} cases, but {listed} have rows")
        documented = sum(len(c.ids) for c in cases if c.categories)
        if documented != numbering["listed"]:
            line = self.data.line_of("numbering")
            raise self._error(line, f"numbering: {documented} cases have a category, {numbering['listed']} are listed")
        return RegClass(tuple(cases), of, self._handlers(of), self.addresses, unlisted, numbering["first"], numbering["last"])

    def _error(self, line: int, message: str) -> SpecError:
        return SpecError(self.spec.path(_FILE), line, message)

    def _cases(self, row: Row) -> list[Case]:
        """One case where the row tells its numbers apart, else one for all of them."""
        values = row.values
        ids = numbers(values["ids"])
        if not ids:
            raise self._error(row.line, f"{row.key}: ids [{', '.join(map(str, values['ids']))}] is an empty range")
        names = tuple(values.get("names", ()))
        categories = () if values["category"] == UNKNOWN else numbers(values["category"])
        lowest, highest = self.data["categories"]["first"], self.data["categories"]["last"]
        for category in categories:
            if not lowest <= category <= highest:
                raise self._error(row.line, f"{row.key}: category {category} is not in {lowest} to {highest}")
        handler = values.get("handler", "")
        if handler and handler not in self.addresses:
            raise self._error(row.line, f"{row.key}: handler '{handler}' is none of {', '.join(self.addresses)}")
        fields = tuple(self._field(row, f, names) for f in values.get("fields", ()))
        common = (values["text"], values.get("operands", ""), handler, values.get("flag", ""), fields, values["source"], row.line)
        if names and len(names) != len(ids):
            return [Case(ids, names, categories, *common)]
        own = [(n,) if n != "-" else () for n in names] or [()] * len(ids)
        paired = [(c,) for c in categories] if len(categories) == len(ids) else [categories] * len(ids)
        return [Case((i,), n, c, *common) for i, n, c in zip(ids, own, paired, strict=True)]

    def _field(self, row: Row, values: Mapping[str, Any], names: tuple[str, ...]) -> CaseField:
        """A field of a case; what it takes its value from exists in an operation of one of its opcodes."""
        places = [p for p in _PLACES if p in values]
        if len(places) != 1:
            raise self._error(row.line, f"{row.key}: field '{values['name']}' has {len(places)} of {', '.join(_PLACES)}, not one")
        place, source = places[0], values.get("from", "")
        if source and place not in ("class", "operand"):
            raise self._error(row.line, f"{row.key}: field '{values['name']}' has no id, so nothing can be packed into it")
        kind, _, what = source.partition(" ")
        found = {"mod": self.modifiers, "operand": self.operands}.get(kind)
        if found is not None and not any(what in found.get(n, ()) for n in names):
            raise self._error(row.line, f"{row.key}: field '{values['name']}': no operation of {', '.join(names)} has '{source}'")
        if place == "table":
            return CaseField(place, (), values[place], values["name"], source)
        return CaseField(place, numbers(values[place]), "", values["name"], source)

    def _check_numbers(self, cases: list[Case]) -> None:
        """Every number lies in the numbering and belongs to one case."""
        numbering = self.data["numbering"]
        owner: dict[int, Case] = {}
        for case in cases:
            for number in case.ids:
                if not numbering["first"] <= number <= numbering["last"]:
                    place = f"{numbering['first']:#x} to {numbering['last']:#x}"
                    raise self._error(case.line, f"{case.text}: id {number:#x} is not in {place}")
                if number in owner:
                    other = owner[number]
                    late, early = (case, other) if case.line > other.line else (other, case)
                    raise self._error(late.line, f"{late.text}: id {number:#x} is that of {early.text}")
                owner[number] = case

    def _join(self, cases: list[Case]) -> dict[str, Case]:
        """Opcode -> case, by mnemonic."""
        named: dict[str, list[Case]] = {}
        for case in cases:
            for name in case.names:
                named.setdefault(name, []).append(case)
        choices = {r.values["name"]: r for r in self.sections["choices"]}
        unmatched = {r.values["name"]: r for r in self.sections["unmatched"]}
        handled = {n: r for r in self.sections["handlers"] for n in r.values.get("names", ())}
        for name, row in choices.items():
            found = [c for c in named.get(name, []) if row.values["id"] in c.ids]
            if not found or len(named[name]) < 2:
                raise self._error(row.line, f"choices: {name}: {row.values['id']:#x} is not one of several cases of {name}")
            named[name] = found
        for name, row in unmatched.items():
            if name in self.known or (name not in named and name not in handled):
                reason = "is an opcode of opcodes.yaml" if name in self.known else "is in no case"
                raise self._error(row.line, f"unmatched: {name} {reason}")
        for name, found in named.items():
            if len(found) > 1:
                raise self._error(
                    found[1].line, f"{name} is the name of {found[0].key} and {found[1].key}: 'choices' must say which"
                )
        for name, line in [(n, c[0].line) for n, c in named.items()] + [(n, r.line) for n, r in handled.items()]:
            if name not in self.known and name not in unmatched:
                raise self._error(line, f"{name} is no opcode of opcodes.yaml, and 'unmatched' does not say why")
        return {name: found[0] for name, found in sorted(named.items()) if name in self.known}

    def _handlers(self, of: Mapping[str, Case]) -> dict[str, str]:
        """Opcode -> sub-handler, by the handlers' own names and by those of the cases."""
        out: dict[str, str] = {}
        for row in self.sections["handlers"]:
            for name in row.values.get("names", ()):
                if name in out:
                    raise self._error(row.line, f"{row.key}: {name} has the handler {out[name]}")
                out[name] = row.key
        for name, case in of.items():
            if case.handler and out.setdefault(name, case.handler) != case.handler:
                raise self._error(case.line, f"{case.text}: handler is {case.handler}, but {out[name]} names {name}")
        return {name: handler for name, handler in sorted(out.items()) if name in self.known}


def _notation(spec: Spec) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Modifiers and operands that the operations of an opcode have."""
    modifiers: dict[str, set[str]] = {}
    operands: dict[str, set[str]] = {}
    for operation in machine.load(spec).operations:
        modifiers.setdefault(operation.opcode, set()).update(m.name for m in operation.mods)
        operands.setdefault(operation.opcode, set()).update(o.name for o in operation.operands)
    return modifiers, operands
