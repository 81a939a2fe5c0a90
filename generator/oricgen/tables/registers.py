"""The register model: ``spec/registers.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _line, _rows, targets

NAME = "registers"
FILES = ("registers.yaml",)
_FILE = FILES[0]
_KEYS = {
    "files": "file {file}",
    "fixed": "{register}",
    "types": "type {type}",
    "classes": "class {class}",
    "flags": "flag {name}",
    "pair_modes": "pair mode {mode}",
    "widths": "{bits} bits",
    "architectural": "index {index}",
    "passed_over": "passed over {reason}",
    "pressure": "counter +{offset}",
    "subclasses": "sub-class {name}",
    "liveness": "liveness {name}",
    "system": "%{ptx[0]}",
    "convention": "{role} registers",
    "setmaxnreg": "{state}",
    "messages": "message {name}",
}
# Rows of each documented table.
_NAMED: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # section, column: rows that templates ask for
    ("fixed", "register", ("RZ", "URZ", "PT", "UPT")),
    ("types", "name", ("R", "P")),
    ("files", "file", ("R", "UR", "P", "UP", "B", "UB")),
    ("convention", "role", ("stack", "argument", "return_address", "kept", "kept_by_driver", "untouched", "scratch")),
    (
        "messages",
        "name",
        (
            "undefined_register",
            "setmaxnreg_dec_large",
            "setmaxnreg_below_launch",
            "setmaxnreg_ignored",
            "setmaxnreg_unknown",
            "reserved_by_abi",
            "group_serialized",
            "group_wait_injected",
            "group_arrive_injected",
        ),
    ),
)
_DOCUMENTED = {"files": 7, "fixed": 4, "types": 12, "classes": 7, "flags": 10, "pair_modes": 3, "widths": 6,
               "architectural": 5, "pressure": 10, "liveness": 2, "system": 8, "setmaxnreg": 3}  # fmt: skip
# Limits of a target and the file that bounds them.
_LIMITS = {"max_regs": "R", "uniform_regs": "UR", "predicates": "P", "uniform_predicates": "UP",
           "barrier_regs": "B", "uniform_barriers": "UB"}  # fmt: skip


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    names = {"files": "register files", "types": "register types", "classes": "allocator classes", "flags": "flag bits",
             "pressure": "pressure counters", "subclasses": "sub-classes of registers", "messages": "texts about registers",
             "system": "groups of system registers", "architectural": "architectural indices"}  # fmt: skip
    return {title: len(found[section]) for section, title in names.items()}


def index_on(row: Row, target: str, places: Mapping[str, _line.Place]) -> int | None:
    """The number of a fixed register in the instruction words of ``target``; None when the target lacks its file."""
    since: dict[str, int] = row.values["index"]
    known = [name for name in since if name in places and places[name] <= places[target]]
    return since[max(known, key=lambda name: places[name])] if known else None


def numbers(row: Row) -> tuple[int, ...]:
    """The registers of a row of the calling convention, in the order of the row."""
    out: list[int] = []
    for part in row.values["registers"].split():
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return tuple(out)


def passed_over(found: _rows.Sections, column: str, section: str, wanted: str) -> list[int]:
    """Of the registers that allocation passes over by a ``column``, what ``wanted`` says of it in its section."""
    known: dict[str, int] = {row.values["name"]: row.values[wanted] for row in found[section]}
    return [known[row.values[column]] for row in found["passed_over"] if column in row.values]


def predicates_in_front(found: _rows.Sections) -> int:
    """How many predicates there are in front of the first one that is reserved (``architectural``)."""
    fixed: dict[str, int] = {row.values["register"]: min(row.values["index"].values()) for row in found["fixed"]}
    return min(fixed[row.values["register"]] for row in found["architectural"] if row.values["used"])


def alignments(found: _rows.Sections) -> list[int]:
    """What the number of a register's first word is a multiple of, by its words: as the narrowest row that holds it."""
    widths = sorted((row.values["bits"] // 32, row.values["align"]) for row in found["widths"])
    return [next(align for most, align in widths if words <= most) for words in range(widths[-1][0] + 1)]


def _check_passed_over(spec: Spec, found: _rows.Sections) -> None:
    """What is reserved has its number among the fixed registers; flags and types are there."""
    fixed = {row.values["register"] for row in found["fixed"] if row.values["file"] == "P"}
    used = tuple(row for row in found["architectural"] if row.values["used"])
    _rows.check_refers(spec, _FILE, used, "register", fixed, "fixed predicate")
    for column, section, what in (("flag", "flags", "flag"), ("phi", "types", "register type")):
        names = {row.values["name"] for row in found[section]}
        rows_of = tuple(row for row in found["passed_over"] if column in row.values)
        _rows.check_refers(spec, _FILE, rows_of, column, names, what)


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Counts, numbering, references, masks, limits.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    for section, column in (("types", "type"), ("classes", "class")):
        _rows.check_numbers(spec, _FILE, found[section], column)
    for section, column, asked in _NAMED:
        for wanted in asked:
            _rows.named(spec, _FILE, section, found[section], wanted, column)
    files = {row.values["file"]: row for row in found["files"]}
    for section, column in (("fixed", "file"), ("types", "file"), ("classes", "file"), ("liveness", "files")):
        _rows.check_refers(spec, _FILE, found[section], column, files.keys() | {"none"}, "register file")
    _rows.check_refers(spec, _FILE, found["types"], "class", {*range(len(found["classes"])), "none"}, "allocator class")
    _check_passed_over(spec, found)
    _check_files(spec, found["files"])
    _check_unique(spec, found["types"], "name")
    _check_flags(spec, found)
    _check_fixed(spec, found["fixed"], files)
    _check_classes(spec, found["classes"], files)
    _check_pressure(spec, found["pressure"])
    _check_convention(spec, found["convention"], files)
    _check_targets(spec, found["fixed"], files)
    special = spec.load("ptx/special_registers.yaml", "ptx_special_registers")["registers"]
    _rows.check_refers(spec, _FILE, found["system"], "ptx", special, "special register of ptx/special_registers.yaml")
    names = {name for part in spec.load("formats.yaml")["names"]["sreg"].values() for name in part.values()}
    _rows.check_refers(spec, _FILE, found["system"], "hardware", names, "system register of formats.yaml")


def _error(spec: Spec, row: Row, message: str) -> SpecError:
    return SpecError(spec.path(_FILE), row.line, f"{row.key}: {message}")


def _check_unique(spec: Spec, rows: Iterable[Row], column: str) -> None:
    seen: dict[object, Row] = {}
    for row in rows:
        value = row.values[column]
        if value in seen and value != "none":
            raise _error(spec, row, f"{column} {value} is that of {seen[value].key}")
        seen[value] = row


def _check_files(spec: Spec, rows: tuple[Row, ...]) -> None:
    for column in ("abi_type", "kind", "unit"):
        _check_unique(spec, rows, column)
    for row in rows:
        if (row.values["unit"] == "none") != (row.values["kind"] == "none"):
            message = f"a file that the encoder knows has a unit: kind is {row.values['kind']}, unit is {row.values['unit']}"
            raise _error(spec, row, message)
    count = sum(row.values["unit"] != "none" for row in rows)
    for row in rows:
        unit = row.values["unit"]
        if unit != "none" and unit >= count:
            raise _error(spec, row, f"unit is {unit}; the units of {count} files count from 0 to {count - 1}")


def _check_flags(spec: Spec, found: _rows.Sections) -> None:
    taken: dict[int, Row] = {}
    for row in found["flags"]:
        first, _, last = row.values["bits"].partition("-")
        bits = range(int(first), int(last or first) + 1)
        mask = sum(1 << bit for bit in bits)
        if row.values["mask"] != mask:
            raise _error(spec, row, f"mask is {row.values['mask']:#x}, bits {row.values['bits']} are {mask:#x}")
        for bit in bits:
            if bit in taken:
                raise _error(spec, row, f"bit {bit} is that of {taken[bit].key}")
            taken[bit] = row
    base = next((row.values["mask"] for row in found["flags"] if row.values["name"] == "BASE"), 0)
    for row in found["types"]:
        if row.values["flags"] & base != base:
            raise _error(spec, row, f"flags {row.values['flags']:#x} lack the bit BASE ({base:#x}), which every type has")


def _check_fixed(spec: Spec, rows: tuple[Row, ...], files: dict[str, Row]) -> None:
    for row in rows:
        file = files[row.values["file"]]
        since, limit = file.values["since"], file.values["limit"]
        if since not in row.values["index"]:
            raise _error(spec, row, f"index has no entry for {since}, the first target with {file.key}")
        if row.values["index"][since] != limit:
            raise _error(
                spec, row, f"index is {row.values['index'][since]} on {since}; it follows the {limit} registers of {file.key}"
            )


def _check_classes(spec: Spec, rows: tuple[Row, ...], files: dict[str, Row]) -> None:
    for row in rows:
        file = row.values["file"]
        if file != "none" and row.values["limit"] != files[file].values["limit"]:
            raise _error(spec, row, f"limit is {row.values['limit']}, that of {files[file].key} is {files[file].values['limit']}")


def _check_pressure(spec: Spec, rows: tuple[Row, ...]) -> None:
    for number, row in enumerate(rows):
        expected = {"offset": 4 + 4 * number, "context": 48 + 4 * number, "index": 12 + number}
        for column, value in expected.items():
            if row.values[column] != value:
                raise _error(spec, row, f"{column} is {row.values[column]} where {value} is expected")


def _check_convention(spec: Spec, rows: tuple[Row, ...], files: dict[str, Row]) -> None:
    """Every register exists and has one role; arguments and the return address are one run each."""
    _rows.check_refers(spec, _FILE, rows, "file", files.keys(), "register file")
    taken: dict[tuple[str, int], Row] = {}
    for row in rows:
        file, found = row.values["file"], numbers(row)
        for number in found:
            if number >= files[file].values["limit"]:
                raise _error(spec, row, f"{file}{number}: {files[file].key} has {files[file].values['limit']} registers")
            if (file, number) in taken:
                raise _error(spec, row, f"{file}{number} is one of the {taken[file, number].key}")
        taken.update(((file, number), row) for number in found)
        if row.values["role"] in ("argument", "return_address") and found != tuple(range(found[0], found[-1] + 1)):
            raise _error(spec, row, "these registers are one run, without gaps")


def _check_targets(spec: Spec, fixed: tuple[Row, ...], files: dict[str, Row]) -> None:
    """No target has more registers than the number of its constant register leaves."""
    zero, places = {row.values["file"]: row for row in fixed}, _line.places(spec)
    for target in targets.load(spec).by_name.values():
        for column, file in _LIMITS.items():
            most = index_on(zero[file], target.name, places) if file in zero else files[file].values["limit"]
            value = target.limits.get(column, 0)
            if isinstance(value, int) and value > (most or 0):
                line = spec.load("sm_targets.yaml")["targets"].line_of(target.name)
                message = f"{target.name}: {column} is {value}, {files[file].key} has {most or 'no'} registers there"
                raise SpecError(spec.path("sm_targets.yaml"), line, message)


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
