"""The choice of what is kept outside a register file, against the definition: at no point are too many in registers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from oric_tables._native import ffi, lib

from tests.regalloc.programs import Access, Insn, P, Program, programs


def choose(fn, fixed: set[int], file: int, limit: int) -> list[int]:
    """The units that are chosen."""
    chosen = ffi.new("uint32_t[]", fn.unit_count + 1)
    count = lib.oric_spill_choose(fn, bytes(u in fixed for u in range(fn.unit_count + 1)), file, limit, chosen)
    assert count >= 0
    return list(chosen[0:count])


def held(program: Program, file: int, away: set[int]) -> list[tuple[set[int], set[int]]]:
    """Units of the file in registers at every point, with those among them that the instruction at the point names."""
    live, out = program.live(), []
    for b, block in enumerate(program.blocks):
        for i, insn in enumerate(block):
            behind = live[b, i + 1] | insn.writes()
            for units, named in ((behind, insn.writes()), (live[b, i], insn.reads() | insn.writes())):
                own = {u for u in units if program.files[u] == file and (u not in away or u in named)}
                out.append((own, own & named))
    return out


@given(programs(defined=True), st.integers(0, 4), st.sets(st.integers(0, 40)), st.integers(0, 4))
def test_no_point_has_too_many(program: Program, limit: int, fixed: set[int], file: int) -> None:
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    found = choose(fn, fixed, file, limit)
    assert len(found) == len(set(found))
    assert all(program.files[u] == file and u not in fixed for u in found)
    for own, named in held(program, file, set(found)):
        assert len(own) <= limit or own <= named | fixed


def test_nothing_is_chosen_where_all_fit() -> None:
    code = [Insn([Access(u, write=True)]) for u in range(7)] + [Insn([Access(u) for u in range(7)])]
    fn = Program([(P, 1)] * 7, [code], [[]]).build()
    assert lib.oric_liveness(fn) == 0
    assert choose(fn, set(), P, 7) == []


def test_long_lives_with_few_uses_go_first() -> None:
    """Units 0 and 1 live throughout; 0 is named all the time. One at a time joins them."""
    code = [Insn([Access(u, write=True)]) for u in (0, 1)]
    for u in range(2, 12):
        code += [Insn([Access(u, write=True)]), Insn([Access(0)]), Insn([Access(u)])]
    fn = Program([(P, 1)] * 12, [[*code, Insn([Access(0), Access(1)])]], [[]]).build()
    assert lib.oric_liveness(fn) == 0
    assert choose(fn, set(), P, 2) == [1]
