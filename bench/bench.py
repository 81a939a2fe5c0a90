"""Compile time and code size, ours and ptxas's, in one run: `make bench`.

    python -m bench.bench [--repeats N] [--targets sm_80,sm_90] [--level 3] [KERNEL...]

Compile time is CPU time.  Ours: `time.process_time` from PTX text to image in a warm process, median of the
repeats.  ptxas: user and system time of the child process less that of ptxas on a module with nothing in it, median
of the repeats.  Process against process (start-up included) is measured apart.  Writes bench/results.json and
prints tables.  Without ptxas on PATH only our own figures are measured, and the tables say so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import generated
from tests.kernels import cases

ROOT = Path(__file__).resolve().parents[1]
EMPTY = ".version 8.0\n.target {target}\n.address_size 64\n"
SIZES = (500, 1000, 2000, 4000, 8000)
GROWTH_LIMIT = 1.5  # per-instruction cost of the largest size against the smallest; more means a step of quadratic cost
IMPORT_LIMIT_MS = 60.0
SAXPY_LIMIT_MS = 10.0

Row = dict[str, Any]


def ptx_instructions(text: str) -> int:
    """Number of instruction statements (not directives, labels or declarations) in a PTX text."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    instruction = re.compile(r"(?:\s*[\w$]+:)*\s*(?:@!?[\w$%]+\s+)?[a-z]\w*(?:[.\s]|$)")
    return sum(1 for statement in re.split(r"[;{}]", text) if instruction.match(statement))


def child_cpu(command: list[str], folder: str) -> float:
    """CPU seconds (user and system) of one child process; its output is dropped."""
    here = os.getcwd()
    os.chdir(folder)
    try:
        sink = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=sink)
    finally:
        os.chdir(here)
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def our_time(text: str, target: str, level: int, repeats: int) -> float:
    """Median CPU seconds from PTX text to image in this process, after two warming runs."""
    import oric

    times = []
    for turn in range(repeats + 2):
        start = time.process_time()
        oric.compile(text, arch=target, opt_level=level)
        if turn >= 2:
            times.append(time.process_time() - start)
    return statistics.median(times)


class Ptxas:
    """ptxas as a child process, if there is one."""

    def __init__(self, repeats: int) -> None:
        self.path = shutil.which("ptxas")
        self.repeats = repeats
        self.empty: dict[str, float] = {}
        self.folder = tempfile.TemporaryDirectory()

    def process_time(self, text: str, target: str, level: int) -> float:
        """Median CPU seconds of the whole child process."""
        assert self.path is not None
        Path(self.folder.name, "k.ptx").write_text(text)
        command = [self.path, f"-O{level}", "-arch", target, "k.ptx", "-o", "k.cubin"]
        return statistics.median(child_cpu(command, self.folder.name) for _ in range(self.repeats))

    def compile_time(self, text: str, target: str, level: int) -> float:
        """Median CPU seconds less those of an empty module."""
        if target not in self.empty:
            self.empty[target] = self.process_time(EMPTY.format(target=target), target, level)
        return max(0.0, self.process_time(text, target, level) - self.empty[target])

    def image(self) -> bytes:
        """The cubin of the last compilation."""
        return Path(self.folder.name, "k.cubin").read_bytes()


def code_size(image: bytes) -> dict[str, dict[str, int]]:
    """Per kernel: instructions (without the padding behind the last one) and registers, read from a cubin."""
    from oric import sass
    from oric.support import elf

    cubin = elf.read(image)
    sizes = {}
    for name, kernel in cubin.kernels.items():
        names = [instruction.op.name for instruction in sass.decode(kernel.text, cubin.target)]
        while names and names[-1] == "NOP":
            names.pop()
        if len(names) > 1 and names[-1] == "BRA":  # the jump to itself behind the code
            names.pop()
        sizes[name] = {"instructions": len(names), "registers": kernel.registers}
    return sizes


def bench_kernels(names: list[str], targets: list[str], level: int, repeats: int, ptxas: Ptxas) -> list[Row]:
    """One row per kernel file and target."""
    import oric

    rows = []
    for name in names:
        for target in targets:
            text = cases.ptx(name, target)
            row: Row = {"kernel": name, "target": target, "ptx_instructions": ptx_instructions(text)}
            row["oric_ms"] = our_time(text, target, level, repeats) * 1e3
            row["oric_code"] = code_size(oric.compile(text, arch=target, opt_level=level).image)
            if ptxas.path:
                row["ptxas_ms"] = ptxas.compile_time(text, target, level) * 1e3
                row["ptxas_code"] = code_size(ptxas.image())
            rows.append(row)
    return rows


def bench_processes(targets: list[str], level: int, repeats: int, ptxas: Ptxas) -> list[Row]:
    """Whole processes on a small file: CPU time, start-up included."""
    rows = []
    for target in targets:
        text = cases.ptx("saxpy", target)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.ptx").write_text(text)
            command = [sys.executable, "-m", "oric.cli", f"-O{level}", "-arch", target, "k.ptx", "-o", "k.cubin"]
            child_cpu(command, folder)  # the first one writes the bytecode
            ours = statistics.median(child_cpu(command, folder) for _ in range(repeats))
        row: Row = {"kernel": "saxpy", "target": target, "oric_ms": ours * 1e3}
        if ptxas.path:
            row["ptxas_ms"] = ptxas.process_time(text, target, level) * 1e3
        rows.append(row)
    return rows


