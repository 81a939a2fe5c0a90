"""A program compiled for every target, level and limit of registers: what is refused, has hazards or computes something else."""

from __future__ import annotations

from collections.abc import Iterator

import oric

from tests.corpus.compile import need
from tests.cubin.loader_facts import ptxas_image
from tests.programs.measure import judge
from tests.programs.portable.case import module, programs

WAYS: tuple[tuple[int, int | None], ...] = ((0, None), (3, None), (0, 24), (3, 24), (0, 32), (3, 32), (0, 64), (3, 64))


def problem(name: str, target: str, level: int = 3, limit: int | None = None) -> str:
    """What is wrong with the code of a program, "" when nothing is."""
    try:
        image = oric.compile(module(name, target), arch=target, opt_level=level, maxrregcount=limit).image
    except oric.CompileError as error:
        return f"refused: {error}"
    return judge(programs()[name], image)[0]


def failures(name: str, vendor: bool = False) -> Iterator[str]:
    """A line for each way that goes wrong; with ``vendor`` ptxas's code is judged instead."""
    for target in programs()[name].targets:
        if vendor:
            if found := judge(programs()[name], ptxas_image(need("ptxas"), module(name, target), target), checked=False)[0]:
                yield f"{name} {target} ptxas: {found}"
            continue
        for level, limit in WAYS:
            if found := problem(name, target, level, limit):
                yield f"{name} {target} -O{level} {limit or ''}: {found}"
