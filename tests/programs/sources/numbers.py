"""Launches of numbers.cu. Where floating-point sums may be fused or reordered, a result may be off by some last places."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tests.programs.case import Case, Close, longs, out, program, words

P = (1 << 64) - (1 << 32) + 1


@program()
def number_transform(rng: Any) -> Case:
    root = pow(7, (P - 1) // 256, P)
    a = [[int(x) % P for x in row] for row in rng.integers(0, 1 << 63, (2, 256)) * 2]
    powers = [pow(root, k, P) for k in range(256)]
    want = [[sum(x * powers[j * k % 256] for j, x in enumerate(row)) % P for k in range(256)] for row in a]
    return Case(2, 128, [longs(a), longs(powers[:128]), out((2, 256), np.uint64)], {2: longs(want)})


@program()
def fourier_four(rng: Any) -> Case:
    a = rng.standard_normal((2, 64)) + 1j * rng.standard_normal((2, 64))
    want = np.fft.fft(a, axis=1)
    flat, result = a.view(np.float64).copy(), out((2, 128), np.float64)
    return Case(2, 16, [flat, result], {1: Close(want.view(np.float64), atol=1e-12)})


@program()
def cosine_blocks(rng: Any) -> Case:
    a = rng.integers(-128, 128, (2, 8, 8)).astype(np.float32)
    k = np.arange(8)
    basis = np.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16) * np.where(k[:, None], 0.5, math.sqrt(0.125))
    want = basis @ a.astype(np.float64) @ basis.T
    return Case(2, (8, 8), [a, out(128, np.float32)], {1: Close(want, atol=1e-3)})


@program()
def cholesky(rng: Any) -> Case:
    n = 16
    b = rng.standard_normal((2, n, n))
    a = b @ b.transpose(0, 2, 1) + n * np.eye(n)
    want = np.where(np.tri(n, dtype=bool), np.linalg.cholesky(a), a)
    return Case(2, 32, [a, n], {0: Close(want, rtol=1e-11, atol=1e-12)})


@program()
def inverse(rng: Any) -> Case:
    n = 16
    a = rng.standard_normal((n, n)) + 3 * np.eye(n)
    return Case(1, n, [a, out((n, n), np.float64), n], {0: Close(np.eye(n), atol=1e-12), 1: Close(np.linalg.inv(a), atol=1e-10)})


@program()
def eigenvalues(rng: Any) -> Case:
    a = rng.standard_normal((32, 4, 4)).astype(np.float32)
    a = a + a.transpose(0, 2, 1)
    case = Case(1, 32, [a, out((32, 4), np.float32)], {})
    want = np.linalg.eigvalsh(a.astype(np.float64))
    case.check = lambda _: np.testing.assert_allclose(np.sort(case.args[1], axis=1), want, atol=1e-4)
    case.free = (1,)
    return case


@program()
def conjugate_gradients(rng: Any) -> Case:
    b = rng.standard_normal(128)
    matrix = 2.5 * np.eye(128) - np.eye(128, k=1) - np.eye(128, k=-1)
    turns = out(1, np.int32)
    case = Case(1, 128, [b, out(128, np.float64), turns], {1: Close(np.linalg.solve(matrix, b), atol=1e-10)})
    case.check = lambda _: None if 10 < case.args[2][0] < 80 else case.args[2].fail()
    case.free = (2,)
    return case


@program()
def three_diagonals(rng: Any) -> Case:
    a, c, d = (rng.uniform(-1, 1, (2, 64)).astype(np.float32) for _ in range(3))
    b = rng.uniform(3, 4, (2, 64)).astype(np.float32)
    want = []
    for k in range(2):
        full = np.diag(b[k].astype(np.float64)) + np.diag(a[k, 1:], -1) + np.diag(c[k, :-1], 1)
        want.append(np.linalg.solve(full, d[k]))
    return Case(2, 64, [a, b, c, d, out((2, 64), np.float32)], {4: Close(want, atol=1e-5)})


@program()
def wave(rng: Any) -> Case:
    start = rng.standard_normal((8, 32)).astype(np.float32)
    now, then = start.astype(np.float64), start.astype(np.float64)
    for _ in range(9):
        near = now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1] - 4 * now[1:-1, 1:-1]
        step = now.copy()
        step[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - then[1:-1, 1:-1] + 0.25 * near
        now, then = step, now
    return Case(1, (32, 8), [start, out((8, 32), np.float32), 9], {1: Close(now, atol=1e-4)})


@program()
def lorenz(rng: Any) -> Case:
    start = rng.uniform(-5, 5, (32, 3))

    def slope(q: Any) -> Any:
        return np.stack([10 * (q[:, 1] - q[:, 0]), q[:, 0] * (28 - q[:, 2]) - q[:, 1], q[:, 0] * q[:, 1] - 8 / 3 * q[:, 2]], 1)

    p = start.copy()
    for _ in range(20):
        k1 = slope(p)
        k2 = slope(p + 0.005 * k1)
        k3 = slope(p + 0.005 * k2)
        p = p + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + slope(p + 0.01 * k3))
    return Case(1, 32, [start, out((32, 3), np.float64), 20], {1: Close(p, rtol=1e-11)})


@program()
def lattice(rng: Any) -> Case:
    f = rng.integers(0, 4000, (9, 16, 16)).astype(np.int32)
    dx, dy, w = [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1], [16, 4, 4, 4, 4, 1, 1, 1, 1]

    def quotient(a: Any, b: int) -> Any:
        return np.sign(a) * (np.abs(a) // b)

    now = f.astype(np.int64)
    for _ in range(4):
        total = now.sum(0)
        mx, my = (sum(d[k] * now[k] for k in range(9)) for d in (dx, dy))
        calm = [quotient(w[k] * (total + 3 * (dx[k] * mx + dy[k] * my)), 36) for k in range(9)]
        now = np.stack([np.roll(now[k] + quotient(calm[k] - now[k], 2), (dy[k], dx[k]), (0, 1)) for k in range(9)])
    return Case(1, (16, 16), [f, out((9, 16, 16), np.int32), 4], {1: now})


@program()
def median(rng: Any) -> Case:
    image = rng.integers(0, 256, (6, 64)).astype(np.uint8)
    wide = np.pad(image, 1, mode="edge")
    want = np.median([wide[j : j + 6, i : i + 64] for j in range(3) for i in range(3)], axis=0)
    return Case((2, 6), 32, [image, out((6, 64), np.uint8), 64, 6], {1: want})


@program()
def edges(rng: Any) -> Case:
    image = rng.integers(0, 256, (6, 64, 4)).astype(np.uint8)
    grey = (image[..., :3].astype(np.int64) @ [77, 150, 29]) >> 8
    gx = gy = np.zeros_like(grey)
    for j in (-1, 0, 1):
        for i in (-1, 0, 1):
            moved = np.roll(grey, (-j, -i), (0, 1))
            gx, gy = gx + i * (1 if j else 2) * moved, gy + j * (1 if i else 2) * moved
    return Case((2, 6), 32, [image, out((6, 64), np.int32), 64, 6], {1: np.abs(gx) + np.abs(gy)})


@program()
def integral_image(rng: Any) -> Case:
    image = rng.integers(0, 256, (64, 64)).astype(np.uint8)
    return Case(1, 128, [image, out((64, 64), np.uint32)], {1: image.astype(np.int64).cumsum(0).cumsum(1)})


@program()
def nearest_means(rng: Any) -> Case:
    points = rng.integers(-500, 500, (200, 2)).astype(np.int32)
    start = points[:5].copy()
    means = start.astype(np.int64)
    for _ in range(4):
        label = ((points[:, None] - means[None]) ** 2).sum(-1).argmin(1)
        for c in range(5):
            if (label == c).any():
                total, count = points[label == c].astype(np.int64).sum(0), np.count_nonzero(label == c)
                means[c] = np.sign(total) * (np.abs(total) // count)
    return Case(1, 64, [points, start, out(200, np.int32), 200, 5, 4], {1: means, 2: label})


@program()
def option_prices(rng: Any) -> Case:
    s, x, y = (rng.uniform(low, high, 64).astype(np.float32) for low, high in ((50, 150), (60, 140), (0.25, 3)))
    v, r = 0.3 * np.sqrt(y.astype(np.float64)), 0.02 * y.astype(np.float64)
    d = (np.log(s / x.astype(np.float64)) + r + v * v / 2) / v
    normal = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))
    return Case(2, 32, [s, x, y, out(64, np.float32)], {3: Close(s * normal(d) - x * np.exp(-r) * normal(d - v), atol=1e-4)})


@program()
def spheres(rng: Any) -> Case:
    balls = np.concatenate([rng.uniform(-1, 1, (6, 2)), rng.uniform(3, 6, (6, 1)), rng.uniform(0.3, 1, (6, 1))], 1).astype(
        np.float32
    )
    x, y = np.meshgrid((np.arange(32) - 16) * 0.0625, (np.arange(8) - 4) * 0.0625)
    a = x * x + y * y + 1
    roots = []
    for bx, by, bz, radius in balls.astype(np.float64):
        h = x * bx + y * by + bz
        d = h * h - a * (bx * bx + by * by + bz * bz - radius * radius)
        roots.append(np.where(d < 0, 1e30, (h - np.sqrt(np.maximum(d, 0))) / a))
    near = np.min(roots, axis=0)
    hit = np.where(near < 1e30, np.argmin(roots, axis=0), -1)
    args = [balls, out((8, 32), np.int32), out((8, 32), np.float32), 6, 32]
    return Case((1, 8), 32, args, {1: hit, 2: Close(near, rtol=1e-3)})


@program()
def many_digits(rng: Any) -> Case:
    count = 24
    term = total = 1 << 32 * (count - 1)
    for k in range(1, 80):
        term //= k
        total += term
    assert abs(Fraction(total, 1 << 32 * (count - 1)) - Fraction(math.e)) < Fraction(1, 1 << 50)
    want = words([total >> 32 * k & 0xFFFFFFFF for k in reversed(range(count))])
    return Case(1, 32, [out(count, np.uint32), count, 80], {0: want})
