"""Hazards planted in ptxas-made kernels that can be run: scheduling bits changed in one instruction at a time.

A mutant counts when the hazard checker (`oric check`) finds something new in it, and a thread of the launches meets that: what
every thread executes is recorded, and the checker finds it there as well (ways.py). Each mutant that changes what the launches
leave counts too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import oric.sim
from oric.sass import check
from oric.sass.code import Code
from oric.sim.errors import SimError
from oric.sim.modes import Modes
from oric.sim.reports import reports_of
from oric.support import elf
from oric.support.targets import find_model

from tests.kernels.cases import Step
from tests.sim.ways import Array, Finding, Ways, ways

KINDS = ("wait", "write", "read", "swap", "stall")
NONE = 7
BYTES = 16
MAX_STEPS = 200_000
# What ORIC_H_* is as ORIC_REPORT_*: the kinds of hazards that a launch can meet.
DYNAMIC = frozenset({1, 2, 3, 4, 6, 7, 8, 9})


def _put(bits: int, at: int, width: int, value: int) -> int:
    return bits & ~((1 << width) - 1 << at) | value << at


def _bits(text: bytes, number: int) -> int:
    return int.from_bytes(text[number * BYTES :][:BYTES], "little")


def _replaced(text: bytes, number: int, bits: int) -> bytes:
    return text[: number * BYTES] + bits.to_bytes(BYTES, "little") + text[(number + 1) * BYTES :]


def changed(bits: int) -> Iterator[tuple[str, int]]:
    """(kind, word) of every mutant of an instruction."""
    control = bits >> 105
    stall, write, read, wait = control & 15, control >> 5 & 7, control >> 8 & 7, control >> 11 & 63
    for board in range(6):
        if wait >> board & 1:
            yield "wait", _put(bits, 116, 6, wait & ~(1 << board))
    if write != NONE:
        yield "write", _put(bits, 110, 3, NONE)
        yield "swap", _put(bits, 110, 3, (write + 1) % 6)
    if read != NONE:
        yield "read", _put(bits, 113, 3, NONE)
    for lower in {1, stall - 1}:
        if 0 < lower < stall:
            yield "stall", _put(bits, 105, 4, lower)


class Outcome(NamedTuple):
    """What strict launches of a mutant report, as (first, second) with -1 where there is no first one; whether nothing is
    reported and yet they leave something else than without the mutation, or end in a fault."""

    pairs: set[tuple[int, int]]
    changed: bool


@dataclass
class Kernel:
    """One function of a cubin and the launches that run it."""

    target: str
    image: bytes
    function: elf.Function
    steps: Callable[[], list[Step]]

    @cached_property
    def cubin(self) -> elf.Cubin:
        return elf.read(self.image)

    @cached_property
    def findings_before(self) -> set[Finding]:
        return self.findings(self.function.text)

    def mutants(self) -> Iterator[tuple[str, int, int]]:
        """(kind, number of the instruction, new word)."""
        for number in range(len(self.function.text) // BYTES):
            for kind, new in changed(_bits(self.function.text, number)):
                yield kind, number, new

    def findings(self, data: bytes) -> set[Finding]:
        """What the hazard checker says of the function with this code."""
        code = Code(find_model(self.target), data)
        found = check.run(code, check.section_of(self.cubin, self.function))[1]
        return {Finding(f.kind, f.first, f.second, f.file, f.number) for f in found if f.kind in DYNAMIC}

    def _with(self, number: int, bits: int) -> bytes:
        at = self.cubin.sections[self.function.section].offset
        return self.image[:at] + _replaced(self.image[at:], number, bits)

    def new_findings(self, number: int, bits: int) -> set[Finding]:
        """What the checker finds when one instruction is changed, and did not find before."""
        return self.findings(_replaced(self.function.text, number, bits)) - self.findings_before

    def run(self, number: int, bits: int) -> Outcome:
        """Strict launches of the changed kernel, up to the first one with reports."""
        module = oric.sim.load(self._with(number, bits))
        for step, right in zip(self._steps(), self.results, strict=True):
            try:
                found = module.launch(
                    step.kernel, step.grid, step.block, step.args, max_steps=MAX_STEPS, modes=Modes(strict=True)
                ).reports
            except SimError:  # a wrong value can lead anywhere
                found = reports_of(module.image, step.kernel, [])
                if not found:
                    return Outcome(set(), True)
            if found:
                return Outcome({(r.first[1] // BYTES if r.first[0] else -1, r.offset // BYTES) for r in found}, False)
            if _left(step) != right:
                return Outcome(set(), True)
        return Outcome(set(), False)

    def _steps(self) -> list[Step]:
        return [s for s in self.steps() if self.function.name not in self.cubin.kernels or s.kernel == self.function.name]

    @cached_property
    def ways(self) -> Ways:
        """What the threads of the launches execute."""
        module = oric.sim.load(self.image)
        base, count = module.image.code[self.function.name], len(self.function.text) // BYTES
        found: list[Array] = []
        for step in self._steps():
            done = module.launch(step.kernel, step.grid, step.block, step.args, modes=Modes(strict=True, steps=True))
            assert done.steps is not None
            assert len(done.steps) >= done.warp_instructions
            found += ways(done.steps, base, count)
        return Ways(found)

    @cached_property
    def results(self) -> list[list[bytes]]:
        """What the launches of the kernel as it is leave in their arrays."""
        module, out = oric.sim.load(self.image), []
        for step in self._steps():
            module.launch(step.kernel, step.grid, step.block, step.args, modes=Modes(strict=True))
            out.append(_left(step))
        return out

    def met(self, number: int, bits: int, new: set[Finding]) -> set[tuple[int, int]]:
        """(first, second) of the findings that a thread meets."""
        text = _replaced(self.function.text, number, bits)
        return {(f.first, f.second) for f in new if self.ways.met(find_model(self.target), text, f)}


def _left(step: Step) -> list[bytes]:
    return [a.tobytes() for a in step.args if isinstance(a, np.ndarray)]


@dataclass
class Result:
    """Mutants that the checker finds: those that strict mode reports, those that no thread meets. Function, kind and byte offset
    of the mutants that are ``missed`` (a thread meets them, or they change a result, without a report), and ``unexplained`` (a
    report of what no thread meets)."""

    caught: Counter[str] = field(default_factory=Counter)
    unmet: int = 0
    missed: list[tuple[str, str, int]] = field(default_factory=list)
    unexplained: list[tuple[str, str, int]] = field(default_factory=list)


def measure(kernels: list[Kernel], every: int) -> Result:
    """Plant every n-th mutant of all kernels, one after the other."""
    result = Result()
    count = 0
    for kernel in kernels:
        for kind, number, bits in kernel.mutants():
            count += 1
            if count % every == 0:
                _plant(kernel, kind, number, bits, result)
    return result


def _plant(kernel: Kernel, kind: str, number: int, bits: int, result: Result) -> None:
    place = (kernel.function.name, kind, number * BYTES)
    outcome = kernel.run(number, bits)
    if outcome.changed:
        result.missed.append(place)
        return
    new = kernel.new_findings(number, bits)
    if not new:
        return
    met = kernel.met(number, bits, new)
    if {(f.first, f.second) for f in new} & outcome.pairs:
        result.caught[kind] += 1
        if not met:
            result.unexplained.append(place)
    elif met:
        result.missed.append(place)
    else:
        result.unmet += 1
