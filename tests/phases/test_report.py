"""Phase 9: registers that may be read before anything is written to them."""

from __future__ import annotations

import pytest
from oric.driver import CompileOptions, Watch, compile_text

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
HEAD += ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<5>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"


def warnings(body: str, level: int = 3, asked: bool = True) -> str:
    options = CompileOptions("sm_80", level, watch=Watch(uninitialized=asked))
    return "".join(part.render() for part in compile_text(f"{HEAD}{body}\nret;\n}}\n", options, "m.ptx").messages)


def found(count: int, lines: str) -> str:
    place = f"    note: read in {lines}"
    return f"m.ptx: warning: Found {count} potentially uninitialized register(s) in function k\n{place}"


@pytest.mark.row("R2-67")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("st.global.u32 [%d1], %r1;", ""),
        ("st.global.u32 [%d1], %r2;", found(1, "line 8")),
        ("add.u32 %r2, %r1, 1;\nst.global.u32 [%d1], %r2;", ""),
        ("st.global.u64 [%d1], %d2;\nst.global.u64 [%d1], %d2;", found(1, "lines 8, 9")),
        # written on one way of two, and on both
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r2, 1;\nL: st.global.u32 [%d1], %r2;", found(1, "line 11")),
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r2, 1;\nbra M;\nL: mov.u32 %r2, 2;\nM: st.global.u32 [%d1], %r2;", ""),
        # under a guard: a write is one; a guard is read itself
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r2, 1;\nst.global.u32 [%d1], %r2;", ""),
        ("@%p2 st.global.u32 [%d1], %r1;", found(1, "line 8")),
        # a counter that nobody sets
        ("L: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 5;\n@%p1 bra L;\nst.global.u32 [%d1], %r3;", found(1, "line 8")),
    ],
)
def test_what_is_read_before_it_is_written(body: str, expected: str, level: int) -> None:
    assert warnings(body, level) == expected
    assert warnings(body, level, asked=False) == ""
