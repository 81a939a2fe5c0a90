"""What PTX qualifiers become, and the numberings of the fields behind it: ``spec/mapping.yaml``."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, _rules, lowering, memory_spaces, opcodes, ptx_types, targets

NAME = "mapping"
FILES = ("mapping.yaml",)
NONE = "none"
SPACE_FIELD = 281
GENERIC = "generic"
COUNTS = {"types": 8, "spaces": 6, "modifiers": 9, "namespaces": 7, "aliases": 4}
_FILE = FILES[0]
_KEYS = {
    "types": "types {class}",
    "spaces": "space {space}",
    "further_memory": "memory {mnemonic}",
    "modifiers": "modifier {modifier}",
    "namespaces": "field {field}",
    "aliases": "alias {alias}",
}
_SCALARS = frozenset({"bits", "int", "float", "pred"})  # kinds of types that instructions compute with
_COMPARISONS = "icmp"  # the set of spec/lowering that has the integer comparisons


def load(spec: Spec) -> _rows.Sections:
    """The rows by section, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row per group of types, space, modifier, namespace and alias."""
    return _rows.flat(load(spec))


def counts(spec: Spec) -> dict[str, int]:
    """Rows of each section, and numbers of the namespaces."""
    sections = load(spec)
    named = {"types": "type prefixes", "spaces": "state spaces", "modifiers": "modifiers", "namespaces": "field namespaces"}
    return {
        **{text: len(sections[section]) for section, text in named.items()},
        "numbers of the namespaces": sum(len(row.values["values"]) for row in sections["namespaces"]),
        "comparison aliases": len(sections["aliases"]),
    }


def space_numbers(spec: Spec) -> dict[str, int]:
    """State space as rules of lowering name it ("" is generic) -> its value of field 281."""
    spaces = load(spec)["spaces"]
    return {"" if row.values["space"] == GENERIC else row.values["space"]: row.values["value"] for row in spaces}


def check(spec: Spec) -> None:
    """Opcodes, types, rules, sets and numbers that the rows name exist and agree.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    load(spec)


def _load(spec: Spec) -> _rows.Sections:
    sections = _rows.read(spec, _FILE, _KEYS)
    _rows.check_count(spec, _FILE, sections, COUNTS)
    numbers = _namespaces(sections["namespaces"])
    _check_types(spec, sections["types"])
    _check_spaces(spec, sections, numbers)
    _check_modifiers(spec, sections["modifiers"], numbers)
    _check_aliases(spec, sections["aliases"])
    return sections


def _namespaces(rows: tuple[Row, ...]) -> dict[int, dict[str, int]]:
    """Field -> meaning -> number; no number stands for two meanings of a field."""
    out: dict[int, dict[str, int]] = {}
    for row in rows:
        seen: dict[int, str] = {}
        for meaning, number in row.values["values"].items():
            if number in seen:
                raise _error(row, f"{number} is {seen[number]} and {meaning}")
            seen[number] = meaning
        out[row.values["field"]] = dict(row.values["values"])
    return out


def _check_types(spec: Spec, rows: tuple[Row, ...]) -> None:
    types = ptx_types.load(spec)["types"]
    names = opcodes.load(spec).by_name
    for column in ("arithmetic", "compare", "conversion"):
        _rows.check_refers(spec, _FILE, rows, column, names, "opcode of opcodes.yaml")
    _rows.check_refers(spec, _FILE, rows, "types", types, "type of ptx/types.yaml")
    owner: dict[str, str] = {}
    rules = _rules.index(spec)
    for row in rows:
        for name in row.values["types"]:
            if name in owner:
                raise _error(row, f"{name} is in {owner[name]} already")
            owner[name] = row.key
        example = row.values["example"]
        if example["sass"] not in row.values["arithmetic"]:
            raise _error(row, f"the example's {example['sass']} is not among its arithmetic opcodes")
        if not rules.fitting(example["ptx"]):
            raise _error(row, f"no rule of spec/lowering takes the example {example['ptx']}")
        prefix = row.values["prefix"]
        if prefix != NONE and not example["sass"].startswith(prefix):
            raise _error(row, f"the example's {example['sass']} does not begin with {prefix}")
    for name, values in types.items():
        if values["kind"] in _SCALARS and values.get("register") and name not in owner:
            line = spec.load(_FILE).line_of("types")
            raise SpecError(spec.path(_FILE), line, f"types: {name} of ptx/types.yaml has no row")


