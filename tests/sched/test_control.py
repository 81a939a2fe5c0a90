"""Control bits protect every dependence on every path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric_tables._native import lib

from tests.sched.model import HazardError, PhysicalProgram, programs, tables, walk

CHOICES = st.lists(st.integers(0, 5), min_size=1, max_size=6)


def assigned(program: PhysicalProgram):
    fn = program.build()
    assert lib.oric_assign_control(fn) >= 0
    return fn


@settings(max_examples=200)
@given(programs(), CHOICES)
def test_every_path_is_protected(program: PhysicalProgram, choices: list[int]):
    walk(assigned(program), tables().isas[program.isa], program.succs, choices)


@settings(max_examples=100)
@given(programs(max_blocks=1, max_insns=40))
def test_long_blocks_are_protected(program: PhysicalProgram):
    """More pending results than there are scoreboards."""
    walk(assigned(program), tables().isas[program.isa], program.succs, [0])


@settings(max_examples=150)
@given(programs(), CHOICES, st.data())
def test_the_checker_sees_planted_faults(program: PhysicalProgram, choices: list[int], data):
    """Removing a wait that mattered, or a barrier that is waited for, is found where the walk passes it."""
    fn = assigned(program)
    masks = [i for i in range(fn.insn_count) if fn.nodes[i].control >> 11 & 63]
    if not masks:
        return
    victim = data.draw(st.sampled_from(masks))
    for i in range(fn.insn_count):
        if fn.nodes[i].control >> 11 & 63 and i >= victim:
            fn.nodes[i].control &= (1 << 11) - 1
    reached = _passes(fn, program, choices, victim)
    if reached:
        with pytest.raises(HazardError):
            walk(fn, tables().isas[program.isa], program.succs, choices)


def _passes(fn, program: PhysicalProgram, choices: list[int], victim: int) -> bool:
    """Does a straight run over the victim's own block contain its dependence? Judged with the original bits."""
    original = assigned(program)
    block = max(b for b in range(len(program.blocks)) if fn.block_first[b] <= victim and fn.block_first[b + 1] > victim)
    if block != 0:
        return False
    position = victim
    boards = original.nodes[position].control >> 11 & 63
    for i in range(fn.block_first[block], position):
        control = original.nodes[i].control
        if boards >> (control >> 5 & 7) & 1 and control >> 5 & 7 != 7:
            return _needed(original, i, position)
    return False


def _needed(fn, producer: int, consumer: int) -> bool:
    def units(i: int, write: bool) -> set[int]:
        node = fn.nodes[i]
        out = set()
        for k in range(node.access_count):
            a = fn.accesses[node.access + k]
            if not write or a.flags & lib.ORIC_A_DEF:
                out |= set(range(a.unit, a.unit + a.count))
        return out

    results = units(producer, True)
    touched = units(consumer, False)
    between = set()
    for i in range(producer + 1, consumer):
        between |= units(i, False)
    return bool(results & touched - between)
