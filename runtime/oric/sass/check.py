"""The hazard checker: is every dependence of machine code protected, on every path? ``check/check.c`` does the work.

What is found names both instructions, the register, and the distance there is and the one needed. The tables behind it hold the
smallest distances that the vendor's assembler leaves (``spec/latency``), so that nothing is found in its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from oric_tables._native import ffi, lib
from oric_tables.numbers import SCOREBOARDS
from oric_tables.op import USETMAXREG_TRY_ALLOC

from oric.support.elf import Cubin, CubinError, Function, model_of
from oric.support.elf_format import STO_ENTRY

from .access import FILES
from .code import INSTRUCTION_BYTES, Code

_MOST: Final = 1 << 16  # findings of a section that are kept
_MOST_REGISTERS: Final = 256  # a damaged file can declare any number
_NONE: Final = -1
_TAKEN: Final = 1  # operand of USETMAXREG.TRY_ALLOC: how many registers there are then

# Kind -> its name, and the sentence that tells it; what a sentence needs is filled in.
_KINDS: Final[Mapping[int, tuple[str, str]]] = {
    lib.ORIC_H_RAW: ("read-after-write", "{register} is read {had} cycles after {first}; {needed} are needed"),
    lib.ORIC_H_RAW_WAIT: ("read-after-write", "{register} is read, but no wait makes sure that {first} has written it"),
    lib.ORIC_H_WAW: ("write-after-write", "{register} is written {had} cycles after {first}; {needed} are needed"),
    lib.ORIC_H_WAW_WAIT: (
        "write-after-write",
        "{register} is written, but no wait makes sure that {first} has written it before",
    ),
    lib.ORIC_H_WAR_WAIT: ("write-after-read", "{register} is written, but no wait makes sure that {first} has read it"),
    lib.ORIC_H_SETTLE: ("scoreboard", "SB{number} is waited for {had} cycles after {first} sets it; {needed} are needed"),
    lib.ORIC_H_STALL: ("stall", "stall count {had}; {needed} are needed behind this instruction"),
    lib.ORIC_H_REUSE: ("reuse", "{register} comes from the operand cache, kept by {first}, and has been overwritten since"),
    lib.ORIC_H_REUSE_PLACE: ("reuse", "reuse flag {number}, which this instruction does not have"),
    lib.ORIC_H_ALIGN: ("alignment", "{register} begins a wide operand: its number should be a multiple of {needed}"),
    lib.ORIC_H_BEYOND: ("registers", "{register}: the instruction takes {needed} registers, {had} are declared"),
    lib.ORIC_H_REGION: ("convergence", "{register} is not set on every path that comes here"),
    lib.ORIC_H_REGION_END: ("convergence", "the region of {register} that {first} begins does not end here with a wait for it"),
    lib.ORIC_H_STACK: ("stack", "the function returns with R1 moved by {had} bytes"),
    lib.ORIC_H_RETURN: ("stack", "a return in code that nothing calls"),
    lib.ORIC_H_TARGET: ("flow", "the target is no instruction of this section"),
    lib.ORIC_H_RUNS_OUT: ("flow", "control runs out of the code here"),
    lib.ORIC_H_TOO_MUCH: ("limit", "too much is pending here: what follows was not checked to the end"),
}
_GROUP: Final = (
    "its group is waited for {had} cycles after {first} is issued; {needed} are needed"  # where number is no scoreboard's
)

KINDS: Final = tuple(dict.fromkeys(name for name, _ in _KINDS.values()))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the control bits do not protect, or that is wrong in itself.

    ``offset`` is the second instruction's place in bytes, ``first_offset`` the first one's (None: there is none). ``register`` is
    the first register concerned ("R4"; "" where it is none). ``had`` and ``needed`` are what ``message`` says: cycles, or
    registers, a multiple, bytes (None: nothing of the kind).
    """

    kind: str
    function: str
    offset: int
    text: str
    register: str
    message: str
    first_offset: int | None = None
    first_text: str = ""
    had: int | None = None
    needed: int | None = None


@dataclass(slots=True)
class Report:
    """What a check found; ``instructions`` were reached and checked, ``unknown`` are words that no instruction has."""

    target: str
    findings: list[Finding] = field(default_factory=list)
    instructions: int = 0
    unknown: list[str] = field(default_factory=list)


def check_cubin(cubin: Cubin) -> Report:
    """Check all code of a cubin.

    Raises:
        CubinError: the encodings of its target are not known.
    """
    isa = model_of(cubin)
    report = Report(cubin.target)
    for function in cubin.functions.values():
        _check(Code(isa, function.text), section_of(cubin, function), report)
    return report


