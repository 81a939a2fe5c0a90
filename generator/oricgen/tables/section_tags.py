"""Sections of the serialized Code Object: ``spec/section_tags.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows

NAME = "section_tags"
FILES = ("section_tags.yaml",)
_FILE = FILES[0]
_KEYS = {
    "tags": "tag {tag}",
    "wrappers": "tag {tag}",
    "entry": "entry +{offset}",
    "writer": "writer +{offset}",
    "rules": "rule {name}",
}
_DOCUMENTED = {"tags": 46, "wrappers": 2, "entry": 6, "writer": 8}
_WRITER_BYTES = 1136  # of a Code Object
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


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
