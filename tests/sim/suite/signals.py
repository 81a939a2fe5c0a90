"""Launches of signals.cu; exact where numbers are whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Close, kernel, out, s32


@kernel()
def fourier(rng: Any) -> Case:
    n = 256
    x = rng.standard_normal((n, 2)).astype(np.float32)
    f = np.fft.fft(x[:, 0].astype(np.float64) + 1j * x[:, 1])
    # eight butterflies of a few roundings each, on sums that grow to about 40
    return Case(1, 128, [x, out((n, 2), np.float32), n], {1: Close(np.column_stack([f.real, f.imag]), atol=5e-5)})


@kernel()
def bitonic_block(rng: Any) -> Case:
    x = rng.integers(-(1 << 31), 1 << 31, 256).astype(np.int32)
    return Case(1, 64, [x.copy(), 256], {0: np.sort(x)})


@kernel()
def blelloch_scan(rng: Any) -> Case:
    x = rng.integers(-(1 << 31), 1 << 31, 256).astype(np.int32)
    sums = np.cumsum(x.astype(np.int64)) - x
    return Case(1, 128, [x, out(256, np.int32), 256], {1: s32([int(v) for v in sums])})


@kernel()
def heat(rng: Any) -> Case:
    x = rng.random((16, 16), np.float32)
    want = np.pad(x.astype(np.float64), 1)
    for _ in range(6):
        new = np.zeros_like(want)
        around = want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:]
        new[1:-1, 1:-1] = 0.5 * want[1:-1, 1:-1] + 0.125 * around
        want = new
    return Case(
        1, (16, 16), [x, out((16, 16), np.float32), 16, 6], {1: Close(want[1:-1, 1:-1], rtol=1e-5)}
    )  # 6 steps of 5 roundings


@kernel()
def game_of_life(rng: Any) -> Case:
    cells = rng.random((32, 32)) < 0.35
    rows = (cells << np.arange(32)).sum(1).astype(np.uint32)
    now = cells.astype(int)
    for _ in range(4):
        live = sum(np.roll(now, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)
        now = ((live == 3) | ((live == 2) & (now == 1))).astype(int)
    return Case(1, 32, [rows, out(32, np.uint32), 32, 4], {1: (now << np.arange(32)).sum(1)})


@kernel()
def merge_path(rng: Any) -> Case:
    a, b = (np.sort(rng.integers(0, 200, n)).astype(np.int32) for n in (150, 90))
    return Case(1, 64, [a, b, out(240, np.int32), 150, 90, 5], {2: np.sort(np.concatenate([a, b]))})


def distance(x: bytes, y: bytes) -> int:
    row = list(range(len(y) + 1))
    for i, p in enumerate(x, 1):
        before, row[0] = row[0], i
        for j, q in enumerate(y, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (p != q))
    return row[-1]


@kernel()
def edit_distance(rng: Any) -> Case:
    n = 20
    x, y = (rng.choice(list(b"abcd"), (2, n)).astype(np.int8) for _ in range(2))
    want = [distance(p.tobytes(), q.tobytes()) for p, q in zip(x, y, strict=True)]
    return Case(2, 32, [x, y, out(2, np.int32), n], {2: want})
