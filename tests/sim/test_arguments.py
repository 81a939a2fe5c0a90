"""Arrays of a launch in blocks of device memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oric.sim.arguments import HostArrays


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_blocks_come_as_their_first_arguments_do(order: tuple[int, ...]) -> None:
    """Whatever the addresses of the host: the same launch has the same addresses, and takes the same time."""
    memory = np.zeros(64, np.uint8)
    parts = [memory[16 * place : 16 * place + 12] for place in order]
    host = HostArrays([(n, part) for n, part in enumerate(parts)])
    assert [host.place(n) for n in range(4)] == [(n, 0) for n in range(4)]
    assert host.sizes() == [12] * 4


def test_arrays_that_overlap_have_the_place_of_the_first_of_them() -> None:
    memory = np.arange(64, dtype=np.uint8)
    apart, turned = np.zeros(3, np.uint8), np.zeros((2, 3), np.uint8).T
    host = HostArrays([(0, memory[32:40]), (2, apart), (3, turned), (5, memory[36:44]), (6, memory[:8])])
    assert [host.place(n) for n in (0, 2, 3, 5, 6)] == [(0, 0), (1, 0), (2, 0), (0, 4), (3, 0)]
    assert host.sizes() == [12, 3, 6, 8]
    assert [host.name(block) for block in range(4)] == ["argument 0 and 5", "argument 2", "argument 3", "argument 6"]
    assert host.fill(0) == bytes(range(32, 44))
