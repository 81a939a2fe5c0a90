"""Where registers of products of warp groups are, what groups end with, and what is waited for."""

from __future__ import annotations

import re

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

levels = pytest.mark.parametrize("level", [0, 1, 3])
FENCE, COMMIT, WAIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"
FOUR, OTHER, EIGHT = "{%f1,%f2,%f3,%f4}", "{%f5,%f6,%f7,%f8}", "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}"
SERIALIZED = (
    "(C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register "
    "resources for the wgmma pipeline in the function 'k'"
)
WAITS = (
    "(C7517) warpgroup.wait is injected in around line {} by compiler to allow use of registers defined by GMMA in function 'k'"
)
ARRIVES = "(C7519) warpgroup.arrive is injected in around line {} by compiler to allow use of registers in GMMA in function 'k'"


def product(registers: str, reads: str = "1") -> str:
    """A product of the matrices of the kernel."""
    n = 2 * len(registers.split(","))
    return f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16 {registers}, %a, %b, {reads}, 1, 1, 0, 0;"


def kernel(*statements: str) -> str:
    """Eight words of each thread are read, statements run, the words are written back; both matrices are ones."""
    body = "\n".join(statements)
    return f""".version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b64 %p, %q, %a, %b; .reg .b32 %t, %s; .reg .f32 %f<9>; .reg .pred %c;
.shared .align 1024 .b8 ones[4096];
ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 32; add.u64 %p, %p, %q;
mov.u32 %s, ones; shl.b32 %t, %t, 5; add.u32 %t, %t, %s;
st.shared.v4.b32 [%t], {{0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}};
st.shared.v4.b32 [%t+16], {{0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}};
fence.proxy.async; bar.sync 0;
shr.u32 %s, %s, 4; cvt.u64.u32 %a, %s; or.b64 %a, %a, 0x0000000800080000; mov.b64 %b, %a;
ld.global.v4.f32 {FOUR}, [%p]; ld.global.v4.f32 {OTHER}, [%p+16];
setp.eq.f32 %c, %f1, 0f00000000;
{body}
st.global.v4.f32 [%p], {FOUR}; st.global.v4.f32 [%p+16], {OTHER};
ret;
}}
"""


def run(text: str, level: int) -> tuple[list[str], list[str], np.ndarray]:
    """What is told, the instructions from the first product on, and 1 .. 8 behind the kernel."""
    done = oric.compile(text, arch="sm_90a", opt_level=level)
    cubin = elf.read(done.image)
    assert not check_cubin(cubin).findings
    told = [item.message for part in done.messages for item in part.items if item.severity == "info"]
    words = np.tile(np.arange(1, 9, dtype=np.float32), (128, 1))
    oric.sim.load(done.image).launch("k", grid=1, block=128, args=[words], modes=Modes(strict=True))
    assert (words == words[0]).all()
    code = [line.strip(" ;") for line in disassemble(cubin.functions["k"].text, "sm_90a")]
    first = next(n for n, line in enumerate(code) if "GMMA" in line)
    return told, code[first:], words[0]


@levels
def test_a_chain_stays_in_place(level: int) -> None:
    """No copy between products, the last of which ends the group."""
    told, code, words = run(kernel(FENCE, product(EIGHT), product(EIGHT), product(EIGHT), COMMIT, WAIT), level)
    chain = [re.sub(r"UR\d+", "UR", line) for line in code if "GMMA" in line]
    registers = {re.search(r"F32 (R\d+), gdesc\[UR\], (R\d+)", line).groups() for line in chain}  # type: ignore[union-attr]
    assert told == []
    assert len(chain) == 3
    assert len(registers) == 1 and len(set(registers.pop())) == 1
    assert [("gsb0" in line) for line in chain] == [False, False, True]
    assert not any("MOV R" in line for line in code[: code.index(next(c for c in code if "DEPBAR" in c))])
    assert (words == np.arange(1, 9) + 3 * 16).all()


