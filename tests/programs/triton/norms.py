"""Launches of the kernels that reduce rows."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.triton.case import Array, Close, Launch, out, register

Random = np.random.Generator
BF16 = ml_dtypes.bfloat16


def _some(rng: Random, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32)


def _softmax(x: Array) -> Array:
    v = x.astype(np.float64)
    v = np.exp(v - v.max(-1, keepdims=True))
    found: Array = v / v.sum(-1, keepdims=True)
    return found


def _softmax_launch(dtype: Any, n: int, stride: int) -> Any:
    def build(rng: Random) -> Launch:
        x, y = _some(rng, 3, stride).astype(dtype), out((3, stride), dtype)
        want = y.astype(np.float64)
        want[:, :n] = _softmax(x[:, :n])
        return Launch(3, [x, y, stride, n], {1: Close(want, ulp=1 if dtype != np.float32 else 0, rtol=2e-6)})

    return build


register(
    "softmax_f32", "rows.softmax", "*fp32 *fp32 i32 i32", _softmax_launch(np.float32, 781, 784), aligned="stride", BLOCK=1024
)
register("softmax_f32_ragged", "rows.softmax", "*fp32 *fp32 i32 i32", _softmax_launch(np.float32, 129, 131), BLOCK=256)
register(
    "softmax_bf16",
    "rows.softmax",
    "*bf16 *bf16 i32 i32",
    _softmax_launch(BF16, 2000, 2000),
    aligned="stride",
    options={"num_warps": 8},
    BLOCK=2048,
)


def softmax_persistent(rng: Random) -> Launch:
    rows, n = 7, 250
    x = _some(rng, rows, n)
    return Launch(2, [x, out(x.shape, np.float32), n, rows, n], {1: Close(_softmax(x), rtol=2e-6)})


register("softmax_persistent", "rows.softmax_persistent", "*fp32 *fp32 i32 i32 i32", softmax_persistent, BLOCK=256, STAGES=3)


def softmax_online(rng: Random) -> Launch:
    rows, n = 2, 1111
    x = (3 * _some(rng, rows, n)).astype(np.float16)
    return Launch(rows, [x, out(x.shape, np.float16), n], {1: Close(_softmax(x), ulp=1, rtol=4e-6)})


register("softmax_online", "rows.softmax_online", "*fp16 *fp16 i32", softmax_online, BLOCK=256)


def softmax_backward(rng: Random) -> Launch:
    rows, n = 3, 300
    y, g = _softmax(_some(rng, rows, n)).astype(BF16), _some(rng, rows, n).astype(BF16)
    p, d = y.astype(np.float64), g.astype(np.float64)
    want = p * (d - (p * d).sum(-1, keepdims=True))
    return Launch(rows, [y, g, out(y.shape, BF16), n], {2: Close(want, ulp=1, atol=1e-7)})


register("softmax_backward", "rows.softmax_backward", "*bf16 *bf16 *bf16 i32", softmax_backward, BLOCK=512)


def layer_norm(rng: Random) -> Launch:
    rows, n, eps = 3, 700, 1e-5
    x, w, b = (_some(rng, *shape).astype(np.float16) for shape in ((rows, n), (n,), (n,)))
    v = x.astype(np.float64)
    mean, r = v.mean(1), 1 / np.sqrt(v.var(1) + eps)
    want = (v - mean[:, None]) * r[:, None] * w + b.astype(np.float64)
    close = {"rtol": 1e-5, "atol": 1e-6}
    args = [x, out((rows, n), np.float16), w, b, out(rows, np.float32), out(rows, np.float32), n, n, eps]
    return Launch(rows, args, {1: Close(want, ulp=1, atol=3e-6), 4: Close(mean, **close), 5: Close(r, **close)})


register("layer_norm", "rows.layer_norm", "*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 i32 i32 fp32", layer_norm, BLOCK=256)


def layer_norm_backward(rng: Random) -> Launch:
    rows, n, groups, eps = 6, 200, 2, 1e-5
    x, g = _some(rng, rows, n).astype(np.float16), (_some(rng, rows, n) / 8).astype(np.float16)
    w = _some(rng, n).astype(np.float16)
    v, d = x.astype(np.float64), g.astype(np.float64)
    mean, r = v.mean(1).astype(np.float32), (1 / np.sqrt(v.var(1) + eps)).astype(np.float32)
    normal = (v - mean[:, None]) * r[:, None]
    wg = d * w.astype(np.float64)
    dx = (wg - normal * (normal * wg).mean(1, keepdims=True) - wg.mean(1, keepdims=True)) * r[:, None]
    dw, db = ((d * normal).reshape(-1, groups, n).sum(0), d.reshape(-1, groups, n).sum(0))
    lock = np.zeros(2 * groups, np.int32)
    args = [out((rows, n), np.float16), g, out((groups, n), np.float32), out((groups, n), np.float32), x, w, mean, r, lock, n, n]
    close = {"rtol": 1e-5, "atol": 2e-6}
    want = {0: Close(dx, ulp=1, atol=2e-6), 2: Close(dw, **close), 3: Close(db, **close), 8: [0] * groups + [1] * groups}
    return Launch(rows, args, want)


register(
    "layer_norm_backward", "rows.layer_norm_backward", "*fp16 *fp16 *fp32 *fp32 *fp16 *fp16 *fp32 *fp32 *i32 i32 i32",
    layer_norm_backward, GROUPS=2, BLOCK=256,
)  # fmt: skip


def column_sums(rng: Random) -> Launch:
    rows, n = 70, 100
    x = rng.integers(-50, 50, (rows, n)).astype(np.float32)
    return Launch(2, [x, out(n, np.float32), rows, n], {1: x.sum(0)})


register("column_sums", "rows.column_sums", "*fp32 *fp32 i32 i32", column_sums, BM=32, BN=64)


def rms_norm(rng: Random) -> Launch:
    rows, n, eps = 3, 600, 1e-6
    x, residual, w = (_some(rng, *shape).astype(BF16) for shape in ((rows, n), (rows, n), (n,)))
    total = (x.astype(np.float32) + residual.astype(np.float32)).astype(BF16)
    v = total.astype(np.float64)
    want = v / np.sqrt((v * v).mean(1, keepdims=True) + eps) * w.astype(np.float64)
    return Launch(rows, [x, residual, w, out((rows, n), BF16), n, eps], {1: total, 3: Close(want, ulp=1)})


register(
    "rms_norm", "rows.rms_norm", "*bf16 *bf16 *bf16 *bf16 i32 fp32", rms_norm, aligned="n", options={"num_warps": 2}, BLOCK=1024
)


def group_norm(rng: Random) -> Launch:
    groups, size, eps = 3, 390, 1e-5
    x = (_some(rng, groups, size) * 2 + 1).astype(np.float16)
    v = x.astype(np.float64)
    mean, variance = v.mean(1), v.var(1)
    v = (v - mean[:, None]) / np.sqrt(variance + eps)[:, None]
    close = {"rtol": 1e-5, "atol": 1e-6}
    want = {1: Close(v / (1 + np.exp(-v)), ulp=1, atol=3e-6), 2: Close(mean, **close), 3: Close(variance, **close)}
    return Launch(groups, [x, out(x.shape, np.float16), out(groups, np.float32), out(groups, np.float32), size, eps], want)


register("group_norm", "rows.group_norm", "*fp16 *fp16 *fp32 *fp32 i32 fp32", group_norm, BLOCK=512)


def _loss(rng: Random, rows: int, n: int) -> tuple[Array, Array, Array]:
    logits = (2 * _some(rng, rows, n)).astype(BF16)
    labels = rng.integers(0, n, rows).astype(np.int64)
    labels[1] = -100
    v = logits.astype(np.float64)
    return logits, labels, np.log(np.exp(v - v.max(1, keepdims=True)).sum(1)) + v.max(1)


def cross_entropy(rng: Random) -> Launch:
    rows, n, smooth = 4, 777, 0.1
    logits, labels, whole = _loss(rng, rows, n)
    v = logits.astype(np.float64)
    picked = v[np.arange(rows), np.maximum(labels, 0)]
    loss = np.where(labels >= 0, (1 - smooth) * (whole - picked) + smooth * (whole - v.mean(1)), 0)
    close = {"rtol": 5e-6, "atol": 1e-6}
    args = [logits, labels, out(rows, np.float32), out(rows, np.float32), n, smooth]
    return Launch(rows, args, {2: Close(loss, **close), 3: Close(whole, **close)})


register("cross_entropy", "rows.cross_entropy", "*bf16 *i64 *fp32 *fp32 i32 fp32", cross_entropy, BLOCK=256)


def cross_entropy_backward(rng: Random) -> Launch:
    rows, n = 3, 600
    logits, labels, whole = _loss(rng, rows, n)
    sums, dloss = whole.astype(np.float32), _some(rng, rows)
    p = np.exp(logits.astype(np.float64) - sums[:, None])
    p[np.arange(rows), np.maximum(labels, 0)] -= labels >= 0
    want = p * np.where(labels >= 0, dloss, 0)[:, None]
    return Launch((rows, 3), [logits, labels, sums, dloss, out((rows, n), BF16), n], {4: Close(want, ulp=1, rtol=1e-5)})


register(
    "cross_entropy_backward", "rows.cross_entropy_backward", "*bf16 *i64 *fp32 *fp32 *bf16 i32", cross_entropy_backward, BLOCK=256
)


def reductions(rng: Random) -> Launch:
    rows, n = 13, 100
    x = rng.integers(-1000, 1000, (rows, n)).astype(np.float32)
    values = np.stack([x.sum(1), x.max(1), x.min(1)])
    bits = np.concatenate([x.view(np.int32), np.zeros((rows, 28), np.int32)], 1)
    places = np.stack([x.argmax(1), x.argmin(1), np.bitwise_xor.reduce(bits, 1) ^ np.bitwise_or.reduce(bits, 1)])
    return Launch(4, [x, out((3, rows), np.float32), out((3, rows), np.int32), rows, n], {1: values, 2: places})


register("reductions", "rows.reductions", "*fp32 *fp32 *i32 i32 i32", reductions, BM=4, BN=128)


def total_in_steps(rng: Random) -> Launch:
    n = 1900
    x = rng.integers(-20, 20, n).astype(np.float16)
    return Launch(
        4, [x, out(4, np.float32), np.zeros(1, np.int32), out(1, np.float32), n], {2: [4], 3: [x.astype(int).sum()]}, free=(1,)
    )


register("total_in_steps", "rows.total_in_steps", "*fp16 *fp32 *i32 *fp32 i32", total_in_steps, BLOCK=512)
