"""Orders with few live registers: what depends on each other keeps its order, and no block needs more registers than it did."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from oric_tables._native import ffi, lib

from tests.regalloc.programs import Access, Insn, P, Program, R, programs
from tests.sched.test_dependences import edges

FILES = ((R, 1), (R, 1), (R, 2), (R, 4), (P, 1))


def peak(program: Program) -> int:
    """The largest number of general registers."""
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    found = ffi.new("int32_t[5]")
    assert lib.oric_pressure(fn, found) == 0
    return found[0]


def ordered(program: Program, limit: int) -> tuple[int, list[list[int]]]:
    """How many blocks have changed, and by block the numbers of its instructions as they stand then."""
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    changed = lib.oric_lean_order(fn, limit, ffi.NULL, ffi.NULL)
    orders, first = [], 0
    for b, block in enumerate(program.blocks):
        orders.append([fn.nodes[i].index - first for i in range(fn.block_first[b], fn.block_first[b + 1])])
        first += len(block)
    return changed, orders


@settings(max_examples=80)
@given(programs(max_blocks=4, max_insns=14, files=FILES, defined=True), st.integers(0, 12))
def test_programs_keep_their_dependences(program: Program, limit: int) -> None:
    before = peak(program)
    needs = [edges(program.build(), b) for b in range(len(program.blocks))]
    changed, orders = ordered(program, limit)
    moved = [order != sorted(order) for order in orders]
    assert sum(moved) <= changed <= len(moved)
    for order, pairs, block in zip(orders, needs, program.blocks, strict=True):
        assert sorted(order) == list(range(len(block)))
        place = {i: at for at, i in enumerate(order)}
        assert all(place[one] < place[other] for one, other in pairs)
    program.blocks = [[block[i] for i in order] for block, order in zip(program.blocks, orders, strict=True)]
    assert peak(program) <= before
    if before <= limit:
        assert not changed


def test_values_are_made_in_front_of_their_readers() -> None:
    """Many that are made first and read one by one need a register at a time."""
    count = 12
    made = [Insn([Access(1 + n, 1, True)]) for n in range(count)]
    read = [Insn([Access(0, 1, True), Access(0), Access(1 + n)]) for n in range(count)]
    program = Program([(R, 1)] * (count + 1), [[Insn([Access(0, 1, True)]), *made, *read, Insn([Access(0)])]], [[]])
    assert peak(program) == count + 1
    changed, (order,) = ordered(program, 4)
    assert changed == 1
    program.blocks = [[program.blocks[0][i] for i in order]]
    assert peak(program) == 2


def test_blocks_within_the_limit_stay() -> None:
    made = [Insn([Access(n, 1, True)]) for n in range(3)]
    program = Program([(R, 1)] * 3, [[*made, *(Insn([Access(n)]) for n in range(3))]], [[]])
    assert ordered(program, 3) == (0, [[0, 1, 2, 3, 4, 5]])


def test_copies_of_fixed_registers_come_first() -> None:
    """What a parameter came in is free then; without that they stand where they did."""
    count = 6
    entry = Insn([Access(n, 1, True) for n in range(count)])
    made = [Insn([Access(2 * count + n, 1, True)]) for n in range(count)]
    copies = [Insn([Access(count + n, 1, True), Access(n)], copy=True) for n in range(count)]
    read = [Insn([Access(n)]) for n in (*range(2 * count, 3 * count), *range(count, 2 * count))]
    program = Program([(R, 1)] * (3 * count), [[entry, *made, *copies, *read]], [[]])
    fixed = ffi.new("int32_t[]", [4 + n if n < count else -1 for n in range(3 * count)])
    first = []
    for places in (ffi.NULL, fixed):
        fn = program.build()
        assert lib.oric_liveness(fn) == 0
        assert lib.oric_lean_order(fn, 4, ffi.NULL, places) == 1
        order = [fn.nodes[i].index for i in range(fn.insn_count)]
        first.append([order.index(1 + count + n) for n in range(count)])
    assert sorted(first[1]) == list(range(1, 1 + count)) != sorted(first[0])


def test_loads_wait_for_stores_whose_operands_make_more_live() -> None:
    """From the end back the stores take registers, but only in front of them the loads can stand, each beside its reader."""
    count = 8
    address, value, total, end = 0, 2 * count, 3 * count, 3 * count + 1
    loads = [Insn([Access(value + n, 1, True)], flags=lib.ORIC_I_MEM_READ, space=1) for n in range(count)]
    sums = [Insn([Access(total, 1, True), Access(total), Access(value + n)]) for n in range(count)]
    addresses = [Insn([Access(address + 2 * n, 2, True), Access(end)]) for n in range(count)]
    stores = [Insn([Access(address + 2 * n, 2)], flags=lib.ORIC_I_MEM_WRITE, space=1) for n in range(count)]
    first = [Insn([Access(end, 1, True)]), Insn([Access(total, 1, True)])]
    registers = [(R, 2)] * count + [(R, 1)] * (count + 2)
    program = Program(registers, [[*first, *loads, *sums, *addresses, *stores, Insn([Access(total), Access(end)])]], [[]])
    assert peak(program) >= count + 2
    changed, (order,) = ordered(program, 4)
    assert changed == 1
    program.blocks = [[program.blocks[0][i] for i in order]]
    assert peak(program) <= 4
