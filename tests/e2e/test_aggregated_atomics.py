"""Atomics of which one thread does those of all threads that come together: what memory has then, and what each thread gets.

The results are those of threads that come one after another in any order, at every level, as ptxas's code has them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oric
import pytest
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

Array = np.ndarray[Any, Any]
TARGETS = ["sm_75", "sm_80", "sm_90a", "sm_120a"]
# %r0 thread, %r1 a number of each thread, %r2 the operand 3, %d4 that of 64 bits; %d0 memory, %d1 that of the thread, %d2 memory
# under a generic address. The result is %r9, that of 64 bits %d9.
HEAD = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 results, .param .u32 three) {{
.reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %q<8>; .shared .align 8 .b64 shared;
ld.param.u64 %d2, [p]; cvta.to.global.u64 %d0, %d2; ld.param.u64 %d3, [results]; ld.param.u32 %r2, [three]; cvt.u64.u32 %d4, %r2;
mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 8; add.u64 %d1, %d1, %d3; mad.lo.u32 %r1, %r0, 7, 5; mov.u64 %d9, 0; mov.u32 %r9, 0;
setp.eq.u32 %q0, %r0, 0; ld.global.u64 %d5, [%d0]; @%q0 st.shared.u64 [shared], %d5; bar.sync 0;
"""
TAIL = """ J: bar.sync 0; cvt.u64.u32 %d6, %r9; add.u64 %d9, %d9, %d6; st.global.u64 [%d1], %d9;
 @!%q0 bra E; ld.shared.u64 %d5, [shared]; st.global.u64 [%d0+64], %d5; E: ret;
}}
"""
START = 1000


class Case(NamedTuple):
    """``adds``: what each thread adds, in order of its number; ``wanted``: the threads get what stood there."""

    name: str
    text: str
    adds: int
    wanted: bool = True
    space: int = 0  # word of memory: 0 global, 8 shared


CASES = [
    Case("global", "atom.global.add.u32 %r9, [%d0], 1;", 1),
    Case("global, three", "atom.global.add.u32 %r9, [%d0], %r2;", 3),
    Case("global, less", "atom.global.add.s32 %r9, [%d0], -1;", -1),
    Case("generic", "atom.acq_rel.gpu.add.u32 %r9, [%d2], 1;", 1),
    Case("nothing", "atom.global.add.u32 %r9, [%d0], 0;", 0),
    Case("counter", "atom.global.inc.u32 %r9, [%d0], -1;", 1),
    Case("64 bits", "atom.global.add.u64 %d9, [%d0], %d4;", 3),
    Case("64 bits, generic", "atom.release.cta.add.u64 %d9, [%d2], 5;", 5),
    Case("64 bits, shared", "atom.shared.add.u64 %d9, [shared], %d4;", 3, space=8),
    Case("shared", "atom.acquire.cta.shared.add.u32 %r9, [shared], 1;", 1, space=8),
    Case("nobody asks", "red.global.add.u32 [%d0], %r2;", 3, False),
    Case("nobody asks, 64 bits", "red.release.gpu.global.add.u64 [%d0], 3;", 3, False),
]
# What the threads do that come, of those of a block: they do it so often.
WAYS: dict[str, tuple[str, Any]] = {
    "all": ("{a}", lambda t: t >= 0),
    "below nine": ("setp.gt.u32 %q1, %r0, 8; @%q1 bra J; {a}", lambda t: t < 9),
    "every third": ("rem.u32 %r4, %r0, 3; setp.ne.u32 %q1, %r4, 1; @%q1 bra J; {a}", lambda t: t % 3 == 1),
    "under a guard": ("and.b32 %r4, %r0, 5; setp.eq.u32 %q1, %r4, 4; @%q1 {a}", lambda t: t & 5 == 4),
    "on two ways": ("setp.gt.u32 %q1, %r0, 4; @%q1 bra X; {a} bra J; X: {a}", lambda t: t >= 0),
    "one": ("setp.ne.u32 %q1, %r0, 3; @%q1 bra J; {a}", lambda t: t == 3),
}
OPERATIONS = {
    "add.u32": np.add, "min.u32": np.minimum, "max.u32": np.maximum, "and.b32": np.bitwise_and, "or.b32": np.bitwise_or,
    "xor.b32": np.bitwise_xor,
}  # fmt: skip


def program(text: str, target: str) -> str:
    return HEAD.format(target=target) + text + TAIL.replace("}}", "}")


def run(image: bytes, threads: int) -> tuple[Array, Array]:
    memory, results = np.zeros(16, np.uint64), np.zeros(threads, np.uint64)
    memory[0] = START
    done = oric.sim.load(image).launch(
        "k", grid=1, block=threads, args=[memory, results, 3], modes=Modes(strict=True, memcheck=True)
    )
    assert [str(report) for report in done.reports] == []
    return memory, results


