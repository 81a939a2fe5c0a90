"""The Ori opcodes: ``spec/opcodes.yaml``."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import Mistakes, SpecError
from ..names import did_you_mean
from ..rows import Row
from ..spec import Spec
from ..strictyaml import Map
from . import _line, _numbers
from ._shared import without_empty

NAME = "opcodes"
FILES = ("opcodes.yaml",)
UNDOCUMENTED = "undocumented"
INFERRED = "inferred"
ASSIGNED = "assigned"
MARKER = "marker"
_PATH = Spec.path(FILES[0])


@dataclass(frozen=True)
class Opcode:
    """One id. Where no document names it, ``name``, ``rot13`` and ``category`` are empty and the basis is `undocumented`."""

    id: int
    name: str
    rot13: str
    category: str
    kind: str  # opcode, or marker: bounds a range of ids and is no instruction
    memory: str  # key of memory_effects, "" = does not touch memory
    attributes: tuple[str, ...]  # resolved, in the order of their bits
    throughput: Mapping[str, int]  # operand form -> scheduling class
    ir_const: tuple[int, ...]  # numbers in the second numbering
    since: str  # first target that has it, or ids of its range
    basis: str  # documented, inferred, assigned, undocumented
    source: str
    between: tuple[int, ...]  # the documented neighbours of an inferred name
    path: str
    line: int

    @property
    def key(self) -> str:
        """What people call the row: its name, or its number."""
        return self.name or f"opcode {self.id}"


@dataclass(frozen=True)
class Attribute:
    """One bit of the attribute word.

    ``always`` and ``since`` give it to every instruction (of a range); ``effects`` and ``exact`` tie it to spec/encoding.
    """

    name: str
    bit: int
    basis: str
    doc: str
    source: str
    effects: frozenset[str]
    exact: bool
    always: bool
    since: str
    line: int

    def given(self, since: str, places: Mapping[str, _line.Place]) -> bool:
        """Whether every instruction has it that exists from the target ``since`` on; ``places`` are those of the line."""
        oldest = places.get(self.since)
        return self.always or bool(oldest and since in places and places[since] >= oldest)


@dataclass(frozen=True)
class Opcodes:
    """All ids in their order, by name and by id; the attributes in the order of their bits."""

    rows: tuple[Opcode, ...]
    by_name: Mapping[str, Opcode]
    by_id: Mapping[int, Opcode]
    attributes: tuple[Attribute, ...]
    ids: int  # how many ids the canonical numbering has
    own: int  # where this project's own begin
    base_mask: int  # what is kept of an opcode word to get its id

    @property
    def markers(self) -> frozenset[str]:
        """Names of the range markers: no instructions, so nothing may encode or schedule them."""
        return frozenset(o.name for o in self.rows if o.kind == MARKER)

    def word(self, opcode: Opcode) -> int:
        """The attribute word of 32 bits."""
        return sum(1 << a.bit for a in self.attributes if a.name in opcode.attributes)


def load(spec: Spec) -> Opcodes:
    """The resolved rows.

    Raises:
        SpecError: an id twice or out of order, a wrong ROT13 name, a reference to nothing.
    """
    return spec.memo(NAME, lambda: _load(spec))


def _load(spec: Spec) -> Opcodes:
    data = spec.load(FILES[0])
    attributes = _attributes(data)
    places = _line.places(spec)
    by_id: dict[int, Opcode] = {}
    last = -1
    with Mistakes() as each:
        for name, row in data["opcodes"].items():
            with each:
                o = _opcode(name, row, data["opcodes"].line_of(name), data, attributes, places)
                if o.id in by_id:
                    raise SpecError(_PATH, o.line, f"{o.name}: column 'id': {o.id} is that of {by_id[o.id].key}")
                if o.id < last:
                    wanted = f"{o.id} stands behind {last}; rows are in order of their ids"
                    raise SpecError(_PATH, o.line, f"{o.name}: column 'id': {wanted}")
                by_id[o.id] = o
                last = o.id
        for number, line in _numbers.expand(data["undocumented"], _PATH, "undocumented"):
            with each:
                if number in by_id:
                    raise SpecError(_PATH, line, f"undocumented: {number} is that of {by_id[number].key}")
                by_id[number] = _undocumented(number, line, data)
    rows = tuple(sorted(by_id.values(), key=lambda o: o.id))
    return Opcodes(
        rows, MappingProxyType({o.name: o for o in rows if o.name}), MappingProxyType({o.id: o for o in rows}), attributes,
        data["ids"], data["own"], data["base_mask"],
    )  # fmt: skip


def _attributes(data: Map) -> tuple[Attribute, ...]:
    table = data["attributes"]
    bits: dict[int, str] = {}
    out = []
    for name, row in table.items():
        if row["bit"] in bits:
            raise SpecError(_PATH, table.line_of(name), f"{name}: column 'bit': {row['bit']} is that of {bits[row['bit']]}")
        bits[row["bit"]] = name
        out.append(
            Attribute(
                name, row["bit"], row["basis"], row["doc"], row["source"], frozenset(row.get("effects", ())),
                row.get("exact", False), row.get("always", False), row.get("since", ""), table.line_of(name),
            )
        )  # fmt: skip
    return tuple(sorted(out, key=lambda a: a.bit))


def _opcode(
    name: str, row: Map, line: int, data: Map, attributes: tuple[Attribute, ...], places: Mapping[str, _line.Place]
) -> Opcode:
    _known(name, "category", [row["category"]], data["categories"], row, line)
    _known(name, "memory", [row["memory"]] if "memory" in row else [], data["memory_effects"], row, line)
    _known(name, "source", [row["source"]] if "source" in row else [], data["sources"], row, line)
    _known(name, "throughput", row.get("throughput", ()), data["operand_forms"], row, line)
    _known(name, "attributes", row.get("attributes", ()), {a.name for a in attributes}, row, line)
    if row["rot13"] != rot13(name):
        raise SpecError(_PATH, row.line_of("rot13"), f"{name}: column 'rot13': '{row['rot13']}' must be '{rot13(name)}'")
    if data["ids"] <= row["id"] < data["own"]:
        limits = f"0 to {data['ids'] - 1}, or {data['own']} and above for this project's own"
        raise SpecError(_PATH, row.line_of("id"), f"{name}: column 'id': {row['id']} is not {limits}")
    kind = row.get("kind", "opcode")
    if ("since" in row) != (row["id"] >= data["own"]):
        raise SpecError(
            _PATH, line, f"{name}: column 'since': ids from {data['own']} on have it, all others have that of their range"
        )
    since = row.get("since") or _since(row["id"], data)
    source = data["sources"][row.get("source", INFERRED)]
    has = set(row.get("attributes", ()))
    has |= set(data["categories"][row["category"]].get("attributes", ()))
    has |= set(data["memory_effects"][row["memory"]]["attributes"]) if "memory" in row else set()
    if kind != MARKER:
        has |= {a.name for a in attributes if a.given(since, places)}
    return Opcode(
        row["id"], name, row["rot13"], row["category"], kind, row.get("memory", ""),
        tuple(a.name for a in attributes if a.name in has), MappingProxyType(dict(row.get("throughput", {}))),
        tuple(row.get("ir_const", ())), since, source["basis"], source["title"], tuple(row.get("between", ())),
        str(_PATH), line,
    )  # fmt: skip


def _undocumented(number: int, line: int, data: Map) -> Opcode:
    return Opcode(
        number, "", "", "", "opcode", "", (), MappingProxyType({}), (), _since(number, data), UNDOCUMENTED, UNDOCUMENTED, (),
        str(_PATH), line,
    )  # fmt: skip


def _since(number: int, data: Map) -> str:
    return next((r["since"] for r in data["ranges"] if r["from"] <= number <= r["to"]), "")


def _known(name: str, column: str, words: Iterable[str], known: Collection[str], row: Map, line: int) -> None:
    for word in words:
        if word not in known:
            where = row.line_of(column) if column in row else line
            raise SpecError(_PATH, where, f"{name}: column '{column}': there is no '{word}'{did_you_mean(word, known)}")


def rows(spec: Spec) -> list[Row]:
    """One row an id; an unnamed one is called by its number (``opcode 30``)."""
    table = load(spec)
    out = []
    for o in table.rows:
        values = {
            "id": o.id, "rot13": o.rot13, "category": o.category, "kind": o.kind, "memory": o.memory,
            "attributes": list(o.attributes), "attribute word": f"{table.word(o):#06x}", "throughput": dict(o.throughput),
            "ir_const": list(o.ir_const), "since": o.since, "basis": o.basis, "source": o.source, "between": list(o.between),
        }  # fmt: skip
        out.append(Row(o.key, without_empty(values), o.path, o.line))
    return out


def check(spec: Spec) -> None:
    """What one row alone does not say: see :mod:`oricgen.tables._opcode_checks`.

    Raises:
        SpecError: the first mistake.
    """
    from . import _opcode_checks  # it reads spec/encoding, whose reader reads this table

    _opcode_checks.check(spec)


def counts(spec: Spec) -> dict[str, int]:
    """Ids, and where their names come from."""
    table = load(spec)
    canonical = [o for o in table.rows if o.id < table.ids]
    bases = ("documented", INFERRED, UNDOCUMENTED)
    return {
        "ids": len(canonical),
        **{f"ids {basis}": sum(o.basis == basis for o in canonical) for basis in bases},
        "range markers": sum(o.kind == MARKER for o in canonical),
        "ids of this project": len(table.rows) - len(canonical),
        "attribute bits": len(table.attributes),
        "numbers of the second numbering": len(spec.load(FILES[0])["ir_constants"]),
    }


def rot13(name: str) -> str:
    """ROT13 of the letters of a name."""
    return codecs.encode(name, "rot13")
