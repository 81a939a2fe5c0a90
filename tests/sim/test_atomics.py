"""Atomics and reductions of every type and width, in vendor-made cubins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sim.vendor_cubins import module

Array = np.ndarray[Any, Any]
targets = pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
newer = pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
OPERATIONS = 12


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def applied(operation: int, old: int, x: int, bits: int) -> int:
    """What the thread of `atomics.cu` leaves behind."""
    return [
        lambda: (old + x) % (1 << bits),
        lambda: min(old, x),
        lambda: max(old, x),
        lambda: min(old, x, key=lambda v: signed(v, bits)),
        lambda: max(old, x, key=lambda v: signed(v, bits)),
        lambda: old & x,
        lambda: old | x,
        lambda: old ^ x,
        lambda: x,
        lambda: 0 if old >= x else old + 1,
        lambda: x if old == 0 or old > x else old - 1,
        lambda: x >> 2 & 3 if old == x & 3 else old,
    ][operation]()


@targets
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_integers(target: str, space: str, bits: int) -> None:
    dtype = np.uint32 if bits == 32 else np.uint64
    random = np.random.default_rng(bits)
    cells = random.integers(0, 1 << bits, OPERATIONS, dtype=dtype)
    xs = random.integers(0, 1 << bits, (OPERATIONS, 32), dtype=dtype)
    xs[9:] = random.integers(0, 16, (OPERATIONS - 9, 32), dtype=dtype)
    cells[9:] = random.integers(0, 4, OPERATIONS - 9, dtype=dtype)
    wanted_olds = np.zeros_like(xs)
    wanted = cells.copy()
    for operation in range(OPERATIONS):
        if bits == 64 and operation in {9, 10}:
            continue  # increments have 32 bits
        for t in range(32):
            wanted_olds[operation, t] = wanted[operation]
            wanted[operation] = applied(operation, int(wanted[operation]), int(xs[operation, t]), bits)
    olds = np.zeros_like(xs)
    module("atomics", target).launch(f"{space}{bits}", OPERATIONS, 32, [cells, xs, olds])
    assert (olds == wanted_olds).all()
    assert (cells == wanted).all()


def flushed(x: Array) -> Array:
    """Denormals become zeros of their sign."""
    tiny = np.abs(x) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), x), x).astype(np.float32)


@targets
def test_floats(target: str) -> None:
    random = np.random.default_rng(5)
    x = random.standard_normal((8, 16)).astype(np.float32)
    x[1, [0, 6]] = x[2, [0, 6]] = np.float32(3e-39)
    memory = random.standard_normal(16).astype(np.float32)
    memory[[0, 6]] = np.float32(2e-39), np.float32(1e-39)
    x[0, [0, 6]] = 0
    x.view(np.float64)[:, 1] = random.standard_normal(8)
    memory.view(np.float64)[1] = 1e-3
    halves = x.view(np.float16)
    halves[:, 8:12] = random.standard_normal((8, 4)).astype(np.float16)
    memory.view(np.float16)[8:12] = 1
    want, last = memory.copy(), memory.copy()
    newer = target != "sm_80"
    for row in x:
        last = want.copy()
        for i in [0, 1] + ([8, 9, 12, 13, 14, 15] if newer else []):
            want[i] = flushed(flushed(want[i]) + flushed(row[i]))
        want.view(np.float64)[1] += row.view(np.float64)[1]
        want.view(np.float16)[8:12] += row.view(np.float16)[8:12]
        want[6] += row[6]  # in shared memory denormals stay
    got, olds = memory.copy(), np.zeros(16, np.uint32)
    rows = x.copy()
    if newer:  # pairs of bfloat16: 1 and 2 to 1 and 1
        got.view(np.uint32)[7], rows.view(np.uint32)[:, 7] = 0x3F803F80, 0x3F804000
    module("atomics", target).launch("floats", 1, 1, [got, rows, olds])
    if newer:
        assert got.view(np.uint32)[7] == 0x41104188  # 9 and 17
        got[7] = want[7]
        assert olds[[8, 9, 15]].tolist() == last.view(np.uint32)[[8, 9, 15]].tolist()
    assert got.view(np.uint32).tolist() == want.view(np.uint32).tolist()
    assert olds[[0, 2, 3, 4]].tolist() == last.view(np.uint32)[[0, 2, 3, 4]].tolist()


@newer
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_vectors_of_halves(target: str, kind: str) -> None:
    random = np.random.default_rng(6)

    def bits(values: Array) -> Array:
        if kind == "f16":
            return values.astype(np.float16).view(np.uint16)
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)

    def numbers(raw: Array) -> Array:
        if kind == "f16":
            return raw.view(np.float16).astype(np.float32)
        return (raw.astype(np.uint32) << 16).view(np.float32)

    # whole numbers that stay small: sums are exact
    memory, x = bits(random.integers(-8, 8, 24)), bits(random.integers(-8, 8, (8, 24)))
    want = numbers(memory)
    for row in x:
        last = want.copy()
        want[:8] += numbers(row)[:8]
        want[8:12] = np.minimum(want[8:12], numbers(row)[8:12])
        want[12:] = np.maximum(want[12:], numbers(row)[12:])
    olds = np.zeros(12, np.uint16)
    module("atomics", target).launch(f"halves_{kind}", 1, 1, [memory, x, olds])
    assert numbers(memory).tolist() == want.tolist()
    assert numbers(olds[[0, 1, 6, 7, 8, 9, 10, 11]]).tolist() == last[[0, 1, 6, 7, 8, 9, 10, 11]].tolist()


@newer
def test_128_bits(target: str) -> None:
    memory = np.arange(100, 106, dtype=np.uint64)
    x = np.array([1, 2, 102, 0, 102, 103, 7, 8, 104, 105, 9, 10, 11, 12], np.uint64)
    olds = np.zeros(10, np.uint64)
    module("atomics", target).launch("wide", 1, 1, [memory, x, olds])
    assert memory.tolist() == [1, 2, 7, 8, 11, 12]
    assert olds.tolist() == [100, 101, 102, 103, 102, 103, 104, 105, 9, 10]


@targets
def test_generic_addresses(target: str) -> None:
    """The unit does some atomics in some spaces only; code has another way for the rest."""
    memory = np.array([5, 7, 9, 11, 0, 0, 0, 13], np.uint64)
    memory[4:6] = np.float32(1.5).view(np.uint32), np.float64(2.5).view(np.uint64)
    xs = np.zeros((4, 8), np.uint64)
    xs[:, 0] = 1 << 40
    xs[:, 1] = [3, 9, np.uint64(-5 & (1 << 64) - 1), 1]
    xs[:, 2], xs[:, 3], xs[:, 7] = [1, 2, 3, 4], [10, 11, 12, 13], 0xF0F
    xs[:, 4:6] = np.float32(0.25).view(np.uint32), np.float64(0.125).view(np.uint64)
    xs[:, 6] = 0x3C003800  # 1 and 0.5
    out = np.zeros((3, 8), np.uint64)
    module("atomics", target).launch("generic", 1, 1, [memory, xs, out])
    want = [
        5 + (4 << 40),
        (1 << 64) - 5,
        4,
        14,
        int(np.float32(2.5).view(np.uint32)),
        int(np.float64(3).view(np.uint64)),
        0x44004000,
        13,
    ]
    assert memory.tolist() == want
    assert out[1].tolist() == want
    want[6] = 4 * 0x3C003800  # in local memory code of ptxas adds pairs of halves as integers
    assert out[2].tolist() == want
    sums = 9 + 1 + 2 + 3 + 2 * 13 + 2 * (13 ^ 0xF0F)  # what EXCH and XOR found
    assert out[0, :3].tolist() == [sums] * 3


@pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
def test_wide_loads_and_multicast_objects(target: str) -> None:
    x = np.random.default_rng(7).integers(-1000, 1000, (33, 8), dtype=np.int32)
    out = np.zeros((32, 32), np.int32)
    module("wide", target).launch("wide", 1, 32, [x, out])
    for t in range(32):
        row = x[t].tolist()
        want = [*row[::-1], row[0], row[2], row[5], row[7], row[3], *row[4:], 78, row[0]]
        assert out[t].tolist() == want + [0] * 13
