"""Register allocation: constraints, choice of slots, alignment, coalescing, limits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric_tables._native import ffi, lib

from tests.regalloc.programs import UR, Access, B, Insn, P, Program, R, programs

POINTS = lib.ORIC_FAT_POINTS


def interference(fn) -> set[tuple[int, int]]:
    count = lib.oric_interference(fn, ffi.NULL, 0)
    pairs = ffi.new("uint32_t[]", 2 * count + 2)
    assert lib.oric_interference(fn, pairs, count) == count
    return {(pairs[2 * i], pairs[2 * i + 1]) for i in range(count)}


def model_interference(program: Program) -> set[tuple[int, int]]:
    """Units of one file of which one is written while the other is live, the source of a copy excepted."""
    live, files = program.live(), program.files
    found = set()
    for b, block in enumerate(program.blocks):
        for i, insn in enumerate(block):
            source = insn.accesses[1].unit if insn.copy else None
            for d in insn.writes():
                for u in live[b, i + 1] | insn.writes():
                    if u not in (d, source) and files[u] == files[d]:
                        found.add((min(u, d), max(u, d)))
    return found


def options(limits=(255, 7, 16, 63, 7), coalesce=1, rounds=3, threshold=50, spread=0, hopeless=None, **more):
    fields = {
        **more,
        "limit": limits,
        "hopeless": hopeless or [2 * limit for limit in limits],
        "threshold": threshold,
        "coalesce": coalesce,
        "rounds": rounds,
        "spread": spread,
        "roomy": limits,
        "spare": [3] * 5,
    }
    return ffi.new("oric_regalloc_options *", fields)


def allocate(fn, **kwargs):
    assigned = ffi.new("int32_t[]", fn.unit_count + 1)
    leader = ffi.new("int32_t[]", fn.unit_count + 1)
    result = ffi.new("oric_regalloc_result *")
    assert lib.oric_regalloc(fn, options(**kwargs), assigned, leader, result) == 0
    return list(assigned[0 : fn.unit_count]), result


@given(programs(files=((R, 1), (R, 2), (R, 4), (P, 1), (B, 1)), defined=True))
def test_constraints_equal_the_model(program: Program):
    fn = program.build()
    lib.oric_liveness(fn)
    assert interference(fn) == model_interference(program)


@given(programs(defined=True))
def test_uniform_registers_keep_their_place_from_first_to_last_use(program: Program):
    """The constraints contain those of liveness, and those of overlapping stretches of code."""
    fn = program.build()
    lib.oric_liveness(fn)
    copies = {(i.accesses[0].unit, i.accesses[1].unit) for block in program.blocks for i in block if i.copy}
    same = {(min(p), max(p)) for p in copies}
    assert model_interference(program) - same <= interference(fn)


def check_assignment(program: Program, fn, assigned: list[int]) -> None:
    for a, b in interference(fn):
        assert assigned[a] != assigned[b] or assigned[a] < 0, (a, b)
    unit = 0
    used = {u for block in program.blocks for i in block for u in i.reads() | i.writes()}
    for _, size in program.registers:
        places = assigned[unit : unit + size]
        if used & set(range(unit, unit + size)):
            assert places == list(range(places[0], places[0] + size))
            assert places[0] >= 0
            assert places[0] % lib.oric_align_of_words[size] == 0
        unit += size


@pytest.mark.row("R4-48")
@given(programs(max_blocks=6, max_insns=8), st.integers(1, 3), st.integers(0, 1), st.integers(0, 1))
def test_assignment_is_legal(program: Program, rounds: int, coalesce: int, spread: int):
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, result = allocate(fn, rounds=rounds, coalesce=coalesce, spread=spread)
    check_assignment(program, fn, assigned)
    files = program.files
    for f in range(5):
        assert result.used[f] == max((assigned[u] + 1 for u in range(len(files)) if files[u] == f), default=0)


class Values:
    """Runs a program on symbolic values; with ``places`` on physical registers, else on units."""

    def __init__(self, program: Program, places: list[int] | None) -> None:
        self.program = program
        self.where = (lambda u: u) if places is None else (lambda u: (program.files[u], places[u]))

    def run(self, choices: list[int], steps: int = 60) -> list[object]:
        """The values read by every executed instruction, undefined ones as None; ``choices`` picks successors."""
        state: dict[object, object] = {}
        defined: set[int] = set()
        trace: list[object] = []
        block, turn = 0, 0
        while steps > 0:
            for i, insn in enumerate(self.program.blocks[block]):
                read = tuple(state.get(self.where(u)) if u in defined else None for u in sorted(insn.reads()))
                trace.append(read)
                execute = not insn.guarded or (choices[turn % len(choices)] + i) % 2 == 0
                if execute:
                    for u in sorted(insn.writes()):
                        state[self.where(u)] = read[0] if insn.copy else (block, i, u, turn)
                        defined.add(u)
                steps -= 1
            steps -= 1
            targets = self.program.succs[block]
            if not targets:
                break
            block = targets[choices[turn % len(choices)] % len(targets)]
            turn += 1
        return trace


@settings(max_examples=30)
@given(programs(max_blocks=6, max_insns=8), st.lists(st.integers(0, 7), min_size=1, max_size=8))
def test_execution_on_registers_reads_the_same_values(program: Program, choices: list[int]):
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, _ = allocate(fn)
    assert Values(program, assigned).run(choices) == Values(program, None).run(choices)


@pytest.mark.row("R4-38")
@settings(max_examples=60)
@given(programs(max_blocks=6, max_insns=8), st.lists(st.integers(0, 7), min_size=1, max_size=8), st.integers(0, 12))
def test_congested_registers_are_taken_only_where_nothing_else_is(program: Program, choices: list[int], threshold: int):
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, result = allocate(fn, spread=1, threshold=threshold)
    assert result.failed_file < 0
    assert Values(program, assigned).run(choices) == Values(program, None).run(choices)


@pytest.mark.row("R4-38")
def test_the_threshold_of_congestion_changes_the_choice():
    """Twenty short lives, one after the other: fresh registers where those in use shortly before are congested."""
    program = Program([(R, 1)] * 20, [[insn for u in range(20) for insn in (define(u), Insn([Access(u)]))]], [[]])
    fn = program.build()
    lib.oric_liveness(fn)
    used = {threshold: len(set(allocate(fn, spread=1, threshold=threshold)[0])) for threshold in (50, 1)}
    assert used == {50: 4, 1: 6}


# -- the choice of a slot --------------------------------------------------------------------------------------


def reference_choice(primary, secondary, limit: int, size: int, stride: int, threshold: int) -> int:
    slots = [s for s in range(0, limit - size + 1, stride) if primary[s] <= threshold]
    return min(slots, key=lambda s: (primary[s] + secondary[s], s), default=-1)


@pytest.mark.row("R4-37")
@given(st.data(), st.integers(0, POINTS), st.sampled_from([(1, 1), (2, 2), (4, 4), (12, 8), (128, 8)]), st.integers(0, 60))
def test_choice_equals_the_reference(data, limit, shape, threshold):
    costs = st.lists(st.integers(0, 100), min_size=8, max_size=8)
    primary = (data.draw(costs) * (POINTS // 8))[:POINTS]
    secondary = (data.draw(costs) * (POINTS // 8))[:POINTS]
    got = lib.oric_fatpoint_choose(primary, secondary, limit, *shape, threshold)
    assert got == reference_choice(primary, secondary, limit, *shape, threshold)


# -- particular cases ------------------------------------------------------------------------------------------


def define(unit: int, count: int = 1, *sources: int) -> Insn:
    return Insn([Access(unit, count, True), *(Access(s) for s in sources)])


def copy(target: int, source: int) -> Insn:
    return Insn([Access(target, 1, True), Access(source)], copy=True)


def test_255_values_fit_and_256_are_reported():
    for count, failed in ((255, -1), (256, R)):
        program = Program([(R, 1)] * count, [[define(u) for u in range(count)] + [Insn([Access(u) for u in range(count)])]], [[]])
        fn = program.build()
        lib.oric_liveness(fn)
        _, result = allocate(fn)
        assert result.failed_file == failed
        assert result.used[R] == result.peak[R] == count


@pytest.mark.row("R4-03")
def test_seven_predicates_fit_and_the_eighth_is_reported():
    for count, failed in ((7, -1), (8, P)):
        program = Program([(P, 1)] * count, [[define(u) for u in range(count)] + [Insn([Access(u) for u in range(count)])]], [[]])
        fn = program.build()
        lib.oric_liveness(fn)
        _, result = allocate(fn)
        assert result.failed_file == failed


@pytest.mark.row("R4-04")
def test_sixteen_nested_convergence_regions():
    for count, failed in ((16, -1), (17, B)):
        code = [define(u) for u in range(count)] + [Insn([Access(u)]) for u in reversed(range(count))]
        program = Program([(B, 1)] * count, [code], [[]])
        fn = program.build()
        lib.oric_liveness(fn)
        _, result = allocate(fn)
        assert result.failed_file == failed


def test_two_halves_are_gathered_without_copies():
    """Two 32-bit values that are copied into a pair get the pair's registers."""
    program = Program([(R, 1), (R, 1), (R, 2)], [[define(0), define(1), copy(2, 0), copy(3, 1), Insn([Access(2, 2)])]], [[]])
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, result = allocate(fn)
    assert result.coalesced == 2
    assert assigned == [0, 1, 0, 1]


