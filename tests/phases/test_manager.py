"""The phase table and the manager."""

from __future__ import annotations

import gc
import re
import time
import weakref
from collections.abc import Callable

import pytest
from oric.driver.registry import passes
from oric.ir.cursor import Cursor
from oric.ir.function import Function, control_flow
from oric.ir.machine import MachineFunction, on_registers
from oric.ir.passes import PassContext, PassFunction
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import verify
from oric.lower.expand import PASSES as EXPANSIONS
from oric.phases import contracts
from oric.phases.cleanup import remove_dead_code
from oric.phases.contracts import BrokenPromise, provide
from oric.phases.makers import makers_of
from oric.phases.manager import PhaseManager, list_phases, name_of, select
from oric.phases.registry import PASSES as OPTIMIZATIONS
from oric.phases.ssa import generate_movphi
from oric.phases.unssa import convert_movphi
from oric.regalloc import allocate_registers
from oric.sched import schedule_instructions
from oric.support.diagnostics import InternalError
from oric_tables.op import IADD3
from oric_tables.phases import (
    ALL_ANALYSES,
    ANALYSES,
    COMPLETE,
    CONTROL_FLOW,
    DOMINATORS,
    LOOPS,
    MACHINE,
    PHASES,
    USES,
)

from tests.ir.functions import context

TEXT = """
    bix0:
        S2R R0, SR33
        MOV R1, 0x4
        IADD3 R2, R0, R1, RZ
        IADD3 R3, R0, R1, RZ
        STS R0, 0x0, R2
        EXIT
"""


PASSES = {**OPTIMIZATIONS, **EXPANSIONS}
REGISTRY = passes()


def test_table() -> None:
    rows = list_phases(3)
    assert [r[0] for r in rows] == list(range(159))
    names = {index: name for index, name, _ in rows}
    documented = {0: "OriCheckInitialProgram", 13: "GeneralOptimizeEarly", 23: "GenerateMovPhi", 72: "LateExpandSyncInstructions",
                  118: "MercExpandInstructions", 132: "UpdateAfterConvertUnsupportedOps"}  # fmt: skip
    assert documented.items() <= names.items()
    assert names[158] == "(undocumented)"
    assert sum(p.name != "undocumented" for p in PHASES) == 43
    running = {index for index, _, runs in rows if runs}
    assert {0, 3, 6, 10, 12, 13} <= running
    assert {index for index, _, runs in list_phases(0) if runs} < running


def test_every_pass_has_a_place() -> None:
    placed = {p.function for p in PHASES if p.function}
    assert set(PASSES) <= placed
    assert placed - set(PASSES) == {"lower_calls", "allocate_registers", "schedule_instructions"}


def test_levels_choose_phases() -> None:
    low, high = PhaseManager(REGISTRY, 0), PhaseManager(REGISTRY, 3)
    assert set(low.phases) < set(high.phases)
    assert {p.index for p in PHASES if p.required} <= set(low.phases)
    f = read(TEXT)
    low.run(f, context(level=0))
    assert "IADD3 R3" in write(f)
    f = read(TEXT)
    high.run(f, context())
    assert "IADD3 R3" not in write(f)


def test_dump_verify_and_times() -> None:
    shown: list[str] = []
    checked: list[str] = []
    manager = PhaseManager(
        REGISTRY, verify=lambda f, where: (checked.append(where), verify(f, where))[0], dump=("GeneralOptimizeEarly", "3"),
        dump_text=write, sink=shown.append, clock=time.perf_counter,
    )  # fmt: skip
    manager.run(read(TEXT), context())
    assert [text.split("\n")[0] for text in shown] == [
        "// test after phase 3 AnalyzeControlFlow", "// test after phase 13 GeneralOptimizeEarly",
    ]  # fmt: skip
    assert "IADD3 R3" in shown[0] and "IADD3 R3" not in shown[1]
    assert len(checked) == len(manager.phases)
    rows = manager.time_rows()
    assert [r[0] for r in rows] == manager.phases and all(r[2] >= 0 for r in rows)


def test_who_listens_is_told_of_every_phase() -> None:
    """With the code as it is behind it, and what runs is what runs when nobody listens."""
    seen: list[tuple[int, str, str]] = []
    watched, plain = read(TEXT, "sm_90"), read(TEXT, "sm_90")
    manager = PhaseManager(REGISTRY, after=[lambda f, _, index: seen.append((index, name_of(index), write(f)))])
    manager.run(watched, context())
    PhaseManager(REGISTRY).run(plain, context())
    names = {index: name for index, name, runs in list_phases(3) if runs}
    assert [(index, name) for index, name, _ in seen] == [(index, names[index]) for index in manager.phases]
    assert seen[-1][2] == write(watched) == write(plain)
    assert len({text for *_, text in seen}) > 3


