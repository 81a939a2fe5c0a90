"""The kinds of dumps of a function: what each shows, its record, its text, its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from oric.ir.function import Function

from . import allocation, graph, live, profile, schedule
from .facts import Facts, Record

TIMING: Final = "timing"  # of all phases, and not of a function at one place
_SCHEMAS: Final = Path(__file__).parent / "schema"


class Kind(NamedTuple):
    """A kind: ``record`` makes the record of a function, ``lines`` the text of a record."""

    help: str
    record: Callable[[Function, Facts], Record]
    lines: Callable[[Record], Iterator[str]]


KINDS: Final[dict[str, Kind]] = {
    "cfg": Kind("Blocks: neighbours, lines, order, dominators, loops.", graph.cfg_record, graph.cfg_lines),
    "rpo": Kind("Reverse post-order and back edges.", graph.order_record, graph.order_lines),
    "edges": Kind("The edges of the control flow.", graph.edges_record, graph.edges_lines),
    "dot": Kind("The control flow as a graph in DOT.", graph.dot_record, graph.dot_lines),
    "live": Kind("What is live at the borders of blocks; live ranges.", live.live_record, live.live_lines),
    "interference": Kind(
        "Registers that may not share a place, by file, and how many each meets.",
        live.interference_record,
        live.interference_lines,
    ),
    "pressure": Kind("Live registers of each file at every instruction.", live.pressure_record, live.pressure_lines),
    "allocation": Kind(
        "Virtual registers with their hardware registers; fat points.", allocation.allocation_record, allocation.allocation_lines
    ),
    "registers": Kind("How many registers there are of each sub-class.", allocation.registers_record, allocation.registers_lines),
    "schedule": Kind(
        "Pipes, stall counts, scoreboards that are set and waited for.", schedule.schedule_record, schedule.schedule_lines
    ),
    "statistics": Kind("The statistics record, field by field.", profile.statistics_record, profile.statistics_lines),
}


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON schema of the records of a kind, or of :data:`TIMING`."""
    found: dict[str, Any] = json.loads((_SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return found
