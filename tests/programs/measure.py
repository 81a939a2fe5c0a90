"""The kernels of tests/sim/suite as nvcc makes PTX of them, compiled, checked and run: they must write what numpy says."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import oric
from oric.sass.check import check_cubin
from oric.sim import ExecutionError, Modes
from oric.support import elf

from tests.corpus.compile import ToolError, need
from tests.ptx_text import kernels
from tests.sim.suite.case import ENTRIES, HERE, Entry

MODES = Modes(strict=True, memcheck=True)
LEVELS = (0, 3)


@dataclass(frozen=True)
class Outcome:
    """``refusal``: what the compiler says of a kernel that it refuses; ``problem``: what is wrong with the code that it makes."""

    kernel: str
    target: str
    level: int
    refusal: str = ""
    problem: str = ""


def sources() -> list[str]:
    """Names of the files of the suite."""
    return [path.stem for path in sorted(HERE.glob("*.cu"))]


def entries(source: str, target: str) -> list[Entry]:
    """The kernels of a file that a target has."""
    import_module(f"tests.sim.suite.{source}")
    number = int(re.sub(r"\D", "", target))
    nearest = [t for t in ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a") if int(re.sub(r"\D", "", t)) <= number]
    return [e for e in ENTRIES.values() if e.source == source and nearest[-1] in e.targets]


def ptx(source: str, target: str) -> str:
    """The PTX that nvcc makes of a file.

    Raises:
        ToolError: nvcc is missing or refuses it.
    """
    path = HERE / f"{source}.cu"
    flags = re.search(r"^// nvcc: (.*)", path.read_text(encoding="utf-8"), re.M)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "out.ptx"
        more = flags[1].split() if flags else []
        architecture = target.replace("sm_", "compute_")
        command = [need("nvcc"), "-O3", "-std=c++17", *more, f"-arch={architecture}", "-ptx", "-o", str(made), path.name]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"{source} for {target}: {done.stderr.strip()[:800]}")
        return made.read_text()


def judge(entry: Entry, image: bytes) -> str:
    """What is wrong with a cubin of a kernel; "" when nothing is."""
    if found := check_cubin(elf.read(image)).findings:
        return f"{len(found)} hazards: {found[0]}"
    case, module = entry.case(), oric.sim.load(image)
    try:
        done = case.launch(module, entry.name, MODES)
    except ExecutionError as error:
        return "" if case.fault and isinstance(error, case.fault[0]) and re.search(case.fault[1], str(error)) else str(error)
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


def measure(source: str, target: str, names: Sequence[str] = ()) -> Iterator[Outcome]:
    """The outcome for each kernel of a file and each level."""
    chosen = [e for e in entries(source, target) if not names or e.name in names]
    texts = kernels(ptx(source, target)) if chosen else {}
    for entry in chosen:
        for level in LEVELS:
            try:
                image = oric.compile(texts[entry.name], arch=target, opt_level=level).image
            except oric.CompileError as error:
                yield Outcome(entry.name, target, level, refusal=str(error).splitlines()[0].partition("error: ")[2])
                break
            yield Outcome(entry.name, target, level, problem=judge(entry, image))
