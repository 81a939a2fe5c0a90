"""Phase 77: what stands in front of a copy to shared memory stands once for all copies behind it that nothing parts."""

from __future__ import annotations

import oric
import pytest
from oric.sass.instruction import disassemble
from oric.support import elf

TEXT = """
.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{{
  .reg .b32 %r<6>; .reg .b64 %d<2>; .reg .pred %p<3>; .shared .align 16 .b8 s[4096];
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 4; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
  setp.eq.u32 %p1, %r1, 3; setp.eq.u32 %p2, %r1, 5;
  {first} {between} {second}
  cp.async.wait_all; bar.sync 0;
  ret;
}}
"""
FIRST = "cp.async.cg.shared.global [%r3], [%d1], 16;"
SECOND = "cp.async.cg.shared.global [%r3+1024], [%d1+64], 16;"
# As ptxas 13.0.88 does, but for fences, which it makes without accesses in front of what follows them.
FOLLOWS = {
    "nothing": "",
    "a_group": "cp.async.commit_group;",
    "a_wait": "cp.async.commit_group; cp.async.wait_group 0;",
}
PARTED = {
    "a_barrier": "bar.sync 0;",
    "an_arrival": "bar.arrive 1, 64;",
    "a_warp": "bar.warp.sync -1;",
    "a_load": "ld.shared.u32 %r4, [%r3]; st.global.u32 [%d1+512], %r4;",
    "a_store": "st.shared.u32 [%r3+256], %r1;",
    "an_atomic": "atom.shared.add.u32 %r4, [%r3], 1; st.global.u32 [%d1+512], %r4;",
    "any_memory": "st.u32 [%d1+512], %r1;",
    "another_block": "@%p1 bra OUT; bar.sync 0; OUT:",
}


def accesses(target: str, between: str, first: str = FIRST, second: str = SECOND, level: int = 3) -> list[int]:
    """In front of each copy, how many accesses of shared memory stand behind the copy in front of it that nobody makes."""
    text = TEXT.format(target=target, between=between, first=first, second=second)
    image = oric.compile(text, arch=target, opt_level=level, verify=True).image
    counts: list[int] = []
    count = 0
    for line in disassemble(elf.read(image).functions["k"].text, target):
        if "LDGSTS" in line:
            counts.append(count)
            count = 0
        count += "@!PT LDS" in line
    return counts


@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("between", FOLLOWS.values(), ids=FOLLOWS)
def test_once_for_copies_that_follow_one_another(between: str, target: str) -> None:
    assert accesses(target, between) == [3, 0]


@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("between", PARTED.values(), ids=PARTED)
def test_again_behind_what_parts_them(between: str, target: str) -> None:
    assert accesses(target, between) == [3, 3]


def test_guards_part_nothing() -> None:
    assert accesses("sm_90", "", f"@%p1 {FIRST}", f"@%p2 {SECOND}") == [3, 0]


def test_each_without_optimization() -> None:
    assert accesses("sm_90", "", level=0) == [3, 3]


@pytest.mark.parametrize("target", ["sm_80", "sm_86", "sm_89"])
@pytest.mark.parametrize("between", FOLLOWS.values(), ids=FOLLOWS)
def test_without_clusters_not_where_a_kernel_begins(between: str, target: str) -> None:
    assert accesses(target, between) == [0, 0]


@pytest.mark.parametrize("target", ["sm_80", "sm_86", "sm_89"])
@pytest.mark.parametrize("between", PARTED.values(), ids=PARTED)
def test_without_clusters_behind_what_parts_them(between: str, target: str) -> None:
    assert accesses(target, between) == [0, 3]
    assert accesses(target, "", between, FIRST) == [3]


@pytest.mark.parametrize(("target", "first"), [("sm_80", 0), ("sm_90", 3)])
def test_in_a_loop(target: str, first: int) -> None:
    """Whatever the round before has done stands behind them."""
    loop = f"mov.u32 %r5, 0; L: {SECOND} add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;"
    assert accesses(target, loop, FIRST, "") == [first, 3]


def test_in_a_function_that_is_called() -> None:
    """Nobody knows what its callers did."""
    text = f"""
.version 9.0
.target sm_80
.address_size 64
.func f(.param .b64 p)
{{
  .reg .b32 %r<6>; .reg .b64 %d<2>; .shared .align 16 .b8 s[4096];
  ld.param.u64 %d1, [p]; mov.u32 %r3, s;
  {FIRST} cp.async.wait_all; ret;
}}
"""
    image = oric.compile(text, arch="sm_80", relocatable=True).image
    assert "".join(disassemble(elf.read(image).functions["f"].text, "sm_80")).count("@!PT LDS") == 3


@pytest.mark.parametrize(
    ("size", "kept"), [("selp.b32 %r5, 16, 0, %p1; selp.b32 %r4, %r5, 0, %p2;", 0), ("mov.u32 %r4, %r1;", 1)]
)
def test_nothing_or_all_begins_where_it_is(size: str, kept: int) -> None:
    """The source of a copy of a part begins elsewhere; of none or of all bytes it is what the program says."""
    text = TEXT.format(target="sm_90", first=size, between="", second=FIRST.replace("16;", "16, %r4;"))
    code = disassemble(elf.read(oric.compile(text, arch="sm_90").image).functions["k"].text, "sm_90")
    assert sum("IADD3.X" in line for line in code) == kept


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("loads_first", [False, True])
def test_the_order_of_the_code_leaves_other_accesses_outside(loads_first: bool, target: str) -> None:
    """Loads of other bytes from the same base, for which long work waits, come neither between copies nor in front of them."""
    copies = " ".join(f"cp.async.cg.shared.global [%r3+{1024 * n}], [%d1+{64 * n}], 16;" for n in range(3))
    loads = " ".join(f"ld.shared.f32 %f{n}, [%r3+{3500 + 8 * n}];" for n in range(3))
    work = "sqrt.approx.f32 %f4, %f0; ex2.approx.f32 %f4, %f4; fma.rn.f32 %f4, %f1, %f2, %f4; st.global.f32 [%d1+512], %f4;"
    reads = f".reg .f32 %f<5>; {loads} {work}"
    text = TEXT.format(
        target=target,
        first="bar.sync 0;",
        between=reads if loads_first else copies,
        second=copies if loads_first else reads,
    )
    code = disassemble(elf.read(oric.compile(text, arch=target).image).functions["k"].text, target)
    kinds = [
        "none" if "@!PT LDS" in line else "copy" if "LDGSTS" in line else "load"
        for line in code
        if "LDGSTS" in line or "LDS" in line
    ]
    expected = [*["none"] * 3, *["copy"] * 3]
    assert kinds == (["load"] * 3 + expected if loads_first else expected + ["load"] * 3)
