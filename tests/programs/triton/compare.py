"""Our code of the instances beside ptxas's: registers, spills, instructions, cycles of the simulator's clock, time to compile."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

import oric
from oric.sim import Modes, load
from oric.support import elf

from tests.programs.triton import stored
from tests.programs.triton.case import case
from tests.programs.triton.measure import refusal, sm

_LINE = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores")
_INSTRUCTION = 16  # bytes


@dataclass(frozen=True)
class Figures:
    """Of the code of one instance: `spills` are bytes of spill stores, `milliseconds` what it took to make it."""

    registers: int
    spills: int
    instructions: int
    cycles: int
    milliseconds: float


def _figures(name: str, target: int, image: bytes, spills: int, seconds: float) -> Figures:
    facts = stored.facts(name, target)
    function = elf.read(image).kernels[facts["kernel"]]
    module = load(image)
    done = case(name, facts).launch(module, facts["kernel"], Modes(timing=True))
    assert done.timing is not None
    return Figures(function.registers, spills, _instructions(function.text), done.timing.cycles, 1000 * seconds)


def _instructions(code: bytes) -> int:
    """Without what fills the section up: the branch to itself and the NOPs at its end."""
    words = [code[i : i + _INSTRUCTION] for i in range(0, len(code), _INSTRUCTION)]
    while words and words[-1][:2] == b"\x18\x79":
        words.pop()
    return len(words)


def ours(name: str, target: int) -> Figures | str:
    """Figures, or why there are none."""
    text = stored.ptx(name, target)
    start = time.process_time()
    try:
        made = oric.compile(text, arch=sm(target), opt_level=3)
    except oric.CompileError as error:
        return refusal(error)
    seconds = time.process_time() - start
    return _figures(name, target, made.image, made.kernels[stored.facts(name, target)["kernel"]].spills[0], seconds)


def theirs(ptxas: str, name: str, target: int) -> Figures | str:
    """The same of ptxas -O3; its time is that of a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.ptx").write_text(stored.ptx(name, target), encoding="utf-8")
        command = [ptxas, "-v", "-O3", f"-arch={sm(target)}", "in.ptx", "-o", "out.cubin"]
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if done.returncode:
            return done.stderr.splitlines()[0]
        spills = _LINE.search(done.stderr)
        return _figures(name, target, (Path(folder) / "out.cubin").read_bytes(), int(spills[2]) if spills else 0, seconds)


def compare(ptxas: str, which: Iterable[tuple[str, int]]) -> None:
    """Print a line an instance, ours / theirs, and the geometric means of the ratios."""
    ratios: dict[str, list[float]] = {"registers": [], "instructions": [], "cycles": [], "milliseconds": []}
    refused = 0
    print(f"{'instance':44} {'registers':>11} {'spills':>11} {'instructions':>13} {'cycles':>15} {'ms':>11}")
    for name, target in which:
        mine, other = ours(name, target), theirs(ptxas, name, target)
        label = f"{name} {sm(target)}"
        if isinstance(mine, str) or isinstance(other, str):
            refused += 1
            print(f"{label:44} {mine if isinstance(mine, str) else other}", flush=True)
            continue
        pairs = {field: (getattr(mine, field), getattr(other, field)) for field in Figures.__dataclass_fields__}
        for field, values in ratios.items():
            values.append(max(pairs[field][0], 1) / max(pairs[field][1], 1))
        texts = [f"{a:.0f}/{b:.0f}" for a, b in pairs.values()]
        print(f"{label:44} " + " ".join(f"{t:>{w}}" for t, w in zip(texts, (11, 11, 13, 15, 11), strict=True)), flush=True)
    compared = len(ratios["cycles"])
    print(f"{compared} compared, {refused} refused; geometric means of ours / ptxas's:", file=sys.stdout)
    for field, values in ratios.items():
        if values:
            print(f"    {field:13} {exp(sum(map(log, values)) / len(values)):.3f}")
