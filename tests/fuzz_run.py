"""Runs of many random inputs: in chunks of one seed each, in one process or several, under a limit of time.

Outcomes are counted. An input that ends in an exception is kept in a file; its number and the seed of its chunk say which it was.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

SHOWN = 10  # failures at the end of a run


class Input:
    """One input under way: its bytes, none when they are not worth a file, and what it is called among the outcomes."""

    __slots__ = ("data", "kind")

    def __init__(self) -> None:
        self.data = b""
        self.kind = ""


@dataclass(frozen=True)
class Fuzzer:
    """What is done with inputs. Functions are those of a module, as processes take them by name.

    Attributes:
        start: what all inputs of a chunk share, from its generator.
        step: makes an input, tells what it is and returns what came of it.
        suffix: of the files that keep inputs; ``chunk``: inputs of one seed.
        said: inputs between two lines about how far it is.
        count: inputs of a run when nothing else is said.
    """

    start: Callable[[random.Random], Any]
    step: Callable[[random.Random, Any, Input], str]
    suffix: str
    chunk: int
    said: int
    count: int


def run_chunk(fuzzer: Fuzzer, job: tuple[int, int, float]) -> tuple[Counter[str], list[str]]:
    """``count`` inputs from the generator of a seed: how often each outcome came, and reports of failures."""
    seed, count, until = job
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    if _over(until):
        return outcomes, failures
    rng = random.Random(seed)
    shared = fuzzer.start(rng)
    for number in range(count):
        if _over(until):
            break
        tried = Input()
        try:
            outcomes[fuzzer.step(rng, shared, tried)] += 1
        except Exception:  # whatever it is: that is what is looked for
            outcomes[f"{tried.kind} FAILURE".strip()] += 1
            kept = _kept(tried.data, fuzzer.suffix)
            failures.append(f"input {number} of seed {seed}{kept}:\n{traceback.format_exc()}")
    return outcomes, failures


def _over(until: float) -> bool:
    return bool(until) and time.monotonic() > until


def _kept(data: bytes, suffix: str) -> str:
    if not data:
        return ""
    with tempfile.NamedTemporaryFile(prefix="oric-fuzz-", suffix=suffix, delete=False) as file:
        file.write(data)
    return f" (kept as {file.name})"


def run(fuzzer: Fuzzer, count: int, seed: int, jobs: int, seconds: float = 0.0, say: Callable[..., object] = print) -> list[str]:
    """Run ``count`` inputs, or as many as the time allows; returns the reports of those that failed."""
    until = time.monotonic() + seconds if seconds else 0.0
    size = fuzzer.chunk
    chunks = [(seed * 1_000_003 + i, min(size, count - i * size), until) for i in range(-(-count // size))]
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    work = partial(run_chunk, fuzzer)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:  # tells when a process dies
        for found, failed in pool.map(work, chunks) if jobs > 1 else map(work, chunks):
            before = outcomes.total() // fuzzer.said
            outcomes += found
            failures += failed
            if outcomes.total() // fuzzer.said != before and outcomes.total() < count:
                say(f"{outcomes.total()} inputs, {len(failures)} failures", flush=True)
    parts = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items()))
    say(f"{outcomes.total()} inputs: {parts}; {len(failures)} failures; peak {peak() // 1_000_000} MB")
    for failure in failures[:SHOWN]:
        say(failure)
    return failures


def peak() -> int:
    """The most memory in bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(fuzzer: Fuzzer, doc: str | None, argv: list[str]) -> int:
    """The command of a fuzzer, whose page is ``doc``."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0] if doc else "")
    parser.add_argument("--count", type=int, default=fuzzer.count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time")
    args = parser.parse_args(argv)
    return 1 if run(fuzzer, args.count, args.seed, args.jobs, args.seconds) else 0


class TooLong(Exception):
    """An input took more than its time."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """The CPU time that an input may take.

    Raises:
        TooLong: time is over.
    """

    def over(*_: object) -> None:
        raise TooLong(f"more than {seconds:.0f} s")

    old = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)
