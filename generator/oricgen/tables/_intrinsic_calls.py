"""The observed calls of intrinsics: that they agree with the table of operations and with the messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import SpecError
from ..rows import Row, plain
from ..spec import Spec
from . import targets

if TYPE_CHECKING:
    from .intrinsics import Operation

Operations = Mapping[str, "Operation"]
_WORDS = re.compile(r"[A-Z][A-Z0-9]*")


def read(spec: Spec, file: str, operations: Operations, separator: str, messages: tuple[Row, ...]) -> tuple[Row, ...]:
    """One row per call, checked; a row without a target has that of the file.

    Raises:
        SpecError: the first call that contradicts the operations or messages.
    """
    data = spec.load(file)
    known = targets.load(spec).by_name
    templates = {row.values["message"]: row.values["text"] for row in messages}
    rows: dict[str, Row] = {}
    for index, raw in enumerate(data["calls"]):
        values = {"source": data["sources"]["calls"], "target": data["target"], **plain(raw)}
        key = f"call {values['call']}({values.get('params', '')}) on {values['target']}"
        row = Row(key, values, f"spec/{file}", data["calls"].line_of(index))
        if key in rows:
            raise _error(spec, row, f"listed twice (first on line {rows[key].line})")
        if values["target"] not in known:
            raise _error(spec, row, f"'{values['target']}' is no target of sm_targets.yaml")
        if "message" in values:
            _check_message(spec, row, templates)
        if "sass" in values:
            _check_accepted(spec, row, operations, separator)
        rows[key] = row
    found = tuple(rows.values())
    _check_seen(spec, found, operations, separator, messages)
    return found


def split(call: str, operations: Operations, separator: str) -> tuple[Operation, list[str]] | None:
    """The operation of a name and what stands behind it; None when no operation has a slot and begins the name."""
    for op in operations.values():
        if op.slot is not None and (call == op.name or call.startswith(op.name + separator)):
            rest = call[len(op.name) + len(separator) :]
            return op, rest.split(separator) if call != op.name else []
    return None


def _check_message(spec: Spec, row: Row, templates: Mapping[str, str]) -> None:
    name, text = row.values["message"], row.values.get("text")
    if name not in templates:
        raise _error(spec, row, f"'{name}' is no message of intrinsics_router.yaml")
    parts = [re.escape(part) for part in re.split(r"\{[std]\}", templates[name])]
    if (text is None) != (len(parts) == 1):
        raise _error(spec, row, f"message '{name}' {'needs' if text is None else 'takes no'} text")
    if text is not None and not re.fullmatch(".*".join(parts), text):
        raise _error(spec, row, f"the text is none of message '{name}': {templates[name]}")


def _check_accepted(spec: Spec, row: Row, operations: Operations, separator: str) -> None:
    """An accepted call has known sub-operations, one of each required group, and keeps the order of the groups."""
    found = split(row.values["call"], operations, separator)
    if found is None:
        raise _error(spec, row, "accepted, but no operation has that name")
    op, words = found
    group_of = {word: name for name, members in op.groups.items() for word in members}
    order = list(op.groups)
    used: list[str] = []
    for word in words:
        if word not in group_of or word in op.refused:
            raise _error(spec, row, f"accepted, but '{word}' is no sub-operation that {op.name} takes")
        used.append(group_of[word])
    for name in used:
        if used.count(name) > (2 if name in op.twice else 1):
            raise _error(spec, row, f"accepted with {used.count(name)} sub-operations of group '{name}'")
    for name in op.required:
        if name not in used:
            raise _error(spec, row, f"accepted without a sub-operation of the required group '{name}'")
    if op.fixed_order and [order.index(name) for name in used] != sorted(order.index(name) for name in used):
        raise _error(spec, row, f"accepted in another order than that of the groups of {op.name}")


def _check_seen(spec: Spec, calls: tuple[Row, ...], operations: Operations, separator: str, messages: tuple[Row, ...]) -> None:
    """Every mnemonic of an operation, and every error message that was seen, comes from a call."""
    seen: dict[str, set[str]] = {name: set() for name in operations}
    for call in calls:
        found = split(call.values["call"], operations, separator)
        if found:
            seen[found[0].name] |= {m[0] for text in call.values.get("sass", ()) if (m := _WORDS.match(text))}
    for op in operations.values():
        for mnemonic in op.row.values["sass"]:
            if mnemonic not in seen[op.name]:
                raise SpecError(op.row.path, op.row.line, f"{op.name}: no observed call of it gives {mnemonic}")
    given = {call.values.get("message") for call in calls}
    for row in messages:
        if row.values["message"] not in given and "severity" not in row.values:
            raise SpecError(row.path, row.line, f"{row.key}: no observed call gives it")


def _error(spec: Spec, row: Row, message: str) -> SpecError:
    return SpecError(row.path, row.line, f"{row.key}: {message}")
