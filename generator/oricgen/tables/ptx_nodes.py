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
}
_DOCUMENTED = {"nodes": 12, "binary": 2, "values": 4, "literals": 4, "storage": 10, "reserved": 5, "sizes": 6}


def counts(spec: Spec) -> dict[str, int]:
    """Kinds of nodes, storage classes, builder nodes."""
    found = load(spec)
    kinds = sum(row.values["node"] != "default" for row in found["nodes"])
    built = {number for row in found["nodes"] for number in row.values["builds"]}
    return {"operand nodes": kinds, "storage classes": len(found["storage"]), "builder nodes": len(built)}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """The parts of a node add up to it; symbols exist.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    nodes = {row.values["name"]: row for row in found["nodes"]}
    parts = {
        "binary": {row.values["builds"] for row in found["binary"]},
        "variable": {number for row in found["storage"] for number in row.values["builds"]},
    }
    for name, numbers in parts.items():
        row = nodes[name]
        if set(row.values["builds"]) != numbers:
            message = f"{row.key}: builds {row.values['builds']}, its cases build {sorted(numbers)}"
            raise SpecError(spec.path(_FILE), row.line, message)
    known = {row.values["symbol"] for row in symbols.load(spec)["elf"]}
    _rows.check_refers(spec, _FILE, found["reserved"], "symbol", known, "symbol of symbols.yaml")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
