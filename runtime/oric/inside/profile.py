"""Phases 9, 96 and 126: the profile of a function in the documented form, when it is asked for; the same at any other place.

Three reports of one function: of the code as it came, before allocation and scheduling, and finished. The record has the
documented places (spec/statistics.yaml). What the documents name without saying how it is counted is counted so:

* latencies: cycles of stall counts, before scheduling one an instruction; the estimate is the longest way through the code
  without going back, the worst case all blocks once, the average case the mean of the longest and the shortest way;
* occupancy: warps that fit an SM by the registers, and by whole blocks where the size of a block is known, out of those it has;
* registers: the most that are live at once, when they are allocated those that the file tells;
* divergent branches: those whose condition is no uniform predicate; precise instructions: those on floats that may not be fused;
* textures: by where the handle is: a constant bank, uniform registers, both a bank and a register, a register.

Source: PTX-to-Ori lowering, "Phase 9"; Ori IR, "Register and Instruction Counts"; Data structures, "Stats Emitter Field Map".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, final

from oric_tables import ops
from oric_tables import statistics as tables
from oric_tables.registers import COUNTS

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.function import AUX_CONTRACT, NONE, R2, R4, Function, P, R, control_flow
from oric.ir.optable import BRANCH, LOCAL, OPS, STORE
from oric.ir.passes import PassContext, PassFunction
from oric.ir.text import all_instructions, undefined_registers

from .allocation import fatpoint_lines, subclass_counts
from .facts import Facts, Record, head, title
from .live import peaks

FORMS: Final = ("short", "long", "full")
FULL: Final = "full"
PARTLY: Final = "partly unrolled loops"  # among what phases count
UNROLL: Final = "unroll_loops"  # the function of the phase that unrolls, in spec/phases.yaml
_UNROLLED: Final = "unrolled loops"
_STALL_MASK: Final = 15  # of the control bits, where the stall count stands first
_WARP: Final = 32  # threads
_GENERAL: Final = (R, R2, R4)
_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})
_DIGITS: Final = re.compile(r"[0-9]+")
_BYTE: Final = 8  # bits
_TEXTURES: Final = ("cb_bound_tex", "partial_bound_tex", "bindless_tex", "ur_bound_tex")


@final
class Statistics:
    """The record of one function: ``words`` by DWORD index, ``annotations``: free strings.

    ``stats``: what phases have counted (:meth:`oric.ir.passes.PassContext.count`).
    """

    def __init__(self, f: Function, target: Any, stats: Mapping[str, int] = _NOTHING, annotations: Iterable[str] = ()) -> None:
        self.words: list[float] = [0.0] * tables.SIZE
        self.annotations = list(annotations)
        self.most_registers: int = target.max_regs
        facts = f.attributes
        names = [ops.op(f.op[i]).name for i in all_instructions(f)]
        self._set("instr_hi", len(names))
        for field, counted in tables.COUNTS.items():
            self._set(field, sum(name.split(".")[0] in counted or name in counted for name in names))
        self._set("r_alloc", facts.num_regs or peak_registers(f))
        self._set("r_reserved", target.reserved_regs)
        self._set("ur_count_stats", facts.num_uregs)
        self._set_memory(f)
        self._set("sm_version_check", target.encoded_arch)
        self._set("program_size", 16 * len(names))
        longest, shortest, together = _latencies(f)
        self._set("est_latency", longest)
        self._set("worst_case_lat", together)
        self._set("avg_case_lat", (longest + shortest) / 2)
        self._set("occupancy", occupancy(int(self.value("total_regs")), facts.reqntid or facts.maxntid, target))
        self._set("partial_unroll", stats.get(PARTLY, 0))
        self._set("non_unrolled", max(control_flow(f).loops().count - stats.get(PARTLY, 0), 0))
        self._set("div_branches", sum(_diverges(f, i) for i in all_instructions(f)))
        floats = tables.COUNTS["est_fp"]
        precise = [i for i in all_instructions(f) if ops.op(f.op[i]).name.split(".")[0] in floats and not f.aux[i] & AUX_CONTRACT]
        self._set("precise_inst", len(precise))
        for field, number in _textures(f).items():
            self._set(field, number)
        for index, _, share in tables.FLOATS:
            if share:
                self.words[index] = self._share(share)

    def _set_memory(self, f: Function) -> None:
        """What waits in local memory, and what else goes there."""
        facts = f.attributes
        self._set("spill_bytes", facts.spill_stores)
        self._set("refill_bytes", facts.spill_loads)
        stored, loaded = _local_bytes(f)
        self._set("non_spill_bytes", max(stored - facts.spill_stores, 0))
        self._set("non_refill_bytes", max(loaded - facts.spill_loads, 0))
        self._set("non_spill_size", facts.local_size)
        spills = facts.spill_stores or facts.spill_loads
        self._set("frame_lmem_spill", max(facts.frame_size - facts.local_size, 0) if spills else 0)

    def _set(self, field: str, value: float) -> None:
        self.words[tables.FIELDS[field]] = value

    def value(self, name: str) -> float:
        """A field, or a value that is computed of fields."""
        if name == "max_regs":
            return self.most_registers
        terms = tables.COMPUTED.get(name)
        if terms is None:
            return self.words[tables.FIELDS[name]]
        return sum(-self.value(term[1:]) if term[0] == "-" else self.value(term) for term in terms)

    def lines(self, form: str) -> list[str]:
        """The profile in its short, long or full form; the full one ends with the annotations."""
        shown = [text % tuple(map(self._shown, values)) for text, values, short in tables.LINES if short or form != "short"]
        if form == FULL:
            shown += [text % tuple(map(self._shown, values)) for text, values in tables.FURTHER if self._prints(values)]
            shown += [f"# {annotation}" for annotation in self.annotations]
        return shown

    def _prints(self, values: Iterable[str]) -> bool:
        """Whether a line is printed: no condition of one of its fields speaks against it."""
        conditions = [tables.CONDITIONS[name] for name in values if name in tables.CONDITIONS]
        return all(self.value(field) > above for field, above in conditions)

    def _shown(self, name: str | tuple[str, str]) -> float:
        return self.value(name) if isinstance(name, str) else self._share(name)

    def _share(self, share: tuple[str, ...]) -> float:
        return self.value(share[0]) / (self.value(share[1]) or 1)


def annotations_of(f: Function, facts: Facts) -> Iterator[str]:
    """The line of totals, those of fat points, registers that nothing writes, and what phases have counted."""
    record = Statistics(f, facts.target, facts.stats)
    yield COUNTS % (record.value("instructions"), record.value("total_regs"))
    yield from fatpoint_lines(f.name, peaks(f, facts))
    yield from undefined_registers(f)
    yield from (f"{name}: {number}" for name, number in sorted(facts.stats.items()) if number)


def statistics_record(f: Function, facts: Facts) -> Record:
    """All fields with their places and texts, the floats, the computed values, the sub-classes, the annotations, the lines."""
    found = Statistics(f, facts.target, facts.stats, annotations_of(f, facts))
    fields = [
        {"index": index, "offset": offset, "name": name, "type": kind, "text": text, "value": _plain(found.words[index], kind)}
        for index, offset, name, kind, text, _ in tables.ROWS
    ]
    floats = [{"index": index, "offset": 4 * index, "name": name, "share": list(share), "value": float(found.words[index])}
              for index, name, share in tables.FLOATS]  # fmt: skip
    return {
        **head("statistics", f, facts), "fields": fields, "floats": floats,
        "computed": [{"name": name, "value": int(found.value(name))} for name in tables.COMPUTED],
        "subclasses": [{"name": name, "count": count} for name, count in subclass_counts(f)],
        "annotations": found.annotations, "profile": found.lines(FULL),
    }  # fmt: skip


def _plain(value: float, kind: str) -> float:
    return float(value) if kind == "f32" else int(value)


def statistics_lines(record: Record) -> Iterator[str]:
    """The profile in its full form with the annotations, then the record, field by field, and the sub-classes."""
    yield title(record)
    yield f"# {record['function']}"
    yield from record["profile"]
    yield "index offset value"
    for field in record["fields"]:
        yield f"[{field['index']}] +{field['offset']} {field['name']} = {field['value']}" + f" {field['text']}".rstrip()
    for field in record["floats"]:
        share = " / ".join(field["share"]) or field["name"]
        yield f"[{field['index']}] +{field['offset']} {share} = {field['value']:.6f}"
    yield "registers of each sub-class"
    yield from (f"{row['name']:<14} {row['count']}" for row in record["subclasses"])


def _diverges(f: Function, i: int) -> bool:
    """Whether threads of a warp may part at an instruction."""
    if not OPS.flags[f.op[i]] & BRANCH:
        return False
    slots = [f.guard[i], *(f.operand[f.first[i] + at] for at in range(f.count[i]))]
    return any(opd.is_register(operand) and f.reg_type[operand & opd.INDEX] == P for operand in slots)


def _local_bytes(f: Function) -> tuple[int, int]:
    """Bytes that the instructions store to local memory and load from it, each counted once."""
    stored = loaded = 0
    for i in all_instructions(f):
        if not OPS.flags[f.op[i]] & LOCAL:
            continue
        size = ops.op(f.op[i]).mods.get("size")
        if size is None:
            continue
        code = f.mods[i] >> size.shift & size.mask
        digits = _DIGITS.search(next((name for name, value in size.values.items() if value == code), ""))
        amount = int(digits[0]) // _BYTE if digits else 0
        if OPS.flags[f.op[i]] & STORE:
            stored += amount
        else:
            loaded += amount
    return stored, loaded


def _textures(f: Function) -> dict[str, int]:
    """How many instructions have the handle of their texture in each place."""
    found = dict.fromkeys(_TEXTURES, 0)
    for i in all_instructions(f):
        op = ops.op(f.op[i])
        if op.name.split(".")[0] not in tables.COUNTS["est_tex"]:
            continue
        slots = [slot.name for slot in op.operands]
        given = {slots[at] for at in range(min(f.count[i], len(slots))) if f.operand[f.first[i] + at] != opd.NO_OPERAND}
        if "bank" in given:
            found["cb_bound_tex" if "URa" in slots else "partial_bound_tex"] += 1
        else:
            found["ur_bound_tex" if "URa" in given else "bindless_tex"] += 1
    return found


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


def reports(form: str, sink: Callable[[str], None], registry: Mapping[str, PassFunction]) -> dict[str, PassFunction]:
    """The passes of the three places, which do what those of ``registry`` do and give the profile to ``sink``."""

    def telling(name: str) -> PassFunction:
        run = registry[name]

        def tell(f: Function, ctx: PassContext) -> bool:
            changed = run(f, ctx)
            notes = annotations_of(f, Facts(ctx.target, 0, name, ctx.stats)) if form == FULL else ()
            sink("\n".join([f"# {f.name}", *Statistics(f, ctx.target, ctx.stats, notes).lines(form)]))
            return changed

        return tell

    places = ("report_initial_representation", "report_before_scheduling", "report_final_memory_usage")
    return {name: telling(name) for name in places} | counting(registry)


def counting(registry: Mapping[str, PassFunction]) -> dict[str, PassFunction]:
    """The pass that unrolls loops, which counts besides how many of them stay loops."""
    run = registry[UNROLL]

    def unroll(f: Function, ctx: PassContext) -> bool:
        loops, done = control_flow(f).loops().count, ctx.stats.get(_UNROLLED, 0)
        changed = run(f, ctx)
        done = ctx.stats.get(_UNROLLED, 0) - done
        ctx.count(PARTLY, min(done, max(done - (loops - control_flow(f).loops().count), 0)))
        return changed

    return {UNROLL: unroll}
