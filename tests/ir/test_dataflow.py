"""Data flow over blocks against the definition: sweeps over all blocks until nothing changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric.ir.cfg import Cfg, graph_of
from oric.ir.dataflow import DataFlow, Worklist

Sets = list[set[int]]
BITS = 37  # more than one word, the last one not full


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[list[int]], int, Sets, Sets, set[int]]:
    """Successors, number of facts, and those that each block makes and stops, and those at the start."""
    blocks = draw(st.integers(1, 9))
    block = st.integers(0, blocks - 1)
    succs = draw(st.lists(st.lists(block, max_size=3, unique=True), min_size=blocks, max_size=blocks))
    bits = draw(st.sampled_from([1, 2, 31, 32, 33, BITS, 64, 65]))
    facts = st.sets(st.integers(0, bits - 1), max_size=4)
    sets = st.lists(facts, min_size=blocks, max_size=blocks)
    return succs, bits, draw(sets), draw(sets), draw(facts)


def naive(cfg: Cfg, bits: int, made: Sets, stopped: Sets, start: set[int], backward: bool, every: bool) -> tuple[Sets, Sets]:
    """What holds in front of and behind each block."""
    reached = [b for b in range(cfg.blocks) if cfg.number[b] >= 0]
    everything = set(range(bits))
    front: Sets = [set() for _ in range(cfg.blocks)]
    behind: Sets = [set(everything) if every and b in reached else set() for b in range(cfg.blocks)]
    while True:
        before = [set(s) for s in behind]
        for b in reached:
            into = [p for p in (cfg.successors(b) if backward else cfg.predecessors(b)) if p in reached]
            coming = [behind[p] for p in into]
            if (not cfg.successors(b)) if backward else b == 0:
                coming.append(start)
            front[b] = set.intersection(everything, *coming) if every else set().union(*coming)
            behind[b] = front[b] - stopped[b] | made[b]
        if behind == before:
            return front, behind


@pytest.mark.parametrize("every", [False, True], ids=["any", "every"])
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@given(problem=problems())
def test_agrees_with_sweeps(backward: bool, every: bool, problem: tuple[list[list[int]], int, Sets, Sets, set[int]]) -> None:
    succs, bits, made, stopped, start = problem
    cfg = graph_of(succs)
    flow = DataFlow(cfg, bits, backward, every)
    for b in range(cfg.blocks):
        for bit in made[b]:
            flow.make(b, bit)
        for bit in stopped[b]:
            flow.stop(b, bit)
    for bit in start:
        flow.start(bit)
    flow.solve()
    front, behind = naive(cfg, bits, made, stopped, start, backward, every)
    for b in range(cfg.blocks):
        assert {bit for bit in range(bits) if flow.in_front(b, bit)} == front[b]
        assert {bit for bit in range(bits) if flow.behind(b, bit)} == behind[b]
        assert flow.passes(b) == bool(front[b] - stopped[b])


def test_a_loop() -> None:
    """0 -> 1 <-> 2, 1 -> 3: what 2 makes reaches 1 round the loop, what 0 makes is stopped in 1."""
    cfg = graph_of([[1], [2, 3], [1], []])
    for every, first in ((False, [False, True]), (True, [False, False])):
        flow = DataFlow(cfg, 2, every=every)
        flow.make(0, 0)
        flow.stop(1, 0)
        flow.make(2, 1)
        flow.solve()
        assert [flow.in_front(1, 0), flow.in_front(1, 1)] == [not every, first[1]]
        assert [flow.behind(1, 0), flow.behind(1, 1)] == [False, first[1]]
        assert [flow.in_front(3, 0), flow.in_front(3, 1)] == [False, first[1]]


def test_places_that_are_none() -> None:
    flow = DataFlow(graph_of([[1], []]), 3)
    for call in (flow.make, flow.stop, flow.in_front, flow.behind):
        for b, bit in ((2, 0), (-1, 0), (0, 3), (0, -1)):
            with pytest.raises(IndexError, match="no such block or fact"):
                call(b, bit)
    with pytest.raises(IndexError, match="no such block or fact"):
        flow.start(3)


@given(st.lists(st.integers(-1, 5), max_size=60))
def test_worklist(steps: list[int]) -> None:
    """-1 takes, other numbers are added."""
    work, model = Worklist(6), list[int]()
    for step in steps:
        if step >= 0:
            work.add(step)
            if step not in model:
                model.append(step)
        elif model:
            assert work.take() == model.pop(0)
        else:
            with pytest.raises(IndexError, match="nothing waits"):
                work.take()
        assert work.count == len(model)
