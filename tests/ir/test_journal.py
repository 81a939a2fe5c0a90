"""Changes that are taken back: of operands and modifiers of random code, by two journals that know nothing of each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.vecs import vec
from mypy_extensions import i64
from oric.ir.function import NONE, Function
from oric.ir.journal import Journal

from tests.ir.functions import functions

CHANGES = 24


def instructions(f: Function) -> list[int]:
    found = []
    for b in range(f.blocks()):
        i = f.head[b]
        while i != NONE:
            found.append(int(i))
            i = f.next[i]
    return found


def state(f: Function, which: list[int]) -> list[Any]:
    return [([int(f.get(i, at)) for at in range(f.count[i])], int(f.mods[i])) for i in which]


def change(f: Function, journal: Journal, i: int, draw: Any) -> None:
    """Note what an instruction is and make it something else."""
    journal.keep(f, i)
    for at in range(f.count[i]):
        f.set(i, at, draw(st.integers(0, (1 << 62) - 1)))
    f.set_mods(i, draw(st.integers(0, (1 << 30) - 1)))


@pytest.mark.row("R3-11", "R3-12")
@given(functions(), st.data())
def test_each_journal_takes_back_its_own_changes(f: Function, data: Any) -> None:
    """Changes of two journals come in any order; one of them takes its own back to any mark, then the other does."""
    code = instructions(f)
    mine, others = code[::2], code[1::2]
    journals = Journal(), Journal()
    before = state(f, mine), state(f, others)
    marks = [(0, before[0])]
    for _ in range(data.draw(st.integers(0, CHANGES))):
        which = data.draw(st.integers(0, 1)) if others else 0
        chosen = (mine, others)[which]
        if chosen:
            change(f, journals[which], data.draw(st.sampled_from(chosen)), data.draw)
            if which == 0:
                marks.append((journals[0].count, state(f, mine)))
    kept = state(f, others)
    mark, then = data.draw(st.sampled_from(marks))
    journals[0].roll_back_code(f, mark)
    assert state(f, mine) == then
    assert journals[0].count == mark
    assert state(f, others) == kept
    journals[1].roll_back_code(f, 0)
    journals[0].roll_back_code(f, 0)
    assert (state(f, mine), state(f, others)) == before


@pytest.mark.row("R3-12")
@given(st.lists(st.integers(0, 99), min_size=1, max_size=20), st.data())
def test_an_array_is_as_it_was_at_each_mark(values: list[int], data: Any) -> None:
    """As blocks of a dominator tree do it: marks are left in the order opposite to that in which they were made."""
    array = vec[i64](values)
    journal = Journal()
    marks = []
    for _ in range(data.draw(st.integers(0, CHANGES))):
        marks.append((int(journal.count), [int(v) for v in array]))
        for at in data.draw(st.lists(st.integers(0, len(values) - 1), max_size=4)):
            journal.note(at, array[at])
            array[at] = data.draw(st.integers(0, 99))
    for mark, then in reversed(marks):
        journal.roll_back(array, mark)
        assert [int(v) for v in array] == then
    assert [int(v) for v in array] == values
