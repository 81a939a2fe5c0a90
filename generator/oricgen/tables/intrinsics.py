"""Intrinsics that PTX calls by name: ``spec/intrinsics.yaml``, ``intrinsics_router.yaml`` and ``intrinsics_observed.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..rows import Row, plain
from ..spec import Spec
from . import _intrinsic_calls, _intrinsic_router, _rows, targets

NAME = "intrinsics"
FILES = ("intrinsics.yaml", "intrinsics_router.yaml", "intrinsics_observed.yaml")
NO_SLOT = "none"
ALL_GROUPS = "all"
_FILE, _ROUTER, _OBSERVED = FILES
_KEYS = {"categories": "category {category}", "operations": "{op}"}
SUPPORTED = ("native", "expanded")  # the other answers mean that no code does what the name says
_POINTER = 8  # bytes of a string pointer in a slot


@dataclass(frozen=True)
class Operation:
    """One operation: ``slot`` is None where no name reaches it; ``answers`` says by group of targets what ptxas makes of it."""

    name: str
    slot: int | None
    category: str
    subops: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    fixed_order: bool
    required: tuple[str, ...]
    twice: tuple[str, ...]
    refused: frozenset[str]
    answers: Mapping[str, str]
    support: Mapping[str, str]  # group of targets -> native or expanded, where the project makes code
    row: Row


@dataclass(frozen=True)
class Intrinsics:
    """The tables, resolved: operations in the order of the document, group of each target."""

    prefix: str
    separator: str
    operations: Mapping[str, Operation]
    group_of: Mapping[str, str]
    table: Mapping[str, Any]
    sections: _rows.Sections
    router: _rows.Sections
    calls: tuple[Row, ...]


def load(spec: Spec) -> Intrinsics:
    """The tables, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row per category, operation, message, range, key, part of the buffer, function and observed call."""
    model = load(spec)
    return _rows.flat(model.sections) + _rows.flat(model.router) + list(model.calls)


def counts(spec: Spec) -> dict[str, int]:
    """Operations, slots, sub-operations, operations of each category, messages, calls."""
    model = load(spec)
    found = list(model.operations.values())
    categories = {f"{row.values['category']} operations": row.values["count"] for row in model.sections["categories"]}
    return {
        "operations": len(found),
        "slots": sum(op.slot is not None for op in found),
        "sub-operations": sum(len(op.subops) for op in found),
        **categories,
        "messages": len(model.router["messages"]),
        "routing keys": len(model.router["keys"]),
        "functions": len(model.router["handlers"]),
        "observed calls": len(model.calls),
        "observed calls with instructions": sum(bool(call.values.get("sass")) for call in model.calls),
    }


def check(spec: Spec) -> None:
    """Slots and offsets, groups, targets, references between the sections, and that the observed calls agree.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    load(spec)


def _load(spec: Spec) -> Intrinsics:
    data = spec.load(_FILE)
    sections = _rows.read(spec, _FILE, _KEYS)
    group_of = _groups(spec)
    table: Mapping[str, Any] = plain(data["table"])
    _rows.check_count(spec, _FILE, sections, {"operations": table["documented_rows"]})
    operations = {row.key: _operation(spec, row, list(data["target_groups"])) for row in sections["operations"]}
    _check_slots(spec, list(operations.values()), table)
    _check_categories(spec, sections, operations)
    router = _intrinsic_router.read(spec, _ROUTER, operations)
    calls = _intrinsic_calls.read(spec, _OBSERVED, operations, data["name"]["separator"], router["messages"])
    return Intrinsics(
        data["name"]["prefix"], data["name"]["separator"], operations, group_of, table, sections, router, calls
    )  # fmt: skip


def _groups(spec: Spec) -> dict[str, str]:
    """Target -> its group."""
    data = spec.load(_FILE)["target_groups"]
    known = targets.load(spec).by_name
    out: dict[str, str] = {}
    for group, names in data.items():
        for name in names:
            if name not in known:
                raise SpecError(spec.path(_FILE), data.line_of(group), f"{group}: '{name}' is no target of sm_targets.yaml")
            if name in out:
                raise SpecError(spec.path(_FILE), data.line_of(group), f"{group}: {name} is in group {out[name]} already")
            out[name] = group
    for name, target in known.items():
        if target.ptxas and name not in out:
            raise SpecError(spec.path(_FILE), data.line, f"target_groups: {name}, which ptxas takes, is in no group")
    return out


