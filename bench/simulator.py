"""Speed of the simulator: thread instructions a CPU second on one core, by kernel and mode; part of `make bench`.

    python -m bench.simulator [--repeats N] [--workers]

The kernels are those of tests/sim/vendor/speed.cu, made by nvcc 13.0 for sm_90. CPU time of this thread: the best of the
repeats, as others on the machine only make it longer. With `--workers` also the time on the clock and the CPU time of all threads
with one and with two host threads; the former says something on an idle machine only.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from typing import Any

import numpy as np
import oric.sim
from oric.sim import Modes

from tests.sim.vendor_cubins import module

SIZE = 256
N = 1 << 16
FAST, STRICT, CHECKED, TIMED = Modes(workers=1), Modes(strict=True), Modes(memcheck=True), Modes(timing=True)
MODES = {"fast": FAST, "strict": STRICT, "memcheck": CHECKED, "timing": TIMED}
# Million thread instructions a CPU second that any kernel should reach, and CPU seconds of the matrix product.
LEAST = {"fast": 30.0, "strict": 8.0}
SGEMM_LIMIT = 5.0

Row = dict[str, Any]
Shape = int | tuple[int, int]


def _random(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(1).random(shape, np.float32)


def _numbers(count: int) -> Any:
    return np.random.default_rng(2).integers(1, 1 << 20, count, dtype=np.uint32)


def launches() -> dict[str, tuple[Shape, Shape, list[Any]]]:
    """Grid, block and arguments of each kernel."""
    return {
        "integers": (128, 128, [_numbers(1 << 14), np.zeros(1 << 14, np.uint32), 128]),
        "floats": (128, 128, [_random((1 << 14,)), np.zeros(1 << 14, np.float32), 128]),
        "copy": (64, 256, [_random((16 * N,)), np.zeros(16 * N, np.float32), 16 * N]),
        "sgemm": ((SIZE // 16, SIZE // 16), (16, 16), [_random((SIZE, SIZE))] * 2 + [np.zeros((SIZE, SIZE), np.float32), SIZE]),
        "collatz": (32, 128, [_numbers(1 << 12), np.zeros(1 << 12, np.uint32), 500]),
    }


def _once(loaded: oric.sim.Module, kernel: str, modes: Modes, clock: Any) -> tuple[int, float]:
    grid, block, args = launches()[kernel]
    args = [loaded.buffer(a) if isinstance(a, np.ndarray) else a for a in args]  # copies of arrays are not measured
    begin = clock()
    done = loaded.launch(kernel, grid, block, args, modes=modes)
    seconds = clock() - begin
    for made in args:
        if isinstance(made, oric.sim.Buffer):
            made.free()
    return done.thread_instructions, seconds


def rows(repeats: int) -> list[Row]:
    """One row for each kernel and mode."""
    out = []
    loaded = module("speed", "sm_90")
    for kernel in launches():
        for name, modes in MODES.items():
            found = [_once(loaded, kernel, modes, time.thread_time) for _ in range(repeats)]
            count, seconds = found[0][0], min(s for _, s in found)
            out.append({"kernel": kernel, "mode": name, "instructions": count, "seconds": seconds, "rate": count / seconds / 1e6})
    return out


def verdicts(found: list[Row]) -> list[str]:
    """The goals that were missed."""
    missed = [
        f"simulator: {r['kernel']} in {r['mode']} mode: {r['rate']:.0f} million a second, less than {LEAST[r['mode']]:.0f}"
        for r in found if r["mode"] in LEAST and r["rate"] < LEAST[r["mode"]]
    ]  # fmt: skip
    long = [r for r in found if r["kernel"] == "sgemm" and r["mode"] == "fast" and r["seconds"] > SGEMM_LIMIT]
    return missed + [f"simulator: sgemm takes {r['seconds']:.2f} s, more than {SGEMM_LIMIT:.0f}" for r in long]


def report(found: list[Row]) -> None:
    """Print the rates, and the seconds of the matrix product."""
    print("\nSimulator (million thread instructions a CPU second, one core)")
    print("kernel    " + "".join(f"{mode:>10}" for mode in MODES))
    for kernel in dict.fromkeys(r["kernel"] for r in found):
        print(f"{kernel:<10}" + "".join(f"{r['rate']:>10.1f}" for r in found if r["kernel"] == kernel))
    print("sgemm s   " + "".join(f"{r['seconds']:>10.2f}" for r in found if r["kernel"] == "sgemm"))


def with_workers(repeats: int) -> None:
    """Print the time on the clock and the CPU time with one and with two host threads."""
    print("\nSimulator (seconds on the clock and of CPUs with 1 and 2 host threads)")
    loaded = module("speed", "sm_90")
    for kernel in launches():
        best = [
            min(_once(loaded, kernel, Modes(workers=n), clock)[1] for _ in range(repeats))
            for clock in (time.perf_counter, time.process_time) for n in (1, 2)
        ]  # fmt: skip
        print(f"{kernel:<10}" + "".join(f"{seconds:>10.3f}" for seconds in best))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--workers", action="store_true")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores")
    found = rows(options.repeats)
    report(found)
    if options.workers:
        with_workers(options.repeats)
    missed = verdicts(found)
    for line in missed:
        print("bench: goal missed:", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
