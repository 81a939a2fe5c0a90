"""The encoding descriptor: ``spec/descriptor.yaml``.

Source: Registers, "Opcode Register Class Table", "SASS Instruction Register Encoding", "Register-Class-to-Hardware Encoding".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import SpecError
from ..isa import rows as machine
from ..isa.model import Operation
from ..rows import Row
from ..spec import Spec
from ..strictyaml import Map
from . import _rows, memory_spaces, opcodes, regclass
from ._numbers import bits, numbers

NAME = "descriptor"
FILES = ("descriptor.yaml",)
UNKNOWN = "unknown"
_FILE = FILES[0]
_KEYS = {
    "parts": "part {part}",
    "groups": "group {group}",
    "class_fields": "field {ids[0]}",
    "operand_fields": "operand field {ids[0]}",
    "lookup_tables": "table {table}",
    "gates": "gate {category}",
    "extended": "extended {class_name} {width_name}",
    "extended_opcodes": "extended opcodes {kind}",
    "address_types": "address type {name}",
    "memory_fields": "memory field {name}",
    "register_word": "register word {part}",
    "register_tags": "register tag {tag}",
    "predicate_word": "predicate word {part}",
    "register_field": "register field {part}",
}
# Documented tables and their sizes.
_COUNTS = {"groups": 8, "extended": 10, "register_tags": 12, "register_word": 3, "predicate_word": 3, "register_field": 2}
_WORD_BITS = 32
# Names that generated code and the descriptor's builder rely on: section -> parts, and the values of some parts.
_PARTS = {
    "parts": ("category", "memory space", "address type", "operand count"),
    "register_word": ("presence", "type", "number"),
    "predicate_word": ("type", "condition", "value"),
}
_VALUES = {"type": ("pred", "upred"), "condition": ("as_is", "negated")}  # of predicate_word


class Place(NamedTuple):
    """Bits of a descriptor word: ``width`` bits from ``first`` on."""

    word: int
    first: int
    width: int


@dataclass(frozen=True)
class ClassField:
    """One id of packRegClassField.

    ``name`` is "" where no document gives one, ``place`` None where no document gives the bits; ``within`` says in words where
    the field's group lies. ``test``: the bit says whether the value equals it. ``base`` is written as 0.
    """

    id: int
    name: str
    group: str
    within: str
    place: Place | None
    test: int | None
    base: int
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Extended:
    """What a sub-opcode of the extended path writes."""

    sub_opcode: int
    register_class: int
    class_name: str
    width: int
    width_name: str


@dataclass(frozen=True)
class ExtendedOpcode:
    """How an opcode finds its sub-opcode: by the registers of its data operand, or ``narrow``."""

    data: tuple[str, ...]
    narrow: int
    registers: Mapping[int, int]


@dataclass(frozen=True)
class Descriptor:
    """Everything in the file, resolved. ``sections`` are the rows as they stand there, with their sources."""

    data: Map
    sections: _rows.Sections
    parts: Mapping[str, Place]
    class_fields: tuple[ClassField, ...]
    operand_fields: Mapping[int, str]
    extended: Mapping[int, Extended]
    extended_opcodes: Mapping[str, ExtendedOpcode]


def load(spec: Spec) -> Descriptor:
    """The tables, checked.

    Raises:
        SpecError: the first row that is wrong.
    """
    return spec.memo(NAME, lambda: _Loader(spec).load())


def rows(spec: Spec) -> list[Row]:
    """One row per class field and operand field, resolved, and the rows of every other section."""
    model = load(spec)
    fields = model.sections["class_fields"] + model.sections["operand_fields"]
    out = [row for rows in model.sections.values() for row in rows if row not in fields]
    for field in model.class_fields:
        row = _row_of(model, "class_fields", field.id)
        values = {
            "name": field.name or UNKNOWN,
            "group": field.group or "none",
            "bits": describe(field.place) if field.place else f"{UNKNOWN} ({field.within})",
            **{column: row.values[column] for column in ("test", "base", "beyond") if column in row.values},
            "tables": list(field.tables),
            "source": row.values["source"],
        }
        out.append(Row(f"field {field.id}", values, row.path, row.line))
    for number, name in model.operand_fields.items():
        row = _row_of(model, "operand_fields", number)
        values = {"name": name or UNKNOWN, "bits": UNKNOWN, "source": row.values["source"]}
        out.append(Row(f"operand field {number}", values, row.path, row.line))
    return out


def describe(place: Place) -> str:
    """A place in words: ``a3[2] bits 7-10``."""
    word, first, width = place
    return f"a3[{word}] bits {first}-{first + width - 1}" if width > 1 else f"a3[{word}] bit {first}"


def _row_of(model: Descriptor, section: str, number: int) -> Row:
    """The row that names a field; for a field without a name that of its namespace, with the section's source."""
    for row in model.sections[section]:
        if number in numbers(row.values["ids"]):
            return row
    ids = {"class_fields": "class_ids", "operand_fields": "operand_ids"}[section]
    return Row(ids, {"source": model.data["sources"][section]}, f"spec/{_FILE}", model.data.line_of(ids))


