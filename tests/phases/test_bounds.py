"""How comparisons come out as their words have bounds, and branches that go one way then: what is left, and what it computes."""

from __future__ import annotations

import re

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions
from oric.driver.pipeline import compile_text
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

TEXT = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 o) {directive}
{{
  .reg .b32 %a, %b, %c, %t, %n; .reg .b64 %d, %x; .reg .pred %p, %q;
  ld.param.u64 %d, [o]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 8; add.s64 %d, %d, %x; ld.global.u32 %n, [%d];
  mov.u32 %c, 1; {code}
  @%p bra A; mov.u32 %c, 2; st.global.u32 [%d], %t;
A: st.global.u32 [%d+4], %c; ret;
}}
"""
# How %p comes out for all numbers, and the largest one for which the test would not be decided any more.
DECIDED = {
    "a_mask": "and.b32 %a, %n, 6; setp.gt.u32 %p, %a, {6};",
    "a_mask_of_its_own": "and.b32 %n, %n, 6; setp.gt.u32 %p, %n, {6};",
    "a_mask_with_a_sign": "and.b32 %a, %n, 6; setp.gt.s32 %p, %a, {6};",
    "a_bit_that_is_set": "or.b32 %a, %n, 4; setp.lt.u32 %p, %a, {4};",
    "a_shift": "shr.u32 %a, %n, 28; setp.gt.u32 %p, %a, {15};",
    "a_lane": "mov.u32 %a, %laneid; setp.gt.u32 %p, %a, {31};",
    "a_place": "setp.gt.u32 %p, %t, {1023};",
    "a_byte": "ld.global.u8 %a, [%d]; setp.gt.u32 %p, %a, {255};",
    "a_sum": "and.b32 %a, %n, 7; and.b32 %b, %t, 3; add.u32 %a, %a, %b; setp.gt.u32 %p, %a, {10};",
    "a_product": "and.b32 %a, %n, 7; mul.lo.u32 %a, %a, 5; setp.gt.u32 %p, %a, {35};",
    "bits": "popc.b32 %a, %n; setp.gt.u32 %p, %a, {32};",
    "a_choice": "setp.gt.u32 %q, %n, 3; selp.u32 %a, 4, 9, %q; setp.gt.u32 %p, %a, {9};",
    "logic": "and.b32 %a, %n, 5; and.b32 %b, %n, 8; xor.b32 %a, %a, %b; setp.gt.u32 %p, %a, {15};",
}
NUMBERS = [0, 1, 4, 6, 9, 31, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def image(code: str, target: str = "sm_90", level: int = 3, directive: str = "") -> bytes:
    text = TEXT.format(target=target, code=code, directive=directive)
    return compile_text(text, CompileOptions(target, level, verify=True)).image


def is_decided(made: bytes, target: str = "sm_90") -> bool:
    return not any(re.search(r"@!?U?P\d", line) for line in disassemble(elf.read(made).functions["k"].text, target))


def run(made: bytes, numbers: list[int]) -> list[list[int]]:
    memory = np.zeros((32, 2), np.uint32)
    memory[:, 0] = (numbers * 32)[:32]
    done = oric.sim.load(made).launch("k", grid=1, block=32, args=[memory.reshape(-1)], modes=Modes(strict=True))
    assert [str(report) for report in done.reports] == []
    found: list[list[int]] = memory.tolist()
    return found


def limit(code: str, off: int) -> str:
    return re.sub(r"\{(\d+)\}", lambda found: str(int(found[1]) + off), code)


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", DECIDED)
def test_a_comparison_that_comes_out_one_way(name: str, target: str) -> None:
    """As the same code does that is not optimized."""
    made = image(limit(DECIDED[name], 0), target)
    assert is_decided(made, target)
    rng = np.random.default_rng(5)
    numbers = [*NUMBERS, *rng.integers(0, 1 << 32, 22).tolist()]
    assert run(made, numbers) == run(image(limit(DECIDED[name], 0), target, 0), numbers)


@pytest.mark.parametrize("name", DECIDED)
def test_one_less_is_not_decided(name: str) -> None:
    by = 1 if "lt" in DECIDED[name] else -1
    made = image(limit(DECIDED[name], by))
    assert not is_decided(made)
    assert run(made, NUMBERS) == run(image(limit(DECIDED[name], by), level=0), NUMBERS)


# Of a number from 0 to 7: relations, what it is compared with, whether that is decided.
RELATIONS = {
    "lt.u32": {8: True, 7: False, 0xFFFFFFF0: True}, "le.u32": {7: True, 6: False}, "ge.u32": {8: True, 7: False},
    "gt.u32": {7: True, 6: False, 0xFFFFFFF0: True},
    "eq.s32": {8: True, 7: False, -2: True}, "ne.s32": {9: True, 0: False, -2: True},
    "lt.s32": {0: True, 1: False, 8: True}, "gt.s32": {-1: True, 0: False}, "ge.s32": {-5: True}, "le.s32": {-1: True, 7: True},
}  # fmt: skip
TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("mirrored", [False, True])
def test_relations(relation: str, mirrored: bool) -> None:
    """With and without a sign, from either side."""
    name = TURNED.get(relation[:2], relation[:2]) + relation[2:] if mirrored else relation
    for number, decided in RELATIONS[relation].items():
        sides = f"{number}, %a" if mirrored else f"%a, {number}"
        code = f"and.b32 %a, %n, 7; setp.{name} %p, {sides};"
        made = image(code)
        assert is_decided(made) == decided, code
        assert run(made, NUMBERS) == run(image(code, level=0), NUMBERS)


@pytest.mark.parametrize(("directive", "most"), [(".maxntid 64, 2, 1", 127), (".reqntid 32, 1, 1", 31)])
def test_sizes_of_blocks(directive: str, most: int) -> None:
    """``.maxntid`` tells how many threads there are altogether, ``.reqntid`` how many in a dimension."""
    assert is_decided(image(f"setp.gt.u32 %p, %t, {most};", directive=directive))
    assert not is_decided(image(f"setp.gt.u32 %p, %t, {most - 1};", directive=directive))


def test_what_changes_behind_the_comparison_is_no_bound() -> None:
    """A word that was masked and is written again."""
    code = "and.b32 %a, %n, 7; @%q bra N; mov.u32 %a, %n; N: setp.gt.u32 %p, %a, 7;"
    code = "setp.gt.u32 %q, %n, 100; " + code
    made = image(code)
    assert not is_decided(made)
    assert run(made, NUMBERS) == run(image(code, level=0), NUMBERS)


NEVER = "and.b32 %a, %n, 3; setp.gt.u32 %q, %a, 3;"
FLOW = {
    "a_loop_that_never_runs": "mov.u32 %a, 0; setp.gt.u32 %p, 3, 5; "
    "L: @!%p bra E; add.u32 %a, %a, %n; setp.lt.u32 %p, %a, %n; bra L; E: mov.u32 %c, %a;",
    "an_exit": f"{NEVER} @%q ret;",
    "an_exit_for_all": f"{NEVER} @!%q ret;",
    "values_that_meet": f"{NEVER} mov.u32 %b, %n; @%q bra S; add.u32 %b, %b, 5; S: xor.b32 %c, %b, %t;",
    "one_behind_another": f"{NEVER} mov.u32 %b, 1; @%q bra S; mov.u32 %b, 2; "
    "S: setp.eq.u32 %q, %b, 1; @%q bra U; add.u32 %c, %c, 7; U:",
    "no_borrow": "sub.cc.u32 %a, %n, 0; subc.cc.u32 %a, %t, 0; subc.u32 %b, 0, 0; "
    "setp.eq.u32 %q, %b, 0; @%q bra S; mov.u32 %c, 77; S:",
}


@pytest.mark.parametrize("target", ["sm_80", "sm_120"])
@pytest.mark.parametrize("name", FLOW)
def test_ways_that_nobody_goes(name: str, target: str) -> None:
    code = FLOW[name] + " setp.gt.u32 %p, 3, 5; st.global.u32 [%d+4], %c;"
    made = image(code, target)
    assert run(made, NUMBERS) == run(image(code, target, 0), NUMBERS)
    assert is_decided(made, target)
