"""Registers that are made again of others: a function does the same, seen by the interpreter, and has less to spill."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from oric.ir.function import Function
from oric.ir.read import read
from oric.ir.text import all_instructions, format_instruction, instructions_of
from oric.phases.control import analyze_control_flow
from oric.regalloc.allocate import limits_of, make_room
from oric.regalloc.remake import remake
from oric_tables.phases import COMPLETE, REMAT_SECOND_MODE

from tests import campaigns
from tests.ir.functions import context
from tests.regalloc.test_spilling import code_of, compare, threads, write

ROUNDS = 3


def remade(f: Function, limit: int, across: bool = True) -> int:
    """Make registers again for a limit, and compare what a function does each time; how often there were some."""
    text, before = write(f), threads(f)
    for turn in range(ROUNDS):
        code, _ = code_of(f)
        if not remake(f, code, [limit] * f.blocks(), across):
            return turn
        compare(f, before, text)
    return ROUNDS


class Program:
    """Random code in which nearly every register has one definition: a loop with a branch in it, and what is around them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.known: list[int | str] = []
        self.made: list[str] = []
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
        self.lines += self.rng.sample(self.made, min(len(self.made), 3))  # the same once more, on one of the ways
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
            if self.rng.random() < 0.15:
                self.pair(one, other, third)
                continue
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
            if not any(word in self.lines[-1] for word in ("LDG", "MOV")):
                self.made.append(self.lines[-1])
            self.known.append(self.next)
            self.next += 1
            if self.rng.random() < 0.2:
                self.store([self.rng.choice(self.known)])

    def pair(self, one: int | str, other: int | str, third: int | str) -> None:
        """A sum of 64 bits, with its carry."""
        n, carry = self.next, f"P{self.next + 500}"
        self.lines.append(f"    IADD3 R{n}.0, R{one}, R{other}, RZ, {carry}")
        if self.rng.random() < 0.5:
            self.lines.append(f"    LDG R{n + 1}, R2:2, 0x8")
            self.known.append(n + 1)
        self.lines.append(f"    IADD3.X R{n}.1, R{third}, {hex(self.rng.randrange(9))}, RZ, _, _, {carry}")
        self.known += [f"{n}.0", f"{n}.1"]
        self.next += 2

    def store(self, values: Sequence[int | str]) -> None:
        """Something that can be seen."""
        self.lines += [f"    STG R2:2, {hex(4 * self.rng.randrange(64, 128))}, R{n}" for n in values]


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=15))
def test_random_functions(seed: int) -> None:
    f = Program(seed).make()
    _, peak = code_of(f)
    remade(f, random.Random(seed).randrange(5, max(peak[0], 6)))


@pytest.mark.row("R3-31")
@pytest.mark.parametrize("seed", range(12))
def test_random_functions_within_blocks(seed: int) -> None:
    """A register is only made again in the block that made it."""
    f = Program(seed).make()
    before = by_block(f)
    remade(f, 12, across=False)
    assert all(found <= before[b] for b, found in enumerate(by_block(f)))


def by_block(f: Function) -> list[set[int]]:
    """The operations of each block."""
    return [{f.op[i] for i in instructions_of(f, b)} for b in range(f.blocks())]


@pytest.mark.row("R3-31")
@pytest.mark.parametrize("across", [False, True])
def test_the_second_mode_waits_for_its_value(across: bool) -> None:
    """Across blocks, registers are made again when the counter of progress is above 4; within them, always."""

    def made(text: str, progress: int) -> int:
        body = ["    FADD R11, |R10|, -RZ", "    STG R2:2, 0x80, R11"]  # read in front of the barrier and behind
        f = waiting(body, ["R10", "R11", "R10"], parted=across, fenced=True)
        ctx = context(maxrregcount=16)
        ctx.progress = progress
        make_room(f, ctx, [15, *limits_of(f, ctx)[1:]], None)
        return ctx.stats.get(text, 0)

    found = [made("rounds of making registers again", progress) > 0 for progress in (0, REMAT_SECOND_MODE, 5, COMPLETE)]
    assert found == ([False, False, True, True] if across else [True] * 4)


