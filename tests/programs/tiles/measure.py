"""A kernel compiled for a target and run: what is refused, has hazards or computes something else."""

from __future__ import annotations

import oric
from oric.sim import SimError

from tests.programs import measure
from tests.programs.compare import Subject, refusal
from tests.programs.tiles.case import module, programs


def judge(name: str, image: bytes, checked: bool = True) -> str:
    """What is wrong with a cubin of a kernel, "" when nothing is."""
    try:
        return measure.judge(programs()[name], image, checked)[0]
    except (SimError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def problem(name: str, target: str, level: int = 3) -> str:
    """What is wrong with this compiler's code of a kernel, "" when nothing is; "refused: ..." when there is none."""
    try:
        image = oric.compile(module(name, target), arch=target, opt_level=level).image
    except oric.CompileError as error:
        return f"refused: {refusal(error)}"
    return judge(name, image)


def subject(name: str, target: str) -> Subject:
    """A kernel for the comparison with ptxas."""
    return Subject(f"{name} {target}", module(name, target), target, name, programs()[name].case)
