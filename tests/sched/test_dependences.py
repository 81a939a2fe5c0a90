"""The dependence graph against all pairs of instructions, and what list scheduling makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric_tables._native import ffi, lib

from tests.regalloc.programs import Access, Insn, P, Program, R
from tests.regalloc.programs import programs as virtual_programs
from tests.sched.model import FIRST, PhysicalProgram, instructions, programs, tables, walk

NO_LIMIT = 0x7FFFFFFF


@st.composite
def memory(draw, isa: str):
    """A load or store with an address register and an offset; few of each, so that they meet."""
    name = draw(st.sampled_from(("load_global", "store_global", "load_shared", "store_shared", "load_generic", "store_generic")))
    insn = draw(instructions(isa))
    columns = tables().classes[name][isa]
    from tests.sched.model import class_flags

    unit = FIRST[R] + draw(st.integers(0, 2))
    reads = "read" in columns.does
    data = Access(FIRST[R] + 3 + draw(st.integers(0, 2)), 1, reads, 255 if reads else lib.ORIC_G_MEM_DATA)
    insn.accesses = [data, Access(unit, 1, False, lib.ORIC_G_MEM_ADDR, address=True)]
    insn.guarded = False
    insn.flags, insn.klass = class_flags(isa, name), list(tables().classes).index(name)
    insn.space = sum(1 << i for i, s in enumerate(("global", "shared", "local")) if s in columns.spaces)
    insn.offset, insn.bytes = draw(st.integers(0, 3)) * 4, draw(st.sampled_from((0, 4, 8)))
    insn.scale = draw(st.sampled_from((0, 0, 1)))
    return insn


@st.composite
def blocks(draw, size: int = 10):
    isa = draw(st.sampled_from(tables().isas))
    code = draw(st.lists(st.one_of(instructions(isa), memory(isa)), max_size=size))
    for _ in range(draw(st.integers(0, 1))):
        code.insert(draw(st.integers(0, len(code))), draw(instructions(isa, jump=True)))
    return PhysicalProgram([], [code], [[]], isa=tables().isas.index(isa))


def edges(fn, block: int = 0) -> list[tuple[int, int]]:
    count = lib.oric_dependences(fn, block, ffi.NULL, 0)
    out = ffi.new("oric_edge[]", count + 1)
    assert lib.oric_dependences(fn, block, out, count) == count
    return [(getattr(out[i], "from"), out[i].to) for i in range(count)]


def closure(pairs, count: int) -> set[tuple[int, int]]:
    after = [0] * count
    for i in range(count - 1, -1, -1):
        for a, b in pairs:
            if a == i:
                after[i] |= 1 << b | after[b]
    return {(i, j) for i in range(count) for j in range(count) if after[i] >> j & 1}


def address(code: list[Insn], i: int):
    """Address register with its scale and last definition, offset, size; None where there is no single one."""
    bases = [a.unit for a in code[i].accesses if a.address]
    if len(bases) > 1 or not code[i].bytes:
        return None
    definitions = [k for k in range(i) if bases and bases[0] in code[k].writes()]
    return (bases, (definitions, code[i].scale), code[i].offset, code[i].bytes)


def meet(code: list[Insn], i: int, j: int) -> bool:
    a, b = address(code, i), address(code, j)
    if a is None or b is None or a[:2] != b[:2]:
        return True
    return a[2] < b[2] + b[3] and b[2] < a[2] + a[3]


def is_before(ordered: Insn, access: Insn) -> bool:
    """Whether an ordered instruction keeps its place beside an access: those of other spaces pass some."""
    columns = list(tables().classes.values())[ordered.klass]["sm_80"]
    everywhere = not ordered.space or ("ordered" in columns.flags and "by_space" not in columns.flags)
    return bool(everywhere or ordered.space & access.space)


def conflict(code: list[Insn], i: int, j: int) -> bool:
    """Must i stay before j?"""
    a, b = code[i], code[j]
    if a.writes() & (b.reads() | b.writes()) or a.reads() & b.writes():
        return True
    if (a.flags | b.flags) & lib.ORIC_I_FENCE:
        return True
    both = lib.ORIC_I_MEM_READ | lib.ORIC_I_MEM_WRITE
    ordered_a, ordered_b = a.flags & lib.ORIC_I_ORDERED, b.flags & lib.ORIC_I_ORDERED
    if ordered_a and ordered_b:
        return True
    if (ordered_a and b.flags & both and is_before(a, b)) or (ordered_b and a.flags & both and is_before(b, a)):
        return True
    if not a.space & b.space or not (a.flags | b.flags) & lib.ORIC_I_MEM_WRITE:
        return False
    return bool(a.flags & both and b.flags & both) and meet(code, i, j)


@pytest.mark.row("R4-33")
@settings(max_examples=80)
@given(blocks())
def test_order_equals_that_of_all_pairs(program: PhysicalProgram):
    code = program.blocks[0]
    found = edges(program.build())
    assert all(a < b for a, b in found)
    wanted = [(i, j) for j in range(len(code)) for i in range(j) if conflict(code, i, j)]
    assert closure(found, len(code)) == closure(wanted, len(code))


@pytest.mark.row("R3-38")
@settings(max_examples=50)
@given(blocks(size=60))
def test_nothing_is_lost_in_long_blocks(program: PhysicalProgram):
    """With many memory accesses order is kept without a look at addresses: more edges, never fewer."""
    code = program.blocks[0]
    found = closure(edges(program.build()), len(code))
    assert {(i, j) for j in range(len(code)) for i in range(j) if conflict(code, i, j)} <= found


def order_of(fn) -> list[int]:
    return [fn.nodes[i].index for i in range(fn.insn_count)]


def check_order(program: Program, fn) -> None:
    order = order_of(fn)
    start = 0
    for block in program.blocks:
        part = [i - start for i in order[start : start + len(block)]]
        assert sorted(part) == list(range(len(block)))
        place = {i: k for k, i in enumerate(part)}
        for j in range(len(block)):
            for i in range(j):
                if conflict(block, i, j):
                    assert place[i] < place[j], (i, j)
        start += len(block)


@settings(max_examples=100)
@given(programs(max_insns=14), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_scheduled_code_keeps_its_dependences_and_is_protected(program: PhysicalProgram, choices: list[int]):
    fn = program.build()
    options = ffi.new("oric_list_options *", {"limit": [NO_LIMIT] * 5})
    assert lib.oric_list_schedule(fn, options) >= 0
    check_order(program, fn)
    assert lib.oric_assign_control(fn) >= 0
    walk(fn, tables().isas[program.isa], program.succs, choices)


@settings(max_examples=100)
@given(virtual_programs(max_insns=14, defined=True), st.integers(1, 6))
def test_order_before_allocation_keeps_dependences(program: Program, limit: int):
    fn = program.build()
    lib.oric_liveness(fn)
    options = ffi.new("oric_list_options *", {"limit": [limit, 2, NO_LIMIT, limit, 2]})
    assert lib.oric_list_schedule(fn, options) >= 0
    check_order(program, fn)


def predicates(program: Program) -> int:
    """The largest number of live predicates, in the order in which the program stands."""
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    found = ffi.new("int32_t[5]")
    assert lib.oric_pressure(fn, found) == 0
    return int(found[P])


@st.composite
def of_single_definitions(draw) -> Program:
    """A block of instructions that each make a register or a predicate, of what others have made; nothing is made in vain."""
    registers, code, unread = [], [], set()
    for n in range(draw(st.integers(2, 24))):
        registers.append((draw(st.sampled_from((R, P, P))), 1))
        read = draw(st.lists(st.integers(0, n - 1), max_size=3, unique=True)) if n else []
        code.append(Insn([Access(n, 1, True), *(Access(unit) for unit in read)]))
        unread = (unread | {n}) - set(read)
    for unit in draw(st.permutations(sorted(unread))):
        code.append(Insn([Access(unit)]))
    return Program(registers, [code], [[]])


@settings(max_examples=400)
@given(of_single_definitions(), st.integers(0, 5))
def test_careful_orders_keep_to_the_limit_of_predicates(program: Program, limit: int):
    """Where the original order does not exceed it, nor does the new one, however late the readers become ready."""
    before = predicates(program)
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    options = ffi.new("oric_list_options *", {"limit": [NO_LIMIT, limit, NO_LIMIT, NO_LIMIT, NO_LIMIT], "careful": 1})
    assert lib.oric_list_schedule(fn, options) >= 0
    check_order(program, fn)
    program.blocks = [[program.blocks[0][i] for i in order_of(fn)]]
    assert predicates(program) <= max(before, limit)


@pytest.mark.row("R3-38")
def test_edges_grow_with_accesses():
    """Twice the block, about twice the edges: a chain of loads, additions and stores."""
    counts = []
    for size in (500, 1000, 2000):
        t = tables()
        from tests.sched.model import class_flags

        isa = "sm_90"
        code = []
        for k in range(size):
            name = ("load_global", "alu", "store_global")[k % 3]
            row = {"load_global": 255, "alu": t.rows.index("R alu"), "store_global": lib.ORIC_G_MEM_DATA}[name]
            insn = Insn([Access(FIRST[R] + k % 50, 1, name != "store_global", row), Access(FIRST[R] + (k * 7) % 50, 1)])
            insn.flags, insn.klass = class_flags(isa, name), list(t.classes).index(name)
            insn.space = 1 if name != "alu" else 0
            code.append(insn)
        fn = PhysicalProgram([], [code], [[]], isa=t.isas.index(isa)).build()
        counts.append(lib.oric_dependences(fn, 0, ffi.NULL, 0))
    assert counts[2] - counts[1] <= 2.2 * (counts[1] - counts[0])


def test_loads_are_issued_before_their_uses():
    """Four independent load-and-add pairs: the loads come first."""
    t = tables()
    from tests.sched.model import class_flags

    isa = "sm_90"
    row = t.rows.index("R alu")
    code = []
    for k in range(4):
        load = Insn([Access(FIRST[R] + 10 + k, 1, True, 255), Access(FIRST[R] + k, 1, False, lib.ORIC_G_MEM_ADDR)], space=1)
        load.flags, load.klass = class_flags(isa, "load_global"), list(t.classes).index("load_global")
        add = Insn([Access(FIRST[R] + 20 + k, 1, True, row), Access(FIRST[R] + 10 + k, 1, False, lib.ORIC_G_ALU)])
        add.klass = list(t.classes).index("alu")
        code += [load, add]
    fn = PhysicalProgram([], [code], [[]], isa=t.isas.index(isa)).build()
    lib.oric_list_schedule(fn, ffi.new("oric_list_options *", {"limit": [NO_LIMIT] * 5}))
    assert order_of(fn) == [0, 2, 4, 6, 1, 3, 5, 7]
