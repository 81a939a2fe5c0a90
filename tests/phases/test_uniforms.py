"""Phase 11: with ``.reqntid`` the size of a block is a constant, and so is a place in a dimension of one thread."""

from __future__ import annotations

import re

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions
from oric.sim import Modes
from oric.support.targets import find_target

BODY = """
{
.reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %d<3>;
ld.param.u64 %d1, [p];
mov.u32 %r1, %ntid.x; mov.u32 %r2, %ntid.y; mov.u32 %r3, %ntid.z;
mov.u32 %r4, %tid.x; mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.z;
mad.lo.u32 %r7, %r6, %r2, %r5; mad.lo.u32 %r7, %r7, %r1, %r4;
mad.lo.u32 %r8, %r1, 100, %r2; mad.lo.u32 %r8, %r8, 100, %r3;
setp.ge.u32 %p1, %r7, 1;
@%p1 mov.u32 %r6, %tid.z;
mad.lo.u32 %r8, %r8, 100, %r6;
mul.wide.u32 %d2, %r7, 4; add.u64 %d1, %d1, %d2;
st.global.u32 [%d1], %r8;
ret;
}
"""


def text(directive: str) -> str:
    return f".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {directive}{BODY}"


@pytest.mark.row("R2-35")
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("size", [(8, 1, 1), (4, 2, 1), (2, 1, 3), (1, 4, 2), (1, 1, 1)])
@pytest.mark.parametrize("directive", ["reqntid", "maxntid"])
def test_results_are_those_of_the_launch(directive: str, size: tuple[int, int, int], arch: str, level: int) -> None:
    written = ", ".join(map(str, size))
    out = np.zeros(size[0] * size[1] * size[2], np.uint32)
    module = oric.sim.load(oric.compile(text(f".{directive} {written}"), arch=arch, opt_level=level, verify=True).image)
    assert not module.launch("k", grid=(1, 1, 1), block=size, args=[out], modes=Modes(strict=True, memcheck=True)).reports
    each = size[0] * size[1]
    assert [int(v) for v in out] == [((size[0] * 100 + size[1]) * 100 + size[2]) * 100 + n // each for n in range(len(out))]


@pytest.mark.parametrize(
    ("directive", "places", "sizes"),
    [("", 3, 3), (".maxntid 8, 1, 1", 3, 3), (".reqntid 8", 1, 0), (".reqntid 4, 2", 2, 0), (".reqntid 2, 1, 3", 2, 0)],
)
def test_what_is_known_is_not_read(directive: str, places: int, sizes: int) -> None:
    dumps: list[str] = []
    compile_functions(text(directive), CompileOptions("sm_80", dump=("GeneralOptimizeEarly",), dump_sink=dumps.append))
    code = "".join(dumps)
    assert len(set(re.findall(r"\bSR\d+", code))) == places
    first = find_target("sm_80").bank0_ntid
    assert sum(f"c[0x0][0x{first + 4 * d:x}]" in code for d in range(3)) == sizes


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_bank_of_a_load_is_no_size(arch: str) -> None:
    """On sm_80 the block's size is the first word of the bank, and a load names the bank as that word is named."""
    body = "{\n.reg .b64 %d; .reg .b16 %h;\nld.param.u64 %d, [p]; ld.param.u8 %h, [q]; st.global.u8 [%d], %h;\nret;\n}\n"
    ptx = f".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p, .param .u8 q) .reqntid 128\n{body}"
    out = np.zeros(1, np.uint8)
    module = oric.sim.load(oric.compile(ptx, arch=arch, verify=True).image)
    module.launch("k", grid=1, block=128, args=[out, 77])
    assert out[0] == 77
