"""Code of every target, ours and ptxas's: instructions, registers, and cycles in the simulator."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from oric import sass
from oric.support import elf

from bench.measure import Frames, Ptxas, Row, our_code, table
from bench.modules import Input
from bench.pressure import cycles
from tests.kernels import cases

FIGURES = ("instructions", "registers", "cycles")
Made = tuple[Frames, bytes]


def code_size(frame: Frames, image: bytes) -> dict[str, int]:
    """Instructions of all kernels (without the padding behind the last one) and the most registers of one, read from a cubin;
    bytes of the stack and of spills."""
    cubin = elf.read(image)
    count = 0
    for kernel in cubin.kernels.values():
        names = [instruction.op.name for instruction in sass.decode(kernel.text, cubin.target)]
        while names and names[-1] == "NOP":
            names.pop()
        if len(names) > 1 and names[-1] == "BRA":  # the jump to itself behind the code
            names.pop()
        count += len(names)
    registers = max((kernel.registers for kernel in cubin.kernels.values()), default=0)
    return {"instructions": count, "registers": registers, "stack": frame.stack, "spills": frame.spills}


def sizes(inputs: list[Input], level: int, ptxas: Ptxas) -> list[Row]:
    """Code of each kernel, ours and ptxas's."""
    rows: list[Row] = []
    for one, ours, theirs in images(inputs, level, ptxas):
        rows.append({"name": one.name, "target": one.target, "oric": code_size(*ours), "ptxas": theirs and code_size(*theirs)})
    return rows


def images(inputs: list[Input], level: int, ptxas: Ptxas) -> Iterator[tuple[Input, Made, Made | None]]:
    """Each with our frames and cubin, and ptxas's, where that makes some."""
    for one in inputs:
        yield one, our_code(one.text, one.target, level), ptxas.code(one.text, one.target, level)


def measure(files: list[str], targets: list[str], level: int, ptxas: Ptxas) -> list[Row]:
    """One row a kernel file and target; ``ptxas`` is None where that makes no code of it, or is not there."""
    inputs = [Input(file, cases.ptx(file, target), target) for target in targets for file in files]
    return [
        {
            "name": one.name,
            "target": one.target,
            "oric": code_size(*ours) | {"cycles": cycles(ours[1], one.name)},
            "ptxas": theirs and code_size(*theirs) | {"cycles": cycles(theirs[1], one.name)},
        }
        for one, ours, theirs in images(inputs, level, ptxas)
    ]


def factor(rows: list[Row], figure: str) -> float | None:
    """Geometric mean of ours in ptxas's."""
    return statistics.geometric_mean(r["oric"][figure] / r["ptxas"][figure] for r in rows) if rows else None


def report(rows: list[Row]) -> None:
    """A line a target."""
    lines: list[list[Any]] = []
    for target in dict.fromkeys(r["target"] for r in rows):
        both = [r for r in rows if r["target"] == target and r["ptxas"] is not None]
        sums = {
            what: [sum(r[who][what] for r in both) for who in ("oric", "ptxas")] for what in ("instructions", "spills", "stack")
        }
        factors = [factor(both, figure) for figure in FIGURES]
        lines.append([target, len(both), *sums["instructions"], *factors, *sums["spills"], *sums["stack"]])
    head = ["target", "kernels", "oric SASS", "ptxas", *FIGURES, "oric spills", "ptxas", "oric stack", "ptxas"]
    title = (
        "Code of the kernels of the tests, by target; factors are geometric means of ours in ptxas's, spills and stacks are bytes"
    )
    table(title, head, lines)
