#!/usr/bin/env python3
"""Damaged cubins in the simulator: a result or one of its errors, nothing else.

    python -m tests.fuzz_sim [--count N] [--seed S] [--jobs J] [--seconds T]

Each input is a cubin of the tests in which bits of the code, whole instructions, operand fields, or bytes of the container are
changed. It is loaded, and one of its kernels runs with a limit of steps in a mode drawn at random: fast with one or more host
threads, strict, with the memory checker, with both, perturbed. `make sanitize` runs 100,000 of them with AddressSanitizer and
UndefinedBehaviorSanitizer. An input that ends in another exception is kept in a file; the number and the seed say which it was.
"""

from __future__ import annotations

import argparse
import lzma
import multiprocessing
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import oric.sim
from oric.sim import Modes
from oric.support import elf

from tests import fuzz

VENDOR = Path(__file__).parent / "sim" / "vendor"
KERNELS = Path(__file__).parent / "kernels"
LARGEST_SEED = 60_000
CHUNK = 100
STEPS = 1500
BLOCKS = (1, 5, 32, 33, 64, (8, 4, 3), 128)
GRIDS = (1, 1, 2, 3, (2, 2, 1))
MODES = (
    Modes(workers=1),
    Modes(workers=1),
    Modes(workers=3),
    Modes(strict=True),
    Modes(memcheck=True),
    Modes(strict=True, memcheck=True),
    Modes(perturb=7, workers=1),
)


@cache
def seeds() -> list[bytes]:
    """The cubins of the tests that are not too large."""
    paths = sorted(path for folder in (VENDOR, KERNELS) for path in folder.rglob("*.cubin*"))
    found = [lzma.decompress(p.read_bytes()) if p.suffix == ".xz" else p.read_bytes() for p in paths]
    return [data for data in found if len(data) <= LARGEST_SEED]


def code_ranges(data: bytes) -> list[tuple[int, int]]:
    """Where in a file the code of its functions lies."""
    cubin = elf.read(data)
    return [(cubin.sections[f.section].offset, len(f.text)) for f in cubin.functions.values() if f.text]


def damage_code(rng: random.Random, data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """Other instructions: bits, bytes, words of the code are changed, exchanged or made up."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8, 40))):
        offset, size = rng.choice(ranges)
        word = offset + rng.randrange(max(size // 16, 1)) * 16
        kind = rng.randrange(6)
        if kind < 2:
            bit = rng.randrange(128)
            out[word + bit // 8] ^= 1 << bit % 8
        elif kind == 2:
            out[word + rng.randrange(16)] = rng.choice((0, 1, 7, 8, 0x7F, 0x80, 0xFE, 0xFF, rng.randrange(256)))
        elif kind == 3:
            other, length = rng.choice(ranges)
            source = other + rng.randrange(max(length // 16, 1)) * 16
            out[word : word + 16] = out[source : source + 16]
        elif kind == 4:
            out[word + 4 : word + 8] = rng.randbytes(4)
        else:
            out[word : word + 16] = bytes((rng.randrange(256), rng.randrange(16) | out[word + 1] & 0xF0)) + rng.randbytes(14)
    return bytes(out[: len(data)])


def arguments(rng: random.Random, module: oric.sim.Module, kernel: elf.Function) -> list[Any]:
    """Something for each parameter: mostly addresses of a buffer for 8 bytes, small numbers for 4."""
    out: list[Any] = []
    for param in kernel.params:
        if param.size == 8 and rng.random() < 0.9:
            out.append(module.buffer(4096).address + rng.choice((0, 0, 0, 8, 4000)))
        elif param.size in {1, 2, 4, 8}:
            out.append(rng.choice((0, 1, 3, 16, 32)))
        else:
            out.append(rng.randbytes(min(param.size, 4096)))
    return out


def run_input(rng: random.Random, data: bytes) -> str:
    """Load a cubin and launch one of its kernels; returns what came of it."""
    try:
        module = oric.sim.load(data)
        kernels = module.image.cubin.kernels
        if not kernels:
            return "no kernel"
        name = rng.choice(sorted(kernels))
        cluster = rng.choice((None, None, None, 2, 3)) if module.image.target.clusters else None
        grid = rng.choice(GRIDS) if cluster is None else 2 * cluster
        module.launch(
            name,
            grid,
            rng.choice(BLOCKS),
            arguments(rng, module, kernels[name]),
            shared_bytes=rng.choice((0, 0, 64, 4096)),
            max_steps=rng.choice((10, STEPS, STEPS)),
            modes=rng.choice(MODES),
            cluster=cluster,
            max_seconds=20.0,
        )
    except oric.sim.SimError as error:
        str(error)
        return type(error).__name__
    return "to the end"


def run_chunk(job: tuple[int, int, float]) -> tuple[Counter[str], list[str]]:
    """``count`` inputs from the generator of a seed: how often each outcome came, and reports of failures."""
    seed, count, until = job
    if until and time.monotonic() > until:
        return Counter(), []
    rng = random.Random(seed)
    files = [(data, code_ranges(data)) for data in rng.sample(seeds(), 12)]
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    for number in range(count):
        if until and time.monotonic() > until:
            break
        data, ranges = rng.choice(files)
        damaged = damage_code(rng, data, ranges) if rng.random() < 0.8 else fuzz.damage(rng, data)
        try:
            outcomes[run_input(rng, damaged)] += 1
        except Exception:  # whatever else it is: that is what is looked for
            with tempfile.NamedTemporaryFile(prefix="oric-fuzz-sim-", suffix=".cubin", delete=False) as file:
                file.write(damaged)
            failures.append(f"input {number} of seed {seed} (kept as {file.name}):\n{traceback.format_exc()}")
            outcomes["FAILURE"] += 1
    return outcomes, failures


def main(argv: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time")
    args = parser.parse_args(argv)
    until = time.monotonic() + args.seconds if args.seconds else 0.0
    jobs = [(args.seed * 1_000_003 + i, min(CHUNK, args.count - i * CHUNK), until) for i in range(-(-args.count // CHUNK))]
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:  # tells when a process dies
        for found, failed in map(run_chunk, jobs) if args.jobs == 1 else pool.map(run_chunk, jobs):
            outcomes += found
            failures += failed
    total = sum(outcomes.values())
    print(f"{total} inputs: {', '.join(f'{n} {name}' for name, n in sorted(outcomes.items()))}; {len(failures)} failures")
    for failure in failures[:10]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
