"""The programs, compiled, checked and run: they must write what numpy says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import oric
from oric.sass.check import check_cubin
from oric.sim import ExecutionError, Modes
from oric.support import elf

from tests.programs import stored
from tests.programs.case import PROGRAMS, SOURCES
from tests.ptx_text import kernels
from tests.sim.suite.case import ENTRIES, Case, Entry

MODES = Modes(strict=True, memcheck=True)
LEVELS = (0, 3)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_110a", "sm_120a")
Vendor = Callable[[str, str], bytes | None]


@dataclass(frozen=True)
class Outcome:
    """``refusal``: what the compiler says of a kernel that it refuses; ``problem``: what is wrong with the code that it makes."""

    kernel: str
    target: str
    level: int
    refusal: str = ""
    problem: str = ""


def entries(source: str, target: str) -> list[Entry]:
    """The kernels of a source that a target has."""
    own = (SOURCES / f"{source}.cu").exists()
    import_module(f"tests.programs.sources.{source}" if own else f"tests.sim.suite.{source}")
    found = (PROGRAMS if own else ENTRIES).values()
    return [e for e in found if e.source == source and stored.nearest(target) in e.targets and stored.has(source, target)]


@cache
def texts(source: str, target: str) -> dict[str, str]:
    """A module for each kernel of a source."""
    return kernels(stored.ptx(source, target))


def judge(entry: Entry, image: bytes, checked: bool = True, stack: int = 0) -> tuple[str, Case]:
    """What is wrong with a cubin of a kernel, "" when nothing is; and the launch, with what it wrote.

    ``stack``: bytes that a thread has at the least, where the file does not say how many it needs.
    """
    case = entry.case()
    case.stack = max(case.stack, stack)
    if checked and (found := check_cubin(elf.read(image)).findings):
        return f"{len(found)} hazards: {found[0]}", case
    return judge_run(case, entry.name, image, MODES), case


def judge_run(case: Case, name: str, image: bytes, modes: Modes) -> str:
    """What is wrong with what a kernel does, "" when nothing is."""
    module = oric.sim.load(image)
    try:
        done = case.launch(module, name, modes)
    except ExecutionError as error:
        expected = case.fault and isinstance(error, case.fault[0]) and re.search(case.fault[1], str(error))
        return "" if expected else str(error)
    if done.reports:
        return f"{len(done.reports)} reports: {done.reports[0]}"
    if case.fault:
        return "no fault"
    if done.printed != case.printed:
        return f"printed {done.printed!r}"
    try:
        case.judge(module)
    except AssertionError as error:
        return str(error)
    return ""


def measure(source: str, target: str, names: Sequence[str] = (), vendor: Vendor | None = None) -> Iterator[Outcome]:
    """The outcome for each kernel of a source and each level; with ``vendor``, the code that it makes is judged too."""
    for entry in entries(source, target):
        if names and entry.name not in names:
            continue
        text = texts(source, target)[entry.name]
        for level in LEVELS:
            try:
                image = oric.compile(text, arch=target, opt_level=level).image
            except oric.CompileError as error:
                yield Outcome(entry.name, target, level, refusal=str(error).splitlines()[0].partition("error: ")[2])
                break
            yield Outcome(entry.name, target, level, problem=judge(entry, image)[0])
        else:
            if vendor and (theirs := vendor(text, target)) and (problem := judge(entry, theirs, checked=False)[0]):
                yield Outcome(entry.name, target, level, problem=f"as the vendor compiles it: {problem}")
