"""Memory spaces: ``spec/memory_spaces.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SpecError
from ..isa import rows as machine
from ..rows import Row
from ..spec import Spec
from . import _rows, opcodes

NAME = "memory_spaces"
FILES = ("memory_spaces.yaml",)
INPUTS = 24
BY_OPCODE = 18  # the input that the instruction decides
_FILE = FILES[0]
_KEYS = {
    "categories": "category {category}",
    "inputs": "input {input}",
    "by_opcode": "class {class}",
    "mnemonics": "opcodes of input {input}",
}
_MEMORY_EFFECTS = frozenset({"load", "store", "atomic"})


@dataclass(frozen=True)
class MemorySpaces:
    """The classification, resolved.

    ``categories`` is indexed by input (None = not mapped, or by opcode); ``by_opcode`` maps the numbers of input 18 and
    ``input_of`` the mnemonics to their category and input.
    """

    names: dict[int, str]
    categories: tuple[int | None, ...]
    by_opcode: dict[int, int]
    input_of: dict[str, int]


def load(spec: Spec) -> MemorySpaces:
    """The classification, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row per category, input, class of opcodes, and group of mnemonics."""
    load(spec)
    return _rows.flat(_rows.read(spec, _FILE, _KEYS))


def counts(spec: Spec) -> dict[str, int]:
    """Inputs, those that are mapped, categories, numbers of the case that goes by opcode."""
    model = load(spec)
    return {
        "memory-space inputs": len(model.categories),
        "inputs with a category of their own": sum(c is not None for c in model.categories),
        "categories": len(model.names),
        "numbers classified by opcode": len(model.by_opcode),
        "opcodes with a memory space": len(model.input_of),
    }


def check(spec: Spec) -> None:
    """Numbering, references, no number twice, every instruction that accesses memory.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    load(spec)


def _load(spec: Spec) -> MemorySpaces:
    sections = _rows.read(spec, _FILE, _KEYS)
    path = spec.path(_FILE)
    names: dict[int, str] = {row.values["category"]: row.values["name"] for row in sections["categories"]}
    _rows.check_numbers(spec, _FILE, sections["inputs"], "input")
    _rows.check_count(spec, _FILE, sections, {"inputs": INPUTS})
    for row in (*sections["inputs"], *sections["by_opcode"]):
        category = row.values["category"]
        if isinstance(category, int) and category not in names:
            raise SpecError(path, row.line, f"{row.key}: category {category} is not listed in 'categories'")
        if category == "by_opcode" and row.values["input"] != BY_OPCODE:
            raise SpecError(path, row.line, f"{row.key}: only input {BY_OPCODE} goes by opcode")
    used = {row.values["category"] for row in (*sections["inputs"], *sections["by_opcode"])}
    for row in sections["categories"]:
        if row.values["category"] not in used:
            raise SpecError(path, row.line, f"{row.key}: no input and no opcode leads to it")
    categories = tuple(c if isinstance(c := row.values["category"], int) else None for row in sections["inputs"])
    return MemorySpaces(names, categories, _by_opcode(spec, sections["by_opcode"]), _input_of(spec, sections))


def _by_opcode(spec: Spec, rows: tuple[Row, ...]) -> dict[int, int]:
    """Numbers alone go before ranges; each may be given once."""
    single: dict[int, int] = {}
    ranged: dict[int, int] = {}
    for row in rows:
        for item in row.values["opcodes"]:
            first, _, last = str(item).partition("-")
            numbers = range(int(first), int(last or first) + 1)
            if not numbers:
                raise SpecError(spec.path(_FILE), row.line, f"{row.key}: the range '{item}' is empty")
            found = ranged if last else single
            for number in numbers:
                if number in found:
                    raise SpecError(spec.path(_FILE), row.line, f"{row.key}: opcode {number} has a category already")
                found[number] = row.values["category"]
    return dict(sorted((ranged | single).items()))


def _input_of(spec: Spec, sections: _rows.Sections) -> dict[str, int]:
    path = spec.path(_FILE)
    rows = sections["mnemonics"]
    _rows.check_refers(spec, _FILE, rows, "mnemonics", opcodes.load(spec).by_name, "opcode of opcodes.yaml")
    out: dict[str, int] = {}
    for row in rows:
        number = row.values["input"]
        if number != BY_OPCODE and sections["inputs"][number].values["category"] == "none":
            raise SpecError(path, row.line, f"{row.key}: input {number} is no memory space")
        for mnemonic in row.values["mnemonics"]:
            if mnemonic in out:
                raise SpecError(path, row.line, f"{row.key}: {mnemonic} has input {out[mnemonic]} already")
            out[mnemonic] = number
    for operation in machine.load(spec).operations:
        if _MEMORY_EFFECTS & set(operation.effects) and operation.opcode not in out:
            line = spec.load(_FILE).line_of("mnemonics")
            raise SpecError(path, line, f"mnemonics: {operation.opcode} accesses memory ({operation.name}) and has no row")
    return out
