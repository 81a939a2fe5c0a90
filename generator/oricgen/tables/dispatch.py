"""Legalization by opcode: ``spec/dispatch.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import SpecError
from ..names import did_you_mean
from ..rows import Row
from ..spec import Spec
from ..strictyaml import Map
from . import _numbers, opcodes
from ._shared import without_empty
from .opcodes import UNDOCUMENTED

NAME = "dispatch"
FILES = ("dispatch.yaml",)
SOURCE = "PTX-to-Ori lowering, Opcode Dispatch Table"
_PATH = Spec.path(FILES[0])


@dataclass(frozen=True)
class Predicate:
    """A named condition: ``argument & mask == equals``; ``where``: the values of modifiers for which it holds in Ori."""

    name: str
    argument: str
    mask: int
    equals: int
    doc: str
    where: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Entry:
    """Where one id goes. Exactly one of ``handler``, ``slot`` (-1 = none) and ``emit`` (-1 = none) is given."""

    id: int
    row: int  # number of the documented row, from 0
    handler: str
    slot: int
    emit: int
    when: str  # predicate, "" = always
    otherwise: int  # slot taken when the predicate does not hold, -1 = the default
    predication: bool  # the predication step follows
    line: int

    @property
    def kind(self) -> str:
        """The documents' word: direct, vtable, inline or conditional."""
        if self.when:
            return "conditional"
        return "direct" if self.handler else "vtable" if self.slot >= 0 else "inline"

    @property
    def text(self) -> str:
        """``sub_9DA5C0``, ``slot 7``, ``emit 162``, ``operand_type_5 ? slot 65 : slot 11``."""
        target = self.handler or (f"slot {self.slot}" if self.slot >= 0 else f"emit {self.emit:#x}")
        if not self.when:
            return target
        return f"{self.when} ? {target} : {f'slot {self.otherwise}' if self.otherwise >= 0 else 'default'}"


@dataclass(frozen=True)
class Dispatch:
    """The whole table."""

    default: int
    predication: str
    predicates: tuple[Predicate, ...]
    handlers: Mapping[str, str]  # address -> role
    slots: frozenset[int]  # the slots of the vtable that some row names
    row_count: int
    by_id: Mapping[int, Entry]


def load(spec: Spec) -> Dispatch:
    """The resolved rows.

    Raises:
        SpecError: an id twice, a slot that the vtable does not have, an unknown handler, predicate or opcode.
    """
    return spec.memo(NAME, lambda: _load(spec))


def _load(spec: Spec) -> Dispatch:
    data = spec.load(FILES[0])
    by_id: dict[int, Entry] = {}
    for number, row in enumerate(data["rows"]):
        for entry in _entries(number, row, data["rows"].line_of(number), data):
            if entry.id in by_id:
                before = by_id[entry.id].line
                raise SpecError(_PATH, entry.line, f"{_key(number)}: column 'ids': {entry.id} is in the row on line {before} too")
            by_id[entry.id] = entry
    predicates = tuple(
        Predicate(n, r["argument"], r["mask"], r["equals"], r["doc"], {k: tuple(v) for k, v in r.get("where", {}).items()})
        for n, r in data["predicates"].items()
    )
    named = {e.slot for e in by_id.values()} | {e.otherwise for e in by_id.values()}
    return Dispatch(
        data["default"], data["predication"], predicates,
        MappingProxyType({name: row["role"] for name, row in data["handlers"].items()}), frozenset(named - {-1}),
        len(data["rows"]), MappingProxyType(dict(sorted(by_id.items()))),
    )  # fmt: skip


def _key(number: int) -> str:
    return f"rows, item {number + 1}"  # as messages of the schema call it


