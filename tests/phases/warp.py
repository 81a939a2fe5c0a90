"""A warp on Ori code: per-thread decisions, convergence barriers, warp-wide synchronization.

Knows MOV of an immediate (leaves a trace), guards, BRA, EXIT, BSSY, BSYNC, BREAK, BMOV, WARPSYNC.ALL, BAR.SYNC (must be met
by the whole warp at once), YIELD. Predicate p of thread t after k steps of its trace is ``decide(t, p, k)``.
"""

from __future__ import annotations

from collections.abc import Callable

from oric.ir import operand as opd
from oric.ir.function import Function
from oric.ir.text import instructions_of
from oric_tables import op


class Warp:
    def __init__(self, f: Function, threads: int, decide: Callable[[int, int, int], bool], limit: int = 60) -> None:
        self.f = f
        self.decide = decide
        self.limit = limit
        self.traces: list[list[int]] = [[] for _ in range(threads)]
        self.masks: list[dict[int, frozenset[int]]] = [{} for _ in range(threads)]
        self.saved: list[dict[int, frozenset[int]]] = [{} for _ in range(threads)]
        self.place: list[tuple[int, int] | None] = [(0, 0)] * threads  # (block, position), None = exited
        self.waiting: list[tuple[str, int] | None] = [None] * threads
        self.together: dict[tuple[int, int], list[frozenset[int]]] = {}
        self.nodes = [instructions_of(f, block) for block in range(f.blocks())]

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

    def _holds(self, node: int, thread: int) -> bool:
        guard = self.f.guard[node]
        if not guard:
            return True
        return self.decide(thread, opd.index_of(guard), len(self.traces[thread])) != bool(guard & opd.NEGATE)

    def _execute(self, node: int, thread: int, group: list[int]) -> None:
        f, number = self.f, self.f.op[node]
        first = opd.index_of(f.get(node, 0))
        if number == op.MOV:
            self.traces[thread].append(f.imm_value(f.get(node, 1)))
        elif number == op.EXIT:
            self.place[thread] = None
        elif number == op.BRA:
            self.place[thread] = (first, 0)
        elif number == op.BSSY:
            self.masks[thread][first] = frozenset(group)
        elif number == op.BSYNC:
            assert first in self.masks[thread], "BSYNC on a barrier that was not set"
            self.waiting[thread] = ("BSYNC", first)
        elif number == op.BREAK:
            assert thread in self.masks[thread].get(first, ()), "BREAK of a barrier that was not set"
            for other in self.masks[thread][first]:
                self.masks[other][first] -= {thread}
            del self.masks[thread][first]
        elif number == op.BMOV_R:
            self.saved[thread][first] = self.masks[thread].pop(opd.index_of(f.get(node, 1)))
        elif number == op.BMOV_B:
            self.masks[thread][first] = self.saved[thread][opd.index_of(f.get(node, 1))]
        elif number in (op.WARPSYNC_ALL, op.BAR_SYNC):
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
