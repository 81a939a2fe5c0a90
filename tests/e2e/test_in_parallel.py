"""What does not wait for one another: shuffles whose predicates nobody reads, loads beside strong ones, loops beside loads."""

from __future__ import annotations

import re

import oric
import pytest
from oric.sass.instruction import disassemble
from oric.support import elf

_HEAD = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) .reqntid 32 {
  .reg .b64 %d<9>; .reg .b32 %r<20>; .reg .pred %p<3>; .shared .align 16 .b32 s[256];
  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; mov.u32 %r0, %tid.x;
"""
TARGETS = pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_120a"])


def code(body: str, arch: str) -> list[str]:
    """The instructions of a kernel at -O3."""
    image = oric.compile(_HEAD + body + " ret; }\n", arch=arch, opt_level=3).image
    return disassemble(elf.read(image).kernels["k"].text, arch)


@TARGETS
def test_shuffles_whose_predicate_nobody_reads(arch: str) -> None:
    lines = code(
        "shfl.sync.idx.b32 %r1|%p1, %r0, 3, 31, -1; shfl.sync.up.b32 %r2|%p2, %r0, 1, 0, -1; @%p2 add.u32 %r2, %r2, %r1; "
        "st.global.v2.u32 [%d1], {%r1, %r2};", arch,
    )  # fmt: skip
    assert [re.search(r"SHFL\.\w+ (P.)", line)[1] != "PT" for line in lines if "SHFL" in line] == [False, True]  # type: ignore[index]


@TARGETS
def test_a_match_of_all_whose_predicate_nobody_reads(arch: str) -> None:
    lines = code("match.all.sync.b32 %r1|%p1, %r0, -1; st.global.u32 [%d1], %r1;", arch)
    assert any(re.search(r"MATCH.ALL PT, ", line) for line in lines)


def _loads(lines: list[str]) -> list[str]:
    return ["strong" if "STRONG" in line else "weak" for line in lines if re.search(r"\bLDG?\.E", line)]


@TARGETS
@pytest.mark.parametrize("strong", ["volatile", "relaxed.gpu"])
def test_loads_pass_strong_ones_of_other_places(strong: str, arch: str) -> None:
    """The strong one waits for a load in front of it, the other one does not."""
    body = f"ld.global.u64 %d3, [%d1]; ld.{strong}.global.u32 %r1, [%d3]; ld.global.u32 %r2, [%d2];"
    assert _loads(code(body + " add.u32 %r1, %r1, %r2; st.global.u32 [%d1], %r1;", arch)) == ["weak", "weak", "strong"]


@TARGETS
@pytest.mark.parametrize(
    "body",
    [
        "ld.global.u64 %d3, [%d1]; ld.volatile.global.u32 %r1, [%d3]; ld.global.u32 %r2, [%d3];",  # the same place
        "ld.global.u64 %d3, [%d1]; ld.acquire.gpu.global.u32 %r1, [%d3]; ld.global.u32 %r2, [%d2];",
        "ld.global.u64 %d3, [%d1]; ld.relaxed.gpu.global.u32 %r1, [%d3]; fence.acq_rel.gpu; ld.global.u32 %r2, [%d2];",
        "ld.global.u64 %d3, [%d1]; ld.volatile.global.u32 %r1, [%d3]; bar.sync 0; ld.global.u32 %r2, [%d2];",
    ],
    ids=["the same place", "an acquire", "a fence", "a barrier"],
)
def test_loads_that_keep_their_place(body: str, arch: str) -> None:
    assert _loads(code(body + " add.u32 %r1, %r1, %r2; st.global.u32 [%d1], %r1;", arch)) == ["weak", "strong", "weak"]


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89"])
def test_what_an_mbarrier_is_for_is_read_behind_it(arch: str) -> None:
    """Its phase is asked for by a load that knows no space."""
    body = (
        ".shared .align 8 .b64 m; cvta.shared.u64 %d3, m; ld.global.u64 %d4, [%d1]; add.u64 %d3, %d3, %d4; "
        "mbarrier.test_wait.b64 %p1, [%d3], %d4; ld.global.u32 %r1, [%d2]; ld.shared.u32 %r2, [s]; selp.u32 %r1, %r1, %r2, %p1; "
        "st.global.u32 [%d1+8], %r1;"
    )
    image = oric.compile(_HEAD.replace("sm_75", "sm_80") + body + " ret; }\n", arch=arch, opt_level=3).image
    loads = [line.split()[0] for line in disassemble(elf.read(image).kernels["k"].text, arch) if re.match(r"LD[GS]?[. ]", line)]
    assert loads == ["LDG.E.64", "LD.E.STRONG.SM", "LDG.E", "LDS"]


@TARGETS
def test_stores_stay_behind_strong_loads(arch: str) -> None:
    lines = code(
        "ld.global.u64 %d3, [%d1]; ld.volatile.global.u32 %r1, [%d3]; st.global.u32 [%d2], %r0; st.global.u32 [%d2+8], %r1;", arch
    )
    kinds = ["load" if "STRONG" in line else "store" for line in lines if "STRONG" in line or "STG" in line]
    assert kinds == ["load", "store", "store"]


@TARGETS
def test_scoreboards_of_loads_that_are_under_way_are_left_alone(arch: str) -> None:
    """A loop of stores to shared memory does not wait for a load in front of it that nobody needs there."""
    stores = " ".join(f"add.u32 %r5, %r5, 3; st.shared.u32 [%r4+{4 * k}], %r5;" for k in range(12))
    body = (
        f"ld.global.u32 %r1, [%d1]; mov.u32 %r4, s; mov.u32 %r5, %r0; L: {stores} add.u32 %r4, %r4, 48; "
        "setp.lt.u32 %p1, %r4, 900; @%p1 bra L; bar.sync 0; ld.shared.u32 %r2, [%r0]; add.u32 %r1, %r1, %r2; "
        "st.global.u32 [%d2], %r1; ret; }\n"
    )
    text = elf.read(oric.compile(_HEAD + body, arch=arch, opt_level=3).image).kernels["k"].text
    words = [int.from_bytes(text[at : at + 16], "little") for at in range(0, len(text), 16)]
    lines = disassemble(text, arch)
    load = next(k for k, line in enumerate(lines) if "LDG" in line)
    barrier = next(k for k, line in enumerate(lines) if "BAR" in line)
    board = words[load] >> 110 & 7
    assert board < 6
    assert not any(words[k] >> 116 >> board & 1 for k in range(load + 1, barrier))
