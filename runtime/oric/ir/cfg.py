"""Control-flow analyses: order, dominators, post-dominators, loops.

Source: Ori IR, "Key CFG Functions". The loops over blocks are C (``native/support/cfg.c``), with explicit stacks.
"""

from __future__ import annotations

from typing import Any, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables._native import ffi, lib

from oric.support.arrays import nones, zeros
from oric.support.lend import lend

_DEEPEST: Final = 5  # loops beyond them count no more


@final
class Loops:
    """Natural loops of a control-flow graph.

    ``header[b]`` is the header of the innermost loop around b (-1 = none), ``outer[h]`` the header of the loop around the
    loop of h, ``depth[b]`` the number of loops around b. ``back[e]`` is 1 for an edge from a loop's body to its header, 2
    for one that goes back to a block that does not dominate its source (``irreducible``), else 0.
    """

    def __init__(self, blocks: i64, edges: i64) -> None:
        self.count: int = 0
        self.header = nones(blocks)
        self.outer = nones(blocks)
        self.depth = zeros(blocks)
        self.back = zeros(edges)
        self.irreducible = False

    def same(self, other: Loops) -> bool:
        """Whether both are the same nest."""
        if self.count != other.count or self.irreducible != other.irreducible or not _equal(self.back, other.back):
            return False
        return _equal(self.header, other.header) and _equal(self.outer, other.outer) and _equal(self.depth, other.depth)

    def contains(self, header: i64, block: i64) -> bool:
        """Whether ``block`` lies in the loop of ``header``."""
        depth = self.depth[header]
        at = self.header[block]
        while at >= 0 and self.depth[at] > depth:
            at = self.outer[at]
        return at == header

    def runs(self, b: i64) -> int:
        """How often a block is expected to run for once that the function does: each loop has some eight rounds."""
        found: int = 8 ** min(self.depth[b], _DEEPEST)
        return found

    def left(self, b: i64, x: i64) -> i64:
        """The header of the outermost loop that the edge from ``b`` to ``x`` leaves, -1 when it stays in all loops."""
        inner = self.header[b]
        other = self.header[x]
        found: i64 = -1
        while inner != other:
            if other < 0 or (inner >= 0 and self.depth[inner] >= self.depth[other]):
                found = inner
                inner = self.outer[inner]
            else:
                other = self.outer[other]
        return found


@final
class Dominators:
    """The dominator tree of a control-flow graph.

    ``idom[b]``: the immediate dominator of block b; block 0: itself, unreachable blocks: -1. ``first[b]`` and ``last[b]``: the
    interval of its subtree in a walk over the tree.
    """

    def __init__(self, blocks: i64) -> None:
        self.idom = nones(blocks)
        self.first = zeros(blocks)
        self.last = zeros(blocks)

    def same(self, other: Dominators) -> bool:
        """Whether both are the same tree."""
        return _equal(self.idom, other.idom) and _equal(self.first, other.first) and _equal(self.last, other.last)


