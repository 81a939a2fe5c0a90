"""Sections of the serialized Code Object: ``spec/section_tags.yaml``."""

from __future__ import annotations

import re

from ..errors import Mistakes, SpecError
from ..spec import Spec
from . import _rows

NAME = "section_tags"
FILES = ("section_tags.yaml",)
_FILE = FILES[0]
_STRUCTS = "structs.yaml"
_KEYS = {
    "tags": "tag {tag}",
    "wrappers": "tag {tag}",
    "entry": "entry +{offset}",
    "writer": "writer +{offset}",
    "rules": "rule {name}",
    "file": "file +{offset}",
    "own": "tag {tag}",
    "state": "class {class}",
}
_DOCUMENTED = {"tags": 46, "wrappers": 2, "entry": 7, "writer": 8}  # and this project's own field of an entry
_WRITER_BYTES = 1136  # of a Code Object
_FILE_BYTES = 64
_PLAIN = ("int", "bool", "str", "bytes", "bytearray", "words", "list", "dict", "set", "tuple", "None")
_STRUCT = "struct "
_GROUPS = {"base": range(0x01, 0x59), "extended": range(0x1208, 0x1222)}


def counts(spec: Spec) -> dict[str, int]:
    """Tags by group."""
    found = load(spec)
    base = sum(row.values["group"] == "base" for row in found["tags"])
    return {
        "base tags": base,
        "extended tags": len(found["tags"]) - base,
        "tags around the sections": len(found["wrappers"]),
        "tags in all": len(found["tags"]) + len(found["wrappers"]),
    }


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Order and range of the tags, layouts.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    before = 0
    for row in found["tags"]:
        tag, group = row.values["tag"], row.values["group"]
        if tag not in _GROUPS[group]:
            bounds = f"{_GROUPS[group][0]:#x} to {_GROUPS[group][-1]:#x}"
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: {tag:#x} is not in the range of {group} tags, {bounds}")
        if tag < before:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: tags come in order, {before} stands before it")
        before = tag
    known = {row.values["tag"]: row for row in found["tags"]}
    for row in found["wrappers"]:
        if row.values["tag"] in known:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: it is in 'tags' too")
    entry_bytes = _rows.number(spec, _FILE, _rows.named(spec, _FILE, "rules", found["rules"], "entry_bytes"))
    _rows.check_layout(spec, _FILE, found["entry"], entry_bytes)
    _rows.check_layout(spec, _FILE, found["writer"], _WRITER_BYTES)
    _rows.check_layout(spec, _FILE, found["file"], _FILE_BYTES)
    _check_own(spec, found)
    _check_state(spec, found)


def _check_own(spec: Spec, found: _rows.Sections) -> None:
    """Own tags in order, names of all tags.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    before = 0
    names: dict[str, object] = {}
    for row in found["own"]:
        if row.values["tag"] < before:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: tags come in order, {before} stands before it")
        before = row.values["tag"]
    for row in (*found["tags"], *found["wrappers"], *found["own"]):
        name, layout = row.values["name"], row.values.get("layout", "none")
        if name in names:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: the name '{name}' stands at {names[name]}, too")
        names[name] = row.key
        if layout.startswith(_STRUCT) and layout.removeprefix(_STRUCT) not in spec.load(_STRUCTS)["structs"]:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: layout '{layout}' is no struct of {_STRUCTS}")


def _check_state(spec: Spec, found: _rows.Sections) -> None:
    """Classes of the state: what they name exists.

    Raises:
        SpecError: a row that names something else.
    """
    own = {row.values["name"] for row in found["own"]}
    known = {*_PLAIN, *(row.values["class"] for row in found["state"])}
    with Mistakes() as each:
        for row in found["state"]:
            fields, make = row.values["fields"], row.values["make"]
            wrong = [f"there is no own section '{name}'" for name in [row.values.get("section")] if name and name not in own]
            if make != "all":
                wrong += [f"make '{name}' is no field" for name in make if name not in fields]
            wrong += [f"'{name}' is written and left out" for name in row.values.get("left_out", {}) if name in fields]
            for name, kind in fields.items():
                wrong += [f"{name}: there is no class '{word}'" for word in re.findall(r"\w+", kind) if word not in known]
            for text in wrong:
                with each:
                    raise SpecError(spec.path(_FILE), row.line, f"{row.key}: {text}")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
