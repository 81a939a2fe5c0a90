"""Phase 59: a uniform register gets a constant by itself."""

from __future__ import annotations

import pytest
from oric.driver import CompileOptions, compile_functions

TEXT = """
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u32 n, .param .u32 a)
{{
  .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p<3>; .shared .align 8 .b64 s;
  ld.param.u32 %r1, [n]; ld.param.u32 %r2, [a]; {descriptor}
  elect.sync %r3|%p1, -1; @!%p1 bra OUT;
  tcgen05.cp.cta_group::1.128x256b [%r2], %d1;
OUT:
  bar.sync 0;
  ret;
}}
"""
CASES = {
    "constant": ("mov.b64 %d1, 0x4000400000004008;", 2),
    "zero": ("mov.b64 %d1, 0;", 2),
    "half": ("mov.b64 %d1, {%r1, 0x4008};", 1),
    "unknown": ("mov.b64 %d1, {%r1, %r2};", 0),
    "one_of_two": ("setp.eq.u32 %p2, %r1, 3; mov.b64 %d1, 5; @%p2 mov.b64 %d1, 7;", 0),
}


@pytest.mark.parametrize(("descriptor", "constants"), CASES.values(), ids=CASES)
def test_constants_come_by_themselves(descriptor: str, constants: int) -> None:
    dumps: list[str] = []
    options = CompileOptions("sm_100a", dump=("lift_constants",), dump_sink=dumps.append)
    compile_functions(TEXT.format(descriptor=descriptor), options)
    code = "".join(dumps)
    assert code.count("UMOV") == constants
    assert code.count("R2UR") == 3 - constants
