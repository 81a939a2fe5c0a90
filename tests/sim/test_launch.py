"""What a launch does with its arguments, and module variables."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import oric.sim
import pytest

from tests.kernels import cases
from tests.sim import vendor_cubins
from tests.sim.vendor_cubins import TARGETS

VARIABLES = {"weights": 32, "order": 16, "bonus": 40, "bonus_tail": 8, "visits": 4}
targets = pytest.mark.parametrize("target", TARGETS)


def load(file: str, target: str) -> oric.sim.Module:
    return oric.sim.load(cases.golden_cubin(file, target))


@targets
@pytest.mark.parametrize("n", [40, np.int32(40), np.int64(40), np.uint8(40), (40).to_bytes(4, "little")])
@pytest.mark.parametrize("a", [3.0, np.float32(3), np.float64(3), struct.pack("<f", 3)])
def test_scalars_take_their_size_from_the_cubin(target: str, n: Any, a: Any) -> None:
    x, y = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    load("saxpy", target).launch("saxpy", grid=(2, 1, 1), block=(32, 1, 1), args=[n, a, x, y], shared_bytes=0)
    assert (y == 3 * np.arange(40) + 1).all()
    assert (x == np.arange(40)).all()


@targets
def test_array_passed_twice_is_one_buffer(target: str) -> None:
    y = np.ones(8, np.float32)
    load("saxpy", target).launch("saxpy", 1, 8, [8, 2.0, y, y])
    assert (y == 3).all()


@targets
def test_overlapping_arrays_overlap_on_the_device(target: str) -> None:
    whole = np.arange(12, dtype=np.float32)
    load("saxpy", target).launch("saxpy", 1, 32, [4, 1.0, whole[:4], whole[8:]])
    load("saxpy", target).launch("saxpy", 1, 32, [4, 10.0, whole[4:8], whole[6:10]])
    want = np.arange(12, dtype=np.float32)
    want[8:] += want[:4]
    want[6:10] += 10 * np.array([4, 5, 6, 7])
    assert (whole == want).all()


@targets
def test_strided_arrays(target: str) -> None:
    whole = np.zeros((8, 2), np.float32)
    x = np.arange(16, dtype=np.float32)[::2]
    load("saxpy", target).launch("saxpy", 1, 8, [8, 1.0, x, whole[:, 1]])
    assert (whole[:, 1] == np.arange(0, 16, 2)).all()
    assert (whole[:, 0] == 0).all()
    with pytest.raises(oric.sim.LaunchError, match="share memory"):
        load("saxpy", target).launch("saxpy", 1, 8, [8, 1.0, whole[:, 0], whole[:, 1]])


@targets
def test_buffers_live_across_launches(target: str) -> None:
    module = load("saxpy", target)
    buffer = module.buffer(np.ones(16, np.float32))
    x = np.ones(16, np.float32)
    for _ in range(3):
        module.launch("saxpy", 1, 16, [16, 1.0, x, buffer])
    module.launch("saxpy", 1, 16, [16, 1.0, x, buffer.address])
    assert (np.frombuffer(buffer.read(), np.float32) == 5).all()
    buffer.write(np.float32([7]), offset=4)
    assert np.frombuffer(buffer.read(), np.float32)[1] == 7
    with pytest.raises(ValueError, match="do not fit"):
        buffer.write(bytes(80))
    address = buffer.address
    buffer.free()
    with pytest.raises(oric.sim.OutOfBounds):
        module.launch("saxpy", 1, 16, [16, 1.0, x, address])


@targets
def test_statistics(target: str) -> None:
    args = [64, 1.0, np.ones(64, np.float32), np.ones(64, np.float32)]
    done = load("saxpy", target).launch("saxpy", 3, 32, args)
    assert done.ctas == 3
    assert done.thread_instructions > done.warp_instructions > 3
    assert done == load("saxpy", target).launch("saxpy", 3, 32, args)


@targets
def test_module_variables(target: str) -> None:
    module = load("tables", target)
    for name, size in VARIABLES.items():
        before = module.read_global(name)
        assert len(before) == size
        module.write_global(name, bytes(len(before)))
        assert module.read_global(name) == bytes(len(before))
        module.write_global(name, before)
        assert module.read_global(name) == before
        with pytest.raises(ValueError, match="do not fit"):
            module.write_global(name, bytes(len(before) + 1))
    with pytest.raises(oric.sim.SimError, match="no variable 'nothing'"):
        module.read_global("nothing")


@targets
def test_variables_keep_their_values(target: str) -> None:
    """A second launch sees what the first one has left in the module's memory; a fresh module does not."""
    for case in cases.CASES:
        if case.file != "tables":
            continue
        module = load("tables", target)
        for step in case.build():
            module.launch(step.kernel, step.grid, step.block, step.args)
            step.check()


def test_kernels_are_listed() -> None:
    assert "diverge" in vendor_cubins.module("threads", "sm_90").kernels


@targets
def test_shared_memory_is_not_zero_at_the_start(target: str) -> None:
    """A kernel that reads what it has not written must not look right by luck."""
    module = vendor_cubins.module("threads", target)
    first, second = np.zeros(96, np.int32), np.zeros(96, np.int32)
    module.launch("dynsh", 1, 96, [first, 200], shared_bytes=800)
    module.launch("dynsh", 1, 96, [second, 200], shared_bytes=800)
    assert (first == second).all()
    assert first[95] not in range(2000)