class _Enough(Exception):
    """The code has gone far enough."""


def test_what_is_told_of_every_phase_and_where_to_begin() -> None:
    """Stopped behind a phase and gone on with, the code is that of one go."""
    told: list[int] = []
    last = -1

    def after(f: Function, ctx: PassContext, index: int) -> None:
        told.append(index)
        if index == last:
            raise _Enough

    manager = PhaseManager(REGISTRY, after=[after])
    whole, ctx = read(TEXT), context()
    manager.run(whole, ctx)
    assert told == manager.phases and ctx.progress == COMPLETE
    for last in (0, 13, 60, 100, manager.phases[-2]):
        told.clear()
        parts, ctx = read(TEXT), context()
        with pytest.raises(_Enough):
            manager.run(parts, ctx)
        behind, last = max(told), -1
        manager.run(parts, ctx, behind)
        assert told == manager.phases and ctx.progress == COMPLETE
        assert write(parts) == write(whole)


def test_switching_off() -> None:
    manager = PhaseManager(REGISTRY, disabled=("GeneralOptimizeEarly", "remove_dead_code"))
    assert 13 not in manager.phases and 10 not in manager.phases
    with pytest.raises(ValueError, match="is required: it cannot be switched off"):
        PhaseManager(REGISTRY, disabled=("OriSanitize",))
    with pytest.raises(ValueError, match="required and missing"):
        PhaseManager(PASSES)
    with pytest.raises(ValueError, match="there is no phase 'Nonsense'"):
        PhaseManager(REGISTRY, dump=("Nonsense",))


def test_selection() -> None:
    assert select(["all"]) == frozenset(range(159))
    assert select(["12", "OriDoPredication"]) == {12, 63}
    for name in ("undocumented", "", "159"):
        with pytest.raises(ValueError, match="no phase"):
            select([name])


@pytest.mark.row("R3-30")
@pytest.mark.parametrize("level", range(4))
def test_the_counter_of_progress_goes_up(level: int) -> None:
    """Every phase sees what its row says; behind the last one it is complete, and the next function begins at 0 again."""
    seen: list[int] = []

    def watched(run: PassFunction) -> PassFunction:
        return lambda f, ctx: (seen.append(ctx.progress), run(f, ctx))[1]

    manager = PhaseManager({name: watched(run) for name, run in REGISTRY.items()}, level)
    ctx = context(level=level)
    for _ in range(2):
        seen.clear()
        manager.run(read(TEXT), ctx)
        assert seen == [PHASES[index].enters for index in manager.phases] == sorted(seen)
        assert seen[0] == 0 and ctx.progress == COMPLETE == 21
    steps = [step for phase in PHASES for step in (phase.enters, phase.leaves)]
    assert steps == sorted(steps) and set(steps) == {*range(6), *range(7, 22)}
    documented = {5: 2, 45: 3, 54: 4, 55: 7, 83: 9, 95: 11, 108: 15}  # Data Structures, "Pipeline Progress Counter"
    assert {index: PHASES[index].leaves for index in documented} == documented
    assert all(PHASES[index].enters < PHASES[index].leaves for index in documented)


@pytest.mark.row("R3-30")
@pytest.mark.parametrize("observed", [False, True])
def test_a_counter_that_would_go_back_is_an_internal_error(observed: bool) -> None:
    def ahead(f: Function, ctx: PassContext) -> bool:
        ctx.advance(9)
        return False

    manager = PhaseManager({**REGISTRY, "value_numbering": ahead}, clock=time.perf_counter if observed else None)
    with pytest.raises(InternalError, match=r"the progress of the pipeline would go back from 9 to [345]"):
        manager.run(read(TEXT), context())
    assert manager.running.startswith("phase 49" if observed else "phase 50")


@pytest.mark.row("R3-30")
def test_dumps_say_how_far_the_pipeline_is() -> None:
    shown: list[str] = []
    PhaseManager(REGISTRY, dump=("5", "45", "55"), dump_text=write, sink=shown.append).run(read(TEXT), context())
    assert [re.findall(r"^// progress (\d+)$", text, re.MULTILINE) for text in shown] == [["2"], ["3"], ["7"]]


BRANCHES = """
    bix0:
        S2R R0, SR33
        ISETP{cmp=LT} P3, R0, 0x4
        @P3 BRA bix2
    bix1:
        IADD3 R0, R0, 0x1, RZ
    bix2:
        STS R0, 0x0, R0
        EXIT
"""
ROW = {p.function: p for p in PHASES if p.function}


def verified(function: str, planted: PassFunction) -> PhaseManager:
    """A manager with verification that runs another pass in the place of one of the table."""
    return PhaseManager({**REGISTRY, function: planted}, verify=verify)


