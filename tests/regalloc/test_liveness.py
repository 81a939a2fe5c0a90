"""Liveness against a solver that sweeps sets until nothing changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from oric_tables._native import ffi, lib

from tests.regalloc.programs import Access, Insn, P, Program, R, has_undefined_reads, programs


def units(function, fn, block: int) -> list[int]:
    out = ffi.new("uint32_t[]", fn.unit_count + 1)
    return list(out[0 : function(fn, block, out)])


@pytest.mark.row("R4-35")
@given(programs())
def test_equals_the_naive_solver(program: Program):
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    live = program.live()
    for b, block in enumerate(program.blocks):
        assert units(lib.oric_live_in, fn, b) == sorted(live[b, 0])
        assert units(lib.oric_live_out, fn, b) == sorted(live[b, len(block)])


@given(programs(defined=True))
def test_pressure_is_the_largest_number_of_live_units(program: Program):
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    peak = ffi.new("int32_t[5]")
    assert lib.oric_pressure(fn, peak) == 0
    assert not has_undefined_reads(program)
    live, files = program.live(), program.files
    expected = [0] * 5
    for b, i in program.points():
        sets = [live[b, i]]
        if i < len(program.blocks[b]):
            insn = program.blocks[b][i]
            sets.append(live[b, i + 1] | insn.writes())
        for found in sets:
            for f in range(5):
                expected[f] = max(expected[f], sum(files[u] == f for u in found))
    assert list(peak) == expected


def test_guarded_first_write_starts_the_range():
    """No value reaches the guarded write, so the register is not live before it."""
    guarded = Insn([Access(0, 1, True), Access(1, 1)], guarded=True)
    program = Program([(R, 1), (P, 1)], [[Insn([Access(1, 1, True)])], [guarded], [Insn([Access(0, 1)])]], [[1], [2], []])
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    assert units(lib.oric_live_in, fn, 1) == [1]
    assert units(lib.oric_live_out, fn, 1) == [0]


def under_a_guard(*between: Insn, negated: bool = False) -> list[int]:
    """Live at the entry of a block that it is its own successor of: it writes R under a guard and reads it under one."""
    write = Insn([Access(0, 1, True), Access(1, guard=True)], guarded=True)
    read = Insn([Access(0), Access(1, guard=True, negated=negated)], guarded=True)
    program = Program([(R, 1), (P, 1), (R, 1)], [[Insn([Access(1, 1, True)])], [write, *between, read]], [[1], [1]])
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    assert units(lib.oric_live_in, fn, 1) == sorted(program.live()[1, 0])
    return units(lib.oric_live_in, fn, 1)


def test_what_is_written_and_read_under_one_guard_is_not_live_around_the_loop():
    assert under_a_guard() == [1]


def test_it_is_live_where_the_guards_differ():
    assert under_a_guard(negated=True) == [0, 1]


def test_it_is_live_where_the_predicate_changes_in_between():
    assert under_a_guard(Insn([Access(1, 1, True)])) == [0, 1]


def test_it_is_live_where_something_reads_it_whatever_the_guard_says():
    assert under_a_guard(Insn([Access(2, 1, True), Access(0)])) == [0, 1]
