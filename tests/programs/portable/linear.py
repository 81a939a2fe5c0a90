"""Launches of linear.cu; matrices of small whole numbers where sums are to be exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.portable.case import Case, Close, out, program


@program()
def dgemm_tiled(rng: Any) -> Case:
    a, b = rng.integers(-9, 9, (32, 11)).astype(np.float64), rng.integers(-9, 9, (11, 64)).astype(np.float64)
    return Case(1, (8, 4), [a, b, out((32, 64), np.float64), 64, 11], {2: a @ b})


@program()
def sgemm_shared(rng: Any) -> Case:
    a, b = (rng.integers(-9, 9, (64, 64)).astype(np.float32) for _ in range(2))
    return Case((2, 2), (8, 8), [a, b, out((64, 64), np.float32), 64], {2: a @ b})


@program()
def lu_registers(rng: Any) -> Case:
    a = rng.random((16, 8, 8)) + 8 * np.eye(8)
    want = []
    for m in a:
        lower = [np.linalg.det(m[:k, :k]) for k in range(9)]  # by minors: l[i,j] = |rows ..j,i| / |..j|, u likewise
        lu = np.empty((8, 8))
        for i in range(8):
            for j in range(8):
                k = min(i, j)
                rows, columns = [*range(k), i], [*range(k), j]
                lu[i, j] = np.linalg.det(m[np.ix_(rows, columns)]) / lower[k + 1 if j < i else k]
        want.append(lu)
    return Case(1, 16, [a], {0: Close(np.array(want), rtol=1e-11, atol=1e-12)})


@program()
def cholesky_registers(rng: Any) -> Case:
    lower = np.tril(rng.integers(-3, 4, (16, 10, 10))).astype(np.float64)
    lower[:, range(10), range(10)] = rng.integers(1, 5, (16, 10))
    a = (lower @ lower.transpose(0, 2, 1)).astype(np.float32)
    return Case(1, 16, [a], {0: Close(lower, atol=2e-3)})  # sums of floats, divided again and again by numbers from one on


@program()
def inverse_registers(rng: Any) -> Case:
    a = rng.random((16, 8, 8)) + 5 * np.eye(8)
    return Case(1, 16, [a], {0: Close(np.linalg.inv(a), atol=1e-13)})


@program()
def inverse_pivoted(rng: Any) -> Case:
    a = rng.permuted(np.eye(5)[None].repeat(32, 0), axis=1) * 3 + rng.random((32, 5, 5)) - 0.5
    a = np.array([m if np.linalg.cond(m) < 30 else np.eye(5)[::-1] for m in a], np.float32)
    return Case(1, 32, [a], {0: Close(np.linalg.inv(a.astype(np.float64)), atol=2e-4)})


@program()
def live_doubles(rng: Any) -> Case:
    a = rng.integers(-512, 512, (32, 72)).astype(np.float64)
    v = a.copy()
    for _ in range(3):  # in place: later ones see earlier ones
        first = v[:, 0].copy()
        for k in range(72):
            v[:, k] = v[:, (k * 7 + 1) % 72] * 0.5 + (v[:, k + 1] if k < 71 else first)
    return Case(1, 32, [a, out(a.shape, np.float64)], {1: v})


@program()
def live_words(rng: Any) -> Case:
    a = rng.integers(-99, 99, (32, 48)).astype(np.int32)
    return Case(1, 32, [a, out(a.shape, np.int32)], {1: np.sort(a, axis=1)})


@program()
def fourier_64(rng: Any) -> Case:
    a = (rng.standard_normal((8, 64)) + 1j * rng.standard_normal((8, 64))).astype(np.complex64)
    turns = np.exp(-2j * np.pi * np.arange(64) / 64).astype(np.complex64)
    want = np.fft.fft(a.astype(np.complex128), axis=1).astype(np.complex64)
    args = [a.view(np.float32), out((8, 128), np.float32), turns.view(np.float32)]
    return Case(1, 8, args, {1: Close(want.view(np.float32), atol=2e-5)})


@program()
def kmeans_step(rng: Any) -> Case:
    points, centres = (rng.integers(-20, 20, (n, 2)).astype(np.float32) for n in (96, 5))
    near = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    sums = np.array([points[near == c].sum(axis=0) for c in range(5)])
    counts = np.bincount(near, minlength=5)
    args = [points, centres, out((5, 2), np.float32), out(5, np.int32), out(96, np.int32), 96, 5]
    return Case(1, 64, args, {2: sums, 3: counts, 4: near})


@program()
def quaternion_power(rng: Any) -> Case:
    a = rng.integers(-2, 3, (32, 4)).astype(np.float64)

    def matrix(q: Any) -> Any:  # a quaternion as a matrix; products of whole numbers are exact
        x, y, z, w = q
        return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])

    want = [np.linalg.matrix_power(matrix(q), 11)[:, 3] for q in a]
    return Case(1, 32, [a, out(a.shape, np.float64), 11], {1: want})