def _check_spaces(spec: Spec, sections: _rows.Sections, numbers: Mapping[int, Mapping[str, int]]) -> None:
    model = memory_spaces.load(spec)
    names = opcodes.load(spec).by_name
    known = {row.values["space"] for row in sections["spaces"]}
    for row in sections["spaces"]:
        values = row.values
        number = numbers.get(SPACE_FIELD, {}).get(values["space"])
        if number != values["value"]:
            raise _error(row, f"value is {values['value']}, field {SPACE_FIELD} has {number}")
        if values.get("of", values["space"]) not in known:
            raise _error(row, f"of '{values['of']}' is no space of this table")
        for column in ("load", "store", "atomic"):
            mnemonic = values[column]
            if mnemonic == NONE:
                continue
            if mnemonic not in names:
                raise _error(row, f"{column} '{mnemonic}' is no opcode of opcodes.yaml")
            category = model.categories[model.input_of[mnemonic]] if mnemonic in model.input_of else None
            found = model.names[category] if category is not None else NONE
            if found != values.get("of", values["space"]):
                raise _error(row, f"{column} {mnemonic} accesses {found} memory, as memory_spaces.yaml has it")
    further = sections["further_memory"]
    _rows.check_refers(spec, _FILE, further, "mnemonic", names, "opcode of opcodes.yaml")
    _rows.check_refers(spec, _FILE, further, "since", targets.load(spec).by_name, "target of sm_targets.yaml")


def _check_modifiers(spec: Spec, rows: tuple[Row, ...], numbers: Mapping[int, Mapping[str, int]]) -> None:
    sets = spec.load("formats.yaml")["sets"]
    owner: dict[str, str] = {}
    for row in rows:
        values = row.values
        for name in values["names"]:
            if name in owner:
                raise _error(row, f"{name} is in {owner[name]} already")
            owner[name] = row.key
        encoding = values["encoding"]
        used = [(values["field"], number) for number in values["value"]] if values["field"] != NONE else []
        if "field" in encoding:
            used.append((encoding["field"], encoding.get("value")))
        for field, number in used:
            if field not in numbers:
                raise _error(row, f"field {field} has no row in 'namespaces'")
            if number not in numbers[field].values():
                raise _error(row, f"field {field} has no value {number}")
        if len(values["suffix"]) != len(values["names"]):
            raise _error(row, f"{len(values['names'])} names, {len(values['suffix'])} suffixes")
        if "set" in values:
            _check_hardware(row, sets)


def _check_hardware(row: Row, sets: Mapping[str, str]) -> None:
    """The hardware's numbers are the places of the suffixes in the value set of the machine words."""
    values = row.values
    if values["set"] not in sets:
        raise _error(row, f"'{values['set']}' is no set of formats.yaml")
    places = {word.strip("()"): number for number, word in enumerate(sets[values["set"]].split())}
    hardware = values.get("hardware", [])
    for index, suffix in enumerate(values["suffix"]):
        found = hardware[index] if index < len(hardware) else None
        if places.get(suffix) != found:
            raise _error(row, f"hardware has {found} for {suffix}, set {values['set']} of formats.yaml {places.get(suffix)}")


def _check_aliases(spec: Spec, rows: tuple[Row, ...]) -> None:
    comparisons = lowering.load(spec).sets[_COMPARISONS]
    for row in rows:
        for column in ("alias", "of"):
            if row.values[column] not in comparisons:
                raise _error(row, f"{column} '{row.values[column]}' is not in set {_COMPARISONS} of spec/lowering")
        mine, other = comparisons[row.values["alias"]], comparisons[row.values["of"]]
        if mine != other:
            raise _error(row, f"spec/lowering makes it {mine}, and {row.values['of']} {other}")


def _error(row: Row, message: str) -> SpecError:
    return SpecError(row.path, row.line, f"{row.key}: {message}")
