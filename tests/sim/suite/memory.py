"""Launches of memory.cu; all results are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric.sim

from .case import Case, kernel, out


@kernel()
def transpose(rng: Any) -> Case:
    x = rng.random((50, 40), np.float32)
    return Case((2, 2), (32, 8), [x, out((40, 50), np.float32), 40, 50], {1: x.T})


@kernel()
def widths(rng: Any) -> Case:
    n = 64
    a, b = rng.integers(0, 1 << 32, (n, 4), np.uint32), rng.integers(0, 1 << 32, (n, 2), np.uint32)
    c, d = rng.integers(0, 1 << 16, n, np.uint16), rng.integers(-128, 128, n).astype(np.int8)
    u = d.astype(np.uint32)
    wide = np.column_stack([a[:, 3] + b[:, 0], a[:, 2] ^ b[:, 1], a[:, 1] - c, a[:, 0] + u])
    args = [a, b, c, d, out((n, 4), np.uint32), out(n, np.uint16), out(n, np.int8)]
    return Case(2, n // 2, args, {4: wide, 5: c * 3 + d.view(np.uint8), 6: d >> 1})


@kernel()
def module_variables(rng: Any) -> Case:
    table, x = rng.integers(-50, 50, 64).astype(np.int32), rng.integers(0, 1000, 32).astype(np.int32)
    weights = 2.0 ** np.arange(8)
    i = np.arange(32)

    def setup(module: oric.sim.Module) -> None:
        module.write_global("coefficients", table)
        module.write_global("counter", np.array([100], np.int32))

    def check(module: oric.sim.Module) -> None:
        assert np.frombuffer(module.read_global("counter"), np.int32)[0] == 111
        want = np.zeros((4, 8), np.int32)
        want[i & 3, i >> 2] = table[i] * 2
        assert np.array_equal(np.frombuffer(module.read_global("grid_values"), np.int32).reshape(4, 8), want)

    want = table[x & 63] + weights[i & 7] + weights[x & 7] * table[3]
    return Case(1, 32, [x, out(32, np.float32)], {1: want}, setup=setup, check=check)


@kernel()
def generic_addresses(rng: Any) -> Case:
    x = rng.integers(0, 10000, 64).astype(np.int32)
    rows = []
    for i, v in enumerate(x.tolist()):
        rows.append([[x[i ^ 1], 1], [x[i ^ 2] * 2, 2], [x[(i + (i & 7)) & 63], 4]][v % 3])
    return Case(1, 64, [x, out((64, 2), np.int32)], {1: rows})


@kernel()
def cache_operators(rng: Any) -> Case:
    x = rng.integers(-999, 999, 64).astype(np.int32)
    want = np.column_stack([16 * x, x, -x, (16 * x) ^ x])
    return Case(2, 32, [x, out(64, np.int32), out((64, 4), np.int32)], {1: 8 * x, 2: want})


@kernel()
def dynamic_shared(rng: Any) -> Case:
    n = 100
    x = rng.standard_normal(n)
    return Case(1, 64, [x, out(n, np.float64), n], {1: x[::-1] + (np.arange(n) + 1) % n * 3}, shared=14 * n)


@kernel()
def packed_records(rng: Any) -> Case:
    n = 100
    x = rng.integers(0, 256, (n, 7)).astype(np.uint8)
    key = x[:, :4].copy().view(np.uint32)[:, 0] * np.uint32(5) + x[:, 4:6].copy().view(np.uint16)[:, 0]
    want = np.column_stack([key.astype(np.uint32).view(np.uint8).reshape(n, 4), x[:, 5], x[:, 4], ~x[:, 6]])
    return Case(2, 32, [x, out((n, 7), np.uint8), n], {1: want})


@kernel()
def launch_geometry(rng: Any) -> Case:
    grid, block = (3, 2, 2), (5, 4, 3)
    rows = []
    for b in range(12):
        for t in range(60):
            bx, by, bz, tx, ty, tz = b % 3, b // 3 % 2, b // 6, t % 5, t // 5 % 4, t // 20
            place = bx + 10 * by + 100 * bz + 1000 * tx + 10000 * ty + 100000 * tz
            rows.append([place, 3 + 20 + 200 + 5000 + 400000 + 30000000, t % 32, (2 << t % 32) - 1])
    return Case(grid, block, [out((720, 4), np.int32)], {0: np.array(rows).astype(np.uint32).view(np.int32)})
