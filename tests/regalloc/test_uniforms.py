"""Uniform registers that do not fit: on a machine with few of them they wait in general ones, and kernels do what they did."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import UR
from oric.ir.read import read
from oric.ir.verify import MalformedCode
from oric.phases.control import analyze_control_flow
from oric.regalloc.allocate import OutOfRegisters, allocate_registers
from oric.sass.check import check_cubin
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf
from oric_tables import op
from oric_tables.ori_operands import PROBLEM_NO_SPILL, PROBLEM_TEXTS

from tests.ir.functions import context
from tests.lower.support import source
from tests.regalloc import planted
from tests.regalloc.test_general import live_values, sums

FEW = (3, 4, 6)
COUNT = 20
Array = np.ndarray[Any, Any]


def options(arch: str, level: int, uniform: int, limit: int | None = None) -> CompileOptions:
    """For a machine with so many uniform registers."""
    made = CompileOptions(arch=arch, opt_level=level, maxrregcount=limit, verify=True)
    made.target = made.target._replace(uniform_regs=uniform)
    return made


def reductions(loop: bool) -> str:
    """Sums over the warp, with branches and a loop around, and accesses of global memory, which have a descriptor."""
    body = ".reg .b32 %v<60>;\n  mul.wide.u32 %d9, %i, 4; add.u64 %d1, %in, %d9; add.u64 %d2, %out, %d9; mov.u32 %v50, 0;\n"
    body += "AGAIN:\n" if loop else ""
    for n in range(COUNT):
        body += f"  ld.global.u32 %v{n}, [%d1+{128 * n}]; redux.sync.add.u32 %v{n}, %v{n}, 0xffffffff;\n"
    for n in range(COUNT):
        body += f"  mad.lo.u32 %v50, %v{n}, {2 * n + 3}, %v50;\n"
    body += "  st.global.u32 [%d2], %v50;\n  and.b32 %v51, %i, 1; setp.eq.u32 %p1, %v51, 0; @%p1 bra EVEN;\n"
    body += "  ld.global.u32 %v52, [%d1]; add.u32 %v50, %v50, %v52; st.global.u32 [%d2], %v50;\nEVEN:\n"
    if loop:
        body += "  bar.sync 0;\n  setp.lt.u32 %p2, %r50, 2; add.u32 %r50, %r50, 1; @%p2 bra AGAIN;\n".replace("%r50", "%v53")
        return body.replace("mov.u32 %v50, 0;", "mov.u32 %v50, 0; mov.u32 %v53, 0;")
    return body


def expected(data: Array, rounds: int) -> Array:
    rows = data.reshape(COUNT, 32)
    with np.errstate(over="ignore"):
        total = (rows.sum(axis=1, dtype=np.uint32) * (2 * np.arange(COUNT, dtype=np.uint32) + 3)).sum(dtype=np.uint32)
        out = np.zeros(32, np.uint32)
        for _ in range(rounds):
            out += total
            out[1::2] += rows[0][1::2]
    return out


def run(text: str, made: CompileOptions, args: list[Any], want: Array) -> list[str]:
    """The lines of the kernel, which gives what is wanted."""
    image = compile_text(text, made, "k.ptx").image
    report = check_cubin(elf.read(image))
    assert (report.findings, report.unknown) == ([], [])
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(32, 1, 1), args=args, modes=modes)
    assert not done.reports
    assert np.array_equal(args[-1], want)
    return disassemble(elf.read(image).section(".text.k").data, made.target.name)


@pytest.mark.parametrize("uniform", FEW)
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_sums_over_the_warp(arch: str, level: int, uniform: int) -> None:
    """No uniform register beyond those there are; some wait in general ones where there are only as many as one sum takes."""
    data = np.random.default_rng(level).integers(0, 1 << 32, COUNT * 32, dtype=np.uint64).astype(np.uint32)
    for loop in (False, True):
        text = source(reductions(loop), arch)
        lines = run(text, options(arch, level, uniform), [data, np.zeros(32, np.uint32)], expected(data, 3 if loop else 1))
        used = {int(n) for line in lines for n in re.findall(r"\bUR(\d+)", line)}
        assert used <= set(range(uniform))


@pytest.mark.parametrize("limit", [24, None])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_descriptor_waits(arch: str, limit: int | None) -> None:
    """Two uniform registers: the descriptor of memory leaves them for every sum, and comes back; general ones may be few, too."""
    data = np.arange(COUNT * 32, dtype=np.uint32) * 7
    lines = run(source(reductions(True), arch), options(arch, 3, 2, limit), [data, np.zeros(32, np.uint32)], expected(data, 3))
    assert any("R2UR" in line for line in lines)
    values = np.random.default_rng(1).integers(0, 1 << 32, 60 * 32, dtype=np.uint64).astype(np.uint32)
    run(source(live_values(60, "u32"), arch), options(arch, 3, 2, 24), [values, np.zeros(32, np.uint32)], sums(values, 60))


def test_what_no_spill_makes_fit() -> None:
    """A descriptor has two words."""
    for f, ctx in planted.before_allocation(source(reductions(False), "sm_90"), "sm_90", 3, None):
        ctx.target = ctx.target._replace(uniform_regs=1)
        ctx.diag = None
        with pytest.raises(OutOfRegisters, match=r"uniform registers \(UR\) and 1 are available"):
            planted.allocated(f, ctx)


def spilled() -> planted.Allocated:
    """A function that keeps its descriptor in general registers."""
    [(f, ctx)] = planted.before_allocation(source(reductions(True), "sm_90"), "sm_90", 3, None)
    ctx.target = ctx.target._replace(uniform_regs=2)
    one = planted.allocated(f, ctx)
    one.check()
    return one


def test_a_word_that_does_not_come_back_is_found() -> None:
    """Every R2UR is needed."""
    for n in range(len(spilled().new(op.R2UR))):
        one = spilled()
        Cursor(one.f).remove(one.new(op.R2UR)[n])
        with pytest.raises(MalformedCode):
            one.check()


def test_a_word_that_was_not_kept_is_found() -> None:
    one = spilled()
    moves = [i for i in one.new(op.MOV) if opd.is_register(one.f.get(i, 1))]
    keeps = [i for i in moves if one.f.reg_type[one.f.get(i, 1) & opd.INDEX] == UR]
    assert keeps
    Cursor(one.f).remove(keeps[0])
    with pytest.raises(MalformedCode, match=PROBLEM_TEXTS[PROBLEM_NO_SPILL]):
        one.check()


def test_words_that_come_back_from_each_other_are_found() -> None:
    one = spilled()
    f = one.f
    first, second = one.new(op.R2UR)[:2]
    a, b = f.get(first, 1), f.get(second, 1)
    assert a != b
    f.set(first, 1, b), f.set(second, 1, a)
    with pytest.raises(MalformedCode, match=PROBLEM_TEXTS[PROBLEM_NO_SPILL]):
        one.check()


OF_TWO_WAYS = """entry test sm_90 final_flow
    reg R1:2 R2 P3 P4 P5 UP6 UP7
