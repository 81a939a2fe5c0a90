"""Dumps of the control flow, letter for letter where the documents have the text."""

from __future__ import annotations

import re

import networkx as nx
import pytest
from oric.inside.kinds import KINDS
from oric.ir.read import read

from tests.inside.looking import NAMES, facts, kernel, lines_of, looked

DIAMOND = """entry k sm_90
bix0:
    @P9 BRA bix2
bix1:
    BRA bix3
bix2:
    MOV R1, 0x1
bix3:
    EXIT
"""
# The graph of the documents: edges 0-1, 1-2, 1-3, 2-1.
LOOP = """entry k sm_90
bix0: -> bix1
    MOV R1, 0x1
bix1: -> bix2 bix3
    @P9 BRA bix2
bix2: -> bix1
    MOV R1, 0x2
bix3: -> -
    EXIT
"""
LINE = re.compile(r"(bix\d+)(?: -> (bix\d+)( // backedge \(loop\))?)?")


def read_dot(lines: list[str]) -> nx.DiGraph:
    """A graph in DOT as a reader of the language takes it: comments, attributes of nodes, nodes and edges."""
    assert lines[0] == "digraph f {" and lines[-1] == "}"
    assert re.fullmatch(r'node \[(\w+=("[^"]*"|\w+) ?)+\]', lines[1])
    graph: nx.DiGraph = nx.DiGraph()
    for line in lines[2:-1]:
        match = LINE.fullmatch(line)
        assert match, line
        if match[2]:
            graph.add_edge(match[1], match[2], back=match[3] is not None)
        else:
            graph.add_node(match[1])
    return graph


@pytest.mark.row("R1-13")
def test_edges_of_a_diamond() -> None:
    assert lines_of("edges", DIAMOND) == ["bix0 -> bix2", "bix0 -> bix1", "bix1 -> bix3", "bix2 -> bix3"]


@pytest.mark.row("R1-14")
def test_order_and_back_edges_are_the_documented_ones() -> None:
    """The documented sample has the loop's body behind its exit in the order."""
    lines = lines_of("rpo", LOOP)
    assert lines == [
        "Showing RPO state for each basic block:", "bix0 -> RPONum: 0", "bix1 -> RPONum: 1", "bix2 -> RPONum: 3",
        "bix3 -> RPONum: 2", "RPO traversal order: bix0, bix1, bix3, bix2", "Showing backedge info:",
        "bix2 -> backedge's successor BB: 1",
    ]  # fmt: skip


@pytest.mark.row("R1-08")
def test_a_loop_in_dot() -> None:
    lines = lines_of("dot", LOOP)
    assert lines == [
        "digraph f {", 'node [fontname="Courier" shape=box]', "bix0 -> bix1", "bix1 -> bix2", "bix1 -> bix3",
        "bix2 -> bix1 // backedge (loop)", "}",
    ]  # fmt: skip
    graph = read_dot(lines)
    assert nx.find_cycle(graph) == [("bix1", "bix2"), ("bix2", "bix1")]
    assert lines_of("dot", "entry k sm_90\nbix0:\n    EXIT\n")[2] == "bix0", "a block without edges is a node"


@pytest.mark.row("R1-08", "R1-13")
@pytest.mark.parametrize("name", NAMES)
def test_graphs_of_kernels_agree(name: str) -> None:
    """Edges, DOT and blocks say the same; without its back edges the graph has no cycle."""
    records, _ = looked(kernel(name), ("edges", "dot", "cfg", "rpo"), ("AnalyzeControlFlow", "132"))
    for at in range(0, len(records), 4):
        edges, dot, cfg, rpo = records[at : at + 4]
        graph = read_dot(list(KINDS["dot"].lines(dot))[1:])
        pairs = [(f"bix{e['from']}", f"bix{e['to']}") for e in edges["edges"]]
        assert sorted(graph.edges) == sorted(set(pairs))
        assert sorted(pairs) == sorted((f"bix{b['block']}", f"bix{to}") for b in cfg["blocks"] for to in b["successors"])
        assert sorted(pairs) == sorted((f"bix{by}", f"bix{b['block']}") for b in cfg["blocks"] for by in b["predecessors"])
        assert [b["number"] for b in cfg["blocks"]] == rpo["numbers"]
        idom = nx.immediate_dominators(graph, "bix0")
        for b in cfg["blocks"]:
            if b["number"] > 0:
                assert idom[f"bix{b['block']}"] == f"bix{b['dominator']}"
        back = [(f"bix{e['from']}", f"bix{e['to']}") for e in rpo["backedges"]]
        assert {edge for edge in graph.edges if graph.edges[edge]["back"]} == set(back)
        if not cfg["irreducible"]:
            graph.remove_edges_from(back)
            assert nx.is_directed_acyclic_graph(graph)
    assert any(record["dump"] == "rpo" and record["backedges"] for record in records) or name in ("saxpy", "divrem")


def test_blocks_in_text() -> None:
    record = KINDS["cfg"].record(read(LOOP), facts())
    assert list(KINDS["cfg"].lines(record)) == [
        "// k for sm_90 after phase 0 text: cfg",
        "4 blocks, 1 loops, reducible",
        "- -> bix0 -> bix1: 1 instructions, lines 3, RPONum 0, idom -",
        "bix0 bix2 -> bix1 -> bix2 bix3: 1 instructions, lines 5, RPONum 1, idom bix0, loop bix1 depth 1",
        "bix1 -> bix2 -> bix1: 1 instructions, lines 7, RPONum 3, idom bix1, loop bix1 depth 1",
        "bix1 -> bix3 -> -: 1 instructions, lines 9, RPONum 2, idom bix1",
    ]
