"""Predicates in general registers, alone and as bits of one: a function does the same, seen by the interpreter."""

from __future__ import annotations

import random

import numpy as np
import oric
import pytest
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P
from oric.ir.interpret import difference
from oric.ir.text import write
from oric.ir.verify import verify
from oric.lower.expand import expand_control_flow, expand_rest, expand_sums
from oric.phases.control import analyze_control_flow, set_control_flow_last
from oric.regalloc.predicates import SHARED_BITS, SharedHomes, nonzero_mods, spill_predicates
from oric_tables.op import ISETP, LOP3, SEL
from oric_tables.ori_operands import KIND_BIT_SPILL

from tests import campaigns
from tests.ir.functions import context
from tests.phases.test_optimize import Generator

from .test_spilling import define, threads


def predicates(f: Function) -> list[int]:
    return [n for n in range(f.registers()) if f.reg_type[n] == P]


def generated(seed: int) -> Function:
    generator = Generator(seed)
    f: Function = generator.make()
    analyze_control_flow(f, context())
    set_control_flow_last(f, context())
    for expand in (expand_control_flow, expand_sums, expand_rest):
        expand(f, context())
    define(f, {*generator.many, *generator.pairs})
    cursor = Cursor(f)
    for p in predicates(f):  # those that nothing may have written have values of their own, too
        cursor.at_start(0)
        cursor.make(ISETP, nonzero_mods())
        for operand in (opd.reg(p), opd.RZ_OPERAND, opd.imm(p % 2)):
            cursor.put(operand)
    return f


@pytest.mark.parametrize("seed", campaigns.seeds(200, first=8))
def test_random_functions(seed: int) -> None:
    """They do the same with some predicates in registers, some of these as bits of shared ones: at first, later, no more."""
    f = generated(seed)
    rng = random.Random(seed)
    text, before = write(f), threads(f)
    homes: list[int] = []
    shared = SharedHomes()
    for _ in range(3):
        left = [p for p in predicates(f) if p not in homes]
        homes += spill_predicates(f, rng.sample(left, min(len(left), rng.randrange(4))))
        moved = rng.sample(homes, rng.randrange(len(homes) + 1)) if rng.random() < 0.7 else []
        if moved:
            homes = [home for home in homes if home not in moved]
            shared.move(f, moved)
        if rng.random() < 0.2:
            shared.give_back(f)
            assert not any(m == KIND_BIT_SPILL for i, m in f.attributes.marks.items() if f.block[i] != NONE)
        verify(f)
        for one, other in zip(before, threads(f), strict=True):
            assert not (found := difference(one, other)), f"{found}\n{text}\n{write(f)}"


