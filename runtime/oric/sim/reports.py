"""Findings that do not stop a launch: of strict mode and of the memory checker."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from oric_tables._native import lib
from oric_tables.numbers import CTA_BARRIERS, MEM_CLUSTER, RANK_SHIFT, SCOREBOARDS

from .faults import SPACES, near, place_of

if TYPE_CHECKING:
    from oric.support.lines import SourceLine

    from .errors import Triple
    from .image import Image


class Kind(IntEnum):
    """What was found: the reports of ``spec/numbers.yaml``."""

    RAW = lib.ORIC_REPORT_RAW
    WAR = lib.ORIC_REPORT_WAR
    WAW = lib.ORIC_REPORT_WAW
    ASYNC = lib.ORIC_REPORT_ASYNC
    SETTLE = lib.ORIC_REPORT_SETTLE
    STALL = lib.ORIC_REPORT_STALL
    REUSE = lib.ORIC_REPORT_REUSE
    OUT_OF_BOUNDS = lib.ORIC_REPORT_OUT_OF_BOUNDS
    MISALIGNED = lib.ORIC_REPORT_MISALIGNED
    READ_ONLY = lib.ORIC_REPORT_READ_ONLY
    USE_AFTER_FREE = lib.ORIC_REPORT_USE_AFTER_FREE
    UNINITIALISED = lib.ORIC_REPORT_UNINITIALISED
    RACE = lib.ORIC_REPORT_RACE
    DIVERGENT_BARRIER = lib.ORIC_REPORT_DIVERGENT_BARRIER
    BARRIER_MISMATCH = lib.ORIC_REPORT_BARRIER_MISMATCH
    BAD_FREE = lib.ORIC_REPORT_BAD_FREE
    LEAK = lib.ORIC_REPORT_LEAK


_TITLES: Final = {
    Kind.RAW: "result read too early",
    Kind.WAR: "source overwritten before it was read",
    Kind.WAW: "results in the wrong order",
    Kind.ASYNC: "memory of an asynchronous copy touched too early",
    Kind.SETTLE: "scoreboard waited for too soon after its use",
    Kind.STALL: "stall count too small",
    Kind.REUSE: "stale source from the operand cache",
    Kind.OUT_OF_BOUNDS: "out of bounds",
    Kind.MISALIGNED: "misaligned address",
    Kind.READ_ONLY: "store to read-only memory",
    Kind.USE_AFTER_FREE: "use after free",
    Kind.UNINITIALISED: "uninitialised memory",
    Kind.RACE: "race",
    Kind.DIVERGENT_BARRIER: "barrier in divergent code",
    Kind.BARRIER_MISMATCH: "barrier mismatch",
    Kind.BAD_FREE: "bad free",
    Kind.LEAK: "leak",
}
_FILES: Final = {lib.ORIC_FILE_R: "R", lib.ORIC_FILE_P: "P", lib.ORIC_FILE_B: "B", lib.ORIC_FILE_UR: "UR", lib.ORIC_FILE_UP: "UP"}
_ACCESSES: Final = ("read", "write", "atomic access", "asynchronous write")
_HAZARDS: Final = frozenset({Kind.RAW, Kind.WAR, Kind.WAW, Kind.REUSE})
_OF_MEMORY: Final = frozenset({
    Kind.OUT_OF_BOUNDS, Kind.MISALIGNED, Kind.READ_ONLY, Kind.USE_AFTER_FREE, Kind.UNINITIALISED, Kind.RACE, Kind.ASYNC,
})  # fmt: skip
_OWNERS: Final = {"shared": "block's", SPACES[MEM_CLUSTER]: "block's", "local": "thread's"}
_OFFSET: Final = (1 << RANK_SHIFT) - 1  # of a shared address in the block's memory; above it is the rank
_FAR: Final = 1 << 23
Code = tuple[str, int, str]


@dataclass(frozen=True)
class Report:
    """One finding; ``str()`` is one line.

    Attributes:
        kind: what was found.
        kernel: name of the kernel that was launched.
        block, thread: where it was found.
        function, offset, instruction: the instruction that found it.
        first: function, offset and text of the earlier instruction; ("", 0, "") without one.
        repeats: further findings of the same kind between the same instructions.
        sources: source line of the instruction, then of the calls that it was inlined through; empty without line information.
        first_sources: the same for the earlier instruction.
        first_thread, first_block: thread of the earlier instruction, for races and barriers, and its block, for races.
        space: "global", "shared", "local", "constant" or "".
        access, first_access: "read", "write", "atomic access" or "asynchronous write".
        size, address: of the access.
        near: where the address lies, seen from the nearest allocation.
        register: the register of a hazard, "" otherwise.
        number: the barrier, or the scoreboard; the number of scoreboards stands for groups of products.
        had, needed: cycles of a hazard, threads of a barrier.
    """

    kind: Kind
    kernel: str
    block: Triple
    thread: Triple
    function: str
    offset: int
    instruction: str
    first: Code
    had: int
    needed: int
    repeats: int
    sources: tuple[SourceLine, ...] = ()
    first_sources: tuple[SourceLine, ...] = ()
    first_thread: Triple = (0, 0, 0)
    first_block: Triple = (0, 0, 0)
    space: str = ""
    access: str = ""
    first_access: str = ""
    size: int = 0
    address: int = 0
    near: str = ""
    register: str = ""
    number: int = 0

    def __str__(self) -> str:
        if self.kind == Kind.LEAK:
            return f"{_TITLES[self.kind]}: {self.size} bytes from malloc at {self.address:#x} were never freed"
        where = f"thread {_triple(self.thread)} of block {_triple(self.block)} at "
        where += _code((self.function, self.offset, self.instruction), self.sources)
        text = f"{_TITLES[self.kind]}: {self._what()}; {where}{self._before()} (kernel {self.kernel})"
        return f"{text} ({self.repeats} more)" if self.repeats else text

    @property
    def is_unwritten(self) -> bool:
        """Whether it is a read of shared or local memory that nobody has written."""
        return self.kind == Kind.UNINITIALISED and self.space != "global"

    def _what(self) -> str:
        if self.kind in _OF_MEMORY:
            preposition = "of" if self.access == "read" else "to"
            return f"{self.size}-byte {self.access} {preposition} {self.space} memory at {self.address:#x}{self.near}"
        if self.kind in _HAZARDS:
            return f"{self.register}, " + ("no wait" if self.had < 0 else f"{self.had} cycles where {self.needed} are needed")
        if self.kind in {Kind.BARRIER_MISMATCH, Kind.DIVERGENT_BARRIER}:
            return self._barrier()
        if self.kind == Kind.STALL:
            return f"{self.had} cycles where {self.needed} are needed"
        if self.kind == Kind.BAD_FREE:
            return f"{self.address:#x}{self.near}"
        counter = f"scoreboard {self.number}" if self.number < SCOREBOARDS else "group"
        return f"{counter}, {self.had} cycles where {self.needed} are needed" if self.kind == Kind.SETTLE else counter

    def _barrier(self) -> str:
        if self.number >= CTA_BARRIERS and self.space:
            return f"the phase of the mbarrier at {self.address:#x} is never over"
        if self.number >= CTA_BARRIERS:
            return "waits for threads that never come"
        if self.kind == Kind.DIVERGENT_BARRIER:
            return f"threads of the warp are elsewhere, barrier {self.number}"
        if not self.needed:
            return f"barrier {self.number} is never complete"
        if self.had == self.needed:
            return f"barrier {self.number} with and without a reduction"
        return f"barrier {self.number} with {self.had} threads, {self.needed} of those before"

    def _before(self) -> str:
        if not self.first[0]:
            return ""
        place = _code(self.first, self.first_sources)
        if self.kind == Kind.RACE:
            elsewhere = "" if self.first_block == self.block else f" of block {_triple(self.first_block)}"
            who = _triple(self.first_thread) + elsewhere
            return f", not ordered with the {self.first_access} by thread {who} at {place}"
        if self.kind == Kind.BARRIER_MISMATCH:
            return f", others at {place}"
        return f", freed at {place}" if self.kind in {Kind.USE_AFTER_FREE, Kind.BAD_FREE} else f", after {place}"


def _triple(index: Triple) -> str:
    return f"({index[0]},{index[1]},{index[2]})"


def _code(code: Code, sources: tuple[SourceLine, ...]) -> str:
    function, offset, text = code
    if not function:
        return "the host" if not text else "outside of the code"
    lines = f" [{', from '.join(map(str, sources))}]" if sources else ""
    return f"{function}+{offset:#06x} '{text}'{lines}"


def reports_of(image: Image, kernel: str, neighbours: list[tuple[int, int, str]]) -> tuple[Report, ...]:
    """The reports of the last launch.

    Args:
        image: the loaded module.
        kernel: name of the launched kernel.
        neighbours: (address, bytes, name) of the global allocations, to say which one is near.
    """
    count = lib.oric_sim_report_count(image.sim)
    return tuple(_report(image, kernel, lib.oric_sim_report_at(image.sim, i), neighbours) for i in range(count))


def leak(address: int, size: int) -> Report:
    """The report of memory that was never freed."""
    nowhere = (0, 0, 0)
    return Report(Kind.LEAK, "", nowhere, nowhere, "", 0, "", ("", 0, ""), 0, 0, 0, size=size, address=address)


def _report(image: Image, kernel: str, found: Any, neighbours: list[tuple[int, int, str]]) -> Report:
    kind = Kind(found.kind)
    function, offset, text = place_of(image, found.second)
    first = place_of(image, found.first)
    space = SPACES[found.space] if kind in _OF_MEMORY or kind == Kind.BARRIER_MISMATCH else ""
    is_global = space == "global" or kind == Kind.BAD_FREE
    place = near(found.address, neighbours) if is_global else _near_end(kind, space, found)
    access = found.second_access if found.second_access else int(found.write != 0)
    return Report(
        kind, kernel, _vector(found.ctaid), _vector(found.tid), function, offset, text, first,
        found.had, found.needed, found.repeats,
        sources=image.sources.at(function, offset), first_sources=image.sources.at(*first[:2]),
        first_thread=_vector(found.other_tid), first_block=_vector(found.other_ctaid),
        space=space, access=_ACCESSES[access] if space else "", first_access=_ACCESSES[found.first_access] if space else "",
        size=found.size, address=found.address, near=place,
        register=f"{_FILES.get(found.file, '')}{found.number}" if kind in _HAZARDS else "", number=found.number,
    )  # fmt: skip


def _near_end(kind: Kind, space: str, found: Any) -> str:
    """Where an address lies, seen from the shared memory of a block or the local memory of a thread."""
    if kind == Kind.USE_AFTER_FREE:
        return ", of a block that has ended"
    if kind != Kind.OUT_OF_BOUNDS or space not in _OWNERS:
        return ""
    if not found.needed:
        return ", of no block of the cluster"
    address = found.address if space == "local" else found.address & _OFFSET
    end = f"the end of the {_OWNERS[space]} {found.needed} bytes"
    if address < found.needed:
        return f", over {end}"
    return f", {address - found.needed} bytes past {end}" if address - found.needed < _FAR else ""


def _vector(values: Any) -> Triple:
    return values[0], values[1], values[2]
