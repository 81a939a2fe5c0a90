"""The Ori opcodes: ``spec/opcodes.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec

NAME = "opcodes"
FILES = ("opcodes.yaml",)
KINDS = ("opcode", "marker")


@dataclass(frozen=True)
class Opcode:
    """One id of the canonical numbering. ``name`` and ``rot13`` are empty where no document names the id."""

    id: int
    name: str
    rot13: str
    kind: str  # opcode, or marker: an id that bounds a range and is no instruction
    source: str  # documented, inferred, assigned
    between: str  # evidence of an inferred name, "" otherwise
    line: int
    path: str = f"spec/{FILES[0]}"

    @property
    def key(self) -> str:
        """What people call the row: its name, or its number."""
        return self.name or f"opcode {self.id}"


@dataclass(frozen=True)
class Opcodes:
    """All opcodes in the order of the file, by name and by id."""

    rows: tuple[Opcode, ...]
    by_name: Mapping[str, Opcode]
    by_id: Mapping[int, Opcode]


def load(spec: Spec) -> Opcodes:
    """The resolved rows.

    Raises:
        SpecError: two opcodes with one id, a wrong ROT13 name.
    """
    return spec.memo(NAME, lambda: _load(spec))


def _load(spec: Spec) -> Opcodes:
    data = spec.load(FILES[0])["opcodes"]
    path = spec.path(FILES[0])
    out: list[Opcode] = []
    by_id: dict[int, Opcode] = {}
    for name, row in data.items():
        line = data.line_of(name)
        if row["id"] in by_id:
            raise SpecError(path, line, f"{name}: id {row['id']} is that of {by_id[row['id']].key}")
        if row["rot13"] != rot13(name):
            raise SpecError(path, line, f"{name}: rot13 is '{row['rot13']}', expected '{rot13(name)}'")
        found = Opcode(row["id"], name, row["rot13"], row.get("kind", "opcode"), row["source"], row.get("between", ""), line)
        by_id[found.id] = found
        out.append(found)
    return Opcodes(tuple(out), MappingProxyType({o.name: o for o in out if o.name}), MappingProxyType(by_id))


def rows(spec: Spec) -> list[Row]:
    """One row an id."""
    out = []
    for o in load(spec).rows:
        values = {"id": o.id, "rot13": o.rot13, "kind": o.kind, "source": o.source}
        if o.between:
            values["between"] = o.between
        out.append(Row(o.key, values, o.path, o.line))
    return out


def check(spec: Spec) -> None:
    """Ids and names.

    Raises:
        SpecError: the first row that is wrong.
    """
    load(spec)


def counts(spec: Spec) -> dict[str, int]:
    """Ids, and where their names come from."""
    table = load(spec).rows
    return {
        "opcodes": len(table),
        **{f"names {s}": sum(o.source == s for o in table) for s in ("documented", "inferred", "assigned")},
    }


def rot13(name: str) -> str:
    """ROT13 of the capital letters of a name."""
    return "".join(chr((ord(c) - 65 + 13) % 26 + 65) if c.isupper() else c for c in name)
