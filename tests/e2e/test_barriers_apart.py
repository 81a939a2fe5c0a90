"""Unaligned barriers that the threads of a warp reach at different places.

PTX ISA, "barrier{.cta}": without ``.aligned`` the threads of a warp need not execute the same instruction.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oric
import pytest
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

from tests import campaigns

Array = np.ndarray[Any, Any]
TARGETS = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_110a", "sm_120a"]
THREADS = 64
HEAD = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b32 %r<19>; .reg .b64 %d<9>; .reg .pred %q<9>; .shared .b32 s[64];
ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1;
mov.u32 %r4, s; shl.b32 %r2, %r1, 2; add.u32 %r4, %r4, %r2; st.shared.u32 [%r4], %r1; mov.u32 %r6, %r1; mov.u32 %r9, 64;
mov.u32 %r10, 1; setp.lt.u32 %q1, %r1, 7; and.b32 %r8, %r1, 3; setp.eq.u32 %q2, %r8, 1; mov.u32 %r5, 0;
"""
# What another thread has stored, behind the barriers.
TAIL = """
xor.b32 %r4, %r4, 128; ld.shared.u32 %r3, [%r4]; add.u32 %r6, %r6, %r3; add.u32 %r6, %r6, %r5; st.global.u32 [%d0], %r6;
ret;
}}
"""
TID = np.arange(THREADS)
OTHER = TID + (TID ^ 32)
FEW = TID < 7
ODD = TID % 4 == 1


class Case(NamedTuple):
    """``body``: leaves ``wanted`` in %r5 behind barriers that all threads pass; ``vendor``: ptxas's code comes to its end."""

    name: str
    body: str
    wanted: Callable[[], Array]
    vendor: bool = True


