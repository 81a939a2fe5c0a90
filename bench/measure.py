"""How time is measured: CPU time of ours in a warm process, of ptxas as a child process less that of an empty module."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

EMPTY = ".version 8.0\n.target {target}\n.address_size 64\n"
LEAST_RUNS = 2
EMPTY_RUNS = 21

Row = dict[str, Any]


class Repeats(NamedTuple):
    """How often something is measured: no more runs than ``most``, and when ``seconds`` of CPU are used two are enough."""

    most: int
    seconds: float


class Cost(NamedTuple):
    """Seconds of one child process."""

    cpu: float
    wall: float


_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


class Frames(NamedTuple):
    """Bytes of the stack frames of all functions of a module, and what spills store and load, counted once an instruction."""

    stack: int
    stores: int
    loads: int

    @property
    def spills(self) -> int:
        return self.stores + self.loads


def frames(told: str) -> Frames:
    """What a compiler says of its functions with ``-v``: ours has ptxas's words."""
    found = [tuple(map(int, match.groups())) for match in _FRAME.finditer(told)]
    return Frames(*(sum(part) for part in zip(*found, strict=True))) if found else Frames(0, 0, 0)


def ptx_instructions(text: str) -> int:
    """Number of instruction statements (not directives, labels or declarations) in a PTX text."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    instruction = re.compile(r"(?:\s*[\w$]+:)*\s*(?:@!?[\w$%]+\s+)?[a-z]\w*(?:[.\s]|$)")
    return sum(1 for statement in re.split(r"[;{}]", text) if instruction.match(statement))


def child(command: list[str], folder: str) -> Cost | None:
    """One child process: user and system time, and that of the clock; its output is dropped. None: it failed."""
    here = os.getcwd()
    os.chdir(folder)
    try:
        sink = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=sink)
    finally:
        os.chdir(here)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    return None if os.waitstatus_to_exitcode(status) else Cost(usage.ru_utime + usage.ru_stime, wall)


def children(command: list[str], folder: str, repeats: Repeats) -> Cost | None:
    """Medians of several processes; None: it failed."""
    found: list[Cost] = []
    while len(found) < repeats.most and (len(found) < LEAST_RUNS or sum(c.cpu for c in found) < repeats.seconds):
        cost = child(command, folder)
        if cost is None:
            return None
        found.append(cost)
    return Cost(statistics.median(c.cpu for c in found), statistics.median(c.wall for c in found))


def expected(command: list[str], folder: str, repeats: Repeats) -> Cost:
    """The same for a command that has to work.

    Raises:
        SystemExit: it failed.
    """
    cost = children(command, folder, repeats)
    if cost is None:
        raise SystemExit(f"bench: {' '.join(command)} failed")
    return cost


def our_time(text: str, target: str, level: int, repeats: Repeats) -> float:
    """Median CPU seconds from PTX text to image in this process, after a warming run.

    Raises:
        oric.CompileError: the module does not compile.
    """
    import oric

    oric.compile(text, arch=target, opt_level=level)
    times: list[float] = []
    while len(times) < repeats.most and (len(times) < LEAST_RUNS or sum(times) < repeats.seconds):
        start = time.process_time()
        oric.compile(text, arch=target, opt_level=level)
        times.append(time.process_time() - start)
    return statistics.median(times)


def our_code(text: str, target: str, level: int, limit: int | None = None) -> tuple[Frames, bytes]:
    """What the command line makes of a module and says of it with ``-v``.

    Raises:
        oric.CompileError: the module does not compile.
    """
    import oric
    from oric.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as told:
        source, image = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        source.write_text(text)
        options = ["-v", f"-O{level}", "-arch", target, *(["-maxrregcount", str(limit)] if limit else [])]
        if main([str(source), *options, "-o", str(image)]):
            oric.compile(text, arch=target, opt_level=level, maxrregcount=limit)
            raise AssertionError(told.getvalue())
        return frames(told.getvalue()), image.read_bytes()


class Ptxas:
    """ptxas as a child process, if there is one."""

    def __init__(self) -> None:
        self.path = shutil.which("ptxas")
        self._empty: dict[str, float] = {}
        self.folder = tempfile.TemporaryDirectory()

    def process(self, text: str, target: str, level: int, repeats: Repeats) -> Cost | None:
        """Medians of the whole process; None: it refuses the module, or there is no ptxas."""
        if self.path is None:
            return None
        Path(self.folder.name, "k.ptx").write_text(text)
        command = [self.path, f"-O{level}", "-arch", target, "k.ptx", "-o", "k.cubin"]
        return children(command, self.folder.name, repeats)

    def compile_time(self, text: str, target: str, level: int, repeats: Repeats) -> float | None:
        """Median CPU seconds less those of an empty module; None as in :meth:`process`."""
        if self.path is None:
            return None
        if target not in self._empty:
            empty = self.process(EMPTY.format(target=target), target, level, Repeats(EMPTY_RUNS, 10.0))
            assert empty is not None, "ptxas refuses an empty module"
            self._empty[target] = empty.cpu
        cost = self.process(text, target, level, repeats)
        return None if cost is None else max(0.0, cost.cpu - self._empty[target])

    def code(self, text: str, target: str, level: int, limit: int | None = None) -> tuple[Frames, bytes] | None:
        """What it makes of a module and says of it with ``-v``; None as in :meth:`process`."""
        if self.path is None:
            return None
        Path(self.folder.name, "k.ptx").write_text(text)
        command = [self.path, "-v", f"-O{level}", "-arch", target, "k.ptx", "-o", "k.cubin"]
        command += ["-maxrregcount", str(limit)] if limit else []
        done = subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True, check=False)
        return None if done.returncode else (frames(done.stdout + done.stderr), self.image())

    def image(self) -> bytes:
        """The cubin of the last compilation."""
        return Path(self.folder.name, "k.cubin").read_bytes()


def exponent(points: list[tuple[int, float]]) -> float:
    """The power of the size with which time grows: the slope of the line through the logarithms."""
    line = statistics.linear_regression([math.log(n) for n, _ in points], [math.log(t) for _, t in points])
    return line.slope


def table(title: str, head: list[str], rows: list[list[Any]]) -> None:
    """Print rows in columns, numbers to the right, a dash for what was not measured."""
    text = [["-" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(line[i]) for line in [head, *text]) for i in range(len(head))]
    print(f"\n{title}")
    for line in [head, *text]:
        print("  ".join(v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(line, widths, strict=True))))
