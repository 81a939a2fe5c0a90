"""Compile time and code size, ours and ptxas's, in one run: `make bench`.

    python -m bench.bench [--targets sm_80,sm_90] [--level 3] [--only kernels,corpora,quality,...] [KERNEL...]

Compile time is CPU time.  Ours: `time.process_time` from PTX text to image in a warm process, median of the repeats.  ptxas:
user and system time of the child process less that of ptxas on a module with nothing in it, median of the repeats.  It is taken
over all kernels of the tests and over the stored modules of nvcc, Triton and llc that compile; then the code of every target,
cycles; what the code of whole programs executes and how long it takes; spills and stack frames at few registers (these of
programs that make calls, too), what the proof of allocations costs,
how time grows from 1,000 to 100,000 instructions, and process against process (start-up included).  Spills and frames are what
both say with -v.  Writes bench/results.json and prints tables.  Without ptxas on PATH only our own figures are measured, and the
output says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from oric_tables.targets import TARGETS

from bench import growth, modules, pressure, processes, programs, quality
from bench.measure import Ptxas, Repeats, Row, ptx_instructions, table
from tests.kernels import cases

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = ("kernels", "corpora", "quality", "programs", "pressure", "growth", "processes")
NO_PTXAS = "bench: THERE IS NO ptxas ON PATH: only oric is measured, nothing is compared"
WORST = 10
WHAT = {"instructions": "oric SASS", "registers": "oric regs", "spills": "oric spills", "stack": "oric stack"}
EACH = list({target.number: name for name, target in reversed(TARGETS.items())}.values())[::-1]  # one target of each number

__all__ = ["ptx_instructions", "table"]


def report_kernels(rows: list[Row], code: list[Row]) -> None:
    """The kernels one by one."""
    table(
        "Kernels (CPU ms, text to image); SASS instructions, registers, bytes of spills and stack frames",
        [
            "kernel",
            "target",
            "PTX",
            "oric",
            "ptxas",
            "oric us/i",
            "ratio",
            *(h for what in WHAT.values() for h in (what, "ptxas")),
        ],
        [
            [
                r["name"],
                r["target"],
                r["ptx_instructions"],
                r["oric_ms"],
                r["ptxas_ms"],
                modules.each(r),
                modules.ratio(r),
                *(c[who] and c[who][what] for what in WHAT for who in ("oric", "ptxas")),
            ]
            for r, c in zip(rows, code, strict=True)
        ],
    )


def run(options: argparse.Namespace, ptxas: Ptxas) -> tuple[dict[str, Any], list[str]]:
    """Measure and print section by section; returns what was measured and the goals that were missed."""
    targets, level = options.targets.split(","), options.level
    results: dict[str, Any] = {}
    missed: list[str] = []
    if "kernels" in options.only:
        inputs = modules.kernels(options.kernels or cases.files(), targets)
        rows = modules.measure(inputs, level, modules.KERNEL_REPEATS, ptxas)
        code = quality.sizes(inputs, level, ptxas)
        results |= {"kernels": rows, "code": code}
        report_kernels(rows, code)
        modules.report(modules.KERNELS, rows, WORST)
        missed += modules.verdicts(modules.KERNELS, rows)
    if "corpora" in options.only:
        stored = list(modules.corpora())
        inputs = [one for one in stored if modules.compiles(one, level)]
        rows = results["corpora"] = modules.measure(inputs, level, modules.MODULE_REPEATS, ptxas)
        modules.report(f"{modules.CORPORA} ({len(inputs)} of {len(stored)} compile)", rows, WORST)
        missed += modules.verdicts(modules.CORPORA, rows)
        if len(modules.both(rows)) < modules.LEAST_MODULES:
            missed.append(f"{modules.CORPORA}: only {len(modules.both(rows))}, fewer than {modules.LEAST_MODULES}")
    if "quality" in options.only:
        results["quality"] = quality.measure(options.kernels or cases.files(), EACH, level, ptxas)
        quality.report(results["quality"])
    if "programs" in options.only and not options.kernels:
        rows = results["programs"] = programs.run(ptxas)
        programs.report(rows, WORST)
        missed += programs.verdicts(rows)
    if "pressure" in options.only:
        files = options.kernels or cases.files()
        inputs = [*modules.kernels(files, targets), *(one for one in modules.corpora() if modules.compiles(one, level))]
        spills, clock = pressure.measure_spills(inputs, level, ptxas), pressure.measure_cycles(files, targets, level, ptxas)
        calling = [] if options.kernels else pressure.measure_spills(modules.calling(targets), level, ptxas)
        proof = pressure.measure_proof(inputs, level)
        results["pressure"] = {"spills": spills, "calling": calling, "cycles": clock, "proof": proof}
        pressure.report(spills, calling, clock, proof)
        missed += pressure.verdicts(spills, clock, proof)
    if "growth" in options.only:
        rows = results["growth"] = growth.measure(targets[-1], level, ptxas)
        growth.report(rows)
        missed += growth.verdicts(rows)
    if "processes" in options.only:
        found = results["processes"] = processes.measure(targets, level, Repeats(15, 3.0), ptxas)
        processes.report(found)
        missed += processes.verdicts(found)
    return results, missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="sm_80,sm_90")
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=SECTIONS, help="sections: " + ",".join(SECTIONS))
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results.json")
    parser.add_argument("kernels", nargs="*", help="kernel files (default: all)")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(str(ROOT / part) for part in ("runtime", "generator", "build"))
    # Child processes find compiled bytecode, as those of an installed package do; it is kept out of the checkout.
    bytecode = tempfile.TemporaryDirectory()
    os.environ["PYTHONPYCACHEPREFIX"] = bytecode.name
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    ptxas, start = Ptxas(), time.perf_counter()
    if not ptxas.path:
        print(NO_PTXAS)
    results, missed = run(options, ptxas)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "ptxas": bool(ptxas.path)}
    options.output.write_text(json.dumps({"machine": machine, "level": options.level, **results}, indent=1) + "\n")
    print(f"\nbench: {time.perf_counter() - start:.0f} s")
    for line in missed:
        print("bench: goal missed:", line)
    if not ptxas.path:
        print(NO_PTXAS)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
