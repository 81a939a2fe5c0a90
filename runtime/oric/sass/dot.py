"""Control-flow graphs in the language of DOT: a cluster a function, a node a basic block with its instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from .flow import Block, flow_of_listing
from .listing import FunctionListing

if TYPE_CHECKING:
    from .cli import Document

_STYLES: Final = {
    "fall": "", "branch": ' [label="branch"]', "indirect": ' [label="indirect"]', "call": ' [label="call", style=dashed]',
    "return": ' [label="return", style=dotted]',
}  # fmt: skip


def dot_lines(documents: Sequence[Document]) -> Iterator[str]:
    """One graph for all images; nodes are called ``f<function>b<offset>``."""
    yield "digraph code {"
    yield '  node [shape=box, fontname="monospace"];'
    number = 0
    for document in documents:
        for function in document.listing.functions:
            yield from _function(function, number, document.place)
            number += 1
    yield "}"


def _function(function: FunctionListing, number: int, place: str) -> Iterator[str]:
    flow = flow_of_listing(function)
    name = f"{place}: {function.name}" if place else function.name
    yield f"  subgraph cluster_{number} {{"
    yield f'    label="{_quoted(name)}";'
    for block in flow.blocks:
        lines = [f"{label}:" for label in function.labels.get(function.lines[block.first].offset, ())]
        lines += [f"/*{line.offset:04x}*/ {line.text}" for line in function.lines[block.first : block.end]]
        text = "".join(f"{_quoted(line)}\\l" for line in lines)
        yield f'    {_node(function, number, block)} [label="{text}"];'
    for block in flow.blocks:
        for edge in block.edges:
            yield f"    {_node(function, number, block)} -> {_node(function, number, flow.blocks[edge.to])}{_STYLES[edge.kind]};"
    yield "  }"


def _node(function: FunctionListing, number: int, block: Block) -> str:
    return f"f{number}b{function.lines[block.first].offset:04x}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
