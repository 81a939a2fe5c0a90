"""Functions in text, before and after a pass: they do the same, seen by the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from oric.ir.function import Function
from oric.ir.interpret import Thread, difference
from oric.ir.passes import PassFunction
from oric.ir.read import read
from oric.ir.text import all_instructions, format_instruction, write
from oric.ir.verify import verify
from oric.phases.control import analyze_control_flow

from tests.ir.functions import context

# R2:2 is the address of memory, of which R10 and R11 have the first words.
START = [
    "bix0:",
    "    MOV R2.0, c[0x0][0x210]",
    "    MOV R2.1, c[0x0][0x214]",
    "    LDG R10, R2:2, 0x0",
    "    LDG R11, R2:2, 0x4",
]


def threads(f: Function) -> list[Thread]:
    """What threads do in a function."""
    out = [Thread(f, seed) for seed in range(3)]
    for thread in out:
        thread.run()
    return out


def function(lines: list[str], target: str = "sm_90", head: Sequence[str] = ()) -> Function:
    """The function of lines behind ``START``; ``head``: what stands in front of the blocks."""
    f: Function = read("\n".join([f"entry test {target} final_flow", *head, *START, *lines, "    EXIT"]) + "\n", target=target)
    analyze_control_flow(f, context(target))
    return f


def after(
    run: PassFunction, lines: list[str], joins_stores: bool = False, target: str = "sm_90", head: Sequence[str] = ()
) -> list[str]:
    """What a pass makes of a function, which does what it did; without the loads of its start."""
    f = function(lines, target, head)
    text, before = write(f), threads(f)
    run(f, context(target))
    verify(f)
    for one, other in zip(before, threads(f), strict=True):
        assert not (found := difference(one, other, scheduled=joins_stores)), f"{found}\n{text}\n{write(f)}"
    return [format_instruction(f, i) for i in all_instructions(f)][len(START) - 1 :]
