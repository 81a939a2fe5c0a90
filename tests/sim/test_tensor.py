"""Bulk and tensor copies in vendor-made cubins, against numpy."""

from __future__ import annotations

import struct
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes

from tests.sim.vendor_cubins import module

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]
TARGETS = ["sm_90a", "sm_100a", "sm_120a"]
targets = pytest.mark.parametrize("target", TARGETS)
clusters = pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])


def coordinates(at: Sequence[int]) -> bytes:
    return struct.pack("<5i", *at, *[0] * (5 - len(at)))


def strides_of(tensor: Array) -> list[int]:
    """Of all dimensions but the innermost, which comes first."""
    return list(tensor.strides[-2::-1])


def box_of(tensor: Array, at: Sequence[int], box: Sequence[int], steps: Sequence[int], fill: Any = 0) -> Array:
    """What a tile holds, outermost dimension first; `at`, `box`, `steps` begin with the innermost."""
    sizes = [-(-b // s) if i else b for i, (b, s) in enumerate(zip(box, steps, strict=True))]
    out = np.full(sizes[::-1], fill, tensor.dtype)
    for index in product(*map(range, out.shape)):
        place = tuple(at[k] + index[-1 - k] * (steps[k] if k else 1) for k in range(len(at)))[::-1]
        if all(0 <= p < n for p, n in zip(place, tensor.shape, strict=True)):
            out[index] = tensor[place]
    return out


def swizzled(rows: Array, swizzle: str) -> Array:
    """Rows as they lie in shared memory: the units of a row change places by the number of its line of 128 bytes."""
    unit, units, lines = {"32B": (16, 2, 1), "64B": (16, 4, 1), "128B": (16, 8, 1), "128B_ATOM_32B": (32, 4, 1)}[swizzle]
    span = unit * units
    flat = rows.reshape(-1, span).copy()
    out = np.empty_like(flat)
    for r in range(len(flat)):
        line = r * span // 128 * lines
        for j in range(units):
            k = j ^ line % units
            out[r, unit * k : unit * (k + 1)] = flat[r, unit * j : unit * (j + 1)]
    return out


def data(shape: Sequence[int], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).integers(1, 100, shape).astype(dtype)


@targets
def test_bulk_copies(target: str) -> None:
    x = data([1000], np.int32, 1)
    out = np.zeros(1000, np.int32)
    module("tma", target).launch("bulk", 1, 64, [x, out, 3200], shared_bytes=4096)
    assert (out[:800] == 3 * x[:800] + 1).all()
    assert (out[800:] == 0).all()


REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "add_u32": (np.uint32, np.add),
    "add_u64": (np.uint64, np.add),
    "min_s32": (np.int32, np.minimum),
    "max_u32": (np.uint32, np.maximum),
    "min_s64": (np.int64, np.minimum),
    "max_u64": (np.uint64, np.maximum),
    "inc_u32": (np.uint32, lambda old, x: np.where(old >= x, 0, old + 1)),
    "dec_u32": (np.uint32, lambda old, x: np.where((old == 0) | (old > x), x, old - 1)),
    "and_b32": (np.uint32, np.bitwise_and),
    "or_b64": (np.uint64, np.bitwise_or),
    "xor_b32": (np.uint32, np.bitwise_xor),
    "add_f32": (np.float32, np.add),
    "add_f64": (np.float64, np.add),
    "add_f16": (np.float16, np.add),
    "min_f16": (np.float16, np.minimum),
}


@targets
@pytest.mark.parametrize("kernel", REDUCTIONS)
def test_bulk_reductions(target: str, kernel: str) -> None:
    dtype, operation = REDUCTIONS[kernel]
    random = np.random.default_rng(3)
    count = 16 * 40 // np.dtype(dtype).itemsize
    if np.dtype(dtype).kind == "f":
        x, out = random.standard_normal((2, count)).astype(dtype)
    else:
        x, out = random.integers(-50, 50, (2, count)).astype(dtype)
    want = operation(out, x).astype(dtype)
    module("tma", target).launch(kernel, 1, 40, [x, out], shared_bytes=4096)
    assert out.tolist() == want.tolist()


# Type, dimensions, box, coordinates, element strides.
TILES: list[tuple[Any, list[int], list[int], list[int], list[int]]] = [
    (np.int32, [100], [40], [28], [1]),
    (np.int32, [100], [40], [88], [1]),
    (np.uint8, [64], [48], [-16], [1]),
    (np.float64, [50], [20], [46], [1]),
    (np.int32, [32, 20], [16, 8], [4, 3], [1, 1]),
    (np.int32, [32, 20], [16, 8], [-4, 17], [1, 1]),
    (np.uint16, [40, 20], [24, 9], [24, -4], [1, 2]),
    (np.float16, [64, 30], [64, 8], [0, 5], [1, 1]),
    (np.int64, [8, 6, 5], [4, 3, 2], [6, -1, 4], [1, 1, 1]),
    (np.uint32, [8, 9, 5], [8, 6, 4], [0, 2, 1], [1, 3, 2]),
    (np.uint8, [32, 5, 4, 3], [16, 2, 3, 2], [16, 1, -1, 2], [1, 1, 1, 1]),
    (np.float32, [8, 4, 3, 3, 4], [8, 2, 2, 2, 3], [-4, 3, 1, 2, -1], [1, 1, 1, 1, 1]),
]


@targets
@pytest.mark.parametrize("tile", TILES, ids=lambda t: f"{len(t[1])}D-{np.dtype(t[0]).name}-{t[3]}")
def test_tiles(target: str, tile: tuple[Any, list[int], list[int], list[int], list[int]]) -> None:
    dtype, dims, box, at, steps = tile
    mod = module("tma", target)
    tensor = data(dims[::-1], dtype, 4)
    memory = mod.buffer(tensor)
    described = oric.sim.tensor_map(dtype, memory, dims, strides_of(tensor), box, steps)
    want = box_of(tensor, at, box, steps)
    out = np.zeros_like(want)
    mod.launch(f"load{len(dims)}", 1, 64, [described, coordinates(at), out, out.nbytes, bytes(20)], shared_bytes=16384)
    assert out.tolist() == want.tolist()
    # and back: only what lies inside changes
    fresh = data(want.shape, dtype, 5)
    mod.launch(f"store{len(dims)}", 1, 64, [described, coordinates(at), fresh, fresh.nbytes], shared_bytes=16384)
    stored = np.frombuffer(memory.read(), dtype).reshape(tensor.shape)
    places = box_of(np.arange(tensor.size).reshape(tensor.shape) + 1, at, box, steps)
    changed = tensor.copy()
    changed.reshape(-1)[places[places > 0] - 1] = fresh[places > 0]
    assert stored.tolist() == changed.tolist()


@targets
@pytest.mark.parametrize(("swizzle", "row"), [("32B", 32), ("64B", 64), ("128B", 128), ("128B_ATOM_32B", 128)])
def test_swizzles(target: str, swizzle: str, row: int) -> None:
    mod = module("tma", target)
    tensor = data([40, 256], np.uint8, 6)
    described = oric.sim.tensor_map(np.uint8, mod.buffer(tensor), [256, 40], [256], [row, 24], swizzle=swizzle)
    out = np.zeros((24, row), np.uint8)
    mod.launch("load2", 1, 64, [described, coordinates([64, 10]), out, out.nbytes, bytes(20)], shared_bytes=8192)
    assert (out.reshape(-1) == swizzled(tensor[10:34, 64 : 64 + row], swizzle).reshape(-1)).all()
    target_memory = mod.buffer(tensor.nbytes)
    back = oric.sim.tensor_map(np.uint8, target_memory, [256, 40], [256], [row, 24], swizzle=swizzle)
    mod.launch("store2", 1, 64, [back, coordinates([64, 10]), out, out.nbytes], shared_bytes=8192)
    stored = np.frombuffer(target_memory.read(), np.uint8).reshape(tensor.shape)
    assert (stored[10:34, 64 : 64 + row] == tensor[10:34, 64 : 64 + row]).all()
    assert stored.sum() == tensor[10:34, 64 : 64 + row].astype(int).sum()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_outside_of_a_tensor_is_not_a_number(dtype: str) -> None:
    mod = module("tma", "sm_90a")
    kind = np.dtype(np.uint16 if dtype == "bfloat16" else dtype)
    tensor = data([4, 16], kind, 7)
    described = oric.sim.tensor_map(dtype, mod.buffer(tensor), [16, 4], [16 * kind.itemsize], [16, 4], fill="nan")
    out = np.zeros((4, 16), kind)
    mod.launch("load2", 1, 64, [described, coordinates([0, 2]), out, out.nbytes, bytes(20)], shared_bytes=8192)
    assert (out[:2] == tensor[2:]).all()
    if kind.itemsize == 2:
        assert (out[2:].view(np.uint16) == 0x7FF7).all()  # what HFMA2.OOB looks for
    else:
        assert np.isnan(out[2:]).all()


@targets
@pytest.mark.parametrize(("kernel", "dtype", "operation"), [
    ("reduce_add", np.uint32, np.add), ("reduce_add", np.float32, np.add), ("reduce_add", np.float16, np.add),
    ("reduce_add", np.uint64, np.add),
    ("reduce_min", np.int32, np.minimum), ("reduce_min", np.int64, np.minimum), ("reduce_xor", np.uint32, np.bitwise_xor),
])  # fmt: skip
def test_tensor_reductions(target: str, kernel: str, dtype: Any, operation: Any) -> None:
    mod = module("tma", target)
    tensor, x = data([20, 32], dtype, 8), data([8, 16], dtype, 9)
    memory = mod.buffer(tensor)
    described = oric.sim.tensor_map(dtype, memory, [32, 20], strides_of(tensor), [16, 8])
    mod.launch(kernel, 1, 64, [described, coordinates([24, -2]), x, x.nbytes], shared_bytes=8192)
    tensor[0:6, 24:32] = operation(tensor[0:6, 24:32], x[2:, :8])
    assert np.frombuffer(memory.read(), dtype).tolist() == tensor.reshape(-1).tolist()


def columns(
    images: Array,
    at: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    offsets: Sequence[int],
    shape: tuple[int, int],
    steps: Sequence[int],
) -> Array:
    """Pixels one after the other, channels of each; dimensions of `images`: N, [D, [H,]] W, C."""
    channels, pixels = shape
    sizes = images.shape[-2:0:-1]  # W, H, D
    out = np.zeros((pixels, channels), images.dtype)
    first = [list(range(lo, n + hi, s)) for lo, n, hi, s in zip(low, sizes, high, steps, strict=True)]
    order = list(product(range(images.shape[0]), *first[::-1]))
    start = order.index((at[-1], *at[-2:0:-1]))
    for row, (n, *rest) in enumerate(order[start : start + pixels]):
        place = [r + o for r, o in zip(rest[::-1], offsets, strict=True)]
        if all(0 <= p < size for p, size in zip(place, sizes, strict=True)):
            line = images[(n, *place[::-1])]
            part = line[at[0] : at[0] + channels]
            out[row, : len(part)] = part
    return out


# Dimensions C, W, H, D, N; corners; coordinates; offsets; channels and pixels; steps of pixels.
COLUMNS: list[tuple[list[int], list[int], list[int], list[int], list[int], tuple[int, int], list[int]]] = [
    ([16, 9, 4], [-1], [-1], [0, 3, 1], [2], (16, 20), [1]),
    ([8, 9, 7, 3], [-1, -1], [-1, -1], [0, -1, -1, 0], [0, 0], (8, 64), [1, 1]),
    ([8, 9, 7, 3], [-1, -1], [-1, -1], [0, 7, 4, 0], [2, 1], (8, 64), [1, 1]),
    ([12, 9, 7, 3], [0, 0], [-2, -2], [4, 2, 2, 1], [2, 2], (8, 24), [2, 2]),
    ([8, 5, 4, 3, 3], [-1, 0, -1], [-1, 0, -1], [0, 2, 1, -1, 0], [1, 0, 2], (8, 100), [1, 1, 1]),
]


@targets
@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{len(c[0])}D-{c[3]}")
def test_columns(target: str, column: Any) -> None:
    dims, low, high, at, offsets, shape, steps = column
    mod = module("tma", target)
    images = data(dims[::-1], np.float32, 10)
    memory = mod.buffer(images)
    every = [1, *steps, 1]
    described = oric.sim.tensor_map_im2col(np.float32, memory, dims, strides_of(images), low, high, *shape, every)
    out = np.zeros(shape[::-1], np.float32)
    mod.launch(
        f"pixels{len(dims)}", 1, 64, [described, coordinates(at), out, out.nbytes, coordinates(offsets)], shared_bytes=8192
    )
    assert out.tolist() == columns(images, at, low, high, offsets, shape, steps).tolist()
    if len(dims) == 4:
        places = columns(np.arange(images.size).reshape(images.shape) + 1, at, low, high, [0, 0], shape, steps)
        mod.launch("column4", 1, 64, [described, coordinates(at), out, out.nbytes], shared_bytes=8192)
        images.reshape(-1)[places[places > 0] - 1] = out[places > 0]
        assert np.frombuffer(memory.read(), np.float32).tolist() == images.reshape(-1).tolist()


def test_rows_of_a_tensor() -> None:
    mod = module("tma", "sm_100a")
    tensor = data([50, 32], np.int32, 11)
    memory = mod.buffer(tensor)
    described = oric.sim.tensor_map(np.int32, memory, [32, 50], [128], [16, 1])
    out = np.zeros((4, 16), np.int32)
    mod.launch("gather4", 1, 64, [described, coordinates([8, 3, 49, 50, 17]), out, out.nbytes, bytes(20)], shared_bytes=8192)
    assert out.tolist() == [tensor[3, 8:24].tolist(), tensor[49, 8:24].tolist(), [0] * 16, tensor[17, 8:24].tolist()]
    fresh = data([4, 16], np.int32, 12)
    mod.launch("scatter4", 1, 64, [described, coordinates([20, 3, 50, 7, 0]), fresh, fresh.nbytes], shared_bytes=8192)
    tensor[[3, 7, 0], 20:] = fresh[[0, 2, 3], :12]
    assert np.frombuffer(memory.read(), np.int32).tolist() == tensor.reshape(-1).tolist()


def test_masked_bytes() -> None:
    x, out = data([32, 16], np.uint8, 13), np.zeros((32, 16), np.uint8)
    module("tma", "sm_100a").launch("masked", 1, 32, [x, out], shared_bytes=1024)
    assert (out[:, ::2] == x[:, ::2]).all()
    assert (out[:, 1::2] == 0).all()


@clusters
@pytest.mark.parametrize("mask", [0b1111, 0b1010, 0b0001])
def test_multicast(target: str, mask: int) -> None:
    mod = module("tma", target)
    tensor, x = data([20, 32], np.int32, 14), data([128], np.int32, 15)
    described = oric.sim.tensor_map(np.int32, mod.buffer(tensor), [32, 20], [128], [16, 8])
    out = np.zeros((8, 2, 128), np.int32)
    mod.launch("multicast", 8, 64, [described, coordinates([8, 4]), x, out, 512, mask], shared_bytes=4096, cluster=4)
    for block in range(8):
        want = [tensor[4:12, 8:24].reshape(-1), x] if mask >> block % 4 & 1 else np.zeros((2, 128))
        assert (out[block] == want).all(), block


def test_pairs_of_blocks() -> None:
    mod = module("tma", "sm_100a")
    tensor = data([20, 32], np.int32, 16)
    described = oric.sim.tensor_map(np.int32, mod.buffer(tensor), [32, 20], [128], [16, 8])
    out = np.zeros((4, 8, 16), np.int32)
    mod.launch("pair", 4, 64, [described, coordinates([8, 4]), out, 512], shared_bytes=4096, cluster=2)
    for block in range(4):
        assert (out[block] == tensor[4 + block % 2 : 12 + block % 2, 8:24]).all()


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "type": ({"dtype": np.complex64}, "complex64"),
    "address": ({"address": 8}, "0x8"),
    "dimensions": ({"dims": [1] * 6, "strides": [16] * 5}, "dimensions"),
    "size": ({"dims": [0, 4]}, "dimensions"),
    "stride": ({"strides": [20]}, "strides"),
    "box": ({"box": [16, 257]}, "box"),
    "row": ({"box": [3, 4]}, "12 bytes"),
    "swizzle": ({"swizzle": "128B"}, "64 bytes"),
    "unknown swizzle": ({"swizzle": "256B"}, "256B"),
    "element strides": ({"element_strides": [1, 9]}, "element strides"),
    "fill": ({"dtype": np.int32, "fill": "nan"}, "int32"),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_impossible_tensor_map(what: str) -> None:
    changed, message = IMPOSSIBLE[what]
    arguments = {"dtype": np.float32, "address": 256, "dims": [32, 20], "strides": [128], "box": [16, 8], **changed}
    with pytest.raises(ValueError, match=message):
        oric.sim.tensor_map(**arguments)


def test_impossible_columns() -> None:
    good: dict[str, Any] = {
        "dtype": np.float32,
        "address": 256,
        "dims": [8, 9, 7, 3],
        "strides": [32, 288, 2016],
        "lower": [0, 0],
        "upper": [0, 0],
    }
    good |= {"channels": 8, "pixels": 16}
    assert len(oric.sim.tensor_map_im2col(**good)) == 128
    for changed, message in [
        ({"dims": [8, 9], "strides": [32]}, "im2col"),
        ({"lower": [-129, 0]}, "corner"),
        ({"pixels": 1025}, "pixels"),
        ({"channels": 3}, "12 bytes"),
    ]:
        with pytest.raises(ValueError, match=message):
            oric.sim.tensor_map_im2col(**(good | changed))


def test_faults() -> None:
    """A map that is none, one of another rank, one that names memory which is not there, rows within 16 bytes, damage."""
    mod = module("tma", "sm_90a")
    tensor = data([20, 32], np.int32, 17)
    good = oric.sim.tensor_map(np.int32, mod.buffer(tensor), [32, 20], [128], [16, 8])
    out = np.zeros((8, 16), np.int32)

    def load(described: bytes, kernel: str = "load2", at: int = 0) -> None:
        mod.launch(
            kernel, 1, 64, [described, coordinates([at, 0]), out, out.nbytes, bytes(20)], shared_bytes=4096, max_steps=5000
        )

    load(good)
    with pytest.raises(oric.sim.IllegalInstruction, match="no tensor map"):
        load(bytes(128))
    with pytest.raises(oric.sim.IllegalInstruction, match="another rank"):
        load(good, "load3")
    with pytest.raises(oric.sim.IllegalInstruction, match="another rank or mode"):
        load(good, "pixels3")
    with pytest.raises(oric.sim.OutOfBounds):
        load(oric.sim.tensor_map(np.int32, 256, [32, 20], [128], [16, 8]))
    with pytest.raises(oric.sim.IllegalInstruction, match="no multiple of 16 bytes"):
        load(good, at=2)
    random = np.random.default_rng(18)
    for _ in range(300):
        broken = bytearray(good)
        for place in random.integers(0, 96, 2):
            broken[place] = random.integers(256)
        with suppress(oric.sim.ExecutionError):
            load(bytes(broken))


@pytest.mark.parametrize("modes", [Modes(), Modes(memcheck=True), Modes(strict=True)])
def test_boxes_that_no_shared_memory_holds(modes: Modes) -> None:
    """The copy ends at once, also where faults are reported and passed over."""
    mod = module("tma", "sm_90a")
    described = oric.sim.tensor_map(np.uint8, mod.buffer(1 << 18), [16] * 5, [16, 256, 4096, 65536], [256] * 5)
    buffer = mod.buffer(4096)
    for kernel, more in (("load5", [bytes(20)]), ("store5", [])):
        with pytest.raises(oric.sim.OutOfBounds, match=r"4294967295-byte .* shared memory .* at \w+\+0x\w+ 'UTMA\w+\.5D"):
            mod.launch(kernel, 1, 64, [described, coordinates([0] * 5), buffer, 4096, *more], shared_bytes=16384, modes=modes)
