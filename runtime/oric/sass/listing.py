"""Disassembly of whole cubins and of raw machine words: instructions, labels, relocated operands, control codes.

Instruction lines have the text of nvdisasm in whole-file mode. An instruction that the tables do not know becomes a line
with its words and an entry in ``problems``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from oric_tables import cubin as tables
from oric_tables._native import ffi

from oric.support.elf import Cubin, CubinError, Function, Relocation, model_of
from oric.support.elf_format import ET_REL

from .code import INSTRUCTION_BYTES, Code
from .instruction import Control
from .labels import CodeSection, number_labels

if TYPE_CHECKING:
    from oric.support.lines import SourceLine


@dataclass(slots=True)
class Line:
    """One instruction.

    ``control`` holds the 17 scheduling bits, ``note`` what is printed behind the instruction, ``operand`` the part of the text
    that stands for an immediate operand which a relocation fills.
    """

    offset: int
    words: tuple[int, int]
    text: str
    control: int
    note: str = ""
    operand: str = ""


@dataclass(slots=True)
class FunctionListing:
    """The code of one section: ``labels`` maps offsets to the names printed before the line there.

    ``sources`` (by offset: where the source line changes) and ``live`` (for every instruction) are there when asked for.
    ``outside`` holds the offsets of instructions that the linker still patches.
    """

    name: str
    lines: list[Line]
    code: Code
    labels: dict[int, list[str]] = field(default_factory=dict)
    facts: Function | None = None
    outside: tuple[int, ...] = ()
    sources: dict[int, list[SourceLine]] = field(default_factory=dict)
    live: list[tuple[str, ...]] | None = None


@dataclass(slots=True)
class Listing:
    """A disassembled file; ``problems`` names instructions that could not be decoded."""

    target: str
    functions: list[FunctionListing]
    problems: list[str] = field(default_factory=list)


def list_cubin(cubin: Cubin) -> Listing:
    """Disassemble every code section of a cubin.

    Raises:
        CubinError: no target of the tables runs this code.
    """
    isa = model_of(cubin)
    functions = list(cubin.functions.values())
    decoded = [Code(isa, f.text) for f in functions]
    starts = [_starts(cubin, f) for f in functions]
    sections = [_section(cubin, f, code, found) for f, code, found in zip(functions, decoded, starts, strict=True)]
    number_of = {f.section: number for number, f in enumerate(functions)}
    ends = [(number_of[s.section], s.value + s.size) for s in cubin.symbols if s.is_function and s.section in number_of]
    names = number_labels(sections, ends)
    out = Listing(cubin.target, [])
    for function, code, found, labels in zip(functions, decoded, starts, names, strict=True):
        texts = {at: f"`({name})" for at, name in labels.items()} | {at: f"`({name})" for at, name in found.items()}
        places = _places(cubin, function)
        for at, name in labels.items():
            places.setdefault(at, []).append(name)
        lines = _lines(code, texts, _relocated(cubin, function, labels))
        for branch, targets in function.branch_targets.items():
            if branch % INSTRUCTION_BYTES == 0 and branch // INSTRUCTION_BYTES < len(lines):
                listed = dict.fromkeys(labels[t] for t in targets if t in labels)
                lines[branch // INSTRUCTION_BYTES].note = f'(*"BRANCH_TARGETS {",".join(listed)}"*)'
        out.problems += [f".text.{function.name}: {problem}" for problem in _problems(code)]
        outside = tuple(r.offset for r in cubin.relocations_of(function.section))
        out.functions.append(FunctionListing(function.name, lines, code, places, function, outside))
    return out


def list_raw(data: bytes, isa: int, target: str) -> Listing:
    """Disassemble machine words that stand alone; branches print their target's offset.

    Raises:
        CubinError: the data does not consist of whole instructions.
    """
    if len(data) % INSTRUCTION_BYTES:
        raise CubinError(f"{len(data)} bytes are not whole instructions of {INSTRUCTION_BYTES} bytes")
    code = Code(isa, data)
    return Listing(target, [FunctionListing("", _lines(code, None, {}), code)], _problems(code))


@cache
def control_code(control: int) -> str:
    """The scheduling bits as ``[B0-----:R-:W1:-:S04]``: awaited scoreboards, read and write scoreboard, yield, stall count."""
    return str(Control.unpack(control))


def _lines(code: Code, names: dict[int, str] | None, relocated: dict[int, tuple[str, str]]) -> list[Line]:
    """All instructions; ``names`` of branch targets, ``relocated`` operand texts and notes by offset."""
    texts = code.texts(names, {at: operand for at, (operand, _) in relocated.items() if operand})
    words = ffi.unpack(code.words, 2 * code.count)
    out = []
    for number, (text, control) in enumerate(zip(texts, code.controls(), strict=True)):
        offset = number * INSTRUCTION_BYTES
        operand, note = relocated.get(offset, ("", ""))
        out.append(Line(offset, (words[2 * number], words[2 * number + 1]), text, control, note, operand))
    return out


def _problems(code: Code) -> list[str]:
    return [f"offset {i * INSTRUCTION_BYTES:#06x}: unknown instruction {code.word(i):#034x}" for i in code.bad]


def _section(cubin: Cubin, function: Function, code: Code, starts: dict[int, str]) -> CodeSection:
    """What numbers the labels of a function. In an object the bases of indirect branches and their tables are not linked yet."""
    targets: list[int | None] = list(code.targets())
    words = 0
    if cubin.type == ET_REL and function.branch_targets:
        branches = sorted(function.branch_targets)
        targets = [t for _, t in sorted([*code.branches(), *((b, None) for b in branches)], key=_place)]
        words = sum(len(places) for places in function.branch_targets.values())
    return CodeSection(len(function.text), starts, targets, function.branch_targets, _relocated_places(cubin, function), words)


def _place(branch: tuple[int, int | None]) -> int:
    return branch[0]


def _starts(cubin: Cubin, function: Function) -> dict[int, str]:
    """Offsets at which functions start -> the function."""
    return {s.value: s.name for s in cubin.symbols_of(function.section) if s.is_function}


def _places(cubin: Cubin, function: Function) -> dict[int, list[str]]:
    """Offsets that symbols name -> their names as nvdisasm prints them, the last of the symbol table first."""
    out: dict[int, list[str]] = {}
    for symbol in reversed(cubin.symbols_of(function.section)):
        out.setdefault(symbol.value, []).append(symbol.name)
    return out


def _relocated_places(cubin: Cubin, function: Function) -> list[int]:
    """Offsets within the function that its own relocations name, in their order."""
    found = []
    for relocation in sorted(cubin.relocations_of(function.section), key=lambda r: r.offset):
        symbol = cubin.symbols[relocation.symbol]
        if symbol.section == function.section and symbol.is_function and relocation.addend:
            found.append(symbol.value + relocation.addend)
    return found


def _relocated(cubin: Cubin, function: Function, labels: dict[int, str]) -> dict[int, tuple[str, str]]:
    """Offset of an instruction -> text of its relocated immediate operand and a note; "" where there is none."""
    out: dict[int, tuple[str, str]] = {}
    if cubin.type == ET_REL:
        base = f"(.text.{function.name} - .) - {INSTRUCTION_BYTES:#x}"
        out.update((branch, (f"`(({base}))", "")) for branch in function.branch_targets)
    for relocation in cubin.relocations_of(function.section):
        kind = tables.RELOCATIONS.get(relocation.type)
        name = _value(cubin, relocation)
        symbol = cubin.symbols[relocation.symbol]
        if symbol.section == function.section and relocation.addend and symbol.value + relocation.addend in labels:
            name = f"({symbol.name} + {labels[symbol.value + relocation.addend]}@srel)"
        operand, note = out.get(relocation.offset, ("", ""))
        if kind is not None and kind.text:
            operand = kind.text.replace("{}", name)
        elif kind is not None and kind.note is not None:
            note = note or f'(*"{kind.note.replace("{}", name).replace("{addend}", str(relocation.addend))}"*)'
        else:
            note = f"// {kind.name if kind else relocation.type} {name}"
        out[relocation.offset] = (operand, note)
    return out


def _value(cubin: Cubin, relocation: Relocation) -> str:
    name = cubin.symbols[relocation.symbol].name
    return f"({name} + {relocation.addend:#x})" if relocation.addend else name
