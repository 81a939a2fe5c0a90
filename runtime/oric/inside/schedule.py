"""Dump of the schedule: pipes, stall counts, scoreboards set and waited for.

Source: Ori IR, "Instruction Layout" (control bits); spec/latency (classes and pipes).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oric_tables import numbers
from oric_tables._native import ffi, lib
from oric_tables.reports import PIPES

from oric.ir import machine
from oric.ir.function import NONE, Function
from oric.ir.lineinfo import line_of
from oric.ir.text import all_instructions

from .facts import Facts, Record, head, text_of, title

_CELLS: Final = "place block  line issue  pipe       class            stall yield sets  waits"


class NotScheduled(ValueError):
    """A function has no control bits yet."""


def schedule_record(f: Function, facts: Facts) -> Record:
    """The instructions in order with their control bits.

    ``issue``: cycles after the first of the block at which it issues at the earliest; ``write``, ``read``: the scoreboard that it
    sets when its results are there and when it has read its sources, -1 for none; ``waits``: scoreboards that it waits for;
    ``reuse``: operands that stay in the reuse cache are marked in the text.

    Raises:
        NotScheduled: the phase that schedules has not run.
    """
    order = all_instructions(f)
    if order and not any(f.control[i] for i in order):
        raise NotScheduled(f"'{f.name}' is not scheduled after phase {facts.phase} {facts.phase_name}")
    loaded = machine.load(f, facts.target.isa, facts.target.uniform_regs, physical=True)
    view = loaded.fn
    classes = {int(view.nodes[at].index): int(view.nodes[at].klass) for at in range(view.insn_count)}
    instructions = []
    place = 0
    for b in range(f.blocks()):
        issue = 0
        i: int = f.head[b]
        while i != NONE:
            klass = classes[i]
            row = _control(f.control[i])
            instructions.append({
                "place": place, "block": b, "line": line_of(f.line[i]), "issue": issue,
                "pipe": PIPES[lib.oric_classes[facts.target.isa][klass].pipe],
                "class": ffi.string(lib.oric_class_names[klass]).decode(), **row, "text": text_of(f, i),
            })  # fmt: skip
            issue += max(row["stall"], 1)
            place += 1
            i = f.next[i]
    pipes = dict.fromkeys(PIPES, 0)
    for one in instructions:
        pipes[one["pipe"]] += 1
    return {
        **head("schedule", f, facts), "instructions": instructions,
        "pipes": [{"pipe": pipe, "instructions": count} for pipe, count in pipes.items()],
        "cycles": sum(one["stall"] for one in instructions),
    }  # fmt: skip


def _control(bits: int) -> Record:
    """The control bits of an instruction, taken apart."""
    write, read = (
        bits >> shift & mask
        for shift, mask in (
            (numbers.WRITE_BARRIER_SHIFT, numbers.WRITE_BARRIER_MASK),
            (numbers.READ_BARRIER_SHIFT, numbers.READ_BARRIER_MASK),
        )
    )
    waits = bits >> numbers.WAIT_SHIFT & numbers.WAIT_MASK
    return {
        "stall": bits >> numbers.STALL_SHIFT & numbers.STALL_MASK,
        "yield": not bits >> numbers.YIELD_SHIFT & numbers.YIELD_MASK,
        "write": write if write < numbers.SCOREBOARDS else -1,
        "read": read if read < numbers.SCOREBOARDS else -1,
        "waits": [n for n in range(numbers.SCOREBOARDS) if waits >> n & 1],
    }


def schedule_lines(record: Record) -> Iterator[str]:
    """A line for every instruction, then how many each pipe has, and the cycles of all stall counts."""
    yield title(record)
    yield _CELLS
    for i in record["instructions"]:
        sets = f"{'W' + str(i['write']) if i['write'] >= 0 else '-'}{'R' + str(i['read']) if i['read'] >= 0 else '-'}"
        waits = "".join(map(str, i["waits"])) or "-"
        place = f"{i['place']:5} {i['block']:5} {i['line']:5} {i['issue']:5}"
        bits = f"{i['stall']:5} {'Y' if i['yield'] else '-':>5} {sets:>4} {waits:>6}"
        yield f"{place}  {i['pipe']:<10} {i['class']:<16} {bits}  {i['text']}"
    yield "pipes: " + ", ".join(f"{p['pipe']} {p['instructions']}" for p in record["pipes"] if p["instructions"])
    yield f"cycles of all stall counts: {record['cycles']}"
