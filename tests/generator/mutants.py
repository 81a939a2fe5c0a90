"""Mistakes that a machine plants: for every column of every schema, each way in which a value of it can be wrong.

A column is planted in one row of one file of its schema, chosen by a seed; a mistake that any file can have is planted in each.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import yaml
from oricgen import accept

from tests.generator import planted

SPEC = planted.ROOT / "spec"
FREE = planted.FOLDER.parent / "free_columns.yaml"
NAMES = ("zzqq", "ZZQQ", "Zzqq", "$zzqq", "sm_997", "1-2", "sub_FFFFFF9", ".zzqq", "zz.qq", "oric_zzqq")  # that nothing has
FEW = 50  # items of a list that are looked at for the name of a row
WRONG = {"array": "[zzqq]", "object": "{zzqq: 1}", "string": "zzqq", "integer": "7", "boolean": "true", "null": "null"}


@dataclass(frozen=True)
class Place:
    """A value in a file: its schema and how the schema gets there, its node, the entry of a section that it stands in."""

    file: str
    schema: Any
    column: str
    node: yaml.Node
    parent: yaml.MappingNode | None
    key: yaml.Node | None
    row: yaml.Node
    row_key: yaml.Node | None


@dataclass(frozen=True)
class Mutant:
    """A planted mistake: an edit of a file, and the lines of the row that it stands in."""

    file: str
    column: str
    kind: str
    cut: tuple[int, int, str]  # what stands in place of the characters from .. to
    lines: range
    words: tuple[str, ...]  # one of them stands in the message: the row, the column
    values: tuple[str, ...] = ()  # what stood there and what stands there: an error elsewhere that names one follows from it

    @property
    def text(self) -> str:
        """The edited file."""
        start, end, new = self.cut
        text = _text(self.file)
        return text[:start] + new + text[end:]

    @property
    def name(self) -> str:
        return f"{self.file} {self.column or '/'}: {self.kind}"


def all_mutants(seed: int = 1) -> list[Mutant]:
    """All of them, in order of files and columns."""
    out: list[Mutant] = []
    for stem, files in sorted(_files().items()):
        groups: dict[str, list[Place]] = {}
        for file in files:
            out += _anywhere(file)
            for place in places(file, stem):
                groups.setdefault(place.column, []).append(place)
        for column, found in groups.items():
            place = random.Random(f"{seed} {stem} {column}").choice(found)
            out += _planted(place, _document(stem))
    return out


def _files() -> dict[str, list[str]]:
    """Schema -> the files that it describes."""
    spec, _ = planted.sound()
    out: dict[str, list[str]] = {}
    for name, stem in sorted(spec.schemas.items()):
        out.setdefault(stem, []).append(name)
    return out


@cache
def _document(stem: str) -> Any:
    return json.loads((SPEC / "schema" / f"{stem}.schema.json").read_text(encoding="utf-8"))


@cache
def _text(file: str) -> str:
    return (SPEC / file).read_text(encoding="utf-8")


@cache
def _starts(file: str) -> list[int]:
    """Where the lines of a file begin."""
    return [0, *(match.end() for match in re.finditer("\n", _text(file)))]


def _at(file: str, mark: Any) -> int:
    return _starts(file)[mark.line] + int(mark.column)


@cache
def free() -> dict[str, list[str]]:
    """Columns in which any text of their kind is right, by schema."""
    found: dict[str, list[str]] = yaml.load(FREE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found


# -- walking --------------------------------------------------------------------------------------------------


def places(file: str, stem: str) -> list[Place]:
    """All values of a file."""
    root = yaml.compose(_text(file), Loader=yaml.CSafeLoader)
    out: list[Place] = []
    _walk(Place(file, _document(stem), "", root, None, None, root, None), _document(stem), 0, out)
    return out


def resolved(schema: Any, document: Any) -> Any:
    """A schema without references at its top."""
    while "$ref" in schema:
        schema = {
            **document["$defs"][schema["$ref"].removeprefix("#/$defs/")],
            **{k: v for k, v in schema.items() if k != "$ref"},
        }
    return schema


def branches(schema: Any, document: Any) -> list[Any]:
    """The schema, or its alternatives."""
    schema = resolved(schema, document)
    inner = schema.get("oneOf", schema.get("anyOf", ()))
    inner = [one for one in inner if set(one) != {"required"}]
    return [leaf for one in inner for leaf in branches(one, document)] if inner else [schema]


def kinds(schema: Any, document: Any) -> set[str]:
    """The types that a schema takes; all of them where it says none."""
    out: set[str] = set()
    for one in branches(schema, document):
        said = one.get("type", [])
        out |= {said} if isinstance(said, str) else set(said)
        for value in (*one.get("enum", ()), *((one["const"],) if "const" in one else ())):
            out.add(
                "string"
                if isinstance(value, str)
                else "boolean"
                if isinstance(value, bool)
                else "null"
                if value is None
                else "integer"
            )
    return out or set(WRONG)


def _walk(place: Place, document: Any, depth: int, out: list[Place]) -> None:
    out.append(place)
    node = place.node
    kind = {yaml.MappingNode: "object", yaml.SequenceNode: "array"}.get(type(node))
    schema = next((one for one in branches(place.schema, document) if one.get("type") == kind), None) if kind else None
    if schema is None:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(key.value)
            inner, step = schema.get("properties", {}).get(name), name
            if inner is None:
                patterns = [s for p, s in schema.get("patternProperties", {}).items() if re.search(p, name)]
                inner, step = (patterns or [schema.get("additionalProperties")])[0], "*"
            if isinstance(inner, dict):
                row, row_key = (value, key) if depth < 2 else (place.row, place.row_key)
                _walk(
                    Place(place.file, inner, f"{place.column}/{step}", value, node, key, row, row_key), document, depth + 1, out
                )
    elif isinstance(schema.get("items"), dict):
        for value in node.value:
            row, row_key = (value, place.row_key) if depth < 2 else (place.row, place.row_key)
            _walk(
                Place(place.file, schema["items"], f"{place.column}[]", value, None, None, row, row_key), document, depth + 1, out
            )


# -- planting -------------------------------------------------------------------------------------------------


def _planted(place: Place, document: Any) -> Iterator[Mutant]:
    yield from _values(place, document)
    if isinstance(place.node, yaml.MappingNode):
        yield from _columns(place, document)


def _values(place: Place, document: Any) -> Iterator[Mutant]:
    """Other values in place of the one that is there."""
    if place.parent is None and place.row is place.node and not place.column:
        return
    taken = kinds(place.schema, document)
    wrong = [kind for kind in WRONG if kind not in taken and not (kind == "integer" and "number" in taken)]
    for kind in wrong[:1] + wrong[-1:]:
        yield _replaced(place, f"{kind} where none is taken", WRONG[kind])
    if "integer" in taken and "number" not in taken:
        yield _replaced(place, "a number with a point", "7.0")
    leaves = branches(place.schema, document)
    if not taken & {"string", "array", "object"} or all(
        one.get("type") == "integer" or "enum" in one or "const" in one for one in leaves
    ):
        numbers = [one for one in leaves if one.get("type") == "integer"]
        for limit, by in (("minimum", -1), ("maximum", 1)):
            if numbers and all(limit in one for one in numbers):
                yield _replaced(place, f"beyond the {limit}", str((min if by < 0 else max)(one[limit] for one in numbers) + by))
    if "string" in taken:
        yield from _texts(place, leaves, document)
    for one in leaves:
        if one.get("type") == "array" and one.get("minItems"):
            yield _replaced(place, "an empty list", "[]")
        if one.get("type") == "object" and one.get("minProperties"):
            yield _replaced(place, "an empty mapping", "{}")


def _texts(place: Place, leaves: list[Any], document: Any) -> Iterator[Mutant]:
    check = accept.compiled({"$defs": document.get("$defs", {}), **{k: v for k, v in place.schema.items() if k != "$defs"}})
    if not check(""):
        yield _replaced(place, "an empty text", '""')
    if not check("z z\u00a7"):
        yield _replaced(place, "an unknown word", '"z z\u00a7"')
    stem = planted.sound()[0].schemas[place.file]
    if isinstance(place.node, yaml.ScalarNode) and place.column not in free().get(stem, ()):
        name = next((name for name in NAMES if check(name)), None)
        if name is not None:
            yield _replaced(place, "a name of nothing", f'"{name}"')


def _columns(place: Place, document: Any) -> Iterator[Mutant]:
    """Columns more and less."""
    node = place.node
    assert isinstance(node, yaml.MappingNode)
    schema = next((one for one in branches(place.schema, document) if one.get("type") == "object"), {})
    if not node.value:
        return
    first = str(node.value[0][0].value)
    if schema.get("additionalProperties") is False:
        yield _added(place, "an unknown column", "zzz_column: 1", "zzz_column")
    elif "propertyNames" in schema:
        yield _added(place, "an unknown name", '"z z\u00a7": 1', "z z\u00a7")
    yield _added(place, "a key twice", f"{json.dumps(first)}: 1", first)
    for name in schema.get("required", ()):
        if len(node.value) > 1 and any(key.value == name for key, _ in node.value):
            yield _without(place, name)


def _mutant(place: Place, kind: str, cut: tuple[int, int, str], *words: str) -> Mutant:
    first = (place.row_key or place.row).start_mark.line + 1
    steps = [step.removesuffix("[]") for step in place.column.split("/") if step.removesuffix("[]") not in ("", "*")]
    names = [str(key.value) for key in (place.key, place.row_key) if key is not None]
    last = max(place.row.end_mark.line, place.node.end_mark.line) + 1 + cut[2].count("\n")
    found = tuple(word for word in (*words, *names, *steps[-1:], *_scalars(place.row)) if word)
    return Mutant(place.file, place.column, kind, cut, range(first, last + 1), found)


def _scalars(node: yaml.Node) -> Iterator[str]:
    """The texts of a row: one of them is what people call it."""
    if isinstance(node, yaml.ScalarNode):
        yield str(node.value)
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _scalars(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value[:FEW]:
            yield from _scalars(value)


def _replaced(place: Place, kind: str, new: str) -> Mutant:
    node = place.node
    start, end = _at(place.file, node.start_mark), _at(place.file, node.end_mark)
    flow = isinstance(node, yaml.ScalarNode) or node.flow_style
    block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    if not flow or block:
        new += "\n" + " " * node.end_mark.column
    if start == end and _text(place.file)[start - 1] == ":":
        new = f" {new}"
    old = (str(node.value),) if isinstance(node, yaml.ScalarNode) else ()
    mutant = _mutant(place, kind, (start, end, new))
    return replace(mutant, values=(*old, new.strip(' "\n')))


def _added(place: Place, kind: str, entry: str, word: str) -> Mutant:
    node = place.node
    assert isinstance(node, yaml.MappingNode)
    at = _at(place.file, node.value[0][0].start_mark)
    flow = node.flow_style
    column = node.value[0][0].start_mark.column
    return _mutant(place, kind, (at, at, f"{entry}, " if flow else f"{entry}\n{' ' * column}"), word)


def _without(place: Place, name: str) -> Mutant:
    node = place.node
    assert isinstance(node, yaml.MappingNode)
    index = next(at for at, (key, _) in enumerate(node.value) if key.value == name)
    key, value = node.value[index]
    if index + 1 < len(node.value):
        start, end = _at(place.file, key.start_mark), _at(place.file, node.value[index + 1][0].start_mark)
    else:
        start, end = _at(place.file, node.value[index - 1][1].end_mark), _at(place.file, value.end_mark)
        if (
            not node.flow_style
            and isinstance(node.value[index - 1][1], yaml.CollectionNode)
            and not node.value[index - 1][1].flow_style
        ):
            start = _at(place.file, key.start_mark)
    return _mutant(place, f"without '{name}'", (start, end, ""), name)


def _anywhere(file: str) -> Iterator[Mutant]:
    """What any file can have."""
    text = _text(file)
    at = text.index("\n\n") if "\n\n" in text else 0
    end, line = len(text), text.index("\n")
    whole = range(text.count("\n") + 3)
    for kind, cut in {
        "a byte order mark": (0, 0, "\ufeff"),
        "a carriage return": (line, line, "\r"),
        "a tab": (at, at, "\n\t# x"),
        "a NUL byte": (end, end, "\0"),
        "an anchor": (end, end, "zzqq: &a 1\n"),
        "a merge key": (end, end, "<<: {a: 1}\n"),
        "a tag": (end, end, "zzqq: !!python/object:os.system x\n"),
        "an unknown section": (end, end, "zzqq: 1\n"),
        "deep brackets": (end, end, f"zzqq: {'[' * 3000}{']' * 3000}\n"),
        "a long number": (end, end, f"zzqq: {'9' * 5000}\n"),
        "an octal number": (end, end, "zzqq: 0o17\n"),
        "a number with _": (end, end, "zzqq: 166_912\n"),
        "an exponent": (end, end, "zzqq: 1e3\n"),
        "base 60": (end, end, "zzqq: 1:30\n"),
        "an open bracket": (end, end, "zzqq: [1\n"),
        "a second document": (end, end, "---\n"),
        "nothing": (0, end, "# empty\n"),
    }.items():
        yield Mutant(file, "", kind, cut, whole, ("",))


def said(mutant: Mutant) -> str:
    """What is wrong with what is said of it; "" when it is refused as it should be."""
    start, end, new = mutant.cut
    if _text(mutant.file)[start:end] == new:
        return "nothing is planted"
    try:
        error = planted.errors({mutant.file: mutant.text})
    except Exception as error:  # the mistake that this looks for
        return f"{type(error).__name__}: {error}"[:200]
    if error is None:
        return "nothing is said"
    if any(value and value in error.message for value in mutant.values):
        return "" if error.line else f"no line: {error}"
    if error.path != f"spec/{mutant.file}":
        return f"another file: {error}"
    if error.line not in mutant.lines:
        return f"another line than {mutant.lines}: {error}"
    if not any(word in error.message for word in mutant.words):
        return f"neither row nor column: {error}"
    return ""
