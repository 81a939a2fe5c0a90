"""Command-line options and what is said of them together: ``spec/options.yaml``."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError
from ..ptx import families
from ..rows import Row, plain
from ..spec import Spec
from ._shared import entries, numbered

NAME = "options"
FILES = ("options.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0])["options"]


def rows(spec: Spec) -> list[Row]:
    """One row an option, called by its long name (``gpu-name``), one a row of qualifiers (``qualifier def-load-cache``), one a
    check (``check device-debug+opt-level``).
    """
    data = spec.load(FILES[0])
    path = f"spec/{FILES[0]}"
    checks = [Row(f"check {'+'.join(check['if'])}", plain(check), path, check.line_of("if")) for check in data["checks"]]
    added = [Row(f"qualifier {row['default']}", plain(row), path, row.line_of("default")) for row in data["qualifiers"]]
    return [*entries(data, "options", path), *added, *numbered(checks)]


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    data = spec.load(FILES[0])
    return {
        "options": len(data["options"]),
        "qualifiers by options": len(data["qualifiers"]),
        "checks of options": len(data["checks"]),
    }


def check(spec: Spec) -> None:
    """Values that checks are about exist. JSON Schema says the rest; outputs check the references.

    Raises:
        SpecError: the first name of nothing, or check whose limits leave no value.
    """
    data = spec.load(FILES[0])
    words = _words(spec)
    for row in data["qualifiers"]:
        for name in row["instructions"]:
            if name not in words:
                text = f"{row['default']}: column 'instructions': there is no instruction '{name}' in ptx/"
                raise SpecError(spec.path(FILES[0]), row.line_of("instructions"), text)
        for column in ("words", "unless"):
            for word in row[column]:
                if not any(word in words[name] for name in row["instructions"]):
                    text = f"{row['default']}: column '{column}': '{word}' is no qualifier of {', '.join(row['instructions'])}"
                    raise SpecError(spec.path(FILES[0]), row.line_of(column), text)
    for n, row in enumerate(data["checks"], start=1):
        least, greatest = row.get("range", (0, 0))
        if least > greatest:
            text = f"checks, item {n}: column 'range': {least} is greater than {greatest}: no value is inside"
            raise SpecError(spec.path(FILES[0]), row.line_of("range"), text)
        if "above" in row and "below" in row and row["above"] + 1 >= row["below"]:
            text = f"checks, item {n}: column 'above': no number is above {row['above']} and below {row['below']}"
            raise SpecError(spec.path(FILES[0]), row.line_of("above"), text)


def _words(spec: Spec) -> dict[str, set[str]]:
    """Instruction -> the words that its qualifiers can be."""
    found: dict[str, set[str]] = {}
    for family in families(spec):
        for instruction in family.instructions:
            words = found.setdefault(instruction.name, set())
            words.update(word for form in instruction.forms for _, values, _ in form.slots for word in values)
    return found
