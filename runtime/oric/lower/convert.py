"""Phase 5: operations that a target does not have, or has better ones for, become others.

Lowering writes the same operations for every target, where it can. Here each instruction whose operation is a case of the
documented dispatch that something is done with (:mod:`oric_tables.conversions`, made of ``spec/dispatch.yaml`` and
``spec/conversions.yaml``) goes to the family of its first row that fits; behind the family comes the predication step, unless
the case leaves it out. All others pass, which the check at the end sees to. Source: PTX-to-Ori lowering, "Phase 5", "The
MercConverter Engine", "Opcode Dispatch Table".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from typing import Any, Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import conversions, ops

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.lineinfo import line_of
from oric.ir.optable import MEMORY, OPS, PINNED
from oric.ir.passes import PassContext
from oric.ir.standing import check_operations
from oric.support.diagnostics import InternalError

from .emit import Emitter
from .sources import put_number, put_source

_KEPT: Final = MEMORY | PINNED


def convert_unsupported_ops(f: Function, ctx: PassContext) -> bool:
    """Phase 5.

    Raises:
        InternalError: an operation that the target does not have and no row converts; the text names the instruction and its
            line.
    """
    cases = cases_of(ctx.target.isa_name)
    converter: Converter | None = None
    b: i64 = 0
    while b < f.blocks():
        if _has_case(f, b, cases):
            if converter is None:
                converter = Converter(f, ctx, cases)
            converter.convert_block(b)
        b += 1
    check_operations(f, ctx, 0)
    if converter is None:
        return False
    ctx.count("operations converted", converter.count)
    ctx.count("predication steps", converter.steps)
    return converter.count > 0


@cache
def cases_of(isa: str) -> vec[i64]:
    """The case of each operation on an encoding model, 0 for those that nothing is done with."""
    numbers = array("H")
    numbers.frombytes(conversions.CASES[isa])
    return vec[i64](numbers.tolist())


def _has_case(f: Function, b: i64, cases: vec[i64]) -> bool:
    i = f.head[b]
    while i != NONE:
        number = f.op[i]
        if 0 <= number < len(cases) and cases[number]:
            return True
        i = f.next[i]
    return False


@final
class Row:
    """A row of the conversions: see :mod:`oric_tables.conversions`."""

    def __init__(self, row: tuple[Any, ...]) -> None:
        number, _, entry, conditions, family, predication, other, moves, template = row
        self.op: int = number
        self.entry: bool = entry
        self.conditions: list[tuple[int, int, int]] = list(conditions)
        self.family: str = family
        self.predication: bool = predication
        self.other: int = other
        self.moves: list[tuple[int, int, int]] = list(moves)
        self.template: str = template

    def fits(self, number: i64, mods: i64) -> bool:
        """Whether an operation with these modifiers is the row's."""
        return number == self.op and all(values >> (mods >> shift & mask) & 1 for shift, mask, values in self.conditions)


@cache
def rows_of(case: int, isa: str) -> list[Row]:
    """The rows of a case on an encoding model."""
    return [Row(row) for row in conversions.ROWS[case] if isa in row[1]]


