"""What a failure is: judges give a text that tells failures apart, "" where there is none.

A judge runs in a process of its own (:mod:`oric.reduce.runner`), which a crash or a hang ends alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from oric.driver import CompileError, CompileOptions, Watch, compile_text
from oric.sim.errors import SimError
from oric.sim.launchfile import LaunchFile, LaunchFileError
from oric.sim.run import Simulator, compare

_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_QUOTED: Final = re.compile(r"'[^']*'")
_UNWRITTEN: Final = "potentially uninitialized"
_PLACE: Final = "{}"  # in a command: the file
_NAME: Final = "reduced.ptx"


class Judge(Protocol):
    """Tells whether a module fails, and how."""

    def signature(self, text: str) -> str:
        """What tells the failure of a module apart from others; "": it does not fail.

        Raises:
            ValueError, LaunchFileError: the question makes no sense.
        """

    def prepare(self, text: str) -> None:
        """Load what every question needs into the process that makes those that answer."""


class Command:
    """A command of the shell that ends with a status other than 0, and says what ``matching`` (a regular expression) finds.

    ``{}`` in it is the file with the module; without it the file is the last word.
    """

    def __init__(self, command: str, matching: str = "") -> None:
        self._command = command
        self._matching = re.compile(matching)

    def signature(self, text: str) -> str:
        """The status."""
        with tempfile.TemporaryDirectory(prefix="oric-reduce-") as folder:
            path = Path(folder) / _NAME
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
            word = shlex.quote(str(path))
            line = self._command.replace(_PLACE, word) if _PLACE in self._command else f"{self._command} {word}"
            done = subprocess.run(
                line, shell=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        if not done.returncode or not self._matching.search(done.stdout.decode("utf-8", "replace")):
            return ""
        return f"the command ends with status {done.returncode}"

    def prepare(self, text: str) -> None:
        """Nothing: a command is a process of its own."""


class Crash:
    """The compiler itself fails: the same phase, the same message but for names and numbers."""

    def __init__(self, options: CompileOptions) -> None:
        self._options = options

    def signature(self, text: str) -> str:
        """The phase and the message."""
        try:
            compile_text(text, self._options)
        except CompileError:
            return ""
        except Exception as error:
            name = "" if type(error).__name__ == "InternalError" else f"{type(error).__name__}: "
            return f"{name}{_plain(str(error))}"
        return ""

    def prepare(self, text: str) -> None:
        """Compile it."""
        _compile_quietly(text, self._options)


def _compile_quietly(text: str, options: CompileOptions) -> None:
    """Load the tables that a module needs, whatever becomes of it."""
    with contextlib.suppress(Exception):
        compile_text(text, options)


def _plain(message: str) -> str:
    """The first line of a message without names and numbers, and without the place."""
    line = message.partition("\n")[0].partition(", in '")[0]
    phase, colon, rest = line.partition(": ")
    return f"{phase}{colon}{_NUMBER.sub('N', _QUOTED.sub('...', rest))}" if colon else _NUMBER.sub("N", _QUOTED.sub("...", line))


class Differs:
    """What a launch file gives in the simulator differs: between the code of two ways to compile, or from what it says to expect.

    ``ways``: the options of each, one or two. With one it is the wrong result that has to stay, bit for bit: anything else
    differs from what is expected as well. A module in which registers are read that nothing writes is no failure, unless
    ``unwritten`` says so.
    """

    def __init__(self, launches: Path, ways: Sequence[CompileOptions], unwritten: bool = False) -> None:
        self._launches = launches
        self._ways = ways
        self._unwritten = unwritten
        for way in ways:
            way.watch = Watch(uninitialized=True)

    def signature(self, text: str) -> str:
        """That results differ, or the error in which only the last way ends."""
        results: list[dict[str, Any] | str] = []
        for way in self._ways:
            try:
                cubin = compile_text(text, way)
            except CompileError:
                return ""
            if not self._unwritten and any(_UNWRITTEN in warning for warning in cubin.warnings):
                return ""
            results.append(self._run(cubin.image))
        return self._told(results)

    def _run(self, image: bytes) -> dict[str, Any] | str:
        """The arrays behind the launches, or the kind of error that they end in."""
        file = LaunchFile(self._launches)
        try:
            device = Simulator(file, image, file.settings, False)
            for step in file.steps:
                device.launch(step)
            return device.take()
        except SimError as error:
            return type(error).__name__

    def _told(self, results: list[dict[str, Any] | str]) -> str:
        file = LaunchFile(self._launches)
        last = results[-1]
        first: dict[str, Any] | str = results[0] if len(results) > 1 else {name: row[0] for name, row in file.expected.items()}
        if isinstance(first, str):  # the code to compare with does not run
            return ""
        if isinstance(last, str):
            return f"the launches end in {last}"
        for name, want in first.items():
            _, rtol, atol = file.expected.get(name, (None, 0.0, 0.0))
            if np.any(compare(last[name], want, rtol, atol)):
                return "the results differ" if len(results) > 1 else f"the results differ: what comes out sums to {_digest(last)}"
        return ""

    def prepare(self, text: str) -> None:
        """Compile it in each way."""
        for way in self._ways:
            _compile_quietly(text, way)


def _digest(arrays: dict[str, Any]) -> str:
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(arrays[name].tobytes())
    return found.hexdigest()[:16]


def check_launches(path: Path, ways: int) -> None:
    """Raises LaunchFileError for a launch file that cannot be read, or says nothing to expect where that is needed."""
    file = LaunchFile(path)
    if ways == 1 and not file.expected:
        raise LaunchFileError("there is nothing to expect: give two levels, as --levels 0,3")
