"""Launches of primitives.cu; sums of floats are of small whole numbers, so exact."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.programs.case import Case, out, program, s32


def each(names: str, build: Any) -> None:
    for name in names.split():
        program(name=name)(build)


def reduced(rng: Any) -> Case:
    a = rng.integers(-999, 999, 288).astype(np.int32)
    wide = int(a[96:192].sum()) << 30
    return Case(1, 96, [a, out(2, np.int32), out(1, np.int64)], {1: [a.sum(), a[:70].max()], 2: [wide]})


each("reduce_raking reduce_commutative reduce_warps", reduced)


def scanned(rng: Any) -> Case:
    a = rng.integers(-999, 999, 256).astype(np.int32)
    sums = np.cumsum(a.astype(np.int64))
    want = {1: s32((sums - a) ^ sums[-1]), 2: np.maximum.accumulate(a), 3: np.cumsum(a[::4])}
    return Case(1, 64, [a, out(256, np.int32), out(256, np.int32), out(64, np.float64)], want)


each("scan_raking scan_memoized scan_warps", scanned)


@program()
def radix_pairs(rng: Any) -> Case:
    a, v = rng.standard_normal(256), rng.integers(0, 99, 256).astype(np.int32)
    a[100:110] = a[5]
    a[7] = -np.inf
    order = np.argsort(-a, kind="stable")
    s = rng.integers(0, 65536, 256).astype(np.uint16)
    args = [a, v, out(256, np.float64), out(256, np.int32), s]
    return Case(1, 64, args, {2: a[order], 3: v[order], 4: np.sort(s)})


@program()
def merge_records(rng: Any) -> Case:
    kind = np.dtype([("key", np.int32), ("weight", np.int16), ("name", np.int8), ("pad", np.int8)])
    n = 170
    a = np.zeros(n, kind)
    a["key"], a["weight"], a["name"] = rng.integers(0, 20, n), rng.integers(0, 4, n), rng.integers(0, 99, n)
    order = sorted(range(n), key=lambda k: (int(a["key"][k]), -int(a["weight"][k])))
    result = out(8 * n, np.uint8)
    case = Case(1, 64, [a.view(np.uint8).copy(), result, n], {})

    def check(_: Any) -> None:
        got = case.args[1].view(kind)
        for field in ("key", "weight", "name"):
            np.testing.assert_array_equal(got[field], a[field][order])

    case.check = check
    case.free = (1,)
    return case


def counted(rng: Any) -> Case:
    a = (rng.standard_normal(320) * 9 + 30).clip(0, 63).astype(np.uint8)
    return Case(1, 64, [a, out(64, np.uint32)], {1: np.bincount(a, minlength=64)})


each("histogram_sort histogram_atomic", counted)


def moved(rng: Any) -> Case:
    a, n = rng.integers(-999, 999, 256).astype(np.int32), 221
    result = out(256, np.int32)
    want = result.copy()
    want[:n] = a[:n] * 10 + np.arange(n) % 4
    return Case(1, 64, [a, result, n], {1: want})


each("moves_vector moves_transposed moves_sliced", moved)


@program()
def differences(rng: Any) -> Case:
    a = np.repeat(rng.integers(-9, 9, 128), rng.integers(1, 4, 128))[:128].astype(np.int32)
    left, right = np.diff(a, prepend=100), np.append(a[:-1] - a[1:], a[-1] + 100)
    heads, tails = np.append(True, a[1:] != a[:-1]), np.append(a[1:] != a[:-1], True)
    return Case(1, 64, [a, *(out(128, np.int32) for _ in range(4))], {1: left, 2: right, 3: heads, 4: tails})


@program()
def decode_runs(rng: Any) -> Case:
    values, lengths = rng.integers(0, 1 << 60, 128).astype(np.uint64), rng.integers(1, 7, 128).astype(np.uint32)
    size = int(lengths.sum())
    o, offsets = out(800, np.uint64), out(800, np.uint32)
    want, within = o.copy(), offsets.copy()
    want[:size], within[:size] = np.repeat(values, lengths), np.concatenate([np.arange(n) for n in lengths])
    return Case(1, 64, [values, lengths, o, offsets, out(1, np.int32)], {2: want, 3: within, 4: [size]})


@program()
def ranks_matched(rng: Any) -> Case:
    a = rng.integers(0, 1 << 32, 192).astype(np.uint32)
    return Case(1, 64, [a, out(192, np.uint32)], {1: a[np.argsort(a >> 4 & 63, kind="stable")]})


@program()
def warp_sorts(rng: Any) -> Case:
    a, valid = rng.integers(-999, 999, 256).astype(np.int32), np.array([16, 3, 1, 9], np.int32)
    parts = np.sort(a.reshape(4, 64), axis=1)
    items = parts.reshape(64, 4)
    f = np.zeros((3, 64))
    for part in range(4):
        rows = items[part * 16 : part * 16 + 16]
        f[0, part * 16] = rows[: valid[part], 3].max() * 4
        heads = [t for t in range(16) if t == 0 or (part * 16 + t) % 5 == 0]
        for start, end in zip(heads, [*heads[1:], 16], strict=True):
            f[1, part * 16 + start] = rows[start:end, 0].sum()
    firsts = items[:, 0].reshape(2, 32)
    f[2] = (firsts.cumsum(1) - firsts.sum(1, keepdims=True)).ravel()
    return Case(1, 64, [a, out(256, np.int32), out(192, np.float32), valid], {1: parts, 2: f})


@program()
def device_sum(rng: Any) -> Case:
    a = rng.integers(-(1 << 31), 1 << 31, 1900).astype(np.int32)
    parts = [a[k : k + 500].astype(np.int64).sum() for k in range(0, 2000, 500)]
    args = [a, out(4, np.int64), np.zeros(1, np.uint32), out(1, np.int64), 1900, 500]
    return Case(4, 64, args, {1: parts, 2: [4], 3: [sum(parts)]})


@program()
def device_scan(rng: Any) -> Case:
    n, tile = 1000, 64 * 3
    a = rng.integers(-999, 999, n).astype(np.int32)
    tiles = -(-n // tile)
    case = Case(tiles, 64, [a, out(n, np.int32), np.zeros(32 + tiles, np.uint64), n], {1: a.cumsum() - a + 5}, cooperative=True)
    case.free = (2,)
    return case


@program()
def device_lowest(rng: Any) -> Case:
    a = rng.standard_normal(300)
    low = np.minimum.accumulate(a)
    places = [int(np.argmin(a[: k + 1])) for k in range(300)]
    return Case(1, 64, [a, out(300, np.float64), out(300, np.int64), 300], {1: low, 2: places})


@program()
def device_partition(rng: Any) -> Case:
    n = 500
    a = rng.integers(0, 1000, n).astype(np.int32)
    first = a[a % 5 < 2]
    status, count = np.zeros(32 + 4, np.uint64), out(1, np.int32)
    want = {1: np.concatenate([first, a[a % 5 >= 2][::-1]]), 3: [first.size]}
    case = Case(4, 64, [a, out(n, np.int32), status, count, n], want, cooperative=True)
    case.free = (2,)
    return case


@program()
def segment_sums(rng: Any) -> Case:
    lengths = rng.integers(0, 90, 20)
    starts = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    a = rng.integers(-9, 9, starts[-1]).astype(np.float32)
    sums = [a[begin:end].sum() for begin, end in itertools.pairwise(starts)]
    return Case(2, 128, [a, starts, out(20, np.float32), 20], {2: sums})
