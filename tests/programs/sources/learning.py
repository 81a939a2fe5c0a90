"""Launches of learning.cu. Fast exponentials, fused sums and sums in another order make the last places differ."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.case import Case, Close, out, program

F16, F32 = np.float16, np.float32


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@program()
def softmax_online(rng: Any) -> Case:
    x = (rng.standard_normal((19, 300)) * 9).astype(F32)
    want = Close(softmax(x.astype(np.float64) * 0.7), rtol=2e-5, atol=1e-12)
    return Case(5, 128, [x, out(x.shape, F32), 19, 75, F32(0.7)], {1: want})


@program()
def norm_welford(rng: Any) -> Case:
    rows, n = 6, 330
    residual, x = ((rng.standard_normal((rows, n)) * 3 + 1).astype(F32) for _ in range(2))
    gain, bias = rng.standard_normal((2, n)).astype(F32)
    sums = residual + x
    deep = sums.astype(np.float64)
    mean, scale = deep.mean(1), 1 / np.sqrt(deep.var(1) + 1e-5)
    y = (deep - mean[:, None]) * scale[:, None] * gain + bias
    args = [residual, x, gain, bias, out((rows, n), F32), out((rows, 2), F32), n, F32(1e-5)]
    return Case(rows, 128, args, {0: sums, 4: Close(y, atol=2e-5), 5: Close(np.stack([mean, scale], 1), rtol=2e-6, atol=2e-6)})


@program()
def attend_cached(rng: Any) -> Case:
    heads, room = 5, 48
    q = rng.standard_normal((heads, 64)).astype(F16)
    keys, values = (rng.standard_normal((heads, room, 64)).astype(F16) for _ in range(2))
    lengths = np.array([48, 1, 17, 40, 3], np.int32)
    want = []
    for head, length in enumerate(lengths):
        scores = keys[head, :length].astype(np.float64) @ q[head].astype(np.float64) / 8
        want.append(softmax(scores) @ values[head, :length].astype(np.float64))
    return Case(heads, 128, [q, keys, values, lengths, out((heads, 64), F16), room], {4: Close(want, ulp=1, atol=1e-5)})


@program()
def conv_direct(rng: Any) -> Case:
    images, channels, height, width, filters = 2, 3, 13, 17, 4
    x = rng.standard_normal((images, channels, height, width)).astype(F32)
    w, bias = rng.standard_normal((filters, channels, 3, 3)).astype(F32), rng.standard_normal(filters).astype(F32)
    out_height, out_width = (height + 1) // 2, (width + 1) // 2
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = np.zeros((images, filters, out_height, out_width)) + bias[:, None, None]
    for j in range(3):
        for i in range(3):
            part = wide[:, :, j : j + height : 2, i : i + width : 2]
            sums += np.einsum("bcyx,fc->bfyx", part, w[:, :, j, i].astype(np.float64))
    want = np.where(sums > 0, sums, 0.01 * sums)
    shape = struct.pack("<7i", channels, height, width, filters, out_height, out_width, 1)
    return Case((2, filters, images), 32, [x, w, bias, out(want.shape, F32), shape], {3: Close(want, atol=1e-5)})


@program()
def gemm_batched(rng: Any) -> Case:
    batch, m, n, k = 3, 27, 20, 30
    a, b = rng.standard_normal((batch, m, k)).astype(F32), rng.standard_normal((batch, k, n)).astype(F32)
    c = rng.standard_normal((batch, m, n)).astype(F32)
    want = 1.5 * (a.astype(np.float64) @ b.astype(np.float64)) - 0.25 * c
    args = [a, b, c, m, n, k, F32(1.5), F32(-0.25), m * k, k * n, m * n]
    return Case((2, 2, batch), (16, 8), args, {2: Close(want, atol=3e-5)})


@program()
def embedding_bags(rng: Any) -> Case:
    words, width, bags = 50, 24, 20
    table = rng.standard_normal((words, 4 * width)).astype(F32)
    offsets = np.cumsum([0, *rng.integers(0, 9, bags)]).astype(np.int32)
    indices = rng.integers(0, words, offsets[-1])
    indices[::5] = 7
    want = np.zeros((bags, 4 * width))
    for bag in range(bags):
        some = [i for i in indices[offsets[bag] : offsets[bag + 1]] if i != 7]
        if some:
            want[bag] = table[some].astype(np.float64).mean(0)
    args = [table, indices, offsets, out(want.shape, F32), bags, width, 7]
    return Case(5, (16, 4), args, {3: Close(want, atol=2e-6)})


@program()
def quantise_rows(rng: Any) -> Case:
    rows, fours = 10, 80
    x = (rng.standard_normal((rows, 4 * fours)) * rng.uniform(0.1, 20, (rows, 1))).astype(F32)
    x[4] = 0
    scales = np.abs(x).max(1) / F32(127)
    with np.errstate(invalid="ignore"):
        codes = np.where(scales[:, None] > 0, np.rint(x / scales[:, None]), 0).astype(F32)
    lost = x - codes * scales[:, None]
    args = [x, out(x.shape, np.int8), out(rows, F32), out(x.shape, F32), fours]
    return Case(rows, 64, args, {1: codes, 2: scales, 3: lost})


@program()
def gemv_int4(rng: Any) -> Case:
    rows, columns = 26, 320
    codes, zeros = rng.integers(0, 16, (rows, columns)), rng.integers(0, 16, rows * columns // 32)
    scales = rng.uniform(0.01, 0.1, rows * columns // 32).astype(F16)
    x = rng.standard_normal(columns).astype(F16)
    words = (codes.reshape(rows, -1, 8) << 4 * np.arange(8)).sum(-1).astype(np.uint32)
    nibbles = (zeros[::2] | zeros[1::2] << 4).astype(np.uint8)
    matrix = (codes.reshape(-1, 32) - zeros[:, None]) * scales.astype(np.float64)[:, None]
    want = matrix.reshape(rows, columns) @ x.astype(np.float64)
    return Case(7, 128, [words, scales, nibbles, x, out(rows, F32), rows, columns], {4: Close(want, atol=1e-4)})


@program()
def adam_step(rng: Any) -> Case:
    n, turn = 900, 7
    w, m = rng.standard_normal((2, n)).astype(F32)
    v, g = rng.random(n).astype(F32), (rng.standard_normal(n) * 64).astype(F16)
    rates = [float(F32(x)) for x in (0.01, 0.9, 0.999, 1e-8, 0.1, 64)]
    rate, first, second, epsilon, decay, scale = rates
    deep, grad = w.astype(np.float64), g.astype(np.float64) / scale
    mean, square = first * m + (1 - first) * grad, second * v + (1 - second) * grad**2
    step = mean / (1 - first**turn) / (np.sqrt(square / (1 - second**turn)) + epsilon) + decay * deep
    new = deep - rate * step
    close = Close(new, rtol=1e-4, atol=2e-5)  # 1 - 0.999^7 has lost ten bits
    args = [w, g, m, v, out(n, F16), np.zeros(1, np.int32), n, struct.pack("<6fi", *rates, turn)]
    halves = Close(new, ulp=1, atol=2e-5)
    return Case(4, 128, args, {0: close, 2: Close(mean, atol=1e-6), 3: Close(square, atol=1e-6), 4: halves})


@program()
def top_k_rows(rng: Any) -> Case:
    rows, n = 14, 230
    x = np.round(rng.standard_normal((rows, n)) * 40).astype(F32)
    order = np.argsort(-x, axis=1, kind="stable")[:, :5]
    args = [x, out((rows, 5), F32), out((rows, 5), np.int32), rows, n]
    return Case(4, 128, args, {1: np.take_along_axis(x, order, 1), 2: order})


@program()
def entropy_loss(rng: Any) -> Case:
    rows, n, smooth = 8, 210, float(F32(0.1))
    x = (rng.standard_normal((rows, n)) * 4).astype(F32)
    labels = rng.integers(0, n, rows)
    labels[2] = labels[6] = -100
    deep, counted = x.astype(np.float64), labels >= 0
    everything = np.log(np.exp(deep).sum(1))
    losses = (1 - smooth) * (everything - deep[np.arange(rows), labels % n]) + smooth * (everything - deep.mean(1))
    losses = np.where(counted, losses, 0)
    gradient = softmax(deep) - smooth / n - (1 - smooth) * (np.arange(n) == labels[:, None])
    gradient *= counted[:, None]
    total = np.zeros(1, np.uint64)
    case = Case(rows, 96, [x, labels, out(rows, F32), total, n, F32(smooth), -100], {})
    case.want = {0: Close(gradient, atol=3e-6), 2: Close(losses, rtol=2e-6)}
    case.free = (3,)
    case.check = lambda _: np.testing.assert_allclose(int(case.args[3][0]) / 2**20, losses.sum(), rtol=1e-5)
    return case


@program()
def rope_bf16(rng: Any) -> Case:
    tokens, heads, size = 6, 3, 64
    x = rng.standard_normal((tokens, heads, size)).astype(ml_dtypes.bfloat16)
    places = rng.integers(0, 2000, tokens).astype(np.int32)
    angles = places[:, None, None] * 10000.0 ** (-2 * np.arange(size // 2) / size)
    a, b = x[..., : size // 2].astype(np.float64), x[..., size // 2 :].astype(np.float64)
    want = np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)
    close = Close(want, ulp=1, atol=2e-3)  # an angle of 2000 has 13 bits behind the point
    return Case(tokens, 64, [x, places, heads, size, F32(10000)], {0: close})
