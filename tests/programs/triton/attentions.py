"""Launches of attention, forward and backward. The weights are rounded to the type of the values, so results are not exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.triton.case import ALL, Array, Close, Described, Launch, out, register

Random = np.random.Generator
BF16, E5 = ml_dtypes.bfloat16, ml_dtypes.float8_e5m2
LOG2E = 1.4426950408889634


def _some(rng: Random, shape: tuple[int, ...], dtype: Any) -> Array:
    return rng.standard_normal(shape, np.float32).astype(dtype)


def _weights(q: Array, k: Array, causal: bool, scale: float) -> tuple[Array, Array]:
    """Softmax of the scores, and the logarithms of their sums in base 2."""
    s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * scale
    if causal:
        n = s.shape[1]
        s = np.where(np.tril(np.ones((n, n), bool)), s, -np.inf)
    most = s.max(-1, keepdims=True)
    e = np.exp(s - most)
    total = e.sum(-1, keepdims=True)
    return e / total, ((np.log(total) + most) * LOG2E)[..., 0]


def _off(dtype: Any) -> dict[str, float]:
    """The error of rounded weights: about half a unit of the type for each."""
    unit = 2.0**-10 if dtype == np.float32 else float(ml_dtypes.finfo(dtype).eps)  # products of FP32 are done in TF32
    return {"rtol": 2 * unit, "atol": unit}


def _forward(dtype: Any, n: int, d: int, bm: int, causal: bool) -> Any:
    def build(rng: Random) -> Launch:
        heads, scale = 2, d**-0.5
        q, k, v = (_some(rng, (heads, n, d), dtype) for _ in range(3))
        p, lse = _weights(q, k, causal, scale)
        want = p @ v.astype(np.float64)
        args = [q, k, v, out((heads, n, d), dtype), out((heads, n), np.float32), scale * LOG2E, n]
        return Launch((-(-n // bm), heads), args, {3: Close(want, **_off(dtype)), 4: Close(lse, **_off(dtype))})

    return build


FORWARD = [
    ("f16_d64", "fp16", np.float16, 64, 64, 32, 100, False, 4, ALL),
    ("f16_d64_causal", "fp16", np.float16, 64, 64, 32, 100, True, 4, ALL),
    ("bf16_d128_causal", "bf16", BF16, 128, 64, 64, 80, True, 8, ALL),
    ("f16_d32", "fp16", np.float16, 32, 128, 64, 130, False, 4, ALL),
    ("f16_d16_causal", "fp16", np.float16, 16, 32, 32, 50, True, 2, ALL),
    ("bf16_d256", "bf16", BF16, 256, 64, 32, 64, False, 8, (80, 90, 100)),
    ("f32_d32", "fp32", np.float32, 32, 32, 32, 40, False, 4, (80, 90, 120)),
    ("e5m2_d64", "fp8e5", E5, 64, 64, 64, 90, False, 4, (90, 100, 120)),
]
for _name, _type, _dtype, _d, _bm, _bn, _n, _causal, _warps, _targets in FORWARD:
    register(
        f"attention_{_name}", "attention.forward", f"*{_type} *{_type} *{_type} *{_type} *fp32 fp32 i32",
        _forward(_dtype, _n, _d, _bm, _causal), _targets, "", {"num_warps": _warps}, BM=_bm, BN=_bn, D=_d, CAUSAL=_causal,
    )  # fmt: skip


def _by_descriptors(dtype: Any, n: int, d: int, bm: int, causal: bool) -> Any:
    def build(rng: Random) -> Launch:
        heads, scale = 2, d**-0.5
        q, k, v = (_some(rng, (heads, n, d), dtype) for _ in range(3))
        want = _weights(q, k, causal, scale)[0] @ v.astype(np.float64)
        tensors = [Described(x.reshape(heads * n, d)) for x in (q, k, v, out((heads, n, d), dtype))]
        return Launch((n // bm, heads), [*tensors, scale * LOG2E, n], {3: Close(want, **_off(dtype))})

    return build


for _name, _type, _dtype, _d, _causal, _special, _targets in (
    ("f16", "fp16", np.float16, 64, False, False, (90, 100, 120)),
    ("f16_causal", "fp16", np.float16, 64, True, False, (90, 100, 120)),
    ("bf16_specialised", "bf16", BF16, 128, False, True, (100,)),
    ("f16_specialised", "fp16", np.float16, 64, True, True, (100, 120)),
):
    _blocks = (
        f"tensordesc<{_type}[128,{_d}]> tensordesc<{_type}[64,{_d}]> tensordesc<{_type}[64,{_d}]> tensordesc<{_type}[128,{_d}]>"
    )
    register(
        f"tensor_attention_{_name}", "attention.forward_by_descriptors", f"{_blocks} fp32 i32",
        _by_descriptors(_dtype, 256, _d, 128, _causal), _targets, "n", {},
        BM=128, BN=64, D=_d, CAUSAL=_causal, SPECIAL=_special,
    )  # fmt: skip


def row_products(rng: Random) -> Launch:
    n, d = 90, 64
    o, g = _some(rng, (n, d), np.float16), _some(rng, (n, d), np.float16)
    want = (o.astype(np.float64) * g.astype(np.float64)).sum(1)
    return Launch(2, [o, g, out(n, np.float32), n], {2: Close(want, rtol=1e-5, atol=1e-5)})


register("attention_row_products", "attention.row_products", "*fp16 *fp16 *fp32 i32", row_products, BM=64, D=64)


def _backward(dtype: Any, n: int, d: int, block: int, causal: bool, keys: bool) -> Any:
    def build(rng: Random) -> Launch:
        heads, scale = 2, d**-0.5
        q, k, v, g = (_some(rng, (heads, n, d), dtype) for _ in range(4))
        p, lse = _weights(q, k, causal, scale)
        wide = [x.astype(np.float64) for x in (q, k, v, g)]
        delta = (p @ wide[2] * wide[3]).sum(-1)
        ds = p * (wide[3] @ wide[2].transpose(0, 2, 1) - delta[..., None])
        close = {key: 4 * off for key, off in _off(dtype).items()}
        head = [q, k, v, g, lse.astype(np.float32), delta.astype(np.float32)]
        grid = (-(-n // block), heads)
        if keys:
            dk, dv = ds.transpose(0, 2, 1) @ wide[0] * scale, p.transpose(0, 2, 1) @ wide[3]
            args = [*head, out(q.shape, dtype), out(q.shape, dtype), scale, n]
            return Launch(grid, args, {6: Close(dk, **close), 7: Close(dv, **close)})
        return Launch(grid, [*head, out(q.shape, dtype), scale, n], {6: Close(ds @ wide[1] * scale, **close)})

    return build


for _name, _type, _dtype, _d, _n, _causal in (
    ("f16_d64", "fp16", np.float16, 64, 90, False),
    ("f16_d64_causal", "fp16", np.float16, 64, 100, True),
    ("bf16_d32_causal", "bf16", BF16, 32, 70, True),
    ("bf16_d128", "bf16", BF16, 128, 64, False),
):
    _head = 4 * f"*{_type} " + "*fp32 *fp32 "
    _sizes = {"BM": 32, "BN": 64, "D": _d, "CAUSAL": _causal}
    register(
        f"attention_dkdv_{_name}", "attention.backward_kv", f"{_head}*{_type} *{_type} fp32 i32",
        _backward(_dtype, _n, _d, 64, _causal, True), ALL, "", {}, **_sizes,
    )  # fmt: skip
    register(
        f"attention_dq_{_name}", "attention.backward_q", f"{_head}*{_type} fp32 i32",
        _backward(_dtype, _n, _d, 64, _causal, False), ALL, "", {}, **_sizes | {"BM": 64, "BN": 32},
    )  # fmt: skip


def decode(rng: Random) -> Launch:
    sequences, kv, group, page, d = 2, 2, 4, 16, 64
    lengths = np.array([41, 16], np.int32)
    pages = rng.permutation(6).astype(np.int32).reshape(sequences, 3)
    q = _some(rng, (sequences, kv, group, d), np.float16)
    keys, values = (_some(rng, (6, page, kv, d), np.float16) for _ in range(2))
    want = np.zeros(q.shape)
    for s, length in enumerate(lengths):
        k, v = (x[pages[s]].reshape(-1, kv, d)[:length].transpose(1, 0, 2) for x in (keys, values))
        want[s] = _weights(q[s], k, False, d**-0.5)[0] @ v.astype(np.float64)
    args = [q, keys, values, pages, lengths, out(q.shape, np.float16), d**-0.5 * LOG2E, 3]
    return Launch((sequences, kv), args, {5: Close(want, **_off(np.float16))})


register(
    "attention_decode", "attention.decode", "*fp16 *fp16 *fp16 *i32 *i32 *fp16 fp32 i32", decode, ALL, "", {"num_warps": 2},
    GROUP=4, PAGE=16, D=64, KV=2,
)  # fmt: skip


def linear(rng: Random) -> Launch:
    n, d = 70, 32
    q, k, v = (rng.integers(-2, 3, (2, n, d)).astype(np.float16) for _ in range(3))
    s = np.tril(np.ones((n, n))) * (q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1))
    want = s @ v.astype(np.float64)
    return Launch(2, [q, k, v, out((2, n, d), np.float32), n], {3: want})


register("attention_linear", "attention.linear", "*fp16 *fp16 *fp16 *fp32 i32", linear, BT=32, D=32)
