"""Control-flow analyses of a function: order, dominators, post-dominators, loops.

Source: Ori IR, "Key CFG Functions". The loops over blocks are C (``native/cfg.c``), with explicit stacks.
"""

from __future__ import annotations

from array import array
from functools import cached_property

from oric_tables._native import ffi, lib

from .code import CodeObject


class Cfg:
    """The analysed control flow of one function, as it was when the object was made.

    Block indices everywhere. ``order`` is the reverse post-order of the reachable blocks, ``number[b]`` the place of b
    in it (-1 = unreachable). ``succs``/``preds`` are lists per block. Everything else is computed on first use.
    """

    def __init__(self, succs: list[list[int]]) -> None:
        self.succs = succs
        n = self.block_count = len(succs)
        starts = array("i", [0] * (n + 1))
        flat = array("i")
        for number, targets in enumerate(succs):
            flat.extend(targets)
            starts[number + 1] = len(flat)
        self._starts = starts
        self._flat = flat
        self._order = array("i", bytes(4 * n))
        self._number = array("i", bytes(4 * n))
        self.reachable = _checked(lib.oric_cfg_rpo(n, _ints(starts), _ints(flat), _ints(self._order), _ints(self._number)))
        self.order: list[int] = self._order[: self.reachable].tolist()
        self.number: list[int] = self._number.tolist()

    @cached_property
    def _pred_arrays(self) -> tuple[array[int], array[int]]:
        starts = array("i", bytes(4 * (self.block_count + 1)))
        preds = array("i", bytes(4 * len(self._flat)))
        lib.oric_cfg_preds(self.block_count, _ints(self._starts), _ints(self._flat), _ints(starts), _ints(preds))
        return starts, preds

    @cached_property
    def preds(self) -> list[list[int]]:
        """Predecessors of every block, ascending."""
        starts, preds = self._pred_arrays
        flat = preds.tolist()
        return [flat[starts[b] : starts[b + 1]] for b in range(self.block_count)]

    @cached_property
    def _idom(self) -> array[int]:
        idom = array("i", bytes(4 * self.block_count))
        starts, preds = self._pred_arrays
        lib.oric_cfg_dominators(
            self.reachable, _ints(self._order), _ints(self._number), _ints(starts), _ints(preds), self.block_count, _ints(idom)
        )
        return idom

    @cached_property
    def idom(self) -> list[int]:
        """Immediate dominator of every block; block 0: itself, unreachable blocks: -1."""
        return self._idom.tolist()

    @cached_property
    def _intervals(self) -> tuple[array[int], array[int]]:
        return intervals(self._idom)

    def dominates(self, a: int, b: int) -> bool:
        """Whether every path from the entry to ``b`` passes ``a``; false for unreachable blocks."""
        first, last = self._intervals
        return first[a] <= first[b] and last[b] <= last[a] and last[b] >= 0

    def postdominators(self, exits: list[int]) -> list[int]:
        """Immediate post-dominator of every block when the function ends in the blocks ``exits``.

        ``block_count`` stands for the end of the function: no block post-dominates. -1: none of the exits is reached.
        """
        flags = bytearray(self.block_count)
        for block in exits:
            flags[block] = 1
        out = array("i", bytes(4 * self.block_count))
        _checked(
            lib.oric_cfg_postdominators(
                self.block_count, _ints(self._starts), _ints(self._flat), ffi.from_buffer("uint8_t[]", flags), _ints(out)
            )
        )
        return out.tolist()

    @cached_property
    def ipdom(self) -> list[int]:
        """:meth:`postdominators` for all blocks without successors."""
        return self.postdominators([b for b, targets in enumerate(self.succs) if not targets])

    @cached_property
    def loops(self) -> Loops:
        """The loop nest."""
        return Loops(self)


class Loops:
    """Natural loops of a control-flow graph.

    ``header[b]`` is the header of the innermost loop around b (-1 = none), ``outer[h]`` the header of the loop around the
    loop of h, ``depth[b]`` the number of loops around b. ``back_edges`` are (source, header) pairs in block order;
    ``irreducible`` holds the edges that go back to a block that does not dominate their source.
    """

    __slots__ = ("back_edges", "count", "depth", "header", "irreducible", "outer")

    def __init__(self, cfg: Cfg) -> None:
        n = cfg.block_count
        header, outer, depth = (array("i", bytes(4 * n)) for _ in range(3))
        back = bytearray(len(cfg._flat))
        starts, preds = cfg._pred_arrays
        first, last = cfg._intervals
        self.count = _checked(
            lib.oric_cfg_loops(
                n,
                cfg.reachable,
                _ints(cfg._order),
                _ints(cfg._number),
                _ints(cfg._starts),
                _ints(cfg._flat),
                _ints(starts),
                _ints(preds),
                _ints(first),
                _ints(last),
                ffi.from_buffer("uint8_t[]", back),
                _ints(header),
                _ints(outer),
                _ints(depth),
            )
        )
        self.header: list[int] = header.tolist()
        self.outer: list[int] = outer.tolist()
        self.depth: list[int] = depth.tolist()
        self.back_edges: list[tuple[int, int]] = []
        self.irreducible: list[tuple[int, int]] = []
        if any(back):
            edges = ((b, target) for b, targets in enumerate(cfg.succs) for target in targets)
            for edge, kind in zip(edges, back, strict=True):
                if kind:
                    (self.back_edges if kind == 1 else self.irreducible).append(edge)

    def contains(self, header: int, block: int) -> bool:
        """Whether ``block`` lies in the loop of ``header``."""
        at = self.header[block]
        while at >= 0:
            if at == header:
                return True
            at = self.outer[at]
        return False

    def bodies(self) -> dict[int, list[int]]:
        """Blocks of every loop by header, ascending, those of inner loops included."""
        out: dict[int, list[int]] = {}
        for block, at in enumerate(self.header):
            while at >= 0:
                out.setdefault(at, []).append(block)
                at = self.outer[at]
        return out


def intervals(parent: array[int]) -> tuple[array[int], array[int]]:
    """Preorder intervals of a dominator tree: a is an ancestor of b iff its interval holds b's."""
    first, last = array("i", bytes(4 * len(parent))), array("i", bytes(4 * len(parent)))
    _checked(lib.oric_cfg_intervals(len(parent), _ints(parent), _ints(first), _ints(last)))
    return first, last


def analyze(code: CodeObject) -> Cfg:
    """The control flow of ``code``; cached until :func:`invalidate`."""
    cfg = code.analyses.get("cfg")
    if cfg is None:
        cfg = code.analyses["cfg"] = Cfg([block.succs for block in code.blocks])
    assert isinstance(cfg, Cfg)
    return cfg


def invalidate(code: CodeObject) -> None:
    """Drop what is known about the control flow; every change of blocks or edges calls this."""
    code.analyses.pop("cfg", None)


def _ints(values: array[int]) -> object:
    return ffi.from_buffer("int32_t[]", values)


def _checked(result: int) -> int:
    if result < 0:
        raise MemoryError("control-flow analysis ran out of memory")
    return result
