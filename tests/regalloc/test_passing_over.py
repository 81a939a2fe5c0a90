"""Registers that allocation passes over, predicates that are reserved, uniform registers that a target does not have."""

from __future__ import annotations

import pytest
from oric.ir import operand as opd
from oric.ir.function import B, Function, P
from oric.ir.read import read
from oric.ir.text import all_instructions, operands_of
from oric.phases.control import analyze_control_flow
from oric.regalloc.allocate import OutOfRegisters, allocate_registers, limits_of
from oric.regalloc.passing_over import passed_over
from oric.regalloc.spill import may_be_spilled
from oric_tables.registers import FLAG_FIXED, FLAG_SPILLED, PREDICATES, UNIFORM_DISALLOWED

from tests import specification
from tests.ir.functions import context

MEETING = """
entry test sm_90 final_flow ssa
bix0:
    MOV R1, 0x1
    ISETP{cmp=LT} P0, R1, 0x4
    @P0 BRA bix2
bix1:
    MOV R2, 0x2
    BRA bix3
bix2:
    MOV R3, 0x3
bix3:
    MovPhi R4, R2, bix1, R3, bix2
    MovPhi R5, R1, bix1, R1, bix2
    STS R1, 0x0, R5
    EXIT
"""


def function(text: str) -> Function:
    f: Function = read(text, target="sm_90")
    analyze_control_flow(f, context())
    return f


@pytest.mark.row("R4-21")
def test_three_reasons() -> None:
    """Fixed, what a MovPhi makes of barriers, excluded. General registers that meet are allocated and spilled; barriers
    meet nowhere in code of this compiler: one is made by hand."""
    f = function(MEETING)
    assert not any(passed_over(f)) and all(may_be_spilled(f)[n] for n in (1, 4, 5))
    f.reg_type[4] = B
    assert [n for n, skipped in enumerate(passed_over(f)) if skipped] == [4]
    assert may_be_spilled(f)[5] and not may_be_spilled(f)[4]
    for flag in (FLAG_FIXED, FLAG_SPILLED):
        f.reg_flags[1] |= flag
        assert passed_over(f)[1] and not may_be_spilled(f)[1]
        f.reg_flags[1] &= ~flag
        assert may_be_spilled(f)[1]


def live_predicates(count: int) -> Function:
    """A function in which that many predicates are needed at once."""
    lines = ["entry test sm_90 final_flow", "bix0:", "    S2R R1, SR33"]
    lines += [f"    ISETP{{cmp=LT}} P{10 + n}, R1, {hex(n)}" for n in range(count)]
    lines += [f"    @P{10 + n} STS R1, {hex(4 * n)}, R1" for n in range(count)]
    return function("\n".join([*lines, "    EXIT", ""]))


@pytest.mark.row("R4-20")
@pytest.mark.parametrize("count", [1, 3, 7, 8, 12])
def test_only_what_is_reserved_is_passed_over(count: int) -> None:
    """PT (41) is never given away, P0 to P2 are, otherwise than documented: real code has them."""
    rows = {row["register"]: row["used"] for row in specification.spec().load("registers.yaml")["architectural"]}
    assert [name for name, used in rows.items() if used] == ["PT"] and not any(rows[f"P{n}"] for n in range(3))
    f = live_predicates(count)
    assert limits_of(f, context())[1] == PREDICATES == 7
    allocate_registers(f, context(level=0))
    used = {
        f.physical[operand & opd.INDEX]
        for i in all_instructions(f)
        for operand in (*operands_of(f, i), f.guard[i])
        if opd.is_register(operand) and f.reg_type[operand & opd.INDEX] == P
    }
    assert used == set(range(count)) if count <= PREDICATES else used <= set(range(PREDICATES))


@pytest.mark.row("R4-05")
def test_uniform_registers_that_there_are_not() -> None:
    """A target of the table without them, and an operand that can be nothing else."""
    f = function("entry test sm_90 final_flow\nbix0:\n    S2UR UR4, SR33\n    STS UR4, 0x0, R1\n    EXIT\n")
    ctx = context()
    without = specification.spec().load("sm_targets.yaml")["targets"]["sm_30"]["limits"]["uniform_regs"]
    ctx.target = ctx.target._replace(uniform_regs=without)
    with pytest.raises(OutOfRegisters, match=UNIFORM_DISALLOWED.replace("(%d)", r"\(1\)")):
        allocate_registers(f, ctx)
