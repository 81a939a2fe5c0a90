"""Records of the runs of phases, in the documented form of 32 bytes.

A record of depth 0 is the run of all phases on one function, those of depth 1 behind it are its phases. ``spare`` has the
microseconds that it took. Source: Data structures, "Output Stream and Timing Records".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from oric_tables.phases import PHASES
from oric_tables.reports import TIMING_FIELDS, TIMING_SIZE

from .facts import Record

ALL_PHASES: Final = len(PHASES)  # the id of a record of depth 0
ALL_NAME: Final = "OCG"
_MOST: Final = (1 << 32) - 1
_MICROSECONDS: Final = 1e6


class TimingRecord(NamedTuple):
    """A run: ``phase`` and ``name``, ``depth`` 0 or 1, ``unit``: number of the function, ``spare``: microseconds."""

    phase: int
    name: str
    depth: int
    unit: int
    spare: int


def records_of(runs: Iterable[tuple[int, int, str, float]]) -> list[TimingRecord]:
    """The records of (unit, phase, name, seconds) of every run of a phase: those of a unit behind its own."""
    units: dict[int, list[TimingRecord]] = {}
    seconds: dict[int, float] = {}
    for unit, phase, name, took in runs:
        units.setdefault(unit, []).append(TimingRecord(phase, name, 1, unit, _microseconds(took)))
        seconds[unit] = seconds.get(unit, 0.0) + took
    found = []
    for unit in sorted(units):
        found.append(TimingRecord(ALL_PHASES, ALL_NAME, 0, unit, _microseconds(seconds[unit])))
        found += units[unit]
    return found


def _microseconds(seconds: float) -> int:
    return min(max(round(seconds * _MICROSECONDS), 0), _MOST)


def image(records: list[TimingRecord]) -> bytes:
    """The records one behind the other, then the names that they point to (offset from the start), each with a 0 behind it."""
    names: dict[str, int] = {}
    at = TIMING_SIZE * len(records)
    for record in records:
        if record.name not in names:
            names[record.name] = at
            at += len(record.name.encode()) + 1
    data = bytearray(TIMING_SIZE * len(records))
    for number, record in enumerate(records):
        values = {"phase_id": record.phase, "phase_name": names[record.name], "invocation_depth": record.depth,
                  "cu_index": record.unit, "spare": record.spare}  # fmt: skip
        for field, (offset, code) in TIMING_FIELDS.items():
            struct.pack_into("<" + code, data, number * TIMING_SIZE + offset, values[field])
    return bytes(data) + b"".join(name.encode() + b"\0" for name in names)


def timing_record(target: str, units: list[str], records: list[TimingRecord]) -> Record:
    """The records with the names of the units; ``image``: the same as bytes, in hexadecimal."""
    rows = [
        {"offset": number * TIMING_SIZE, "phase": r.phase, "name": r.name, "depth": r.depth, "unit": r.unit, "spare": r.spare}
        for number, r in enumerate(records)
    ]
    return {"dump": "timing", "target": target, "units": units, "records": rows, "image": image(records).hex()}


def timing_lines(record: Record) -> Iterator[str]:
    """A line for every record, phases under the run that they belong to."""
    yield f"// timing for {record['target']}: {len(record['records'])} records of {TIMING_SIZE} bytes"
    for r in record["records"]:
        name = f"{r['name']} of {record['units'][r['unit']]}" if r["depth"] == 0 else f"{r['phase']:3} {r['name']}"
        yield f"+{r['offset']:#06x} {'    ' * r['depth']}{name}: depth {r['depth']}, unit {r['unit']}, {r['spare']} us"
