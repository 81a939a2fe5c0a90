"""Phase 9: what is said of a function before it is optimized."""

from __future__ import annotations

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.dataflow import DataFlow
from oric.ir.function import NONE, Function, control_flow
from oric.ir.lineinfo import line_of
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.support.arrays import zeros

_NOTES: Final = 10  # places that are named


def report_initial_representation(f: Function, ctx: PassContext) -> bool:
    """Say which registers may be read before they are written, when that is asked for; changes nothing.

    Source: PTX-to-Ori lowering, "Error Detection During Lowering" (uninitialised registers).
    """
    if ctx.reports and ctx.diag is not None:
        places = uninitialized(f)
        if places:
            registers = len({register for register, _ in places})
            lines = sorted({line for _, line in places})
            shown = ", ".join(map(str, lines[:_NOTES])) + (", ..." if len(lines) > _NOTES else "")
            ctx.diag.warning(
                f"Found {registers} potentially uninitialized register(s) in function {f.name}",
                -1,
                f"read in line{'s' if len(lines) > 1 else ''} {shown}",
            )
    return False


def report_before_scheduling(f: Function, ctx: PassContext) -> bool:
    """Nothing, unless the profile is asked for (:func:`oric.inside.profile.reports` stands here then)."""
    return False


def report_final_memory_usage(f: Function, ctx: PassContext) -> bool:
    """The same at the end."""
    return False


def uninitialized(f: Function) -> list[tuple[int, int]]:
    """(register, line of the PTX) of every read that some way from the entry reaches without a write of the word.

    A write under a guard counts as one, as in the documents: whether the guards of write and read agree is not looked at.
    """
    graph = control_flow(f)
    unwritten = DataFlow(graph, f.words)
    word: i64 = 0
    while word < f.words:
        unwritten.start(word)
        word += 1
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            for done in _written(f, i):
                unwritten.stop(b, done)
            i = f.next[i]
        b += 1
    unwritten.solve()
    found: list[tuple[int, int]] = []
    b = 0
    while b < f.blocks():
        _reads_of_block(f, unwritten, b, found)
        b += 1
    return found


def _reads_of_block(f: Function, unwritten: DataFlow, b: i64, found: list[tuple[int, int]]) -> None:
    written = zeros(f.words)
    i = f.head[b]
    while i != NONE:
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at <= f.count[i]:
            operand = f.guard[i] if at == f.count[i] else f.operand[f.first[i] + at]
            if (at == f.count[i] or not mask >> at & 1) and opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    if not written[word] and unwritten.in_front(b, word):
                        found.append((opd.index_of(operand), line_of(f.line[i])))
                        word = end
                    word += 1
            at += 1
        for done in _written(f, i):
            written[done] = 1
        i = f.next[i]


def _written(f: Function, i: i64) -> vec[i64]:
    """The words that an instruction writes."""
    mask = OPS.writes[f.op[i]]
    words = vec[i64]()
    at: i64 = 0
    while mask >> at and at < f.count[i]:
        operand = f.operand[f.first[i] + at]
        if mask >> at & 1 and opd.is_register(operand):
            word = f.words_of(operand)
            end = word + opd.count_of(operand)
            while word < end:
                words = append(words, word)
                word += 1
        at += 1
    return words
