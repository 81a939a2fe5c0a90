"""Copies that nobody reads: those and no others go, and what stays keeps its order."""

from __future__ import annotations

from hypothesis import given, settings
from oric_tables._native import lib

from tests.regalloc.programs import Access, Insn, Program, R, programs


def left(program: Program) -> list[list[int]]:
    """By block, the numbers of the instructions that stay."""
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    dropped = lib.oric_drop_unread(fn)
    assert fn.insn_count == sum(map(len, program.blocks)) - dropped
    found = [[fn.nodes[i].index for i in range(fn.block_first[b], fn.block_first[b + 1])] for b in range(fn.block_count)]
    assert sum(map(len, found)) == fn.insn_count
    return found


def expected(program: Program) -> list[list[int]]:
    """The same, from what is live at the ends of the blocks."""
    live, found, first = program.live(), [], 0
    for b, block in enumerate(program.blocks):
        needed = dict.fromkeys(live[b, len(block)], (-1, False))
        kept: list[int] = []
        for i in range(len(block) - 1, -1, -1):
            if block[i].copy and not block[i].writes() & needed.keys():
                continue
            kept.insert(0, first + i)
            needed = block[i].before(needed)
        found.append(kept)
        first += len(block)
    return found


@settings(max_examples=100)
@given(programs(max_insns=12, files=((R, 1), (R, 2)), defined=True))
def test_those_that_nobody_reads_go(program: Program) -> None:
    assert left(program) == expected(program)


def test_a_register_that_is_written_again() -> None:
    """It goes round a loop, and so something reads it; of two writes in a round nobody reads the first."""
    made, copy = Insn([Access(1, 1, True), Access(0)]), Insn([Access(0, 1, True), Access(1)], copy=True)
    program = Program(
        [(R, 1), (R, 1)], [[Insn([Access(0, 1, True)])], [made, copy, Insn([Access(1, 1, True), Access(1)]), copy]], [[1], [1]]
    )
    assert left(program) == [[0], [1, 3, 4]]


def test_there_are_none_without_liveness() -> None:
    assert lib.oric_drop_unread(Program([(R, 1)], [[]], [[]]).build()) == -1