CASES = [
    Case("two places", "@%q1 bra A; barrier.sync 1; mov.u32 %r5, 9; bra B; A: barrier.sync 1; mov.u32 %r5, 5; B:",
         lambda: np.where(FEW, 5, 9)),
    Case("under guards", "@%q1 barrier.sync 1; @!%q1 barrier.cta.sync 1;", lambda: np.zeros(THREADS), vendor=False),
    Case("counts in registers", "@%q1 bra A; barrier.sync %r10, %r9; mov.u32 %r5, 1; bra B; A: barrier.sync %r10, 64; B:",
         lambda: np.where(FEW, 0, 1)),
    Case("three places", """@%q1 bra A; @%q2 bra C; barrier.sync 2; mov.u32 %r5, 1; bra B;
 A: barrier.sync 2; mov.u32 %r5, 2; bra B; C: barrier.sync 2; mov.u32 %r5, 3; B:""",
         lambda: np.where(FEW, 2, np.where(ODD, 3, 1))),
    Case("turns of loops", """add.u32 %r11, %r8, 2; mov.u32 %r12, 0;
 L: barrier.sync 1; add.u32 %r5, %r5, %r8; add.u32 %r12, %r12, 1; setp.lt.u32 %q3, %r12, %r11; @%q3 bra L;
 M: setp.ge.u32 %q3, %r12, 5; @%q3 bra N; barrier.sync 1; add.u32 %r5, %r5, 100; add.u32 %r12, %r12, 1; bra M; N:""",
         lambda: TID % 4 * (TID % 4 + 2) + 100 * (3 - TID % 4), vendor=False),
    Case("how many", """@%q1 bra A; barrier.red.popc.u32 %r5, 1, 64, %q2; add.u32 %r5, %r5, 1000; bra B;
 A: barrier.red.popc.u32 %r5, 1, 64, !%q2; B:""",
         lambda: np.count_nonzero(np.where(FEW, ~ODD, ODD)) + np.where(FEW, 0, 1000)),
    Case("whether all", """@%q1 bra A; barrier.red.and.pred %q4, 1, %q1; selp.b32 %r5, 1, 2, %q4; bra B;
 A: barrier.red.and.pred %q5, 1, %q1; selp.b32 %r5, 3, 4, %q5; B:""", lambda: np.where(FEW, 4, 2)),
    Case("whether any", """@%q1 bra A; barrier.red.or.pred %q4, 1, !%q1; selp.b32 %r5, 1, 2, %q4; bra B;
 A: barrier.red.or.pred %q5, 1, !%q1; selp.b32 %r5, 3, 4, %q5; B:""", lambda: np.where(FEW, 3, 1)),
    Case("who only arrives", """barrier.sync 0; setp.ge.u32 %q3, %r1, 32; @%q3 bra W; @%q1 bra A; barrier.arrive 3, 64;
 mov.u32 %r5, 7; bra B;
 A: barrier.arrive 3, 64; mov.u32 %r5, 8; bra B; W: barrier.sync 3, 64; B: barrier.sync 0;""",
         lambda: np.where(TID >= 32, 0, np.where(FEW, 8, 7))),
    Case("number of threads here and there", "@%q1 bra A; barrier.sync 1; mov.u32 %r5, 9; bra B; A: barrier.sync 1, 64; B:",
         lambda: np.where(FEW, 0, 9), vendor=False),
    Case("a constant and a register", "@%q1 bra A; barrier.sync 1; mov.u32 %r5, 9; bra B; A: barrier.sync %r10; B:",
         lambda: np.where(FEW, 0, 9), vendor=False),
    Case("all forms", """@%q1 bra A; @%q2 bra C; barrier.red.popc.u32 %r5, 1, %q2; bra B;
 A: barrier.red.popc.u32 %r5, %r10, 64, %q1; bra B; C: barrier.red.popc.u32 %r5, 1, %r9, %q1; B:""",
         lambda: np.zeros(THREADS) + np.count_nonzero(FEW), vendor=False),
    Case("in front of and behind what all pass", "@%q1 bra A; barrier.sync 1; A: barrier.sync 1; @!%q1 bra B; barrier.sync 1; B:",
         lambda: np.zeros(THREADS), vendor=False),
    Case("one place, one after another", """mov.u32 %r11, 0; L: setp.eq.u32 %q3, %r11, %r8; @%q3 bra A;
 add.u32 %r11, %r11, 1; bra L;
 A: add.u32 %r5, %r11, 3; barrier.sync 1;""", lambda: TID % 4 + 3),
]  # fmt: skip
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def check(image: bytes, case: Case, memcheck: bool = True) -> None:
    """Each of two warps reads what the other has stored, behind the barrier."""
    out = np.zeros(THREADS, np.uint32)
    done = oric.sim.load(image).launch("k", grid=1, block=THREADS, args=[out], modes=Modes(strict=True, memcheck=memcheck))
    assert [str(report) for report in done.reports] == []
    assert out.tolist() == (OTHER + case.wanted()).astype(np.uint32).tolist()


def text(case: Case, target: str) -> str:
    return HEAD.format(target=target) + case.body + TAIL.replace("{{", "{").replace("}}", "}")


@pytest.mark.memcheck
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
@cases
def test_threads_meet(case: Case, target: str, level: int) -> None:
    check(oric.compile(text(case, target), arch=target, opt_level=level, verify=True).image, case)


@pytest.mark.parametrize("target", [t for t in TARGETS if t != "sm_110a"])
@pytest.mark.parametrize("case", [case for case in CASES if case.vendor], ids=lambda case: case.name)
def test_the_vendors_threads(ptxas: str, tmp_path: Path, case: Case, target: str) -> None:
    """A function around the barrier up to sm_89, a collective from sm_90 on."""
    (tmp_path / "k.ptx").write_text(text(case, target))
    subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    check((tmp_path / "k.cubin").read_bytes(), case, memcheck=False)


def test_threads_that_are_together_go_straight_on() -> None:
    """No detour where the threads of a warp cannot be apart, or where PTX says that they are not."""
    for body in ("barrier.sync 1; barrier.sync 1;", "@%q1 bra A; barrier.sync.aligned 1; bra B; A: barrier.sync.aligned 1; B:"):
        made = oric.compile(text(Case("", body, lambda: TID), "sm_90a"), arch="sm_90a").image
        kernel = elf.read(made).kernels["k"]
        assert not any("WARPSYNC" in line for line in disassemble(kernel.text, "sm_90a"))


