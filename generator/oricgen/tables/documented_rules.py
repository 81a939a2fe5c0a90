"""The numbered lowering rules of the reference: ``spec/documented_rules.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, _rules, opcodes, targets

NAME = "documented_rules"
FILES = ("documented_rules.yaml",)
COUNT = 102
ANY = "*"  # in `emits`: any number of operations
_FILE = FILES[0]
_KEYS = {"rules": "rule {number}"}
_ONE_TO_ONE = "1:1"
_GUARD = re.compile(r"@!?%\w+\s+")
_FAMILY = re.compile(r"[a-z]\w*")
_MNEMONIC = re.compile(r"\b[A-Z][A-Z0-9]+")


@dataclass(frozen=True)
class Example:
    """One example: the rule's number, the PTX statement, the operations that it becomes, the place of its row."""

    number: int
    ptx: str
    emits: str
    row: Row


@dataclass(frozen=True)
class DocumentedRules:
    """The rows and, flat, their examples on ``target``."""

    target: str
    rows: tuple[Row, ...]
    examples: tuple[Example, ...]


def load(spec: Spec) -> DocumentedRules:
    """The rows, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row per rule."""
    return list(load(spec).rows)


def counts(spec: Spec) -> dict[str, int]:
    """Rules by phase, those that a rule of spec/lowering does, those that Oric does in another way."""
    model = load(spec)
    phases = [row.values["phase"] for row in model.rows]
    done = [row for row in model.rows if all(example["rule"] != _rules.NO_RULE for example in row.values["here"])]
    return {
        "rules": len(model.rows),
        **{f"rules of phase {phase}": phases.count(phase) for phase in dict.fromkeys(phases)},
        "rules done by a rule here": len(done),
        "rules done in another way": sum("differs" in row.values for row in model.rows),
        "examples": len(model.examples),
    }


def check(spec: Spec) -> None:
    """Numbering; every named rule exists and takes its example; what is done in another way says so.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    load(spec)


def _load(spec: Spec) -> DocumentedRules:
    sections = _rows.read(spec, _FILE, _KEYS)
    found = sections["rules"]
    _rows.check_numbers(spec, _FILE, found, "number", first=1)
    _rows.check_count(spec, _FILE, sections, {"rules": COUNT})
    data = spec.load(_FILE)
    if data["target"] not in targets.load(spec).by_name:
        raise SpecError(spec.path(_FILE), data.line_of("target"), f"target: '{data['target']}' is no target of sm_targets.yaml")
    rules = _rules.index(spec)
    names = frozenset(opcodes.load(spec).by_name)
    examples: list[Example] = []
    for row in found:
        for example in row.values["here"]:
            _check_example(row, example["ptx"], example["rule"], rules)
            _check_differs(row, example["emits"], names)
            examples.append(Example(row.values["number"], example["ptx"], example["emits"], row))
    return DocumentedRules(data["target"], found, tuple(examples))


def _check_example(row: Row, ptx: str, rule: str, rules: _rules.RuleIndex) -> None:
    """The example is an instruction of the row, and the rule takes it."""
    mnemonic = re.split(r"[\s;]", _GUARD.sub("", ptx, count=1), maxsplit=1)[0]
    families = {family[0] for part in row.values["ptx"].split(" / ") if (family := _FAMILY.search(_GUARD.sub("", part)))}
    if mnemonic.partition(".")[0] not in families:
        raise _error(row, f"the example '{ptx}' is none of {row.values['ptx']}")
    wrong = rules.wrong(mnemonic, rule)
    if wrong:
        raise _error(row, wrong)


def _check_differs(row: Row, emits: str, names: frozenset[str]) -> None:
    """Documented mnemonics that do not come out, and several operations in place of one, need the column ``differs``."""
    if "differs" in row.values:
        return
    documented = [m for m in _MNEMONIC.findall(row.values["sass"].replace("_", ".")) if m in names]
    out = emits.split()
    bases = {word.partition(".")[0] for word in out}
    missing = [m for m in documented if m not in bases]
    if missing:
        raise _error(row, f"{missing[0]} is documented and not emitted: 'differs' must say why")
    if row.values["ratio"] == _ONE_TO_ONE and (len(out) != 1 or out[0] == ANY or not documented):
        raise _error(row, f"one {' '.join(documented) or 'modifier'} is documented, '{emits}' emitted: 'differs' must say why")


def _error(row: Row, message: str) -> SpecError:
    return SpecError(row.path, row.line, f"{row.key}: {message}")
