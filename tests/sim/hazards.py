"""Hazards planted in ptxas-made kernels that can be run: scheduling bits changed in one instruction at a time.

A mutant counts when the hazard checker (`oric check`) finds something new in it. The checker looks at every way through the code,
a launch takes some: a finding counts when both of its instructions execute, and when it is still found with the branches fixed
that always or never jump in these launches. Whether an instruction executes, a trap in its place with its guard tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import oric.sim
from oric.sass import check
from oric.sass.code import Code
from oric.sim.errors import SimError, Trap
from oric.sim.modes import Modes
from oric.sim.reports import reports_of
from oric.support import elf
from oric.support.targets import find_model

from tests.kernels.cases import Step
from tests.sim.program import word

KINDS = ("wait", "write", "read", "swap", "stall")
NONE = 7
BYTES = 16
MAX_STEPS = 200_000
_GUARD = 15 << 12
_ALWAYS = 7 << 12
_CONTROL = (1 << 17) - 1 << 105
_JUMP = re.compile(r"@!?U?P\d (BRA|EXIT|RET|BRX|CALL)\b(?!.*,)")
Finding = tuple[int, int, int, int, int]  # kind, first, second, register file, register
# What ORIC_H_* of check.h is as ORIC_REPORT_* of sim.h: the kinds of hazards that a launch can meet.
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


@dataclass
class Kernel:
    """One function of a cubin and the launches that run it."""

    target: str
    image: bytes
    function: elf.Function
    steps: Callable[[], list[Step]]
    known: dict[tuple[int, bool], bool] = field(default_factory=dict)  # instruction, with its guard -> reached

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
        return {(f.kind, f.first, f.second, f.file, f.number) for f in found if f.kind in DYNAMIC}

    def _with(self, number: int, bits: int) -> bytes:
        at = self.cubin.sections[self.function.section].offset
        return self.image[:at] + _replaced(self.image[at:], number, bits)

    def new_findings(self, number: int, bits: int) -> set[Finding]:
        """What the checker finds when one instruction is changed, and did not find before."""
        return self.findings(_replaced(self.function.text, number, bits)) - self.findings_before

    def reports(self, number: int, bits: int) -> set[tuple[int, int]]:
        """(first, second) of what strict launches of the changed kernel report; the first is -1 where there is none."""
        module = oric.sim.load(self._with(number, bits))
        for step in self._steps():
            try:
                found = module.launch(
                    step.kernel, step.grid, step.block, step.args, max_steps=MAX_STEPS, modes=Modes(strict=True)
                ).reports
            except SimError:  # a wrong value can lead anywhere
                found = reports_of(module.image, step.kernel, [])
            if found:
                return {(r.first[1] // BYTES if r.first[0] else -1, r.offset // BYTES) for r in found}
        return set()

    def _steps(self) -> list[Step]:
        return [s for s in self.steps() if self.function.name not in self.cubin.kernels or s.kernel == self.function.name]

    def reached(self, number: int, guarded: bool = True) -> bool:
        """Whether an instruction executes for any thread; not `guarded`: also with its guard off."""
        if (number, guarded) not in self.known:
            trap = int.from_bytes(word(find_model(self.target), "BPT", code=1), "little")
            bits = _bits(self.function.text, number)
            guard = bits & _GUARD if guarded else _ALWAYS
            self.known[number, guarded] = self._traps(self._with(number, trap & ~_GUARD & ~_CONTROL | bits & _CONTROL | guard))
        return self.known[number, guarded]

    @cached_property
    def taken(self) -> bytes:
        """The code with the branches fixed that always or never jump in these launches."""
        model = find_model(self.target)
        text = self.function.text
        nothing = int.from_bytes(word(model, "NOP"), "little")
        for number, line in enumerate(Code(model, text).texts()):
            bits = _bits(text, number)
            if not _JUMP.match(line):
                continue
            if not self.reached(number):
                text = _replaced(text, number, nothing & ~_CONTROL | bits & _CONTROL)
            elif (number + 1) * BYTES < len(text) and not self.reached(number + 1, guarded=False):
                text = _replaced(text, number, bits & ~_GUARD | _ALWAYS)
        return text

    def met(self, number: int, bits: int, new: set[Finding]) -> bool:
        """Whether one of the findings counts."""
        if not any(self.reached(second) and (first < 0 or self.reached(first)) for _, first, second, _, _ in new):
            return False
        return bool(new & self.findings(_replaced(self.taken, number, bits)) - self.findings(self.taken))

    def _traps(self, image: bytes) -> bool:
        module = oric.sim.load(image)
        for step in self._steps():
            try:
                module.launch(step.kernel, step.grid, step.block, step.args, modes=Modes(strict=True))
            except Trap:
                return True
        return False


@dataclass
class Result:
    """Mutants that the checker finds: reported by strict mode, with instructions that no thread comes to, and missed."""

    caught: Counter[str] = field(default_factory=Counter)
    unreached: int = 0
    missed: list[tuple[str, str, int]] = field(default_factory=list)  # function, kind, byte offset


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
    new = kernel.new_findings(number, bits)
    if not new:
        return
    if {(first, second) for _, first, second, _, _ in new} & kernel.reports(number, bits):
        result.caught[kind] += 1
    elif kernel.met(number, bits, new):
        result.missed.append((kernel.function.name, kind, number * BYTES))
    else:
        result.unreached += 1