def _operation(spec: Spec, row: Row, target_groups: list[str]) -> Operation:
    values = row.values
    groups = {name: tuple(words) for name, words in values["groups"].items()}
    _check_subops(spec, row, groups)
    for column in ("required", "twice"):
        for name in values.get(column, ()):
            if name not in groups:
                raise _error(spec, row, f"{column} '{name}' is no group of it")
    answers: dict[str, str] = {}
    for answer, names in values["ptxas"].items():
        for name in target_groups if names == [ALL_GROUPS] else names:
            if name not in target_groups:
                raise _error(spec, row, f"{answer} names '{name}', which is no group of targets")
            if name in answers:
                raise _error(spec, row, f"group {name} is {answers[name]} and {answer}")
            answers[name] = answer
    missing = [name for name in target_groups if name not in answers]
    if missing:
        raise _error(spec, row, f"ptxas says nothing of group {missing[0]}")
    for word, names in values.get("lost", {}).items():
        if word not in values["subops"] or not set(names) <= set(target_groups):
            raise _error(spec, row, f"lost names '{word}' or groups of targets that do not exist")
    ours = {name: answer for answer, names in values.get("ours", {}).items() for name in names}
    for name in ours:
        if name not in target_groups or answers[name] in SUPPORTED:
            raise _error(spec, row, f"ours names '{name}', which is no group of targets, or has code in ptxas")
    support = {name: answer for name, answer in {**answers, **ours}.items() if answer in SUPPORTED}
    slot = values["slot"]
    return Operation(
        name=row.key, slot=None if slot == NO_SLOT else slot, category=values["category"], subops=tuple(values["subops"]),
        groups=groups, fixed_order=values["order"] == "fixed", required=tuple(values["required"]),
        twice=tuple(values.get("twice", ())), refused=frozenset(values.get("refused", ())), answers=answers,
        support=support, row=row,
    )  # fmt: skip


def _check_subops(spec: Spec, row: Row, groups: Mapping[str, tuple[str, ...]]) -> None:
    """Each sub-operation is in one group; no more of them than a slot holds."""
    subops = row.values["subops"]
    most = spec.load(_FILE)["table"]["subops"]
    if len(subops) > most:
        raise _error(spec, row, f"{len(subops)} sub-operations, a slot holds {most}")
    place: dict[str, str] = {}
    for name, words in groups.items():
        for word in words:
            if word not in subops:
                raise _error(spec, row, f"group '{name}' names '{word}', which is no sub-operation of it")
            if word in place:
                raise _error(spec, row, f"sub-operation '{word}' is in the groups '{place[word]}' and '{name}'")
            place[word] = name
    for word in subops:
        if word not in place:
            raise _error(spec, row, f"sub-operation '{word}' is in no group")
    for word in row.values.get("refused", ()):
        if word not in place:
            raise _error(spec, row, f"refused '{word}' is no sub-operation of it")


def _check_slots(spec: Spec, operations: list[Operation], table: Mapping[str, Any]) -> None:
    """Slots count up; offsets follow from them; a row without a slot lies on a string of the slot before."""
    slots = [op for op in operations if op.slot is not None]
    for number, op in enumerate(slots):
        if op.slot != number:
            raise _error(spec, op.row, f"slot {op.slot} stands where {number} is expected")
    if len(slots) != table["slots"] or table["size"] != table["slots"] * table["slot_bytes"]:
        message = f"{table['slots']} slots of {table['slot_bytes']} bytes are not {table['size']:#x} bytes"
        line = spec.load(_FILE).line_of("table")
        raise SpecError(spec.path(_FILE), line, f"table: {len(slots)} rows have a slot; {message}")
    before: Operation | None = None
    for number, op in enumerate(operations):
        documented, offset = op.row.values["documented"]["slot"], op.row.values["offset"]
        if documented != number:
            raise _error(spec, op.row, f"documented slot {documented} where {number} is expected")
        expected = _string_of(before, op.name) if op.slot is None else table["first_offset"] + table["slot_bytes"] * op.slot
        if offset != expected:
            raise _error(spec, op.row, f"offset is {offset}, its slot gives {expected}")
        before = op


def _string_of(operation: Operation | None, subop: str) -> int:
    """Where the pointer to a sub-operation lies in the slot of its operation; -1 when there is none."""
    if operation is None or subop not in operation.subops:
        return -1
    offset: int = operation.row.values["offset"]
    return offset + _POINTER * (1 + operation.subops.index(subop))


def _check_categories(spec: Spec, sections: _rows.Sections, operations: Mapping[str, Operation]) -> None:
    known = {row.values["category"]: row for row in sections["categories"]}
    for op in operations.values():
        if op.category not in known:
            raise _error(spec, op.row, f"category '{op.category}' is not listed in 'categories'")
    for name, row in known.items():
        found = sum(op.category == name for op in operations.values())
        if found != row.values["count"]:
            raise _error(spec, row, f"{row.values['count']} operations are documented, {found} have it")


def _error(spec: Spec, row: Row, message: str) -> SpecError:
    return SpecError(spec.path(_FILE), row.line, f"{row.key}: {message}")
