"""The ways that threads took through a kernel, and whether a hazard lies on one of them.

A launch with ``Modes(steps=True)`` tells what every thread executed. Between two instructions that a thread executed, its way is
code without branches; the hazard checker, whose code strict mode does not share, judges that code. So a hazard counts
because a thread met it, and for no other reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from oric.sass import check
from oric.sass.code import Code
from oric.sim.statistics import Steps
from oric_tables._native import lib

from tests.sim.program import BY_NAME

Array = np.ndarray[Any, Any]
BYTES = 16
ALWAYS = 7
ELSEWHERE = -2  # in a way: code outside of the section
# Findings that need no instruction before, and those that do not ask whether guards hold.
ALONE = frozenset({lib.ORIC_H_STALL})
UNGUARDED = frozenset({lib.ORIC_H_STALL, lib.ORIC_H_SETTLE})
_LABEL = 8
_PREDICATES = frozenset({lib.ORIC_FILE_P, lib.ORIC_FILE_UP})
_CALLS = frozenset(o.number for name, o in BY_NAME.items() if name.startswith(("CALL", "RET", "EXIT")))
_NOP = BY_NAME["NOP"].number


class Finding(NamedTuple):
    """What the hazard checker says: a kind, two instructions, a register."""

    kind: int
    first: int
    second: int
    file: int
    number: int


def ways(steps: Steps, base: int, count: int) -> Iterator[Array]:
    """What each thread executed: twice the number of the instruction in the section at ``base``, and one more when its guard
    held. Threads of a warp that have executed the same are one."""
    for block in np.unique(steps["cta"]):
        mine = steps[steps["cta"] == block]
        for warp in np.unique(mine["warp"]):
            yield from _of_warp(mine[mine["warp"] == warp], base, count)


def _of_warp(steps: Steps, base: int, count: int) -> Iterator[Array]:
    lanes = np.arange(32, dtype=np.uint32)
    active = steps["active"][:, None] >> lanes & 1
    held = steps["executed"][:, None] >> lanes & 1
    number = steps["pc"].astype(np.int64) - base
    inside = (number >= 0) & (number < BYTES * count)
    number = np.where(inside, number // BYTES * 2, ELSEWHERE)
    for lane in {(2 * active[:, k] + held[:, k]).tobytes(): k for k in range(32)}.values():
        here = active[:, lane] != 0
        yield np.where(inside, number + held[:, lane], ELSEWHERE)[here]


class Ways:
    """The different ways of all threads of some launches through one section."""

    def __init__(self, found: Iterable[Array]) -> None:
        self.ways = list({w.tobytes(): w for w in found if len(w)}.values())

    @cached_property
    def executed(self) -> frozenset[int]:
        """Numbers of the instructions that a thread executed, its guard held."""
        return frozenset(int(n) // 2 for w in self.ways for n in np.unique(w) if n >= 0 and n & 1)

    def between(self, finding: Finding, of_guard: bool) -> Iterator[Array]:
        """The different pieces of ways from the first instruction of a finding to the second one, without another first one. Both
        execute, but for the second one where it is about its guard, and both where guards do not matter."""
        seen = set()
        for way in self.ways:
            any_guard = finding.kind in UNGUARDED
            first = np.flatnonzero(way // 2 == finding.first if any_guard else way == 2 * finding.first + 1)
            second = way // 2 == finding.second if any_guard or of_guard else way == 2 * finding.second + 1
            for end in np.flatnonzero(second):
                at = np.searchsorted(first, end) - 1
                piece = way[first[at] : end + 1] if at >= 0 else way[:0]
                if len(piece) and piece.tobytes() not in seen and piece.min() >= 0:
                    seen.add(piece.tobytes())
                    yield piece

    def met(self, isa: int, text: bytes, finding: Finding) -> bool:
        """Whether a thread met a hazard of the code ``text``."""
        if finding.kind in ALONE:
            return any((w // 2 == finding.second).any() for w in self.ways)
        guard = Code(isa, text[finding.second * BYTES :][:BYTES]).insns[0].guard
        of_guard = finding.file in _PREDICATES and finding.number == guard
        return any(_found(isa, text, piece, finding, of_guard) for piece in self.between(finding, of_guard))


def _found(isa: int, text: bytes, piece: Array, finding: Finding, of_guard: bool) -> bool:
    """Whether the checker finds the hazard from the first to the last instruction of a piece of a way."""
    last = len(piece) - 1
    code = Code(isa, b"".join(text[n // 2 * BYTES :][:BYTES] for n in piece.tolist()))
    for at, number in enumerate(piece.tolist()):
        insn = code.insns[at]
        if number & 1 and not (at == last and of_guard):
            insn.guard, insn.guard_neg = ALWAYS, 0
        if insn.op in _CALLS and at != last:
            insn.op, insn.nops, insn.mods = _NOP, 0, 0
        for k in range(insn.nops):
            if insn.ops[k].kind == _LABEL:
                insn.ops[k].value = 0  # to the next instruction, which is where the thread went
    section = check.Section("", 255, {0: True}, [], [(k, k + 1) for k in range(last)])
    wanted = (finding.kind, finding.file, finding.number, 0, last)
    return any((f.kind, f.file, f.number, f.first, f.second) == wanted for f in check.run(code, section)[1])