@final
class Converter:
    """Converts the instructions of a function, block after block. ``count``: how many it has converted; ``steps``: behind how
    many of them the predication step came.
    """

    def __init__(self, f: Function, ctx: PassContext, cases: vec[i64]) -> None:
        self.f = f
        self.ctx = ctx
        self.cases = cases
        self.cursor = Cursor(f)
        self.emitter: Emitter | None = None
        self.count: int = 0
        self.steps: int = 0

    def convert_block(self, b: i64) -> None:
        """Convert what keeps its place; when something else does not, take the block apart and put it together again."""
        if not self._in_place(b):
            return
        emitter = self.emitter
        if emitter is None:
            emitter = self.emitter = Emitter(self.ctx.target, None)
            emitter.begin_function(self.f)
        f = self.f
        i = self.cursor.empty(b)
        emitter.block = b
        while i != NONE:
            following = f.next[i]
            row = self._row(i)
            if row is None:
                emitter.stand().link(i)
            else:
                emitter.line = f.line[i]
                self._convert(i, row)
                f.block[i] = NONE
            i = following

    def _in_place(self, b: i64) -> bool:
        """Convert what keeps its place; returns whether there is something that does not."""
        f = self.f
        left = False
        i = f.head[b]
        while i != NONE:
            row = self._row(i)
            if row is not None:
                if row.family == IN_PLACE:
                    self._convert(i, row)
                else:
                    left = True
            i = f.next[i]
        return left

    def _row(self, i: i64) -> Row | None:
        """The first row that fits an instruction; None: it passes."""
        f = self.f
        number = f.op[i]
        case: int = self.cases[number] if 0 <= number < len(self.cases) else 0
        if case:
            for row in rows_of(case, self.ctx.target.isa_name):
                if row.fits(number, f.mods[i]) and (f.is_entry or not row.entry):
                    return row
        return None

    def _convert(self, i: i64, row: Row) -> None:
        f = self.f
        made = f.instructions()
        registers = f.registers()
        FAMILIES[row.family](self, i, row)
        if row.predication:
            self.predicate(f.guard[i], made, registers)
        self.count += 1

    def predicate(self, guard: i64, made: i64, registers: i64) -> None:
        """The step behind a family: what it has made gets the guard of what it was made for. What only writes registers that
        are new too runs without: they have one definition then.

        Raises:
            InternalError: a template has guards of its own.
        """
        f = self.f
        self.steps += 1
        while made < f.instructions():
            if f.guard[made]:
                raise InternalError(f"a conversion has made {ops.op(f.op[made]).name} under a guard of its own")
            if guard and _is_seen(f, made, registers):
                f.set_guard(made, guard)
            made += 1

    def expand(self, i: i64, row: Row) -> None:
        """Append the lines of a row's template, with the operands of an instruction and the values of the row's modifiers.

        Raises:
            InternalError: an operand that the template does not take.
        """
        f = self.f
        emitter = self.emitter
        assert emitter is not None
        program = emitter.tables.template(row.template)
        env = emitter.open(program)
        taken: i64 = min(len(program.args) - len(row.moves), f.count[i])
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if at < taken:
                if OPS.writes_at(f.op[i], at):
                    env.put(program.args[at], operand)
                else:
                    put_source(f, env, program.args[at], operand)
            elif operand != opd.PT_OPERAND and operand != opd.RZ_OPERAND:
                raise InternalError(
                    f"{ops.op(f.op[i]).name} has an operand that is lost in its conversion, line {line_of(f.line[i])}"
                )
            at += 1
        for shift, mask, _ in row.moves:
            put_number(env, program.args[taken], f.mods[i] >> shift & mask)
            taken += 1
        emitter.emit(program, env, 0)
        emitter.close()


def _is_seen(f: Function, i: i64, registers: i64) -> bool:
    """Whether an instruction does more than write registers from a number on."""
    number = f.op[i]
    if OPS.flags[number] & _KEPT:
        return True
    at: i64 = 0
    while at < f.count[i]:
        if OPS.writes_at(number, at):
            operand = f.get(i, at)
            index = operand & opd.INDEX
            if opd.is_register(operand) and index != opd.RZ and index != opd.PT and index < registers:
                return True
        at += 1
    return False


def rename(converter: Converter, i: i64, row: Row) -> None:
    """The operation becomes another one with the same operands, in its place and under its guard."""
    f = converter.f
    mods = 0
    for shift, mask, there in row.moves:
        mods |= (f.mods[i] >> shift & mask) << there
    slots = OPS.slots[row.other]
    converter.cursor.rewrite(i, row.other, mods, min(f.count[i], slots))


def expand(converter: Converter, i: i64, row: Row) -> None:
    """The lines of a template take its place."""
    converter.expand(i, row)


def leave_out(converter: Converter, i: i64, row: Row) -> None:
    """Nothing takes its place."""


FAMILIES: Final[dict[str, Callable[[Converter, i64, Row], None]]] = {"rename": rename, "expand": expand, "leave_out": leave_out}
IN_PLACE: Final = "rename"  # the family that leaves an instruction where it is
