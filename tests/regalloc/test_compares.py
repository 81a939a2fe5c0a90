"""Predicates that are made again where they are read: a function does the same, seen by the interpreter, and fewer are live."""

from __future__ import annotations

import random

import pytest
from oric.ir import machine
from oric.ir.function import Function
from oric.ir.read import read
from oric.ir.text import all_instructions, format_instruction
from oric.phases.control import analyze_control_flow
from oric.regalloc.compares import choose_compares

from tests import campaigns
from tests.ir.functions import context
from tests.regalloc.test_spilling import code_of, compare, threads, write

FEW = 3
START = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG R10, R2:2, 0x0", "    LDG R11, R2:2, 0x4"]


def made(lines: list[str]) -> Function:
    f: Function = read("\n".join(["entry test sm_90 final_flow", *lines, "    EXIT"]) + "\n", target="sm_90")
    analyze_control_flow(f, context())
    return f


def repeated(f: Function, limit: int = FEW) -> int:
    """How many predicates were made again; the function does what it did."""
    text, before = write(f), threads(f)
    view = machine.load(f, context().target.isa, context().target.uniform_regs)
    chosen = choose_compares(f, view, limit)
    del view
    if chosen is None:
        return 0
    chosen.repeat()
    compare(f, before, text)
    return len(chosen.victims)


def texts(f: Function) -> list[str]:
    return [format_instruction(f, i) for i in all_instructions(f)]