def judge(case: Case, threads: int, way: str, image: bytes) -> None:
    memory, results = run(image, threads)
    come = WAYS[way][1](np.arange(threads))
    count = int(come.sum())
    assert int(memory[case.space]) == START + case.adds * count
    assert results[~come].tolist() == [0] * (threads - count)
    if case.wanted:
        assert sorted(results[come].tolist()) == sorted(START + case.adds * n for n in range(count))


def count_votes(image: bytes, target: str) -> int:
    code = next(iter(elf.read(image).kernels.values())).text
    return sum("VOTE" in text for text in disassemble(code, target))


@pytest.mark.memcheck
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_threads_get_what_they_would_get_one_by_one(case: Case, way: str) -> None:
    for k, target in enumerate(TARGETS):
        text = program(WAYS[way][0].format(a=case.text), target)
        image = oric.compile(text, arch=target, opt_level=(3, 1, 2, 3)[k]).image
        assert (count_votes(image, target) > 0) == (way != "one")
        for threads in (1, 2, 31, 32, 70) if target == "sm_80" else (32, 45):
            judge(case, threads, way, image)


@pytest.mark.parametrize("threads", range(1, 33))
def test_any_number_of_threads(threads: int) -> None:
    for case in CASES[:2]:
        image = oric.compile(program(case.text, "sm_90a"), arch="sm_90a").image
        judge(case, threads, "all", image)


@pytest.mark.sampled(3)
@pytest.mark.memcheck
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operands_that_differ_are_combined(operation: str, way: str) -> None:
    for target in TARGETS:
        for operand in ("%r1", "%r2"):
            text = program(WAYS[way][0].format(a=f"red.global.{operation} [%d0], {operand};"), target)
            for threads in (32, 41):
                memory, _ = run(oric.compile(text, arch=target).image, threads)
                come = WAYS[way][1](np.arange(threads))
                values = np.arange(threads, dtype=np.uint64) * 7 + 5 if operand == "%r1" else np.full(threads, 3, np.uint64)
                wanted = OPERATIONS[operation].reduce(values[come], initial=np.uint64(START)) if come.any() else START
                assert int(memory[0]) == int(wanted), (target, operand)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_addresses_of_threads_stay_apart(operation: str) -> None:
    """Half a warp has the one address, half the other."""
    body = f"and.b32 %r4, %r0, 16; mul.wide.u32 %d7, %r4, 1; add.u64 %d7, %d7, %d0; red.global.{operation} [%d7], %r1;"
    for target in TARGETS:
        image = oric.compile(program(body, target), arch=target).image
        assert count_votes(image, target) == 0
        memory, _ = run(image, 32)
        values = np.arange(32, dtype=np.uint64) * 7 + 5
        assert int(memory[0]) == int(OPERATIONS[operation].reduce(values[:16], initial=np.uint64(START)))
        assert int(memory[2]) == int(OPERATIONS[operation].reduce(values[16:], initial=np.uint64(0)))


@pytest.mark.measure
def test_tickets_of_a_lock() -> None:
    """Each thread waits for its turn: those that have got their tickets by one atomic are served one after another."""
    body = """atom.global.add.u32 %r4, [%d0+16], 1;
 W: ld.volatile.global.u32 %r5, [%d0+24]; setp.ne.u32 %q1, %r5, %r4; @%q1 bra W;
 ld.volatile.global.u32 %r9, [%d0]; add.u32 %r6, %r9, 5; st.volatile.global.u32 [%d0], %r6; membar.gl;
 add.u32 %r5, %r5, 1; st.volatile.global.u32 [%d0+24], %r5;"""
    for target in TARGETS[::2]:
        image = oric.compile(program(body, target), arch=target).image
        assert count_votes(image, target) == 1
        memory, results = run(image, 64)
        assert int(memory[0]) == START + 5 * 64
        assert sorted(results.tolist()) == [START + 5 * n for n in range(64)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ptxas_votes_there_too(case: Case, ptxas: str, tmp_path: Path) -> None:
    for target in TARGETS:
        for way in WAYS:
            text = program(WAYS[way][0].format(a=case.text), target)
            (tmp_path / "k.ptx").write_text(text)
            subprocess.run([ptxas, "-arch", target, tmp_path / "k.ptx", "-o", tmp_path / "k.cubin"], check=True)
            image = (tmp_path / "k.cubin").read_bytes()
            assert (count_votes(image, target) > 0) == (way != "one"), (target, way)
            judge(case, 45, way, image)
