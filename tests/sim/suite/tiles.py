"""Launches of tiles.cu. Elements are small whole numbers, so that every sum is exact; the attention says its tolerance."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .case import Array, Case, Close, kernel, out


def whole(rng: Any, shape: Any, low: int = -4, high: int = 4) -> Array:
    return rng.integers(low, high + 1, shape)


def product(a: Array, b: Array, packed: tuple[Array, Array], dtype: Any) -> Case:
    """64 x 32 of C from the rows of A and of B."""
    want = out((64, 32), dtype)
    args = [*packed, want, 32, packed[0].nbytes // 64]
    return Case((1, 2), 128, args, {2: (a @ b.T).astype(dtype)})


def tiles(rng: Any, dtype: Any, k: int, result: Any = np.float32, other: Any = None, low: int = -4) -> Case:
    a, b = whole(rng, (64, k), low), whole(rng, (32, k))
    return product(a, b, (a.astype(dtype).view(np.uint8), b.astype(other or dtype).view(np.uint8)), result)


@kernel()
def tile_f16(rng: Any) -> Case:
    return tiles(rng, np.float16, 96)


@kernel(since=80)
def tile_bf16(rng: Any) -> Case:
    return tiles(rng, ml_dtypes.bfloat16, 96)


@kernel(since=80)
def tile_tf32(rng: Any) -> Case:
    return tiles(rng, np.float32, 48)


@kernel()
def tile_s8(rng: Any) -> Case:
    a, b = whole(rng, (64, 192), -128, 127), whole(rng, (32, 192), -128, 127)
    return product(a, b, (a.astype(np.int8), b.astype(np.int8)), np.int32)


@kernel()
def tile_u8_s8(rng: Any) -> Case:
    a, b = whole(rng, (64, 192), 0, 255), whole(rng, (32, 192), -128, 127)
    return product(a, b, (a.astype(np.uint8), b.astype(np.int8)), np.int32)


@kernel()
def tile_s4(rng: Any) -> Case:
    a, b = whole(rng, (64, 384), -8, 7), whole(rng, (32, 384), -8, 7)
    x, y = ((m[:, ::2] & 15 | (m[:, 1::2] & 15) << 4).astype(np.uint8) for m in (a, b))
    return product(a, b, (x, y), np.int32)


@kernel(since=80)
def tile_b1(rng: Any) -> Case:
    a, b = whole(rng, (64, 1024), 0, 1), whole(rng, (32, 1024), 0, 1)
    x, y = (np.packbits(m.astype(np.uint8), axis=1, bitorder="little") for m in (a, b))
    return product(a, b, (x, y), np.int32)


@kernel(since=90)
def tile_e4m3(rng: Any) -> Case:
    return tiles(rng, ml_dtypes.float8_e4m3fn, 128)


@kernel(since=90)
def tile_e5m2(rng: Any) -> Case:
    return tiles(rng, ml_dtypes.float8_e5m2, 128, other=ml_dtypes.float8_e4m3fn)


@kernel(only=("sm_120a",))
def tile_mx8(rng: Any) -> Case:
    a, b = whole(rng, (64, 128)), whole(rng, (32, 128))
    packed = a.astype(ml_dtypes.float8_e4m3fn).view(np.uint8), b.astype(ml_dtypes.float8_e5m2).view(np.uint8)
    return product(a, b * 0.5, packed, np.float32)


@kernel(only=("sm_120a",))
def tile_mx4(rng: Any) -> Case:
    a, b = (rng.choice([-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6], (rows, 256)) for rows in (64, 32))
    codes = (m.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) for m in (a, b))
    x, y = (c[:, ::2] & 15 | (c[:, 1::2] & 15) << 4 for c in codes)
    return product(a, b * 0.5, (x, y), np.float32)


@kernel(since=80)
def tile_f64(rng: Any) -> Case:
    a, b = whole(rng, (16, 20), -(1 << 20), 1 << 20), whole(rng, (24, 20), -(1 << 20), 1 << 20)
    return Case((3, 2), 32, [a.astype(np.float64), b.astype(np.float64), out((16, 24), np.float64), 24, 20], {2: a @ b.T})


@kernel(since=80)
def tile_sparse_f16(rng: Any) -> Case:
    kept, b = whole(rng, (16, 16)), whole(rng, (8, 32))
    places = np.sort([[rng.permutation(4)[:2] for _ in range(8)] for _ in range(16)], axis=2)
    a = np.zeros((16, 32), int)
    np.put_along_axis(a.reshape(16, 8, 4), places, kept.reshape(16, 8, 2), axis=2)
    metadata = (places.reshape(16, 16).astype(np.uint64) << 2 * np.arange(16, dtype=np.uint64)).sum(1).astype(np.uint32)
    args = [kept.astype(np.float16), metadata, b.astype(np.float16), out((16, 8), np.float32)]
    return Case(1, 32, args, {3: a @ b.T})


@kernel()
def tile_attention(rng: Any) -> Case:
    n = 40
    q, k, v = (rng.standard_normal((m, 16)).astype(np.float16) for m in (16, n, n))
    e = np.exp(q.astype(np.float64) @ k.T.astype(np.float64) / 4)
    want = e @ v.astype(np.float64) / e.sum(1, keepdims=True)
    # probabilities are rounded to halves: 2^-11 of numbers up to 3
    return Case(1, 32, [q, k, v, out((16, 16), np.float32), n], {3: Close(want, atol=2e-3)})


@kernel()
def tile_transpose(rng: Any) -> Case:
    x = rng.integers(0, 1 << 16, (32, 32)).astype(np.uint16)
    return Case((4, 4), 32, [x, out((32, 32), np.uint16), 32], {1: x.T})


def fragments(rng: Any, dtype: Any, result: Any, scale: float, span: int = 4) -> Case:
    a, b = whole(rng, (32, 48), -span, span), whole(rng, (48, 48), -span, span)
    args = [a.astype(dtype), b.astype(dtype), out((32, 48), result), 48, 48]
    return Case((3, 2), 32, args, {2: a @ b.T * scale})


@kernel()
def wmma_f16(rng: Any) -> Case:
    return fragments(rng, np.float16, np.float32, 2)


@kernel()
def wmma_half(rng: Any) -> Case:
    return fragments(rng, np.float16, np.float16, 2)


@kernel()
def wmma_s8(rng: Any) -> Case:
    return fragments(rng, np.int8, np.int32, 3, 127)


@kernel(since=80)
def wmma_bf16(rng: Any) -> Case:
    return fragments(rng, ml_dtypes.bfloat16, np.float32, 2)


@kernel(since=80)
def wmma_tf32(rng: Any) -> Case:
    return fragments(rng, np.float32, np.float32, 0.5, 100)
