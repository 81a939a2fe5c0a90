"""The data of a page: one document with all that is known of a compilation (``schema.json`` beside this file describes it).

Everything is deterministic: the same input and options give the same document, but for what a run in the simulator is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from oric.driver import CompileError, CompileOptions, Cubin, compile_text
from oric.inside.profile import occupancy
from oric.sass.code import INSTRUCTION_BYTES
from oric.sim.launchfile import LaunchFileError
from oric.support.diagnostics import InternalError
from oric.support.elf import CubinError
from oric.support.version import VERSION

from .align import align, runs_of
from .launches import Launches
from .machine import MachineCode, opcode
from .record import Recorder, Recording

FORMAT: Final = 1  # goes up when the document changes its meaning
_REGISTERS: Final = 256
# Mistakes in what somebody gave us; whatever else ends a compilation is an internal error, and said to be one.
EXPECTED: Final = (CompileError, CubinError, LaunchFileError, ValueError, OSError)


@dataclass(frozen=True)
class Request:
    """What is to be shown.

    ``words``: the options of the compilation as they were written. ``other``: name and bytes of a cubin to compare with,
    ``run``: a launch file whose launches are timed; None: none.
    """

    text: str
    filename: str
    options: CompileOptions
    words: tuple[str, ...] = ()
    other: tuple[str, bytes] | None = None
    run: str | None = None


@dataclass(frozen=True)
class Exploration:
    """The document, and what stopped the compilation on its way there, None when nothing did."""

    document: dict[str, Any]
    error: Exception | None


def explore(request: Request) -> Exploration:
    """Compile and gather what the page shows; of a compilation that fails, the phases before that."""
    recorder = Recorder()
    request.options.listeners = (recorder.listen,)
    found = _Parts(request, recorder)
    error: Exception | None = None
    try:
        found.compile()
    except Exception as problem:  # the page tells of it; whoever writes a file raises it again
        error = problem
    return Exploration(found.document("" if error is None else message_of(error)), error)


def message_of(error: Exception) -> str:
    """What is told of an error."""
    if isinstance(error, EXPECTED):
        return str(error)
    name = "" if isinstance(error, InternalError) else f"{type(error).__name__}: "
    return f"Internal compiler error. {name}{error}"


class _Parts:
    """What of a request is known so far."""

    def __init__(self, request: Request, recorder: Recorder) -> None:
        self.request = request
        self.recorder = recorder
        self.cubin: Cubin | None = None
        self.code: MachineCode | None = None
        self.other: MachineCode | None = None
        self.runs: list[Launches | None] = [None, None]  # ours, and of the other cubin

    def compile(self) -> None:
        """Do everything that can fail.

        Raises:
            CompileError, InternalError: as :func:`oric.driver.compile_text`.
            CubinError: the other cubin is damaged, or has none of the kernels.
            LaunchFileError: the launches cannot be run.
        """
        request = self.request
        if request.other is not None:  # before the long part
            self.other = _other_code(*request.other)
        self.cubin = compile_text(request.text, request.options, request.filename)
        self.code = MachineCode(self.cubin.image)
        if self.other is not None and request.other is not None:
            names = self.code.names
            if not set(names) & set(self.other.names):
                have = ", ".join(self.other.names) or "nothing"
                raise CubinError(f"{request.other[0]}: there is none of {', '.join(names)} (there is {have})")
        if request.run is not None:
            self.runs[0] = Launches(request.run, self.cubin.image)
            if request.other is not None:
                self.runs[1] = Launches(request.run, request.other[1])

    def document(self, error: str) -> dict[str, Any]:
        """The document."""
        request, cubin = self.request, self.cubin
        return {
            "format": FORMAT,
            "version": VERSION,
            "file": request.filename,
            "words": list(request.words),
            "arch": request.options.arch,
            "level": request.options.opt_level,
            "ptx": request.text.splitlines(),
            "error": error,
            "warnings": cubin.warnings if cubin is not None else [],
            "other": request.other[0] if request.other is not None else "",
            "run": request.run or "",
            "units": [self._unit(found) for found in self.recorder.in_order()],
        }

    def _unit(self, recording: Recording) -> dict[str, Any]:
        made = recording.document()
        made["section"] = section = recording.owner
        made["warps"] = self.request.options.target.warps_per_sm
        target = self.request.options.target
        made["occupancy"] = [round(occupancy(count, recording.block, target), 4) for count in range(_REGISTERS)]
        info = self.cubin.kernels.get(recording.name) if self.cubin is not None else None
        made["facts"] = {} if info is None else {
            "registers": info.registers, "limit": info.limit, "stack": info.stack, "shared": info.shared,
            "barriers": info.barriers, "spill stores": info.spills[0], "spill loads": info.spills[1],
        }  # fmt: skip
        if self.code is not None and section in self.code.names:
            made["sass"] = self._machine_code(recording, section)
            if self.other is not None and recording.name == section:
                made["compared"] = self._compared(section, made["sass"]["texts"])
        return made

    def _machine_code(self, recording: Recording, section: str) -> dict[str, Any]:
        """The machine code of a function: its order is that of the code behind the last phase."""
        assert self.code is not None
        starts = self.code.starts(section)
        begin = starts.get(recording.name, 0)
        end = min((at for at in starts.values() if at > begin), default=None)
        made = self.code.document(section, begin, end)
        count = len(made["texts"])
        made["lines"] = (recording.lines + [0] * count)[:count]
        made["spills"] = recording.spills
        made["fills"] = recording.fills
        made["mapped"] = min(len(recording.lines), count)
        run = self.runs[0]
        if run is not None:
            made["run"] = run.document(section, section, begin, count, INSTRUCTION_BYTES)
        return made

    def _compared(self, section: str, ours: list[str]) -> dict[str, Any]:
        """The code of the other cubin, and which rows of both belong together."""
        assert self.other is not None
        if section not in self.other.names:
            return {"missing": True}
        starts = self.other.starts(section)
        made = self.other.document(section, 0, min((at for at in starts.values() if at > 0), default=None))
        theirs = made["texts"]
        pairs = align([opcode(text) for text in ours], [opcode(text) for text in theirs])
        made["rows"] = [[kind, count] for kind, count in runs_of(pairs, len(ours), len(theirs))]
        run = self.runs[1]
        if run is not None:
            made["run"] = run.document(section, section, 0, len(theirs), INSTRUCTION_BYTES)
        return made


def _other_code(name: str, data: bytes) -> MachineCode:
    try:
        return MachineCode(data)
    except CubinError as error:
        raise CubinError(f"{name}: {error}") from error
