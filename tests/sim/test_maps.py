"""Tensor maps that device code makes of zeros, or of another map, with tensormap.replace."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import oric.sim
import pytest

from tests.sim.vendor_cubins import module

TARGETS = ("sm_90a", "sm_100a", "sm_120a")
targets = pytest.mark.parametrize("target", TARGETS)
# kernel: type, size of the box's innermost dimension, swizzle, fill
KERNELS: dict[str, tuple[Any, int, str, str]] = {
    "integers": (np.int32, 8, "none", "zero"),
    "halves": (np.float16, 64, "128B", "nan"),
    "singles": (np.float32, 8, "32B", "zero"),
    "doubles": (np.float64, 4, "none", "nan"),
    "brains": ("bfloat16", 32, "64B", "nan"),
}
STEPS = (1, 2, 1)
AT = (8, 3, 2)


def fields(address: int, dims: list[int], strides: list[int], box: list[int]) -> bytes:
    """The kernel's structure."""
    return struct.pack("3Q12i", address, *strides, *dims, *box, *STEPS, *AT)


def images(dtype: Any) -> Any:
    """Bytes of a tensor, its dimensions and strides."""
    size = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    dims = [80, 7, 4]
    raw = np.random.default_rng(size).integers(0, 60, dims[0] * dims[1] * dims[2] * size, dtype=np.uint8)
    return raw, dims, [dims[0] * size, dims[0] * dims[1] * size]


@targets
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("before", ["zeros", "tiles"])
def test_every_field_is_replaced(target: str, kernel: str, before: str) -> None:
    """The tile is that of a map that the host makes; it ends outside of the tensor."""
    dtype, width, swizzle, fill = KERNELS[kernel]
    raw, dims, strides = images(dtype)
    box, mod, tma = [width, 6, 3], module("maps", target), module("tma", target)
    size = width * 3 * 3 * raw.size // (dims[0] * dims[1] * dims[2])  # every second of six rows
    template = bytes(128)
    if before == "tiles":
        template = oric.sim.tensor_map(np.int64, 1 << 44, [9] * 5, [1 << 38] * 4, [2, 9, 8, 7, 6], [1, 8, 7, 6, 5])
    want, out = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    made = oric.sim.tensor_map(dtype, tma.buffer(raw), dims, strides, box, STEPS, swizzle, fill)
    tma.launch("load3", 1, 64, [made, struct.pack("5i", *AT, 0, 0), want, size, bytes(20)], shared_bytes=16384)
    arguments = [template, fields(mod.buffer(raw).address, dims, strides, box), mod.buffer(128), out, size]
    mod.launch(kernel, 1, 32, arguments, shared_bytes=16384)
    assert (out == want).all()
    assert len(set(want.tolist())) > 30


@pytest.mark.parametrize(
    ("kernel", "message"),
    [("flushed", "elements of this type"), ("tensors", "elements of this type"), ("interleaved", "interleaved")],
)
def test_what_is_not_known_stops_with_its_name(kernel: str, message: str) -> None:
    raw, dims, strides = images(np.int32)
    mod = module("maps", "sm_90a")
    arguments = [
        bytes(128),
        fields(mod.buffer(raw).address, dims, strides, [8, 6, 3]),
        mod.buffer(128),
        np.zeros(288, np.uint8),
        288,
    ]
    with pytest.raises(oric.sim.Unsupported, match=message):
        mod.launch(kernel, 1, 32, arguments, shared_bytes=16384)
