"""Reports and faults name the source lines of our own code, from its line tables: the instruction's, then those of the calls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import oric
import oric.sim
import pytest
from oric.sim import Kind, Modes, SimError

LINES = Path(__file__).parents[1] / "data" / "lines"


@pytest.mark.parametrize("number", ["75", "80", "90", "100", "120"])
@pytest.mark.parametrize("level", [0, 3])
def test_a_report_names_the_line(number, level):
    text = (LINES / f"lines.sm_{number}.ptx").read_text(encoding="utf-8")
    module = oric.sim.load(oric.compile(text, arch=f"sm_{number}", opt_level=level).image)
    data = np.zeros(30, dtype=np.float32)
    result = module.launch("_Z7inlinedPfi", grid=1, block=32, args=[data, 32], modes=Modes(memcheck=True))
    found = [r for r in result.reports if r.kind == Kind.OUT_OF_BOUNDS]
    assert found and {tuple(map(str, r.sources)) for r in found} == {("/src/lines.cu:19",)}
    assert "[/src/lines.cu:19]" in str(found[0])


INLINED = """.version 8.0
.target sm_80
.address_size 64
.file 1 "/x/y.cu"
.func store(.reg .u64 a)
{
 .loc 1 100 3
 st.global.u32 [a], 5;
 ret;
}
.visible .entry k(.param .u64 p)
{
 .reg .u64 %rd<4>;
 ld.param.u64 %rd1, [p];
 .loc 1 7 3
 call store, (%rd1);
 ret;
}
"""


def test_a_fault_names_the_lines():
    module = oric.sim.load(oric.compile(INLINED, arch="sm_80").image)
    with pytest.raises(SimError, match=r"\[/x/y\.cu:100, from /x/y\.cu:7\]"):
        module.launch("k", grid=1, block=1, args=[16])
