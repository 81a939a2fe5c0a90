"""A disassembled image as text for people: a line an instruction, labels, directives, facts as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oric.support.elf import Cubin, Function

from .asm_write import directives
from .assemble import unseen_parts
from .code import INSTRUCTION_BYTES
from .instruction import Control
from .listing import FunctionListing, Line, Listing, control_code

if TYPE_CHECKING:
    from oric.support.lines import SourceLine

_TEXT_COLUMN = 35  # of the mnemonic in nvdisasm's lines; a guard of the thread stands to the left of it
_THREAD_GUARDS = ("@P", "@!P")


def text_lines(listing: Listing, cubin: Cubin | None, plain: bool = False) -> list[str]:
    """The listing; ``plain`` leaves the lines that nvdisasm prints too."""
    whole = cubin if not plain and cubin is not None and len(cubin.functions) == len(listing.functions) else None
    around = directives(whole) if whole is not None else None
    out = list(around.head) if around is not None else [f"\t.target\t{listing.target}"]
    for function in listing.functions:
        if around is not None and function.facts is not None:
            out += around.before[function.facts.section]
        elif function.name:
            out += ["", f"//--------------------- .text.{function.name}"]
        if function.facts is not None and not plain:
            out += [f"// {line}" for line in _fact_lines(function.facts)]
        out += _function_lines(function, plain)
    return out + (around.tail if around is not None else [])


def _function_lines(function: FunctionListing, plain: bool) -> list[str]:
    out = []
    live = function.live
    unseen = {} if plain or function.facts is None else _unseen(function)
    for number, line in enumerate(function.lines):
        out += [f"{name}:" for name in function.labels.get(line.offset, ())]
        if line.offset in function.sources:
            out += _source_lines(function.sources[line.offset])
        text = _instruction(line, plain, unseen.get(number, ""))
        out.append(f"{text}  // live: {live_text(live[number])}" if live is not None else text)
    end = INSTRUCTION_BYTES * len(function.lines)
    return out + [f"{name}:" for name in function.labels.get(end, ())]


def _unseen(function: FunctionListing) -> dict[int, str]:
    """What the texts of the instructions do not show, by number."""
    bad = set(function.code.bad)
    relocated = {n: (line.text, line.operand) for n, line in enumerate(function.lines) if line.operand and n not in bad}
    return unseen_parts(function.code, relocated)


def _instruction(line: Line, plain: bool, unseen: str = "") -> str:
    control = Control.unpack(line.control)
    guard, _, rest = line.text.partition(" ") if line.text.startswith(_THREAD_GUARDS) else ("", "", line.text)
    end = " ;" if control.stall or not control.yields or control.wait else ";"  # as nvdisasm: neither stall nor wait
    place = f"        /*{line.offset:04x}*/"
    left = f"{guard} ".rjust(_TEXT_COLUMN - len(place)) if guard else " " * (_TEXT_COLUMN - len(place))
    code = "" if plain else f"{control_code(line.control)} "
    note = f"    {line.note}" if line.note else ""
    hidden = f"  ^{{{unseen}}}" if unseen else ""
    if note.endswith("*)"):
        return f"{code}{place}{left}{rest}{note}{end.strip()}{hidden}"
    return f"{code}{place}{left}{rest}{end}{hidden}{note}"


def _source_lines(places: list[SourceLine]) -> list[str]:
    """The comments of nvdisasm -gi: the innermost place, then through which calls it was inlined."""
    out = []
    for place, outer in zip(places, [*places[1:], None], strict=True):
        called = f' inlined at "{outer.file}", line {outer.line}' if outer else ""
        out.append(f'\t//## File "{place.file}", line {place.line}{called}')
    return out


def live_text(names: tuple[str, ...]) -> str:
    """Register names with runs joined: ``R0-R3 R6 P0 UR4``; ``-`` for none."""
    out: list[str] = []
    runs: list[tuple[str, int, int]] = []
    for name in names:
        file = name.rstrip("0123456789")
        number = int(name[len(file) :])
        if runs and runs[-1][0] == file and runs[-1][2] == number - 1:
            runs[-1] = (file, runs[-1][1], number)
        else:
            runs.append((file, number, number))
    for file, first, last in runs:
        out.append(f"{file}{first}" if first == last else f"{file}{first}-{file}{last}")
    return " ".join(out) or "-"


def _fact_lines(facts: Function) -> list[str]:
    kind = "kernel" if facts.is_entry else "function"
    out = [
        f"{kind}: {facts.registers} registers, {facts.barriers} barriers",
        f"memory: {facts.shared_size} bytes shared, {facts.frame_size} bytes stack",
    ]
    if facts.params:
        listed = ", ".join(f"{p.size} at {facts.param_base + p.offset:#x}" for p in facts.params)
        out.append(f"parameters in bank 0: {listed}")
    if facts.max_threads or facts.required_threads:
        word, size = ("exactly", facts.required_threads) if facts.required_threads else ("at most", facts.max_threads)
        out.append(f"block size: {word} {size}")
    out += [f"constant bank {bank}: {len(data)} bytes" for bank, data in sorted(facts.constants.items()) if bank]
    return out
