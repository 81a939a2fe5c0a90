"""Bulk and tensor copies to other CTAs of a cluster: instructions on sm_90a, calls of the driver's functions on sm_120a."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes
from oric.sim.faults import instruction_text
from oric.support import elf
from oric_tables import ops

from tests.sim.program import word
from tests.sim.vendor_cubins import cubin, module

TARGETS = ("sm_90a", "sm_120a")
SHAPE = (3, 4, 5, 6, 8)  # of the tensor of five dimensions, the innermost last; fewer dimensions are its last ones
BOX = (2, 2, 3, 2, 4)
AT = (1, 1, 4, 2, 4)  # the third dimension ends within the box
SM_120 = ops.ISAS.index("sm_120")
targets = pytest.mark.parametrize("target", TARGETS)


def where(coordinates: list[int], offsets: list[int], rank: int, mask: int) -> bytes:
    """The kernel's structure."""
    return struct.pack("10i", *(coordinates + [0] * 5)[:5], *(offsets + [0] * 3)[:3], rank, mask)


def tile(tensor: np.ndarray, at: tuple[int, ...], box: tuple[int, ...]) -> np.ndarray:
    """A box of a tensor; what lies outside is 0."""
    out = np.zeros(box, tensor.dtype)
    for index in itertools.product(*map(range, box)):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, tensor.shape, strict=True)):
            out[index] = tensor[place]
    return out


def receivers(rank: int, mask: int) -> list[int]:
    return [r for r in range(4) if mask >> r & 1] if mask else [rank]


@targets
@pytest.mark.parametrize(("rank", "mask"), [(0, 0), (3, 0), (0, 0b1111), (0, 0b1010), (0, 0b0001)])
@pytest.mark.parametrize("dims", range(6))
@pytest.mark.parametrize("memcheck", [False, True])
def test_blocks_and_tiles(target: str, dims: int, rank: int, mask: int, memcheck: bool) -> None:
    """To the own CTA, to another one, to several; 0 dimensions: a block of bytes."""
    mod = module("peers", target)
    tensor = np.random.default_rng(dims).integers(1, 1 << 30, SHAPE[5 - max(dims, 1) :], dtype=np.int32)
    at, box = AT[5 - dims :], BOX[5 - dims :]
    want = tile(tensor, at, box) if dims else tensor[:4]
    out, memory = np.zeros((4, want.size), np.int32), mod.buffer(tensor)
    described = bytes(128)
    if dims:
        described = oric.sim.tensor_map(np.int32, memory, tensor.shape[::-1], tensor.strides[-2::-1], box[::-1])
    arguments = [described, where(list(at[::-1]), [], rank, mask), memory, out, 4 * want.size]
    name = f"tile{dims}" if dims else "block"
    stats = mod.launch(name, 4, 64, arguments, shared_bytes=2048, cluster=4, modes=Modes(strict=not memcheck, memcheck=memcheck))
    assert stats.reports == ()
    for block in range(4):
        assert (out[block] == (want.ravel() if block in receivers(rank, mask) else 0)).all(), block


@targets
@pytest.mark.parametrize(("rank", "mask"), [(2, 0), (0, 0b0110)])
@pytest.mark.parametrize("dims", [3, 4, 5])
def test_pixels(target: str, dims: int, rank: int, mask: int) -> None:
    """Pixels of images; the offsets of the driver's functions are on the stack."""
    mod = module("peers", target)
    images = np.random.default_rng(dims).integers(1, 1 << 30, (2, *SHAPE[5 - dims + 1 : 4], 8), dtype=np.int32)
    size = images.shape[-2:0:-1]  # W, H, D
    described = oric.sim.tensor_map_im2col(
        np.int32, mod.buffer(images), images.shape[::-1], images.strides[-2::-1], [0] * (dims - 2), [-1] * (dims - 2), 4, 6
    )
    offsets = [1, 0, 1][: dims - 2]
    out = np.zeros((4, 6, 4), np.int32)
    arguments = [described, where([4] + [0] * (dims - 1), offsets, rank, mask), mod.buffer(4), out, 96]
    mod.launch(f"pixels{dims}", 4, 64, arguments, shared_bytes=2048, cluster=4)
    every = itertools.product(range(2), *(range(n - 1) for n in size[::-1]))
    want = np.array([images[(n, *(p + o for p, o in zip(place, offsets[::-1], strict=True)))][4:] for n, *place in every][:6])
    for block in range(4):
        assert (out[block] == (want if block in receivers(rank, mask) else 0)).all(), block


def test_wrong_sizes_are_faults() -> None:
    mod = module("peers", "sm_120a")
    arguments = [bytes(128), where([], [], 1, 0), np.zeros(16, np.int32), np.zeros(64, np.int32), 24]
    with pytest.raises(oric.sim.IllegalInstruction, match=r"no multiple of 16.*CALL"):
        mod.launch("block", 4, 64, arguments, shared_bytes=2048, cluster=4)
    with pytest.raises(oric.sim.OutOfBounds, match="the cluster's shared memory"):
        mod.launch("block", 4, 64, [*arguments[:1], where([], [], 5, 0), *arguments[2:4], 32], shared_bytes=2048, cluster=4)


@pytest.mark.parametrize("modes", [Modes(), Modes(memcheck=True)])
def test_blocks_larger_than_shared_memory(modes: Modes) -> None:
    """The driver's function takes 32 bits of size: nothing is copied, and the memory checker does not look at each place."""
    data = bytearray(cubin("peers", "sm_120a"))
    image = elf.read(bytes(data))
    code, start = image.functions["block"].text, image.sections[image.functions["block"].section].offset
    for at in range(0, len(code), 16):  # without the arrival that expects the bytes: an mbarrier cannot expect so many
        if "SYNCS.ARRIVE" in instruction_text(SM_120, code, at):
            data[start + at : start + at + 16] = word(SM_120, "NOP")
    mod = oric.sim.load(bytes(data))
    arguments = [bytes(128), where([], [], 1, 0), mod.buffer(4096), mod.buffer(4096), 1 << 30]
    with pytest.raises(oric.sim.OutOfBounds, match=r"1073741824-byte write to the cluster's shared memory"):
        mod.launch("block", 4, 64, arguments, shared_bytes=2048, cluster=4, modes=modes)
