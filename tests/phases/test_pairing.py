"""Phase 19: both halves of one product are made by one operation."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions, compile_text
from oric.ir.text import all_instructions
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.elf import read
from oric_tables.ops import op

HEAD = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 32
{
  .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %q<3>; .reg .b64 %p<3>;
  ld.param.u64 %p1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %p2, %r1, 32; add.u64 %p1, %p1, %p2;
  setp.lt.u32 %q1, %r1, 9;
"""
WORDS = HEAD + " ld.global.u32 %r2, [%p1]; ld.global.u32 %r3, [%p1+4]; mov.u32 %r4, 5; mov.u32 %r5, 6;\n"
PAIRS = HEAD + " ld.global.u64 %d2, [%p1]; ld.global.u64 %d3, [%p1+8]; mov.u64 %d4, 5; mov.u64 %d5, 6;\n"
END_WORDS = " st.global.u32 [%p1+16], %r4; st.global.u32 [%p1+24], %r5; ret; }\n"
END_PAIRS = " st.global.u64 [%p1+16], %d4; st.global.u64 [%p1+24], %d5; ret; }\n"
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_120")
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def products(source: str, target: str = "sm_90") -> dict[str, int]:
    """How many operations of each name that multiplies the code has."""
    ((f, _),) = compile_functions(source, CompileOptions(target, 3, verify=True))
    names = [op(f.op[i]).name for i in all_instructions(f)]
    return {name: names.count(name) for name in sorted(set(names)) if name.startswith("IMAD")}


def data() -> np.ndarray:
    out = np.random.default_rng(3).integers(0, 1 << 64, 128, dtype=np.uint64)
    edges = (0, 1, M64, 1 << 63, M32, 1 << 32, (1 << 63) - 1)
    out[0:28:4], out[1:29:4] = edges, edges[::-1]
    return out


def run(source: str, target: str, level: int = 3) -> tuple[np.ndarray, np.ndarray]:
    image = compile_text(source, CompileOptions(target, level, verify=True)).image
    assert [str(finding) for finding in check_cubin(read(image)).findings] == []
    before = data()
    after = before.copy()
    done = oric.sim.load(image).launch("k", grid=1, block=32, args=[after], modes=Modes(strict=True))
    assert [str(report) for report in done.reports] == []
    return before, after


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("sign", ["u32", "s32"])
@pytest.mark.parametrize("turned", [False, True], ids=["low first", "high first"])
def test_words(target: str, level: int, sign: str, turned: bool) -> None:
    """The lower half is that of either sign; factors may stand in either order."""
    halves = [" mul.lo.s32 %r4, %r2, %r3;\n", f" mul.hi.{sign} %r5, %r3, %r2;\n"]
    source = WORDS + "".join(reversed(halves) if turned else halves) + END_WORDS
    assert products(source, target).get("IMAD.HI", 0) == 0
    before, after = run(source, target, level)
    for lane in range(32):
        a, b = int(before[4 * lane]) & M32, int(before[4 * lane]) >> 32
        product = a * b if sign == "u32" else signed(a, 32) * signed(b, 32)
        assert int(after[4 * lane + 2]) & M32 == a * b & M32
        assert int(after[4 * lane + 3]) & M32 == product >> 32 & M32


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("turned", [False, True], ids=["low first", "high first"])
@pytest.mark.parametrize("sign", ["u64", "s64"])
def test_pairs(target: str, level: int, turned: bool, sign: str) -> None:
    """All 128 bits, of numbers without and with a sign."""
    halves = [" mul.lo.u64 %d4, %d2, %d3;\n", f" mul.hi.{sign} %d5, %d2, %d3;\n"]
    before, after = run(PAIRS + "".join(reversed(halves) if turned else halves) + END_PAIRS, target, level)
    for lane in range(32):
        a, b = int(before[4 * lane]), int(before[4 * lane + 1])
        product = a * b if sign == "u64" else signed(a, 64) * signed(b, 64)
        assert (int(after[4 * lane + 2]), int(after[4 * lane + 3])) == (product & M64, product >> 64 & M64)


def test_fewer_operations() -> None:
    """Four products of words make 128 bits; apart they are seven, with the sum that the upper half has as well."""
    both = PAIRS + " mul.lo.u64 %d4, %d2, %d3; mul.hi.u64 %d5, %d3, %d2;" + END_PAIRS
    assert sum(products(both, "sm_80").values()) - products(both, "sm_80").get("IMAD", 0) <= 5
    apart = PAIRS + " mul.lo.u64 %d4, %d2, %d3; add.u64 %d2, %d2, 1; mul.hi.u64 %d5, %d3, %d2;" + END_PAIRS
    assert sum(products(apart, "sm_80").values()) == sum(products(both, "sm_80").values()) + 3


@pytest.mark.parametrize(
    "halves",
    [
        " mul.lo.u32 %r4, %r2, %r3; add.u32 %r2, %r2, 1; mul.hi.u32 %r5, %r2, %r3;",
        " mul.lo.u32 %r2, %r2, %r3; mul.hi.u32 %r5, %r2, %r3; mov.u32 %r4, %r2;",
        " mul.hi.u32 %r3, %r2, %r3; mul.lo.u32 %r5, %r2, %r3; mov.u32 %r4, %r3;",
        " @%q1 mul.lo.u32 %r4, %r2, %r3; mul.hi.u32 %r5, %r2, %r3;",
        " mul.lo.u32 %r4, %r2, %r3; @%q1 mul.hi.u32 %r5, %r2, %r3;",
        " mul.lo.u32 %r4, %r2, %r3; @%q1 add.u32 %r3, %r3, 1; mul.hi.u32 %r5, %r2, %r3;",
        " mad.lo.u32 %r4, %r2, %r3, %r1; mul.hi.u32 %r5, %r2, %r3;",
        " mul.lo.u32 %r4, %r2, %r3; @%q1 bra L; mul.hi.u32 %r5, %r2, %r3; L:",
    ],
)
def test_halves_that_are_not_of_one_product(halves: str) -> None:
    """Factors that change, products under guards and in other blocks: the same values as at -O0."""
    source = WORDS + halves + END_WORDS
    for target in TARGETS:
        assert np.array_equal(run(source, target)[1], run(source, target, 0)[1])


def test_factors_that_a_half_is_written_over() -> None:
    """The last one of the two may take the place of a factor."""
    for halves in (" mul.lo.u32 %r4, %r2, %r3; mul.hi.u32 %r2, %r2, %r3; mov.u32 %r5, %r2;",
                   " mul.hi.u32 %r5, %r2, %r3; mul.lo.u32 %r3, %r2, %r3; mov.u32 %r4, %r3;"):  # fmt: skip
        source = WORDS + halves + END_WORDS
        assert products(source).get("IMAD.HI", 0) == 0
        assert np.array_equal(run(source, "sm_90")[1], run(source, "sm_90", 0)[1])
    source = PAIRS + " mul.lo.u64 %d4, %d2, %d3; mul.hi.u64 %d3, %d2, %d3; mov.u64 %d5, %d3;" + END_PAIRS
    assert np.array_equal(run(source, "sm_90")[1], run(source, "sm_90", 0)[1])
    source = PAIRS + " mul.lo.u64 %d3, %d2, %d3; mul.hi.u64 %d5, %d2, %d3; mov.u64 %d4, %d3;" + END_PAIRS
    assert np.array_equal(run(source, "sm_90")[1], run(source, "sm_90", 0)[1])
