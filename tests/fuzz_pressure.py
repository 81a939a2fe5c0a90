#!/usr/bin/env python3
"""Random programs with few registers: all levels and limits agree, with ptxas's code for the same PTX and with a reference.

    python -m tests.fuzz_pressure [--count N] [--seed S] [--jobs J] [--seconds T]

Each program is compiled for three pairs of level and limit drawn from all there are, every allocation is proved, and its launches
in the strict simulator with memory checks leave the same bytes. Where ptxas is on PATH its code for the same program at a drawn
level and limit is launched, too. What ptxas makes of some programs at -O3 is not what PTX says, so a reference interpreter has
the last word, and so it has where ptxas dies or the simulator reports its code. Without ptxas the reference is all there is, and
the first line says so.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import oric
from oric.fuzz import programs
from oric.regalloc import verify
from oric.sim import Modes

from tests import fuzz_run

TARGETS = ("sm_80", "sm_90")
LIMITS = (None, 24, 24, 27, 32, 40, 64)
WAYS = [(level, limit) for level in range(4) for limit in LIMITS]
SIZES = (20, 40, 70, 100)


class Results(NamedTuple):
    """What a launch leaves: output lines and atomic words."""

    out: programs.Buffer
    atoms: programs.Buffer

    def same(self, other: Results) -> bool:
        return bool((self.out == other.out).all() and (self.atoms == other.atoms).all())


class Differs(Exception):
    """A program does not do what it should."""


def launched(image: bytes, data: programs.Buffer) -> Results:
    out = np.zeros((programs.THREADS, programs.OUT_WORDS), np.uint64)
    atoms = np.zeros(len(programs.ATOM_PLACE), np.uint32)
    args = [data.copy(), out, atoms]
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("random_program", grid=(1, 1, 1), block=(programs.THREADS, 1, 1), args=args, modes=modes)
    if done.reports:
        raise Differs("\n".join(map(str, done.reports)))
    return Results(programs.canonical(out), atoms)


def by_ptxas(ptxas: str, text: str, target: str, level: int, limit: int | None) -> bytes:
    """Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.ptx").write_text(text)
        options = [f"-O{level}", "-arch", target, *(["-maxrregcount", str(limit)] if limit else [])]
        subprocess.run([ptxas, *options, "in.ptx", "-o", "out.cubin"], cwd=folder, check=True, capture_output=True)
        return (Path(folder) / "out.cubin").read_bytes()


def start(_: random.Random) -> str | None:
    verify.ALWAYS[0] = True
    return shutil.which("ptxas")


def step(rng: random.Random, ptxas: str | None, tried: fuzz_run.Input) -> str:
    """One program; what came of it."""
    program = programs.Program(rng.randrange(1 << 31), size=rng.choice(SIZES))
    target, ways = rng.choice(TARGETS), rng.sample(WAYS, 3)
    text, data = program.text(target), programs.input_data(program.seed)
    tried.data = text.encode()
    waiting = 0
    done: list[Results] = []
    for level, limit in ways:
        made = oric.compile(text, arch=target, opt_level=level, maxrregcount=limit)
        waiting += made.kernels["random_program"].spills != (0, 0)
        done.append(launched(made.image, data))
    level, limit = rng.choice(WAYS)
    spoken = "where ptxas differs from the reference"
    if ptxas is not None:
        try:
            theirs = launched(by_ptxas(ptxas, text, target, level, limit), data)
        except subprocess.CalledProcessError:  # it dies of some programs
            spoken = "where ptxas makes no code"
        except Differs:
            spoken = "where the simulator reports ptxas's code"
        else:
            if all(theirs.same(own) for own in done):
                return "spilled" if waiting else "without spills"
    out, atoms = program.run(data)
    want = Results(programs.canonical(out), atoms)
    wrong = [way for way, own in zip(ways, done, strict=True) if not want.same(own)]
    if wrong:
        raise Differs(f"seed {program.seed} for {target}: wrong at (level, limit) {wrong} of {ways}")
    if ptxas is not None:
        return spoken
    return "spilled" if waiting else "without spills"


FUZZER = fuzz_run.Fuzzer(start, step, ".ptx", chunk=50, said=500, count=20_000)
run = partial(fuzz_run.run, FUZZER)

if __name__ == "__main__":
    if shutil.which("ptxas") is None:
        print("fuzz_pressure: THERE IS NO ptxas ON PATH: programs are compared with the reference alone")
    sys.exit(fuzz_run.main(FUZZER, __doc__, sys.argv[1:]))
