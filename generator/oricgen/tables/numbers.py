"""Numbers that C and Python share: ``spec/numbers.yaml``, and the fields of the control bits from ``spec/formats.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..isa.model import KINDS
from ..rows import Row
from ..spec import Spec
from . import _numbers, _rows

NAME = "numbers"
FILES = ("numbers.yaml",)
_FILE = FILES[0]
_KEYS = {"groups": "group {group}", "numbers": "{group} {name}"}
_NONE = "none"
_FORMATS = "formats.yaml"
_FRAME = ("stall", "yield", "write_barrier", "read_barrier", "wait_mask")  # of the control bits
_KINDS = "operand_kinds"  # the group that the encoder's tables number operands by


@dataclass(frozen=True)
class Group:
    """The numbers of a group: what its row says of it, and its names (with the prefix) with number and description."""

    name: str
    dense: bool
    doc: str
    numbers: tuple[tuple[str, int, str], ...]
    bare: tuple[str, ...]  # the names without the prefix


@dataclass(frozen=True)
class Field:
    """A field of the control bits: its first bit among them and its mask."""

    name: str
    shift: int
    mask: int


@dataclass(frozen=True)
class Control:
    """Where the control bits stand in an instruction word, how many they are, and their fields; the reuse flags; the guard."""

    first: int
    bits: int
    fields: tuple[Field, ...]
    reuse: int
    reuse_places: int
    guard: int


def groups(spec: Spec) -> tuple[Group, ...]:
    """All groups, in the order of the file."""
    found = load(spec)
    return tuple(_group(row.values, found["numbers"]) for row in found["groups"])


def _group(values: Mapping[str, Any], rows: tuple[Row, ...]) -> Group:
    own = [row.values for row in rows if row.values["group"] == values["group"]]
    prefix = "" if values["prefix"] == _NONE else f"{values['prefix']}_"
    numbers = tuple((prefix + row["name"], row["number"], row["doc"]) for row in own)
    return Group(values["group"], values["numbering"] == "dense", values["doc"], numbers, tuple(row["name"] for row in own))


def control(spec: Spec) -> Control:
    """The control bits, which all encoding models share.

    Raises:
        SpecError: their fields do not lie together.
    """
    frame = spec.load(_FORMATS)["frame"]
    places = {name: _numbers.bits(frame[name]) for name in _FRAME}
    first = min(at for at, _ in places.values())
    bits = max(at + width for at, width in places.values()) - first
    if bits != sum(width for _, width in places.values()):
        column = max(_FRAME, key=lambda name: places[name][0])
        known = ", ".join(sorted(_FRAME))
        raise SpecError(
            spec.path(_FORMATS), frame.line_of(column),
            f"frame: column '{column}': the control bits ({known}) have other bits between them",
        )  # fmt: skip
    fields = [Field(name.removesuffix("_mask"), at - first, (1 << width) - 1) for name, (at, width) in places.items()]
    reuse, reuse_places = _numbers.bits(frame["reuse"])
    return Control(first, bits, tuple(fields), reuse, reuse_places, _numbers.bits(frame["guard"])[0])


def counts(spec: Spec) -> dict[str, int]:
    """Groups and numbers."""
    found = load(spec)
    return {"groups of numbers": len(found["groups"]), "numbers of C and Python": len(found["numbers"])}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Groups with numbers, numbering as they say, names that are different with their prefix; the control bits.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    control(spec)
    path = spec.path(_FILE)
    numbering = {row.values["group"]: row.values["numbering"] for row in found["groups"]}
    _rows.check_refers(spec, _FILE, found["numbers"], "group", numbering, "group of this file")
    prefixes = {row.values["group"]: row.values["prefix"] for row in found["groups"]}
    seen: dict[str, str] = {}
    for row in found["numbers"]:
        group, name = row.values["group"], row.values["name"]
        full = name if prefixes[group] == _NONE else f"{prefixes[group]}_{name}"
        if full in seen:
            raise SpecError(path, row.line, f"{row.key}: {seen[full]} has {full} already")
        seen[full] = group
        if numbering[group] == "flags" and row.values["number"].bit_count() != 1:
            raise SpecError(path, row.line, f"{row.key}: {row.values['number']} is not one bit, as those of {group} are")
    for row in found["groups"]:
        own = tuple(r for r in found["numbers"] if r.values["group"] == row.values["group"])
        if not own:
            raise SpecError(path, row.line, f"{row.key}: it has no numbers")
        if row.values["numbering"] == "dense":
            _rows.check_numbers(spec, _FILE, own, "number")
    kinds = {r.values["name"].lower(): r.values["number"] for r in found["numbers"] if r.values["group"] == _KINDS}
    for row in found["groups"]:
        if row.values["group"] == _KINDS and kinds != KINDS:
            raise SpecError(path, row.line, f"{row.key}: the encoder has {', '.join(KINDS)} in this order")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, {}, _check)
