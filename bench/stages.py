"""Where the time of one compilation goes: parsing, lowering, each phase, allocation, scheduling, encoding, ELF, the rest."""

from __future__ import annotations

import time
from typing import Any

from oric.driver import CompileOptions, compile_text
from oric.driver.timing import DAGGEN, ELF, OCG, SETUP
from oric.phases.backend import phase_functions
from oric.ptx import parse_module
from oric.support.diagnostics import diagnostics_for
from oric_tables.phases import PHASES

PARSE, LOWER, INLINE, ALLOCATION, SCHEDULING, ENCODING, IMAGE, FIXED = (
    "parse", "lower", "inline", "allocation", "scheduling", "encoding", "ELF", "fixed",
)  # fmt: skip
ORDER = (PARSE, LOWER, INLINE, "phases", ALLOCATION, SCHEDULING, ENCODING, IMAGE, FIXED)
_OWN_STAGE = {"allocate_registers": ALLOCATION, "schedule_instructions": SCHEDULING}

Breakdown = dict[str, float]  # seconds by stage; phases by number and name as "13 NAME"


class Silent:
    """A builder that hands out handles and keeps nothing."""

    def __init__(self) -> None:
        self.handles = 0

    def next(self, *_: object) -> int:
        self.handles += 1
        return self.handles

    def nothing(self, *_: object) -> None:
        return None

    variable = function = new_label = branch_targets = call_targets = call_prototype = next
    module = define_variable = end_body = begin_scope = end_scope = place_label = instruction = nothing
    pragma = file = line_info = section = alias = end_module = nothing

    def registers(self, type_: str, count: int, name: str) -> int:
        self.handles += count
        return self.handles - count

    def begin_body(self, symbol: int, function: Any) -> list[int]:
        return [self.registers(v.type, v.vector, v.name) for v in (*function.returns, *function.params)]


def parsing(text: str, target: Any) -> float:
    """CPU seconds of parsing and checking with a builder that does nothing."""
    diag = diagnostics_for(text, "bench.ptx")
    start = time.process_time()
    parse_module(text, "bench.ptx", Silent(), target, diag)
    return time.process_time() - start


def measure(text: str, arch: str, level: int, runs: int) -> Breakdown:
    """The shortest of some runs, stage by stage; what no stage has is ``fixed``."""
    return min((_once(text, arch, level) for _ in range(runs)), key=lambda found: sum(found.values()))


def _once(text: str, arch: str, level: int) -> Breakdown:
    options = CompileOptions(arch, level, time_phases=True, clock=time.process_time)
    start = time.process_time()
    cubin = compile_text(text, options)
    whole = time.process_time() - start
    parse = parsing(text, options.target)
    seconds, inlining = cubin.stages.seconds, cubin.stages.inlining
    out = {PARSE: parse, LOWER: max(0.0, seconds[DAGGEN] - parse - inlining), INLINE: inlining}
    own = phase_functions(options.target)
    functions = {phase.index: own.get(phase.index, phase.function) for phase in PHASES}
    for index, name, took in cubin.phase_times:
        stage = _OWN_STAGE.get(functions[index], f"{index} {name}")
        out[stage] = out.get(stage, 0.0) + took
    out[ENCODING] = max(0.0, seconds.get(OCG, 0.0) - sum(took for *_, took in cubin.phase_times))
    out[IMAGE] = seconds[ELF]
    out[FIXED] = max(0.0, whole - sum(seconds.values()) + seconds[SETUP])
    return out


def is_phase(stage: str) -> bool:
    """The stage is a phase of the optimizer."""
    return stage[0].isdigit()


def guilty(found: Breakdown) -> str:
    """The stage that takes most, with its share."""
    stage, took = max(found.items(), key=lambda item: item[1])
    return f"{stage} {took / sum(found.values()):.0%}"


def phases(found: Breakdown) -> float:
    """Seconds of all phases that are no stage of their own."""
    return sum(took for stage, took in found.items() if is_phase(stage))


def added(many: list[Breakdown]) -> Breakdown:
    """The sum of several, phases by number."""
    out: Breakdown = {}
    for found in many:
        for stage, took in found.items():
            out[stage] = out.get(stage, 0.0) + took
    return out
