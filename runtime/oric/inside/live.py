"""Dumps of what is live: ranges, pressure, interference. Places are numbers of instructions in the order of the code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oric_tables._native import ffi, lib

from oric.ir.function import Function
from oric.ir.lineinfo import line_of
from oric.ir.machine import FILES

from .facts import Facts, Record, head, text_of, title
from .liveness import Liveness, members

_SHOWN: Final = 12  # of the spans of a range, in text


def live_record(f: Function, facts: Facts) -> Record:
    """What is live at the borders of blocks, and the range of every unit.

    A range is a list of spans [first, last] of places: there the unit is live in front of the instruction, or written by it.
    """
    liveness = Liveness(f, facts)
    open_at: dict[int, int] = {}
    spans: dict[int, list[list[int]]] = {}
    blocks = []
    place, before = 0, 0
    for b, steps in enumerate(liveness.blocks):
        blocks.append({
            "block": b,
            "first": place,
            "instructions": len(steps),
            "in": liveness.units(liveness.live_in[b]),
            "out": liveness.units(liveness.live_out[b]),
        })  # fmt: skip
        for held in _held(liveness, b):
            for u in members(before & ~held):
                spans.setdefault(u, []).append([open_at.pop(u), place - 1])
            for u in members(held & ~before):
                open_at[u] = place
            before = held
            place += 1
    for u in members(before):
        spans.setdefault(u, []).append([open_at.pop(u), place - 1])
    ranges = [{"unit": liveness.names[u], "file": FILES[liveness.files[u]], "spans": spans[u]} for u in sorted(spans)
              if liveness.files[u] >= 0]  # fmt: skip
    return {**head("live", f, facts), **_how(liveness), "blocks": blocks, "ranges": ranges}


def _how(liveness: Liveness) -> Record:
    return {"units": "hardware registers" if liveness.allocated else "words of virtual registers", "by": liveness.by}


def _held(liveness: Liveness, b: int) -> list[int]:
    """For each instruction of a block the units that are live in front of it, or that it writes."""
    live = liveness.live_out[b]
    found = []
    for step in reversed(liveness.blocks[b]):
        live = live & ~step.kills | step.reads
        found.append(live | (0 if step.calls else step.writes))
    return found[::-1]


def live_lines(record: Record) -> Iterator[str]:
    """Blocks with what is live at their borders, then the ranges."""
    yield title(record)
    yield f"{record['units']}, by {record['by']}"
    for b in record["blocks"]:
        yield f"bix{b['block']}: places {b['first']} to {b['first'] + b['instructions'] - 1}"
        yield f"    in:  {' '.join(b['in']) or '-'}"
        yield f"    out: {' '.join(b['out']) or '-'}"
    for r in record["ranges"]:
        more = ", ..." if len(r["spans"]) > _SHOWN else ""
        yield f"{r['unit']}: " + ", ".join(f"{first}-{last}" for first, last in r["spans"][:_SHOWN]) + more


def pressure_record(f: Function, facts: Facts) -> Record:
    """How many units of each file are live at every instruction, by line of the PTX, and at the most.

    ``before``: in front of it; ``at``: behind it, with results that nothing reads, which take registers as well.
    """
    liveness = Liveness(f, facts)
    instructions: list[Record] = []
    lines: dict[int, dict[str, int]] = {}
    peak = dict.fromkeys(FILES, 0)
    where = dict.fromkeys(FILES, -1)
    place = 0
    for b, steps in enumerate(liveness.blocks):
        for step, (before, at) in zip(steps, _around(liveness, b), strict=True):
            counts = liveness.counts(before), liveness.counts(at)
            line = line_of(f.line[step.insn])
            most = {file: max(one[file] for one in counts) for file in FILES}
            instructions.append({"place": place, "block": b, "line": line, "text": text_of(f, step.insn),
                                 "before": counts[0], "at": counts[1]})  # fmt: skip
            known = lines.setdefault(line, dict.fromkeys(FILES, 0))
            for file in FILES:
                known[file] = max(known[file], most[file])
                if most[file] > peak[file]:
                    peak[file], where[file] = most[file], place
            place += 1
        for mask in (liveness.live_in[b], liveness.live_out[b]):  # a block without instructions has borders too
            peak = {file: max(peak[file], number) for file, number in liveness.counts(mask).items()}
    return {
        **head("pressure", f, facts), **_how(liveness), "instructions": instructions,
        "lines": [{"line": line, "live": lines[line]} for line in sorted(lines)],
        "peak": [{"file": file, "live": peak[file], "place": where[file]} for file in FILES],
    }  # fmt: skip


def _around(liveness: Liveness, b: int) -> list[tuple[int, int]]:
    """For each instruction of a block the units that are live in front of it, and behind it with all of its results."""
    live = liveness.live_out[b]
    found = []
    for step in reversed(liveness.blocks[b]):
        behind = live | (0 if step.calls else step.writes)
        live = live & ~step.kills | step.reads
        found.append((live, behind))
    return found[::-1]


def pressure_lines(record: Record) -> Iterator[str]:
    """A line for every instruction: live units of each file, line of the PTX, text; at the end the peaks."""
    yield title(record)
    yield f"{record['units']}, by {record['by']}"
    yield "place block  line " + " ".join(f"{file:>4}" for file in FILES)
    for i in record["instructions"]:
        live = " ".join(f"{max(i['before'][file], i['at'][file]):4}" for file in FILES)
        yield f"{i['place']:5} {i['block']:5} {i['line']:5} {live}  {i['text']}"
    yield "peak: " + ", ".join(f"{p['live']} {p['file']} at {p['place']}" for p in record["peak"])


def peaks(f: Function, facts: Facts) -> dict[str, int]:
    """The largest number of units of each file that are live at one place: the fat points."""
    return {row["file"]: row["live"] for row in pressure_record(f, facts)["peak"]}


def interference_record(f: Function, facts: Facts) -> Record:
    """By file: the units, how many others each meets, and the pairs that may not share a register."""
    liveness = Liveness(f, facts)
    pairs = _back_end_pairs(liveness) if liveness.view is not None else _pairs(liveness)
    met: dict[int, set[int]] = {}
    for a, b in pairs:
        met.setdefault(a, set()).add(b)
        met.setdefault(b, set()).add(a)
    seen = 0
    for b, steps in enumerate(liveness.blocks):
        seen |= liveness.live_in[b]
        for step in steps:
            seen |= step.reads | step.writes
    files = []
    for number, file in enumerate(FILES):
        units = members(seen & liveness.units_of[number])
        files.append({
            "file": file,
            "units": [{"unit": liveness.names[u], "degree": len(met.get(u, ()))} for u in units],
            "pairs": [[liveness.names[a], liveness.names[b]] for a, b in pairs if liveness.files[a] == number],
        })  # fmt: skip
    return {**head("interference", f, facts), **_how(liveness), "files": files}


def _back_end_pairs(liveness: Liveness) -> list[tuple[int, int]]:
    """The pairs by which the function is allocated."""
    fn = liveness.view.fn
    room = max(int(lib.oric_interference(fn, ffi.NULL, 0)), 0)
    pairs = ffi.new("uint32_t[]", 2 * room + 1)
    count = int(lib.oric_interference(fn, pairs, room))
    if count < 0:
        raise MemoryError("no memory for interference")
    numbers = ffi.unpack(pairs, 2 * count)
    return sorted(set(zip(numbers[::2], numbers[1::2], strict=True)))


def _pairs(liveness: Liveness) -> list[tuple[int, int]]:
    """A definition meets everything of its file that is live behind it, but for the source of a copy."""
    found: set[tuple[int, int]] = set()
    for b in range(len(liveness.blocks)):
        for step, (_, behind) in zip(liveness.blocks[b], _around(liveness, b), strict=True):
            for u in members(step.writes):
                if liveness.files[u] >= 0:
                    others = members(behind & liveness.units_of[liveness.files[u]])
                    found.update((min(u, v), max(u, v)) for v in others if v not in (u, step.copied))
    return sorted(found)


def interference_lines(record: Record) -> Iterator[str]:
    """The units of each file with whom they meet."""
    yield title(record)
    yield f"{record['units']}, by {record['by']}"
    for file in record["files"]:
        if not file["units"]:
            continue
        yield f"{file['file']}: {len(file['units'])} units, {len(file['pairs'])} pairs"
        met: dict[str, list[str]] = {}
        for a, b in file["pairs"]:
            met.setdefault(a, []).append(b)
            met.setdefault(b, []).append(a)
        for unit in file["units"]:
            yield f"    {unit['unit']}: degree {unit['degree']}: {' '.join(met.get(unit['unit'], ['-']))}"
