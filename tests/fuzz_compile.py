#!/usr/bin/env python3
"""Legal and nearly legal modules through the whole compiler: a cubin that is right in itself, or an error that says why.

    python -m tests.fuzz_compile [--count N] [--seed S] [--jobs J] [--seconds T]

An input is one of :mod:`tests.fuzz_ptx` (a module of the grammar, instructions of the signatures with their neighbours, a
damaged piece of the PTX of the tests and of other compilers), or has some instructions of the target whose results are stored. It
is compiled for a target and at a level that are drawn, with the verifier after every phase and the proof of allocation. What
comes out is a cubin in which the hazard checker finds nothing and which fits its own code (:mod:`oric.sass.loader_check`), or
messages. An input may take 20 s of CPU time and 3 GB of memory.
"""

from __future__ import annotations

import random
import re
import resource
import sys
from functools import cache

from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_text
from oric.sass.check import check_cubin
from oric.sass.loader_check import problems
from oric.support.diagnostics import CompileError
from oric.support.elf import read
from oric_tables.targets import TARGETS

from tests import fuzz_ptx, fuzz_run
from tests.ptx.agreement import module

SECONDS = 20.0
MEMORY = 3 << 30  # bytes of address space of a process
LONGEST = 20_000  # characters of an input
WEIGHTS = (15, 15, 20, 5, 45)  # of the kinds of fuzz_ptx (grammar, signatures, damaged tokens and bytes), and of few instructions
# What is refused by name as yet, and would leave nothing of most modules.
LATER = (
    "tex.", "tld4.", "txq.", "suq.", "sust.", "suld.", "sured.", "wmma.", "mma.", "wgmma.", "tcgen05.", "ldmatrix.", "stmatrix.",
    "movmatrix.", "multimem.", "cp.async.bulk", "cp.reduce", "tensormap.", "istypep.", "call", "setmaxnreg.",
)  # fmt: skip
_REFERENCES = re.compile(r"^\.global \.(?:texref|surfref|samplerref).*\n", re.M)
_REGISTER = re.compile(r"%([a-z]+\d+)_(\d)")
_STORED = frozenset(("b8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"))
_HEAD = re.compile(r"(\.target\s+)sm_\w+")


def answer(text: str, target: str, level: int) -> str:
    """Compile; what came of it."""
    try:
        image = compile_text(text, CompileOptions(target, level, verify=True)).image
    except CompileError as error:
        assert error.diagnostics.error_count, "refused without an error"
        return "not supported" if "not supported" in str(error) else "refused"
    cubin = read(image)
    report = check_cubin(cubin)
    assert not report.findings, f"{report.findings[0]}"
    assert not report.unknown, report.unknown
    assert not (wrong := problems(cubin)), wrong
    return "compiled" if cubin.kernels else "compiled, no kernel"


def few(rng: random.Random, target: str) -> str:
    """A module of some instructions that the target has."""
    lines = rng.choices(scalar(target), k=rng.choice((1, 2, 3, 8)))
    text = _REFERENCES.sub("", module("9.0", target, lines)[0])
    registers = [_REGISTER.findall(line) for line in lines]
    stores = [f"st.volatile.global.{kind} [%u64_8], %{kind}_{n};" for found in registers for kind, n in found if kind in _STORED]
    return text.replace("L0: ret;", "\n".join([*dict.fromkeys(stores), "L0: ret;"]))


@cache
def scalar(target: str) -> tuple[str, ...]:
    """The instructions of a target that are not of LATER."""
    return tuple(text for text in fuzz_ptx.fitting("9.0", target) if not text.startswith(LATER))


def start(_: random.Random) -> None:
    """Inputs share nothing but the limit of memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def step(rng: random.Random, _: None, tried: fuzz_run.Input) -> str:
    """One input."""
    kind = rng.choices((*fuzz_ptx.KINDS, "few"), WEIGHTS)[0]
    target, level = rng.choice(tuple(TARGETS)), rng.randrange(4)
    text = few(rng, target) if kind == "few" else fuzz_ptx.KINDS[kind](rng)[:LONGEST]
    if rng.random() < 0.9:
        text = _HEAD.sub(rf"\g<1>{target}", text)
    tried.kind = kind
    tried.data = f"// {target} -O{level}\n{text}".encode("utf-8", "surrogatepass")
    with fuzz_run.at_most(SECONDS):
        return f"{kind}: {answer(text, target, level)}"


FUZZER = fuzz_run.Fuzzer(start, step, ".ptx", chunk=100, said=2_000, count=100_000)


if __name__ == "__main__":
    sys.exit(fuzz_run.main(FUZZER, __doc__, sys.argv[1:]))