def test_needs_are_there() -> None:
    seen: list[int] = []

    def note(f: Function, ctx: PassContext) -> bool:
        f.analyses.forget(0)
        seen.append(f.analyses.held())
        assert f.analyses.cfg is not None and f.analyses.cfg.epoch == f.flow_epoch
        return False

    assert ROW["general_optimize_early"].needs == CONTROL_FLOW | DOMINATORS
    PhaseManager({**REGISTRY, "general_optimize_early": note}).run(read(BRANCHES), context())
    assert [held & (CONTROL_FLOW | DOMINATORS) for held in seen] == [CONTROL_FLOW | DOMINATORS]


def test_what_is_not_kept_is_forgotten() -> None:
    held: list[int] = []

    def ask(f: Function, ctx: PassContext) -> bool:
        provide(f, ctx, CONTROL_FLOW | DOMINATORS | LOOPS)
        return len(held) == 0

    def note(f: Function, where: str) -> None:
        if where.startswith("phase 63"):
            held.append(f.analyses.held())

    manager = PhaseManager({**REGISTRY, "predicate_short_blocks": ask}, verify=note)
    assert ROW["predicate_short_blocks"].keeps == 0
    manager.run(read(BRANCHES), context())  # it says that it has changed something
    manager.run(read(BRANCHES), context())  # and now not
    assert held[0] == 0 and held[1] & ~USES == CONTROL_FLOW | DOMINATORS | LOOPS


@pytest.mark.row("R3-33")
def test_forgetting_one_leaves_the_others() -> None:
    f = read(BRANCHES)
    provide(f, context(), ALL_ANALYSES & ~(MACHINE | USES))
    graph = f.analyses.cfg
    assert graph is not None
    tree, nest = graph.dominators(), graph.loops()
    f.analyses.forget(LOOPS | MACHINE)
    assert f.analyses.held() == CONTROL_FLOW | DOMINATORS
    assert graph.dominators() is tree and graph.loops() is not nest
    f.analyses.forget(DOMINATORS)
    assert f.analyses.held() == CONTROL_FLOW | LOOPS and control_flow(f) is graph
    gone = weakref.ref(allocated(f))
    assert f.analyses.held() == CONTROL_FLOW | LOOPS | MACHINE
    f.analyses.forget(CONTROL_FLOW)
    assert f.analyses.held() == MACHINE and gone() is not None
    del f
    gc.collect()
    assert gone() is None  # the view goes with the function


@pytest.mark.row("R3-19")
def test_removing_dead_code_outdates_the_chains_and_making_them_clears_the_flag() -> None:
    f = read(BRANCHES.replace("ISETP", "MOV R9, 0x7\n        ISETP", 1))
    tracker = f.analyses.tracker
    assert tracker.ssa and tracker.uses
    chains = makers_of(f)
    assert not tracker.uses and makers_of(f) is chains
    assert remove_dead_code(f, context()) and tracker.uses
    again = makers_of(f)
    assert again is not chains and not tracker.uses and not again.same(chains)
    assert not remove_dead_code(f, context()) and not tracker.uses and makers_of(f) is again
    generate_movphi(f, context())
    assert not tracker.ssa
    convert_movphi(f, context())
    assert tracker.ssa


def test_chains_of_other_code_are_not_handed_out() -> None:
    f = read(BRANCHES)
    chains = makers_of(f)
    f.set_mods(next(i for i in range(f.instructions()) if f.op[i] == IADD3), 0)
    assert makers_of(f) is not chains


def allocated(f: Function) -> object:
    """The memory of the back end's view of a function after allocation."""
    allocate_registers(f, context())
    view = f.analyses.machine
    assert isinstance(view, MachineFunction)
    return view.fn


def test_outdated_analyses_are_made_anew() -> None:
    f = read(BRANCHES)
    first = control_flow(f)
    Cursor(f).new_block()
    assert control_flow(f) is not first
    allocate_registers(f := read(BRANCHES), context())
    view = on_registers(f, context().target.isa, context().target.uniform_regs)
    assert view is f.analyses.machine
    f.set_guard(f.tail[0], 0)
    assert on_registers(f, context().target.isa, context().target.uniform_regs) is not view


def drop_an_edge(f: Function) -> None:
    f.succ[f.succ_first[0]] = 1


def number_loops_anew(f: Function) -> None:
    control_flow(f).loops().depth[1] += 1


def move_the_tree(f: Function) -> None:
    control_flow(f).idom()[2] = 1


def cut(f: Function) -> None:
    Cursor(f).begin_edges()


