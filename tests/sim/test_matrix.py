"""Matrix products of ptxas-made cubins: every type and shape of mma.sync, dense, sparse and scaled, against numpy."""

from __future__ import annotations

import zlib
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes

from tests.sim.matrix_forms import TARGETS, Form, forms_of, moves_of, pack, pack_accumulator, pack_metadata, unpack_accumulator
from tests.sim.matrix_numbers import DTYPE, codes_of, integers_of, sparse_places, value
from tests.sim.vendor_cubins import cubin

Array = np.ndarray[Any, Any]
FRACTION = {"f16": 10, "f32": 22}


def accumulators(rng: Any, form: Form, how: str) -> Array:
    dtype = DTYPE[form.ctype]
    if form.ctype == "s32":
        span = 1 << (31 if how == "any" else 8)
        return rng.integers(-span, span, (form.m, 8)).astype(np.int32)
    if how == "integers":
        return rng.integers(-9, 9, (form.m, 8)).astype(dtype)
    return (rng.standard_normal((form.m, 8)) * 4).astype(dtype)


class Problem:
    """Operands of one product as codes and as numbers, and what comes out exactly."""

    def __init__(self, form: Form, seed: int, how: str) -> None:
        rng = np.random.default_rng(seed)
        kept = form.k // 2 if form.sparse else form.k
        self.form = form
        self.a = codes_of(rng, (form.m, kept), form.atype, how)
        self.b = codes_of(rng, (8, form.k), form.btype, how)
        self.c = accumulators(rng, form, how)
        self.within = self.places = np.tile(np.arange(form.k), (form.m, 1))
        if form.sparse:
            self.within, self.places = sparse_places(rng, 16, form.k, form.width)
        scale = form.scale or "ue8m0"
        self.scale_a = rng.integers(112, 140, (16, 4)) if scale == "ue8m0" else rng.integers(1, 127, (16, 4))
        self.scale_b = rng.integers(112, 140, (8, 4)) if scale == "ue8m0" else rng.integers(1, 127, (8, 4))

    def numbers(self, codes: Array, kind: str, scales: Array) -> Array:
        if kind == "f64":
            return codes.view(np.float64)
        if kind[0] in "su" and kind[1:].isdigit():
            return integers_of(codes, kind)
        if kind == "b1":
            return codes.astype(np.int64)
        out = value(codes, kind)
        if self.form.blocks:
            factor = value(scales[:, : self.form.blocks], self.form.scale)
            out = out * np.repeat(factor, codes.shape[1] // self.form.blocks, axis=1)
        return out

    def terms(self) -> Array:
        """The products [row][column][kept element]."""
        x = self.numbers(self.a, self.form.atype, self.scale_a)
        y = self.numbers(self.b, self.form.btype, self.scale_b)
        gathered = y[:, self.places].transpose(1, 0, 2)  # [row][column][j]
        if self.form.op:
            return (x[:, None, :] ^ gathered) if self.form.op == "xor" else x[:, None, :] & gathered
        with np.errstate(all="ignore"):
            return x[:, None, :] * gathered

    def launch(self, module: oric.sim.Module, modes: Modes | None = None) -> Array:
        form = self.form
        shift = 2 if form.width == 8 else 0
        a = pack(self.a << (shift if form.atype == "e2m1" else 0), form.width)
        b = pack(self.b << (shift if form.btype == "e2m1" else 0), form.width)
        extra = np.zeros((32, 3), np.uint32)
        if form.sparse:
            extra[:, 0] = pack_metadata(self.within, form)
        byte_a, pair_a, byte_b, thread_b = form.chosen
        for g in range(8):
            for n in range(form.blocks):
                extra[4 * g + 2 * pair_a, 1] |= self.scale_a[g, n] << (8 * (byte_a + n))
                extra[4 * g + 2 * pair_a + 1, 1] |= self.scale_a[g + 8, n] << (8 * (byte_a + n))
                extra[4 * g + thread_b, 2] |= self.scale_b[g, n] << (8 * (byte_b + n))
        d = np.zeros((32, form.words()[3]), np.uint32)
        keywords: dict[str, Any] = {} if modes is None else {"modes": modes}
        module.launch(form.name, 1, 32, [a, b, pack_accumulator(self.c), d, extra], **keywords)
        return unpack_accumulator(d, form.m, DTYPE[form.dtype])


@cache
def module_of(target: str) -> oric.sim.Module:
    return oric.sim.load(cubin("matrix", target))


def tolerance(terms: Array, c: Array, form: Form, cuts: int) -> Array:
    """What a result may be off by, as docs/simulator.md has it; `cuts`: how often hardware may cut."""
    keeps = min(FRACTION[form.dtype], 12 if form.width <= 8 else 22)
    with np.errstate(all="ignore"):
        size = np.abs(terms).sum(axis=2) + np.abs(c.astype(np.float64))
        return size * 2.0**-keeps * (cuts if form.dtype == "f32" else min(cuts, 3)) + (
            2.0**-24 if form.dtype == "f16" else 2.0**-149
        )


def check_float(form: Form, got: Array, problem: Problem, cuts: int) -> None:
    terms, c = problem.terms(), problem.c.astype(np.float64)
    with np.errstate(all="ignore"):
        exact = terms.sum(axis=2) + c
        largest = 65520.0 if form.dtype == "f16" else 2.0**128
        exact = np.where(np.abs(exact) >= largest, np.sign(exact) * np.inf, exact)
        finite = np.isfinite(exact)
        off = np.abs(got.astype(np.float64) - exact)
    assert (np.isnan(got) == np.isnan(exact)).all(), form.name
    assert (got[np.isinf(exact)] == exact[np.isinf(exact)]).all(), form.name
    wrong = finite & ~(off <= tolerance(terms, c, form, cuts))
    assert not wrong.any(), (form.name, np.argwhere(wrong)[:4].tolist(), got[wrong][:4], exact[wrong][:4])


def check(form: Form, got: Array, problem: Problem, how: str, cuts: int = 1) -> None:
    if form.ctype == "s32":
        total = problem.terms().sum(axis=2) + problem.c.astype(np.int64)
        want = np.clip(total, -(1 << 31), (1 << 31) - 1) if form.sat else total
        np.testing.assert_array_equal(got, want.astype(np.int64).astype(np.int32), form.name)
    elif form.ctype == "f64":
        want = chained(problem)
        np.testing.assert_array_equal(got, want, form.name)
    elif how == "integers" and not form.blocks:
        np.testing.assert_array_equal(
            got.astype(np.float64), problem.terms().sum(axis=2) + problem.c.astype(np.float64), form.name
        )
    else:
        check_float(form, got, problem, cuts)


def chained(problem: Problem) -> Array:
    """Fused multiply-adds of doubles in the order of k, by exact fractions."""
    x, y = problem.a.view(np.float64), problem.b.view(np.float64)
    out = problem.c.copy()
    for i in range(out.shape[0]):
        for j in range(8):
            for k in range(problem.form.k):
                out[i, j] = float(Fraction(x[i, k]) * Fraction(y[j, k]) + Fraction(out[i, j]))
    return out


def quads_excluded(target: str) -> list[Form]:
    return [f for f in forms_of(target) if not f.name.startswith("m8n8k4_") or f.ctype == "f64"]


@pytest.mark.parametrize("how", ["integers", "normal", "any"])
@pytest.mark.parametrize("target", TARGETS)
def test_products(target: str, how: str) -> None:
    """Integers and doubles exact, sums of small integers too, floats within the tolerance; NaN and infinity where they belong."""
    for form in quads_excluded(target):
        if how == "any" and form.ctype == "f64":
            continue
        problem = Problem(form, zlib.crc32(f"{form.name}{how}".encode()), how)
        check(form, problem.launch(module_of(target)), problem, how)


def quads(rng: Any, form: Form) -> tuple[Array, Array, Array]:
    """Operands [pair][row][k], [pair][column][k], [pair][row][column] of the four products of m8n8k4."""
    a, b = (rng.standard_normal((4, 8, 4)).astype(np.float16) for _ in range(2))
    return a, b, rng.standard_normal((4, 8, 8)).astype(DTYPE[form.ctype])


def quad_fragment(matrix: Array, by_k: bool) -> Array:
    """Words [lane][2] of [pair][row][k]: a thread holds a row, or four rows of one k."""
    out = np.zeros((32, 4), np.float16)
    for lane in range(32):
        pair, upper, low = lane // 4 % 4, lane // 16 * 4, lane % 4
        out[lane] = matrix[pair, upper : upper + 4, low] if by_k else matrix[pair, upper + low]
    return out.view(np.uint32)


def quad_places(kind: str) -> Array:
    """(pair, row, column) of the accumulator elements [lane][index]."""
    out = np.zeros((32, 8, 3), int)
    for lane in range(32):
        for i in range(8):
            upper = lane // 16 * 4
            row, column = upper + lane % 4, i
            if kind == "f32":
                row, column = upper + (lane & 1) + (i & 2), (i & 4) + (lane & 2) + (i & 1)
            out[lane, i] = lane // 4 % 4, row, column
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_quad_pairs(target: str) -> None:
    """m8n8k4 of halves: instructions of their own on sm_75, emulated later."""
    rng = np.random.default_rng(4)
    for form in forms_of(target):
        if not form.name.startswith("m8n8k4_") or form.ctype == "f64":
            continue
        a, b, c = quads(rng, form)
        pc, pd = quad_places(form.ctype), quad_places(form.dtype)
        words = c[pc[..., 0], pc[..., 1], pc[..., 2]].view(np.uint32)
        d = np.zeros((32, form.words()[3]), np.uint32)
        fragments = [quad_fragment(a, form.row == "col"), quad_fragment(b, form.col == "row")]
        module_of(target).launch(form.name, 1, 32, [*fragments, words, d, np.zeros((32, 3), np.uint32)])
        x, y = a.astype(np.float64), b.astype(np.float64)
        exact = np.einsum("pik,pjk->pij", x, y) + c.astype(np.float64)
        size = np.einsum("pik,pjk->pij", abs(x), abs(y)) + abs(c.astype(np.float64))
        got = d.view(DTYPE[form.dtype]).astype(np.float64)
        at = pd[..., 0], pd[..., 1], pd[..., 2]
        assert (abs(got - exact[at]) <= size[at] * 2.0 ** -FRACTION[form.dtype]).all(), form.name


def rows_of(memory: Array, at: Array, kind: str, count: int) -> Array:
    """The rows [lane][16 bytes] that the addresses of the lanes name, 4- and 6-bit elements as bytes."""
    raw = np.stack([memory[a : a + 16] for a in at[:count]])
    if kind in ("u4", "u6"):
        width = int(kind[1])
        bits = np.unpackbits(raw, axis=1, bitorder="little")[:, : 16 * width].reshape(count, 16, width)
        return (bits << np.arange(width)).sum(axis=2).astype(np.uint8)
    return raw


def loaded(rows: Array, kind: str, trans: bool) -> Array:
    """The registers [lane][register] of ldmatrix."""
    if kind != "b16" and trans:  # 16 x 16 bytes: two rows each of columns g and g + 8 in a register
        squares = rows.reshape(-1, 16, 16)
        out = np.zeros((32, 2 * len(squares), 4), np.uint8)
        for lane in range(32):
            g, t = divmod(lane, 4)
            for m, square in enumerate(squares):
                for r in range(2):
                    first = 4 * t + 2 * r
                    out[lane, 2 * m + r] = [
                        square[first, g],
                        square[first + 1, g],
                        square[first, g + 8],
                        square[first + 1, g + 8],
                    ]
        return out.view(np.uint32)[..., 0]
    squares = rows.reshape(-1, 8, 16).view(np.uint16)
    if trans:
        squares = squares.transpose(0, 2, 1)
    return np.ascontiguousarray(squares).view(np.uint32).reshape(-1, 32).T.copy()


@pytest.mark.parametrize("target", TARGETS)
def test_fragments_and_shared_memory(target: str) -> None:
    """ldmatrix, stmatrix and movmatrix in all their shapes."""
    rng = np.random.default_rng(5)
    for name, _, count, kind, element, trans in moves_of(target):
        memory = rng.integers(0, 256, 4096, dtype=np.uint8)
        at = (rng.permutation(256)[:32] * 16).astype(np.uint32)
        registers = rng.integers(0, 1 << 32, (32, count), dtype=np.uint32)
        before = registers.copy()
        want = memory.copy()
        module_of(target).launch(name, 1, 32, [memory, at, registers])
        if kind == "load":
            np.testing.assert_array_equal(registers, loaded(rows_of(want, at, element, 8 * count), element, trans), name)
        elif kind == "move":
            square = before.reshape(8, 4).view(np.uint16).T.copy().view(np.uint32)
            np.testing.assert_array_equal(registers.ravel(), square.ravel(), name)
        else:
            for row, a in enumerate(at[: 8 * count]):
                matrix, n = divmod(row, 8)
                if element == "b8":  # row n of memory is column n of 16 x 8 bytes in the layout of an accumulator
                    square = before[:, matrix].copy().view(np.uint8).reshape(8, 4, 2, 2).transpose(2, 0, 1, 3).reshape(16, 8)
                    want[a : a + 16] = square[:, n]
                else:
                    square = before[:, matrix].reshape(8, 4).copy().view(np.uint16)
                    want[a : a + 16] = (square[:, n] if trans else square[n]).copy().view(np.uint8)
            np.testing.assert_array_equal(memory, want, name)


def test_perturbed_sums() -> None:
    """A launch that perturbs moves sums that hardware may cut, by its seed and within the tolerance; exact sums stay."""
    forms = {f.name: f for f in forms_of("sm_89")}
    for name in ("m16n8k16_f16_f32", "m16n8k16_f16_f16", "m16n8k8_tf32_f32", "m16n8k32_e4m3_e4m3_f32", "m16n8k32_f16_f32_sp1"):
        form = forms[name]
        normal, integers = Problem(form, 7, "normal"), Problem(form, 7, "integers")
        modes = [Modes(perturb=seed) for seed in (1, 1, 2)]
        first, again, other = (normal.launch(module_of("sm_89"), m) for m in modes)
        np.testing.assert_array_equal(first, again, name)
        assert (first != other).any(), name
        for got in (first, other):
            check(form, got, normal, "normal", cuts=form.k + 3)
        check(form, integers.launch(module_of("sm_89"), modes[0]), integers, "integers")
