"""Random kernels through compiler and simulator: levels against a reference and against ptxas; failures are shrunk and kept.

A kernel is compiled at every level and with few registers, each code runs in the strict simulator with the memory checker, and
what it leaves in memory is held against a reference interpreter. ptxas's code, where there is a ptxas, is the second opinion: it
tells whether the reference is to blame. Where it differs, the program is rewritten without what ptxas is known to get wrong
(:mod:`oric.fuzz.vendor`): a difference that goes is counted under the name of the fault, one that stays is not explained: it is
counted by what it says, shrunk and kept. Neither is a failure.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from oric_tables.targets import TARGETS

from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_text
from oric.phases.manager import optional_phases
from oric.reduce.chunks import drop_chunks
from oric.reduce.runner import Stopped
from oric.sim.modes import Modes
from oric.sim.module import load
from oric.support.diagnostics import CompileError, InternalError
from oric.support.files import write_atomically

from .calls import STACK, CallProgram
from .full import FullProgram
from .meaning import Op
from .programs import ATOM_PLACE, OUT_WORDS, THREADS, Buffer, Statement, canonical, input_data, registers
from .vendor import FAULTS, faults_of, without

LEVELS: Final = (0, 1, 2, 3)
LIMITS: Final = (24, 24, 32, 40)  # registers of the way with few
SIZES: Final = (10, 20, 40, 70, 100)  # statements
KERNEL: Final = "random_program"
Chunk = tuple[list[Statement], int, int]  # of a list of statements: from where on, how many
KINDS: Final[dict[str, type[FullProgram]]] = {"kernels": FullProgram, "calls": CallProgram}
_PTXAS_SECONDS: Final = 120.0
_TOLD: Final = 500  # programs between two lines about how far it is


class Way(NamedTuple):
    """How a program is compiled: level, most registers (0: no limit), and phases that do not run (names or numbers)."""

    level: int
    limit: int = 0
    off: tuple[str, ...] = ()

    def __str__(self) -> str:
        limit = f" --maxrregcount {self.limit}" if self.limit else ""
        return f"-O{self.level}{limit}" + (f" --disable-phase {','.join(self.off)}" if self.off else "")


class Failure(NamedTuple):
    """What went wrong with a program: ``kind`` is error, report, result; ``way`` is how the code was made."""

    kind: str
    way: Way
    message: str


class Outcome(NamedTuple):
    """What came of a program: failures; what is wrong with ptxas's code (None: nothing, or there is no ptxas); and which known
    faults of ptxas explain that ("": none)."""

    failures: list[Failure]
    ptxas: Failure | None = None
    fault: str = ""

    @property
    def said(self) -> str:
        """What is to be said of ptxas; "" nothing."""
        if self.ptxas is None:
            return ""
        if self.fault:
            return f"ptxas's code differs (known: {self.fault})"
        if self.ptxas.kind == "error":
            return "ptxas makes no code (not explained)"
        report = ": " + re.split("[:,;]", self.ptxas.message, maxsplit=1)[0] if self.ptxas.kind == "report" else ""
        return f"ptxas's code differs (not explained, {self.ptxas.kind}{report})"


Judge = Callable[[FullProgram], Failure | None]  # what is wrong with a program, if anything


class Differs(Exception):
    """What a launch left, or how it ran, is not what it should be; ``kind`` is that of a :class:`Failure`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def program_of(seed: int, target: str, size: int = 0, kind: str = "kernels") -> FullProgram:
    """The program of a seed for a target, of one of KINDS; without a size, one of SIZES, or half of that beside functions."""
    most = SIZES[seed % len(SIZES)]
    return KINDS[kind](seed, size or (most if kind == "kernels" else most // 2), TARGETS[target].number)


def ways_of(seed: int) -> list[Way]:
    """How the program of a seed is compiled: at every level, at two with few registers, and with two phases off."""
    rng = random.Random(seed ^ 0x5EED)
    limit = rng.choice(LIMITS)
    few = [Way(0, limit), Way(rng.choice(LEVELS[1:]), limit)]
    off = sorted(rng.sample(optional_phases(LEVELS[-1]), 2))
    return [*(Way(level) for level in LEVELS), *few, Way(LEVELS[-1], off=tuple(map(str, off)))]


def compiled(text: str, target: str, way: Way) -> bytes:
    """Our cubin; the allocation of its registers is proved.

    Raises:
        CompileError, InternalError: it cannot be made.
    """
    options = CompileOptions(target, way.level, maxrregcount=way.limit or None, verify=True, disabled=way.off)
    return compile_text(text, options).image


def launched(image: bytes, data: Buffer, scalars: list[int]) -> tuple[Buffer, Buffer]:
    """Output lines and atomic words of a launch.

    Raises:
        Differs: the simulator reports something.
    """
    out = np.zeros((THREADS, OUT_WORDS), np.uint64)
    atoms = np.zeros(len(ATOM_PLACE), np.uint32)
    modes = Modes(strict=True, memcheck=True)
    arguments = [data.copy(), out, atoms, *scalars]
    try:
        done = load(image).launch(KERNEL, (1, 1, 1), (THREADS, 1, 1), arguments, modes=modes, stack_bytes=STACK)
    except Exception as error:  # whatever stops the simulator
        raise Differs("report", f"{type(error).__name__}: {error}") from error
    if done.reports:
        raise Differs("report", "\n".join(map(str, done.reports)))
    return canonical(out), atoms


def by_ptxas(ptxas: str, text: str, target: str, way: Way) -> bytes:
    """ptxas's cubin.

    Raises:
        subprocess.SubprocessError: it dies or takes too long.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.ptx").write_text(text, encoding="utf-8")
        limit = ["-maxrregcount", str(way.limit)] if way.limit else []
        command = [ptxas, f"-O{way.level}", "-arch", target, *limit, "in.ptx", "-o", "out.cubin"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_PTXAS_SECONDS)
        return (Path(folder) / "out.cubin").read_bytes()


def examine(program: FullProgram, target: str, ways: list[Way], ptxas: str | None) -> Outcome:
    """Compile, run and compare a program; ptxas's code is made in one of the ways."""
    text, data, scalars = program.text(target), input_data(program.seed), list(program.parameters.values())
    want, want_atoms = program.run(data)
    want = canonical(want)
    failures = [failure for way in ways if (failure := _tried(text, target, way, data, scalars, want, want_atoms)) is not None]
    way = random.Random(program.seed).choice([way for way in ways if not way.off] or ways)
    found = judged_by_ptxas(program, target, way, ptxas) if ptxas is not None else None
    if ptxas is None or found is None:
        return Outcome(failures)
    return Outcome(failures, found, explained(program, target, way, ptxas))


def explained(program: FullProgram, target: str, way: Way, ptxas: str) -> str:
    """The known faults of ptxas without which its code for a program is right, as few as can be; "" where they do not explain it.

    A fault of its optimizer explains nothing unless level 0 is right about the program as it is.
    """
    faults = faults_of(program)
    for some in (list(part) for n in range(1, len(faults) + 1) for part in itertools.combinations(faults, n)):
        always = [name for name in some if not FAULTS[name].optimizer]
        if judged_by_ptxas(without(program, some), target, way, ptxas) is not None:
            continue
        if len(always) == len(some) or judged_by_ptxas(without(program, always), target, Way(0, way.limit), ptxas) is None:
            return "; ".join(some)
    return ""


def our_judge(target: str, way: Way) -> Judge:
    """What is wrong with our code for a program, made in one way."""
    return lambda program: next(iter(examine(program, target, [way], None).failures), None)


def ptxas_judge(target: str, way: Way, ptxas: str) -> Judge:
    """What is wrong with ptxas's code for a program as it stands."""
    return lambda program: judged_by_ptxas(program, target, way, ptxas)


def judged_by_ptxas(program: FullProgram, target: str, way: Way, ptxas: str) -> Failure | None:
    """What is wrong with ptxas's code for a program as it stands."""
    data = input_data(program.seed)
    want, want_atoms = program.run(data)
    try:
        image = by_ptxas(ptxas, program.plain_text(target), target, way)
        _compare(launched(image, data, list(program.parameters.values())), canonical(want), want_atoms)
    except subprocess.CalledProcessError as error:
        return Failure("error", way, error.stderr.decode(errors="replace").strip() or str(error))
    except subprocess.SubprocessError as error:
        return Failure("error", way, str(error))
    except Differs as error:
        return Failure(error.kind, way, str(error))
    return None


def _tried(text: str, target: str, way: Way, data: Buffer, scalars: list[int], want: Buffer, atoms: Buffer) -> Failure | None:
    try:
        image = compiled(text, target, way)
    except (CompileError, InternalError) as error:
        return Failure("error", way, str(error))
    except Exception as error:  # whatever it is: that is what is looked for
        return Failure("error", way, f"{type(error).__name__}: {error}")
    try:
        _compare(launched(image, data, scalars), want, atoms)
    except Differs as error:
        return Failure(error.kind, way, str(error))
    return None


def _compare(got: tuple[Buffer, Buffer], want: Buffer, want_atoms: Buffer) -> None:
    out, atoms = got
    if not (out == want).all():
        thread, slot = map(int, np.argwhere(out != want)[0])
        names = [name for _, name in registers()] + [f"store {k}" for k in range(8)]
        raise Differs(
            "result", f"thread {thread}: {names[slot]} is {int(out[thread, slot]):#x}, expected {int(want[thread, slot]):#x}"
        )
    if not (atoms == want_atoms).all():
        raise Differs("result", f"atomic words are {atoms.tolist()}, expected {want_atoms.tolist()}")


# -- shrinking ----------------------------------------------------------------------------------------------------


def shrink(program: FullProgram, judge: Judge, failure: Failure, until: float) -> Failure:
    """Drop statements of ``program`` as long as a failure of the kind stays; gives the failure of what is left."""
    left = failure

    def chunks(size: int) -> list[Chunk]:
        return [(block, at, size) for block in _all_blocks(program) for at in range(0, len(block), size)]

    def keep(chosen: Sequence[Chunk]) -> int | None:
        nonlocal left
        ((block, at, size),) = chosen
        if time.monotonic() > until:
            raise Stopped
        removed = block[at : at + size]
        del block[at : at + size]
        found = judge(program)
        if found is None or found.kind != failure.kind:
            block[at:at] = removed
            return None
        left = found
        return 0

    with contextlib.suppress(Stopped):
        drop_chunks(max(map(len, _all_blocks(program)), default=0), chunks, keep)
    return left


def _all_blocks(program: FullProgram) -> list[list[Statement]]:
    """All lists of statements of a program, those of its functions behind those of the kernel."""
    return [block for body in (program.body, *program.functions) for block in _blocks(body)]


def _blocks(body: list[Statement]) -> list[list[Statement]]:
    """All lists of statements, the outer ones first."""
    out = [body]
    for statement in body:
        for part in statement:
            if isinstance(part, list) and all(isinstance(inner, tuple) for inner in part):
                out += _blocks(part)
    return out


# -- campaigns ----------------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """A failure and where it is kept."""

    seed: int
    target: str
    failure: Failure
    path: Path


def keep(folder: Path, program: FullProgram, target: str, failure: Failure, said: str, whose: str = "") -> Path:
    """Write the PTX and what is wrong with it into a folder; returns the PTX file. ``whose`` code it is, where not ours.

    Raises:
        OutputError: it cannot be written.
    """
    calls = "calls-" if isinstance(program, CallProgram) else ""
    path = folder / f"fuzz-{calls}{program.seed}-{target}-O{failure.way.level}-{whose}{failure.kind}.ptx"
    folder.mkdir(parents=True, exist_ok=True)
    kind = next(name for name, made in KINDS.items() if made is type(program))
    report = {
        "seed": program.seed, "programs": kind, "target": target, "level": failure.way.level,
        "maxrregcount": failure.way.limit or None, "disable-phase": ",".join(failure.way.off) or None,
        "kind": failure.kind, "message": failure.message, "ptxas": said, "statements": _plain(program.body),
        "functions": _plain(program.functions),
    }  # fmt: skip
    write_atomically(path, (program.plain_text(target) if whose else program.text(target)).encode())
    write_atomically(path.with_suffix(".json"), json.dumps(report, indent=1).encode())
    return path


def _plain(value: Any) -> Any:
    """Statements as plain data: operations by their mnemonics."""
    if isinstance(value, Op):
        return value.mnemonic
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def campaign(
    targets: list[str],
    seeds: range,
    folder: Path,
    ptxas: str | None,
    size: int = 0,
    until: float = 0.0,
    shrink_seconds: float = 60.0,
    say: Callable[[str], Any] = print,
    kind: str = "kernels",
) -> tuple[dict[str, int], list[Kept]]:
    """Examine the programs of some seeds, of one of KINDS, each for the target whose turn it is, until a time of
    ``time.monotonic`` (0: all).

    Returns how often each outcome came, and the failures.
    """
    counts: dict[str, int] = {}
    kept: list[Kept] = []
    for number, seed in enumerate(seeds):
        if until and time.monotonic() > until:
            break
        if number and number % _TOLD == 0:
            say(f"{number} programs, {len(kept)} failing")
        target = targets[number % len(targets)]
        program = program_of(seed, target, size, kind)
        outcome = examine(program, target, ways_of(seed), ptxas)
        for name in ("failing" if outcome.failures else "right", *([outcome.said] if outcome.said else [])):
            counts[name] = counts.get(name, 0) + 1
        if outcome.ptxas is not None and ptxas is not None and not outcome.fault:
            _keep_of_ptxas(folder, program, target, outcome.ptxas, ptxas, shrink_seconds, say)
        if not outcome.failures:
            continue
        first = outcome.failures[0]
        first = shrink(program, our_judge(target, first.way), first, time.monotonic() + shrink_seconds)
        path = keep(folder, program, target, first, outcome.said)
        kept.append(Kept(seed, target, first, path))
        ways = ", ".join(dict.fromkeys(str(f.way) for f in outcome.failures))
        said = f" ({outcome.said})" if outcome.said else ""
        say(f"seed {seed} for {target}: {first.kind} at {ways}{said}: {first.message.splitlines()[0]}\n  kept as {path}")
    return counts, kept


def _keep_of_ptxas(
    folder: Path, program: FullProgram, target: str, found: Failure, ptxas: str, seconds: float, say: Callable[[str], Any]
) -> None:
    """Shrink, keep and tell of a program for which ptxas's code differs, or for which it makes none."""
    judge, program = ptxas_judge(target, found.way, ptxas), copy.deepcopy(program)
    bare = without(program, faults_of(program))
    if (still := judge(bare)) is not None and still.kind == found.kind:
        program, found = bare, still
    found = shrink(program, judge, found, time.monotonic() + seconds)
    path = keep(folder, program, target, found, "", "ptxas-")
    line = (found.message.splitlines() or [""])[0]
    say(f"seed {program.seed} for {target}: ptxas, not explained: {found.kind} at {found.way}: {line}\n  kept as {path}")
