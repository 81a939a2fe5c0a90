"""Spilling by itself: a function does the same with registers in memory, seen by the interpreter."""

from __future__ import annotations

import random
from functools import cache

import pytest
from oric.ir import machine
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import R2, Function, P, R
from oric.ir.interpret import Thread, difference
from oric.ir.read import read
from oric.ir.text import all_instructions, write
from oric.ir.verify import verify
from oric.lower.expand import expand_control_flow, expand_rest, expand_sums
from oric.phases.control import analyze_control_flow, set_control_flow_last
from oric.regalloc.residence import Code, is_general
from oric.regalloc.slots import share_slots
from oric.regalloc.spill import Memory, plan, spill
from oric_tables import op
from oric_tables._native import ffi, lib

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


def code_of(f: Function) -> tuple[Code, list[int]]:
    """What the plan is made of, and the largest numbers of live registers of every file."""
    target = context().target
    view = machine.load(f, target.isa, target.uniform_regs)
    peak = ffi.new("int32_t[5]")
    code = Code(f, view)
    assert lib.oric_pressure(view.fn, peak) == 0
    return code, list(peak)


def check(f: Function, limits: list[int]) -> bool:
    """Split registers of a function for one limit after another, then let slots share places, and compare what it does each time;
    whether anything was done.
    """
    text, before, memory, done = write(f), threads(f), Memory(), False
    for limit in limits:
        code, _ = code_of(f)
        made = plan(f, code, [limit] * f.blocks(), memory)
        if not made.returns():
            continue
        spill(f, made, memory, context().target._replace(bank0_stack=stack()))
        done = True
        compare(f, before, text)
    share_slots(f, memory)
    compare(f, before, text)
    return done


def compare(f: Function, before: list[Thread], text: str) -> None:
    verify(f)
    for one, other in zip(before, threads(f), strict=True):
        assert not (found := difference(one, other)), f"{found}\n{text}\n{write(f)}"


def define(f: Function, known: set[int]) -> None:
    """Give the general registers that nothing may have written values of their own."""
    cursor = Cursor(f)
    cursor.at_start(0)
    for n in range(f.registers()):
        for word in range(f.reg_size[n] if is_general(f, n) and n not in known else 0):
            cursor.make2(op.MOV, opd.reg(n, word), f.imm(1000 * n + word))


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=10))
def test_random_functions(seed: int) -> None:
    """They do the same in fewer registers, and need no more than there are where no instruction does."""
    generator = Generator(seed)
    f = generator.make()
    analyze_control_flow(f, context())
    set_control_flow_last(f, context())
    for expand in (expand_control_flow, expand_sums, expand_rest):
        expand(f, context())
    define(f, {*generator.many, *generator.pairs})
    _, peak = code_of(f)
    rng = random.Random(seed)
    limits = sorted((rng.randrange(10, max(peak[0], 11)) for _ in range(rng.choice((1, 2, 4)))), reverse=True)
    check(f, [*limits, limits[-1], limits[-1]])  # what is left of a life under a guard may seem longer than it was
    code, after = code_of(f)
    assert after[0] <= limits[-1] or code.cfg.reachable < f.blocks()


def test_an_instruction_that_writes_its_own_guard() -> None:
    """What is stored behind it depends on the guard as it was."""
    f: Function = read("entry test sm_90 final_flow\nbix0:\n    EXIT\n", target="sm_90")
    cursor = Cursor(f)
    cursor.at_start(0)
    one, total, other, address = f.new_reg(R), f.new_reg(R), f.new_reg(R), opd.reg(f.new_reg(R2, 2), 0, 2)
    guard = f.new_reg(P)
    cursor.make2(op.MOV, opd.reg(total), f.imm(7))
    cursor.make2(op.MOV, opd.reg(one), opd.const_bank(0, 0x210))
    cursor.make2(op.MOV, opd.reg(other), opd.reg(one))
    for word in range(2):
        cursor.make2(op.MOV, opd.with_span(opd.with_first(address, word), 0), opd.const_bank(0, 0x218 + 4 * word))
    cursor.make(op.IADD3, 0, opd.reg(guard))
    for operand in (opd.reg(total), opd.reg(one), opd.reg(one), opd.RZ_OPERAND, opd.reg(guard)):
        cursor.put(operand)
    for n in range(3):
        cursor.make(op.STG)
        for operand in (address, f.imm(4 * n), opd.reg(one)):
            cursor.put(operand)
    for n, register in enumerate((total, other)):
        cursor.make(op.STG)
        for operand in (address, f.imm(64 + 4 * n), opd.reg(register)):
            cursor.put(operand)
    verify(f)
    assert {bool(t.events) for t in threads(f)} == {True}
    assert check(f, [4])
    assert f.attributes.spill_stores >= 4


def test_a_word_comes_back_without_those_that_nobody_reads_there() -> None:
    """A vector that is brought back twice, each time for one of its words, is loaded a word each time."""

    def busy(first: int) -> list[str]:
        loads = [f"    LDG R{first + n}, R2:2, {hex(4 * n)}" for n in range(8)]
        return loads + [f"    STG R2:2, {hex(0x100 + 4 * n)}, R{first + n}" for n in range(8)]

    start = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG{size=128} R12:4, R2:2, 0x40"]
    body = [*busy(40), "    STG R2:2, 0x200, R12.1", *busy(50), "    STG R2:2, 0x204, R12.2"]
    f: Function = read("\n".join(["entry test sm_90 final_flow", "bix0:", *start, *body, "    EXIT"]) + "\n", target="sm_90")
    analyze_control_flow(f, context())
    assert check(f, [11])
    assert f.attributes.spill_loads == 8


def test_what_a_seldom_way_drives_out_comes_back_on_it() -> None:
    """Where the ways meet, those that had it in the file do not load it."""
    start = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG R60, R2:2, 0x80"]
    start += ["    ISETP{cmp=LT} P500, R60, 0x5"]
    start += [f"    LDG R{12 + n}, R2:2, {hex(4 * n)}" for n in range(6)]
    busy = [f"    LDG R{40 + n}, R2:2, {hex(4 * n)}" for n in range(8)]
    busy += [f"    STG R2:2, {hex(0x100 + 4 * n)}, R{40 + n}" for n in range(8)]
    ends = [f"    STG R2:2, {hex(0x200 + 4 * n)}, R{12 + n}" for n in range(6)]
    lines = ["bix0:", *start, "    @P500 BRA bix2", "bix1:", *busy, "bix2:", *ends, "    EXIT"]
    f: Function = read("\n".join(["entry test sm_90 final_flow", *lines]) + "\n", target="sm_90")
    analyze_control_flow(f, context())
    assert check(f, [11])
    loads = [int(f.block[i]) for i in all_instructions(f) if f.op[i] == op.LDL]
    assert loads
    assert set(loads) == {1}
