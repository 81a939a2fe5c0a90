"""What a launch executed, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from oric_tables._native import ffi, lib
from oric_tables.numbers import LANES, MEM_CLUSTER, MEM_GLOBAL, MEM_LOCAL, MEM_SHARED
from oric_tables.simulator import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .reports import Report
    from .timing import Timing

# Address of the instruction (code of the driver is one step); number of the block in the grid (x runs fastest), and of the warp
# in it; lanes that came here, and those of them whose guard held.
STEP: Final = np.dtype([("pc", "u8"), ("cta", "u4"), ("warp", "u4"), ("active", "u4"), ("executed", "u4")])
Steps = np.ndarray[Any, Any]
_SPACES: Final = {"global": MEM_GLOBAL, "shared": MEM_SHARED, "local": MEM_LOCAL, "cluster": MEM_CLUSTER}


class Traffic(NamedTuple):
    """Accesses (warp instructions), transactions (32-byte sectors, in shared memory turns of its banks), bytes of the threads."""

    accesses: int
    transactions: int
    bytes: int


class Statistics(NamedTuple):
    """What a launch executed.

    Attributes:
        warp_instructions, thread_instructions: of warps; of threads (lanes whose guard holds).
        ctas: blocks that have ended.
        reports: what the modes of the launch found.
        printed: what printf() wrote.
        classes: warp instructions by class, the name of their file in ``spec/encoding``; those that are not there are 0.
        traffic: by space: global, shared, local, cluster (shared memory of other blocks); spaces without an access are left out.
        timing: what timing mode found; None in other modes, and when too much was executed.
        steps: what warps executed, in this order, as an array of ``STEP``; None in other modes, and without memory for it.
        branches, divergent_branches: executed jumps, calls, returns; those at which threads of a warp parted.
    """

    warp_instructions: int
    thread_instructions: int
    ctas: int
    reports: tuple[Report, ...] = ()
    printed: str = ""
    classes: Mapping[str, int] = {}
    traffic: Mapping[str, Traffic] = {}
    branches: int = 0
    divergent_branches: int = 0
    timing: Timing | None = None
    steps: Steps | None = None

    @property
    def active_share(self) -> float:
        """Share of the lanes that executed: 1.0 when all threads always did."""
        return self.thread_instructions / (LANES * self.warp_instructions) if self.warp_instructions else 0.0


def statistics_of(
    sim: Any, reports: tuple[Report, ...], printed: str, timing: Timing | None = None, steps: Steps | None = None
) -> Statistics:
    """The statistics of the last launch of an engine (``oric_sim *``)."""
    found = lib.oric_sim_statistics(sim)
    counts = {name: sum(lib.oric_sim_op_count(sim, op) for op in members) for name, members in CLASSES.items()}
    every = {name: Traffic(found.accesses[n], found.transactions[n], found.bytes[n]) for name, n in _SPACES.items()}
    return Statistics(
        found.warp_instructions,
        found.thread_instructions,
        found.ctas,
        reports,
        printed,
        {name: count for name, count in counts.items() if count},
        {name: traffic for name, traffic in every.items() if traffic.accesses},
        found.branches,
        found.divergent_branches,
        timing,
        steps,
    )


def steps_of(sim: Any) -> Steps | None:
    """The steps of the last launch of an engine, which kept them."""
    count = ffi.new("uint64_t *")
    found = lib.oric_sim_steps(sim, count)
    if found == ffi.NULL:
        return None
    return np.frombuffer(bytes(ffi.buffer(found, count[0] * STEP.itemsize)), STEP)
