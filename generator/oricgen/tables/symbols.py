"""Names that the compiler makes: ``spec/symbols.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows

NAME = "symbols"
FILES = ("symbols.yaml",)
_FILE = FILES[0]
_KEYS = {
    "internal": "{symbol}",
    "elf": "{symbol}",
    "labels": "label {label}",
    "banks": "bank {bank}",
    "notation": "notation {text}",
    "messages": "message {name}",
}
_DOCUMENTED = {"internal": 8, "elf": 10, "labels": 3, "notation": 2}
_GROUPS = {"reserved": 5, "descriptor": 4, "constant": 1}


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    names = {
        "internal": "internal symbols",
        "elf": "ELF symbols",
        "labels": "labels",
        "banks": "constant banks",
        "messages": "texts",
    }
    return {title: len(found[section]) for section, title in names.items()}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Complete groups; each bank once, with the section that the container has for it.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    for group, count in _GROUPS.items():
        members = [row for row in found["elf"] if row.values["group"] == group]
        if len(members) != count:
            line = spec.load(_FILE).line_of("elf")
            raise SpecError(spec.path(_FILE), line, f"elf: group {group} has {len(members)} symbols, not {count}")
    for row in found["banks"]:
        expected = f".nv.constant{row.values['bank']}"
        if row.values["section"].removesuffix(".NAME") != expected:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: section is '{row.values['section']}', expected '{expected}'")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
