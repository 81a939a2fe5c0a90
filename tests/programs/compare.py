"""Our code of kernels beside ptxas's: registers, spills, instructions, cycles of the simulator's clock, time to compile."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

import oric
from oric.sim import Modes, SimError, load
from oric.support import elf

from tests.sim.suite.case import Case

_LINE = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores")
_INSTRUCTION = 16  # bytes


@dataclass(frozen=True)
class Figures:
    """Of the code of one kernel: `spills` are bytes of spill stores, `instructions` those of its code, `executed` what its warps
    executed, `milliseconds` what it took to make it."""

    registers: int
    spills: int
    instructions: int
    executed: int
    cycles: int
    milliseconds: float


@dataclass(frozen=True)
class Subject:
    """A kernel to compare: `label` is what it is called in the table, `text` its module, `case` makes its launch."""

    label: str
    text: str
    arch: str
    kernel: str
    case: Callable[[], Case]


def _figures(subject: Subject, image: bytes, spills: int, seconds: float) -> Figures | str:
    function = elf.read(image).kernels[subject.kernel]
    case, module = subject.case(), load(image)
    try:
        done = case.launch(module, subject.kernel, Modes(timing=True))
        case.judge(module)
    except (SimError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    assert done.timing is not None
    size = _instructions(function.text)
    return Figures(function.registers, spills, size, done.warp_instructions, done.timing.cycles, 1000 * seconds)


def _instructions(code: bytes) -> int:
    """Without what fills the section up: the branch to itself and the NOPs at its end."""
    words = [code[i : i + _INSTRUCTION] for i in range(0, len(code), _INSTRUCTION)]
    while words and words[-1][:2] == b"\x18\x79":
        words.pop()
    return len(words)


def refusal(error: oric.CompileError) -> str:
    """What the compiler says, without the place."""
    return re.sub(r"^.*?error: ", "", str(error).splitlines()[0])


def ours(subject: Subject, disabled: tuple[str, ...] = ()) -> Figures | str:
    """Figures, or why there are none; ``disabled`` names phases that do not run."""
    start = time.process_time()
    try:
        made = oric.compile(subject.text, arch=subject.arch, opt_level=3, disabled=disabled)
    except oric.CompileError as error:
        return refusal(error)
    seconds = time.process_time() - start
    return _figures(subject, made.image, made.kernels[subject.kernel].spills[0], seconds)


def theirs(ptxas: str, subject: Subject) -> Figures | str:
    """The same of ptxas -O3; its time is that of a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.ptx").write_text(subject.text, encoding="utf-8")
        command = [ptxas, "-v", "-O3", f"-arch={subject.arch}", "in.ptx", "-o", "out.cubin"]
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if done.returncode:
            return done.stderr.splitlines()[0]
        spills = _LINE.search(done.stderr)
        return _figures(subject, (Path(folder) / "out.cubin").read_bytes(), int(spills[2]) if spills else 0, seconds)


def compare(ptxas: str, which: Iterable[Subject]) -> None:
    """Print a line a kernel, ours / theirs, and the geometric means of the ratios."""
    ratios: dict[str, list[float]] = {name: [] for name in ("registers", "instructions", "executed", "cycles", "milliseconds")}
    refused = 0
    print(f"{'kernel':44} {'registers':>11} {'spills':>11} {'instructions':>13} {'executed':>15} {'cycles':>15} {'ms':>11}")
    for subject in which:
        mine, other, label = ours(subject), theirs(ptxas, subject), subject.label
        if isinstance(mine, str) or isinstance(other, str):
            refused += 1
            print(f"{label:44} {mine if isinstance(mine, str) else other}", flush=True)
            continue
        pairs = {field: (getattr(mine, field), getattr(other, field)) for field in Figures.__dataclass_fields__}
        for field, values in ratios.items():
            values.append(max(pairs[field][0], 1) / max(pairs[field][1], 1))
        texts = [f"{a:.0f}/{b:.0f}" for a, b in pairs.values()]
        print(f"{label:44} " + " ".join(f"{t:>{w}}" for t, w in zip(texts, (11, 11, 13, 15, 15, 11), strict=True)), flush=True)
    compared = len(ratios["cycles"])
    print(f"{compared} compared, {refused} refused; geometric means of ours / ptxas's:")
    for field, values in ratios.items():
        if values:
            print(f"    {field:13} {exp(sum(map(log, values)) / len(values)):.3f}")
