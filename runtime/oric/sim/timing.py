"""What timing mode says of a launch: cycles, where they went, and a trace (docs/clock.md)."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oric_tables._native import ffi, lib
from oric_tables.numbers import LANES
from oric_tables.simulator import MACHINES

from .faults import place_of

if TYPE_CHECKING:
    from pathlib import Path

    from .image import Image

_WARP_REGISTERS: Final = 256  # registers are given to a warp in multiples of this
_SHARED_UNIT: Final = 128
_MICROSECOND: Final = 1e6


@dataclass(frozen=True)
class Stalls:
    """An instruction: how often warps issued it, and the cycles that they waited before it, by reason.

    Attributes:
        scoreboard: for results or sources of earlier instructions.
        barrier: for other warps at a barrier of the block, counted at the instruction behind it.
        pipe: for its pipe, the memory pipe, or other warps that issued.
    """

    function: str
    offset: int
    text: str
    issued: int
    scoreboard: int
    barrier: int
    pipe: int


@dataclass(frozen=True)
class Issue:
    """An instruction that the SM issued."""

    cycle: int
    slot: int
    block: int
    text: str


class WarpTime(NamedTuple):
    """A warp of the SM: its block's number among those of the SM, its own in the block, the cycles between which it was there."""

    block: int
    warp: int
    start: int
    end: int


@dataclass(frozen=True)
class Timing:
    """The time of a launch.

    Attributes:
        machine: the GPU that it stands for.
        cycles: of the SM that has most to do.
        seconds: the same at the GPU's clock, without what a launch costs by itself.
        blocks, resident, warps: blocks of that SM; at once; warps of these.
        stalls: of each instruction that was executed.
        warp_times: of every warp of that SM, by block.
        raw_issues, texts: what ``issues`` is made from.
    """

    machine: str
    cycles: int
    seconds: float
    blocks: int
    resident: int
    warps: int
    stalls: tuple[Stalls, ...]
    warp_times: tuple[WarpTime, ...]
    raw_issues: bytes
    texts: dict[int, str]

    @property
    def issues(self) -> list[Issue]:
        """The first million instructions that the SM issued."""
        return [
            Issue(cycle, slot, block, self.texts[pc]) for pc, cycle, slot, block in struct.iter_unpack("<QQII", self.raw_issues)
        ]

    @property
    def warp_cycles(self) -> list[int]:
        """Cycles of each warp, from the beginning of its block to its own end."""
        return [w.end - w.start for w in self.warp_times]

    @property
    def block_cycles(self) -> list[int]:
        """Cycles of each block, to the end of its last warp."""
        found: dict[int, int] = {}
        for w in self.warp_times:
            found[w.block] = max(found.get(w.block, 0), w.end - w.start)
        return list(found.values())

    def write_trace(self, path: Path) -> None:
        """Write the issues as a Chrome trace: a row for each warp of the SM, a cycle as a microsecond."""
        events: list[dict[str, Any]] = []
        ends: dict[int, int] = {}
        issues = self.issues
        for issue in reversed(issues):
            length = max(1, ends.get(issue.slot, issue.cycle + 1) - issue.cycle)
            ends[issue.slot] = issue.cycle
            events.append({
                "name": issue.text.split()[0], "ph": "X", "ts": issue.cycle, "dur": length, "pid": 0, "tid": issue.slot,
                "args": {"instruction": issue.text, "block": issue.block},
            })  # fmt: skip
        names = [
            {"name": "thread_name", "ph": "M", "pid": 0, "tid": slot, "args": {"name": f"warp {slot}"}} for slot in sorted(ends)
        ]
        path.write_text(json.dumps({"traceEvents": names + events[::-1], "displayTimeUnit": "ns"}))


def set_machine(image: Image, record: Any) -> None:
    """Fill in the machine of a launch record: the GPU's figures, and how many blocks of the launch an SM holds."""
    target, machine = image.target, MACHINES[image.target.isa]
    threads = record.block[0] * record.block[1] * record.block[2]
    warps = -(-threads // LANES)
    registers = -(-record.num_regs * LANES // _WARP_REGISTERS) * _WARP_REGISTERS
    shared = record.shared_bytes - record.shared_base + target.reserved_shared
    limits = [target.blocks_per_sm, target.warps_per_sm // warps, target.regs_per_sm // max(1, registers * warps)]
    if shared:
        limits.append((target.shared_per_sm or machine.l1_kib << 10) // (-(-shared // _SHARED_UNIT) * _SHARED_UNIT))
    m = record.machine
    m.sms, m.blocks = machine.sms, max(1, min(limits))
    m.l1_bytes = max(16 << 10, (machine.l1_kib << 10) - m.blocks * shared)
    m.shared_latency, m.l1_latency, m.l2_latency, m.dram_latency = machine.shared, machine.l1, machine.l2, machine.dram
    clusters = record.grid[0] * record.grid[1] * record.grid[2] // (record.cluster[0] * record.cluster[1] * record.cluster[2])
    m.l2_bytes = machine.l2_bytes
    whole = machine.dram_gb * 1e9 / (machine.mhz * 1e6)  # bytes a cycle
    m.dram_bytes = min(float(machine.l2_bytes), whole / min(machine.sms, max(1, clusters)))


def timing_of(image: Image) -> Timing | None:
    """The timing of the last launch; None when it executed more than can be kept."""
    found = lib.oric_sim_time(image.sim)
    if found == ffi.NULL:
        return None
    machine = MACHINES[image.target.isa]
    count = ffi.new("uint64_t *")
    table = lib.oric_sim_stall_table(image.sim, count)
    rows = [table[i] for i in range(count[0]) if table[i].pc]
    stalls = tuple(Stalls(*place_of(image, r.pc), r.issued, r.scoreboard, r.barrier, r.pipe) for r in rows)
    events = lib.oric_sim_issues(image.sim, count)
    raw = bytes(ffi.buffer(events, count[0] * ffi.sizeof("oric_sim_issue"))) if count[0] else b""
    spans = lib.oric_sim_spans(image.sim, count)
    seconds = found.cycles / (machine.mhz * _MICROSECOND)
    return Timing(
        machine.name,
        found.cycles,
        seconds,
        found.blocks,
        found.resident,
        found.warps,
        stalls,
        tuple(WarpTime(s.block, s.warp, s.start, s.end) for s in spans[0 : count[0]]),
        raw,
        {r.pc: s.text for r, s in zip(rows, stalls, strict=True)},
    )