@pytest.mark.row("R2-10", "R4-16")
def test_four_loads_are_gathered_into_a_quad():
    code = [define(u) for u in range(4)] + [copy(4 + u, u) for u in range(4)] + [Insn([Access(4, 4)])]
    program = Program([(R, 1)] * 4 + [(R, 4)], [code], [[]])
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, result = allocate(fn)
    assert result.coalesced == 4
    assert assigned[:4] == assigned[4:] == [0, 1, 2, 3]


def test_wide_sums_have_the_place_of_what_they_are_added_to():
    """Where registers are to suffice, also if others are free in front of it; not where something reads that later."""

    def places(size: int, spread: int, *later: int) -> list[int]:
        first, added, total = 0, size, 2 * size
        code = [define(first, size), define(added, size), Insn([Access(first, size)])]
        code += [Insn([Access(total, size, True), Access(added, size)]), Insn([Access(total, size)])]
        code += [Insn([Access(unit, size)]) for unit in later]
        fn = Program([(R, size)] * 3, [code], [[]]).build()
        lib.oric_liveness(fn)
        assigned, _ = allocate(fn, rounds=1, spread=spread)
        return [assigned[unit] for unit in (first, added, total)]

    assert places(4, 0) == [0, 4, 4]
    assert places(4, 0, 4) == [0, 4, 0]
    assert places(2, 0) == [0, 2, 0]
    assert places(4, 1)[2] != 4


