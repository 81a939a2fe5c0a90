"""Products of warp groups (wgmma) of a ptxas-made cubin: types, sizes, swizzle modes, sparse and from registers."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np
import oric.sim
import pytest

from tests.sim.group_forms import GROUPS, ROOM, Group, Placing, place
from tests.sim.matrix_forms import WIDTH, Form, pack, pack_accumulator, pack_metadata, unpack_accumulator
from tests.sim.matrix_numbers import DTYPE, codes_of, integers_of, sparse_places, value
from tests.sim.vendor_cubins import cubin

Array = np.ndarray[Any, Any]
SECOND = 8192  # where B begins in shared memory


@cache
def module() -> oric.sim.Module:
    return oric.sim.load(cubin("group", "sm_90a"))


def placing(span: int, rows: int, size: int, by_row: bool, start: int, slab: int) -> Placing:
    """Where a matrix of `rows` rows of `size` bytes along k stands (by_row: elements of 2 bytes)."""
    if by_row:
        units = span // 16
        lines = size // 2
        if units == 1:
            return Placing(span, 128 * (rows // 8), 128, start, True)
        return Placing(span, 16 * lines * units, 8 * span, start, True)
    inside = 32 * slab if span >= 64 and size == 32 else 0
    return Placing(span, 16 * rows if span == 16 else 16, 128 if span == 16 else 8 * span, start + inside, False)


def numbers(codes: Array, kind: str) -> Array:
    if kind == "b1":
        return codes.astype(np.int64)
    return integers_of(codes, kind) if kind[0] in "su" and kind[1:].isdigit() else value(codes, kind)


def product(group: Group, how: str, span_a: int, span_b: int, used: bool, seed: int) -> tuple[Array, Array, Array]:
    """Run a kernel on random matrices: what came out, the terms [row][column][kept element], what was there before."""
    rng = np.random.default_rng(seed)
    k, width = group.k, WIDTH[group.atype]
    kept = k // 2 if group.sparse else k
    a, b = codes_of(rng, (64, kept), group.atype, how), codes_of(rng, (group.n, k), group.btype, how)
    dtype = DTYPE[group.ctype]
    c = rng.integers(-9, 9, (64, group.n)).astype(dtype)
    image = rng.integers(0, 256, ROOM, dtype=np.uint8)
    at_a = placing(span_a, 64, kept * width // 8, group.turned_a, 0, 1)
    at_b = placing(span_b, group.n, k * width // 8, group.turned_b, SECOND, 1)
    place(image, a, width, at_a)
    place(image, b, width, at_b)
    registers, metadata = np.zeros((128, 4), np.uint32), np.zeros(128, np.uint32)
    at = np.tile(np.arange(k), (64, 1))
    form = Form("", 16, k, "", "", "", "", "", width, True, group.selector)
    for w in range(4):
        rows = slice(16 * w, 16 * w + 16)
        if group.registers:
            registers[32 * w : 32 * w + 32] = pack(a[rows], width)
        if group.sparse:
            within, at[rows, :kept] = sparse_places(rng, 16, k, width)
            metadata[32 * w : 32 * w + 32] = pack_metadata(within, form)
    blocks = [[pack_accumulator(c[16 * w : 16 * w + 16, j : j + 8]) for j in range(0, group.n, 8)] for w in range(4)]
    words = np.concatenate([np.concatenate(row, axis=1) for row in blocks])
    each = words.shape[1] // (group.n // 8)
    arguments = [image, registers, words, metadata, at_a.descriptor(), at_b.descriptor(), int(used)]
    module().launch(group.name, 1, 128, arguments)
    got = np.zeros((64, group.n), dtype)
    for w in range(4):
        for j in range(group.n // 8):
            piece = np.ascontiguousarray(words[32 * w : 32 * w + 32, each * j : each * (j + 1)])
            got[16 * w : 16 * w + 16, 8 * j : 8 * j + 8] = unpack_accumulator(piece, 16, dtype)
    x = numbers(a, group.atype) * (-1 if group.negative_a else 1)
    y = numbers(b, group.btype) * (-1 if group.negative_b else 1)
    with np.errstate(all="ignore"):
        terms = x[:, None, :] * y[:, at[:, :kept]].transpose(1, 0, 2)
    return got, terms, c * dtype(used)


def check(group: Group, how: str, span_a: int, span_b: int, used: bool) -> None:
    name = f"{group.name} {how} {span_a} {span_b} {used}"
    got, terms, c = product(group, how, span_a, span_b, used, zlib.crc32(name.encode()))
    if group.ctype == "s32":
        np.testing.assert_array_equal(got, (terms.sum(axis=2) + c).astype(np.int32), name)
        return
    exact, size = terms.sum(axis=2) + c.astype(np.float64), np.abs(terms).sum(axis=2) + np.abs(c.astype(np.float64))
    if how == "integers":
        np.testing.assert_array_equal(got.astype(np.float64), exact, name)
        return
    keeps = 10 if group.ctype == "f16" else 12 if WIDTH[group.atype] == 8 else 22
    assert (np.abs(got.astype(np.float64) - exact) <= size * 2.0**-keeps + 2.0**-24).all(), name


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name)
def test_products(group: Group) -> None:
    """Every type with the swizzle modes of both matrices: exact sums of small integers, else within the tolerance."""
    wide = 256 // 8 * (2 if group.sparse else 1)
    spans = [s for s in (16, 32, 64, 128) if s == 16 or s >= wide or not group.sparse]
    for i, span in enumerate(spans):
        other = spans[(i + 1) % len(spans)]
        if group.n * 2 // 16 % (other // 16) and group.turned_b:
            other = 16
        check(group, "integers", span, other, i % 2 == 0)
    check(group, "normal", 128, 128 if not group.turned_b or group.n % 64 == 0 else 16, True)
