"""Registers that are made again of others: a function does the same, seen by the interpreter, and has less to spill."""

from __future__ import annotations

import random

import pytest
from oric.ir.function import Function
from oric.ir.read import read
from oric.ir.text import all_instructions, format_instruction
from oric.phases.control import analyze_control_flow
from oric.regalloc.remake import remake

from tests import campaigns
from tests.ir.functions import context
from tests.regalloc.test_spilling import code_of, compare, threads, write

ROUNDS = 3


def remade(f: Function, limit: int) -> int:
    """Make registers again for a limit, and compare what a function does each time; how often there were some."""
    text, before = write(f), threads(f)
    for turn in range(ROUNDS):
        code, _ = code_of(f)
        if not remake(f, code, [limit] * f.blocks()):
            return turn
        compare(f, before, text)
    return ROUNDS


class Program:
    """Random code in which nearly every register has one definition: a loop with a branch in it, and what is around them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.known: list[int] = []
        self.next = 40

    def make(self) -> Function:
        """The function; every value is stored somewhere, most of them late."""
        entry = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    MOV R4, RZ"]
        self.lines = ["entry test sm_90 final_flow", "bix0:", *entry, *(f"    LDG R{n}, R2:2, {hex(4 * n)}" for n in (5, 6, 7))]
        self.known = [5, 6, 7]
        self.some(10)
        self.lines.append("bix1:")
        self.known.append(4)
        self.some(8)
        outside, before = list(self.known), self.rng.choice(self.known)
        self.lines += [f"    ISETP{{cmp=GE}} P0, R{before}, 0x5", "    @P0 BRA bix3", "bix2:"]
        self.some(4)
        self.known, inside = outside, self.known
        self.store(self.rng.sample(inside, 3))
        self.lines.append("bix3:")
        self.some(3)
        self.lines += ["    IADD3 R4, R4, 0x1, RZ", "    ISETP{cmp=LT} P1, R4, 0x3", "    @P1 BRA bix1", "bix4:"]
        self.known.remove(4)
        self.some(6)
        self.store(self.rng.sample(self.known, len(self.known)))
        self.lines.append("    EXIT")
        f: Function = read("\n".join(self.lines) + "\n", target="sm_90")
        analyze_control_flow(f, context())
        return f

    def some(self, count: int) -> None:
        """Values of others."""
        for _ in range(count):
            one, other, third = (self.rng.choice(self.known) for _ in range(3))
            self.lines.append(
                self.rng.choice(
                    (
                        f"    IADD3 R{self.next}, R{one}, R{other}, RZ",
                        f"    IADD3 R{self.next}, R{one}, {hex(self.rng.randrange(99))}, RZ",
                        f"    LOP3{{lut=0x96}} R{self.next}, R{one}, R{other}, R{third}",
                        f"    FADD R{self.next}, |R{one}|, -RZ",
                        f"    MOV R{self.next}, R{one}",
                        f"    MOV R{self.next}, {hex(self.rng.randrange(99))}",
                        f"    LDG R{self.next}, R2:2, {hex(4 * self.rng.randrange(64))}",
                    )
                )
            )
            self.known.append(self.next)
            self.next += 1
            if self.rng.random() < 0.2:
                self.store([self.rng.choice(self.known)])

    def store(self, values: list[int]) -> None:
        """Something that can be seen."""
        self.lines += [f"    STG R2:2, {hex(4 * self.rng.randrange(64, 128))}, R{n}" for n in values]


@pytest.mark.parametrize("seed", campaigns.seeds(600, first=60))
def test_random_functions(seed: int) -> None:
    f = Program(seed).make()
    _, peak = code_of(f)
    remade(f, random.Random(seed).randrange(5, max(peak[0], 6)))


def test_random_functions_have_registers_that_are_made_again() -> None:
    """More often than once, in some of them."""
    found = [remade(Program(seed).make(), 12) for seed in range(30)]
    assert sum(turns > 0 for turns in found) > 20
    assert max(found) > 1


def waiting(body: list[str], reads: list[str]) -> Function:
    """Values of ``body``, many others that are live then, and what reads all of them."""
    others = [f"    LDG R{40 + n}, R2:2, {hex(4 * n)}" for n in range(12)]
    stores = [f"    STG R2:2, {hex(0x100 + 4 * n)}, R{40 + n}" for n in range(12)]
    first = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG R10, R2:2, 0x0"]
    rest = [f"    STG R2:2, {hex(0x200 + 4 * n)}, {name}" for n, name in enumerate(reads)]
    lines = ["entry test sm_90 final_flow", "bix0:", *first, *body, *others, *stores, *rest, "    EXIT"]
    f: Function = read("\n".join(lines) + "\n", target="sm_90")
    analyze_control_flow(f, context())
    return f


def texts(f: Function) -> list[str]:
    return [format_instruction(f, i) for i in all_instructions(f)]


def test_a_value_of_one_that_is_there() -> None:
    """It is made behind what needs the registers, of the other one, and nothing is left to spill for it."""
    f = waiting(["    FADD R11, |R10|, -RZ"], ["R10", "R11", "R10"])
    assert remade(f, 15) >= 1
    found = texts(f)
    assert sum(line.startswith("FADD") for line in found) == 1
    assert next(n for n, line in enumerate(found) if line.startswith("FADD")) > next(
        n for n, line in enumerate(found) if line.startswith("STG")
    )


def test_a_value_of_one_that_is_gone_stays() -> None:
    f = waiting(["    FADD R11, |R10|, -RZ"], ["R11"])
    assert remade(f, 13) == 0


def test_a_value_of_one_that_changes_stays() -> None:
    f = waiting(["    FADD R11, |R10|, -RZ", "    IADD3 R10, R10, 0x1, RZ"], ["R10", "R11", "R10"])
    assert remade(f, 15) == 0


def test_what_reads_memory_stays() -> None:
    f = waiting(["    LDG R11, R2:2, 0x40"], ["R10", "R11", "R10"])
    assert remade(f, 15) == 0


def test_an_address_on_the_stack_is_made_of_constants() -> None:
    """Both instructions that make it of the top of the stack are one definition."""
    f = waiting(
        ["    MOV R11, c[0x0][0x28]", "    IADD3 R11, R11, 0xffffffe0, RZ", "    LOP3{lut=0xfc} R12, R11, 0x4, RZ"], ["R12"]
    )
    assert remade(f, 13) >= 1
    assert sum(line.startswith("LOP3") for line in texts(f)) == 1