@pytest.mark.row("R4-15")
def test_pairs_cannot_straddle():
    """A pair that is copied from the middle of a quad stays apart: its base would be odd."""
    code = [define(0, 4), copy(4, 1), copy(5, 2), Insn([Access(4, 2)]), Insn([Access(0, 4)])]
    program = Program([(R, 4), (R, 2)], [code], [[]])
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, result = allocate(fn)
    assert result.coalesced == 0
    check_assignment(program, fn, assigned)


@pytest.mark.row("R4-48")
def test_loop_variable_and_its_copy_share_a_register():
    """i = phi(0, i + 1) in the form that copies give."""
    program = Program(
        [(R, 1), (R, 1), (P, 1)],
        [[define(0)], [define(1, 1, 0), define(2, 1, 1), copy(0, 1), Insn([Access(2)])], [Insn([Access(0)])]],
        [[1], [1, 2], []],
        [0, 1, 0],
    )
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, result = allocate(fn)
    assert result.coalesced == 1
    assert assigned[0] == assigned[1]


def test_uniform_value_is_not_overwritten_on_another_path():
    """Threads on block 1 and on block 2 may take turns: the uniform registers of both differ."""
    blocks = [[define(2)], [define(1), Insn([Access(1)])], [Insn([Access(2)])]]
    program = Program([(R, 1), (UR, 1), (UR, 1)], blocks, [[1, 2], [2], []])
    fn = program.build()
    lib.oric_liveness(fn)
    assigned, _ = allocate(fn)
    assert assigned[1] != assigned[2]