def many(count: int) -> str:
    """As many predicates as asked for, kept through a loop that changes some of them."""
    body = f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry many(.param .u64 data)
{{
.reg .b32 %i, %v, %k; .reg .b64 %d<3>; .reg .pred %p<{count}>, %again;
ld.param.u64 %d1, [data]; mov.u32 %i, %tid.x; mov.u32 %v, 0; mov.u32 %k, 0;
mul.wide.u32 %d2, %i, 4; add.u64 %d1, %d1, %d2;
"""
    for n in range(count):
        body += f"setp.gt.u32 %p{n}, %i, {n};\n"
    body += "AGAIN:\n"
    for n in range(count):
        body += f"@%p{n} mad.lo.u32 %v, %v, 3, {n + 1};\n"
    for n in range(0, count, 2):
        body += f"@%p{(n + 1) % count} setp.lt.u32 %p{n}, %i, {n + 1};\n"
    body += "add.u32 %k, %k, 1; setp.lt.u32 %again, %k, 3; @%again bra AGAIN;\n"
    return body + "st.global.u32 [%d1], %v; ret;\n}\n"


def model(count: int) -> list[int]:
    out = []
    for i in range(32):
        p, v = [i > n for n in range(count)], 0
        for _ in range(3):
            for n in range(count):
                v = (3 * v + n + 1) % 2**32 if p[n] else v
            for n in range(0, count, 2):
                p[n] = i < n + 1 if p[(n + 1) % count] else p[n]
        out.append(v)
    return out


@pytest.mark.row("R4-06")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(("count", "limit"), [(9, 24), (20, 24), (28, 24), (50, 24), (80, 32), (50, None)])
def test_more_predicates_than_there_are(count: int, limit: int | None, level: int, arch: str) -> None:
    """They need no local memory: those that find no register of their own share one."""
    done = oric.compile(many(count), arch=arch, opt_level=level, maxrregcount=limit)
    assert done.kernels["many"].spills == (0, 0)
    data = np.zeros(32, np.uint32)
    modes = oric.sim.Modes(strict=True, memcheck=True)
    oric.sim.load(done.image).launch("many", grid=(1, 1, 1), block=(32, 1, 1), args=[data], modes=modes)
    assert data.tolist() == model(count)


def test_bits_of_one_register() -> None:
    """Two share one; what was for them alone is gone; a register has so many and no more."""
    f = generated(1)
    before = [f.op[i] for b in range(f.blocks()) for i in instructions(f, b)]
    SharedHomes().move(f, spill_predicates(f, predicates(f)[:2]))
    ops = [f.op[i] for b in range(f.blocks()) for i in instructions(f, b)]
    assert ops.count(SEL) == before.count(SEL)
    assert ops.count(LOP3) >= before.count(LOP3) + 4
    full = SharedHomes()
    full.move(f, spill_predicates(f, [f.new_reg(P) for _ in range(SHARED_BITS + 1)]))
    assert full.bits == [SHARED_BITS, 1]


def instructions(f: Function, b: int) -> list[int]:
    out, i = [], f.head[b]
    while i != NONE:
        out.append(i)
        i = f.next[i]
    return out


def of_two_entries(count: int) -> str:
    """Predicates that are kept in different rounds of a loop with two entries, a part of it in front of where they are."""
    body = f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry many(.param .u64 data)
{{
.reg .b32 %i, %v, %k, %j; .reg .b64 %d<3>; .reg .pred %p<{count}>, %q;
ld.param.u64 %d1, [data]; mov.u32 %i, %tid.x; mov.u32 %v, 0; mov.u32 %k, 0;
mul.wide.u32 %d2, %i, 4; add.u64 %d1, %d1, %d2;
and.b32 %j, %i, 1; setp.eq.u32 %q, %j, 0; @%q bra SECOND;
FIRST: add.u32 %v, %v, 5;
SECOND: setp.ne.u32 %q, %k, 0; @%q bra LATER;
"""
    body += "".join(f"setp.gt.u32 %p{n}, %i, {n};\n" for n in range(0, count, 2))
    body += "bra NEXT;\nLATER: setp.ne.u32 %q, %k, 1; @%q bra USE;\n"
    body += "".join(f"setp.gt.u32 %p{n}, %i, {n};\n" for n in range(1, count, 2))
    body += "USE:\n" + "".join(f"@%p{n} mad.lo.u32 %v, %v, 3, {n + 1};\n" for n in range(count))
    body += "NEXT: add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 4; @%q bra FIRST;\n"
    return body + "st.global.u32 [%d1], %v; ret;\n}\n"


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("count", [9, 30, 50])
def test_a_loop_of_two_entries(count: int, level: int) -> None:
    """A shared register begins in front of it, not in a part that runs again."""
    want = []
    for i in range(32):
        v = 0
        for k in range(4):
            v += 5 if k or i & 1 else 0
            for n in range(count if k else 0):
                v = 3 * v + n + 1 if i > n else v
        want.append(v % 2**32)
    data = np.zeros(32, np.uint32)
    image = oric.compile(of_two_entries(count), arch="sm_80", opt_level=level, maxrregcount=24).image
    modes = oric.sim.Modes(strict=True, memcheck=True)
    oric.sim.load(image).launch("many", grid=(1, 1, 1), block=(32, 1, 1), args=[data], modes=modes)
    assert data.tolist() == want