class Program:
    """Random code with many predicates: a loop with a branch in it, and what is around them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.values = [10, 11]
        self.predicates: list[int] = []
        self.next = 40
        self.next_predicate = 500

    def make(self) -> Function:
        """The function; every predicate is read somewhere, most of them late."""
        self.lines = ["bix0:", *START, "    MOV R4, RZ"]
        self.some(24)
        self.lines.append("bix1:")
        self.values.append(4)
        self.some(10)
        values, predicates = list(self.values), list(self.predicates)
        self.lines += [f"    ISETP{{cmp=GE}} P901, R{self.rng.choice(self.values)}, 0x5", "    @P901 BRA bix3", "bix2:"]
        self.some(8)
        self.read(self.rng.sample(self.predicates, min(4, len(self.predicates))))
        self.values, self.predicates = values, predicates
        self.lines.append("bix3:")
        self.some(5)
        self.lines += ["    IADD3 R4, R4, 0x1, RZ", "    ISETP{cmp=LT} P900, R4, 0x3", "    @P900 BRA bix1", "bix4:"]
        self.values.remove(4)
        self.some(6)
        self.read(self.rng.sample(self.predicates, len(self.predicates)))
        return made(self.lines)

    def some(self, count: int) -> None:
        for _ in range(count):
            if self.rng.random() < 0.3:
                self.value()
            else:
                self.predicate()
            if self.predicates and self.rng.random() < 0.2:
                self.read([self.rng.choice(self.predicates)])

    def value(self) -> None:
        one, other = (self.rng.choice(self.values) for _ in range(2))
        forms = [f"IADD3 R{self.next}, R{one}, R{other}, RZ", f"LOP3{{lut=0x96}} R{self.next}, R{one}, R{other}, R{one}"]
        self.lines.append(f"    {self.rng.choice(forms)}")
        if self.predicates and self.rng.random() < 0.3:
            self.lines.append(f"    @P{self.rng.choice(self.predicates)} MOV R{self.next}, {hex(self.rng.randrange(99))}")
        self.values.append(self.next)
        self.next += 1

    def predicate(self) -> None:
        new = f"P{self.next_predicate}"
        one, other = (self.rng.choice(self.values) for _ in range(2))
        forms = [
            f"ISETP{{cmp=LT}} {new}, R{one}, R{other}",
            f"ISETP{{cmp=GT sign=U32}} {new}, R{one}, {hex(self.rng.randrange(99))}",
            f"FSETP{{cmp=LT}} {new}, R{one}, R{other}",
        ]
        if len(self.predicates) > 1:
            p, q = (self.rng.choice(self.predicates) for _ in range(2))
            forms += [f"PLOP3{{lut=0xc0}} {new}, P{p}, P{q}, PT"] * 2
        self.lines.append(f"    {self.rng.choice(forms)}")
        if self.predicates and self.rng.random() < 0.1:
            self.lines.append(f"    @P{self.rng.choice(self.predicates)} ISETP{{cmp=GE}} {new}, R{one}, 0x7")
        self.predicates.append(self.next_predicate)
        self.next_predicate += 1

    def read(self, predicates: list[int]) -> None:
        for p in predicates:
            place = hex(4 * self.rng.randrange(64, 128))
            if self.rng.random() < 0.5:
                self.lines.append(f"    @{self.rng.choice(('', '!'))}P{p} STG R2:2, {place}, R{self.rng.choice(self.values)}")
            else:
                self.lines += [f"    SEL R{self.next}, R10, R11, P{p}", f"    STG R2:2, {place}, R{self.next}"]
                self.next += 1


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=20))
def test_random_functions(seed: int) -> None:
    f = Program(seed).make()
    for limit in (6, 2):
        repeated(f, limit)


def test_random_functions_have_predicates_that_are_made_again() -> None:
    found = [repeated(Program(seed).make(), 4) for seed in range(30)]
    assert sum(count > 0 for count in found) > 20
    assert max(found) > 3


def crowd(body: list[str], reads: list[str]) -> Function:
    """Predicates of ``body``, more others than there is room for, and what reads all of them."""
    others = [f"    ISETP{{cmp=LT}} P{540 + n}, R{60 + n}, R{61 + n}" for n in range(4)]
    loads = [f"    LDG R{60 + n}, R2:2, {hex(0x10 + 4 * n)}" for n in range(5)]
    stores = [f"    @P{540 + n} STG R2:2, {hex(0x100 + 4 * n)}, R10" for n in range(4)]
    return made(["bix0:", *START, *loads, *body, *others, *stores, *reads])


def test_a_compare_goes_to_its_reader() -> None:
    f = crowd(["    ISETP{cmp=LT} P500, R10, 0x5"], ["    @P500 STG R2:2, 0x200, R10"])
    assert repeated(f) > 0
    found = texts(f)
    assert "ISETP" in found[-3] and "STG" in found[-2], found
    assert sum(line.startswith("ISETP") for line in found) == 5


def test_a_compare_goes_with_the_sum_that_it_is_part_of() -> None:
    """The other one is read behind it anyway."""
    body = ["    ISETP{cmp=LT} P500, R10, 0x5", "    ISETP{cmp=GT} P501, R10, 0x9", "    PLOP3{lut=0xc0} P502, P500, P501, PT"]
    f = crowd(body, ["    @P502 STG R2:2, 0x200, R10", "    @P501 STG R2:2, 0x204, R10", "    @P501 STG R2:2, 0x208, R10"])
    assert repeated(f, 4) > 0
    found = texts(f)
    sums = [n for n, line in enumerate(found) if line.startswith("PLOP3")]
    assert len(sums) == 1
    assert found[sums[0] - 1].startswith("ISETP")
    assert "STG R2:2, 0x200" in found[sums[0] + 1]


@pytest.mark.parametrize(
    "body",
    [
        ["    ISETP{cmp=LT} P500, R10, 0x5", "    IADD3 R10, R10, 0x1, RZ"],  # of what is another one since
        ["    ISETP{cmp=LT} P500, R10, 0x5", "    @P540 ISETP{cmp=LT} P500, R10, 0x6"],  # another one, for some threads
        ["    IADD3 R12, R10, R11, RZ, P500", "    STG R2:2, 0x220, R12"],  # of what makes more than that
        [
            "    LDG R20, R2:2, 0x40",
            "    LDG R21, R2:2, 0x44",
            "    ISETP{cmp=LT} P500, R20, R21",
        ],  # of two that wait in its place
    ],
)
def test_what_stays_where_it_is(body: list[str]) -> None:
    f = crowd(body, ["    @P500 STG R2:2, 0x200, R11"])
    text = texts(f)
    repeated(f)
    assert [line for line in texts(f) if "P500" in line] == [line for line in text if "P500" in line]


def test_readers_that_the_compare_does_not_always_reach() -> None:
    """What such a predicate is then, nobody has said; it is left to whoever spills."""
    lines = [
        "bix0:",
        *START,
        "    ISETP{cmp=LT} P501, R10, R11",
        "    @P501 BRA bix2",
        "bix1:",
        "    ISETP{cmp=LT} P500, R10, 0x5",
        "bix2:",
    ]
    f = made([*lines, "    @P500 STG R2:2, 0x200, R10"])
    assert repeated(f, 0) == 0


def test_in_a_loop_that_makes_its_source_anew() -> None:
    """The predicate of the round before is read before the compare."""
    lines = ["bix0:", *START, "    MOV R4, RZ", "    ISETP{cmp=LT} P500, R10, 0x5", "bix1:", "    @P500 STG R2:2, 0x200, R4"]
    lines += ["    IADD3 R12, R4, R10, RZ", "    ISETP{cmp=LT} P500, R12, 0x8", "    IADD3 R4, R4, 0x1, RZ"]
    f = made([*lines, "    ISETP{cmp=LT} P502, R4, 0x4", "    @P502 BRA bix1", "bix2:"])
    repeated(f, 0)
    assert sum("P500" in line for line in texts(f)) == 3


def test_nothing_where_there_is_room() -> None:
    f = crowd(["    ISETP{cmp=LT} P500, R10, 0x5"], ["    @P500 STG R2:2, 0x200, R10"])
    text = texts(f)
    assert repeated(f, 7) == 0
    assert texts(f) == text


def test_readers_find_fewer_live() -> None:
    f = Program(5).make()
    _, before = code_of(f)
    assert repeated(f, 5)
    _, peak = code_of(f)
    assert peak[1] < before[1]


def test_what_many_are_made_of_may_live_longer() -> None:
    """The condition that all have in common is read at the end of the code, and neither kept in their place nor made again."""
    values = [f"    LDG R{70 + n}, R2:2, {hex(0x40 + 4 * n)}" for n in range(8)]
    uses = [f"    STG R2:2, {hex(0x300 + 4 * n)}, R{70 + n}" for n in range(8)]
    body = ["    ISETP{cmp=LT} P500, R10, R11"]
    for n in range(8):
        body += [f"    ISETP{{cmp=LT}} P{600 + n}, R{70 + n}, 0x5", f"    PLOP3{{lut=0xc0}} P{620 + n}, P500, P{600 + n}, PT"]
    stores = [f"    @P{620 + n} STG R2:2, {hex(0x400 + 4 * n)}, R{70 + n}" for n in range(8)]
    f = made(["bix0:", *START, *values, *body, *uses, *stores])
    assert repeated(f, 6) > 0
    found = texts(f)
    assert sum("P500" in line for line in found) == 9
    assert sum(line.startswith("ISETP") for line in found) == 9
