"""What the threads of a member mask do together at different places in the code.

PTX ISA, "shfl.sync" (the same words at vote.sync, match.sync, redux.sync, elect.sync and bar.warp.sync): a thread waits until all
threads of the mask have executed the instruction with the same qualifiers and the same mask; nothing says that it is one place.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import oric
import pytest
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

from tests import campaigns

Array = np.ndarray[Any, Any]
TARGETS = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"]
LANE = np.arange(32)
# %r0 lane, %r1 a value of each lane, %r2 the full mask, %r3 that of the lane's half of the warp; results: %r5, %r6.
HEAD = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 full, .param .u32 lower) {{
.reg .b32 %r<30>; .reg .b64 %d<9>; .reg .pred %q<12>;
ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;
ld.param.u32 %r2, [full]; ld.param.u32 %r3, [lower]; setp.gt.u32 %q0, %r0, 15; @%q0 not.b32 %r3, %r3;
mad.lo.u32 %r1, %r0, 7, 3; and.b32 %r4, %r0, 1; setp.eq.u32 %q1, %r4, 0; setp.gt.u32 %q2, %r0, 5; and.b32 %r7, %r0, 3;
mov.u32 %r5, 0; mov.u32 %r6, 0; cvt.u64.u32 %d2, %r7; setp.eq.u32 %q3, %r7, 2; setp.lt.u32 %q4, %r0, %r2; xor.b32 %r8, %r0, 9;
"""
STORES = " st.global.u32 [%d0], %r5; st.global.u32 [%d0+128], %r6;"
TAIL = f"{STORES} ret;\n}}\n"
VALUE = LANE * 7 + 3
FULL, LOWER = 0xFFFFFFFF, 0x0000FFFF
TILE = np.where(LANE > 15, FULL ^ LOWER, LOWER)
EVEN = LANE % 2 == 0


def votes(of: Array, mask: Array) -> Array:
    return np.array([sum(1 << n for n in range(32) if of[n]) for _ in LANE]) & mask


def alike(of: Array, mask: Array) -> Array:
    return np.array([sum(1 << n for n in range(32) if of[n] == of[i]) for i in LANE]) & mask


def over(mask: Array, what: Any) -> Array:
    """What a function gives for the values of the lanes of every lane's mask."""
    return np.array([what(VALUE[[n for n in LANE if mask[i] >> n & 1]]) for i in LANE])


def first(mask: Array) -> Array:
    return np.array([(int(m) & -int(m)).bit_length() - 1 for m in mask])


class Case(NamedTuple):
    """``text``: with {m} for the mask; ``wanted``: %r5 and %r6 by the masks of the lanes; ``least``: the first target."""

    name: str
    text: str
    wanted: Any
    least: int = 75


