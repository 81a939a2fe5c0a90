"""Launches of system.cu: what is printed, which fault ends a launch, and that nothing is left in the heap."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric.sim

from .case import Case, kernel, out, s32


@kernel()
def print_rows(rng: Any) -> Case:
    n, block = 90, 48
    a, b = rng.integers(-500, 500, n).astype(np.int32), rng.standard_normal(n) * 100
    want = ""
    for first in range(0, 96, block):  # a warp prints in the order of its lanes
        for i in range(first, min(first + block, n)):
            v = int(a[i])
            if v % 3 == 0:
                size = "below" if v < 0 else "above"
                hexadecimal = f"{v & 0xFFFFFFFF:#x}" if v else "0"
                want += f"{i:3}|{v:<6}|{v:+}|{hexadecimal}|{b[i]:5.2f}|{b[i]:e}|{size}|{chr(ord('a') + i % 26)}|%\n"
        want += f"block {first // block} of 2: {-(1 << 40) - first} {1 << 63:x} {hex(first) if first else '(nil)'}\n"
    return Case(2, block, [a, b, n], {}, printed=want)


@kernel()
def checked(rng: Any) -> Case:
    a, limit = rng.integers(0, 100, 64).astype(np.int32), 100
    a[40] = limit
    message = r'a\[i\] < limit && "a value over the limit" \(system.cu:\d+, .*thread \(40,0,0\) of block \(0,0,0\)'
    return Case(1, 64, [a, out(64, np.int32), limit], {}, fault=(oric.sim.AssertionFailed, message))


@kernel()
def trapped(rng: Any) -> Case:
    a = rng.integers(0, 77, (3, 32)).astype(np.int32)
    a[2, 9] = 77
    return Case(3, 32, [a, out(32, np.int32)], {}, fault=(oric.sim.Trap, r"thread \(9,0,0\) of block \(2,0,0\)"))


@kernel()
def breakpoint(rng: Any) -> Case:
    return Case(1, 32, [out(32, np.int32)], {}, fault=(oric.sim.Trap, r"thread \(5,0,0\) .*BPT"))


def no_leaks(module: oric.sim.Module) -> None:
    assert not module.leaks()


@kernel()
def heap_lists(rng: Any) -> Case:
    a, each = rng.integers(-100, 100, 64).astype(np.int32), 6
    want = []
    for i in range(96):
        values = sorted(int(a[(i * 7 + k * 13) & 63]) for k in range(each))
        want.append(sum(v * (k + 1) for k, v in enumerate(values)))
    return Case(2, 48, [a, out(96, np.int32), each], {1: want}, check=no_leaks)


@kernel()
def heap_objects(rng: Any) -> Case:
    want = []
    for i in range(64):
        x = i
        for _ in range(5):
            x = x + i if i & 1 else 2 * x + i
        want.append(x + 3001)
    return Case(1, 64, [out(64, np.int32), 5], {0: want}, check=no_leaks)


@kernel()
def grid_wide(rng: Any) -> Case:
    n, steps = 4 * 64, 5
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    states = [x.astype(np.int64)]
    for _ in range(steps):
        states.append(np.roll(states[-1], -33) + states[-1])
    args = [x.copy(), out(n, np.int32), steps]
    return Case(4, 64, args, {0: s32(states[4]), 1: s32(states[5])}, cooperative=True)
