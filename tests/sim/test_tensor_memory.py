"""Tensor memory (tcgen05) of a ptxas-made cubin: loads, stores, copies from shared memory, and products of all kinds."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import oric.sim
import pytest

from tests.sim.group_forms import Placing, place
from tests.sim.matrix_forms import Form, pack_metadata
from tests.sim.matrix_numbers import CODE_BITS, DTYPE, codes_of, integers_of, sparse_places, value
from tests.sim.tensor_forms import (
    COLUMNS,
    COPIES,
    EXTREMES,
    MOVES,
    PRODUCTS,
    ROOM,
    SHAPES,
    Product,
    copy_name,
    extreme_name,
    move_name,
)
from tests.sim.vendor_cubins import cubin

Array = np.ndarray[Any, Any]
SECOND = 16384  # where B begins in shared memory
FORMATS = {"f16": 0, "bf16": 1, "tf32": 2, "u8": 0, "s8": 1, "e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
RESULTS = {"f16": 0, "f32": 1, "s32": 2}


@cache
def module() -> oric.sim.Module:
    return oric.sim.load(cubin("tensor", "sm_100a"))


def cell(shape: str, lane: int, register: int, offset: int) -> tuple[int, int]:
    """Row and column (of 32-bit cells) of a register of a thread, as the PTX manual draws them."""
    if shape == "32x32b":
        return lane, register
    if shape == "16x32bx2":
        return lane % 16, register + (offset if lane >= 16 else 0)
    g, t = divmod(lane, 4)
    if shape == "16x64b":
        return g + 8 * (t % 2), 2 * register + t // 2
    if shape == "16x128b":
        return g + 8 * (register % 2), 4 * (register // 2) + t
    return g + 8 * (register // 2 % 2), 8 * (register // 4) + 2 * t + register % 2


@pytest.mark.sampled(5)
@pytest.mark.parametrize("move", MOVES, ids=lambda m: f"{m[0]}_x{m[1]}{'_half' if m[2] else ''}")
def test_loads_and_stores(move: tuple[str, int, bool]) -> None:
    """Every shape, with whole cells and with halves of two of them in a register."""
    shape, count, half = move
    rng = np.random.default_rng(count)
    registers = count * SHAPES[shape]
    cells = rng.integers(0, 1 << 32, (128, COLUMNS), dtype=np.uint32)
    words = np.zeros((128, registers), np.uint32)
    module().launch(move_name(False, shape, count, half), 1, 128, [cells, words])
    stored = rng.integers(0, 1 << 32, (128, registers), dtype=np.uint32)
    after = cells.copy()
    module().launch(move_name(True, shape, count, half), 1, 128, [after, stored])
    want_words, want_cells = np.zeros_like(words), cells.copy()
    for thread in range(128):
        for r in range(registers):
            row, column = cell(shape, thread % 32, r, count)
            row += thread // 32 * 32
            if half:
                at = 2 * column if shape != "16x32bx2" else 2 * r + (2 * count if thread % 32 >= 16 else 0)
                low, high = cells[row, at] & 0xFFFF, cells[row, at + 1] & 0xFFFF
                want_words[thread, r] = low | high << 16
                want_cells[row, at : at + 2] = stored[thread, r] & 0xFFFF, stored[thread, r] >> 16
            else:
                want_words[thread, r], want_cells[row, column] = cells[row, column], stored[thread, r]
    np.testing.assert_array_equal(words, want_words)
    np.testing.assert_array_equal(after, want_cells)


def extreme(values: Array, operation: str) -> Array:
    """tcgen05.ld.red, min and max of PTX 9.0: without `.NaN` numbers are preferred to NaN; with it a NaN is the canonical one."""
    words = operation.split(".")
    if words[-1] != "f32":
        found: Array = getattr(values.view(np.int32 if words[-1] == "s32" else np.uint32), words[0])(axis=1)
        return found.view(np.uint32)
    floats = np.abs(values.view(np.float32)) if "abs" in words else values.view(np.float32)
    ufunc = {"min": (np.fmin, np.minimum), "max": (np.fmax, np.maximum)}[words[0]]["NaN" in words]
    found = ufunc.reduce(floats, axis=1)
    return np.where(np.isnan(found), np.uint32(0x7FFFFFFF), found.view(np.uint32))


@pytest.mark.parametrize("case", EXTREMES, ids=lambda c: extreme_name(*c))
def test_loads_with_an_extreme(case: tuple[str, int, str]) -> None:
    """The least or greatest of a thread's registers, of magnitudes with `.abs`; NaN are among the operands."""
    shape, count, operation = case
    rng = np.random.default_rng(count)
    cells = rng.integers(0, 1 << 32, (128, COLUMNS), dtype=np.uint32)
    if operation.endswith("f32"):
        cells = rng.normal(0, 100, (128, COLUMNS)).astype(np.float32).view(np.uint32)
        cells[rng.random(cells.shape) < 0.1] = 0x7FC00001
        cells[5] = 0x7FC00000
    words = np.zeros((128, count + 1), np.uint32)
    red = oric.sim.load(cubin("tensor", "sm_103a"))
    red.launch(extreme_name(shape, count, operation), 1, 128, [cells, words])
    want = np.zeros((128, count), np.uint32)
    for thread in range(128):
        for r in range(count):
            row, column = cell(shape, thread % 32, r, count)
            want[thread, r] = cells[row + thread // 32 * 32, column]
    np.testing.assert_array_equal(words[:, :count], want)
    np.testing.assert_array_equal(words[:, count], extreme(want, operation))


def descriptor(placing: Placing) -> int:
    """That of tcgen05: the swizzle mode has three bits, and bit 46 is set."""
    mode = {16: 0, 128: 2, 64: 4, 32: 6}[placing.span]
    return (placing.descriptor() & (1 << 61) - 1) | 1 << 46 | mode << 61


@pytest.mark.parametrize("shape", COPIES)
def test_copies(shape: str) -> None:
    """Rows of shared memory go to the lanes of their shape, to all of its replicas."""
    rng = np.random.default_rng(3)
    rows, words = int(shape.split("x", maxsplit=1)[0]), int(shape.split("x")[1][:3]) // 32
    cells = rng.integers(0, 1 << 32, (128, COLUMNS), dtype=np.uint32)
    image = rng.integers(0, 256, ROOM, dtype=np.uint8)
    data = rng.integers(0, 1 << 32, (rows, words), dtype=np.uint32)
    placing = Placing(16, 128 * 16, 128, 0, False)
    place(image, data, 32, placing)
    want = cells.copy()
    for row in range(rows):
        lanes = [row]
        if rows == 4:
            lanes = [32 * row]
        elif "02_13" in shape:
            lanes = [row, row + 64]
        elif "01_23" in shape:
            lanes = [64 * (row // 32) + row % 32 + 32 * i for i in range(2)]
        elif "warpx4" in shape:
            lanes = [row + 32 * i for i in range(4)]
        want[lanes, :words] = data[row]
    module().launch(copy_name(shape), 1, 128, [cells, image, descriptor(placing), 0])
    np.testing.assert_array_equal(cells, want)


@dataclass(frozen=True)
class Case:
    """Types and sizes of a product."""

    product: Product
    m: int
    n: int
    atype: str
    btype: str
    ctype: str = "f32"
    span: int = 128
    turned: bool = False  # A and B with M and N contiguous
    used: bool = True
    negative: bool = False

    @property
    def name(self) -> str:
        types = f"{self.m}x{self.n}_{self.atype}_{self.btype}_{self.ctype}_{self.span}"
        return f"{self.product.name}_{types}{'_turned' if self.turned else ''}{'' if self.used else '_fresh'}"


def cases() -> list[Case]:
    """A few for each kernel."""
    by_name = {p.name: p for p in PRODUCTS}

    def made(name: str, *rest: Any, **more: Any) -> Case:
        return Case(by_name[f"mma_{name}"], *rest, **more)

    return [
        made("f16", 128, 64, "f16", "f16"),
        made("f16", 128, 32, "bf16", "bf16", span=64, used=False),
        made("f16", 64, 48, "f16", "f16", "f16", span=32),
        made("f16", 128, 16, "f16", "bf16", span=16),
        made("f16", 128, 64, "f16", "f16", turned=True),
        made("f16", 64, 16, "bf16", "f16", turned=True, span=16, negative=True),
        made("f16_tensor_a", 128, 32, "f16", "f16"),
        made("f16_tensor_a", 64, 32, "bf16", "f16"),
        made("f16_masked", 128, 16, "f16", "f16"),
        made("f16_scale3", 128, 16, "f16", "f16"),
        made("f16_ws", 32, 64, "f16", "f16"),
        made("f16_ws", 64, 128, "f16", "f16"),
        made("f16_ws", 128, 64, "bf16", "bf16"),
        made("f16_sparse", 128, 32, "f16", "f16"),
        made("tf32", 128, 32, "tf32", "tf32"),
        made("i8", 128, 32, "s8", "u8", "s32"),
        made("i8", 64, 16, "u8", "s8", "s32", span=32),
        made("f8f6f4", 128, 64, "e4m3", "e5m2"),
        made("f8f6f4", 64, 32, "e5m2", "e4m3", "f16"),
        made("f8f6f4", 128, 16, "e2m1", "e3m2"),
        made("f8f6f4", 128, 16, "e2m3", "e4m3"),
        made("f8f6f4_tensor_a", 128, 16, "e4m3", "e4m3"),
        made("f8f6f4_sparse", 128, 16, "e4m3", "e5m2"),
        made("mxf8f6f41X", 128, 64, "e4m3", "e5m2"),
        made("mxf42X", 128, 32, "e2m1", "e2m1"),
        made("mxf4nvf44X", 128, 64, "e2m1", "e2m1"),
    ]


def stored_bits(case: Case, kind: str) -> tuple[int, int]:
    """Bits of an element in shared memory, and elements of 16 bytes."""
    bits = CODE_BITS.get(kind, 8)
    each = 32 if "f4" in case.product.kind and "f8" not in case.product.kind else 16 if bits < 8 else 128 // bits
    return bits, each


def put(image: Array, codes: Array, case: Case, kind: str, start: int) -> Placing:
    """Write a matrix into shared memory; elements of less than 8 bits among bytes keep units of 16."""
    bits, each = stored_bits(case, kind)
    rows, k = codes.shape
    if case.turned:
        units = case.span // 16
        if units == 1:
            placing = Placing(16, 128 * rows // 8, 128, start, True)
        else:
            placing = Placing(case.span, 16 * k * units, 8 * case.span, start, True)
        place(image, codes, bits, placing)
        return placing
    placing = Placing(case.span, 16 * rows, 128 if case.span == 16 else 8 * case.span, start, False)
    for row in range(rows):
        for unit in range(-(-k // each)):
            piece = codes[row, each * unit : each * unit + each]
            shifted = (piece[:, None].astype(np.uint64) >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
            raw = np.packbits(shifted.astype(np.uint8).ravel(), bitorder="little")
            at = placing.address(row, unit)
            image[at : at + len(raw)] = raw
    return placing


def numbers(codes: Array, kind: str) -> Array:
    return integers_of(codes, kind) if kind in {"s8", "u8"} else value(codes, kind)


def lanes_of(case: Case) -> tuple[Array, Array]:
    """Lane and column of each result [row][column]."""
    row, column = np.mgrid[0 : case.m, 0 : case.n]
    if case.m == 128:
        return row, column
    if not case.product.ws:
        return row // 16 * 32 + row % 16, column
    parts = 128 // case.m
    return row + case.m * (column // (case.n // parts)), column % (case.n // parts)


class Run:
    """One product of random matrices."""

    def __init__(self, case: Case, how: str) -> None:
        self.case, product = case, case.product
        rng = np.random.default_rng(zlib.crc32(f"{case.name}{how}".encode()))
        kept = {"f16": 16, "tf32": 8, "mxf4": 64, "mxf4nvf4": 64}.get(product.kind, 32)
        k = 2 * kept if product.sparse else kept
        self.cells = rng.integers(0, 1 << 32, (128, COLUMNS), dtype=np.uint32)
        image = rng.integers(0, 256, ROOM, dtype=np.uint8)
        a, b = codes_of(rng, (case.m, kept), case.atype, how), codes_of(rng, (case.n, k), case.btype, how)
        at_a, at_b = put(image, a, case, case.atype, 0), put(image, b, case, case.btype, SECOND)
        self.lane, self.column = lanes_of(case)
        dtype = DTYPE[case.ctype]
        c = rng.integers(-9, 9, (case.m, case.n)).astype(dtype)
        self.cells[self.lane, self.column] = c.view(np.uint16 if case.ctype == "f16" else np.uint32)
        x, y = numbers(a, case.atype) * (-1 if case.negative else 1), numbers(b, case.btype)
        at = np.tile(np.arange(k), (case.m, 1))
        if product.tensor_a:
            packed = np.ascontiguousarray(a.astype(np.uint16 if CODE_BITS[case.atype] == 16 else np.uint8)).view(np.uint32)
            self.cells[self.lane[:, 0], 256 : 256 + packed.shape[1]] = packed  # in the lanes of the result
        if product.sparse:
            at = self._metadata(rng, k)
        if product.vec:
            x, y = self._scales(rng, x, y)
        with np.errstate(all="ignore"):
            self.terms = x[:, None, :] * y[:, at[:, :kept]].transpose(1, 0, 2)
        self.c = c.astype(np.float64) * case.used / 2.0**product.scale
        self.before = self.cells.copy()
        arguments = [self.cells, image, descriptor(at_a), descriptor(at_b), self._idesc(), int(case.used)]
        module().launch(product.name, 1, 128, arguments)
        words = self.cells[self.lane, self.column]
        self.got = (words.astype(np.uint16) if case.ctype == "f16" else words).view(dtype)

    def _idesc(self) -> int:
        case = self.case
        formats = {"e2m1": 1} if case.product.kind.startswith("mxf4") else {}
        a, b = (formats.get(t, FORMATS[t]) for t in (case.atype, case.btype))
        word = a << 7 | b << 10 | (case.n // 8) << 17 | (case.m // 16) << 24 | case.product.sparse << 2
        word |= case.negative << 13 | (3 << 15 if case.turned else 0)
        if case.product.vec:
            return word | (0 if case.product.kind == "mxf4nvf4" else 1) << 23
        return word | RESULTS[case.ctype] << 4

    def _metadata(self, rng: Any, k: int) -> Array:
        """Metadata in columns 320 on: a cell has 16 bits of row g and of row g + 8, or 32 bits of a row."""
        width = CODE_BITS[self.case.atype]
        at = np.zeros((128, k // 2), int)
        for block in range(8):
            rows = slice(16 * block, 16 * block + 16)
            within, at[rows] = sparse_places(rng, 16, k, width)
            words = pack_metadata(within, Form("", 16, k, "", "", "", "", "", width, True)).reshape(8, 4)
            self.cells[16 * block : 16 * block + 8, 320] = words[:, 0]
            self.cells[16 * block + 8 : 16 * block + 16, 320] = words[:, 1]
            if width == 8:
                self.cells[16 * block : 16 * block + 8, 321] = words[:, 2]
                self.cells[16 * block + 8 : 16 * block + 16, 321] = words[:, 3]
        return at

    def _scales(self, rng: Any, x: Array, y: Array) -> tuple[Array, Array]:
        """Scales from columns 384 and 448 on: row r in lane r % 32 of all four replicas, column r / 32, a byte for each block."""
        blocks = int(self.case.product.vec[0])
        kind = "ue4m3" if self.case.product.kind == "mxf4nvf4" else "ue8m0"
        out = []
        for values, base in ((x, 384), (y, 448)):
            codes = (
                rng.integers(112, 140, (values.shape[0], 4)) if kind == "ue8m0" else rng.integers(1, 127, (values.shape[0], 4))
            )
            for row, four in enumerate(codes):
                word = int.from_bytes(bytes(four.tolist()), "little")
                self.cells[row % 32 :: 32, base + row // 32] = word
            out.append(values * np.repeat(value(codes[:, :blocks], kind), values.shape[1] // blocks, axis=1))
        return out[0], out[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["integers", "normal"])
@pytest.mark.parametrize("case", cases(), ids=lambda c: c.name)
def test_products(case: Case, how: str) -> None:
    """Sums of small integers are exact, others within the tolerance; nothing else changes."""
    run = Run(case, how)
    got, exact = run.got.astype(np.float64), run.terms.sum(axis=2) + run.c
    if case.product.masked:
        disabled = np.array([bool(0x80000001 << (lane // 32) & 0xFFFFFFFF & 1 << lane % 32) for lane in range(128)])
        kept = disabled[run.lane]
        before = run.before[run.lane, run.column].view(np.float32)
        np.testing.assert_array_equal(run.got[kept], before[kept])
        got, exact, run.terms, run.c = got[~kept], exact[~kept], run.terms[~kept], run.c[~kept]
    if how == "integers" and not case.product.vec:
        np.testing.assert_array_equal(got, exact)
    else:
        size = np.abs(run.terms).sum(axis=-1) + np.abs(run.c)
        keeps = 10 if case.ctype == "f16" else 22 if case.product.kind in {"f16", "tf32", "i8"} else 12
        assert (np.abs(got - exact) <= size * 2.0**-keeps + 2.0**-24).all()
    untouched = np.ones((128, COLUMNS), bool)
    untouched[run.lane, run.column] = False
    np.testing.assert_array_equal(run.cells[untouched], run.before[untouched])


def pair_idesc(kind: str, m: int, n: int) -> int:
    """Signed A and unsigned B, E4M3 and E5M2, or halves; results of 32 bits."""
    types = {"f16": 1 << 4, "i8": 2 << 4 | 1 << 7, "f8f6f4": 1 << 4 | 1 << 10}[kind]
    return types | (n // 8) << 17 | (m // 16) << 24


@pytest.mark.parametrize(
    ("kind", "m", "n"), [("f16", 128, 64), ("f16", 256, 256), ("i8", 256, 32), ("f8f6f4", 128, 32), ("f8f6f4", 256, 64)]
)
def test_pair_of_ctas(kind: str, m: int, n: int) -> None:
    """Each CTA has half of the rows and half of B's columns; of 128 rows the columns are in the two halves of its lanes."""
    rng = np.random.default_rng(m + n)
    atype, btype = {"f16": ("f16", "f16"), "i8": ("s8", "u8"), "f8f6f4": ("e4m3", "e5m2")}[kind]
    k, half = 16 if kind == "f16" else 32, m // 2
    a, b = codes_of(rng, (m, k), atype, "integers"), codes_of(rng, (n, k), btype, "integers")
    c = rng.integers(-9, 9, (m, n)).astype(np.int32 if kind == "i8" else np.float32)
    cells = rng.integers(0, 1 << 32, (2, 128, COLUMNS), dtype=np.uint32)
    image = rng.integers(0, 256, (2, ROOM), dtype=np.uint8)
    at_a, at_b = Placing(128, 16, 1024, 0, False), Placing(128, 16, 1024, 20480, False)
    for i in range(2):
        place(image[i], a[half * i : half * i + half], CODE_BITS.get(atype, 8), at_a)
        place(image[i], b[n // 2 * i : n // 2 * (i + 1)], CODE_BITS.get(btype, 8), at_b)
    row, column = np.mgrid[0:m, 0:n]
    cta, lane = row // half, row % half
    if m == 128:
        lane, column = lane + 64 * (column // (n // 2)), column % (n // 2)
    cells[cta, lane, column] = c.view(np.uint32)
    before = cells.copy()
    arguments = [cells, image, descriptor(at_a), descriptor(at_b), pair_idesc(kind, m, n), 1]
    module().launch(f"pair_{kind}", 2, 128, arguments)
    exact = numbers(a, atype).astype(np.float64) @ numbers(b, btype).astype(np.float64).T + c
    np.testing.assert_array_equal(cells[cta, lane, column].view(c.dtype), exact)
    untouched = np.ones(cells.shape, bool)
    untouched[cta, lane, column] = False
    np.testing.assert_array_equal(cells[untouched], before[untouched])


@pytest.mark.parametrize("memcheck", [False, True])
def test_pair_allocates_alike(memcheck: bool) -> None:
    """The even CTA takes columns that are free in both; the other one gets their address through shared memory."""
    out = np.zeros((2, 3), np.uint32)
    stats = module().launch("pair_allocations", 2, 32, [out], modes=oric.sim.Modes(strict=not memcheck, memcheck=memcheck))
    assert out.tolist() == [[0, 256, 0]] * 2
    assert stats.reports == ()