@final
class Cfg:
    """The control flow of a function as it was when the object was made.

    ``order[:reachable]`` is the reverse post-order of the reachable blocks, ``number[b]`` the place of b in it (-1 =
    unreachable). The successors of b are ``succ[succ_start[b]] .. succ[succ_start[b + 1] - 1]``, the predecessors, in
    ascending order, likewise. Dominators and loops are computed on first use.
    """

    def __init__(self, blocks: i64, succ_start: vec[i64], succ: vec[i64]) -> None:
        self.epoch: int = -1  # of the function at that time; -1: this is not the graph of a function
        self.blocks: int = blocks
        self.succ_start = succ_start
        self.succ = succ
        self.edges: int = succ_start[blocks]
        self.order = zeros(blocks)
        self.number = zeros(blocks)
        self.reachable: int = checked(lib.oric_cfg_rpo(blocks, lend(succ_start), lend(succ), lend(self.order), lend(self.number)))
        self.pred_start = zeros(blocks + 1)
        self.pred = zeros(self.edges)
        lib.oric_cfg_preds(blocks, lend(succ_start), lend(succ), lend(self.pred_start), lend(self.pred))
        self._dominators: Dominators | None = None
        self._loops: Loops | None = None
        self.apart: vec[i64] | None = None  # oric.ir.apart, once that is known

    def dominators(self) -> Dominators:
        """The dominator tree."""
        if self._dominators is None:
            self._dominators = self._find_dominators()
        found = self._dominators
        assert found is not None
        return found

    def _find_dominators(self) -> Dominators:
        made = Dominators(self.blocks)
        lent = lend(self.succ_start), lend(self.succ), lend(self.pred_start), lend(self.pred)
        checked(lib.oric_cfg_dominators(self.blocks, *lent, lend(made.idom)))
        checked(lib.oric_cfg_intervals(self.blocks, lend(made.idom), lend(made.first), lend(made.last)))
        return made

    def has_dominators(self) -> bool:
        """Whether they are known."""
        return self._dominators is not None

    def forget_dominators(self) -> None:
        """Drop them."""
        self._dominators = None

    def idom(self) -> vec[i64]:
        """Immediate dominator of every block; block 0: itself, unreachable blocks: -1."""
        return self.dominators().idom

    def dominates(self, a: i64, b: i64) -> bool:
        """Whether every path from the entry to ``b`` passes ``a``; false for unreachable blocks."""
        known = self._dominators
        if known is None:
            known = self.dominators()
        first: i64 = known.first[a]
        last: i64 = known.last[b]
        return first <= known.first[b] and last <= known.last[a] and last >= 0

    def postdominators(self, exits: vec[i64]) -> vec[i64]:
        """Immediate post-dominator of every block when the function ends in the blocks with ``exits[b] != 0``.

        ``blocks`` stands for the end of the function: no block post-dominates. -1: none of the exits is reached.
        """
        out = nones(self.blocks)
        checked(lib.oric_cfg_postdominators(self.blocks, lend(self.succ_start), lend(self.succ), lend(exits), lend(out)))
        return out

    def loops(self) -> Loops:
        """The loop nest."""
        if self._loops is None:
            self._loops = self._find_loops()
        found = self._loops
        assert found is not None
        return found

    def has_loops(self) -> bool:
        """Whether the loop nest is known."""
        return self._loops is not None

    def forget_loops(self) -> None:
        """Drop it."""
        self._loops = None

    def _find_loops(self) -> Loops:
        tree = self.dominators()
        found = Loops(self.blocks, self.edges)
        irreducible = ffi.new("int64_t *")
        found.count = checked(
            lib.oric_cfg_loops(
                self.blocks,
                self.reachable,
                lend(self.order),
                lend(self.number),
                lend(self.succ_start),
                lend(self.succ),
                lend(self.pred_start),
                lend(self.pred),
                lend(tree.first),
                lend(tree.last),
                lend(found.back),
                lend(found.header),
                lend(found.outer),
                lend(found.depth),
                irreducible,
            )
        )
        found.irreducible = irreducible[0] != 0
        return found

    def successors(self, b: i64) -> list[int]:
        """The successors of a block as a list, for tools and tests."""
        return [self.succ[e] for e in range(self.succ_start[b], self.succ_start[b + 1])]

    def predecessors(self, b: i64) -> list[int]:
        """The predecessors of a block as a list, for tools and tests."""
        return [self.pred[e] for e in range(self.pred_start[b], self.pred_start[b + 1])]

    def same(self, other: Cfg) -> bool:
        """Whether both describe the same graph (what follows from it is the same then, too)."""
        return _equal(self.succ_start, other.succ_start) and _equal(self.succ, other.succ)


def _equal(a: vec[i64], b: vec[i64]) -> bool:
    if len(a) != len(b):
        return False
    at: i64 = 0
    while at < len(a):
        if a[at] != b[at]:
            return False
        at += 1
    return True


def graph_of(lists: list[list[int]]) -> Cfg:
    """The analysed graph of successor lists."""
    start = vec[i64]()
    flat = vec[i64]()
    start = append(start, 0)
    for targets in lists:
        for target in targets:
            flat = append(flat, target)
        start = append(start, len(flat))
    return Cfg(len(lists), start, flat)


def checked(result: Any) -> i64:
    """The result of a kernel.

    Raises:
        MemoryError: it is negative: the kernel ran out of memory.
    """
    found: i64 = result
    if found < 0:
        raise MemoryError("no memory for an analysis of the control flow")
    return found
