"""Calls of functions: what goes in and comes out, and where the calling convention puts it.

Source: PTX ISA, "Function Declarations and Definitions"; "call"; observed (which registers ptxas 13.0.88 passes what in).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

from oric_tables.named import NamedTuple
from oric_tables.registers import ARGUMENTS

WORD: Final = 4  # bytes
STACK_ALIGN: Final = 16  # bytes: of the stack pointer where code begins
CALLER_ALIGN: Final = 8  # bytes: ... where functions begin that others call, which align it more for what is on the stack only
_MOST_ALIGN: Final = 16  # of an argument
FUNCTION_SLOT: Final = 8  # bytes of a function in the table of functions
INDIRECT: Final = -1  # in place of the id of a function: which one, a register says
# ``aux`` of the ARG_IN and ARG_OUT that are no arguments.
STACK_POINTER: Final = 1 << 16  # where a function begins
FREE_STACK: Final = 1 << 17  # in: where free stack begins, below the frame; out: below what, in front of a call and its arguments
STACK_ARGUMENTS: Final = 1 << 18  # where the arguments of a function begin that are on the stack


@final
class ParamVariable:
    """A ``.param`` variable of a call or a function: one register a four bytes in ``words``, 0 before the first use.

    ``align``: bytes. ``taken``: a call leaves its result there, ``given``: a call has it as an argument. ``home``: where its
    address is taken, the module's id of the variable in local memory that it is, else -1. ``stores``, ``loads``: offset and
    type of each element that ``st.param`` and ``ld.param`` access.
    """

    def __init__(self, name: str, size: int, align: int = WORD) -> None:
        self.name = name
        self.size = size
        self.align = align
        self.words: list[int] = [0] * -(-size // WORD)
        self.taken = False
        self.given = False
        self.home: int = -1
        self.stores: list[tuple[int, str]] = []
        self.loads: list[tuple[int, str]] = []


@final
class Formal:
    """A result or parameter of a function: a ``.param`` variable, or a register (``operand``, 0: never named)."""

    def __init__(self, variable: ParamVariable | None, operand: int, is_result: bool) -> None:
        self.variable = variable
        self.operand = operand
        self.is_result = is_result


class FrameMove(NamedTuple):
    """What an instruction changes of the frame, for who unwinds it; ``kind``: one of the following.

    ``CFA``: the frame address is register ``register`` plus ``bytes``; ``SAVED``: what the caller had in ``register`` lies
    ``bytes`` below the frame address; ``RESTORED``: it is there again; ``LEFT``: the function is left, and what follows is in
    the middle of it.
    """

    instruction: int
    kind: int
    register: int = 0
    bytes: int = 0


CFA: Final = 0
SAVED: Final = 1
RESTORED: Final = 2
LEFT: Final = 3


class Shape(NamedTuple):
    """Size and alignment of a result or parameter, in bytes."""

    size: int
    align: int
    is_result: bool


@final
class CallSite:
    """A call: the function's id in the module's symbols or ``INDIRECT``, and for each of its results and parameters a
    ``.param`` variable of the caller or a register (0 for a result that nobody wants). ``shapes``: as the function declares
    them; ``pointer``: the pair with the address of the function, for indirect ones, ``prototype``: what they call, as the
    container writes it. ``loc``: place in the PTX.
    """

    def __init__(
        self,
        callee: int,
        actuals: list[ParamVariable | int],
        loc: int,
        shapes: list[Shape] | None = None,
        pointer: int = 0,
        prototype: str = "",
    ) -> None:
        self.prototype = prototype
        self.callee = callee
        self.actuals = actuals
        self.loc = loc
        self.shapes: list[Shape] = shapes or []
        self.pointer = pointer


@final
class KeptCall:
    """A call that stays one: the function's id or ``INDIRECT``, and words of arguments and results. ``external``: the name of a
    function of the driver; in an object, of every function. ``prototype``: see :class:`CallSite`.

    ``stack_align``: the largest alignment of arguments, where some are on the stack. ``back``: the immediate of the caller's pool
    with the place that it returns to, -1 before calls are put into registers. ``shared``: of code that stands for a macro.
    """

    def __init__(self, callee: int, loc: int, arguments: int, results: int, external: str = "", prototype: str = "") -> None:
        self.prototype = prototype
        self.callee = callee
        self.external = external
        self.loc = loc
        self.arguments = arguments
        self.results = results
        self.back: int = -1
        self.stack_align: int = 0
        self.shared = False

    def copy(self) -> KeptCall:
        """The same in another function."""
        made = KeptCall(self.callee, self.loc, self.arguments, self.results, self.external, self.prototype)
        made.stack_align = self.stack_align
        return made


SHARED_NUMBER: Final = 3  # operand of a call of shared code: the number of the macro that it stands for


def shared_callee(op: int) -> int:
    """What stands for the id of a function in calls of the code that kernels have once in place of a macro operation."""
    return INDIRECT - op


def places(shapes: Iterable[Shape]) -> tuple[list[int], int]:
    """The first word of each argument (or result), and how many words there are together.

    The first ``ARGUMENTS`` words are registers; those behind lie on the stack, from the stack pointer on. Each is at the first
    place that is free and aligned to it; what does not fit into registers as a whole goes to the stack.
    """
    free = [True] * ARGUMENTS
    found: list[int] = []
    end = 0
    for shape in shapes:
        count = max(-(-shape.size // WORD), 1)
        step = max(min(shape.align, _MOST_ALIGN) // WORD, 1)
        at = next((k for k in range(0, ARGUMENTS - count + 1, step) if all(free[k : k + count])), -1)
        if at >= 0:
            free[at : at + count] = [False] * count
        else:
            step = max(shape.align // WORD, 1)  # as far as it goes
            end = -(-end // step) * step
            at = ARGUMENTS + end
            end += count
        found.append(at)
    last = max((k + 1 for k in range(ARGUMENTS) if not free[k]), default=0)
    return found, ARGUMENTS + end if end else last


def hidden_result(shapes: Sequence[Shape]) -> Shape | None:
    """The shape of a result that lies in memory: one alone that is too large for registers; else None."""
    results = [shape for shape in shapes if shape.is_result]
    return results[0] if len(results) == 1 and results[0].size > WORD * ARGUMENTS else None


def reached(callee: int, calls: Mapping[int, set[int]]) -> set[int]:
    """The functions that a function calls, itself or through others. ``calls``: by function, those that it calls itself."""
    found: set[int] = set()
    waiting = list(calls[callee])
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += calls.get(other, ())
    return found
