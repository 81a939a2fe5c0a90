"""How fast PTX is parsed and checked, and in how much memory: `make bench`.

    python -m bench.parser [--sizes 1,10,100] [FILE...]

The text is PTX that nvcc made: the files given as they are, without files the kernels of tests/ptx/accept, repeated under
new names up to each size. CPU time, the best of the repeats, each size in a process of its own: once with a builder that does
nothing (parse and check), once with the one that records a typed module. Where `make compiled` has left a compiled parser it is
measured too. Goals: 1.5 MB/s interpreted and 6 MB/s compiled, the largest size at no more than 1.5 times the cost of the
smallest, and no more memory than 20 bytes for each byte beside 200 MB.
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
from oric.support.diagnostics import diagnostics_for
from oricgen.compiled import is_current

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "tests/ptx/accept/varied.sm_90.ptx"
COMPILED = ROOT / "build/compiled"
SPEED_GOALS = {"interpreted": 1.5, "compiled": 6.0}
GROWTH_LIMIT = 1.5
BYTES_EACH, BYTES_MORE = 20, 200_000_000
_ENTRY = re.compile(r"\.entry ([\w$]+)")


class Silent:
    """A builder that hands out handles and keeps nothing."""

    def __init__(self) -> None:
        self.handles = 0

    def next(self, *_: object) -> int:
        self.handles += 1
        return self.handles

    def nothing(self, *_: object) -> None:
        return None

    variable = function = new_label = branch_targets = call_targets = call_prototype = next
    module = define_variable = end_body = begin_scope = end_scope = place_label = instruction = nothing
    pragma = file = line_info = section = alias = end_module = nothing

    def registers(self, type_: str, count: int, name: str) -> int:
        self.handles += count
        return self.handles - count

    def begin_body(self, symbol: int, function: Any) -> list[int]:
        return [self.registers(v.type, v.vector, v.name) for v in (*function.returns, *function.params)]


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


def child(form: str, size: int, file: str, repeats: int) -> dict[str, Any]:
    """The measurement in a process of its own."""
    runtime = str(COMPILED if form == "compiled" else ROOT / "runtime")
    path = os.pathsep.join((runtime, str(ROOT / "generator"), str(ROOT / "build"), str(ROOT)))
    command = [sys.executable, "-m", "bench.parser", "--child", file or str(size), "--repeats", str(repeats)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


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
    if options.child:
        own = options.child.isdigit()
        text = repeated(int(options.child)) if own else Path(options.child).read_text(encoding="utf-8")
        print(json.dumps(measure(text, options.repeats)))
        return 0
    inputs = [(0, str(Path(f).resolve())) for f in options.files] or [(int(s) * 1_000_000, "") for s in options.sizes.split(",")]
    forms = ["interpreted", *(["compiled"] if is_current(ROOT) else [])]
    missed = []
    for form in forms:
        rows = [child(form, size, file, options.repeats) for size, file in inputs]
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