def test_nothing_is_assigned_where_that_is_hopeless():
    """Six registers are live at once: more than twice as many as two; with three they are given what they need."""
    program = Program([(R, 1)] * 6, [[define(u) for u in range(6)] + [Insn([Access(u) for u in range(6)])]], [[]])
    fn = program.build()
    lib.oric_liveness(fn)
    for limit, found in ((2, [-1] * 6), (3, list(range(6)))):
        assigned, result = allocate(fn, limits=(limit, 7, 16, 63, 7))
        assert (sorted(assigned), result.failed_file, result.used[R]) == (found, R, 6)
        assert bool(result.constraints) == (limit == 3)


@given(programs(files=((R, 1), (R, 2), (R, 4), (P, 1)), defined=True), st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_brief_tries_end_as_whole_ones(program: Program, limit: int, room: int, everywhere: bool):
    """What fails is known earlier, what does not is the same; giving up that files are spread is a try for each set of them."""
    fn = program.build()
    lib.oric_liveness(fn)
    blocks = ffi.new("int32_t[]", [limit if b % 2 else min(room, limit) for b in range(fn.block_count)])
    common = {"limits": (limit, 7, 16, 63, 7), "most": ffi.NULL if everywhere else blocks}
    spread = 31
    while True:
        assigned, whole = allocate(fn, spread=spread, **common)
        found, brief = allocate(fn, spread=spread, brief=1, **common)
        assert brief.failed_file == whole.failed_file
        assert whole.failed_file >= 0 or (found, list(brief.used)) == (assigned, list(whole.used))
        if whole.failed_file < 0 or not spread or whole.peak[R] > limit:
            break
        spread = spread & ~(1 << whole.failed_file) if spread >> whole.failed_file & 1 else 0
    for short in (0, 1):
        found, closer = allocate(fn, spread=31, closer=1, brief=short, **common)
        assert closer.failed_file == whole.failed_file
        assert (short and whole.failed_file >= 0) or (found, list(closer.used)) == (assigned, list(whole.used))


@given(programs(files=((R, 1), (R, 2), (R, 4)), defined=True), st.integers(1, 12))
def test_what_is_surely_crowded_fits_nowhere(program: Program, limit: int):
    """So many units that interfere, each two of them, are there at one point."""
    fn = program.build()
    lib.oric_liveness(fn)
    if lib.oric_surely_crowded(fn, limit, ffi.NULL):
        assert allocate(fn, limits=(limit, 7, 16, 63, 7), hopeless=[512] * 5)[1].failed_file == R


def test_many_that_interfere_are_a_crowd():
    """Copies of one value are none."""
    reads = Insn([Access(u) for u in range(6)])
    apart = Program([(R, 1)] * 6, [[define(u) for u in range(6)] + [reads]], [[]])
    alike = Program([(R, 1)] * 6, [[define(0)] + [copy(u, 0) for u in range(1, 6)] + [reads]], [[]])
    for program, found in ((apart, 1), (alike, 0)):
        fn = program.build()
        lib.oric_liveness(fn)
        assert lib.oric_surely_crowded(fn, 5, ffi.NULL) == found
        assert not lib.oric_surely_crowded(fn, 6, ffi.NULL)
