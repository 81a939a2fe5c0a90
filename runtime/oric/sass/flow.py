"""The control-flow graph of a section of code: basic blocks and where control goes from them.

Direct branches and calls name their targets; those of indirect branches are in the container (INDIRECT_BRANCH_TARGETS). A return
goes behind every call of the section that can have called its function; what a call outside of the section does is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from oric_tables._native import ffi, lib

from oric.support.elf import CubinError

from .code import INSTRUCTION_BYTES, Code
from .listing import FunctionListing

_MOST_RETURNS: Final = 1 << 22  # edges; compilers make a few for each call


class Edge(NamedTuple):
    """Control goes to block ``to``; ``kind`` is fall, branch, indirect, call or return.

    A call whose target is known goes there and comes back by the return; what is called elsewhere is passed over.
    """

    to: int
    kind: str


@dataclass(slots=True)
class Block:
    """Instructions ``first`` to ``end`` - 1, by number, that run one behind the other."""

    first: int
    end: int
    edges: list[Edge] = field(default_factory=list)


@dataclass(slots=True)
class Flow:
    """The graph. ``blocks`` are in order of the code; ``block_of`` gives the block that begins at an instruction."""

    blocks: list[Block]
    block_of: dict[int, int]


def flow_of_listing(function: FunctionListing) -> Flow:
    """The control-flow graph of a function of a listing; every label begins a block."""
    indirect = function.facts.branch_targets if function.facts else {}
    return flow_of(function.code, indirect, tuple(function.labels), function.outside)


def flow_of(
    code: Code, indirect: Mapping[int, tuple[int, ...]], entries: tuple[int, ...] = (), outside: tuple[int, ...] = ()
) -> Flow:
    """The control-flow graph of a section.

    Args:
        code: its decoded instructions.
        indirect: byte offset of an indirect branch -> byte offsets of its targets.
        entries: byte offsets at which functions begin: blocks begin there too.
        outside: byte offsets of instructions whose target is still to be linked.

    Raises:
        CubinError: absurdly many calls and returns.
    """
    graph = ffi.gc(ffi.new("oric_check_graph *"), lib.oric_check_graph_free)
    described, keep = _described(code, indirect, entries, outside)
    if lib.oric_check_graph_build(graph, described):
        raise MemoryError("the control-flow graph ran out of memory")
    del keep
    first = ffi.unpack(graph.first, graph.count + 1)
    blocks = [Block(first[i], first[i + 1]) for i in range(graph.count)]
    for number, block in enumerate(blocks):
        callee = graph.call[number]
        if callee >= 0:
            block.edges.append(Edge(callee, "call"))
        taken = "indirect" if (block.end - 1) * INSTRUCTION_BYTES in indirect else "branch"
        for k in range(graph.succ_first[number], graph.succ_first[number + 1]):
            block.edges.append(Edge(graph.succs[k], "fall" if graph.edge[k] == lib.ORIC_EDGE_NEXT else taken))
        block.edges[:] = dict.fromkeys(block.edges)
    out = Flow(blocks, {block.first: number for number, block in enumerate(blocks)})
    _add_returns(out, [bool(graph.returns[i]) for i in range(graph.count)])
    return out


def _described(
    code: Code, indirect: Mapping[int, tuple[int, ...]], entries: tuple[int, ...], outside: tuple[int, ...]
) -> tuple[Any, list[Any]]:
    """The section as the C function takes it, and what must stay alive with it."""
    end = code.count * INSTRUCTION_BYTES

    def numbers(places: Iterable[int]) -> list[int]:
        return [at // INSTRUCTION_BYTES for at in places if 0 <= at < end and at % INSTRUCTION_BYTES == 0]

    pairs = [numbers((branch, target)) for branch, targets in indirect.items() for target in dict.fromkeys(targets)]
    jumps = [number for pair in pairs if len(pair) == 2 for number in pair]
    roots, calls = numbers(entries), sorted({at // INSTRUCTION_BYTES for at in outside if at < end})
    keep = [ffi.new("int32_t[]", found or [0]) for found in (roots, jumps, calls)]
    out = ffi.new("oric_checked_code *", {"isa": code.isa, "n": code.count, "insns": code.insns})
    out.n_roots, out.roots = len(roots), keep[0]
    out.n_jumps, out.jumps = len(jumps) // 2, keep[1]
    out.n_outside, out.outside = len(calls), keep[2]
    return out, keep


def _add_returns(flow: Flow, returns: list[bool]) -> None:
    """Edges from returns to what is behind the calls of their function: of the blocks that are connected without calls."""
    group = _groups(flow)
    behind: dict[int, set[int]] = {}
    for number, block in enumerate(flow.blocks):
        for edge in block.edges:
            if edge.kind == "call" and number + 1 < len(flow.blocks):
                behind.setdefault(group[edge.to], set()).add(number + 1)
    left = _MOST_RETURNS
    for number, block in enumerate(flow.blocks):
        if returns[number]:
            places = sorted(behind.get(group[number], ()))
            left -= len(places)
            if left < 0:
                raise CubinError("the code has too many calls and returns to follow all of them")
            block.edges += [Edge(place, "return") for place in places]


def _groups(flow: Flow) -> list[int]:
    """For every block the number of a block that stands for its function: all that control reaches, passing over calls."""
    parent = list(range(len(flow.blocks)))

    def find(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for number, block in enumerate(flow.blocks):
        for edge in block.edges:
            behind = number + 1 if edge.kind == "call" else edge.to
            if behind < len(flow.blocks):
                parent[find(behind)] = find(number)
    return [find(number) for number in range(len(flow.blocks))]
