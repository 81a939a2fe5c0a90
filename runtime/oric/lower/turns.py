"""Phase 101: fetches whose derivatives no operation takes. The threads of a quad take turns, each with the help of the others.

In the turn of a thread all four get its coordinates P and derivatives X and Y, and fetch at P, P + X, P + Y and P + X + Y: the
differences from which the hardware chooses the level of detail are the derivatives then. What the first thread of the quad gets
is the result. Threads that do not want the fetch (they have ended, or are elsewhere) help as well: BMOV.PQUAD lets all threads
of a quad go on of which one does. So the work is done in registers that the function uses for nothing else: whoever helps has
values of his own in all others. In front of each turn and behind it, all that is under way is waited for (BMOV drains).

Where a handle is in a register, that of a thread which does not want the fetch may be anything: its turn is one more of another
thread. All else may be anything, as nobody looks at the result.

Source: observed (ptxas 13.0.88), which branches around the turn of a thread that does not want the fetch instead.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import BMOV_BB, BMOV_BR, BMOV_R, QUAD_TURNS

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P
from oric.ir.images import stride, takes_turns, turns_barrier, turns_of
from oric.ir.passes import PassContext
from oric.support.diagnostics import NotSupported

from .emit import Emitter, Value, integer, packed, part

_THREADS: Final = 4  # of a quad
_ACTIVE: Final = 26  # MACTIVE, among the barriers (spec/formats.yaml)
_RESULTS, _ABSENT, _REGISTERS, _COORDINATES, _DERIVATIVES, _BEHIND = 0, 4, 5, 6, 7, 8  # operands of QUAD_TURNS
_SCALED: Final = "CUBE"


def take_turns(f: Function, ctx: PassContext) -> bool:
    """Phase 101; returns whether there was anything."""
    if not takes_turns(f):
        return False
    emitter = Emitter(ctx.target, None)
    emitter.begin_function(f)
    cursor = Cursor(f)
    most = ctx.target.predicates
    for b in range(f.blocks()):
        i = f.head[b]
        while i != NONE and f.op[i] != QUAD_TURNS:
            i = f.next[i]
        if i == NONE:
            continue
        i = cursor.empty(b)
        emitter.block = b
        while i != NONE:
            following = f.next[i]
            if f.op[i] == QUAD_TURNS:
                emitter.line = f.line[i]
                _Turns(f, emitter, i, turns_barrier(f, ctx.target.barrier_regs), most - 1).run()
                f.block[i] = NONE
            else:
                emitter.stand().link(i)
            i = following
    return True


def check_place(f: Function, ctx: PassContext, i: i64) -> None:
    """Refuse a fetch in a function that stays one.

    Threads that help may be in its callers, whose registers it does not know; ptxas saves what a turn changes on their stacks.

    Raises:
        CompileError: it is in such a function.
    """
    if f.is_entry:
        return
    text = f"'{f.name}': tex.grad with .3d, .cube, .acube or a value to compare with in a function that stays a function"
    if ctx.diag is None:
        raise NotSupported(text)
    ctx.diag.error(f"{text} is not supported for {ctx.target.name} yet")
    ctx.diag.check()


@final
class _Turns:
    """One fetch; ``barrier`` and ``predicate`` are of the registers that nothing else has."""

    def __init__(self, f: Function, emitter: Emitter, i: i64, barrier: int, predicate: int) -> None:
        self.f = f
        self.emitter = emitter
        self.i: int = i
        self.fetch, self.turns, self.place = turns_of(f, i)
        self.wanted: int = opd.special(barrier)
        self.block: int = f.get(i, _REGISTERS)
        self.pairs: int = (opd.count_of(self.block) - self.turns.work) // 2  # of derivatives, at a time
        self.absent: int = opd.PT_OPERAND
        if f.get(i, _ABSENT) != opd.RZ_OPERAND:
            number = f.new_reg(P)
            f.physical[number] = predicate
            self.absent = opd.reg(number)
        self.results: list[int] = [f.get(i, _RESULTS + n) for n in range(self.fetch.mask.bit_count())]

    def run(self) -> None:
        """Append the four turns."""
        emitter, results, absent = self.emitter, self.results, self.f.get(self.i, _ABSENT)
        for thread in range(_THREADS):
            self._move(self.wanted, opd.special(_ACTIVE), BMOV_BR)
            self._move(opd.special(_ACTIVE), self.wanted, BMOV_BB, pquad=True)
            self._place_words(thread)
            self._operation()
            found = [part(self.block, n) for n in range(len(results))]
            wanted = list(results)
            if absent != opd.RZ_OPERAND:
                found.append(self._work(0))
                wanted.append(absent)
                emitter.template2("turn_absent", 0, found[-1], self.absent)
            for word in found if thread else ():
                emitter.template("turn_word", 0, word, packed(word), integer(0))
            self._move(opd.special(_ACTIVE), self.wanted, BMOV_BB)
            for to, word in zip(wanted, found, strict=True):
                emitter.template("turn_result", 0, to, packed(word), integer(1 << thread))

    def _move(self, to: i64, source: i64, op: int, **mods: bool) -> None:
        self.emitter.stand().make2(op, to, source, int(ops.op(op).pack(**mods)))

    def _work(self, n: int) -> i64:
        """A register behind those of the words."""
        return part(self.block, self.turns.work + n)

    def _words(self) -> list[int]:
        """The words of the operation in order, in registers of the thread."""
        behind = self.f.get(self.i, _BEHIND)
        first = [part(self.f.get(self.i, _COORDINATES), n) for n in range(self.fetch.first)]
        return first + [part(behind, n) for n in range(self.turns.total - self.fetch.first)]

    def _place_words(self, thread: int) -> None:
        """Put the words of a thread where the operation wants them, the coordinates moved as each thread of the quad has to."""
        emitter, turns = self.emitter, self.turns
        owner = integer(thread)
        for n, word in enumerate(self._words()):
            to = part(self.block, turns.place(n))
            whose = owner
            if n == self.fetch.first and self.place < 0:
                whose = packed(self._next(thread))
            emitter.template("turn_word", 0, to, packed(word), whose)
        for k in range(0, turns.spatial, self.pairs):
            self._add_derivatives(owner, range(k, min(k + self.pairs, turns.spatial)))
        if self.fetch.dim.endswith(_SCALED):
            self._scale([part(self.block, turns.place(turns.layers + k)) for k in range(turns.spatial)])

    def _add_derivatives(self, owner: Value, some: range) -> None:
        """Move some of the coordinates of each thread as its place in the quad wants it."""
        emitter, turns = self.emitter, self.turns
        derivatives = self.f.get(self.i, _DERIVATIVES)
        ways = ("turn_right", 0), ("turn_below", stride(turns.spatial))
        for n, k in enumerate(some):
            for way, (_, at) in enumerate(ways):
                emitter.template("turn_word", 0, self._work(2 * n + way), packed(part(derivatives, k + at)), owner)
        for n, k in enumerate(some):
            to = part(self.block, turns.place(turns.layers + k))
            for way, (name, _) in enumerate(ways):
                emitter.template(name, 0, to, packed(self._work(2 * n + way)), packed(to))

    def _next(self, thread: int) -> i64:
        """The thread of the quad whose handle counts in a turn."""
        emitter = self.emitter
        self._move(self._work(1), self.wanted, BMOV_R)
        emitter.template("turn_thread", 0, self._work(0), packed(self._work(1)), integer(thread))
        return self._work(0)

    def _scale(self, direction: list[int]) -> None:
        """Let the largest component of a direction be 1."""
        emitter, scale = self.emitter, self._work(0)
        emitter.template("turn_scale", 0, scale, *(packed(word) for word in direction))
        for word in direction:
            emitter.template("scale", 0, word, packed(word), packed(scale))

    def _operation(self) -> None:
        """The fetch of all four threads."""
        emitter, turns = self.emitter, self.turns
        name = self.fetch.stem + ("_register" if self.place < 0 else "") + ("_halves" if turns.compact else "")
        line = emitter.tables.template(name).first  # which may make the tables longer
        op = int(emitter.tables.op[line])
        count = len(self.results)
        given = {"Rd": self._run(0, min(count, 2)), "Rv": self._run(2, count - 2), "Pu": self.absent}
        given |= {"Ra": self._run(0, turns.first), "Rb": self._run(turns.behind, turns.total - turns.first)}
        if self.place >= 0:
            given |= {"bank": opd.imm(0), "slot": self.f.imm(self.place)}
        columns = ops.op(op).operands
        cursor = emitter.stand()
        cursor.make(op, self._mods(op))
        last = max(n for n, column in enumerate(columns) if column.name in given)
        for column in columns[: last + 1]:
            cursor.put(given.get(column.name, opd.NO_OPERAND))

    def _run(self, first: int, count: int) -> i64:
        """So many registers of the work."""
        return opd.reg(self.block & opd.INDEX, first, count) if count > 0 else opd.RZ_OPERAND

    def _mods(self, op: int) -> int:
        values: dict[str, str | int | bool] = {"mask": f"{self.fetch.mask:#x}", "dim": self.fetch.dim, "ndv": "NDV"}
        values.update({flag: flag.upper() for flag in self.fetch.flags})
        return int(ops.op(op).pack(**values))
