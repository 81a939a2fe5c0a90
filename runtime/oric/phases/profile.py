"""Phases 9, 96 and 126: the profile of a function in the documented form, when it is asked for.

Three reports of one function: of the code as it came, before allocation and scheduling, and finished. The record has the
documented places (spec/statistics.yaml). What the documents name without saying how it is counted is counted so:

* latencies: cycles of stall counts, before scheduling one an instruction; the estimate is the longest way through the code
  without going back, the worst case all blocks once, the average case the mean of the longest and the shortest way;
* occupancy: warps that fit an SM by the registers, and by whole blocks where the size of a block is known, out of those it has;
* registers: the most that are live at once, when they are allocated those that the file tells.

Source: PTX-to-Ori lowering, "Phase 9"; Ori IR, "Register and Instruction Counts"; Data structures, "Stats Emitter Field Map".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, final

from oric_tables import ops
from oric_tables import statistics as tables

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.function import NONE, R2, R4, Function, R, control_flow
from oric.ir.optable import OPS
from oric.ir.passes import PassContext, PassFunction
from oric.ir.text import all_instructions

from .report import report_initial_representation

FORMS: Final = ("short", "long")
_STALL_MASK: Final = 15  # of the control bits, where the stall count stands first
_WARP: Final = 32  # threads
_GENERAL: Final = (R, R2, R4)


@final
class Statistics:
    """The record of one function: ``words`` by DWORD index."""

    def __init__(self, f: Function, target: Any) -> None:
        self.words: list[float] = [0.0] * tables.SIZE
        facts = f.attributes
        names = [ops.op(f.op[i]).name for i in all_instructions(f)]
        self._set("instr_hi", len(names))
        for field, counted in tables.COUNTS.items():
            self._set(field, sum(name.split(".")[0] in counted or name in counted for name in names))
        self._set("r_alloc", facts.num_regs or peak_registers(f))
        self._set("r_reserved", target.reserved_regs)
        self._set("ur_count_stats", facts.num_uregs)
        self._set("spill_bytes", facts.spill_stores)
        self._set("refill_bytes", facts.spill_loads)
        self._set("non_spill_size", facts.local_size)
        self._set("sm_version_check", target.encoded_arch)
        self._set("program_size", 16 * len(names))
        longest, shortest, together = _latencies(f)
        self._set("est_latency", longest)
        self._set("worst_case_lat", together)
        self._set("avg_case_lat", (longest + shortest) / 2)
        self._set("occupancy", occupancy(int(self.value("total_regs")), facts.reqntid or facts.maxntid, target))

    def _set(self, field: str, value: float) -> None:
        self.words[tables.FIELDS[field]] = value

    def value(self, name: str) -> float:
        """A field, or a value that is computed of fields."""
        terms = tables.COMPUTED.get(name)
        if terms is None:
            return self.words[tables.FIELDS[name]]
        return sum(-self.value(term[1:]) if term[0] == "-" else self.value(term) for term in terms)

    def lines(self, form: str) -> list[str]:
        """The profile in its short or long form."""
        return [text % tuple(map(self._shown, values)) for text, values, short in tables.LINES if short or form == "long"]

    def _shown(self, name: str | tuple[str, str]) -> float:
        if isinstance(name, str):
            return self.value(name)
        return self.value(name[0]) / (self.value(name[1]) or 1)


def peak_registers(f: Function) -> int:
    """The largest number of 32-bit general registers that are live at once."""
    graph = control_flow(f)
    live_in = [0] * f.blocks()
    peak = 0
    changed = True
    while changed:
        changed = False
        for at in range(graph.reachable - 1, -1, -1):
            b = graph.order[at]
            live = 0
            for e in range(graph.succ_start[b], graph.succ_start[b + 1]):
                live |= live_in[graph.succ[e]]
            i = f.tail[b]
            while i != NONE:
                peak = max(peak, live.bit_count())
                live = _before(f, i, live)
                i = f.prev[i]
            peak = max(peak, live.bit_count())
            if live != live_in[b]:
                live_in[b] = live
                changed = True
    return peak


def _before(f: Function, i: int, live: int) -> int:
    """The words of general registers that are live in front of an instruction."""
    mask = OPS.writes[f.op[i]]
    read = 0
    for at in range(f.count[i]):
        operand = f.operand[f.first[i] + at]
        if opd.is_register(operand) and f.reg_type[operand & opd.INDEX] in _GENERAL:
            first: int = f.words_of(operand)
            words = opd.all_bits(opd.count_of(operand)) << first
            if not mask >> at & 1:
                read |= words
            elif not f.guard[i]:
                live &= ~words
    return live | read


def occupancy(registers: int, block: tuple[int, int, int] | None, target: Any) -> float:
    """The share of an SM's warps that fit, by their registers and as whole blocks."""
    unit: int = target.register_unit
    rounded = max(-(-registers // unit), 1) * unit
    warps: int = min(target.warps_per_sm, target.regs_per_sm // (_WARP * rounded))
    if block is not None:
        each = -(-math.prod(block) // _WARP)
        warps = each * min(warps // each, target.blocks_per_sm)
    return warps / float(target.warps_per_sm)


def _latencies(f: Function) -> tuple[int, int, int]:
    """Cycles of the longest and the shortest way to an end without going back, and of all blocks."""
    graph = control_flow(f)
    cycles = [_cycles(f, b) for b in range(f.blocks())]
    longest, shortest = [0] * f.blocks(), [0] * f.blocks()
    for at in range(graph.reachable - 1, -1, -1):
        b = graph.order[at]
        ahead = _ahead(graph, b)
        longest[b] = cycles[b] + max((longest[n] for n in ahead), default=0)
        shortest[b] = cycles[b] + min((shortest[n] for n in ahead), default=0)
    return longest[0], shortest[0], sum(cycles)


def _ahead(graph: Cfg, b: int) -> list[int]:
    """The successors of a block that stand behind it in the order."""
    found = [graph.succ[e] for e in range(graph.succ_start[b], graph.succ_start[b + 1])]
    return [n for n in found if graph.number[n] > graph.number[b]]


def _cycles(f: Function, b: int) -> int:
    total = 0
    i = f.head[b]
    while i != NONE:
        total += max(int(f.control[i] & _STALL_MASK), 1)
        i = f.next[i]
    return total


def reports(form: str, sink: Callable[[str], None]) -> dict[str, PassFunction]:
    """The passes of the three places, which give the profile to ``sink``."""

    def tell(f: Function, ctx: PassContext) -> bool:
        sink("\n".join([f"# {f.name}", *Statistics(f, ctx.target).lines(form)]))
        return False

    def initial(f: Function, ctx: PassContext) -> bool:
        report_initial_representation(f, ctx)
        return tell(f, ctx)

    return {"report_initial_representation": initial, "report_before_scheduling": tell, "report_final_memory_usage": tell}
