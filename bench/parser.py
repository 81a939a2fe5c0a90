"""How fast PTX is scanned, parsed and checked, and in how much memory: `make bench`.

    python -m bench.parser [--sizes 1,10,100] [FILE...]

CPU time, the best of the repeats, each measurement in a process of its own. First what compilers made (the stored modules of
nvcc, Triton and llc, a few megabytes of each, and the kernels of the tests): the scanner in C by statement, parsing and checking
with a builder that does nothing by PTX instruction; and what a module and a function cost that have next to nothing in them.
Then speed and memory against size: the files given as they are, without files the kernels of tests/ptx/accept, repeated under
new names up to each size; once with the builder that does nothing, once with the one that records a typed module. Where `make
compiled` has left a compiled parser it is measured too. Goals: 1.5 MB/s interpreted, 15 MB/s and at most 4 us an instruction
compiled, the largest size at no more than 1.5 times the cost of the smallest, and no more memory than 20 bytes for each byte
beside 200 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from oric.ptx import parse_module
from oric.ptx.recorder import Recorder
from oric.ptx.text import latin
from oric.support.diagnostics import diagnostics_for
from oric_tables._native import ffi, lib
from oricgen.compiled import is_current

from bench.measure import ptx_instructions, table
from bench.stages import Silent
from tests.kernels import cases
from tests.ptx_corpus.archive import COMPILERS, modules

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "tests/ptx/accept/varied.sm_90.ptx"
SPEED_GOALS = {"interpreted": 1.5, "compiled": 15.0}
INSTRUCTION_LIMIT = 4.0  # us, compiled
GROWTH_LIMIT = 1.5
BYTES_EACH, BYTES_MORE = 20, 200_000_000
CHARACTERS = 8_000_000  # of each compiler's modules
WINDOW = 8192  # words of statements that are scanned at once
FUNCTIONS = 100
HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
FUNCTION = """.visible .entry k{0}(.param .u64 k{0}_param_0,
\t.param .u32 k{0}_param_1)
{{
\t.reg .pred \t%p<2>;
\t.reg .b32 \t%r<6>;
\t.reg .b64 \t%rd<4>;
\tret;
}}
"""
_ENTRY = re.compile(r"\.entry ([\w$]+)")


def repeated(size: int) -> str:
    """The kernels of the sample, again and again under new names, about ``size`` bytes."""
    text = SOURCE.read_text(encoding="utf-8")
    start = text.index(".visible .entry")
    head, kernels = text[:start], text[start:]
    count = max(1, (size - len(head)) // len(kernels))
    return head + "".join(_ENTRY.sub(rf".entry \1_{i}", kernels) for i in range(count))


def measure(text: str, repeats: int) -> dict[str, Any]:
    """CPU seconds without and with a record of the module, and the most memory beside that of before."""
    row: dict[str, Any] = {"bytes": len(text)}
    for name, make in (("check", lambda _: Silent()), ("record", Recorder)):
        before = _resident()
        best = float("inf")
        for _ in range(repeats):
            diag = diagnostics_for(text, "bench.ptx")
            builder = make(diag.source)
            start = time.process_time()
            parse_module(text, "bench.ptx", builder, None, diag)
            best = min(best, time.process_time() - start)
            del builder
        row[name] = best
        row[f"{name}_memory"] = max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
        row["errors"] = diag.error_count
    return row


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def checked(text: str) -> float:
    """CPU seconds of parsing and checking."""
    diag = diagnostics_for(text, "bench.ptx")
    builder = Silent()
    start = time.process_time_ns()
    parse_module(text, "bench.ptx", builder, None, diag)
    return (time.process_time_ns() - start) / 1e9


def scanned(text: str) -> tuple[float, int]:
    """CPU seconds of the scanner in C for the function bodies of a module, and the number of statements."""
    data = ffi.from_buffer(latin(text))
    limit = 1 << max(len(text) // 4, 64).bit_length()  # more texts than there can be
    rows = ffi.new("int64_t[]", lib.ORIC_PTX_MEMORY_WORDS * limit)
    scan, out = ffi.new("oric_ptx_scan *"), ffi.new("int64_t[]", WINDOW)
    lib.oric_ptx_begin(scan, data, len(text), rows, limit)
    seconds, count = 0.0, 0
    for body in re.finditer(r"^\{", text, re.MULTILINE):
        scan.end, scan.reason = body.end(), lib.ORIC_PTX_MORE
        while scan.reason == lib.ORIC_PTX_MORE:
            start = time.process_time_ns()
            words = lib.oric_ptx_statements(scan, scan.end, out, WINDOW)
            seconds += (time.process_time_ns() - start) / 1e9
            cursor = 0
            while cursor < words:
                cursor += out[cursor] >> 8
                count += 1
    return seconds, count


def stages(repeats: int) -> dict[str, Any]:
    """By origin: nanoseconds of the scanner for a statement, microseconds for an instruction; microseconds of next to nothing."""
    found: dict[str, list[str]] = {c: [text for _, text in modules(c, CHARACTERS)] for c in COMPILERS}
    found["kernels"] = [cases.ptx(name, "sm_90") for name in cases.files()]
    rows = []
    for origin, texts in found.items():
        scans = [min((scanned(text) for _ in range(repeats)), key=lambda pair: pair[0]) for text in texts]
        first = sum(checked(text) for text in texts)
        seconds = sum(min(checked(text) for _ in range(repeats)) for text in texts)
        statements, instructions = sum(n for _, n in scans), sum(map(ptx_instructions, texts))
        scan = sum(s for s, _ in scans) * 1e9 / statements
        rows.append(
            [origin, len(texts), statements, instructions, scan, first * 1e6 / instructions, seconds * 1e6 / instructions]
        )
    module = min(checked(HEADER) for _ in range(100 * repeats))
    full = HEADER + "".join(FUNCTION.format(i) for i in range(FUNCTIONS))
    function = (min(checked(full) for _ in range(10 * repeats)) - module) / FUNCTIONS
    return {"rows": rows, "module": module * 1e6, "function": function * 1e6}


def child(form: str, *arguments: str) -> Any:
    """What this program prints in a process of its own, with one form of the parser."""
    path = os.pathsep.join(str(ROOT / part) for part in ("runtime", "generator", "build", ""))
    command = [sys.executable, "-m", "bench.parser", *arguments]
    environment = {**os.environ, "PYTHONPATH": path, "ORIC_INTERPRET": "" if form == "compiled" else "1"}
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def bench_stages(form: str, repeats: int) -> list[str]:
    """Print what the stages cost; returns the goals that are missed."""
    found = child(form, "--child", "stages", "--repeats", str(repeats))
    head = ["origin", "modules", "statements", "instructions", "scan ns/statement", "first us/i", "parse and check us/i"]
    table(f"Parser, {form}", head, found["rows"])
    print(f"an empty module {found['module']:.1f} us, a function with next to nothing {found['function']:.1f} us")
    if form != "compiled":
        return []
    slow = [(row[0], row[-1]) for row in found["rows"] if row[-1] > INSTRUCTION_LIMIT]
    return [f"{form}: {cost:.1f} us an instruction for {origin}, more than {INSTRUCTION_LIMIT:.0f}" for origin, cost in slow]


def verdicts(form: str, rows: list[dict[str, Any]]) -> list[str]:
    """The goals that one form of the parser misses."""
    missed = []
    for row in rows:
        speed = row["bytes"] / row["check"] / 1e6
        if speed < SPEED_GOALS[form]:
            missed.append(f"{form}: {speed:.2f} MB/s of {SPEED_GOALS[form]}")
        if row["record_memory"] > BYTES_EACH * row["bytes"] + BYTES_MORE:
            missed.append(f"{form}: {row['record_memory'] / 1e6:.0f} MB of memory for {row['bytes'] / 1e6:.0f} MB")
        if row["errors"]:
            missed.append(f"{form}: {row['errors']} errors")
    costs = [row["check"] / row["bytes"] for row in rows]
    if costs[-1] > GROWTH_LIMIT * costs[0]:
        missed.append(f"{form}: a byte of the largest input costs {costs[-1] / costs[0]:.2f} times one of the smallest")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1,10", help="megabytes, smallest first")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.child == "stages":
        print(json.dumps(stages(options.repeats)))
        return 0
    if options.child:
        own = options.child.isdigit()
        text = repeated(int(options.child)) if own else Path(options.child).read_text(encoding="utf-8")
        print(json.dumps(measure(text, options.repeats)))
        return 0
    inputs = [(0, str(Path(f).resolve())) for f in options.files] or [(int(s) * 1_000_000, "") for s in options.sizes.split(",")]
    forms = ["interpreted", *(["compiled"] if is_current(ROOT) else [])]
    missed: list[str] = []
    for form in forms:
        missed += [] if options.files else bench_stages(form, options.repeats)
        rows = [child(form, "--child", file or str(size), "--repeats", str(options.repeats)) for size, file in inputs]
        for row in rows:
            size, memory = row["bytes"], row["record_memory"]
            checked = f"check {size / row['check'] / 1e6:5.2f} MB/s, {row['check_memory'] / 1e6:.0f} MB"
            recorded = f"typed module {size / row['record'] / 1e6:5.2f} MB/s, {memory / 1e6:.0f} MB"
            print(f"parse, {form}: {size / 1e6:6.2f} MB: {checked}; {recorded}")
        missed += verdicts(form, rows if not options.files else rows[:1])
    if "compiled" not in forms:
        print("parse: no compiled parser of these sources (make compiled): only the interpreted one is measured")
    for line in missed:
        print("bench: goal missed:", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
