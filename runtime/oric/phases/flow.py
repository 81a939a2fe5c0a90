"""Control flow in explicit form: blocks without their jumps, and what each one does at its end.

Passes that change the shape of a function take it apart (:class:`Flow`), change blocks and ends, and put it together again
(:meth:`Flow.rebuild`), which chooses the order of the blocks and adds the jumps that this order needs. A block keeps its
number while the function is apart.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import BRA, RETURN, MovPhi

from oric.ir import operand as opd
from oric.ir import phis as merges
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.edges import has_register, is_conditional, set_target, target_of
from oric.ir.function import NONE, Function
from oric.ir.optable import BRANCH, EXIT, INDIRECT, OPS
from oric.support.arrays import zeros

# What a block does at its end.
GONE: Final = -1  # the block was removed
JUMP: Final = 0  # goes to `target`
COND: Final = 1  # `node`: to `target` when it is taken, else to `other`
STOP: Final = 2  # `node` ends the thread
COND_STOP: Final = 3  # `node` ends the thread when its guard holds, else on to `other`
TABLE: Final = 4  # `node` jumps to one of `tables[b]`


@final
class Flow:
    """A function taken apart: ``kind[b]``, ``node[b]`` (an instruction in no block), ``target[b]`` and ``other[b]``.

    ``tables`` holds the targets of jumps by table, ``follower`` the block that must stand right behind another. Control flow
    must be last in its block (phase 6). Until :meth:`rebuild` the edges of the function mean nothing. ``phis``: the MovPhi of
    blocks, which what is done here keeps right (:mod:`oric.ir.phis`).
    """

    def __init__(self, f: Function) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.kind = vec[i64]()
        self.node = vec[i64]()
        self.target = vec[i64]()
        self.other = vec[i64]()
        self.tables: dict[int, list[int]] = {}
        self.follower: dict[int, int] = {}
        self.phis: dict[int, list[int]] = merges.all_phis(f) if f.in_window else {}
        self._carried: dict[tuple[int, int], int] = {}  # a block and a phi further on -> the phi there that gives it its value
        b: i64 = 0
        while b < f.blocks():
            self._take_off(b)
            b += 1

    def _add(self, kind: i64, node: i64, target: i64, other: i64) -> None:
        self.kind = append(self.kind, kind)
        self.node = append(self.node, node)
        self.target = append(self.target, target)
        self.other = append(self.other, other)

    def _take_off(self, b: i64) -> None:
        """Take what a block does at its end out of it."""
        f = self.f
        tail = f.tail[b]
        flags = OPS.flags[f.op[tail]] if tail != NONE else 0
        if not flags & (BRANCH | EXIT):
            self._add(JUMP, NONE, b + 1, -1)
            return
        self.cursor.remove(tail)
        conditional = is_conditional(f, tail)
        if flags & EXIT:
            self._add(COND_STOP if conditional else STOP, tail, -1, b + 1 if conditional else -1)
        elif flags & INDIRECT:
            self._add(TABLE, tail, -1, -1)
            self.tables[b] = list(f.attributes.jump_tables[f.aux[tail]].targets)
        elif conditional:
            self._add(COND, tail, target_of(f, tail), b + 1)
        else:
            self._add(JUMP, NONE, target_of(f, tail), -1)

    # -- looking -----------------------------------------------------------------------------------------

    def blocks(self) -> i64:
        """Number of blocks, removed ones among them."""
        return len(self.kind)

    def is_bare_stop(self, b: i64) -> bool:
        """Whether a block does nothing but exit; the threads that return from a function go on together."""
        return self.kind[b] == STOP and self.f.head[b] == NONE and self.f.op[self.node[b]] != RETURN

    def graph(self, without_bare_exits: bool = False) -> Cfg:
        """The control flow; removed blocks have no edges.

        ``without_bare_exits``: without the ways to blocks that do nothing but exit, where there is another way.
        """
        start = vec[i64]()
        flat = vec[i64]()
        start = append(start, 0)
        b: i64 = 0
        while b < self.blocks():
            targets = self.successors(b)
            if without_bare_exits and len(targets) > 1:
                targets = [target for target in targets if not self.is_bare_stop(target)] or targets
            for target in targets:
                flat = append(flat, target)
            start = append(start, len(flat))
            b += 1
        return Cfg(self.blocks(), start, flat)

    def successors(self, b: i64) -> list[int]:
        """Successors without duplicates; where control goes without a jump comes last."""
        kind = self.kind[b]
        if kind == JUMP:
            return [self.target[b]]
        if kind == COND:
            return [self.target[b], self.other[b]] if self.target[b] != self.other[b] else [self.target[b]]
        if kind == COND_STOP:
            return [self.other[b]]
        if kind == TABLE:
            return list(dict.fromkeys(self.tables[b]))
        return []

    def loses_exits(self, b: i64) -> bool:
        """Whether :meth:`graph` leaves out a way of a block when it is asked for one without bare exits."""
        targets = self.successors(b)
        bare = sum(1 for target in targets if self.is_bare_stop(target))
        return 0 < bare < len(targets)

    def pred_counts(self) -> vec[i64]:
        """Number of predecessors of every block."""
        out = zeros(self.blocks())
        b: i64 = 0
        while b < self.blocks():
            for target in self.successors(b):
                out[target] += 1
            b += 1
        return out

    # -- changing ----------------------------------------------------------------------------------------

    def set_end(self, b: i64, kind: i64, node: i64, target: i64, other: i64) -> None:
        """Change what a block does at its end."""
        self.kind[b] = kind
        self.node[b] = node
        self.target[b] = target
        self.other[b] = other

    def move_end(self, into: i64, b: i64) -> None:
        """Let block ``into`` end as block ``b`` does, which is removed."""
        self.set_end(into, self.kind[b], self.node[b], self.target[b], self.other[b])
        if self.kind[b] == TABLE:
            self.tables[into] = self.tables.pop(b)
        self.kind[b] = GONE
        self._now_from(into, b, into)

    def _now_from(self, b: i64, old: i64, new: i64) -> None:
        """Threads come to the successors of a block from block ``new`` that came from ``old``."""
        for target in self.successors(b) if self.phis else ():
            merges.renamed(self.f, self.phis.get(target, []), old, new)

    def has_other_value(self, b: i64, old: i64, new: i64) -> bool:
        """Whether a block that goes to ``new`` as well would bring another value there by way of ``old``, an empty block."""
        if new not in self.phis or new not in self.successors(b):
            return False
        last = self._last_before(old, new)
        return any(merges.value_from(self.f, i, b) != merges.value_from(self.f, i, last) for i in self.phis[new])

    def _last_before(self, start: i64, end: i64) -> i64:
        """The last of the blocks from ``start`` on to ``end`` that jump to one another; -1: they do not lead there."""
        seen = {start}
        while self.kind[start] == JUMP and self.target[start] != end and self.target[start] not in seen:
            start = self.target[start]
            seen.add(start)
        return start if self.kind[start] == JUMP and self.target[start] == end else -1

    def _carry(self, b: i64, old: i64, new: i64) -> None:
        """Let the values that a block gives to phis come with it as it goes to ``new`` and no more to ``old``.

        Either it went to ``new`` by way of empty blocks, or ``new`` leads to ``old`` and the values pass it, in phis of its own.
        """
        if new in self.phis:
            last = self._last_before(old, new)
            for i in self.phis[new] if last >= 0 else ():
                if merges.place_of(self.f, i, b) < 0:
                    merges.add(self.cursor, i, merges.value_from(self.f, i, last), b)
        if old in self.phis and self._last_before(new, old) >= 0:
            for i in list(self.phis[old]):
                self._pass_on(i, b, new, old)

    def _pass_on(self, i: i64, b: i64, block: i64, end: i64) -> None:
        """Give a phi of block ``end`` what it had from block ``b`` by way of the blocks from ``block`` on."""
        f = self.f
        at = merges.place_of(f, i, b)
        value = f.get(i, at)
        merges.drop(self.cursor, i, at)
        source = b
        while block != end:
            found = self._carried.get((int(block), int(i)))
            if found is not None:
                merges.add(self.cursor, found, value, source)
                return
            dest = f.get(i, 0)
            self.cursor.at_start(block)
            self.cursor.line = f.line[i]
            made = self.cursor.make1(
                MovPhi, opd.with_index(dest, f.new_reg(f.reg_type[dest & opd.INDEX], f.reg_size[dest & opd.INDEX]))
            )
            f.window.add(int(f.get(made, 0) & opd.INDEX))
            self.cursor.put(value)
            self.cursor.put(opd.label(source))
            self._carried[int(block), int(i)] = made
            self.phis.setdefault(int(block), []).append(made)
            value = f.get(made, 0)
            source = block
            block = self.target[block]
        merges.add(self.cursor, i, value, source)

    def settle(self, b: i64, source: i64) -> None:
        """Make copies of the phis of a block to which no other block than ``source`` goes."""
        if b in self.phis:
            merges.become_moves(self.cursor, b, source)
            del self.phis[b]

    def redirect(self, b: i64, old: i64, new: i64) -> None:
        """Replace a successor of a block where it is one."""
        if self.phis:
            self._carry(b, old, new)
        if self.target[b] == old:
            self.target[b] = new
        if self.other[b] == old:
            self.other[b] = new
        if self.kind[b] == TABLE:
            self.tables[b] = [new if t == old else t for t in self.tables[b]]

    def new_block(self, target: i64) -> i64:
        """A new empty block that jumps to ``target``."""
        block = self.cursor.new_block()
        self._add(JUMP, NONE, target, -1)
        return block

    def split_behind(self, i: i64) -> i64:
        """Move what follows an instruction, and what its block does at its end, into a new block right behind it."""
        b = self.f.block[i]
        rest = self.cursor.split_behind(i)
        self._add(self.kind[b], self.node[b], self.target[b], self.other[b])
        if self.kind[b] == TABLE:
            self.tables[rest] = self.tables.pop(b)
        self.set_end(b, JUMP, NONE, rest, -1)
        self._now_from(rest, b, rest)
        if b in self.follower:
            self.follower[rest] = self.follower.pop(b)
        self.follower[b] = rest
        return rest

    def drop_unreachable(self) -> None:
        """Remove blocks that the entry does not reach."""
        seen = zeros(self.blocks())
        seen[0] = 1
        stack = [0]
        while stack:
            for target in self.successors(stack.pop()):
                if not seen[target]:
                    seen[target] = 1
                    stack.append(target)
        b: i64 = 0
        while b < self.blocks():
            if not seen[b]:
                self.kind[b] = GONE
            b += 1

    # -- putting together --------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Choose an order, add jumps, and make blocks and edges of the function from it."""
        order = self._with_detours(self._order())
        place: i64 = 0
        while place < len(order):
            self._close(order[place], order[place + 1] if place + 1 < len(order) else -1)
            place += 1
        self.cursor.begin_edges()
        place = 0
        while place < len(order):
            for target in self.successors(order[place]):
                self.cursor.edge(order[place], target)
            place += 1
        if self.phis:
            merges.drop_lost(self.f)
        self.cursor.reorder(order)

    def _order(self) -> vec[i64]:
        """Original order, but a block follows the one that goes on to it where no other block could."""
        graph = self.graph()
        count = self.blocks()
        glued = zeros(count)
        for follower in self.follower.values():
            glued[follower] = 1
        placed = zeros(count)
        b: i64 = 0
        while b < count:
            if self.kind[b] == GONE:
                placed[b] = 1
            b += 1
        order = vec[i64](capacity=count)
        waiting: i64 = 0
        at: i64 = 0
        while at >= 0:
            placed[at] = 1
            order = append(order, at)
            at = self._next(at, placed, glued, graph)
            if at < 0:
                while waiting < count and (placed[waiting] or glued[waiting]):
                    waiting += 1
                at = waiting if waiting < count else -1
                waiting += 1
        return order

    def _next(self, at: i64, placed: vec[i64], glued: vec[i64], graph: Cfg) -> i64:
        """The block to place behind ``at``: one that no block before it in the flow of control still waits for."""
        must = self.follower.get(at)
        if must is not None:
            return must
        other, target = self.other[at], self.target[at]
        if other >= 0 and (placed[other] or glued[other]):
            other = -1
        if target >= 0 and (placed[target] or glued[target]):
            target = -1
        if other >= 0 and _is_awaited(other, placed, graph):
            return other
        if target >= 0 and _is_awaited(target, placed, graph):
            return target
        return other

    def _with_detours(self, order: vec[i64]) -> vec[i64]:
        """Turn branches so that they go on to the block behind them; where they cannot, put a block with a jump there."""
        out = vec[i64](capacity=len(order))
        place: i64 = 0
        while place < len(order):
            b = order[place]
            out = append(out, b)
            following: i64 = order[place + 1] if place + 1 < len(order) else -1
            place += 1
            kind = self.kind[b]
            if (kind != COND and kind != COND_STOP) or self.other[b] == following:
                continue
            if kind == COND and self.target[b] == following and can_invert(self.f, self.node[b]):
                self.f.set_guard(self.node[b], self.f.guard[self.node[b]] ^ opd.NEGATE)
                self.target[b], self.other[b] = self.other[b], self.target[b]
                continue
            detour = self.new_block(self.other[b])
            if kind == COND and self.target[b] == self.other[b]:
                self._come_twice(b, detour)
            else:
                merges.renamed(self.f, self.phis.get(self.other[b], []), b, detour)
            self.other[b] = detour
            out = append(out, detour)
        return out

    def _come_twice(self, b: i64, detour: i64) -> None:
        """Threads come to a block from ``b`` and by way of a new block as well."""
        for i in self.phis.get(self.target[b], []):
            merges.add(self.cursor, i, merges.value_from(self.f, i, b), detour)

    def _close(self, b: i64, following: i64) -> None:
        f = self.f
        kind = self.kind[b]
        self.cursor.at_end(b)
        if kind == JUMP:
            if self.target[b] != following:
                self.cursor.line = f.line[f.tail[b]] if f.tail[b] != NONE else 0
                self.cursor.make1(BRA, opd.label(self.target[b]))
            return
        node = self.node[b]
        if kind == COND:
            set_target(f, node, self.target[b])
        elif kind == TABLE:
            f.attributes.jump_tables[f.aux[node]].targets = self.tables[b]
        self.cursor.link(node)


def _is_awaited(b: i64, placed: vec[i64], graph: Cfg) -> bool:
    """Whether all blocks that come before ``b`` in the flow of control are placed."""
    e = graph.pred_start[b]
    end = graph.pred_start[b + 1]
    while e < end:
        p = graph.pred[e]
        if graph.number[p] < graph.number[b] and not placed[p]:
            return False
        e += 1
    return True


def can_invert(f: Function, i: i64) -> bool:
    """Whether turning the guard round turns the branch round."""
    return i != NONE and f.guard[i] != 0 and not has_register(f, i)
