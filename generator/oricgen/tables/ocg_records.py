"""Routes of calls of intrinsics and what fills the operand buffer: ``spec/intrinsics_records.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..rows import Row, plain
from ..spec import Spec
from . import intrinsics
from ._intrinsic_language import Language

NAME = "ocg_records"
FILES = ("intrinsics_records.yaml",)
DEFAULT = "default"
_FILE = FILES[0]
_KEYS = {
    "lists": "validator {validator}",
    "routes": "route {range}",
    "fills": "fill {content} from {from}",
    "bits": "bit {bit} of control word {word}",
}


@dataclass(frozen=True)
class Records:
    """The tables, expressions as Python: keys by range as (condition, key), fills as (content, ranges, condition, from, most)."""

    register_word: int
    range_of: Mapping[str, str]
    keys: Mapping[str, tuple[tuple[str, int], ...]]
    fills: tuple[tuple[str, tuple[str, ...], str, str, int], ...]
    bits: Mapping[str, tuple[int, int]]
    rows: tuple[Row, ...]


def load(spec: Spec) -> Records:
    """The tables, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row per route, fill and bit."""
    return list(load(spec).rows)


def counts(spec: Spec) -> dict[str, int]:
    """Routed operations, fills, bits."""
    records = load(spec)
    return {"routed operations": len(records.range_of), "fills of the buffer": len(records.fills), "bits": len(records.bits)}


def check(spec: Spec) -> None:
    """Names, keys, expressions.

    Raises:
        SpecError: the first mistake.
    """
    load(spec)


def _load(spec: Spec) -> Records:
    data = spec.load(_FILE)
    model = intrinsics.load(spec)
    subops = {word for operation in model.operations.values() for word in operation.subops}
    known = {row.values["range"]: set(row.values["keys"]) for row in model.router["ranges"]}
    parts = {row.values["content"] for row in model.router["buffer"]}

    def language(line: int) -> Language:
        return Language(subops, (), lambda message: SpecError(spec.path(_FILE), line, message))

    def condition(row: Any, line: int) -> str:
        return language(line).expression(row["if"]) if "if" in row else ""

    range_of: dict[str, str] = {}
    keys: dict[str, tuple[tuple[str, int], ...]] = {}
    for index, row in enumerate(data["routes"]):
        line = data["routes"].line_of(index)
        if row["range"] not in known:
            raise SpecError(spec.path(_FILE), line, f"'{row['range']}' is no range of intrinsics_router.yaml")
        for name in row["operations"]:
            if name not in model.operations or name in range_of:
                raise SpecError(spec.path(_FILE), line, f"'{name}' is no operation, or has a range already")
            range_of[name] = row["range"]
        for choice in row["keys"]:
            if known[row["range"]] and choice["key"] not in known[row["range"]]:
                raise SpecError(spec.path(_FILE), line, f"key {choice['key']} is none of range '{row['range']}'")
        keys[row["range"]] = tuple((condition(choice, line), choice["key"]) for choice in row["keys"])
    fills = []
    for index, row in enumerate(data["fills"]):
        line = data["fills"].line_of(index)
        if row["content"] not in parts:
            raise SpecError(spec.path(_FILE), line, f"'{row['content']}' is no part of the buffer")
        for place in row.get("ranges", ()):
            if place not in known:
                raise SpecError(spec.path(_FILE), line, f"'{place}' is no range of intrinsics_router.yaml")
        first = language(line).expression(str(row["from"]))
        fills.append((row["content"], tuple(row.get("ranges", ())), condition(row, line), first, row["most"]))
    validators = {row.values["validator"] for row in model.router["validators"]}
    shared = {name for file in spec.family("ocg").values() for name in file.get("shared", {})}
    for index, row in enumerate(data["lists"]):
        if row["validator"] not in validators or row["list"] not in shared:
            message = f"'{row['validator']}' is no validator of intrinsics_router.yaml, or '{row['list']}' no list of spec/ocg"
            raise SpecError(spec.path(_FILE), data["lists"].line_of(index), message)
    bits: dict[str, tuple[int, int]] = {}
    for index, row in enumerate(data["bits"]):
        for word in row["subops"]:
            if word not in subops or word in bits:
                raise SpecError(
                    spec.path(_FILE), data["bits"].line_of(index), f"'{word}' is no sub-operation, or has a bit already"
                )
            bits[word] = (row["word"], row["bit"])
    found = [
        Row(
            pattern.format(**row),
            {"source": data["sources"][section], **plain(row)},
            f"spec/{_FILE}",
            data[section].line_of(index),
        )
        for section, pattern in _KEYS.items()
        for index, row in enumerate(data[section])
    ]
    return Records(data["register_word"], range_of, keys, tuple(fills), bits, tuple(found))
