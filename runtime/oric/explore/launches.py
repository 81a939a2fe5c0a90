"""What launches of a launch file cost, instruction by instruction, in the simulator's timing mode (docs/clock.md)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from oric.sim.errors import SimError
from oric.sim.launchfile import LaunchFile, LaunchFileError
from oric.sim.run import Simulator


class Launches:
    """The launches of a file that have been run with one cubin; ``cycles`` by kernel, ``launches``: how many of each.

    ``stalls``: section -> byte offset -> times issued, cycles waited for scoreboards, at barriers, for pipes.

    Raises:
        LaunchFileError: the file is wrong, or a launch fails; the text names the file.
    """

    def __init__(self, path: str, image: bytes) -> None:
        self.cycles: dict[str, int] = {}
        self.launches: dict[str, int] = {}
        self.machine = ""
        self.stalls: dict[str, dict[int, list[int]]] = {}
        try:
            self._run(LaunchFile(Path(path)), image)
        except (LaunchFileError, SimError) as error:
            raise LaunchFileError(f"{path}: {error}") from error

    def _run(self, file: LaunchFile, image: bytes) -> None:
        settings = dataclasses.replace(file.settings, timing=True, trace=None)
        device = Simulator(file, image, settings, shown=False)
        for step in file.steps:
            done = device.launch(step).statistics
            timing = done.timing if done is not None else None
            if timing is None:
                raise LaunchFileError(f"the launch of '{step.kernel}' executes more than timing mode keeps")
            self.machine = timing.machine
            self.cycles[step.kernel] = self.cycles.get(step.kernel, 0) + timing.cycles
            self.launches[step.kernel] = self.launches.get(step.kernel, 0) + 1
            for s in timing.stalls:
                row = self.stalls.setdefault(s.function, {}).setdefault(s.offset, [0, 0, 0, 0])
                row[:] = [a + b for a, b in zip(row, (s.issued, s.scoreboard, s.barrier, s.pipe), strict=True)]

    def document(self, section: str, kernel: str, begin: int, count: int, bytes_each: int) -> dict[str, Any]:
        """What ``count`` instructions of a section took, from byte offset ``begin`` on; columns as ``stalls`` has them."""
        found = self.stalls.get(section, {})
        rows = [found.get(begin + at * bytes_each, [0, 0, 0, 0]) for at in range(count)]
        columns = dict(zip(("issued", "scoreboard", "barrier", "pipe"), map(list, zip(*rows, strict=True)), strict=True))
        return {
            "machine": self.machine,
            "cycles": self.cycles.get(kernel, 0),
            "launches": self.launches.get(kernel, 0),
            **columns,
        }
