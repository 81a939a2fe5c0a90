"""The control-flow graph of a section of code: basic blocks and where control goes from them.

Direct branches and calls name their targets; those of indirect branches are in the container (INDIRECT_BRANCH_TARGETS). A return
goes behind every call of the section that can have called its function; what a call outside of the section does is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from oric_tables import ops
from oric_tables._native import lib

from oric.support.elf import CubinError

from .code import INSTRUCTION_BYTES, Code

_ENDS: Final = ops.E_BRANCH | ops.E_CALL | ops.E_RETURN | ops.E_EXIT
_CONDITIONAL_MODES: Final = ("DIV", "CONV")  # of a branch without a predicate: whether the warp has diverged
_TRUE: Final = 7
_MOST_RETURNS: Final = 1 << 22  # edges; compilers make a few for each call
_PREDICATES: Final = (lib.ORIC_K_PRED, lib.ORIC_K_UPRED)


class Edge(NamedTuple):
    """Control goes to block ``to``; ``kind`` is fall, branch, indirect, call or return."""

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


def flow_of(code: Code, indirect: Mapping[int, tuple[int, ...]], entries: tuple[int, ...] = ()) -> Flow:
    """The control-flow graph of a section.

    Args:
        code: its decoded instructions.
        indirect: byte offset of an indirect branch -> byte offsets of its targets.
        entries: byte offsets at which functions begin: blocks begin there too.

    Raises:
        CubinError: absurdly many calls and returns.
    """
    if code.count == 0:
        return Flow([], {})
    effects = [op.effects if (op := ops.OPS[code.insns[i].op]) else 0 for i in range(code.count)]
    targets: dict[int, list[int]] = {}
    direct = [(at, to) for at, to in code.branches() if _names_target(code, at // INSTRUCTION_BYTES, effects)]
    for source, target in [*direct, *((b, t) for b, found in indirect.items() for t in found)]:
        number = source // INSTRUCTION_BYTES
        inside = target % INSTRUCTION_BYTES == 0 and 0 <= target < code.count * INSTRUCTION_BYTES
        if inside and number < code.count and effects[number] & _ENDS:
            targets.setdefault(number, []).append(target // INSTRUCTION_BYTES)
    starts = {0, *(at // INSTRUCTION_BYTES for at in entries), *(t for found in targets.values() for t in found)}
    starts |= {i + 1 for i, effect in enumerate(effects) if effect & _ENDS}
    firsts = sorted(s for s in starts if 0 <= s < code.count)
    blocks = [Block(first, end) for first, end in zip(firsts, [*firsts[1:], code.count], strict=True)]
    out = Flow(blocks, {block.first: number for number, block in enumerate(blocks)})
    for number, block in enumerate(blocks):
        last = block.end - 1
        effect = effects[last]
        kind = "call" if effect & ops.E_CALL else "indirect" if last * INSTRUCTION_BYTES in indirect else "branch"
        block.edges += [Edge(out.block_of[t], kind) for t in dict.fromkeys(targets.get(last, ()))]
        stays = not effect & _ENDS or effect & ops.E_CALL or may_fall_through(code, last)
        if stays and number + 1 < len(blocks):
            block.edges.append(Edge(number + 1, "fall"))
    _add_returns(out, effects)
    return out


def _names_target(code: Code, number: int, effects: list[int]) -> bool:
    """True when the label operand is where control goes: no return, and no register is added to it."""
    insn = code.insns[number]
    return not effects[number] & ops.E_RETURN and all(insn.ops[i].kind != lib.ORIC_K_GPR for i in range(insn.nops))


def may_fall_through(code: Code, number: int) -> bool:
    """True when a branch, return or exit depends on a condition."""
    insn = code.insns[number]
    op = ops.OPS[insn.op]
    if op is None or insn.guard != _TRUE or insn.guard_neg:
        return True
    operands = [insn.ops[i] for i in range(insn.nops)]
    if any(x.kind in _PREDICATES and (x.reg != _TRUE or x.flags & lib.ORIC_F_NEG) for x in operands):
        return True
    by_mask = any(x.kind == lib.ORIC_K_LABEL for x in operands) and any(x.kind == lib.ORIC_K_UGPR for x in operands)
    return by_mask or op.unpack(insn.mods).get("mode") in _CONDITIONAL_MODES


def _add_returns(flow: Flow, effects: list[int]) -> None:
    """Edges from returns to what is behind the calls of their function: of the blocks that are connected without calls."""
    group = _groups(flow)
    behind: dict[int, set[int]] = {}
    for number, block in enumerate(flow.blocks):
        for edge in block.edges:
            if edge.kind == "call" and number + 1 < len(flow.blocks):
                behind.setdefault(group[edge.to], set()).add(number + 1)
    left = _MOST_RETURNS
    for number, block in enumerate(flow.blocks):
        if effects[block.end - 1] & ops.E_RETURN:
            places = sorted(behind.get(group[number], ()))
            left -= len(places)
            if left < 0:
                raise CubinError("the code has too many calls and returns to follow all of them")
            block.edges += [Edge(place, "return") for place in places]


def _groups(flow: Flow) -> list[int]:
    """For every block the number of a block that stands for all that are connected with it without calls and returns."""
    parent = list(range(len(flow.blocks)))

    def find(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for number, block in enumerate(flow.blocks):
        for edge in block.edges:
            if edge.kind != "call":
                parent[find(edge.to)] = find(number)
    return [find(number) for number in range(len(flow.blocks))]
