"""Convergence barriers in random graphs, on a small warp model. Known shapes are cases in ``tests/ir/cases/convergence``."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import Function, R
from oric.ir.text import all_instructions
from oric.ir.verify import verify
from oric.phases.control import analyze_control_flow, set_control_flow_last, simplify_control_flow
from oric.phases.convergence import insert_convergence_barriers
from oric_tables import op

from tests import campaigns
from tests.ir.functions import context
from tests.phases.test_control import random_code
from tests.phases.warp import Warp


def make_predicates_vary(f: Function) -> None:
    """Define the predicates of random code by the thread's number."""
    cursor = Cursor(f)
    cursor.at_start(0)
    lane = opd.reg(f.new_reg(R))
    cursor.make2(op.S2R, lane, opd.special(33))
    for predicate in range(4):
        cursor.make2(op.ISETP, opd.reg(predicate), lane)
        cursor.put(opd.RZ_OPERAND)


@pytest.mark.parametrize("seed", campaigns.seeds(500, first=20))
def test_random_graphs(seed: int) -> None:
    rng = random.Random(seed)
    f = random_code(rng)
    make_predicates_vary(f)
    analyze_control_flow(f, context(level=0))
    set_control_flow_last(f, context(level=0))
    if seed % 2:
        simplify_control_flow(f, context())
    table = [[[rng.random() < 0.5 for _ in range(13)] for _ in range(4)] for _ in range(4)]

    def decide(thread: int, predicate: int, step: int) -> bool:
        return table[thread][predicate][step % 13]

    alone = []
    for thread in range(4):
        single = Warp(f, 1, lambda _, p, k, t=thread: decide(t, p, k))  # type: ignore[misc]
        single.run()
        alone.append((single.traces[0], single.place[0] is None))
    insert_convergence_barriers(f, context(level=0))
    verify(f)
    warp = Warp(f, 4, decide)
    warp.run()
    if all(done for _, done in alone):  # threads that never end keep others waiting, as they may
        assert [t for t, _ in alone] == warp.traces
        assert warp.place == [None] * 4
    for i in all_instructions(f):
        if f.op[i] == op.BSSY:  # the barrier's label is the block right behind its BSYNC
            sync = f.tail[opd.index_of(f.get(i, 1)) - 1]
            assert sync >= 0 and f.op[sync] == op.BSYNC and f.get(sync, 0) == f.get(i, 0)