OVER = (LANE > 5, LANE % 4, np.zeros(32, np.int64))
CASES = [
    Case("ballot", "vote.sync.ballot.b32 %r5, %q2, {m};", lambda m: (votes(OVER[0], m), OVER[2])),
    Case("any", "vote.sync.any.pred %q5, %q2, {m}; selp.u32 %r5, 1, 2, %q5;",
         lambda m: (np.where(votes(OVER[0], m) != 0, 1, 2), OVER[2])),
    Case("all", "vote.sync.all.pred %q5, !%q2, {m}; selp.u32 %r5, 1, 2, %q5;",
         lambda m: (np.where(votes(~OVER[0], m) == m, 1, 2), OVER[2])),
    Case("uni", "vote.sync.uni.pred %q5, %q0, {m}; selp.u32 %r5, 1, 2, %q5;",
         lambda m: (np.where((votes(LANE > 15, m) == m) | (votes(LANE > 15, m) == 0), 1, 2), OVER[2])),
    Case("lane", "shfl.sync.idx.b32 %r5|%q5, %r1, %r8, 0x1f, {m}; selp.u32 %r6, 1, 2, %q5;",
         lambda m: (VALUE[LANE ^ 9], OVER[2] + 1)),
    Case("constant lane", "shfl.sync.idx.b32 %r5, %r1, 3, 0x100f, {m};", lambda m: (VALUE[LANE // 16 * 16 + 3], OVER[2])),
    Case("butterfly", "shfl.sync.bfly.b32 %r5|%q5, %r1, 8, 0x1f, {m}; selp.u32 %r6, 1, 2, %q5;",
         lambda m: (VALUE[LANE ^ 8], OVER[2] + 1)),
    Case("up", "shfl.sync.up.b32 %r5|%q5, %r1, 3, 0x1000, {m}; selp.u32 %r6, 1, 2, %q5;",
         lambda m: (np.where(LANE % 16 >= 3, VALUE[LANE - 3], VALUE), np.where(LANE % 16 >= 3, 1, 2))),
    Case("match", "match.any.sync.b32 %r5, %r7, {m};", lambda m: (alike(OVER[1], m), OVER[2]), 75),
    Case("match of 64 bits", "match.any.sync.b64 %r5, %d2, {m};", lambda m: (alike(OVER[1], m), OVER[2]), 75),
    Case("match all", "match.all.sync.b32 %r5|%q5, %r7, {m}; selp.u32 %r6, 1, 2, %q5;", lambda m: (OVER[2], OVER[2] + 2), 75),
    Case("sum", "redux.sync.add.u32 %r5, %r1, {m};", lambda m: (over(m, np.sum), OVER[2]), 80),
    Case("smallest", "redux.sync.min.s32 %r5, %r1, {m};", lambda m: (over(m, np.min), OVER[2]), 80),
    Case("one", "elect.sync %r5|%q5, {m}; selp.u32 %r6, 1, 2, %q5;",
         lambda m: (first(m), np.where(first(m) == LANE, 1, 2)), 90),
    Case("barrier", "bar.warp.sync {m}; mov.u32 %r5, 4;", lambda m: (OVER[2] + 4, OVER[2])),
]  # fmt: skip
# How the threads come to one and the other: {a}, {b} are two of one case, whose results the second way changes by 1000.
WAYS = {
    "arms": "@%q1 bra A; {a} add.u32 %r5, %r5, 1000; bra J; A: {b} J:",
    "guards": "@%q1 bra A; @%q4 {a} add.u32 %r5, %r5, 1000; bra J; A: @%q4 {b} J:",
    "loops": """@%q1 bra A; mov.u32 %r9, 0; L: {a} add.u32 %r9, %r9, 1; setp.lt.u32 %q9, %r9, 3; @%q9 bra L;
 add.u32 %r5, %r5, 1000; bra J; A: {b} {a} {b} J:""",
    "after an arm": """@%q3 bra A; @%q1 bra B; {a} bra C; B: {b} C: @!%q1 add.u32 %r5, %r5, 1000; bra J;
 A: {a} @!%q1 add.u32 %r5, %r5, 1000; J:""",
    "ends": "@%q1 bra A; {a} add.u32 %r5, %r5, 1000; st.global.u32 [%d0], %r5; st.global.u32 [%d0+128], %r6; ret; A: {b}",
}  # fmt: skip


def program(case: Case, way: str, masks: tuple[str, str], target: str) -> str:
    first, second = (case.text.format(m=mask) for mask in masks)
    return HEAD.format(target=target) + WAYS[way].format(a=first, b=second) + TAIL


@pytest.mark.memcheck
@pytest.mark.parametrize("case", [case for case in CASES if case.name != "barrier"], ids=lambda case: case.name)
def test_threads_whose_results_nobody_needs_take_part(case: Case) -> None:
    """In one of two arms; what both arms throw away is gone."""
    for k, target in enumerate(TARGETS):
        if takes(case, target):
            first, second = (case.text.format(m=mask) for mask in ("0xffffffff", "-1"))
            unused = re.sub(r"%(r5|r6|q5)\b", lambda m: {"r5": "%r20", "r6": "%r21", "q5": "%q9"}[m[1]], second)
            body = f"@%q1 bra A; {first} bra J; A: {unused} J:"
            image = oric.compile(HEAD.format(target=target) + body + TAIL, arch=target, opt_level=(3, 1, 2)[k % 3]).image
            out = np.zeros(64, np.uint32)
            done = oric.sim.load(image).launch(
                "k", grid=1, block=32, args=[out, FULL, LOWER], modes=Modes(strict=True, memcheck=True)
            )
            assert [str(report) for report in done.reports] == []
            result, others = case.wanted(TILE | FULL)
            assert out[:32].tolist() == np.where(EVEN, 0, result).tolist()
            assert out[32:].tolist() == np.where(EVEN, 0, others).tolist()


# a mask that is in a register, by what makes it
REGISTERS = {
    "a parameter": ("", "%r2", "%r2"),
    "copies": ("mov.u32 %r9, %r2; mov.u32 %r10, %r9;", "%r10", "%r2"),
    "several steps": ("mov.u32 %r9, %ctaid.x; not.b32 %r9, %r9; mov.u32 %r10, %r9;", "%r9", "%r10"),
}


@pytest.mark.memcheck
@pytest.mark.parametrize("made", REGISTERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_threads_of_a_mask_in_a_register_meet(case: Case, made: str) -> None:
    """Where it is the same for all of them, at two places that are on different ways."""
    number = CASES.index(case) + list(REGISTERS).index(made)
    lines, *masks = REGISTERS[made]
    for k in range(4):
        target = TARGETS[(number + k) % len(TARGETS)]
        if takes(case, target):
            way = ("arms", "ends")[k >> 1]
            text = program(case, way, (masks[0], masks[1]), target).replace("mov.u32 %r5, 0;", f"mov.u32 %r5, 0; {lines}", 1)
            made_ = oric.compile(text, arch=target, opt_level=3 * (k & 1), verify=True)
            check(made_.image, case, TILE | FULL)


def check(image: bytes, case: Case, mask: Array, memcheck: bool = True) -> None:
    out = np.zeros(64, np.uint32)
    args = [out, FULL, LOWER]
    done = oric.sim.load(image).launch("k", grid=1, block=32, args=args, modes=Modes(strict=True, memcheck=memcheck))
    assert [str(report) for report in done.reports] == []
    result, second = case.wanted(mask)
    assert (out[:32] - np.where(EVEN, 0, 1000).astype(np.uint32)).tolist() == result.tolist()
    assert out[32:].tolist() == second.tolist()


def takes(case: Case, target: str) -> bool:
    return int(re.sub(r"\D", "", target)) >= case.least


@pytest.mark.memcheck
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_threads_of_a_mask_meet(case: Case, way: str) -> None:
    """At levels and on targets in turn."""
    number = CASES.index(case) + 2 * list(WAYS).index(way)
    for k in range(4):
        target = TARGETS[(number + k) % len(TARGETS)]
        if takes(case, target):
            made = oric.compile(program(case, way, ("0xffffffff", "-1"), target), arch=target, opt_level=3 * (k & 1), verify=True)
            check(made.image, case, TILE | FULL)


@pytest.mark.memcheck
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_threads_of_half_a_warp_meet(target: str, level: int) -> None:
    """A constant mask that is not of the whole warp, the other threads elsewhere."""
    vote = "vote.sync.ballot.b32 %r5, %q2, 0xffff;"
    body = f"@%q0 bra J; @%q1 bra A; {vote} bar.warp.sync 0xffff; bra J; A: {vote} bar.warp.sync 0xffff; J:"
    made = oric.compile(HEAD.format(target=target) + body + TAIL, arch=target, opt_level=level, verify=True)
    out = np.zeros(64, np.uint32)
    done = oric.sim.load(made.image).launch(
        "k", grid=1, block=32, args=[out, FULL, LOWER], modes=Modes(strict=True, memcheck=True)
    )
    assert [str(report) for report in done.reports] == []
    assert out[:32].tolist() == [0xFFC0] * 16 + [0] * 16


@pytest.mark.memcheck
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_places_of_other_masks_stay_apart(target: str, level: int) -> None:
    """What branches of one mask bring together is nothing to the places of another."""
    vote = "vote.sync.ballot.b32 %r9, %q2, 0xffff; add.u32 %r5, %r5, %r9;"
    body = f"""@!%q0 bra E; bar.warp.sync -1; bra J; E: @%q0 bra N; setp.lt.u32 %q5, %r0, 1; @!%q5 bra A;
 bar.warp.sync 0xffff; {vote} bra C; A: bar.warp.sync 0xffff; {vote} bra C; N: {vote} bra D;
 C: setp.lt.u32 %q5, %r0, 13; @!%q5 bra B; bar.warp.sync 0x1fff; {vote} bar.warp.sync 0xffff; bra D;
 B: {vote} bar.warp.sync 0xffff;
 D: bar.warp.sync -1; J:"""
    made = oric.compile(HEAD.format(target=target) + body + TAIL, arch=target, opt_level=level, verify=True)
    out = np.zeros(64, np.uint32)
    args = [out, FULL, LOWER]
    done = oric.sim.load(made.image).launch("k", grid=1, block=32, args=args, modes=Modes(strict=True, memcheck=True))
    assert [str(report) for report in done.reports] == []
    assert out[:32].tolist() == [2 * 0xFFC0] * 16 + [0] * 16


@pytest.mark.memcheck
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_nobody_waits_for_others_where_those_of_a_mask_meet(target: str, level: int) -> None:
    """The upper lanes vote and end; those that wait for them meanwhile pass no place of that mask."""
    body = """setp.lt.u32 %q5, %r0, 8; @%q5 bra A; vote.sync.ballot.b32 %r5, %q2, 0xffffff00;
 st.global.u32 [%d0], %r5; ret; A: vote.sync.ballot.b32 %r5, %q2, 0xffffffff;
 setp.lt.u32 %q5, %r0, 16; @%q5 bra J; vote.sync.ballot.b32 %r5, %q2, 0xffffff00; J:"""
    made = oric.compile(HEAD.format(target=target) + body + TAIL, arch=target, opt_level=level, verify=True)
    out = np.zeros(64, np.uint32)
    args = [out, FULL, LOWER]
    done = oric.sim.load(made.image).launch("k", grid=1, block=32, args=args, modes=Modes(strict=True, memcheck=True))
    assert [str(report) for report in done.reports] == []
    assert out[:32].tolist() == [0xC0] * 8 + [0xFFFFFF00] * 24


@pytest.mark.memcheck
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_threads_meet_in_a_loop_that_they_come_to_apart(target: str, level: int) -> None:
    """Those of a mask go on together though they began the loop apart, and each waits behind it for those that it came with."""
    body = """setp.eq.u32 %q5, %r0, 31; setp.gt.u32 %q6, %r0, 19; and.b32 %r9, %r0, 1; setp.eq.u32 %q7, %r9, 0;
 selp.b32 %r9, 0x55555555, 0x2aaaaaaa, %q7; @!%q6 bra L; @!%q5 bra L; st.global.u32 [%d0], %r0; ret;
 L: add.u32 %r10, %r7, 1;
 M: sub.u32 %r10, %r10, 1; setp.ne.u32 %q8, %r10, 0; vote.sync.ballot.b32 %r11, %q8, %r9; and.b32 %r9, %r9, %r11;
 add.u32 %r5, %r5, 1; @%q8 bra M;"""
    made = oric.compile(HEAD.format(target=target) + body + TAIL, arch=target, opt_level=level, verify=True)
    out = np.zeros(64, np.uint32)
    args = [out, FULL, LOWER]
    done = oric.sim.load(made.image).launch("k", grid=1, block=32, args=args, modes=Modes(strict=True, memcheck=True))
    assert [str(report) for report in done.reports] == []
    assert out[:32].tolist() == [n % 4 + 1 for n in range(31)] + [31]


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_vendors_threads_meet(ptxas: str, tmp_path: Path, case: Case) -> None:
    """A function for all places of a kind up to sm_89, a collective from sm_90 on."""
    for target in TARGETS:
        if takes(case, target):
            (tmp_path / "k.ptx").write_text(program(case, "arms", ("0xffffffff", "0xffffffff"), target))
            subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
            check((tmp_path / "k.cubin").read_bytes(), case, TILE | FULL, memcheck=False)


def test_threads_that_cannot_meet_go_straight_on() -> None:
    """No detour for one place behind another, for masks that differ, for those in registers."""
    for name, body in (
        ("VOTE", "@%q0 bra A; vote.sync.ballot.b32 %r5, %q1, 0xffff; vote.sync.ballot.b32 %r6, %q2, 0xffff; A:"),
        ("SHFL", "@%q0 bra A; shfl.sync.bfly.b32 %r5, %r1, 8, 0x1f, 0xffff; shfl.sync.bfly.b32 %r5, %r5, 4, 0x1f, 0xffff; A:"),
        ("WARPSYNC", "@%q0 bra A; bar.warp.sync 0xffff; bra J; A: bar.warp.sync 0xffff0000; J:"),
        ("WARPSYNC", "@%q0 bra A; bar.warp.sync %r3; bra J; A: bar.warp.sync %r3; J:"),
        (
            "VOTE",
            "@%q0 bra A; vote.sync.ballot.b32 %r5, %q1, %r2; bra J; A: not.b32 %r2, %r2; vote.sync.ballot.b32 %r5, %q1, %r2; J:",
        ),
    ):
        made = oric.compile(HEAD.format(target="sm_90a") + body + TAIL, arch="sm_90a").image
        lines = disassemble(elf.read(made).kernels["k"].text, "sm_90a")
        assert sum(name in line for line in lines) == 2


SHUFFLE = "shfl.sync.bfly.b32 %r5, %r5, 8, 0x1f, %r3;"


def waits(body: str, target: str = "sm_80") -> tuple[int, int]:
    """How many WARPSYNCs there are, and NOPs that stand in their place."""
    made = oric.compile(HEAD.format(target=target) + body + TAIL, arch=target).image
    code = elf.read(made).kernels["k"].text
    lines = disassemble(code, target)
    end = next(n for n, line in enumerate(lines) if line.startswith("EXIT"))
    return sum("WARPSYNC" in line for line in lines), sum(line.startswith("NOP") for line in lines[:end])


def test_threads_of_a_mask_that_have_met_are_not_waited_for() -> None:
    """In code that not all threads come to: until they may have parted or the mask is another one."""
    for count, body in (
        (1, f"{SHUFFLE} add.u32 %r5, %r5, 1; {SHUFFLE} {SHUFFLE} vote.sync.ballot.b32 %r6, %q2, -1; {SHUFFLE}"),
        (2, f"{SHUFFLE} not.b32 %r3, %r3; {SHUFFLE}"),
        (2, f"{SHUFFLE} @%q2 bra A; st.global.u32 [%d0+4], %r0; st.global.u32 [%d0+8], %r0; membar.cta; A: {SHUFFLE}"),
        (1, f"{SHUFFLE} bar.warp.sync %r3; st.volatile.global.u32 [%d0], %r0; bar.warp.sync %r3; {SHUFFLE}"),
    ):
        assert waits(f"@%q0 bra OUT; {body} OUT:")[0] == count, body


@pytest.mark.parametrize("target", TARGETS)
def test_threads_that_are_together_wait_for_nobody(target: str) -> None:
    """In code that all threads come to, in loops and behind branches too; what orders memory is a NOP."""
    store = "st.volatile.global.u32 [%d0], %r5;"
    rounds = (
        f"mov.u32 %r9, 0; N: {SHUFFLE} bar.warp.sync %r3; {store} add.u32 %r9, %r9, 1; setp.lt.u32 %q5, %r9, %r2; @%q5 bra N;"
    )
    for count, body in (
        (1, f"{store} bar.warp.sync -1; {store}"),
        (2, f"{store} bar.warp.sync %r3; {store} bar.warp.sync 0xff; {store} {SHUFFLE}"),
        (1, rounds),
        (1, f"@%q1 bra A; {store} membar.cta; {store} A: bar.warp.sync %r3; {store} {SHUFFLE}"),
        (1, f"@%q0 ret; {SHUFFLE} bar.warp.sync %r3; {store}"),
    ):
        assert waits(body, target) == (0, count), body


def test_threads_that_may_have_been_elsewhere_are_waited_for() -> None:
    """Where others of the warp are in another arm, go on in a loop, or do something else before they end."""
    for body in (
        f"@%q1 bra A; {SHUFFLE} st.volatile.global.u32 [%d0], %r5; A:",
        f"N: {SHUFFLE} st.volatile.global.u32 [%d0], %r5; sub.u32 %r0, %r0, 1; setp.gt.s32 %q5, %r0, 9; @%q5 bra N;",
        f"@%q1 bra A; st.volatile.global.u32 [%d0], %r5; bar.warp.sync %r3; ret; A: {SHUFFLE}",
    ):
        assert waits(body)[0] > 0, body


class Ways:
    """A random kernel whose threads pass the same number of places of one kind on different ways."""

    # What leaves 0 in %r16 if the threads of {m} have met in phase %r6.
    FORMS: ClassVar = {
        "lane": """mad.lo.u32 %r15, %r6, 64, %r0; xor.b32 %r12, %r0, 5; shfl.sync.idx.b32 %r16, %r15, %r12, 0x1f, {m};
 mad.lo.u32 %r15, %r6, 64, %r12; sub.u32 %r16, %r16, %r15;""",
        "ballot": """add.u32 %r15, %r0, %r6; and.b32 %r15, %r15, 3; setp.eq.u32 %q5, %r15, 0; vote.sync.ballot.b32 %r16, %q5, {m};
 neg.s32 %r15, %r6; and.b32 %r15, %r15, 3; shl.b32 %r15, 0x11111111, %r15; and.b32 %r15, %r15, {e}; xor.b32 %r16, %r16, %r15;""",
        "match": """add.u32 %r15, %r7, %r6; match.any.sync.b32 %r16, %r15, {m}; shl.b32 %r15, 0x11111111, %r7;
 and.b32 %r15, %r15, {e}; xor.b32 %r16, %r16, %r15;""",
        "smallest": """mad.lo.u32 %r15, %r6, 64, %r0; redux.sync.min.u32 %r16, %r15, {m}; xor.b32 %r16, %r16, %r15;
 and.b32 %r16, %r16, -32;""",
    }

    def __init__(self, seed: int, target: str) -> None:
        self.rng = random.Random(seed)
        self.labels = 0
        self.form = self.FORMS[self.rng.choice([name for name in self.FORMS if name != "smallest" or target != "sm_75"])]
        self.count = self.rng.randrange(2, 7)
        self.body = self.ends(0)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def meet(self) -> str:
        return self.form.format(m=self.rng.choice(("0xffffffff", "-1")), e="%r2") + " or.b32 %r5, %r5, %r16; add.u32 %r6, %r6, 1;"

    def ends(self, depth: int) -> str:
        """The same, where threads may end at several places."""
        if depth == 3 or self.rng.random() < 0.6:
            return self.some(self.count, depth)
        other, bit = self.label(), self.rng.randrange(5)
        test = f" shr.u32 %r8, %r0, {bit}; and.b32 %r8, %r8, 1; setp.eq.u32 %q3, %r8, 0; @%q3 bra {other};\n"
        return f"{test}{self.ends(depth + 1)}{STORES} ret;\n {other}:{self.ends(depth + 1)}"

    def some(self, count: int, depth: int) -> str:
        """Code in which every thread passes ``count`` places."""
        if count == 0:
            return ""
        kind = self.rng.randrange(4) if depth < 4 else 0
        if kind == 1:
            other, end, bit = self.label(), self.label(), self.rng.randrange(5)
            test = f" shr.u32 %r8, %r0, {bit}; and.b32 %r8, %r8, 1; setp.eq.u32 %q3, %r8, 0; @%q3 bra {other};\n"
            return f"{test}{self.some(count, depth + 1)} bra {end};\n {other}:{self.some(count, depth + 1)}\n {end}:"
        if kind == 2 and count > 1:
            head = self.label()
            turns = f"%r{20 + depth}"
            return f""" mov.u32 {turns}, 0;
 {head}: {self.meet()} add.u32 {turns}, {turns}, 1; setp.lt.u32 %q4, {turns}, {count}; @%q4 bra {head};\n"""
        if kind == 3 and count > 1:
            part = self.rng.randrange(1, count)
            return self.some(part, depth + 1) + self.some(count - part, depth + 1)
        return self.meet() + self.some(count - 1, depth + 1)


@pytest.mark.memcheck
@pytest.mark.parametrize("seed", campaigns.seeds(50, first=10))
def test_random_ways(seed: int) -> None:
    target, level = TARGETS[seed % len(TARGETS)], (3, 0, 1, 2)[seed // len(TARGETS) % 4]
    ways = Ways(seed, target)
    made = oric.compile(HEAD.format(target=target) + ways.body + TAIL, arch=target, opt_level=level, verify=True).image
    out = np.ones(64, np.uint32)
    done = oric.sim.load(made).launch("k", grid=1, block=32, args=[out, FULL, LOWER], modes=Modes(strict=True, memcheck=True))
    assert [str(report) for report in done.reports] == []
    assert out.tolist() == [0] * 32 + [ways.count] * 32
