"""Readers of registers that read copies of them: a function does the same, and what has two places has one then."""

from __future__ import annotations

import pytest
from oric.ir.function import Function
from oric.ir.read import read
from oric.phases.control import analyze_control_flow
from oric.regalloc.twins import join_twins

from tests import campaigns
from tests.ir.functions import context
from tests.regalloc.test_remake import Program, texts
from tests.regalloc.test_spilling import code_of, compare, threads, write


class Pairs(Program):
    """Random code with pairs that are copies of other registers, and copies of these."""

    def some(self, count: int) -> None:
        for _ in range(count):
            super().some(1)
            if self.rng.random() < 0.5:
                low, high = (self.rng.choice([n for n in self.known if n != 4] * 3 + [4]) for _ in range(2))
                self.lines += [f"    MOV R{self.next}.0, R{low}", f"    MOV R{self.next}.1, R{high}"]
                if self.rng.random() < 0.3:
                    self.lines.append(f"    MOV R{self.next + 1}, R{low}")
                    self.known.append(self.next + 1)
                self.lines.append(f"    STG{{size=64}} R2:2, {hex(8 * self.rng.randrange(32, 64))}, R{self.next}:2")
                self.next += 2


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=15))
def test_random_functions(seed: int) -> None:
    f = Pairs(seed).make()
    text, before = write(f), threads(f)
    join_twins(f, code_of(f)[0])
    compare(f, before, text)


def test_random_functions_have_twins() -> None:
    found = [join_twins(f, code_of(f)[0]) for f in (Pairs(seed).make() for seed in range(30))]
    assert sum(changed > 0 for changed in found) > 20


def function(*lines: str) -> Function:
    first = ["    MOV R2.0, c[0x0][0x210]", "    MOV R2.1, c[0x0][0x214]", "    LDG R10, R2:2, 0x0", "    LDG R11, R2:2, 0x4"]
    body = [line if line.endswith(":") else f"    {line}" for line in lines]
    f: Function = read("\n".join(["entry test sm_90 final_flow", "bix0:", *first, *body, "    EXIT"]) + "\n", target="sm_90")
    analyze_control_flow(f, context())
    return f


def joined(f: Function) -> list[str]:
    join_twins(f, code_of(f)[0])
    return texts(f)


PAIR = ("MOV R12.0, R10", "MOV R12.1, R11")
WHOLE = "STG{size=64} R2:2, 0x100, R12:2"


def test_what_is_read_while_the_copy_lives_is_the_copy() -> None:
    assert "STG R2:2, 0x80, R12.0" in joined(function(*PAIR, "STG R2:2, 0x80, R10", WHOLE))


def test_all_words_of_a_register_that_end_together_are_its_words() -> None:
    found = joined(function(*PAIR, WHOLE, "STG R2:2, 0x80, R10", "STG R2:2, 0x84, R11"))
    assert {"STG R2:2, 0x80, R12.0", "STG R2:2, 0x84, R12.1"} <= set(found)


def test_two_copies_of_one_register_are_twins() -> None:
    """Also where what they are copies of is something else meanwhile."""
    again = ("IADD3 R10, R10, 0x1, RZ", "STG R2:2, 0x84, R10")
    found = joined(function("MOV R20, R10", *PAIR, *again, "STG R2:2, 0x80, R20", WHOLE))
    assert {"STG R2:2, 0x80, R12.0", "STG R2:2, 0x84, R10"} <= set(found)


def test_what_changes_between_two_copies_makes_no_twins() -> None:
    found = joined(function("MOV R20, R10", "IADD3 R10, R10, 0x1, RZ", *PAIR, "STG R2:2, 0x80, R20", WHOLE))
    assert "STG R2:2, 0x80, R20" in found


def test_what_is_read_where_the_copy_is_dead_stays() -> None:
    """The other word would have to live on with it."""
    assert "STG R2:2, 0x80, R10" in joined(function(*PAIR, WHOLE, "BRA bix1", "bix1:", "STG R2:2, 0x80, R10"))


def test_copies_that_nobody_reads_any_more_are_removed() -> None:
    """Of a register that is written again, too."""
    again = ("MOV R21, R11", "STG R2:2, 0x88, R21")
    found = joined(function("MOV R20, R10", "MOV R21, R10", *PAIR, "STG R2:2, 0x80, R20", WHOLE, *again))
    assert "STG R2:2, 0x80, R12.0" in found
    assert [line for line in found if line.startswith(("MOV R20", "MOV R21"))] == ["MOV R21, R12.1"]


def test_words_that_others_read_now_are_kept() -> None:
    """Nobody read the pair before; now what its words are copies of is read as these, in another block."""
    found = joined(function(*PAIR, "BRA bix1", "bix1:", "STG R2:2, 0x80, R10", "STG R2:2, 0x84, R11"))
    assert {"STG R2:2, 0x80, R12.0", "STG R2:2, 0x84, R12.1", "MOV R12.0, R10", "MOV R12.1, R11"} <= set(found)
