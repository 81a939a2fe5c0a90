"""Control-flow phases on random code: behaviour is checked by running it before and after. Single steps are cases in
``tests/ir/cases/control``."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import Function, P, R, control_flow
from oric.ir.read import read
from oric.ir.text import all_instructions, instructions_of
from oric.ir.verify import verify
from oric.phases.control import analyze_control_flow, set_control_flow_last, simplify_control_flow
from oric_tables import op

from tests.ir.functions import context


def trace(f: Function, choices: list[bool]) -> list[int]:
    """Values of the MOVs that are run, when predicate p is choices[(k + p) % n] after the k-th of them."""
    out: list[int] = []
    at = 0
    for _ in range(4000):
        if len(out) >= 60:
            break
        following = at + 1
        for i in instructions_of(f, at):
            taken = True
            if f.guard[i]:
                register = opd.index_of(f.guard[i])
                taken = choices[(len(out) + register) % len(choices)] ^ bool(f.guard[i] & opd.NEGATE)
            if f.op[i] == op.MOV:
                out.append(f.imm_value(f.get(i, 1)))
            elif f.op[i] == op.EXIT and taken:
                return out
            elif f.op[i] == op.BRA and taken:
                following = opd.index_of(f.get(i, 0))
                break
        at = following
    return out[:60]


def random_code(rng: random.Random) -> Function:
    f = Function("random", "sm_90")
    cursor = Cursor(f)
    for _ in range(4):
        f.new_reg(P)
    target = f.new_reg(R)
    n = rng.randint(2, 12)
    for number in range(n):
        cursor.at_end(cursor.new_block())
        if rng.random() < 0.55:
            cursor.make2(op.MOV, opd.reg(target), f.imm(number))
        kind = rng.random()
        guard = opd.reg(rng.randrange(4)) ^ (opd.NEGATE if rng.random() < 0.5 else 0)
        if number == n - 1 or kind < 0.12:
            cursor.make(op.EXIT, 0, 0 if number == n - 1 or rng.random() < 0.5 else guard)
        elif kind < 0.4:
            cursor.make1(op.BRA, opd.label(rng.randrange(n)))
        elif kind < 0.85:
            cursor.make1(op.BRA, opd.label(rng.randrange(n)), 0, guard)
    return f


def branches(f: Function) -> int:
    return sum(f.op[i] == op.BRA for i in all_instructions(f))


@pytest.mark.row("R1-07")
@pytest.mark.parametrize("seed", range(400))
def test_straightening_keeps_behaviour(seed: int) -> None:
    rng = random.Random(seed)
    f = random_code(rng)
    analyze_control_flow(f, context())
    set_control_flow_last(f, context())
    choices = [[rng.random() < 0.5 for _ in range(17)] for _ in range(4)]
    before = [trace(f, c) for c in choices]
    verify(f)
    jumps = branches(f)
    simplify_control_flow(f, context())
    verify(f)
    for expected, c in zip(before, choices, strict=True):
        got = trace(f, c)
        length = min(len(expected), len(got), 40)
        assert got[:length] == expected[:length] and (len(got) == len(expected) or length == 40)
    assert branches(f) <= jumps + 1


def test_two_ways_into_a_loop_are_no_natural_loop() -> None:
    f = read("""
        bix0:
            @P1 BRA bix3
        bix1:
            MOV R0, 0x1
            BRA bix3
        bix2:
            EXIT
        bix3:
            @!P1 BRA bix1
        bix4:
            EXIT
    """)
    loops = control_flow(f).loops()
    assert [loops.depth[b] for b in range(5)] == [0] * 5 and loops.irreducible
