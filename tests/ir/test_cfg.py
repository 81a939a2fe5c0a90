"""Control-flow analyses against hand-made samples and networkx."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from librt.vecs import vec
from mypy_extensions import i64
from oric.ir.cfg import Cfg
from oric.ir.cfg import graph_of as analysed

SAMPLE = [[1], [2, 3], [1], []]


def order_of(cfg: Cfg) -> list[int]:
    return list(cfg.order)[: cfg.reachable]


def marked(cfg: Cfg, mark: int) -> list[tuple[int, int]]:
    """Edges that :class:`oric.ir.cfg.Loops` marks so: 1 back edges, 2 irreducible ones."""
    back, start = cfg.loops().back, cfg.succ_start
    return [(b, cfg.succ[e]) for b in order_of(cfg) for e in range(start[b], start[b + 1]) if back[e] == mark]


def ipdom_of(cfg: Cfg) -> list[int]:
    """Immediate post-dominators when the function ends in the blocks without successors."""
    return list(cfg.postdominators(vec[i64]([not cfg.successors(b) for b in range(cfg.blocks)])))


def bodies_of(cfg: Cfg) -> dict[int, set[int]]:
    """The blocks of the loop of each header."""
    loops = cfg.loops()
    headers = {h for h in loops.header if h >= 0}
    return {h: {b for b in range(cfg.blocks) if loops.contains(h, b)} for h in headers}


def graph_of(succs: list[list[int]]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(succs)))
    graph.add_edges_from((b, t) for b, targets in enumerate(succs) for t in targets)
    return graph


def random_cfg(rng: random.Random) -> list[list[int]]:
    n = rng.randint(1, 14)
    return [rng.sample(range(n), min(n, rng.choice([0, 1, 1, 2, 2, 3]))) for _ in range(n)]


@pytest.mark.row("R1-12")
def test_documented_order() -> None:
    cfg = analysed(SAMPLE)
    assert order_of(cfg) == [0, 1, 3, 2]
    assert list(cfg.number) == [0, 1, 3, 2]
    assert marked(cfg, 1) == [(2, 1)]
    assert list(cfg.loops().depth) == [0, 1, 1, 0]


@pytest.mark.row("R1-12")
def test_long_chain_and_deep_nest() -> None:
    n = 100_000
    cfg = analysed([[b + 1] for b in range(n - 1)] + [[]])
    assert order_of(cfg) == list(range(n))
    assert cfg.idom()[n - 1] == n - 2
    assert ipdom_of(cfg)[0] == 1
    # every block jumps back to its mirror image: 500 loops inside one another
    half = 500
    succs = [[b + 1] for b in range(half)] + [[b + 1, 2 * half - b - 1] for b in range(half, 2 * half)] + [[]]
    nest = analysed(succs).loops()
    assert nest.count == half
    assert max(nest.depth) == half
    assert not nest.irreducible


def test_unreachable_blocks() -> None:
    cfg = analysed([[2], [2], []])
    assert list(cfg.number) == [0, -1, 1]
    assert list(cfg.idom()) == [0, -1, 0]
    assert [cfg.predecessors(b) for b in range(3)] == [[], [], [0, 1]]
    assert not cfg.dominates(1, 2) and not cfg.dominates(0, 1)


def test_irreducible_edge_is_named() -> None:
    cfg = analysed([[1, 2], [2], [1, 3], []])
    assert cfg.loops().count == 0 and cfg.loops().irreducible
    assert marked(cfg, 1) == []
    assert marked(cfg, 2) in ([(2, 1)], [(1, 2)])


@pytest.mark.row("R1-16")
@pytest.mark.parametrize("seed", range(400))
def test_dominators_against_networkx(seed: int) -> None:
    succs = random_cfg(random.Random(seed))
    cfg = analysed(succs)
    graph = graph_of(succs)
    reachable = set(nx.descendants(graph, 0)) | {0}
    assert set(order_of(cfg)) == reachable
    expected = dict(nx.immediate_dominators(graph, 0))
    expected[0] = 0
    assert {b: cfg.idom()[b] for b in reachable} == {b: expected[b] for b in reachable}
    assert all(cfg.idom()[b] == -1 for b in range(len(succs)) if b not in reachable)
    for block in range(len(succs)):
        assert cfg.predecessors(block) == sorted(graph.predecessors(block))
    for a in reachable:
        without = set(nx.descendants(graph.subgraph(set(graph) - {a}), 0)) | {0} if a else set()
        for b in reachable:
            assert cfg.dominates(a, b) == (a == b or b not in without)


@pytest.mark.row("R1-16")
@pytest.mark.parametrize("seed", range(200))
def test_postdominators_against_networkx(seed: int) -> None:
    succs = random_cfg(random.Random(1000 + seed))
    n = len(succs)
    graph = graph_of(succs)
    exits = [b for b, targets in enumerate(succs) if not targets]
    graph.add_node(n)
    graph.add_edges_from((b, n) for b in exits)
    expected = dict(nx.immediate_dominators(graph.reverse(), n))
    got = ipdom_of(analysed(succs))
    assert got == [expected.get(b, -1) for b in range(n)]


@pytest.mark.row("R1-15")
@pytest.mark.parametrize("seed", range(300))
def test_loops_against_their_definition(seed: int) -> None:
    succs = random_cfg(random.Random(2000 + seed))
    cfg = analysed(succs)
    graph = graph_of(succs)
    bodies: dict[int, set[int]] = {}
    order = order_of(cfg)
    for b in order:
        for target in succs[b]:
            if cfg.dominates(target, b):
                outside = graph.subgraph(set(order) - {target})
                body = {target, b} | (set(nx.ancestors(outside, b)) if b != target else set())
                bodies.setdefault(target, set()).update(body)
    loops = cfg.loops()
    assert bodies_of(cfg) == bodies
    assert loops.count == len(bodies)
    assert list(loops.depth) == [sum(b in body for body in bodies.values()) for b in range(len(succs))]
    assert loops.irreducible == bool(marked(cfg, 2))
    order_edges = {*marked(cfg, 1), *marked(cfg, 2)}
    acyclic = nx.DiGraph(e for e in graph.edges if e[0] in order and e not in order_edges)
    assert nx.is_directed_acyclic_graph(acyclic)
