"""Which callable each function name of ``spec/phases.yaml`` means."""

from __future__ import annotations

from functools import cache

from oric.ir.passes import PassFunction
from oric.lower.expand import PASSES as EXPANSIONS
from oric.phases.registry import PASSES
from oric.regalloc import allocate_registers, lower_calls
from oric.sched import schedule_instructions


@cache
def passes() -> dict[str, PassFunction]:
    """All passes by name."""
    return {
        **PASSES,
        **EXPANSIONS,
        "lower_calls": lower_calls,
        "allocate_registers": allocate_registers,
        "schedule_instructions": schedule_instructions,
    }
