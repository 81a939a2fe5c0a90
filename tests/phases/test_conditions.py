"""Phase 65: comparisons with a second condition, logic functions that say themselves whether they are zero."""

from __future__ import annotations

import itertools
import random

import numpy as np
import oric
import pytest
from oric.phases.conditions import join_conditions
from oric.sim import Modes

from tests import campaigns
from tests.phases.ori import after

SIGNS = ("", "!")


def joined(lines: list[str]) -> list[str]:
    """What becomes of a function, which does what it did."""
    return after(join_conditions, lines)


TWO = ["    ISETP{cmp=LT} P500, R10, R11", "    ISETP{cmp=GT sign=U32} P501, R10, 0x9"]
STORE = ["    @P502 STG R2:2, 0x100, R10"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("table", range(256))
def test_every_function_of_two(table: int) -> None:
    """Signs of the sources and the constant third one change the table."""
    for one, other, last in itertools.product(SIGNS, SIGNS, ("PT", "!PT")):
        joined([*TWO, f"    PLOP3{{lut={hex(table)}}} P502, {one}P500, {other}P501, {last}", *STORE])


@pytest.mark.parametrize(
    ("table", "one", "other"), [(0xC0, "", ""), (0xC0, "", "!"), (0xFC, "", ""), (0xFC, "", "!"), (0x30, "", "")]
)
def test_one_comparison_less(table: int, one: str, other: str) -> None:
    found = joined([*TWO, f"    PLOP3{{lut={hex(table)}}} P502, {one}P500, {other}P501, PT", *STORE])
    assert not any("PLOP3" in line for line in found)
    assert len(found) == 4


@pytest.mark.parametrize("compare_", ["ISETP{cmp=LE}", "FSETP{cmp=LTU}", "FSETP{cmp=NE ftz=true}"])
def test_what_is_read_elsewhere_is_made_twice(compare_: str) -> None:
    lines = [f"    {compare_} P500, R10, R11", "    LDG R12, R2:2, 0x8", "    ISETP{cmp=NE} P503, R12, 0x0"]
    lines += ["    PLOP3{lut=0xc0} P502, P500, P503, PT", "    @P500 STG R2:2, 0x104, R10", "    @P503 STG R2:2, 0x108, R10"]
    found = joined([*lines, *STORE])
    assert not any("PLOP3" in line for line in found)
    assert len(found) == len(lines) + 3 - 1


STAYS = {
    "a_register_that_changes": [TWO[0], TWO[1], "    IADD3 R10, R10, 0x1, RZ", "    IADD3 R11, R11, 0x1, RZ"],
    "another_one_for_some": [*TWO, "    @P501 ISETP{cmp=EQ} P500, R10, 0x3", "    @P500 ISETP{cmp=EQ} P501, R10, 0x3"],
    "second_conditions": ["    ISETP{cmp=EQ} P505, R11, 0x0", TWO[0] + ", PT, P505", TWO[1] + ", PT, P505"],
}


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    found = joined([*lines, "    PLOP3{lut=0xc0} P502, P500, P501, PT", *STORE])
    assert any("PLOP3" in line for line in found)


def test_no_comparison_goes_into_a_loop() -> None:
    lines = [*TWO, "    MOV R4, RZ", "bix1:", "    PLOP3{lut=0xc0} P502, P500, P501, PT", "    @P502 STG R2:2, 0x100, R4"]
    lines += ["    IADD3 R4, R4, 0x1, RZ", "    ISETP{cmp=LT} P503, R4, 0x4", "    @P503 BRA bix1", "bix2:"]
    assert any("PLOP3" in line for line in joined(lines))


def test_no_comparison_of_the_round_before() -> None:
    """What the register holds is new; the comparison is not made in each round."""
    lines = [
        "    MOV R4, RZ",
        "    ISETP{cmp=LT} P504, R10, 0x0",
        "bix1:",
        "    ISETP{cmp=EQ} P501, R4, 0x0",
        "    @P501 BRA bix3",
        "bix2:",
    ]
    lines += [
        "    ISETP{cmp=LT} P500, R12, R11",
        "bix3:",
        "    IADD3 R12, R4, R10, RZ",
        "    PLOP3{lut=0xc0} P502, P500, P504, PT",
    ]
    lines += [
        "    @!P501 STG R2:2, 0x100, R4",
        "    IADD3 R4, R4, 0x1, RZ",
        "    ISETP{cmp=LT} P503, R4, 0x4",
        "    @P503 BRA bix1",
    ]
    found = joined([*lines, "bix4:", "    SEL R13, R10, R11, P502", "    STG R2:2, 0x104, R13"])
    assert sum("ISETP{cmp=LT} P500" in line for line in found) == 1


TESTS = [f"{cmp} {other}".strip() for cmp in ("NE", "EQ") for other in ("", "AND P501", "AND !P501", "OR P501", "OR !P501")]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("function", ["LOP3{lut=0xc0} R12, R10, 0x1, RZ", "LOP3{lut=0x96} R12, R10, R11, R10"])
def test_a_function_is_tested_as_it_is_made(function: str, test: str) -> None:
    cmp, *other = test.split()
    bop = f" bop={other[0]}" if other else ""
    second = f", PT, {other[1]}" if other else ""
    lines = [TWO[1], f"    {function}", f"    ISETP{{cmp={cmp} sign=U32{bop}}} P502, R12, RZ{second}"]
    lines += [*STORE, "    SEL R13, R10, R11, !P502", "    STG R2:2, 0x104, R13", "    @P501 STG R2:2, 0x108, R10"]
    found = joined(lines)
    assert sum("ISETP" in line for line in found) == 1
    assert len(found) == len(lines)
    assert sum("LOP3" in line for line in found) == 1


NOT_TESTED = {
    "read_elsewhere": ["    LOP3{lut=0xc0} R12, R10, 0x1, RZ", "    STG R2:2, 0x110, R12"],
    "made_for_some": ["    MOV R12, 0x1", TWO[1], "    @P501 LOP3{lut=0xc0} R12, R10, 0x1, RZ"],
    "changed": ["    LOP3{lut=0xc0} R12, R10, 0x1, RZ", "    IADD3 R10, R10, 0x1, RZ"],
    "another_number": ["    IADD3 R12, R10, 0x1, RZ"],
}


@pytest.mark.parametrize("lines", NOT_TESTED.values(), ids=NOT_TESTED)
def test_what_is_compared(lines: list[str]) -> None:
    found = joined([*lines, "    ISETP{cmp=EQ sign=U32} P502, R12, RZ", *STORE])
    assert any("ISETP{sign=U32 cmp=EQ} P502" in line or "ISETP{cmp=EQ sign=U32} P502" in line for line in found), found


def test_a_predicate_of_two_comparisons_keeps_its_sign() -> None:
    lines = ["    LOP3{lut=0xc0} R12, R10, 0x1, RZ", "    ISETP{cmp=EQ sign=U32} P502, R12, RZ", TWO[1]]
    found = joined([*lines, "    @P501 ISETP{cmp=LT} P502, R11, 0x7", *STORE])
    assert sum("ISETP" in line for line in found) == 3


class Program:
    """Random code: comparisons, what combines them, tests of bits, in blocks and a loop."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.values, self.predicates = [10, 11], [500]
        self.next, self.next_predicate = 40, 501
        self.lines = ["    ISETP{cmp=LT} P500, R10, R11", "    MOV R4, RZ"]

    def make(self) -> list[str]:
        self.some(14)
        self.lines.append("bix1:")
        self.values.append(4)
        self.some(8)
        kept = list(self.values), list(self.predicates)
        self.lines += [f"    @P{self.rng.choice(self.predicates)} BRA bix3", "bix2:"]
        self.some(8)
        self.values, self.predicates = kept
        self.lines.append("bix3:")
        self.some(6)
        self.lines += ["    IADD3 R4, R4, 0x1, RZ", "    ISETP{cmp=LT} P900, R4, 0x3", "    @P900 BRA bix1", "bix4:"]
        self.some(6)
        return self.lines

    def some(self, count: int) -> None:
        for _ in range(count):
            self.rng.choice((self.value, self.compare, self.compare, self.combine, self.combine, self.read))()

    def sign(self) -> str:
        return self.rng.choice(("", "", "!"))

    def value(self) -> None:
        one, other = (self.rng.choice(self.values) for _ in range(2))
        forms = ["IADD3 R{n}, R{a}, R{b}, RZ", "LOP3{{lut=0xc0}} R{n}, R{a}, {k}, RZ", "LOP3{{lut=0x6a}} R{n}, R{a}, R{b}, R{a}"]
        if self.rng.random() < 0.2:
            forms = ["IADD3 R{a}, R{a}, {k}, RZ"]
        self.lines.append("    " + self.rng.choice(forms).format(n=self.next, a=one, b=other, k=hex(self.rng.randrange(1, 9))))
        if "R40" in self.lines[-1] or f"R{self.next}," in self.lines[-1]:
            self.values.append(self.next)
            self.next += 1

    def compare(self) -> None:
        one, other = (self.rng.choice(self.values) for _ in range(2))
        form = self.rng.choice(("ISETP{{cmp={c}}}", "ISETP{{cmp={c} sign=U32}}", "FSETP{{cmp={c}}}")).format(
            c=self.rng.choice(("LT", "NE", "EQ", "GE"))
        )
        second = self.rng.choice((f"R{other}", "RZ", "RZ"))
        guard = f"@{self.sign()}P{self.rng.choice(self.predicates)} " if self.rng.random() < 0.1 else ""
        target = self.rng.choice(self.predicates) if guard else self.next_predicate
        if self.rng.random() < 0.4:
            self.lines.append(f"    LOP3{{lut=0xc0}} R{self.next}, R{one}, {hex(self.rng.randrange(1, 9))}, RZ")
            one, second = self.next, "RZ"
            self.next += 1
        self.lines.append(f"    {guard}{form} P{target}, R{one}, {second}")
        if not guard:
            self.predicates.append(self.next_predicate)
            self.next_predicate += 1

    def combine(self) -> None:
        one, other = (self.rng.choice(self.predicates) for _ in range(2))
        table = self.rng.choice(("0xc0", "0xfc", "0x30", "0x3c", "0xf3"))
        self.lines.append(f"    PLOP3{{lut={table}}} P{self.next_predicate}, {self.sign()}P{one}, {self.sign()}P{other}, PT")
        self.predicates.append(self.next_predicate)
        self.next_predicate += 1

    def read(self) -> None:
        p, place = self.rng.choice(self.predicates), hex(4 * self.rng.randrange(64, 128))
        if self.rng.random() < 0.5:
            self.lines.append(f"    @{self.sign()}P{p} STG R2:2, {place}, R{self.rng.choice(self.values)}")
        else:
            self.lines += [f"    SEL R{self.next}, R10, R11, {self.sign()}P{p}", f"    STG R2:2, {place}, R{self.next}"]
            self.next += 1


@pytest.mark.parametrize("seed", campaigns.seeds(800, first=40))
def test_random_functions(seed: int) -> None:
    joined(Program(seed).make())


def test_random_functions_have_such_conditions() -> None:
    found = [joined(Program(seed).make()) for seed in range(20)]
    before = [Program(seed).make() for seed in range(20)]
    assert combinations(found) < combinations(before) / 2
    assert sum("LOP3" in line and ", P" in line and "PLOP3" not in line for lines in found for line in lines) > 3


def combinations(functions: list[list[str]]) -> int:
    return sum("PLOP3" in line for lines in functions for line in lines)


KNOWN = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o)
{{
  .reg .b32 %a, %b, %c, %t, %z; .reg .b64 %d, %x; .reg .f32 %f, %g; .reg .pred %k, %p, %q, %r;
  ld.param.u64 %d, [o]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 16; add.s64 %d, %d, %x; ld.global.v2.u32 {{%a, %b}}, [%d];
  cvt.rn.f32.u32 %f, %a; cvt.rn.f32.u32 %g, %b; mov.u32 %z, 3; setp.{known} %k, %z, 3; setp.gt.u32 %q, %t, 15;
  setp.{compare}.{how} %p, {sides}, {sign}%k; {join}.pred %r, %p, %q; selp.u32 %c, 1, 0, %r; st.global.u32 [%d+8], %c; ret;
}}
"""


@pytest.mark.parametrize("sign", ["", "!"])
@pytest.mark.parametrize("how", ["and", "or", "xor"])
@pytest.mark.parametrize("known", ["eq.u32", "ne.u32"])
@pytest.mark.parametrize(("compare", "sides"), [("le.u32", "%a, %b"), ("lt.f32", "%f, %g")])
def test_a_second_condition_that_is_known(compare: str, sides: str, known: str, how: str, sign: str) -> None:
    """A comparison whose second condition became known is none without one: with OR it is decided, with XOR turned round."""
    rng = np.random.default_rng(11)
    given = rng.integers(0, 3, (32, 4), dtype=np.uint32)
    for join in ("or", "and", "xor"):
        text = KNOWN.format(known=known, compare=compare, how=how, sides=sides, sign=sign, join=join)
        results = []
        for level in (0, 1, 3):
            memory = given.copy()
            image = oric.compile(text, arch="sm_90", opt_level=level).image
            done = oric.sim.load(image).launch("k", grid=1, block=32, args=[memory.reshape(-1)], modes=Modes(strict=True))
            assert not done.reports
            results.append(memory[:, 2].tolist())
        assert results[1] == results[0] == results[2], join
