"""Findings that do not stop a launch: of strict mode and of the memory checker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oric_tables._native import lib

from .faults import place_of

if TYPE_CHECKING:
    from .errors import Triple
    from .image import Image


@dataclass(frozen=True)
class Report:
    """One finding; ``str()`` is one line.

    Attributes:
        kind: number of ``ORIC_REPORT_*`` in ``native/sim.h``.
        kernel: name of the kernel that was launched.
        block, thread: where it was found.
        function, offset, instruction: the instruction that found it.
        first: function, offset and text of the earlier instruction; ("", 0, "") without one.
        repeats: further findings of the same kind between the same instructions.
    """

    kind: int
    kernel: str
    block: Triple
    thread: Triple
    function: str
    offset: int
    instruction: str
    first: tuple[str, int, str]
    had: int
    needed: int
    repeats: int


def reports_of(image: Image, kernel: str, neighbours: list[tuple[int, int, str]]) -> tuple[Report, ...]:
    """The reports of the last launch.

    Args:
        image: the loaded module.
        kernel: name of the launched kernel.
        neighbours: (address, bytes, name) of the global allocations, to say which one is near.
    """
    out = []
    for index in range(lib.oric_sim_report_count(image.sim)):
        found = lib.oric_sim_report_at(image.sim, index)
        function, offset, text = place_of(image, found.second)
        out.append(
            Report(
                found.kind,
                kernel,
                (found.ctaid[0], found.ctaid[1], found.ctaid[2]),
                (found.tid[0], found.tid[1], found.tid[2]),
                function,
                offset,
                text,
                place_of(image, found.first),
                found.had,
                found.needed,
                found.repeats,
            )
        )
    return tuple(out)
