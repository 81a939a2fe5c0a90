"""Operand nodes of PTX: ``spec/ptx_nodes.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows, symbols

NAME = "ptx_nodes"
FILES = ("ptx_nodes.yaml",)
_FILE = FILES[0]
_KEYS = {
    "nodes": "node {node}",
    "binary": "binary tag {tag}",
    "values": "type {types[0]}",
    "literals": "literal {type}",
    "storage": "storage class {class}",
    "reserved": "code {code}",
    "sizes": "size class {class}",
    "classes": "operand class {class}",
}
_DOCUMENTED = {"nodes": 12, "binary": 2, "values": 4, "literals": 4, "storage": 10, "reserved": 5, "sizes": 6, "classes": 12}


def counts(spec: Spec) -> dict[str, int]:
    """Kinds of nodes, storage classes, builder nodes, classes of operands."""
    found = load(spec)
    kinds = sum(row.values["node"] != "default" for row in found["nodes"])
    built = {number for row in found["nodes"] for number in row.values["builds"]}
    classes = {"storage classes": len(found["storage"]), "operand classes": len(found["classes"])}
    return {"operand nodes": kinds, "builder nodes": len(built), **classes}


def size_of(spec: Spec, bits: int) -> int:
    """The entry of the size table for a type of so many bits: that of its class, at most the last, or the one out of range."""
    *entries, outside = load(spec)["sizes"]
    class_ = (bits // entries[0].values["bits"]).bit_length() - 1
    row = outside if class_ < 0 else entries[min(class_, len(entries) - 1)]
    size: int = row.values["size"]
    return size


def class_flags(spec: Spec) -> dict[str, tuple[str, ...]]:
    """Class of operands -> the flags of signatures that stand for it."""
    return {row.values["class"]: tuple(row.values["flags"]) for row in load(spec)["classes"]}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """The parts of a node add up to it; symbols exist; each size class holds types twice as large as the one before.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    parts = {
        "binary": {row.values["builds"] for row in found["binary"]},
        "variable": {number for row in found["storage"] for number in row.values["builds"]},
    }
    for name, numbers in parts.items():
        row = _rows.named(spec, _FILE, "nodes", found["nodes"], name)
        if set(row.values["builds"]) != numbers:
            message = f"{row.key}: builds {row.values['builds']}, its cases build {sorted(numbers)}"
            raise SpecError(spec.path(_FILE), row.line, message)
    for number, row in enumerate(found["sizes"][:-1]):
        bits = found["sizes"][0].values.get("bits", 0) << number
        if (row.values["class"], row.values.get("bits")) != (number, bits):
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: class {number} with {bits} bits is expected here")
    known = {row.values["symbol"] for row in symbols.load(spec)["elf"]}
    _rows.check_refers(spec, _FILE, found["reserved"], "symbol", known, "symbol of symbols.yaml")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
