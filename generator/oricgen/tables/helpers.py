"""Functions that ptxas adds to a kernel: ``spec/helpers.yaml``."""

from __future__ import annotations

from .. import ptx
from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, _rules

NAME = "helpers"
FILES = ("helpers.yaml",)
_FILE = FILES[0]
_KEYS = {"helpers": "{helper}"}


def load(spec: Spec) -> _rows.Sections:
    """The rows by section, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def answer(spec: Spec) -> str:
    """Whether targets have the helpers as instructions: ``native`` or ``expanded``."""
    return str(spec.load(_FILE)["answer"])


def rows(spec: Spec) -> list[Row]:
    """One row per function."""
    return _rows.flat(load(spec))


def counts(spec: Spec) -> dict[str, int]:
    """Functions, those that documents name, those that ptxas was seen to add, those that a rule computes in place."""
    found = [row.values for row in load(spec)["helpers"]]
    return {
        "functions": len(found),
        "functions documented": sum("documented" in values for values in found),
        "functions observed": sum(values["seen"] for values in found),
        "functions with a rule": sum(values["rule"] != _rules.NO_RULE for values in found),
    }


def check(spec: Spec) -> None:
    """Rules exist and take the instructions; what is not seen says what comes in its place.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    load(spec)


def _load(spec: Spec) -> _rows.Sections:
    sections = _rows.read(spec, _FILE, _KEYS)
    path = spec.path(_FILE)
    rules = _rules.index(spec)
    names = {row.key for row in sections["helpers"]}
    instructions = {one.name.partition(".")[0] for family in ptx.families(spec) for one in family.instructions}
    for row in sections["helpers"]:
        values = row.values
        for mnemonic in values["ptx"]:
            if mnemonic.partition(".")[0] not in instructions:
                raise SpecError(path, row.line, f"{row.key}: ptx '{mnemonic}' is no instruction of spec/ptx")
            wrong = rules.wrong(mnemonic, values["rule"])
            if wrong:
                raise SpecError(path, row.line, f"{row.key}: {wrong}")
        if values["seen"] == ("instead" in values):
            raise SpecError(path, row.line, f"{row.key}: 'instead' belongs to functions that are not seen, and to all of them")
        instead = values.get("instead", "")
        if instead.startswith("__cuda_") and instead not in names:
            raise SpecError(path, row.line, f"{row.key}: instead '{instead}' is no function of this table")
    return sections
