"""``c/tables/structs.h``, its layout assertions, and ``oric_tables/structs.py``: memory images shared by Python and C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from ..errors import SpecError
from ..render import template
from ..spec import Spec
from ..strictyaml import Map

FILE = "structs.yaml"
# type -> (C type, bytes, code of Python's struct module)
TYPES = {
    "u8": ("uint8_t", 1, "B"),
    "u16": ("uint16_t", 2, "H"),
    "u32": ("uint32_t", 4, "I"),
    "u64": ("uint64_t", 8, "Q"),
    "i32": ("int32_t", 4, "i"),
    "i64": ("int64_t", 8, "q"),
    "f32": ("float", 4, "f"),
}
POINTER_SIZE = 8


@dataclass(frozen=True)
class Field:
    """A field as the templates need it; ``count`` is 0 for a scalar."""

    name: str
    offset: int
    size: int
    align: int
    ctype: str
    count: int
    code: str
    doc: str
    reserved: bool = False

    @property
    def declaration(self) -> str:
        """The C declaration without its semicolon."""
        space = "" if self.ctype.endswith("*") else " "
        return f"{self.ctype}{space}{self.name}" + (f"[{self.count}]" if self.count else "")


@dataclass(frozen=True)
class Struct:
    """A struct with its gaps filled by reserved bytes."""

    name: str
    doc: str
    size: int
    fields: tuple[Field, ...]

    @property
    def named(self) -> tuple[Field, ...]:
        """The fields of the specification, without filling."""
        return tuple(f for f in self.fields if not f.reserved)


def render(spec: Spec) -> dict[str, str]:
    """Render the C header, the C assertions and the Python offsets."""
    path = spec.path(FILE)
    entries = spec.load(FILE)["structs"]
    structs = [_struct(name, entries, path) for name in entries]
    return {
        "c/tables/structs.h": template("structs.h.j2", structs=structs),
        "c/tables/structs.c": template("structs.c.j2", structs=structs),
        "oric_tables/structs.py": template("structs.py.j2", structs=structs),
    }


def _struct(name: str, entries: Map, path: PurePath) -> Struct:
    entry = entries[name]
    fields: list[Field] = []
    names: set[str] = set()
    position = 0
    for number, raw in enumerate(entry["fields"]):
        line = entry["fields"].line_of(number)
        field = _field(raw, entries, path, line)
        if field.name in names:
            raise SpecError(path, line, f"{name}: two fields are called '{field.name}'")
        names.add(field.name)
        if field.offset < position:
            what = f"overlaps the field before it, which ends at {position}"
            raise SpecError(path, line, f"{name}.{field.name} at {field.offset} {what}")
        if field.offset % field.align:
            raise SpecError(path, line, f"{name}.{field.name} at {field.offset} is not a multiple of {field.align}")
        _fill(fields, position, field.offset)
        fields.append(field)
        position = field.offset + field.size
    if position > entry["size"]:
        raise SpecError(path, entries.line_of(name), f"{name} ends at {position}, beyond its size {entry['size']}")
    _fill(fields, position, entry["size"])
    return Struct(name, entry["doc"], entry["size"], tuple(fields))


def _field(raw: Map, entries: Map, path: PurePath, line: int) -> Field:
    kind = raw["type"]
    if kind.startswith("ptr:"):
        target = kind[4:]
        if target not in TYPES and target not in entries:
            raise SpecError(path, line, f"{raw['name']}: '{target}' is neither a plain type nor a struct of this file")
        ctype = (TYPES[target][0] if target in TYPES else target) + " *"
        return Field(raw["name"], raw["offset"], POINTER_SIZE, POINTER_SIZE, ctype, 0, "Q", raw["doc"])
    base, _, rest = kind.partition("[")
    count = int(rest[:-1]) if rest else 0
    ctype, size, code = TYPES[base]
    codes = f"{count}{code}" if count else code
    return Field(raw["name"], raw["offset"], size * (count or 1), size, ctype, count, codes, raw["doc"])


def _fill(fields: list[Field], start: int, end: int) -> None:
    if end > start:
        gap = end - start
        fields.append(Field(f"gap{start}", start, gap, 1, "uint8_t", gap, f"{gap}x", "", reserved=True))
