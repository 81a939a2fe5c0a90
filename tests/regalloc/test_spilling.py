"""Spilling by itself: a function does the same with registers in memory, seen by the interpreter."""

from __future__ import annotations

import random
from functools import cache

import pytest
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import Function, P, R
from oric.ir.interpret import Thread, difference
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import verify
from oric.phases.control import analyze_control_flow, set_control_flow_last
from oric.regalloc.spill import cheap, spill
from oric_tables import op

from tests import campaigns
from tests.ir.functions import context
from tests.phases.test_optimize import Generator

SEEDS = range(6)


@cache
def stack() -> int:
    """A place of bank 0 whose word, of those that the interpreter draws, may be the top of a stack with every seed."""
    for offset in range(0x400, 0x4000, 4):
        f: Function = read("entry test sm_90 final_flow\nbix0:\n    EXIT\n", target="sm_90")
        cursor = Cursor(f)
        cursor.at_start(0)
        cursor.make2(op.MOV, opd.reg(f.new_reg(R)), opd.const_bank(0, offset))
        cursor.make(op.STS)
        for operand in (opd.RZ_OPERAND, opd.RZ_OPERAND, opd.reg(0)):
            cursor.put(operand)
        if all(0x1000 < thread.events[0][-1] < 0xFFFFF000 for thread in threads(f)):
            return offset
    raise AssertionError("no word is one")


def threads(f: Function) -> list[Thread]:
    out = [Thread(f, seed) for seed in SEEDS]
    for thread in out:
        thread.run()
    return out


def check(f: Function, victims: list[int], repeated: dict[int, int]) -> tuple[int, int]:
    """Spill registers of a function and compare what it does; returns the bytes that are stored and loaded."""
    text, before = write(f), threads(f)
    done = spill(f, victims, repeated, stack())
    verify(f)
    for one, other in zip(before, threads(f), strict=True):
        assert not (found := difference(one, other)), f"{found}\n{text}\n{write(f)}"
    return done


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=60))
def test_random_functions(seed: int) -> None:
    generator = Generator(seed)
    f = generator.make()
    analyze_control_flow(f, context())
    set_control_flow_last(f, context())
    rng = random.Random(seed)
    victims = sorted(n for n in (*generator.many, *generator.pairs) if rng.random() < 0.6)
    again = cheap(f)
    repeated = {n: again[n] for n in victims if n in again and rng.random() < 0.7}
    check(f, victims, repeated)


def test_an_instruction_that_writes_its_own_guard() -> None:
    """What is stored behind it depends on the guard as it was."""
    f: Function = read("entry test sm_90 final_flow\nbix0:\n    EXIT\n", target="sm_90")
    cursor = Cursor(f)
    cursor.at_start(0)
    one, total, address = f.new_reg(R), f.new_reg(R), opd.reg(f.new_reg(R, 2), 0, 2)
    guard = f.new_reg(P)
    cursor.make2(op.MOV, opd.reg(total), f.imm(7))
    cursor.make2(op.MOV, opd.reg(one), opd.const_bank(0, 0x210))
    cursor.make(op.IADD3, 0, opd.reg(guard))
    for operand in (opd.reg(total), opd.reg(one), opd.reg(one), opd.RZ_OPERAND, opd.reg(guard)):
        cursor.put(operand)
    cursor.make(op.STG)
    for operand in (address, f.imm(4), opd.reg(total)):
        cursor.put(operand)
    verify(f)
    assert {bool(t.events) for t in threads(f)} == {True}
    stored, loaded = check(f, [total], {})
    assert stored == 8 and loaded >= 4
