"""Wide stores in loops whose values are made one after the other: the next value does not wait until the last is read."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import oric
import pytest
from oric.sass import disassemble
from oric.sim import Modes
from oric.support import elf
from oric_tables import knobs

TARGETS = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
THREADS, ROUNDS, FACTOR = 32, 5, 1812433253
HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) .reqntid 32
{{
  .reg .b64 %d<9>; .reg .b32 %r<40>; .reg .pred %p; .shared .align 16 .b8 tile[8192];
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  mov.u32 %r3, tile; mad.lo.u32 %r4, %r2, 256, %r3; ld.global.u32 %r5, [%d1]; mov.u32 %r6, 0;
L:
"""
TAIL = """
  add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, %r1; @%p bra L;
  mov.u32 %r7, 0;
{sums}
  st.global.u32 [%d2], %r7; ret;
}}
"""


def text_of(target: str, quads: int, words: int = 4) -> str:
    """So many stores in each round, each of values that are made of the one before."""
    body, sums = [], []
    for q in range(quads):
        for w in range(words):
            body.append(f"  shr.u32 %r8, %r5, 30; xor.b32 %r8, %r8, %r5; mul.lo.u32 %r5, %r8, {FACTOR};")
            body.append(f"  mov.u32 %r{20 + w}, %r5;")
        names = ", ".join(f"%r{20 + w}" for w in range(words))
        body.append(f"  st.shared.v{words}.u32 [%r4+{16 * q}], {{{names}}};")
        sums += [f"  ld.shared.u32 %r9, [%r4+{16 * q + 4 * w}]; mad.lo.u32 %r7, %r7, 3, %r9;" for w in range(words)]
    return HEAD.format(target=target) + "\n".join(body) + TAIL.format(sums="\n".join(sums))


def stores_of(image: bytes, target: str) -> tuple[list[str], list[int]]:
    """The code, an instruction a line, and where the wide stores are."""
    code = disassemble(elf.read(image).kernels["k"].text, target)
    return code, [n for n, line in enumerate(code) if "STS.128" in line]


def first_of(line: str) -> int:
    found = re.search(r"STS\.128 \[.*\], R(\d+)$", line)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("target", TARGETS)
def test_the_next_value_has_other_registers(target: str) -> None:
    code, stores = stores_of(oric.compile(text_of(target, 4), arch=target).image, target)
    assert len(stores) == 4
    for at, following in pairwise(stores):
        first = first_of(code[at])
        taken = "|".join(str(first + n) for n in range(4))
        soon = code[at + 1 : min(at + 1 + knobs.NUMBERS[knobs.HURRY_LOOK], following)]
        assert not [line for line in soon if re.search(rf"[A-Z0-9.]+ R({taken})\b", line.partition(",")[0])], "\n".join(soon)
    assert len({first_of(code[at]) for at in stores}) > 1


def registers_of(text: str, target: str, **options: int) -> int:
    return int(elf.read(oric.compile(text, arch=target, **options).image).kernels["k"].registers)


@pytest.mark.parametrize("target", TARGETS)
def test_only_there_and_only_as_far_as_registers_cost_nothing(target: str) -> None:
    """One store a round, or stores of two words, take no more registers than live at once; a limit is kept."""
    one, three, pairs = (registers_of(text, target) for text in (text_of(target, 1), text_of(target, 3), text_of(target, 4, 2)))
    assert one < three <= knobs.NUMBERS[knobs.ALLOCATION_ROOMY] and pairs < three
    assert registers_of(text_of(target, 3).replace(".reqntid 32", ""), target, maxrregcount=24) <= 24


@pytest.mark.parametrize("quads", [1, 2, 4])
@pytest.mark.parametrize("target", TARGETS)
def test_values(target: str, quads: int) -> None:
    module = oric.sim.load(oric.compile(text_of(target, quads), arch=target).image)
    data = np.arange(THREADS, dtype=np.uint32) * np.uint32(2654435761)
    out = np.zeros(THREADS, np.uint32)
    modes = Modes(strict=True, memcheck=True)
    done = module.launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[data, out, ROUNDS], modes=modes)
    assert not done.reports
    assert out.tolist() == [wanted(int(x), quads) for x in data]


def wanted(x: int, quads: int) -> int:
    tile: list[int] = []
    for _ in range(ROUNDS):
        tile = []
        for _ in range(4 * quads):
            x = (x ^ x >> 30) * FACTOR & 0xFFFFFFFF
            tile.append(x)
    total = 0
    for word in tile:
        total = (total * 3 + word) & 0xFFFFFFFF
    return total
