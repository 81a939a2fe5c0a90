"""Disassembly of whole cubins and of raw machine words: instructions, labels, relocated operands, control codes.

Instruction lines have the text of nvdisasm in whole-file mode. An instruction that the tables do not know becomes a line
with its words and an entry in ``problems``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from oric_tables import cubin as tables
from oric_tables._native import ffi, lib

from oric.support.elf import Cubin, CubinError, Function, Relocation, target_of

from .labels import CodeSection, number_labels

INSTRUCTION_BYTES = 16
_TEXT_BYTES = 1024
_CONTROL_AT = 105 - 64  # bits of the second word
_CONTROL_BITS = 17


@dataclass(slots=True)
class Line:
    """One instruction. ``control`` holds the 17 scheduling bits, ``note`` what is printed behind the instruction."""

    offset: int
    words: tuple[int, int]
    text: str
    control: int
    note: str = ""


@dataclass(slots=True)
class FunctionListing:
    """The code of one section: ``labels`` maps offsets to the names printed before the line there."""

    name: str
    lines: list[Line]
    labels: dict[int, list[str]] = field(default_factory=dict)
    facts: Function | None = None


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
    isa = target_of(cubin).isa
    functions = list(cubin.functions.values())
    decoded = [_Code(isa, f.text) for f in functions]
    starts = [_starts(cubin, f) for f in functions]
    sections = [
        CodeSection(len(f.text), found, code.targets(), f.branch_targets, _relocated_places(cubin, f))
        for f, code, found in zip(functions, decoded, starts, strict=True)
    ]
    number_of = {f.section: number for number, f in enumerate(functions)}
    ends = [(number_of[s.section], s.value + s.size) for s in cubin.symbols if s.is_function and s.section in number_of]
    names = number_labels(sections, ends)
    out = Listing(cubin.target, [])
    for function, code, found, labels in zip(functions, decoded, starts, names, strict=True):
        texts = {at: f"`({name})" for at, name in labels.items()} | {at: f"`({name})" for at, name in found.items()}
        places = _places(cubin, function)
        for at, name in labels.items():
            places.setdefault(at, []).append(name)
        lines = code.lines(texts, _relocated(cubin, function, labels))
        for branch, targets in function.branch_targets.items():
            if branch % INSTRUCTION_BYTES == 0 and branch // INSTRUCTION_BYTES < len(lines):
                listed = dict.fromkeys(labels[t] for t in targets if t in labels)
                lines[branch // INSTRUCTION_BYTES].note = f'(*"BRANCH_TARGETS {",".join(listed)}"*)'
        out.problems += [f".text.{function.name}: {problem}" for problem in code.problems]
        out.functions.append(FunctionListing(function.name, lines, places, function))
    return out


def list_raw(data: bytes, isa: int, target: str) -> Listing:
    """Disassemble machine words that stand alone; branches print their target's offset.

    Raises:
        CubinError: the data does not consist of whole instructions.
    """
    if len(data) % INSTRUCTION_BYTES:
        raise CubinError(f"{len(data)} bytes are not whole instructions of {INSTRUCTION_BYTES} bytes")
    code = _Code(isa, data)
    return Listing(target, [FunctionListing("", code.lines(None, {}))], code.problems)


def control_code(control: int) -> str:
    """The scheduling bits as ``[B0-----:R-:W1:-:S04]``: awaited scoreboards, read and write scoreboard, yield, stall count."""
    awaited = "".join(str(n) if control >> 11 + n & 1 else "-" for n in range(6))
    read, write = control >> 8 & 7, control >> 5 & 7
    return (
        f"[B{awaited}:R{'-' if read == 7 else read}:W{'-' if write == 7 else write}"
        f":{'-' if control >> 4 & 1 else 'Y'}:S{control & 15:02}]"
    )


class _Code:
    """The decoded instructions of one section."""

    def __init__(self, isa: int, text: bytes) -> None:
        self.isa = isa
        self.count = len(text) // INSTRUCTION_BYTES
        self.problems: list[str] = []
        self.words = ffi.new("uint64_t[]", max(2 * self.count, 1))
        ffi.memmove(self.words, text, self.count * INSTRUCTION_BYTES)
        self.insns = ffi.new("oric_insn[]", max(self.count, 1))
        self.bad: set[int] = set()
        self._decode()

    def _decode(self) -> None:
        done = 0
        error = ffi.new("int *")
        while done < self.count:
            done += lib.oric_decode_all(self.isa, self.words + 2 * done, self.count - done, self.insns + done, error)
            if done < self.count:
                low, high = self.words[2 * done], self.words[2 * done + 1]
                self.problems.append(f"offset {done * INSTRUCTION_BYTES:#06x}: unknown instruction {high:#018x}{low:016x}")
                self.bad.add(done)
                self.insns[done].nops = 0
                done += 1

    def targets(self) -> list[int]:
        """Offsets that direct branches name, in order of the instructions."""
        found = ffi.new("int64_t[]", max(2 * self.count, 1))
        return list(found[0 : lib.oric_branch_targets(self.insns, self.count, found)])

    def lines(self, names: dict[int, str] | None, relocated: dict[int, tuple[str, str]]) -> list[Line]:
        """All instructions; ``names`` of branch targets, ``relocated`` operand texts and notes by offset."""
        labels, keep = _label_table(names) if names is not None else (ffi.NULL, [])
        buffer = ffi.new("char[]", _TEXT_BYTES)
        out = []
        for number in range(self.count):
            offset = number * INSTRUCTION_BYTES
            low, high = self.words[2 * number], self.words[2 * number + 1]
            control = high >> _CONTROL_AT & (1 << _CONTROL_BITS) - 1
            operand, note = relocated.get(offset, ("", ""))
            if number in self.bad:
                text = f".word {low & 0xFFFFFFFF:#010x}, {low >> 32:#010x}, {high & 0xFFFFFFFF:#010x}, {high >> 32:#010x}"
            else:
                immediate = ffi.new("char[]", operand.encode()) if operand else ffi.NULL
                size = lib.oric_print(self.isa, self.insns + number, offset, labels, immediate, buffer, _TEXT_BYTES)
                if size < 0:
                    raise CubinError(f"the instruction at {offset:#x} is too long to print")
                text = ffi.string(buffer).decode()
            out.append(Line(offset, (low, high), text, control, note))
        del keep
        return out


def _label_table(names: dict[int, str]) -> tuple[Any, list[Any]]:
    """The C table of texts for branch targets, and what must stay alive as long as it is used."""
    places = sorted(names)
    texts = [ffi.new("char[]", names[at].encode()) for at in places]
    address = ffi.new("uint64_t[]", places or [0])
    pointers = ffi.new("char *[]", texts or [ffi.NULL])
    table = ffi.new("oric_labels *", {"n": len(places), "address": address, "text": pointers})
    return table, [texts, address, pointers]


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
    for relocation in cubin.relocations_of(function.section):
        kind = tables.RELOCATIONS.get(relocation.type)
        name = _value(cubin, relocation)
        symbol = cubin.symbols[relocation.symbol]
        if symbol.section == function.section and relocation.addend and symbol.value + relocation.addend in labels:
            name = f"({symbol.name} + {labels[symbol.value + relocation.addend]}@srel)"
        if kind is not None and kind.text:
            out[relocation.offset] = (kind.text.replace("{}", name), "")
        else:
            out[relocation.offset] = ("", f"// {kind.name if kind else relocation.type} {name}")
    return out


def _value(cubin: Cubin, relocation: Relocation) -> str:
    name = cubin.symbols[relocation.symbol].name
    return f"({name} + {relocation.addend:#x})" if relocation.addend else name