class Ways:
    """A random kernel whose threads pass the same number of barriers on different ways, and look at one another behind each."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.labels = 0
        forms = ("barrier.sync 1;", "barrier.sync 1, 64;", "barrier.cta.sync 1;", "barrier.sync %r10, %r9;", "barrier.sync %r10;")
        self.forms = (self.rng.choice(forms), *(forms if seed % 3 == 0 else ()))
        self.count = self.rng.randrange(3, 7)
        self.body = self.some(self.count, 0)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def meet(self) -> str:
        """Phase %r6: store, barrier, read what a thread of the other warp and one of this warp have stored."""
        return f"""
 and.b32 %r12, %r6, 1; shl.b32 %r12, %r12, 8; add.u32 %r13, %r4, %r12; shl.b32 %r14, %r6, 6; add.u32 %r15, %r14, %r1;
 st.shared.u32 [%r13], %r15; {self.rng.choice(self.forms)} xor.b32 %r15, %r13, 128; ld.shared.u32 %r16, [%r15];
 xor.b32 %r17, %r1, 32; add.u32 %r17, %r17, %r14; sub.u32 %r16, %r16, %r17; or.b32 %r5, %r5, %r16;
 xor.b32 %r15, %r13, 20; ld.shared.u32 %r16, [%r15];
 xor.b32 %r17, %r1, 5; add.u32 %r17, %r17, %r14; sub.u32 %r16, %r16, %r17; or.b32 %r5, %r5, %r16; add.u32 %r6, %r6, 1;"""

    def some(self, count: int, depth: int) -> str:
        """Code in which every thread passes ``count`` barriers."""
        if count == 0:
            return ""
        kind = self.rng.randrange(4) if depth < 3 else 0
        if kind == 1:
            other, end, bit = self.label(), self.label(), self.rng.randrange(6)
            test = f"shr.u32 %r7, %r1, {bit}; and.b32 %r7, %r7, 1; setp.eq.u32 %q3, %r7, 0; @%q3 bra {other};"
            first, second = self.some(count, depth + 1), self.some(count, depth + 1)
            return f" {test}{first} bra {end};\n {other}:{second}\n {end}:"
        if kind == 2 and count > 1:
            head, rest, end, mask = self.label(), self.label(), self.label(), self.rng.choice((1, 3))
            turns = f"and.b32 %r18, %r1, {mask}; min.u32 %r18, %r18, {count - 1}; add.u32 %r18, %r18, 1; mov.u32 %r11, 0;"
            return f""" {turns}
 {head}:{self.meet()} add.u32 %r11, %r11, 1; setp.lt.u32 %q4, %r11, %r18; @%q4 bra {head};
 {rest}: setp.ge.u32 %q4, %r11, {count}; @%q4 bra {end};{self.meet()} add.u32 %r11, %r11, 1; bra {rest};
 {end}:"""
        if kind == 3 and count > 1:
            part = self.rng.randrange(1, count)
            return self.some(part, depth + 1) + self.some(count - part, depth + 1)
        return self.meet() + self.some(count - 1, depth + 1)

    def text(self, target: str) -> str:
        head = HEAD.format(target=target).replace("s[64]", "s[128]").replace("mov.u32 %r6, %r1;", "mov.u32 %r6, 0;")
        return f"{head}{self.body}\n st.global.u32 [%d0], %r5; st.global.u32 [%d0+256], %r6; ret;\n}}\n"


@pytest.mark.memcheck
@pytest.mark.parametrize("seed", campaigns.seeds(60, first=6))
def test_random_ways(seed: int) -> None:
    ways, target, level = Ways(seed), TARGETS[seed % len(TARGETS)], (3, 0, 1, 2)[seed // len(TARGETS) % 4]
    made = oric.compile(ways.text(target), arch=target, opt_level=level, verify=True).image
    out = np.ones(2 * THREADS, np.uint32)
    done = oric.sim.load(made).launch("k", grid=1, block=THREADS, args=[out], modes=Modes(strict=True, memcheck=True))
    assert [str(report) for report in done.reports] == []
    assert out.tolist() == [0] * THREADS + [ways.count] * THREADS