@levels
def test_the_first_of_a_chain_reads_nothing(level: int) -> None:
    told, code, words = run(kernel(FENCE, product(FOUR, "0"), product(FOUR), COMMIT, WAIT), level)
    assert ", RZ, !UPT" in code[0]
    assert told == []
    assert (words[:4] == 32).all()
    assert (words[4:] == [5, 6, 7, 8]).all()


@levels
@pytest.mark.parametrize(
    ("statements", "message", "first", "second"),
    [
        ([FENCE, product(FOUR), COMMIT, "add.f32 %f1, %f1, %f2;", WAIT], WAITS.format(18), [35, 18, 19, 20], [5, 6, 7, 8]),
        ([FENCE, product(FOUR), COMMIT], WAITS.format(18), [17, 18, 19, 20], [5, 6, 7, 8]),
        ([product(FOUR), COMMIT, WAIT], ARRIVES.format(15), [17, 18, 19, 20], [5, 6, 7, 8]),
        ([FENCE, product(FOUR), product("{%f3,%f4,%f1,%f2}"), COMMIT, WAIT], SERIALIZED, [33, 34, 35, 36], [5, 6, 7, 8]),
        ([FENCE, product(EIGHT), product(OTHER), COMMIT, WAIT], SERIALIZED, [17, 18, 19, 20], [37, 38, 39, 40]),
    ],
    ids=["touched", "no wait", "no fence", "swapped", "part"],
)
def test_what_the_code_leaves_out(level: int, statements: list[str], message: str, first: list[int], second: list[int]) -> None:
    """Waits, arrivals, products that wait at once: told as ptxas tells it."""
    told, _, words = run(kernel(*statements), level)
    assert message in told
    assert words.tolist() == [*first, *second]


@levels
def test_two_accumulators(level: int) -> None:
    told, code, words = run(kernel(FENCE, product(FOUR), product(OTHER), COMMIT, WAIT), level)
    assert told == []
    assert sum("GMMA" in line for line in code) == 2
    assert sum("DEPBAR" in line for line in code) == 1
    assert words.tolist() == [17, 18, 19, 20, 21, 22, 23, 24]


@levels
def test_groups_that_end_elsewhere(level: int) -> None:
    """A group with no product in its block ends with one that makes nothing."""
    told, code, words = run(kernel(FENCE, product(FOUR), "@%c bra L;", "mov.f32 %f5, %f6;", "L:", COMMIT, WAIT), level)
    assert told == []
    assert any(re.match(r"HGMMA\.64x8x16\.F16 RZ, gdesc\[URZ\], RZ, !UPT, gsb0", line) for line in code)
    assert words.tolist() == [17, 18, 19, 20, 6, 6, 7, 8]


@levels
def test_a_wait_comes_when_the_group_is_counted(level: int) -> None:
    """A GPU passes by a wait that comes sooner; the checker and the strict simulator see it."""
    text = kernel(FENCE, product(FOUR), COMMIT, WAIT)
    image = oric.compile(text, arch="sm_90a", opt_level=level).image
    cubin = elf.read(image)
    code = cubin.functions["k"].text
    lines = list(disassemble(code, "sm_90a"))
    at = next(i for i, line in enumerate(lines) if "gsb0" in line and "GMMA" in line)
    assert "WARPGROUP.DEPBAR" in lines[at + 1]
    assert check_cubin(cubin).findings == []
    word = code[16 * at : 16 * at + 16]
    value = int.from_bytes(word, "little")
    assert value >> 105 & 15 == 11  # the stall count
    sooner = image.replace(word, (value ^ 9 << 105).to_bytes(16, "little"))
    (finding,) = check_cubin(elf.read(sooner)).findings
    assert finding.kind == "scoreboard"
    assert re.fullmatch(r"its group is waited for 2 cycles after .* is issued; 3 are needed", finding.message)
    done = oric.sim.load(sooner).launch("k", 1, 128, [np.ones((128, 8), np.float32)], modes=Modes(strict=True))
    assert str(done.reports[0]).startswith("scoreboard waited for too soon after its use: group, 2 cycles where 3 are needed")
