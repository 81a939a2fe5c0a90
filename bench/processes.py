"""Process against process on a small file: ours, ptxas, an interpreter that does nothing, and where the rest goes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import Ptxas, Repeats, expected, table
from tests.kernels import cases

PROCESS_LIMIT = 6.0  # times the CPU time of an interpreter that does nothing
IMPORT_LIMIT_MS = 60.0
# What an interpreter has done, each with all before it.
STEPS = (
    ("python -c pass", "pass"),
    ("import oric", "import oric"),
    ("the command line", "import oric.cli, oric.cli.compile, oric.cli.arguments"),
    ("the compiler", "import oric.driver, oric.driver.registry; oric.driver.registry.passes()"),
    ("tables of the target", "from oric.driver import CompileOptions, compile_text as c; "
     "c('.version 8.0\\n.target sm_90\\n.address_size 64\\n', CompileOptions('{target}'))"),
)  # fmt: skip


def measure(targets: list[str], level: int, repeats: Repeats, ptxas: Ptxas) -> dict[str, Any]:
    """CPU and wall seconds of whole processes by target, and CPU seconds of the steps."""
    out: dict[str, Any] = {"whole": {}}
    with tempfile.TemporaryDirectory() as folder:
        for target in targets:
            text = cases.ptx("saxpy", target)
            Path(folder, "k.ptx").write_text(text)
            command = [sys.executable, "-m", "oric.cli", f"-O{level}", "-arch", target, "k.ptx", "-o", "k.cubin"]
            expected(command, folder, Repeats(2, 0.0))  # the first one writes the bytecode
            out["whole"][target] = {
                "oric": expected(command, folder, repeats),
                "ptxas": ptxas.process(text, target, level, repeats),
                "python": expected([sys.executable, "-c", "pass"], folder, repeats),
            }
        code, steps = "", {}
        for name, more in STEPS:
            code += more.format(target=targets[-1]) + "\n"
            steps[name] = expected([sys.executable, "-c", code], folder, repeats).cpu
        out["steps"] = steps
    return out


def report(found: dict[str, Any]) -> None:
    """Print what was measured."""
    rows = []
    for target, one in found["whole"].items():
        theirs = one["ptxas"]
        rows.append([
            target, one["oric"].cpu * 1e3, one["oric"].wall * 1e3, theirs and theirs.cpu * 1e3, theirs and theirs.wall * 1e3,
            one["python"].cpu * 1e3, one["python"].wall * 1e3, one["oric"].cpu / one["python"].cpu,
        ])  # fmt: skip
    table("Process against process (saxpy, ms, start-up included)",
          ["target", "oric CPU", "wall", "ptxas CPU", "wall", "python -c pass CPU", "wall", "oric / python"], rows)  # fmt: skip
    steps = list(found["steps"].items())
    before = [0.0, *(cpu for _, cpu in steps)]
    whole = list(found["whole"].values())[-1]["oric"].cpu
    lines = [[name, (cpu - last) * 1e3] for (name, cpu), last in zip(steps, before, strict=False)]
    lines.append(["the compilation, reading and writing", (whole - before[-1]) * 1e3])
    table("Where it goes (CPU ms)", ["step", "ms"], lines)


def verdicts(found: dict[str, Any]) -> list[str]:
    """The goals that are missed."""
    missed = []
    for target, one in found["whole"].items():
        times = one["oric"].cpu / one["python"].cpu
        if times > PROCESS_LIMIT:
            missed.append(f"oric saxpy.ptx for {target}: {times:.1f} times `python -c pass`, more than {PROCESS_LIMIT:.0f}")
    loading = (found["steps"]["import oric"] - found["steps"]["python -c pass"]) * 1e3
    if loading > IMPORT_LIMIT_MS:
        missed.append(f"import of oric takes {loading:.1f} ms, more than {IMPORT_LIMIT_MS:.0f}")
    return missed
