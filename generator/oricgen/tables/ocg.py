"""Calls of intrinsics: ``spec/ocg/*.yaml``, what is checked of them and which instructions they become."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ..errors import Mistakes, SpecError
from ..outputs.lowering import compiled
from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map
from . import intrinsics, targets
from ._intrinsic_language import Language

NAME = "ocg"
FILES = ("ocg",)
_RECORDS = "intrinsics_records.yaml"
NO_SLOT = -1
_DEFAULT_TARGET = "sm_100a"
_OPEN = "\0"  # in place of an expression
_FAMILY = re.compile(r"[a-z]\w*")
_PARAM = re.compile(r"([a-z]\d+)(?:\*\d+)?(?:=\w+)?")
_TYPES = frozenset(f"{letter}{bits}" for letter in "bus" for bits in (8, 16, 32, 64)) | {"f16", "f32", "f64"}
_PLACES = ("s", "t", "d")


@dataclass(frozen=True)
class Check:
    """A check: what is looked at, when it strikes, its message, and the expressions for its places (all Python)."""

    loop: str
    condition: str
    message: str
    places: Mapping[str, str]
    words: str  # the condition as the spec has it
    slot: int = NO_SLOT  # of the validator that it belongs to


@dataclass(frozen=True)
class Lowered:
    """A row of ``lower``: when it counts ("": always), the instruction, its operands (all Python)."""

    condition: str
    code: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Override:
    """The checks that groups of targets have in the slot of a validator."""

    slot: int
    groups: tuple[str, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Operation:
    """What is said of the calls of an operation."""

    name: str
    pure: bool
    checks: tuple[Check, ...]
    lower: tuple[Lowered, ...]
    shapes: tuple[tuple[str, str], ...]  # when calls have this shape ("": always), and the shape
    example: Mapping[str, str]
    row: Row

    @property
    def parts(self) -> list[tuple[int, list[Check]]]:
        """The checks, those of one validator together behind its slot."""
        return [(slot, list(found)) for slot, found in groupby(self.checks, lambda check: check.slot)]


def load(spec: Spec) -> Mapping[str, Operation]:
    """The operations, checked, in the order of intrinsics.yaml."""
    return spec.memo(NAME, lambda: _load(spec))


def families(spec: Spec) -> frozenset[str]:
    """First words of the instructions that spec/lowering has rules for."""
    return frozenset(family for found in compiled(spec).values() for _, family, _ in found.rules)


def overrides(spec: Spec) -> tuple[Override, ...]:
    """The validators that groups of targets have in place of the others.

    Raises:
        SpecError: a row names a validator, group or list that does not exist.
    """
    data = spec.load(_RECORDS)
    model = intrinsics.load(spec)
    subops = {word for operation in model.operations.values() for word in operation.subops}
    features = {name for target in targets.load(spec).with_code for name in target.features}
    slots = {row.values["validator"]: row.values["slot"] for row in model.router["validators"]}
    found = []
    for index, row in enumerate(data["overrides"]):
        line = data["overrides"].line_of(index)
        files = [(name, file) for name, file in spec.family(FILES[0]).items() if row["list"] in file.get("shared", {})]
        if row["validator"] not in slots or len(files) != 1 or not set(row["groups"]) <= set(model.group_of.values()):
            message = "an override names a validator, groups of targets, and a list of one file of spec/ocg"
            raise SpecError(spec.path(_RECORDS), line, message)
        reader = _Reader(spec, *files[0], row["list"], model, features, subops)
        found.append(Override(slots[row["validator"]], tuple(row["groups"]), reader.checks(files[0][1]["shared"][row["list"]])))
    return tuple(found)


def rows(spec: Spec) -> list[Row]:
    """One row per operation."""
    return [operation.row for operation in load(spec).values()]


def counts(spec: Spec) -> dict[str, int]:
    """Operations, their checks, and their rows of instructions."""
    found = load(spec).values()
    return {
        "operations": len(found),
        "checks": sum(len(operation.checks) for operation in found),
        "rows of instructions": sum(len(operation.lower) for operation in found),
    }


def check(spec: Spec) -> None:
    """Expressions, messages, names.

    Raises:
        SpecError: the first mistake.
    """
    load(spec)
    overrides(spec)


def _load(spec: Spec) -> Mapping[str, Operation]:
    model = intrinsics.load(spec)
    features = {name for target in targets.load(spec).with_code for name in target.features}
    found: dict[str, Operation] = {}
    with Mistakes() as each:
        for file, data in spec.family(FILES[0]).items():
            for name, entry in data["operations"].items():
                with each:
                    if name not in model.operations:
                        raise SpecError(spec.path(file), data["operations"].line_of(name), f"there is no operation '{name}'")
                    if name in found:
                        raise SpecError(spec.path(file), data["operations"].line_of(name), f"'{name}' is in two files")
                    found[name] = _Reader(spec, file, data, name, model, features).operation(entry)
    return {name: found[name] for name in model.operations if name in found}


class _Reader:
    """Reads the entry of one operation."""

    def __init__(
        self, spec: Spec, file: str, data: Map, name: str, model: intrinsics.Intrinsics, features: set[str],
        subops: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.spec = spec
        self.file = file
        self.data = data
        self.name = name
        self.line = data["operations"].line_of(name) if name in data["operations"] else data["shared"].line_of(name)
        slots = {row.values["validator"]: row.values["slot"] for row in model.router["validators"]}
        self.slots = {row["list"]: slots.get(row["validator"], NO_SLOT) for row in spec.load(_RECORDS)["lists"]}
        self.targets = model.group_of
        self.families = families(spec)
        self.messages = {row.values["message"]: row.values["text"] for row in model.router["messages"]}
        self.language = Language(subops or model.operations[name].subops, features, self.fail, plain(data.get("names", {})))

    def fail(self, message: str) -> SpecError:
        """The mistake, in the row at hand."""
        return SpecError(self.spec.path(self.file), self.line, f"{self.name}: {message}")

    def operation(self, entry: Map) -> Operation:
        """The entry, with all expressions as Python."""
        checks = self._checks(entry["checks"], True)
        lower = tuple(self._lowered(entry["lower"], index) for index in range(len(entry["lower"])))
        shapes = tuple(self._shape(entry["shapes"], index) for index in range(len(entry["shapes"])))
        values = {"source": self.data["source"], **plain(entry)}
        example = plain(entry.get("example", {}))
        if example:
            self._example(entry["example"], example)
        row = Row(self.name, values, f"spec/{self.file}", self.data["operations"].line_of(self.name))
        return Operation(self.name, bool(entry.get("pure")), checks, lower, shapes, example, row)

    def checks(self, listed: Any) -> tuple[Check, ...]:
        """A list of checks that names no other."""
        return self._checks(listed, False)

    def _checks(self, listed: Any, may_use: bool) -> tuple[Check, ...]:
        found: list[Check] = []
        for index, row in enumerate(listed):
            self.line = listed.line_of(index)
            if "use" in row:
                if not may_use or len(row) > 1 or row["use"] not in self.data.get("shared", {}):
                    raise self.fail(f"there is no list '{row['use']}' in 'shared' for this place")
                slot = self.slots.get(row["use"], NO_SLOT)
                found += [replace(check, slot=slot) for check in self._checks(self.data["shared"][row["use"]], False)]
                continue
            found.append(self._check(row))
        return tuple(found)

    def _check(self, row: Map) -> Check:
        for column in ("if", "message"):
            if column not in row:
                raise self.fail(f"a check needs '{column}'")
        if row["message"] not in self.messages:
            raise self.fail(f"'{row['message']}' is no message of intrinsics_router.yaml")
        text = self.messages[row["message"]]
        for place in _PLACES:
            if (place in row) != (f"{{{place}}}" in text):
                raise self.fail(f"message '{row['message']}' {'takes no' if place in row else 'needs'} '{place}'")
        loop = row.get("for", "")
        places = {place: self.language.expression(row[place], bool(loop)) for place in _PLACES if place in row}
        return Check(loop, self.language.expression(row["if"], bool(loop)), row["message"], places, row["if"])

    def _shape(self, listed: Any, index: int) -> tuple[str, str]:
        self.line = listed.line_of(index)
        row = listed[index]
        self._params(re.sub(r"\{[^}]*\}", _OPEN, row["params"]))
        return self.language.expression(row["if"]) if "if" in row else "", self.language.text(row["params"])

    def _params(self, text: str) -> None:
        """Types of results and arguments, as the row has them."""
        for word in text.replace("<-", "").split():
            if _OPEN in word:
                continue
            match = _PARAM.fullmatch(word)
            if match is None or match[1] not in _TYPES:
                raise self.fail(f"'{word}' is no type of results or arguments, perhaps with '*' and how many or '=' and a number")

    def _example(self, entry: Map, example: Mapping[str, str]) -> None:
        """A call of the operation, with known sub-operations, for a target of ptxas."""
        self.line = entry.line_of("call")
        words = example["call"].removeprefix(self.name).split("_")[1:]
        if not example["call"].startswith(self.name) or not set(words) <= set(self.language.subops):
            raise self.fail(f"the example '{example['call']}' is no call of it")
        if example.get("target", _DEFAULT_TARGET) not in self.targets:
            raise self.fail(f"the example's target '{example['target']}' is in no group of targets")
        self._params(example["params"])

    def _lowered(self, listed: Any, index: int) -> Lowered:
        self.line = listed.line_of(index)
        row = listed[index]
        operands = tuple(self.language.operand(word) for word in row["operands"].split())
        family = _FAMILY.match(row["code"])
        if family is None or (family[0] != f"ocg_{self.name}" and family[0] not in self.families):
            raise self.fail(f"no rule of spec/lowering is for '{family[0] if family else row['code']}'")
        return Lowered(self.language.expression(row["if"]) if "if" in row else "", self.language.text(row["code"]), operands)