@pytest.mark.parametrize(("lie", "analysis"), [
    (drop_an_edge, "control_flow"), (cut, "control_flow"), (move_the_tree, "dominators"), (number_loops_anew, "loops"),
])  # fmt: skip
def test_a_phase_that_lies_about_the_graph(lie: Callable[[Function], None], analysis: str) -> None:
    """One that changes what it says it keeps, by cursors or round them."""

    def planted(f: Function, ctx: PassContext) -> bool:
        provide(f, ctx, CONTROL_FLOW | DOMINATORS | LOOPS)
        lie(f)
        return True

    manager = PhaseManager({**REGISTRY, "remove_dead_code": planted}, verify=lambda f, where: None)
    with pytest.raises(BrokenPromise, match=rf"^phase 10 EarlyOriSimpleLiveDead keeps the analysis '{analysis}' of 'test'"):
        manager.run(read(BRANCHES), context())


@pytest.mark.parametrize("how", ["register", "order", "control", "cursor"])
def test_a_phase_that_lies_about_the_machine_view(how: str) -> None:
    def planted(f: Function, ctx: PassContext) -> bool:
        schedule_instructions(f, ctx)
        first = f.head[0]
        if how == "register":
            f.physical[0] = 7
        elif how == "order":
            second = f.next[first]
            f.op[first], f.op[second] = f.op[second], f.op[first]
        elif how == "control":
            f.control[first] ^= 1
        else:
            Cursor(f).remove(first)
        return True

    registry = {**REGISTRY, "allocate_registers": allocate_registers, "schedule_instructions": planted}
    manager = PhaseManager(registry, verify=lambda f, where: None)
    index = ROW["schedule_instructions"].index
    with pytest.raises(InternalError, match=rf"^phase {index} .*keeps the analysis 'machine' of 'test'"):
        manager.run(read(BRANCHES), context())


def test_a_phase_that_hides_its_changes() -> None:
    def planted(f: Function, ctx: PassContext) -> bool:
        Cursor(f).remove(f.head[1])
        return False

    with pytest.raises(BrokenPromise, match=r"^phase 13 GeneralOptimizeEarly says that it has changed nothing in 'test'"):
        verified("general_optimize_early", planted).run(read(BRANCHES), context())


def test_another_pass_in_a_place_has_its_own_contract() -> None:
    """Where a target runs something else, the row's promises are not those of what runs."""
    held: list[int] = []

    def planted(f: Function, ctx: PassContext) -> bool:
        provide(f, ctx, CONTROL_FLOW)
        return True

    def note(f: Function, where: str) -> None:
        if where.startswith("phase 49"):
            held.append(f.analyses.held())

    manager = PhaseManager({**REGISTRY, "planted": planted}, functions={49: "planted"}, verify=note)
    manager.run(read(BRANCHES), context())
    assert held == [0]


@pytest.mark.parametrize(("function", "form", "message"), [
    ("generate_movphi", False, "phase 23 GenerateMovPhi leaves 'test' outside of partial SSA form"),
    ("general_optimize_mid", False, "phase 46 GeneralOptimizeMid2 leaves 'test' outside of partial SSA form"),
    ("convert_movphi", True, r"phase 73 .* leaves 'test' in partial SSA form"),
    ("unroll_loops", True, r"phase 22 \(unroll_loops\) leaves 'test' in partial SSA form"),
])  # fmt: skip
def test_a_phase_that_leaves_the_form(function: str, form: bool, message: str) -> None:
    """Each keeps the form that its place says; the phase that opens it has opened it, the one that closes it closed it."""

    def planted(f: Function, ctx: PassContext) -> bool:
        f.in_window = form
        return False

    with pytest.raises(BrokenPromise, match=f"^{message}"):
        PhaseManager({**passes(), function: planted}, verify=lambda f, where: None).run(read(BRANCHES), context())


def test_a_phase_that_does_not_get_its_form() -> None:
    """What runs between phases is no phase, and may not open or close the form either."""

    def spoil(f: Function, where: str) -> None:
        if where.startswith("phase 22"):
            contracts.leave(f, where, "", False)
            f.in_window = True

    with pytest.raises(BrokenPromise, match=r"^phase 22 .* leaves 'test' in partial SSA form"):
        PhaseManager(passes(), verify=spoil).run(read(BRANCHES), context())
    f = read(BRANCHES)
    with pytest.raises(BrokenPromise, match=r"^phase 46 runs in partial SSA form, but 'test' is not in it"):
        contracts.enter(f, "phase 46", "window", True)
    f.in_window = True
    with pytest.raises(BrokenPromise, match=r"^phase 77 runs outside of partial SSA form, but 'test' is in it"):
        contracts.enter(f, "phase 77", "", True)


def test_every_analysis_can_be_checked() -> None:
    assert [a.name for a in ANALYSES] == list(contracts._RIGHT)
    assert sum(a.bit for a in ANALYSES) == ALL_ANALYSES
