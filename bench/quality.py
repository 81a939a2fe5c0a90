"""Code of every target, ours and ptxas's: instructions, registers, and cycles in the simulator."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from oric import sass
from oric.support import elf

from bench.measure import Ptxas, Repeats, Row, table
from bench.modules import Input
from bench.pressure import cycles
from tests.kernels import cases

FIGURES = ("instructions", "registers", "cycles")


def code_size(image: bytes) -> dict[str, int]:
    """Instructions of all kernels (without the padding behind the last one) and the most registers of one, read from a cubin."""
    cubin = elf.read(image)
    count = 0
    for kernel in cubin.kernels.values():
        names = [instruction.op.name for instruction in sass.decode(kernel.text, cubin.target)]
        while names and names[-1] == "NOP":
            names.pop()
        if len(names) > 1 and names[-1] == "BRA":  # the jump to itself behind the code
            names.pop()
        count += len(names)
    return {"instructions": count, "registers": max((kernel.registers for kernel in cubin.kernels.values()), default=0)}


def sizes(inputs: list[Input], level: int, ptxas: Ptxas) -> list[Row]:
    """Code of each kernel, ours and ptxas's."""
    rows: list[Row] = []
    for one, ours, theirs in images(inputs, level, ptxas):
        rows.append({"name": one.name, "target": one.target, "oric": code_size(ours), "ptxas": theirs and code_size(theirs)})
    return rows


def images(inputs: list[Input], level: int, ptxas: Ptxas) -> Iterator[tuple[Input, bytes, bytes | None]]:
    """Each with our cubin and ptxas's, where that makes one."""
    import oric

    for one in inputs:
        theirs = ptxas.process(one.text, one.target, level, Repeats(1, 0.0)) and ptxas.image()
        yield one, oric.compile(one.text, arch=one.target, opt_level=level).image, theirs or None


def measure(files: list[str], targets: list[str], level: int, ptxas: Ptxas) -> list[Row]:
    """One row a kernel file and target; ``ptxas`` is None where that makes no code of it, or is not there."""
    inputs = [Input(file, cases.ptx(file, target), target) for target in targets for file in files]
    return [
        {
            "name": one.name,
            "target": one.target,
            "oric": code_size(ours) | {"cycles": cycles(ours, one.name)},
            "ptxas": theirs and code_size(theirs) | {"cycles": cycles(theirs, one.name)},
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
        sums = [sum(r[who]["instructions"] for r in both) for who in ("oric", "ptxas")]
        lines.append([target, len(both), *sums, *(factor(both, figure) for figure in FIGURES)])
    head = ["target", "kernels", "oric SASS", "ptxas", *FIGURES]
    table("Code of the kernels of the tests, by target; factors are geometric means of ours in ptxas's", head, lines)