def section_of(cubin: Cubin, function: Function) -> Section:
    """What a cubin says of a function's section."""
    entries = {s.value: s.other & STO_ENTRY != 0 for s in cubin.symbols_of(function.section) if s.is_function}
    outside = sorted({r.offset // INSTRUCTION_BYTES for r in cubin.relocations_of(function.section)})
    return Section(
        function.name, min(function.registers, _MOST_REGISTERS), entries or {0: function.is_entry}, outside, _jumps(function)
    )


@dataclass(frozen=True, slots=True)
class Section:
    """What the checker knows of a section besides its words.

    ``entries``: byte offset of a function -> it is a kernel; ``outside``: numbers of instructions whose target is elsewhere;
    ``jumps``: (indirect branch, target), numbers of instructions.
    """

    name: str
    registers: int = 0
    entries: Mapping[int, bool] = field(default_factory=lambda: {0: True})
    outside: list[int] = field(default_factory=list)
    jumps: list[tuple[int, int]] = field(default_factory=list)


def check_code(code: Code, section: Section, target: str = "") -> Report:
    """Check the code of one section."""
    report = Report(target)
    _check(code, section, report)
    return report


def _jumps(function: Function) -> list[tuple[int, int]]:
    return [
        (branch // INSTRUCTION_BYTES, target // INSTRUCTION_BYTES)
        for branch, targets in function.branch_targets.items() for target in dict.fromkeys(targets)
        if branch % INSTRUCTION_BYTES == 0 and target % INSTRUCTION_BYTES == 0
    ]  # fmt: skip


def _check(code: Code, section: Section, report: Report) -> None:
    counts, found = run(code, section)
    report.instructions += counts.reached
    report.unknown += [f"{section.name}: {n * INSTRUCTION_BYTES:#06x}: no instruction has this word" for n in code.bad]
    if found:
        texts = code.texts()
        report.findings += [_finding(section.name, f, texts) for f in found]


class Raw(NamedTuple):
    """A finding by numbers, see ``oric_finding`` in check/check.h; ``first`` and ``second`` are numbers of instructions."""

    kind: int
    file: int
    number: int
    first: int
    second: int
    had: int
    needed: int


def run(code: Code, section: Section, evidence: Any = ffi.NULL) -> tuple[Any, list[Raw]]:
    """The C function on a section: its ``oric_check_counts`` and findings; ``evidence`` is an ``oric_check_evidence *``."""
    roots = _roots(code, section)
    checked = ffi.new("oric_checked_code *")
    jumps = [n for pair in section.jumps if 0 <= pair[0] < code.count for n in pair]
    keep = [
        ffi.new("int32_t[]", [r for r, _ in roots] or [0]), ffi.new("uint8_t[]", [int(k) for _, k in roots] or [0]),
        ffi.new("int32_t[]", jumps or [0]), ffi.new("int32_t[]", section.outside or [0]),
    ]  # fmt: skip
    checked.isa, checked.n, checked.insns, checked.registers = code.isa, code.count, code.insns, _registers(code, section)
    checked.n_roots, checked.roots, checked.kernel = len(roots), keep[0], keep[1]
    checked.n_jumps, checked.jumps = len(jumps) // 2, keep[2]
    checked.n_outside, checked.outside = len(section.outside), keep[3]
    counts = ffi.new("oric_check_counts *")
    room = 256
    while True:
        found = ffi.new("oric_finding[]", room)
        stored = lib.oric_check(checked, found, room, counts, evidence)
        if stored < 0:
            raise MemoryError("the hazard checker ran out of memory")
        if counts.findings <= room or room >= _MOST:
            return counts, [Raw(f.kind, f.file, f.number, f.first, f.second, f.had, f.needed) for f in found[0:stored]]
        room = min(counts.findings, _MOST)


def _registers(code: Code, section: Section) -> int:
    """Registers of a thread where it has most: those that it begins with, or more that it takes while it runs."""
    most = section.registers
    for i in range(code.count):
        insn = code.insns[i]
        if insn.op == USETMAXREG_TRY_ALLOC:
            taken = insn.ops[_TAKEN]
            most = max(most, taken.value if taken.kind == lib.ORIC_K_IMM else _MOST_REGISTERS)
    return most


def _roots(code: Code, section: Section) -> list[tuple[int, bool]]:
    """Where control enters: kernels, and functions that no instruction of the section branches to."""
    reached = set(code.targets())
    roots = []
    for offset, kernel in sorted(section.entries.items()):
        if offset % INSTRUCTION_BYTES == 0 and offset // INSTRUCTION_BYTES < code.count and (kernel or offset not in reached):
            roots.append((offset // INSTRUCTION_BYTES, kernel))
    return roots


def _finding(function: str, f: Raw, texts: list[str]) -> Finding:
    name, sentence = _KINDS[f.kind]
    if f.kind == lib.ORIC_H_SETTLE and f.number == SCOREBOARDS:
        sentence = _GROUP
    register = f"{FILES[f.file]}{f.number}"
    first = "" if f.first == _NONE else f"{f.first * INSTRUCTION_BYTES:#06x} {texts[f.first]}"
    message = sentence.format(register=register, first=first, had=f.had, needed=f.needed, number=f.number)
    return Finding(
        name, function, f.second * INSTRUCTION_BYTES, texts[f.second], register if "{register}" in sentence else "", message,
        None if f.first == _NONE else f.first * INSTRUCTION_BYTES, "" if f.first == _NONE else texts[f.first],
        f.had if "{had}" in sentence else None, f.needed if "{needed}" in sentence else None,
    )  # fmt: skip


__all__ = ["CubinError", "Finding", "Report", "Section", "check_code", "check_cubin", "run", "section_of"]
