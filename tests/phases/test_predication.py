"""Phase 63: short conditional blocks run under guards, loads among them."""

from __future__ import annotations

import random

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions, compile_text
from oric.ir.text import all_instructions
from oric.phases.predication import predicate_short_blocks
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.elf import read
from oric_tables.ops import op

from tests.phases.ori import after

KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 table, .param .u32 n) .reqntid 64
{
  .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [table]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1;
  mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3;
  mov.u32 %r3, 77;
  @%p1 bra DONE;
  add.u64 %d4, %d2, %d3;
  ld.global.u32 %r4, [%d4];
  mul.wide.u32 %d5, %r4, 4; add.u64 %d6, %d2, %d5;
  ld.global.u32 %r5, [%d6];
  setp.lt.u32 %p2, %r5, 8; selp.b32 %r3, %r4, %r5, %p2;
DONE:
  st.global.u32 [%d1], %r3;
  ret;
}
"""


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("level", [0, 2, 3])
@pytest.mark.parametrize("n", [0, 5, 32, 40, 64])
def test_loads_under_a_condition(target: str, level: int, n: int) -> None:
    """Threads for which the condition does not hold read nothing: the table ends where they begin."""
    image = compile_text(KERNEL, CompileOptions(target, level, verify=True)).image
    assert [str(finding) for finding in check_cubin(read(image)).findings] == []
    table = np.random.default_rng(n).integers(0, max(n, 1), max(n, 1), dtype=np.uint32)
    out = np.zeros(64, np.uint32)
    want = np.full(64, 77, np.uint32)
    for thread in range(n):
        other = table[table[thread]]
        want[thread] = table[thread] if other < 8 else other
    done = oric.sim.load(image).launch(
        "k", grid=(1, 1, 1), block=(64, 1, 1), args=[out, table, n], modes=Modes(strict=True, memcheck=True)
    )
    assert [str(report) for report in done.reports] == [] and np.array_equal(out, want)


def test_the_branch_is_gone() -> None:
    """Loads and what reads their results have the guard; the address of the first one is computed in any case."""
    ((f, _),) = compile_functions(KERNEL, CompileOptions("sm_90"))
    guards = {}
    for i in all_instructions(f):
        guards.setdefault(op(f.op[i]).name.split(".")[0], []).append(bool(f.guard[i]))
    assert "BSSY" not in guards and guards["LDG"] == [True, True] and not any(guards["STG"])


def test_what_reads_a_guarded_load_is_guarded() -> None:
    """R20 has a value under the condition alone, and so has R21; R22 has one in any case."""
    lines = [
        "    ISETP{cmp=LT} P5, R10, 0x10",
        "    MOV R300, RZ",
        "    @P5 BRA bix2",
        "bix1:",
        "    LDG R20, R2:2, 0x8",
        "    IADD3 R21, R20, R10, RZ",
        "    IADD3 R22, R11, R10, RZ",
        "    IADD3 R300, R21, R22, RZ",
        "bix2:",
        "    STG R2:2, 0x10, R300",
    ]
    done = after(predicate_short_blocks, lines)
    assert not any(" BRA " in line for line in done), done
    guarded = [line.split()[2].rstrip(",") for line in done if line.strip().startswith("@!P5")]
    assert guarded == ["R20", "R21", "R300"], done


@pytest.mark.parametrize("seed", range(60))
def test_random_blocks(seed: int) -> None:
    """Blocks of sums, loads, stores and compares, on one side or both, do what they did."""
    pick = random.Random(seed)

    def block() -> list[str]:
        """A few instructions that read what is there in front of them."""
        there, lines = ["R10", "R11", "R300"], []
        for at in range(pick.randint(1, 6)):
            new = pick.choice(["R300", "R301", f"R{400 + 10 * pick.randint(0, 2) + at}"])
            kind = pick.randint(0, 5)
            if kind < 2:
                lines.append(f"    LDG {new}, R2:2, {4 * pick.randint(0, 3):#x}")
            elif kind == 2:
                lines.append(f"    STG R2:2, {4 * pick.randint(0, 3):#x}, {pick.choice(there)}")
                continue
            else:
                lines.append(f"    IADD3 {new}, {pick.choice(there)}, {pick.choice(there)}, {at:#x}")
            there.append(new)
        return lines

    lines = ["    MOV R300, 0x7", "    MOV R301, R11", "    ISETP{cmp=LT} P5, R10, R11"]
    if pick.random() < 0.5:
        lines += [f"    @{pick.choice(['', '!'])}P5 BRA bix2", "bix1:", *block(), "bix2:"]
    else:
        lines += ["    @P5 BRA bix2", "bix1:", *block(), "    BRA bix3", "bix2:", *block(), "bix3:"]
    done = after(predicate_short_blocks, [*lines, "    STG R2:2, 0x10, R300", "    STG R2:2, 0x14, R301"])
    assert not any(" BRA " in line for line in done), done


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_long_chains_stay_behind_their_branch(target: str) -> None:
    """With guards everybody would wait for what few need: reciprocals of small numbers are made in double precision."""
    text = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 out)
{{
  .reg .b64 %d<3>; .reg .f32 %f<3>;
  ld.param.u64 %d1, [out]; ld.global.f32 %f1, [%d1]; rcp.rn.f32 %f2, %f1; st.global.f32 [%d1], %f2;
  ret;
}}
"""
    ((f, _),) = compile_functions(text.format(target=target), CompileOptions(target))
    names = [op(f.op[i]).name for i in all_instructions(f)]
    doubles = [at for at, name in enumerate(names) if name.startswith("DFMA")]
    jumps = [at for at, name in enumerate(names) if name == "BRA"]
    assert doubles and any(at < doubles[0] for at in jumps)
