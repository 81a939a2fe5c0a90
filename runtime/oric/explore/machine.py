"""Machine code as the page shows it: instructions with their control bits, live registers, and the totals of a function."""

from __future__ import annotations

from typing import Any, Final

from oric.ir.optable import LOAD, LOCAL, OPS, STORE
from oric.sass.code import INSTRUCTION_BYTES
from oric.sass.flow import flow_of_listing
from oric.sass.instruction import Control
from oric.sass.listing import FunctionListing, Line, Listing, list_cubin
from oric.sass.live import live_registers
from oric.support.elf import Cubin, CubinError, read

from .deltas import steps

_FILES: Final = ("R", "UR", "P", "UP", "B")  # as oric.sass.live has their bits
_FILE_BITS: Final = 256
_FILE_MASK: Final = (1 << _FILE_BITS) - 1


class MachineCode:
    """The code of a cubin: a listing of each section, by name.

    Raises:
        CubinError: the bytes are no cubin, or its target is not known.
    """

    def __init__(self, image: bytes) -> None:
        self.cubin: Cubin = read(image)
        self.listing: Listing = list_cubin(self.cubin)
        self._sections = {function.name: function for function in self.listing.functions}

    @property
    def names(self) -> list[str]:
        """The names of the sections with code."""
        return list(self._sections)

    def section(self, name: str) -> FunctionListing:
        """The code of a section.

        Raises:
            CubinError: there is none; the message has those that are there.
        """
        if name not in self._sections:
            raise CubinError(f"there is no function '{name}' (there is {', '.join(self._sections) or 'none'})")
        return self._sections[name]

    def starts(self, name: str) -> dict[str, int]:
        """Byte offsets in a section at which functions begin, by name."""
        facts = self.section(name).facts
        assert facts is not None
        return {s.name: s.value for s in self.cubin.symbols_of(facts.section) if s.is_function}

    def document(self, name: str, begin: int = 0, end: int | None = None) -> dict[str, Any]:
        """Instructions of a section, between byte offsets.

        Raises:
            CubinError: there is no such section.
        """
        function = self.section(name)
        first = begin // INSTRUCTION_BYTES
        last = len(function.lines) if end is None else end // INSTRUCTION_BYTES
        lines = function.lines[first:last]
        live = live_registers(function.code, flow_of_listing(function))[first:last]
        controls = [Control.unpack(line.control) for line in lines]
        return {
            "begin": begin,
            "texts": [_text(line) for line in lines],
            "labels": {str(at): function.labels[line.offset] for at, line in enumerate(lines) if line.offset in function.labels},
            "stall": [control.stall for control in controls],
            "yields": [int(control.yields) for control in controls],
            "write": [control.write_barrier for control in controls],
            "read": [control.read_barrier for control in controls],
            "wait": [control.wait for control in controls],
            "live": _live(live),
            "totals": self._totals(function, first, controls[: _without_padding(function, first, first + len(lines)) - first]),
        }

    def _totals(self, function: FunctionListing, first: int, controls: list[Control]) -> dict[str, int]:
        """What is counted of a function, without what fills up its section."""
        facts = function.facts
        assert facts is not None
        flags = [OPS.flags[function.code.insns[first + at].op] for at in range(len(controls))]
        return {
            "instructions": len(controls),
            "registers": facts.registers,
            "stack": facts.frame_size,
            "shared": facts.shared_size,
            "local loads": sum(bool(found & LOCAL and found & LOAD) for found in flags),
            "local stores": sum(bool(found & LOCAL and found & STORE) for found in flags),
            "stall cycles": sum(max(control.stall, 1) for control in controls),
            "scoreboard waits": sum(control.wait.bit_count() for control in controls),
        }


def _without_padding(function: FunctionListing, first: int, end: int) -> int:
    """Where the code ends: behind it stand a branch to itself and copies of one instruction, as compilers fill a section up."""
    texts = [line.text for line in function.lines[first:end]]
    at = len(texts) - 1
    while at > 0 and texts[at] == texts[-1]:
        at -= 1
    itself = {place // INSTRUCTION_BYTES for place, target in function.code.branches() if place == target}
    if first + at in itself:
        return first + at
    return end - 1 if end - 1 in itself else end


def opcode(text: str) -> str:
    """The operation of an instruction with its modifiers, without the guard."""
    words = text.split(maxsplit=2)
    at = 1 if len(words) > 1 and words[0].startswith("@") else 0
    return words[at].rstrip(";") if words else ""


def _text(line: Line) -> str:
    text = " ".join(line.text.split())
    return f"{text} {line.note}" if line.note else text


def _live(bits: list[int]) -> dict[str, list[int]]:
    """Numbers of live registers by file, as steps; files of which nothing is live are left out."""
    out = {}
    for place, name in enumerate(_FILES):
        counts = [(found >> place * _FILE_BITS & _FILE_MASK).bit_count() for found in bits]
        if any(counts):
            out[name] = steps(counts)
    return out