def test_random_functions_have_registers_that_are_made_again() -> None:
    """More often than once, in some of them."""
    found = [remade(Program(seed).make(), 12) for seed in range(30)]
    assert sum(turns > 0 for turns in found) > 20
    assert max(found) > 1


def waiting(body: list[str], reads: list[str], parted: bool = False, fenced: bool = False) -> Function:
    """Values of ``body``, many others that are live then, and what reads all of them; ``parted``: in a block of its own;
    ``fenced``: behind a barrier."""
    others = [f"    LDG R{40 + n}, R2:2, {hex(4 * n)}" for n in range(12)]
    stores = [f"    STG R2:2, {hex(0x100 + 4 * n)}, R{40 + n}" for n in range(12)]
    first = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG R10, R2:2, 0x0"]
    rest = [f"    STG R2:2, {hex(0x200 + 4 * n)}, {name}" for n, name in enumerate(reads)]
    parts = [*body, *["bix1:"][: int(parted)], *others, *["    BAR.SYNC 0x0"][: int(fenced)], *stores, *rest]
    lines = ["entry test sm_90 final_flow", "bix0:", *first, *parts, "    EXIT"]
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


def test_a_sum_of_two_words_with_its_carry() -> None:
    """The carry is a predicate by itself each time; where somebody else reads it the sum stays."""
    body = ["    IADD3 R20.0, R10, 0x5, RZ, P500", "    IADD3.X R20.1, RZ, 0x3, RZ, _, _, P500"]
    f = waiting(body, ["R10", "R20.0", "R20.1", "R10"])
    assert remade(f, 15) == 1
    found = [text for text in texts(f) if "IADD3" in text]
    assert len(found) == 2 and "P500" not in found[0] + found[1]
    other = ["    SEL R30, R10, RZ, P500", "    STG R2:2, 0x300, R30"]
    assert remade(waiting([*body, *other], ["R10", "R20.0", "R20.1", "R10"]), 15) == 0


def diamond(first: str, second: str) -> Function:
    """R20 is made on both ways of a branch, and waits behind them."""
    others = [f"    LDG R{40 + n}, R2:2, {hex(4 * n)}" for n in range(12)]
    stores = [f"    STG R2:2, {hex(0x100 + 4 * n)}, R{40 + n}" for n in range(12)]
    start = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG R10, R2:2, 0x0", "    LDG R11, R2:2, 0x4"]
    lines = ["entry test sm_90 final_flow", "bix0:", *start, "    ISETP{cmp=LT} P0, R10, R11", "    @P0 BRA bix2"]
    lines += ["bix1:", f"    {first}", "    STG R2:2, 0x80, R20", "    BRA bix3", "bix2:", f"    {second}"]
    lines += ["bix3:", *others, *stores]
    lines += ["    STG R2:2, 0x200, R10", "    STG R2:2, 0x204, R20", "    STG R2:2, 0x208, R10", "    EXIT"]
    f: Function = read("\n".join(lines) + "\n", target="sm_90")
    analyze_control_flow(f, context())
    return f


def test_what_is_made_alike_on_two_ways() -> None:
    assert remade(diamond("IADD3 R20, R10, 0x5, RZ", "IADD3 R20, R10, 0x5, RZ"), 15) > 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("IADD3 R20, R10, 0x5, RZ", "IADD3 R20, R10, 0x6, RZ"),
        ("LDG R20, R2:2, 0x4", "LDG R20, R2:2, 0x4"),
        ("IADD3 R20, R10, 0x5, RZ", "@P0 IADD3 R20, R10, 0x5, RZ"),
        ("IADD3 R20, R10, 0x5, RZ", "IADD3 R20, R20, 0x5, RZ"),
    ],
)
def test_what_is_not_alike(first: str, second: str) -> None:
    f = diamond(first, second)
    remade(f, 15)
    assert sum(" R20, " in text and "STG" not in text for text in texts(f)) == 2
