"""Control-flow analyses against hand-made samples and networkx."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from oric.ir.cfg import Cfg

SAMPLE = [[1], [2, 3], [1], []]


def graph_of(succs: list[list[int]]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(succs)))
    graph.add_edges_from((b, t) for b, targets in enumerate(succs) for t in targets)
    return graph


def random_cfg(rng: random.Random) -> list[list[int]]:
    n = rng.randint(1, 14)
    return [rng.sample(range(n), min(n, rng.choice([0, 1, 1, 2, 2, 3]))) for _ in range(n)]


def test_documented_order() -> None:
    cfg = Cfg(SAMPLE)
    assert cfg.order == [0, 1, 3, 2]
    assert cfg.number == [0, 1, 3, 2]
    assert cfg.loops.back_edges == [(2, 1)]
    assert cfg.loops.depth == [0, 1, 1, 0]


def test_long_chain_and_deep_nest() -> None:
    n = 100_000
    cfg = Cfg([[b + 1] for b in range(n - 1)] + [[]])
    assert cfg.order == list(range(n))
    assert cfg.idom[-1] == n - 2
    assert cfg.ipdom[0] == 1
    # every block jumps back to its mirror image: 500 loops inside one another
    half = 500
    succs = [[b + 1] for b in range(half)] + [[b + 1, 2 * half - b - 1] for b in range(half, 2 * half)] + [[]]
    nest = Cfg(succs).loops
    assert nest.count == half
    assert max(nest.depth) == half
    assert not nest.irreducible


def test_unreachable_blocks() -> None:
    cfg = Cfg([[2], [2], []])
    assert cfg.number == [0, -1, 1]
    assert cfg.idom == [0, -1, 0]
    assert cfg.preds == [[], [], [0, 1]]
    assert not cfg.dominates(1, 2) and not cfg.dominates(0, 1)


def test_irreducible_edge_is_named() -> None:
    loops = Cfg([[1, 2], [2], [1, 3], []]).loops
    assert loops.count == 0
    assert loops.irreducible in ([(2, 1)], [(1, 2)])


@pytest.mark.parametrize("seed", range(400))
def test_dominators_against_networkx(seed: int) -> None:
    succs = random_cfg(random.Random(seed))
    cfg = Cfg(succs)
    graph = graph_of(succs)
    reachable = set(nx.descendants(graph, 0)) | {0}
    assert set(cfg.order) == reachable
    expected = dict(nx.immediate_dominators(graph, 0))
    expected[0] = 0
    assert {b: cfg.idom[b] for b in reachable} == {b: expected[b] for b in reachable}
    assert all(cfg.idom[b] == -1 for b in range(len(succs)) if b not in reachable)
    for block in range(len(succs)):
        assert cfg.preds[block] == sorted(graph.predecessors(block))
    for a in reachable:
        without = set(nx.descendants(graph.subgraph(set(graph) - {a}), 0)) | {0} if a else set()
        for b in reachable:
            assert cfg.dominates(a, b) == (a == b or b not in without)


@pytest.mark.parametrize("seed", range(200))
def test_postdominators_against_networkx(seed: int) -> None:
    succs = random_cfg(random.Random(1000 + seed))
    n = len(succs)
    graph = graph_of(succs)
    exits = [b for b, targets in enumerate(succs) if not targets]
    graph.add_node(n)
    graph.add_edges_from((b, n) for b in exits)
    expected = dict(nx.immediate_dominators(graph.reverse(), n))
    got = Cfg(succs).ipdom
    assert got == [expected.get(b, -1) for b in range(n)]


@pytest.mark.parametrize("seed", range(300))
def test_loops_against_their_definition(seed: int) -> None:
    succs = random_cfg(random.Random(2000 + seed))
    cfg = Cfg(succs)
    graph = graph_of(succs)
    bodies: dict[int, set[int]] = {}
    for b in cfg.order:
        for target in succs[b]:
            if cfg.dominates(target, b):
                outside = graph.subgraph(set(cfg.order) - {target})
                body = {target, b} | (set(nx.ancestors(outside, b)) if b != target else set())
                bodies.setdefault(target, set()).update(body)
    loops = cfg.loops
    assert {h: set(body) for h, body in loops.bodies().items()} == bodies
    assert loops.count == len(bodies)
    assert loops.depth == [sum(b in body for body in bodies.values()) for b in range(len(succs))]
    order_edges = set(loops.back_edges) | set(loops.irreducible)
    acyclic = nx.DiGraph(e for e in graph.edges if e[0] in cfg.order and e not in order_edges)
    assert nx.is_directed_acyclic_graph(acyclic)