def _entries(number: int, row: Map, line: int, data: Map) -> Iterator[Entry]:
    """The entries of one row, its columns checked."""
    key = _key(number)
    ids = [n for n, _ in _numbers.expand(row["ids"], _PATH, f"{key}: column 'ids'")]
    slots = [row.get("slot", -1)] * len(ids)
    if "slots" in row:
        slots = [n for n, _ in _numbers.expand(row["slots"], _PATH, f"{key}: column 'slots'")]
    if len(slots) != len(ids):
        raise SpecError(_PATH, row.line_of("slots"), f"{key}: column 'slots': {len(slots)} slots for {len(ids)} ids")
    if ("when" in row) != ("otherwise" in row):
        raise SpecError(_PATH, line, f"{key}: columns 'when' and 'otherwise' belong together")
    otherwise = -1 if row.get("otherwise", "default") == "default" else row["otherwise"]
    for slot in (*slots, otherwise):
        if slot >= data["slots"]:
            raise SpecError(_PATH, line, f"{key}: the vtable has no slot {slot}; the last is {data['slots'] - 1}")
    for column, known in (("handler", data["handlers"]), ("when", data["predicates"])):
        if column in row and row[column] not in known:
            word = row[column]
            raise SpecError(
                _PATH, row.line_of(column), f"{key}: column '{column}': there is no '{word}'{did_you_mean(word, known)}"
            )
    skipped = row.get("skip_predication", [])
    for one in skipped:
        if one not in ids:
            raise SpecError(_PATH, row.line_of("skip_predication"), f"{key}: column 'skip_predication': {one} is not in 'ids'")
    for one, slot in zip(ids, slots, strict=True):
        yield Entry(
            one,
            number,
            row.get("handler", ""),
            slot,
            row.get("emit", -1),
            row.get("when", ""),
            otherwise,
            one not in skipped,
            line,
        )


def rows(spec: Spec) -> list[Row]:
    """One row an id, called as in opcodes.yaml."""
    table, known = load(spec), opcodes.load(spec).by_id
    out = []
    for e in table.by_id.values():
        values = {
            "id": e.id, "kind": e.kind, "goes to": e.text, "handler": e.handler, "role": table.handlers.get(e.handler),
            "slot": e.slot if e.slot >= 0 else None, "emit": e.emit if e.emit >= 0 else None, "when": e.when,
            "predication": e.predication, "source": SOURCE,
        }  # fmt: skip
        out.append(Row(known[e.id].key, without_empty(values), str(_PATH), e.line))
    return out


def check(spec: Spec) -> None:
    """The documented mnemonics are those of opcodes.yaml; handlers and predicates are used.

    Raises:
        SpecError: the first mistake.
    """
    table, known = load(spec), opcodes.load(spec)
    data = spec.load(FILES[0])
    for number, row in enumerate(data["rows"]):
        _names(number, row, data["rows"].line_of(number), known)
    used = {"handlers": {e.handler for e in table.by_id.values()}, "predicates": {e.when for e in table.by_id.values()}}
    for section, words in used.items():
        for word in data[section]:
            if word not in words:
                raise SpecError(_PATH, data[section].line_of(word), f"{word}: no row names it")


def _names(number: int, row: Map, line: int, known: opcodes.Opcodes) -> None:
    key = _key(number)
    ids = [n for n, _ in _numbers.expand(row["ids"], _PATH, key)]
    names = row.get("names", [UNDOCUMENTED] * len(ids))
    if len(names) != len(ids):
        raise SpecError(_PATH, row.line_of("names"), f"{key}: column 'names': {len(names)} names for {len(ids)} ids")
    for one, name in zip(ids, names, strict=True):
        if one not in known.by_id or one >= known.ids:
            raise SpecError(_PATH, row.line_of("ids"), f"{key}: column 'ids': {one} is no id of opcodes.yaml")
        expected = known.by_id[one].name or UNDOCUMENTED
        if name != expected:
            raise SpecError(
                _PATH, row.line_of("names"), f"{key}: column 'names': {one} is '{name}' here, '{expected}' in opcodes.yaml"
            )


def counts(spec: Spec) -> dict[str, int]:
    """Rows, ids, slots and handlers."""
    table = load(spec)
    entries = table.by_id.values()
    return {
        "dispatch rows": table.row_count,
        "ids with a row": len(entries),
        "vtable slots": len(table.slots),
        "direct handlers": len({e.handler for e in entries if e.handler}),
        "conditional ids": sum(e.kind == "conditional" for e in entries),
        "inline emits": sum(e.kind == "inline" for e in entries),
        "ids that skip predication": sum(not e.predication for e in entries),
    }
