"""Loads are under way together: under guards, with many predicates, over branches; none is waited for in front of the next."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.sass import decode
from oric.sim import Modes
from oric.support import elf

TARGETS = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) .reqntid 32
{{
  .reg .b64 %d<40>; .reg .b32 %r<80>; .reg .pred %p<40>; .reg .f32 %f<40>; .shared .align 16 .b8 tile[4096];
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
  mov.u32 %r3, tile; mad.lo.u32 %r4, %r2, 4, %r3; mov.u32 %r9, 0;
"""
TAIL = "\n  st.global.u32 [%d5], %r9;\n  ret;\n}\n"
COUNT = 10
MOST = 2


def guarded() -> str:
    """A tile with bounds checks: each word has a guard of its own and is stored; they are more than there are predicates."""
    lines = []
    for k in range(COUNT):
        lines += [
            f"add.u32 %r{20 + k}, %r2, {3 * k}; setp.lt.u32 %p{k + 1}, %r{20 + k}, %r1;",
            f"mul.wide.u32 %d{10 + k}, %r{20 + k}, 4; add.u64 %d{10 + k}, %d{10 + k}, %d1; mov.u32 %r{40 + k}, 0;",
            f"@%p{k + 1} ld.global.u32 %r{40 + k}, [%d{10 + k}];",
            f"st.shared.u32 [%r4+{128 * k}], %r{40 + k};",
        ]
    lines += ["bar.sync 0;"]
    for k in range(COUNT):
        lines += [f"ld.shared.u32 %r{60 + k}, [%r4+{128 * k}]; mad.lo.u32 %r9, %r9, 3, %r{60 + k};"]
    return "\n".join(lines)


def kept_guards() -> str:
    """The guards are made first and wanted again at the end."""
    lines = []
    for k in range(COUNT):
        lines += [f"add.u32 %r{20 + k}, %r2, {3 * k}; setp.lt.u32 %p{k + 1}, %r{20 + k}, %r1;"]
    for k in range(COUNT):
        lines += [f"mov.u32 %r{40 + k}, 0; @%p{k + 1} ld.global.u32 %r{40 + k}, [%d4+{12 * k}];"]
    for k in range(COUNT):
        lines += [f"mul.lo.u32 %r9, %r9, 3; @%p{k + 1} add.u32 %r9, %r9, %r{40 + k};"]
    return "\n".join(lines)


def rounds() -> str:
    """Each word is added if it is odd, in a block of some length."""
    lines = []
    for k in range(6):
        lines += [
            f"ld.global.u32 %r{40 + k}, [%d4+{12 * k}]; and.b32 %r10, %r{40 + k}, 1; setp.eq.u32 %p1, %r10, 0;",
            f"@%p1 bra L{k};",
            *(f"mad.lo.u32 %r9, %r9, {2 * j + 3}, %r{40 + k}; xor.b32 %r9, %r9, {j + 77};" for j in range(8)),
            f"L{k}:",
        ]
    return "\n".join(lines)


def sums(n: int) -> Callable[[np.ndarray, int], int]:
    def made(words: np.ndarray, thread: int) -> int:
        found = 0
        for k in range(COUNT):
            found = found * 3 + (int(words[thread + 3 * k]) if thread + 3 * k < n else 0) & 0xFFFFFFFF
        return found

    return made


def odd(words: np.ndarray, thread: int) -> int:
    found = 0
    for k in range(6):
        word = int(words[thread + 3 * k])
        if word & 1:
            for j in range(8):
                found = (found * (2 * j + 3) + word & 0xFFFFFFFF) ^ (j + 77)
    return found


def check(text: str, target: str, n: int, want: Callable[[np.ndarray, int], int]) -> bytes:
    """The code at -O3, which gives what it should at each level."""
    words = np.random.default_rng(n).integers(0, 1 << 32, 64, dtype=np.uint32)
    for level in (0, 1, 3):
        image = compile_text(text, CompileOptions(target, level, verify=True)).image
        out = np.zeros(32, np.uint32)
        done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(32, 1, 1), args=[words, out, n], modes=Modes(strict=True))
        assert not done.reports
        assert out.tolist() == [want(words, thread) for thread in range(32)]
    return image


def names(image: bytes, target: str) -> list[str]:
    """The operations of the code in order."""
    (section,) = (s for s in elf.read(image).sections if s.name.startswith(".text."))
    return [re.sub(r"^@!?U?P\d ", "", instruction.text).split()[0] for instruction in decode(section.data, target)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [0, 17, 60])
@pytest.mark.parametrize("body", [guarded, kept_guards])
def test_loads_under_guards(target: str, n: int, body: Callable[[], str]) -> None:
    image = check(HEAD.format(target=target) + body() + TAIL, target, n, sums(n))
    code = names(image, target)
    accesses = "".join(name[0] for name in code if name.startswith(("LDG", "STS")))
    assert accesses.count("L") == COUNT
    if body is guarded:
        assert len(re.findall("L+", accesses)) <= MOST, "how often stores wait for loads that others could be under way with"


@pytest.mark.parametrize("target", TARGETS)
def test_loads_of_rounds(target: str) -> None:
    code = names(check(HEAD.format(target=target) + rounds() + TAIL, target, 60, odd), target)
    first = next(at for at, name in enumerate(code) if name.startswith("BRA"))
    assert sum(name.startswith("LDG") for name in code[:first]) == 6
