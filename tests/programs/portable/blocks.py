"""Launches of blocks.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.portable.case import Case, Close, out, program, s32

M32 = 0xFFFFFFFF


@program()
def bitonic_shared(rng: Any) -> Case:
    a = rng.integers(-40, 40, (2, 128)).astype(np.int32)
    return Case(2, 64, [a, out(a.shape, np.int32)], {0: np.sort(a, axis=1), 1: np.argsort(a, axis=1, kind="stable")})


@program()
def scan_block(rng: Any) -> Case:
    a = rng.integers(-99, 99, 501).astype(np.int32)
    return Case(1, 128, [a, out(501, np.int32), 501], {1: np.cumsum(a)})


@program()
def scan_tree(rng: Any) -> Case:
    a = rng.integers(-99, 99, 128).astype(np.float32)
    return Case(1, 64, [a], {0: np.cumsum(a) - a}, shared=512)


@program()
def histogram(rng: Any) -> Case:
    a = rng.integers(0, 256, 700).astype(np.uint8)
    return Case(3, 96, [a, np.zeros(64, np.uint32), 700], {1: np.bincount(a >> 2, minlength=64)})


@program()
def radix_pass(rng: Any) -> Case:
    a = rng.integers(0, 1 << 32, 64).astype(np.uint32)
    return Case(1, 64, [a, out(64, np.uint32), 8], {1: a[np.argsort(a >> 8 & 15, kind="stable")]})


@program()
def warp_reductions(rng: Any) -> Case:
    a, f = rng.integers(-999, 999, 64).astype(np.int32), rng.standard_normal(64).astype(np.float32)
    d = rng.integers(-999, 999, 64).astype(np.float64)
    rows = [x.reshape(2, 32) for x in (a, f, d)]
    want = {3: np.stack([rows[0].sum(axis=1), rows[0].max(axis=1)], axis=1), 4: rows[1].min(axis=1), 5: rows[2].sum(axis=1)}
    return Case(1, 64, [a, f, d, out(4, np.int32), out(2, np.float32), out(2, np.float64)], want)


@program()
def votes(rng: Any) -> Case:
    a = rng.integers(1, 64, 64).astype(np.int32)
    a[32:] = a[32:] % 32 + 32

    def mask(lanes: Any) -> int:
        return sum(1 << int(k) for k in lanes)

    want = []
    for t in range(64):
        lane, warp = t % 32, a[t // 32 * 32 :][:32]
        same = mask(np.flatnonzero(warp & 3 == warp[lane] & 3))
        whole = (warp >> 5 == warp[0] >> 5).all()
        part = np.arange(32) % 3 == 1
        r4 = 0
        if part[lane]:
            r4 = mask(np.flatnonzero(part & (warp & 2 > 0))) + int(warp[4]) + int((part & (warp & 1 == warp[lane] & 1)).sum())
        r5 = int((a & 4 > 0).sum()) * 4 + int((a > 0).all()) * 2 + int((a == 63).any())
        r1 = int((warp > 0).all()) | int((warp == 7).any()) << 1
        want.append([mask(np.flatnonzero(warp & 1)), r1, same, (M32 ^ 1 << 31) if whole else 0, r4 & M32, r5])
    return Case(1, 64, [a, out((64, 6), np.uint32)], {1: want})


@program()
def half_products(rng: Any) -> Case:
    a, b = (rng.integers(-8, 9, (32, 7, 2)).astype(np.float16) for _ in range(2))  # whole numbers: all is exact
    s, m = np.zeros((32, 2)), np.full((32, 2), -100.0)
    for k in range(7):
        x, y = a[:, k].astype(float), b[:, k].astype(float)
        s, m = s + x * y, np.maximum(m, x - y)
        m += np.where((x[:, :1] < y[:, 1:]), x[:, ::-1], 0)
    sums = (a.astype(float) * b).sum(axis=(1, 2))
    return Case(1, 32, [a, b, out((32, 2, 2), np.float16), out(32, np.float32), 7], {2: np.stack([s, m], axis=1), 3: sums})


@program()
def video(rng: Any) -> Case:
    a, b = (rng.integers(0, 1 << 32, 32).astype(np.uint32) for _ in range(2))
    want = []
    for x, y in zip(a, b, strict=True):
        ub, uc = (np.array([v]).view(np.uint8).astype(int) for v in (x, y))
        sb, sc = (np.array([v]).view(np.int8).astype(int) for v in (x, y))
        sh, tc = (np.array([v]).view(np.int16).astype(int) for v in (x, y))
        uh = np.array([x]).view(np.uint16).astype(int)
        row = [sb @ sc + 100, ub @ uc + 100, sh @ sc[:2] + 7, uh @ uc[2:] + 7, np.abs(ub - uc).sum() + 5, ub[2] + tc[1]]
        low, high = (np.minimum(sh, tc) & 0xFFFF).tolist()
        row += [high << 16 | low, (sh[0] * sc[3] - 12345) >> 7]
        want.append([int(v) for v in row])
    return Case(1, 32, [a, b, out((32, 8), np.int32)], {2: s32(want)})


@program()
def life(rng: Any) -> Case:
    a = (rng.random((16, 16)) < 0.4).astype(np.uint8)
    g = a.copy()
    for _ in range(4):
        n = sum(np.roll(g, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - g
        g = ((n == 3) | ((n == 2) & (g == 1))).astype(np.uint8)
    return Case(1, (16, 16), [a, out(a.shape, np.uint8), 4], {1: g})


@program()
def mandelbrot(rng: Any) -> Case:
    x0, y0, step, most = -2.0, -1.0, 0.25, 30
    want = np.zeros((8, 12), int)
    for j in range(8):
        for k in range(12):
            x = y = 0.0
            while want[j, k] < most and x * x + y * y <= 4:
                x, y = x * x - y * y + (x0 + step * k), 2 * x * y + (y0 + step * j)
                want[j, k] += 1
    return Case(1, (12, 8), [out((8, 12), np.int32), x0, y0, step, most], {0: want})


@program()
def bodies(rng: Any) -> Case:
    a = rng.standard_normal((64, 4)).astype(np.float32)
    d = (a[None, :, :3] - a[:, None, :3]).astype(np.float64)
    r = a[:, 3] * ((d**2).sum(axis=2) + 0.25) ** -1.5
    want = np.concatenate([(d * r[..., None]).sum(axis=1), a[:, 3:]], axis=1)
    return Case(2, 32, [a, out(a.shape, np.float32), 64], {1: Close(want, rtol=1e-4, atol=1e-4)})


@program()
def tickets(rng: Any) -> Case:
    cells, n, w = np.zeros(5, np.int32), 4, 40
    order = out(n, np.int32)
    total = sum((b << 20 | t) for b in range(n) for t in range(w))
    want = {0: [n, 0, n, (n - 1) * 100 + w - 1, 0], 1: [total]}
    case = Case(n, w, [cells, np.zeros(1, np.uint64), order], want, free=(2,))

    def each_once(module: Any) -> None:
        assert sorted(order.tolist()) == [*range(n)]

    case.check = each_once
    return case


@program()
def transpose_tiles(rng: Any) -> Case:
    a = rng.random((21, 35), np.float32)
    return Case((3, 2), (16, 4), [a, out((35, 21), np.float32), 35, 21], {1: a.T})
