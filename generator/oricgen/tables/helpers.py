"""Functions that ptxas adds to a kernel, and those that programs call without a definition: ``spec/helpers.yaml``."""

from __future__ import annotations

from .. import ptx
from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, _rules

NAME = "helpers"
FILES = ("helpers.yaml",)
_FILE = FILES[0]
DRIVER, LINKER, COMPILER = "driver", "linker", "compiler"  # who provides a function that is called
_KEYS = {"helpers": "{helper}", "functions": "{function}"}


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
    """Functions, those that documents name, those that ptxas was seen to add, those that a rule computes, those called."""
    found = [row.values for row in load(spec)["helpers"]]
    return {
        "functions": len(found),
        "functions documented": sum("documented" in values for values in found),
        "functions observed": sum(values["seen"] for values in found),
        "functions with a rule": sum(values["rule"] != _rules.NO_RULE for values in found),
        "functions that programs call": len(load(spec)["functions"]),
    }


def check(spec: Spec) -> None:
    """Rules exist and take the instructions; what is not seen says what comes in its place; the driver's functions are its.

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
    _check_functions(spec, sections["functions"])
    return sections


def _check_functions(spec: Spec, functions: tuple[Row, ...]) -> None:
    """Those of the driver are those of cubin.yaml."""
    path, cubin = spec.path(_FILE), spec.load("cubin.yaml")
    known = {False: set(cubin["driver_functions"]), True: {cubin["driver_prefix"]}}
    for row in functions:
        names = known[bool(row.values.get("prefix"))]
        if (row.values["by"] == DRIVER) != (row.key in names):
            raise SpecError(path, row.line, f"{row.key}: 'by' is {row.values['by']}, but cubin.yaml says otherwise")
        names.discard(row.key)
    missing = sorted(known[False] | known[True])
    if missing:
        raise SpecError(path, functions[-1].line, f"'{missing[0]}' of cubin.yaml has no row")
