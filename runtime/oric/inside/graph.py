"""Dumps of the control flow: blocks, order and back edges, edges, Graphviz DOT.

The texts of order, edges and DOT are the documented ones (spec/dumps.yaml). Source: Ori IR, "Block Entry Layout", "Key CFG
Functions".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oric_tables.reports import FORMATS

from oric.ir.function import Function, control_flow
from oric.ir.lineinfo import line_of
from oric.ir.text import instructions_of

from .facts import Facts, Record, head, title

_BACK: Final = 1  # of an edge: from the body of a loop to its header
_OPENING, _NODE, _EDGE, _BACKEDGE, _CLOSING = FORMATS["dot"]
_NODE_STYLE: Final = _NODE.replace("...", "shape=box")
(_EDGE_LINE,) = FORMATS["edges"]
_ORDER_TITLE, _ORDER_LINE, _ORDER, _BACK_TITLE, _BACK_LINE = FORMATS["order"]
_ORDER_HEAD, _BLOCK, _ = _ORDER.partition("bix%d")


def _edges(f: Function) -> list[Record]:
    """The edges in order of their source; ``back``: from the body of a loop to its header."""
    graph = control_flow(f)
    back = graph.loops().back
    return [
        {"from": b, "to": int(graph.succ[e]), "back": back[e] == _BACK}
        for b in range(graph.blocks)
        for e in range(graph.succ_start[b], graph.succ_start[b + 1])
    ]


def edges_record(f: Function, facts: Facts) -> Record:
    """The edges."""
    return {**head("edges", f, facts), "edges": _edges(f)}


def edges_lines(record: Record) -> Iterator[str]:
    """A line for every edge."""
    yield title(record)
    yield from (_EDGE_LINE % (e["from"], e["to"]) for e in record["edges"])


def order_record(f: Function, facts: Facts) -> Record:
    """The number of every block in reverse post-order (-1: nothing reaches it), the order, and the back edges."""
    graph = control_flow(f)
    return {
        **head("rpo", f, facts),
        "numbers": [int(graph.number[b]) for b in range(graph.blocks)],
        "order": [int(graph.order[at]) for at in range(graph.reachable)],
        "backedges": [{"from": e["from"], "to": e["to"]} for e in _edges(f) if e["back"]],
    }


def order_lines(record: Record) -> Iterator[str]:
    """The documented three headings with their lines."""
    yield title(record)
    yield _ORDER_TITLE
    yield from (_ORDER_LINE % (b, number) for b, number in enumerate(record["numbers"]))
    yield _ORDER_HEAD + ", ".join(_BLOCK % b for b in record["order"])
    yield _BACK_TITLE
    yield from (_BACK_LINE % (e["from"], e["to"]) for e in record["backedges"])


def dot_record(f: Function, facts: Facts) -> Record:
    """Blocks and edges."""
    return {**head("dot", f, facts), "blocks": list(range(f.blocks())), "edges": _edges(f)}


def dot_lines(record: Record) -> Iterator[str]:
    """The graph in DOT; a block without edges has a line of its own."""
    yield title(record)
    yield _OPENING
    yield _NODE_STYLE
    joined = {end for e in record["edges"] for end in (e["from"], e["to"])}
    yield from (_BLOCK % b for b in record["blocks"] if b not in joined)
    for e in record["edges"]:
        yield (_BACKEDGE if e["back"] else _EDGE) % (e["from"], e["to"])
    yield _CLOSING


def cfg_record(f: Function, facts: Facts) -> Record:
    """Blocks with their neighbours, place in the order, dominators and loops.

    ``dominator``: the immediate one, -1 for the entry and what nothing reaches; ``loop``: header of the innermost loop around a
    block, -1 for none, ``depth``: the number of loops around it; ``lines``: first and last line of the PTX that it is from.
    """
    graph = control_flow(f)
    loops, idom = graph.loops(), graph.idom()
    before: list[list[int]] = [[] for _ in range(f.blocks())]
    for e in _edges(f):
        before[e["to"]].append(e["from"])
    blocks = []
    for b in range(graph.blocks):
        places = instructions_of(f, b)
        lines = sorted(line for line in (line_of(f.line[i]) for i in places) if line > 0)
        blocks.append({
            "block": b,
            "label": f.labels[b] or "",
            "instructions": len(places),
            "lines": [lines[0], lines[-1]] if lines else [],
            "successors": [int(graph.succ[e]) for e in range(graph.succ_start[b], graph.succ_start[b + 1])],
            "predecessors": before[b],
            "number": int(graph.number[b]),
            "dominator": int(idom[b]) if graph.number[b] > 0 else -1,
            "loop": int(loops.header[b]),
            "depth": int(loops.depth[b]),
        })  # fmt: skip
    return {**head("cfg", f, facts), "loops": loops.count, "irreducible": bool(loops.irreducible), "blocks": blocks}


def cfg_lines(record: Record) -> Iterator[str]:
    """A line for every block."""
    yield title(record)
    shape = "irreducible" if record["irreducible"] else "reducible"
    yield f"{len(record['blocks'])} blocks, {record['loops']} loops, {shape}"
    for b in record["blocks"]:
        ways = f"{_names(b['predecessors'])} -> bix{b['block']} -> {_names(b['successors'])}"
        lines = "-".join(map(str, dict.fromkeys(b["lines"]))) or "none"
        notes = f"{b['instructions']} instructions, lines {lines}, RPONum {b['number']}, idom {_names([b['dominator']])}"
        loop = f", loop bix{b['loop']} depth {b['depth']}" if b["depth"] else ""
        yield f"{ways}: {notes}{loop}"


def _names(blocks: list[int]) -> str:
    return " ".join(f"bix{b}" for b in blocks if b >= 0) or "-"
