"""One thread of a kernel in the simulator, seen in front of each of its instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import oric.sim
import oric.sim.module
import pytest
from oric_tables._native import ffi, lib


class Stop(NamedTuple):
    """``function`` and ``place``: where the thread is; ``local``: its local memory, as far as it is in use."""

    function: str
    place: int
    registers: list[int]
    predicates: int
    local: bytes

    def word(self, address: int) -> int:
        """A word of local memory."""
        return int.from_bytes(self.local[address : address + 4], "little")


def stops(image: bytes, args: Sequence[Any], monkeypatch: pytest.MonkeyPatch, kernel: str = "k", stack: int = 0) -> list[Stop]:
    """What is seen in front of each instruction but the first."""
    monkeypatch.setattr(oric.sim.module, "_SLICE", 1)
    module = oric.sim.load(image)
    starts = sorted((address, name) for name, address in module.image.code.items())
    seen = ffi.new("oric_sim_seen *")
    found: list[Stop] = []
    size = oric.sim.module._local_bytes(module.image.cubin, module.image.cubin.kernels[kernel], stack)

    def look(*_: int) -> None:
        if lib.oric_sim_look(module.image.sim, seen):
            start, name = max(s for s in starts if s[0] <= seen.pc)
            local = bytes(ffi.buffer(seen.local, size)) if seen.local != ffi.NULL else b""
            found.append(Stop(name, seen.pc - start, list(seen.registers), seen.predicates, local))

    module.launch(kernel, 1, 1, args, progress=look, stack_bytes=stack)
    return found
