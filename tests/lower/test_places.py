"""Where code finds parameters and shared variables: what a launch and ptxas's code of the same module agree on."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.support.elf import read
from oric_tables.targets import TARGETS

HEAD = ".version 9.0\n.target {target}\n.address_size 64\n"
pytestmark = pytest.mark.memcheck


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", list(TARGETS))
@pytest.mark.parametrize("size", [4332, 4336, 4340, 16384, 32740])
def test_many_bytes_of_parameters(size: int, target: str, level: int) -> None:
    """Up to 4352 bytes of them lie at one place of bank 0, more at another (before sm_90)."""
    text = (
        HEAD.format(target=target)
        + f"""
.visible .entry k(.param .u64 out, .param .align 4 .b8 a[{size}], .param .u64 .ptr .global .align 8 in) {{
    .reg .b64 %d<5>; .reg .b32 %r<5>;
    ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
    ld.param.u32 %r1, [a]; ld.param.u32 %r2, [a+{size - 4}]; ld.global.u32 %r3, [%d2];
    st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2; st.global.u32 [%d1+8], %r3; ret; }}
"""
    )
    image = oric.compile(text, arch=target, opt_level=level).image
    data = np.arange(size // 4, dtype=np.uint32) + 77
    out = np.zeros(3, np.uint32)
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[out, data.tobytes(), np.array([5], np.uint32)])
    assert out.tolist() == [77, 76 + size // 4, 5]
    found = read(image).functions["k"]
    assert [(p.offset, p.size) for p in found.params] == [(0, 8), (8, size), (-(-(size + 8) // 8) * 8, 8)]
    assert (found.params[2].space, found.params[2].pointee_align) == (4, 8)
    row = TARGETS[target]
    assert found.param_base == (row.bank0_params if found.param_size <= 4352 else row.bank0_large_params)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", list(TARGETS))
def test_dynamic_shared_arrays_are_one(target: str, level: int) -> None:
    """All begin behind the static variables, at a multiple of 16 and of what any of the module asks for."""
    text = (
        HEAD.format(target=target)
        + """
.extern .shared .align 4 .b8 one[];
.visible .entry first(.param .u64 out) { .reg .b64 %d<5>; .reg .b32 %r<5>; .shared .align 4 .b8 own[20];
    ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, one; mov.u32 %r2, own; sub.u32 %r1, %r1, %r2;
    st.global.u32 [%d1], %r1; ret; }
.extern .shared .align 64 .b8 two[];
.extern .shared .align 2 .b8 three[];
.visible .entry second(.param .u64 out) { .reg .b64 %d<5>; .reg .b32 %r<9>; .shared .align 4 .b8 own[20];
    ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, one; mov.u32 %r2, own; mov.u32 %r3, two;
    mov.u32 %r4, three;
    sub.u32 %r1, %r1, %r2; sub.u32 %r3, %r3, %r2; sub.u32 %r4, %r4, %r2; mov.u32 %r5, 77; st.shared.u32 [three+12], %r5;
    ld.shared.u32 %r6, [two+12]; st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4;
    st.global.u32 [%d1+12], %r6; ret; }
"""
    )
    module = oric.sim.load(oric.compile(text, arch=target, opt_level=level).image)
    out = np.zeros(4, np.uint32)
    module.launch("first", grid=(1, 1, 1), block=(1, 1, 1), args=[out], shared_bytes=64)
    assert out[0] == 64
    module.launch("second", grid=(1, 1, 1), block=(1, 1, 1), args=[out], shared_bytes=64)
    assert out.tolist() == [64, 64, 64, 77]


def places(declared: str, own: str, used: str, target: str) -> dict[str, int]:
    """Shared addresses of the variables that a kernel uses, counted from the first user byte."""
    stores = "".join(f"mov.u32 %r1, {name}; st.global.u32 [%d1+{4 * n}], %r1;\n" for n, name in enumerate(used))
    text = (
        HEAD.format(target=target)
        + declared
        + f"""
.visible .entry k(.param .u64 out) {{ .reg .b64 %d<5>; .reg .b32 %r<5>; {own}
    ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; {stores} ret; }}
"""
    )
    out = np.zeros(len(used), np.uint32)
    oric.sim.load(oric.compile(text, arch=target).image).launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[out])
    return dict(zip(used, (out - TARGETS[target].shared_base).tolist(), strict=True))


A, B, C = (f".shared .align {align} .b8 {name}[{size}];\n" for name, align, size in (("A", 4, 12), ("B", 8, 40), ("C", 16, 20)))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_shared_variables_lie_in_the_order_of_their_declarations(target: str) -> None:
    """Those of the kernel that it uses, those of the module that it uses, those of the kernel that it does not use."""
    assert places("", A + B, "BA", target) == {"A": 0, "B": 16}
    assert places(A + B + C, "", "CBA", target) == {"A": 0, "B": 16, "C": 64}
    assert places(A, B + C, "ABC", target) == {"B": 0, "C": 48, "A": 68}
    assert places(A, B + C, "CBA", target) == {"B": 0, "C": 48, "A": 68}
    assert places("", B + A + C, "C", target) == {"C": 0}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_spaces_of_addresses_of_32_bits(target: str, level: int) -> None:
    """A register of 32 bits is an address below 4 GiB, whatever stands in the register behind it."""
    tests = "".join(
        f"isspacep.{space} %p1, %r2; isspacep.{space} %p2, %d2; selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2;"
        f" add.u32 %r3, %r3, %r4; st.global.u32 [%d1+{4 * n}], %r3;\n"
        for n, space in enumerate(("shared", "local", "global"))
    )
    text = (
        HEAD.format(target=target)
        + f"""
.visible .entry k(.param .u64 out, .param .u32 at) {{ .reg .b64 %d<5>; .reg .b32 %r<9>; .reg .pred %p<4>;
    ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [at]; add.u32 %r2, %r2, %r1;
    cvt.u64.u32 %d2, %r2; {tests} ret; }}
"""
    )
    module = oric.sim.load(oric.compile(text, arch=target, opt_level=level).image)
    for at in (0, 5, 0x1000001, 0xFFFFFFF0):
        out = np.zeros(3, np.uint32)
        module.launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[out, at])
        assert set(out.tolist()) <= {0, 3}


def test_a_parameter_of_a_function_that_no_registers_hold() -> None:
    text = HEAD.format(target="sm_90") + ".func f(.param .align 8 .b8 a[4294967296]) { ret; }\n.entry k() { ret; }\n"
    with pytest.raises(oric.CompileError, match="'a of 4294967296 bytes' is not supported"):
        oric.compile(text, arch="sm_90")


@pytest.mark.parametrize("table", [".callprototype _ ()", ".calltargets f"])
def test_indirect_branches_take_tables_of_labels(table: str) -> None:
    text = f"{HEAD.format(target='sm_90')}.func f() {{ ret; }}\n.entry k() {{ .reg .b32 %r; T: {table}; brx.idx %r, T; ret; }}\n"
    with pytest.raises(oric.CompileError, match=r"'T' is not a label of \.branchtargets"):
        oric.compile(text, arch="sm_90")