def counts(spec: Spec) -> dict[str, int]:
    """Fields, and what is known of them; groups, lookup tables, the extended path, tags."""
    model = load(spec)
    tables = model.sections["lookup_tables"]
    return {
        "class fields (packRegClassField)": len(model.class_fields),
        "class fields with a name": sum(bool(f.name) for f in model.class_fields),
        "class fields with known bits": sum(f.place is not None for f in model.class_fields),
        "class fields in no group": sum(not f.group for f in model.class_fields),
        "groups of class fields": len(model.sections["groups"]),
        "operand fields (packOperandField)": len(model.operand_fields),
        "operand fields with a name": sum(bool(name) for name in model.operand_fields.values()),
        "lookup tables": model.data["tables"]["claimed"],
        "lookup tables listed": sum(r.values.get("listed", True) for r in tables),
        "extended sub-opcodes": len(model.extended),
        "extended rows": len(model.sections["extended"]),
        "register type tags": len(model.sections["register_tags"]),
        "descriptor words": model.data["words"],
    }


def check(spec: Spec) -> None:
    """Ids, bits, references, completeness.

    Raises:
        SpecError: the first row that is wrong.
    """
    load(spec)


class _Loader:
    """Resolves and checks the file, section by section."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.data = spec.load(_FILE)
        self.sections = _rows.read(spec, _FILE, _KEYS)

    def load(self) -> Descriptor:
        _rows.check_count(self.spec, _FILE, self.sections, _COUNTS)
        self._check_names()
        parts = self._parts()
        tables = self._tables()
        fields = self._class_fields(parts, tables)
        names = self._names("operand_fields", "ids", "operand_ids")
        first, last = self._range("operand_ids")
        extended = self._extended(fields)
        self._check_words()
        self._check_field_of_numbers()
        self._check_tags()
        self._check_addresses()
        self._check_cases(fields)
        return Descriptor(
            self.data, self.sections, parts, fields, {n: names.get(n, "") for n in range(first, last + 1)},
            extended, self._extended_opcodes(extended),
        )  # fmt: skip

    def _error(self, line: int, message: str) -> SpecError:
        return SpecError(self.spec.path(_FILE), line, message)

    def _range(self, name: str) -> tuple[int, int]:
        return self.data[name]["first"], self.data[name]["last"]

    def _bits(self, row: Row, column: str = "bits", most: int = _WORD_BITS) -> tuple[int, int]:
        """First bit and width of a column; the bits exist."""
        first, width = bits(row.values[column])
        if width < 1 or first + width > most:
            raise self._error(row.line, f"{row.key}: {column} '{row.values[column]}' are no bits of a word of {most}")
        return first, width

    def _check_names(self) -> None:
        """The parts that code relies on exist, and their values."""
        for section, names in _PARTS.items():
            rows = {row.values["part"]: row for row in self.sections[section]}
            for name in names:
                if name not in rows:
                    raise self._error(self.data.line_of(section), f"{section}: part '{name}' is missing")
            for name, values in _VALUES.items() if section == "predicate_word" else ():
                if set(rows[name].values.get("values", ())) != set(values):
                    raise self._error(rows[name].line, f"{rows[name].key}: values must be those of {' and '.join(values)}")
        categories, unknown = self.spec.load(regclass.FILES[0])["categories"], self.data["unknown_category"]
        if categories["first"] <= unknown <= categories["last"]:
            what = f"is a category ({categories['first']} to {categories['last']})"
            raise self._error(self.data.line_of("unknown_category"), f"unknown_category: {unknown} {what}")

    # -- the descriptor words ----------------------------------------------------------------------------

    def _parts(self) -> dict[str, Place]:
        """Parts of the words by name; no two share a bit, and every case's flag is one."""
        out: dict[str, Place] = {}
        for row in self.sections["parts"]:
            word = row.values["word"]
            if word >= self.data["words"]:
                raise self._error(row.line, f"{row.key}: word is {word}, but there are {self.data['words']} words")
            place = Place(word, *self._bits(row))
            for name, other in out.items():
                if _overlap(place, other):
                    raise self._error(row.line, f"{row.key}: bits {row.values['bits']} of a3[{word}] overlap part {name}")
            out[row.values["part"]] = place
        for case in regclass.load(self.spec).cases:
            if case.flag and (case.flag not in out or out[case.flag].width != 1):
                raise _case_error(case, f"flag '{case.flag}' is no part of one bit in descriptor.yaml")
        self._refer_opcodes(self.data.line_of("operand_count"), "operand_count", self.data["operand_count"]["names"])
        return out

    def _refer_opcodes(self, line: int, key: str, names: list[str]) -> None:
        known = opcodes.load(self.spec).by_name
        for name in names:
            if name not in known:
                raise self._error(line, f"{key}: {name} is no opcode of opcodes.yaml")

    # -- fields ------------------------------------------------------------------------------------------

    def _names(self, section: str, column: str, limits: str) -> dict[int, str]:
        """Id -> name; ids lie in the namespace, each once."""
        first, last = self._range(limits)
        out: dict[int, str] = {}
        for row in self.sections[section]:
            for number in numbers(row.values[column]):
                if not first <= number <= last:
                    raise self._error(row.line, f"{row.key}: id {number} is not in {first} to {last}")
                if number in out:
                    raise self._error(row.line, f"{row.key}: id {number} is listed twice")
                out[number] = "" if row.values["name"] == UNKNOWN else row.values["name"]
        return out

    def _tables(self) -> dict[int, list[str]]:
        """Class field -> its lookup tables; at most one that is not bound to a path."""
        first, last = self._range("class_ids")
        out: dict[int, list[str]] = {}
        common: dict[int, str] = {}
        for row in self.sections["lookup_tables"]:
            if ("class" in row.values) == ("use" in row.values):
                raise self._error(row.line, f"{row.key}: either 'class' or 'use' says what the table is for")
            for number in numbers(row.values["class"]) if "class" in row.values else ():
                if not first <= number <= last:
                    raise self._error(row.line, f"{row.key}: class field {number} is not in {first} to {last}")
                if "where" not in row.values and number in common:
                    raise self._error(row.line, f"{row.key}: class field {number} goes through {common[number]} already")
                if "where" not in row.values:
                    common[number] = row.values["table"]
                out.setdefault(number, []).append(row.values["table"])
        listed = sum(r.values.get("listed", True) for r in self.sections["lookup_tables"])
        if listed != self.data["tables"]["listed"]:
            line = self.data.line_of("tables")
            raise self._error(line, f"tables: {self.data['tables']['listed']} are listed, but {listed} rows are")
        known = {r.values["table"] for r in self.sections["lookup_tables"]}
        for case in regclass.load(self.spec).cases:
            for field in case.fields:
                if field.place == "table" and field.table not in known:
                    raise _case_error(case, f"table {field.table} is not in descriptor.yaml")
        return out

    def _groups(self) -> dict[int, Row]:
        """Class field -> its group."""
        first, last = self._range("class_ids")
        out: dict[int, Row] = {}
        for row in self.sections["groups"]:
            for number in numbers(row.values["ids"]):
                if not first <= number <= last:
                    raise self._error(row.line, f"{row.key}: id {number} is not in {first} to {last}")
                if number in out:
                    raise self._error(row.line, f"{row.key}: id {number} is in {out[number].key}")
                out[number] = row
            if row.values["bits"] != UNKNOWN:
                self._bits(row)
        return out

    def _class_fields(self, parts: Mapping[str, Place], tables: Mapping[int, list[str]]) -> tuple[ClassField, ...]:
        first, last = self._range("class_ids")
        names = self._names("class_fields", "ids", "class_ids")
        groups = self._groups()
        rows = {n: row for row in self.sections["class_fields"] for n in numbers(row.values["ids"])}
        out: list[ClassField] = []
        for number in range(first, last + 1):
            row, group = rows.get(number), groups.get(number)
            place = self._place(row, group, parts) if row else None
            if place is not None and any(f.place is not None and _overlap(f.place, place) for f in out):
                assert row is not None
                other = next(f for f in out if f.place is not None and _overlap(f.place, place))
                raise self._error(row.line, f"{row.key}: its bits overlap field {other.id} ({other.name})")
            values = row.values if row else {}
            own = (group.values["group"] if group else "", _within(group), place)
            reading = (values.get("test"), values.get("base", 0), tuple(tables.get(number, ())))
            out.append(ClassField(number, names.get(number, ""), *own, *reading))
        for number in tables:
            if number not in rows:
                row = next(r for r in self.sections["lookup_tables"] if number in numbers(r.values.get("class", ())))
                raise self._error(row.line, f"{row.key}: class field {number} has no row in class_fields")
        return tuple(out)

    def _place(self, row: Row, group: Row | None, parts: Mapping[str, Place]) -> Place | None:
        """Where a field lies; None when no document says so."""
        values = row.values
        if "part" in values:
            if values["part"] not in parts or "bits" in values:
                raise self._error(row.line, f"{row.key}: part '{values['part']}' is no part, or the field has bits of its own")
            return parts[values["part"]]
        if "bits" not in values:
            return None
        place = Place(values["word"], *self._bits(row))
        if len(numbers(values["ids"])) != 1:
            raise self._error(row.line, f"{row.key}: several fields cannot have the same bits")
        if "test" in values and place.width != 1:
            raise self._error(row.line, f"{row.key}: a test is one bit, not {values['bits']}")
        if group is None or place.word not in group.values["words"]:
            raise self._error(row.line, f"{row.key}: word {place.word} is none of its group's")
        if group.values["bits"] != UNKNOWN:
            low, width = bits(group.values["bits"])
            inside = low <= place.first and place.first + place.width <= low + width
            if inside == ("beyond" in values):
                what = (
                    "lie in its group's, 'beyond' is not needed"
                    if inside
                    else "are outside of its group's, 'beyond' must say why"
                )
                raise self._error(row.line, f"{row.key}: bits {values['bits']} {what} ({group.values['bits']})")
        return place

    # -- the extended path -------------------------------------------------------------------------------

    def _extended(self, fields: tuple[ClassField, ...]) -> dict[int, Extended]:
        """Sub-opcode -> what it writes; complete, and every value fits its field."""
        first, last = self._range("extended_ids")
        by_id = {f.id: f for f in fields}
        out: dict[int, Extended] = {}
        for column, number in self.data["extended_fields"].items():
            if number not in by_id:
                line = self.data.line_of("extended_fields")
                raise self._error(line, f"extended_fields: {column}: there is no class field {number}")
        for row in self.sections["extended"]:
            values = row.values
            for column, number in self.data["extended_fields"].items():
                field = by_id[number]
                value = values[column] - field.base
                if field.place is not None and not 0 <= value < 1 << field.place.width:
                    raise self._error(row.line, f"{row.key}: {column} {values[column]} does not fit field {number}")
            for sub in numbers(values["sub_opcodes"]):
                if not first <= sub <= last:
                    raise self._error(row.line, f"{row.key}: sub-opcode {sub:#x} is not in {first:#x} to {last:#x}")
                if sub in out:
                    raise self._error(row.line, f"{row.key}: sub-opcode {sub:#x} is listed twice")
                out[sub] = Extended(sub, *(values[c] for c in ("register_class", "class_name", "width", "width_name")))
        missing = [f"{n:#x}" for n in range(first, last + 1) if n not in out]
        if missing:
            raise self._error(self.data.line_of("extended"), f"extended: no row for sub-opcode {', '.join(missing)}")
        gates = self.sections["gates"]
        categories = self.spec.load(regclass.FILES[0])["categories"]
        for gate in gates:
            if not categories["first"] <= gate.values["category"] <= categories["last"]:
                raise self._error(gate.line, f"{gate.key}: category is not in {categories['first']} to {categories['last']}")
            if (gate.values["when"] == "always") != (gate is gates[-1]):
                raise self._error(gate.line, f"{gate.key}: the last gate, and only that, is always open")
            kind, _, name = gate.values["when"].partition(" ")
            if kind == "operand" and not any(name in (o.name for o in operation.operands) for operation in self._memory()):
                raise self._error(gate.line, f"{gate.key}: no memory instruction has an operand {name}")
        return dict(sorted(out.items()))

    def _check_narrow(self) -> None:
        """The values of narrow accesses are values of a modifier that memory instructions have."""
        narrow = self.data["narrow_values"]
        known = {name for o in self._memory() for m in o.mods if m.name == narrow["modifier"] for name in m.codes}
        for index, name in enumerate(narrow["values"]):
            if name not in known:
                message = f"narrow_values: no memory instruction has '{name}' of a modifier {narrow['modifier']}"
                raise self._error(narrow["values"].line_of(index), message)

    def _memory(self) -> list[Operation]:
        """The operations that access memory."""
        spaces = memory_spaces.load(self.spec).input_of
        return [o for o in machine.load(self.spec).operations if o.opcode in spaces]

    def _extended_opcodes(self, extended: Mapping[int, Extended]) -> dict[str, ExtendedOpcode]:
        """Opcode -> how it finds its sub-opcode; memory instructions that no case names."""
        spaces = memory_spaces.load(self.spec).input_of
        cases = regclass.load(self.spec).of
        operands: dict[str, list[set[str]]] = {}
        for operation in machine.load(self.spec).operations:
            operands.setdefault(operation.opcode, []).append({o.name for o in operation.operands})
        self._check_narrow()
        out: dict[str, ExtendedOpcode] = {}
        for row in self.sections["extended_opcodes"]:
            values = row.values
            registers = {int(count): sub for count, sub in values["registers"].items()}
            for sub in (values["narrow"], *registers.values()):
                if sub not in extended:
                    raise self._error(row.line, f"{row.key}: there is no sub-opcode {sub:#x}")
            for name in values["names"]:
                if name not in spaces:
                    raise self._error(row.line, f"{row.key}: {name} has no row in memory_spaces.yaml")
                if name in cases:
                    raise self._error(row.line, f"{row.key}: {name} is in case {cases[name].key} of regclass.yaml")
                if name in out:
                    raise self._error(row.line, f"{row.key}: {name} is listed twice")
                if not all(found & set(values["data"]) for found in operands.get(name, [])):
                    raise self._error(row.line, f"{row.key}: an operation of {name} has no operand {' or '.join(values['data'])}")
                out[name] = ExtendedOpcode(tuple(values["data"]), values["narrow"], registers)
        return out

    # -- operand words and references --------------------------------------------------------------------

    def _check_words(self) -> None:
        """Parts of the operand words and of the register field do not overlap; their values fit."""
        for section in ("register_word", "predicate_word", "register_field"):
            taken: dict[int, str] = {}
            for row in self.sections[section]:
                first, width = self._bits(row)
                for bit in range(first, first + width):
                    if bit in taken:
                        raise self._error(row.line, f"{row.key}: bit {bit} is that of {taken[bit]}")
                    taken[bit] = row.key
                for name, value in row.values.get("values", {}).items():
                    if value >> width:
                        raise self._error(row.line, f"{row.key}: value {name} = {value} does not fit bits {row.values['bits']}")
                if "value_bits" in row.values and self._bits(row, "value_bits")[1] != width:
                    raise self._error(row.line, f"{row.key}: value_bits and bits are not of one width")

    def _check_field_of_numbers(self) -> None:
        """The register field takes every bit of a number once; the always-true predicate fits its word."""
        expected = 0
        for row in self.sections["register_field"]:
            first, width = self._bits(row, "value_bits")
            if first != expected:
                raise self._error(row.line, f"{row.key}: value_bits begin at {first} where {expected} is expected")
            expected += width
        value = next(row for row in self.sections["predicate_word"] if row.values["part"] == "value")
        if self.data["always_true"] >> self._bits(value)[1]:
            message = f"always_true: {self.data['always_true']} does not fit bits {value.values['bits']} of the predicate word"
            raise self._error(self.data.line_of("always_true"), message)

    def _check_tags(self) -> None:
        """Tags, codes, and the operands that have them, each once."""
        width = next(self._bits(r)[1] for r in self.sections["register_word"] if r.values["part"] == "type")
        codes: dict[int, Row] = {}
        kinds: dict[tuple[str, int], Row] = {}
        for row in self.sections["register_tags"]:
            code = row.values["code"]
            if code in codes or code >> width:
                what = f"is that of {codes[code].key}" if code in codes else f"does not fit {width} bits"
                raise self._error(row.line, f"{row.key}: code {code} {what}")
            codes[code] = row
            if "kind" in row.values:
                key = row.values["kind"], row.values["registers"]
                if key in kinds:
                    raise self._error(row.line, f"{row.key}: {key[1]} registers of {key[0]} have {kinds[key].key}")
                kinds[key] = row

    def _check_addresses(self) -> None:
        """Address types fit their part; their operands exist, as do the modifiers that memory fields come from."""
        width = bits(next(r.values["bits"] for r in self.sections["parts"] if r.values["part"] == "address type"))[1]
        memory = self._memory()
        codes: dict[int, str] = {}
        for row in self.sections["address_types"]:
            code, operand = row.values["code"], row.values["operand"]
            if code in codes or code >> width:
                what = f"is that of {codes[code]}" if code in codes else f"does not fit {width} bits"
                raise self._error(row.line, f"{row.key}: code {code} {what}")
            codes[code] = row.key
            if not any(operand in (o.name for o in operation.operands) for operation in memory):
                raise self._error(row.line, f"{row.key}: no memory instruction has an operand {operand}")
        self._check_spaces()
        first, last = self._range("class_ids")
        for row in self.sections["memory_fields"]:
            kind, _, name = row.values["from"].partition(" ")
            if kind == "mod" and not any(name in (m.name for m in operation.mods) for operation in memory):
                raise self._error(row.line, f"{row.key}: no memory instruction has a modifier {name}")
            if not all(first <= number <= last for number in numbers(row.values["class"])):
                raise self._error(row.line, f"{row.key}: id is not in {first} to {last}")

    def _check_spaces(self) -> None:
        """The category of every memory instruction fits its part."""
        row = next(r for r in self.sections["parts"] if r.values["part"] == "memory space")
        spaces = memory_spaces.load(self.spec)
        for name, number in spaces.input_of.items():
            category = spaces.categories[number]
            if (
                category is not None
                and category >> bits(row.values["bits"])[1]
                and category not in row.values.get("unplaced", ())
            ):
                raise self._error(row.line, f"{row.key}: category {category} of {name} does not fit bits {row.values['bits']}")

    def _check_cases(self, fields: tuple[ClassField, ...]) -> None:
        """The fields that cases pack exist."""
        class_ids = {f.id for f in fields}
        first, last = self._range("operand_ids")
        ids = {"class": class_ids, "operand": set(range(first, last + 1))}
        for case in regclass.load(self.spec).cases:
            for field in case.fields:
                known = ids.get(field.place)
                if known is not None and not known.issuperset(field.ids):
                    raise _case_error(
                        case, f"field '{field.name}': there is no {field.place} field {min(set(field.ids) - known)}"
                    )


def _case_error(case: regclass.Case, message: str) -> SpecError:
    return SpecError(Spec.path(regclass.FILES[0]), case.line, f"{case.text}: {message}")


def _overlap(one: Place, two: Place) -> bool:
    return one.word == two.word and one.first < two.first + two.width and two.first < one.first + one.width


def _within(group: Row | None) -> str:
    """Where the fields of a group lie, in words."""
    if group is None:
        return "no group"
    words = "/".join(f"a3[{w}]" for w in group.values["words"])
    return words if group.values["bits"] == UNKNOWN else f"{words} bits {group.values['bits']}"
