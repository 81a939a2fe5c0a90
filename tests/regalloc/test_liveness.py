"""Liveness against a solver that sweeps sets until nothing changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from oric_tables._native import ffi, lib

from tests.regalloc.programs import P, Program, R, has_undefined_reads, programs


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
    from tests.regalloc.programs import Access, Insn

    guarded = Insn([Access(0, 1, True), Access(1, 1)], guarded=True)
    program = Program([(R, 1), (P, 1)], [[Insn([Access(1, 1, True)])], [guarded], [Insn([Access(0, 1)])]], [[1], [2], []])
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    assert units(lib.oric_live_in, fn, 1) == [1]
    assert units(lib.oric_live_out, fn, 1) == [0]
