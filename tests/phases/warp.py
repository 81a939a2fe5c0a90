"""A warp on Ori code: per-thread decisions, convergence barriers, warp-wide synchronization.

Knows MOV of an immediate (leaves a trace), guards, BRA, EXIT, BSSY, BSYNC, WARPSYNC.ALL, BAR.SYNC (must be met by the
whole warp at once), YIELD. Predicate p of thread t after k steps of its trace is ``decide(t, p, k)``.
"""

from __future__ import annotations

from collections.abc import Callable

from oric.ir import operand as opd
from oric.ir.code import CodeObject, Instruction
from oric_tables import ops


class Warp:
    def __init__(self, code: CodeObject, threads: int, decide: Callable[[int, int, int], bool], limit: int = 60) -> None:
        self.code = code
        self.decide = decide
        self.limit = limit
        self.traces: list[list[int]] = [[] for _ in range(threads)]
        self.masks: list[dict[int, frozenset[int]]] = [{} for _ in range(threads)]
        self.place: list[tuple[int, int] | None] = [(0, 0)] * threads  # (block, position), None = exited
        self.waiting: list[tuple[str, int] | None] = [None] * threads
        self.together: dict[tuple[int, int], list[frozenset[int]]] = {}
        self.nodes = [list(block) for block in code.blocks]

    def run(self) -> None:
        """Run to the end; AssertionError on deadlock or on a barrier that was not set."""
        for _ in range(20000):
            self._release()
            groups: dict[tuple[int, int], list[int]] = {}
            for thread, place in enumerate(self.place):
                if place is not None and self.waiting[thread] is None and len(self.traces[thread]) < self.limit:
                    groups.setdefault(place, []).append(thread)
            if not groups:
                assert all(p is None or len(t) >= self.limit for p, t in zip(self.place, self.traces, strict=True)) or any(
                    len(t) >= self.limit for t in self.traces
                ), f"deadlock: {self.place} {self.waiting}"
                return
            # the group that is furthest behind runs first: the worst case for threads that wait
            place = min(groups)
            self._step(place, groups[place])
        # no end within the limit: threads that go round without a trace

    def _step(self, place: tuple[int, int], group: list[int]) -> None:
        block, position = place
        self.together.setdefault(place, []).append(frozenset(group))
        if position == len(self.nodes[block]):
            for thread in group:
                self.place[thread] = (block + 1, 0)
            return
        node = self.nodes[block][position]
        for thread in group:
            self.place[thread] = (block, position + 1)
            if self._holds(node, thread):
                self._execute(node, thread, group)

    def _holds(self, node: Instruction, thread: int) -> bool:
        if not node.guard:
            return True
        value = self.decide(thread, node.guard & opd.INDEX_MASK, len(self.traces[thread]))
        return value != bool(node.guard & opd.NEGATE)

    def _execute(self, node: Instruction, thread: int, group: list[int]) -> None:
        first = node.operands[0] & opd.INDEX_MASK if node.operands else 0
        if node.op == ops.MOV:
            self.traces[thread].append(self.code.imm_value(node.operands[1]))
        elif node.op == ops.EXIT:
            self.place[thread] = None
        elif node.op == ops.BRA:
            self.place[thread] = (first, 0)
        elif node.op == ops.BSSY:
            self.masks[thread][first] = frozenset(group)
        elif node.op == ops.BSYNC:
            assert first in self.masks[thread], "BSYNC on a barrier that was not set"
            self.waiting[thread] = ("BSYNC", first)
        elif node.op in (ops.WARPSYNC_ALL, ops.BAR_SYNC):
            self.waiting[thread] = ("all", 0)

    def _release(self) -> None:
        for thread, wait in enumerate(self.waiting):
            if wait is None:
                continue
            kind, barrier = wait
            everybody = range(len(self.place)) if kind == "all" else self.masks[thread][barrier]
            members = [t for t in everybody if self.place[t] is not None]
            if all(self.waiting[t] == wait and self.place[t] == self.place[thread] for t in members):
                for member in members:
                    self.waiting[member] = None