bix0:
    MOV R1.0, c[0x0][0x210]
    MOV R1.1, c[0x0][0x214]
    S2R R2, SR33
    ISETP{{cmp=GT sign=U32}} P3, R2, 0x7
    ISETP{{cmp=GT sign=U32}} P4, R2, 0x4
    BSSY B0, bix7
    @P3 BRA bix4
bix1:
    VOTEU{{op=ANY}} _, P4, UP6
bix2:
    IADD3 R2, R2, 0x1, RZ
    ISETP{{cmp=LT sign=U32}} P5, R2, 0x10
    @P5 BRA bix2
bix3:
    PLOP3{{lut=0xaa}} P5, PT, PT, UP6
    @P5 STG R1:2, 0x0, R2
    BRA bix6
bix4:
    VOTEU{{op=ANY}} _, !P4, {other}
bix5:
    PLOP3{{lut=0xaa}} P5, PT, PT, {other}
    @P5 STG R1:2, 0x4, R2
bix6:
    BSYNC B0
bix7:
    EXIT
"""


def test_uniform_predicates_of_two_ways() -> None:
    """What lasts over the loop of one way is not written by the other one: on a machine with one there is none for both."""
    one = context("sm_90")
    one.target = one.target._replace(uniform_predicates=1)
    for ctx, other, fits in ((one, "UP6", True), (one, "UP7", False), (context("sm_90"), "UP7", True)):
        f = read(OF_TWO_WAYS.format(other=other), target="sm_90")
        analyze_control_flow(f, ctx)
        if fits:
            allocate_registers(f, ctx)
        else:
            with pytest.raises(OutOfRegisters):
                allocate_registers(f, ctx)


# A function that calls itself: nothing stays in uniform registers over its calls and blocks, the descriptor of memory neither.
_WALK = """.version 8.8
.target {arch}
.address_size 64
.func (.param .b32 r) walk(.param .b64 a, .param .b32 n)
{{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n]; ld.global.u32 %r2, [%d1];
{again}
  setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;
  sub.u32 %r3, %r1, 1; add.u64 %d2, %d1, 4;
  {{ .param .b64 pa; .param .b32 pn; .param .b32 pr; st.param.b64 [pa], %d2; st.param.b32 [pn], %r3;
    call (pr), walk, (pa, pn); ld.param.b32 %r4, [pr]; }}
  ld.global.u32 %r5, [%d1]; xor.b32 %r4, %r4, %r5; add.u32 %r2, %r2, %r4;
DONE:
  st.param.b32 [r], %r2; ret;
}}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %r<3>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
  {{ .param .b64 pa; .param .b32 pn; .param .b32 pr; st.param.b64 [pa], %d1; st.param.b32 [pn], 9;
    call (pr), walk, (pa, pn); ld.param.b32 %r1, [pr]; }}
  st.global.u32 [%d2], %r1; ret;
}}
"""
_AGAIN = "AGAIN: add.u32 %r2, %r2, 1; ld.global.u32 %r6, [%d1]; setp.lt.u32 %p2, %r2, %r6; @%p2 bra AGAIN;"


@pytest.mark.parametrize("again", ["", _AGAIN], ids=["once", "in a loop"])
@pytest.mark.parametrize(
    ("arch", "load", "waits"), [("sm_80", "ULDC", False), ("sm_90", "ULDC", False), ("sm_120", "LDCU", True)]
)
def test_the_descriptor_is_read_again(arch: str, load: str, waits: bool, again: str) -> None:
    """Behind each place where threads may be apart; in loops it waits in general registers where its reader would wait."""
    data = np.arange(10, dtype=np.uint32) * 3 + 1
    out = np.zeros(1, np.uint32)
    image = oric.compile(_WALK.format(arch=arch, again=again), arch=arch).image
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[data, out], modes=Modes(strict=True))
    want, more = 0, 1 if again else 0
    for n, value in enumerate(reversed(data.tolist())):
        want = value + more + (want ^ value if n else 0)
    assert out[0] == want & 0xFFFFFFFF
    lines = disassemble(elf.read(image).functions["k"].text, arch)
    kept = waits and bool(again)
    assert any("R2UR" in line for line in lines) == kept
    assert (sum(load in line for line in lines) > 2) == (not kept)  # one is the entry's
