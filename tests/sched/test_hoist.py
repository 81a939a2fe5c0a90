"""Loads that move up after allocation: programs read the same values, and nothing else changes its place."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from oric_tables._native import ffi, lib

from tests.regalloc.programs import Access, Insn, P, Program, R, programs

ISA = 4
CLASSES = [ffi.string(name).decode() for name in lib.oric_class_names]
LOAD, ALU = CLASSES.index("load_global"), CLASSES.index("alu")
LIMIT = 20
FILES = ((R, 1), (R, 1), (R, 2), (R, 4), (P, 1))


def loads_of(program: Program, chosen: list[bool]) -> Program:
    """Some of the instructions that write one general register are loads."""
    numbers = iter(range(1_000_000))
    program.isa = ISA
    for block in program.blocks:
        for insn in block:
            writes = [a for a in insn.accesses if a.write]
            insn.klass = ALU
            if not insn.copy and len(writes) == 1 and program.files[writes[0].unit] == R and chosen[next(numbers) % len(chosen)]:
                insn.klass, insn.flags = LOAD, lib.ORIC_I_VARIABLE
    return program


def hoisted(program: Program) -> tuple[list[list[int]], list[int], int] | None:
    """By block the numbers of its instructions as they stand then, the register of every unit, how many are in use."""
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    assigned, leader = ffi.new("int32_t[]", fn.unit_count + 1), ffi.new("int32_t[]", fn.unit_count + 1)
    result = ffi.new("oric_regalloc_result *")
    limits = [LIMIT, 7, 16, 63, 7]
    fields = {"limit": limits, "hopeless": [2 * n for n in limits], "threshold": 50, "coalesce": 1, "rounds": 3, "spread": 1,
              "roomy": limits, "spare": [3] * 5}  # fmt: skip
    assert lib.oric_regalloc(fn, ffi.new("oric_regalloc_options *", fields), assigned, leader, result) == 0
    if result.failed_file >= 0:
        return None
    used = lib.oric_hoist_loads(fn, LIMIT, assigned, leader)
    assert 0 <= used <= LIMIT
    orders, first = [], 0
    for b, block in enumerate(program.blocks):
        orders.append([fn.nodes[i].index - first for i in range(fn.block_first[b], fn.block_first[b + 1])])
        first += len(block)
    return orders, list(assigned[0 : fn.unit_count]), used


def reads(program: Program, orders: list[list[int]], places: list[int] | None, choices: list[int]) -> dict[Any, Any]:
    """What every executed instruction reads, by its turn; undefined values as None."""
    state: dict[Any, Any] = {}
    defined: set[int] = set()
    found: dict[Any, Any] = {}
    block = 0
    for turn in range(12):
        for i in orders[block]:
            insn = program.blocks[block][i]
            where = {u: u if places is None else (program.files[u], places[u]) for u in insn.reads() | insn.writes()}
            found[turn, i] = read = tuple(state.get(where[u]) if u in defined else None for u in sorted(insn.reads()))
            if not insn.guarded or (choices[turn % len(choices)] + i) % 2 == 0:
                for u in sorted(insn.writes()):
                    state[where[u]] = read[0] if insn.copy else (block, i, u, turn)
                    defined.add(u)
        if not program.succs[block]:
            break
        block = program.succs[block][choices[turn % len(choices)] % len(program.succs[block])]
    return found


@settings(max_examples=150)
@given(
    programs(max_blocks=4, max_insns=14, files=FILES, defined=True),
    st.lists(st.booleans(), min_size=1, max_size=7),
    st.lists(st.integers(0, 7), min_size=1, max_size=8),
)
def test_programs_read_the_same_values(program: Program, chosen: list[bool], choices: list[int]) -> None:
    done = hoisted(loads_of(program, chosen))
    if done is None:
        return
    orders, assigned, used = done
    assert used == max((assigned[u] + 1 for u, file in enumerate(program.files) if file == R), default=0)
    usual = [list(range(len(block))) for block in program.blocks]
    assert reads(program, orders, assigned, choices) == reads(program, usual, None, choices)
    for order, block in zip(orders, program.blocks, strict=True):
        others = [i for i in order if block[i].klass != LOAD]
        assert others == sorted(others)
        for at, i in enumerate(order):
            assert block[i].klass != LOAD or all(j > i or block[j].klass == LOAD for j in order[at:] if j != i)


def chain(rounds: int) -> Program:
    """Each round a load, and right behind it what reads it and changes a sum."""
    total, address = 0, 1
    block = [Insn([Access(total, 1, True)]), Insn([Access(address, 1, True)])]
    for n in range(rounds):
        block.append(Insn([Access(2 + n, 1, True), Access(address)]))
        block.append(Insn([Access(total, 1, True), Access(total), Access(2 + n)]))
    block.append(Insn([Access(total), Access(address)]))
    program = Program([(R, 1)] * (2 + rounds), [block], [[]])
    return loads_of(program, [False, False, *[True, False] * rounds, False])


def test_loads_come_before_what_is_done_meanwhile() -> None:
    """As many are under way as registers are free; each is asked for in its old order."""
    rounds = 30
    done = hoisted(chain(rounds))
    assert done is not None
    [order], assigned, used = done
    assert used == LIMIT
    ahead = [order.index(3 + 2 * n) - order.index(2 + 2 * n) for n in range(rounds)]
    assert sum(ahead) > 10 * rounds
    assert len(set(assigned)) > 10


def test_a_register_that_is_needed_elsewhere_stays() -> None:
    """What is loaded for another block, under a guard, or next to other words of its register; what else is loaded moves."""
    wide, address, other, p = 0, 2, 3, 4
    begin = [Insn([Access(address, 1, True)]), Insn([Access(p, 1, True)]), *(Insn([Access(other, 1, True)]) for _ in range(3))]
    load = Insn([Access(wide, 2, True), Access(address)])
    read = Insn([Access(wide, 2), Access(other)])
    registers = [(R, 2), (R, 1), (R, 1), (P, 1)]
    cases = (
        (Program(registers, [[*begin, load, read]], [[]]), True),
        (Program(registers, [[*begin, load], [read]], [[1], []]), False),
        (Program(registers, [[*begin, Insn([*load.accesses, Access(p)], guarded=True), read]], [[]]), False),
        (Program(registers, [[*begin, Insn([Access(wide, 1, True), Access(address)]), read]], [[]]), False),
    )
    for program, moves in cases:
        program.isa = ISA
        for insn in (insn for block in program.blocks for insn in block):
            insn.klass, insn.flags = ALU, 0
        made = program.blocks[0][len(begin)]
        made.klass, made.flags = LOAD, lib.ORIC_I_VARIABLE
        done = hoisted(program)
        assert done is not None
        assert (done[0] != [list(range(len(block))) for block in program.blocks]) == moves
