"""The code of an instance, ours or the vendor's, checked and run: it must write what numpy says."""

from __future__ import annotations

import oric
from oric.sass.check import check_cubin
from oric.sim import ExecutionError, Modes, SimError
from oric.support import elf

from tests.programs.compare import refusal
from tests.programs.triton import stored
from tests.programs.triton.case import case, instances

MODES = Modes(strict=True, memcheck=True)


def every() -> list[tuple[str, int]]:
    """All instances and the targets that have PTX of them."""
    return [(i.name, target) for i in instances().values() for target in i.targets if stored.has(i.name, target)]


def sm(target: int) -> str:
    """The target as Triton names it."""
    return f"sm_{target}{'a' * (target >= 90)}"


def judge(name: str, target: int, image: bytes, checked: bool = True) -> str:
    """What is wrong with a cubin, "" when nothing is."""
    if checked and (found := check_cubin(elf.read(image)).findings):
        return f"{len(found)} hazards: {found[0]}"
    facts = stored.facts(name, target)
    launch = case(name, facts)
    module = oric.sim.load(image)
    try:
        done = launch.launch(module, facts["kernel"], MODES)
    except (ExecutionError, SimError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    if done.reports:
        return f"{len(done.reports)} reports: {done.reports[0]}"
    if sorted(done.printed.splitlines()) != sorted(launch.printed.splitlines()):
        return f"printed {done.printed!r}"
    try:
        launch.judge(module)
    except AssertionError as error:
        return str(error)
    return ""


def problem(name: str, target: int, level: int = 3) -> str:
    """What is wrong with this compiler's code of an instance, "" when nothing is; "refused: ..." when there is none."""
    try:
        image = oric.compile(stored.ptx(name, target), arch=sm(target), opt_level=level).image
    except oric.CompileError as error:
        return f"refused: {refusal(error)}"
    return judge(name, target, image)