def bench_scaling(target: str, level: int, repeats: int, ptxas: Ptxas) -> list[Row]:
    """Time per instruction against size, for one long block and for many short ones."""
    rows = []
    for shape in (generated.straight, generated.branchy):
        for size in SIZES:
            text = shape(size, target)
            row: Row = {"shape": shape.__name__, "target": target, "ptx_instructions": ptx_instructions(text)}
            row["oric_ms"] = our_time(text, target, level, max(3, repeats // 3)) * 1e3
            if ptxas.path:
                row["ptxas_ms"] = ptxas.compile_time(text, target, level) * 1e3
            rows.append(row)
    return rows


def import_time(repeats: int) -> float:
    """Median CPU milliseconds that `import oric` adds to an interpreter that starts and ends."""

    def run(code: str) -> float:
        return statistics.median(child_cpu([sys.executable, "-c", code], str(ROOT)) for _ in range(repeats))

    run("import oric")  # the first one writes the bytecode
    return (run("import oric") - run("pass")) * 1e3


def per_instruction(row: Row, who: str) -> float | None:
    """Microseconds per PTX instruction, None if not measured."""
    return row[f"{who}_ms"] * 1e3 / row["ptx_instructions"] if f"{who}_ms" in row else None


def total(row: Row, who: str, what: str) -> int | None:
    """Instructions of all kernels of a file together, or the most registers of one."""
    if f"{who}_code" not in row:
        return None
    values = [kernel[what] for kernel in row[f"{who}_code"].values()]
    return sum(values) if what == "instructions" else max(values)


def table(title: str, head: list[str], rows: list[list[Any]]) -> None:
    """Print rows in columns, numbers to the right, a dash for what was not measured."""
    text = [["-" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(line[i]) for line in [head, *text]) for i in range(len(head))]
    print(f"\n{title}")
    for line in [head, *text]:
        print("  ".join(v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(line, widths, strict=True))))


def report(results: dict[str, Any]) -> None:
    """Print what was measured."""
    table(
        "Compile time (CPU ms, text to image); SASS instructions and registers",
        ["kernel", "target", "PTX", "oric", "ptxas", "oric us/i", "ptxas us/i", "oric SASS", "ptxas", "oric regs", "ptxas"],
        [
            [
                r["kernel"],
                r["target"],
                r["ptx_instructions"],
                r["oric_ms"],
                r.get("ptxas_ms"),
                per_instruction(r, "oric"),
                per_instruction(r, "ptxas"),
                total(r, "oric", "instructions"),
                total(r, "ptxas", "instructions"),
                total(r, "oric", "registers"),
                total(r, "ptxas", "registers"),
            ]
            for r in results["kernels"]
        ],
    )
    table(
        "Process against process (CPU ms, start-up included)",
        ["kernel", "target", "oric", "ptxas"],
        [[r["kernel"], r["target"], r["oric_ms"], r.get("ptxas_ms")] for r in results["processes"]],
    )
    table(
        "Scaling (generated PTX)",
        ["shape", "PTX", "oric ms", "oric us/i", "ptxas ms", "ptxas us/i"],
        [
            [
                r["shape"],
                r["ptx_instructions"],
                r["oric_ms"],
                per_instruction(r, "oric"),
                r.get("ptxas_ms"),
                per_instruction(r, "ptxas"),
            ]
            for r in results["scaling"]
        ],
    )
    print(f"\nimport oric: {results['import_ms']:.1f} ms CPU")


def verdicts(results: dict[str, Any]) -> list[str]:
    """The goals that this run misses."""
    missed = []
    if results["import_ms"] > IMPORT_LIMIT_MS:
        missed.append(f"import of oric takes {results['import_ms']:.1f} ms, more than {IMPORT_LIMIT_MS:.0f}")
    for row in results["kernels"]:
        if row["kernel"] == "saxpy" and row["oric_ms"] > SAXPY_LIMIT_MS:
            missed.append(f"saxpy for {row['target']} takes {row['oric_ms']:.2f} ms, more than {SAXPY_LIMIT_MS:.0f}")
    for shape in dict.fromkeys(row["shape"] for row in results["scaling"]):
        costs = [row["oric_ms"] / row["ptx_instructions"] * 1e3 for row in results["scaling"] if row["shape"] == shape]
        if costs[-1] > GROWTH_LIMIT * costs[0]:
            missed.append(f"{shape}: {costs[0]:.1f} us per instruction at the smallest size, {costs[-1]:.1f} at the largest")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--targets", default="sm_80,sm_90")
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results.json")
    parser.add_argument("kernels", nargs="*", help="kernel files (default: all)")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(str(ROOT / part) for part in ("runtime", "generator", "build"))
    # Child processes find compiled bytecode, as those of an installed package do; it is kept out of the checkout.
    bytecode = tempfile.TemporaryDirectory()
    os.environ["PYTHONPYCACHEPREFIX"] = bytecode.name
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    targets, ptxas = options.targets.split(","), Ptxas(options.repeats)
    if not ptxas.path:
        print("bench: ptxas is not on PATH: only oric is measured")
    results = {
        "machine": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "ptxas": bool(ptxas.path),
            "level": options.level,
            "repeats": options.repeats,
        },
        "kernels": bench_kernels(options.kernels or cases.files(), targets, options.level, options.repeats, ptxas),
        "processes": bench_processes(targets, options.level, options.repeats, ptxas),
        "scaling": bench_scaling(targets[-1], options.level, options.repeats, ptxas),
        "import_ms": import_time(options.repeats),
    }
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    report(results)
    missed = verdicts(results)
    for line in missed:
        print("bench: goal missed:", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
